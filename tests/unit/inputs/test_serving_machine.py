"""What a command names is taken to be on the machine that serves, and said to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvsolve.inputs.serving_machine import taken_for_granted
from kvsolve.model.context import Config
from kvsolve.model.expression import Unknown
from kvsolve.session import Request, Session

if TYPE_CHECKING:
    from pathlib import Path

    from kvsolve.model.finding import CheckResult

LLAMA = ("sglang", "serve", "meta-llama/Llama-3.1-8B-Instruct")


def config(**given: str) -> Config:
    return Config(dict(given), {dest: f"--{dest}" for dest in given})


def checked(*tokens: str) -> CheckResult:
    return Session().check(Request((*LLAMA, *tokens), sglang="0.5.23", gpu="h100"))


def test_nothing_is_taken_where_nothing_is_named() -> None:
    taken = taken_for_granted(config(kv_cache_dtype="auto"))
    assert not taken
    assert not taken.facts()
    assert not list(taken.sentences())


def test_a_file_that_is_here_needs_no_word(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.touch()
    taken = taken_for_granted(config(ssl_keyfile=str(key), ssl_certfile="/not/here.crt"))
    assert list(taken.sentences()) == ["/not/here.crt is on the machine that serves"]
    known = taken.facts()["helper:path_isfile"]
    assert known(str(key))
    assert known("/not/here.crt")
    assert not known("/not/there.crt")


@pytest.mark.parametrize(
    ("value", "devices"),
    [
        ("mlx5_0", ("mlx5_0",)),
        (" mlx5_1, mlx5_0 ", ("mlx5_0", "mlx5_1")),
        ('{"0": "mlx5_0", "1": "mlx5_0,mlx5_3"}', ("mlx5_0", "mlx5_3")),
    ],
)
def test_devices_are_the_ones_named(value: str, devices: tuple[str, ...]) -> None:
    facts = taken_for_granted(config(disaggregation_ib_device=value)).facts()
    assert facts["helper:path_isdir"]("/sys/class/infiniband")
    assert facts["helper:os.listdir"]("/sys/class/infiniband") == devices
    with pytest.raises(Unknown):
        facts["helper:os.listdir"]("/elsewhere")


def test_devices_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "devices.json"
    file.write_text('{"0": "mlx5_7"}')
    named = taken_for_granted(config(mooncake_ib_device=str(file)))
    assert named.devices == {"mlx5_7"}
    assert not taken_for_granted(config(mooncake_ib_device="/not/here.json")).devices


def test_certificates_are_no_fault_of_the_command() -> None:
    result = checked("--ssl-keyfile", "/certs/tls.key", "--ssl-certfile", "/certs/tls.crt")
    assert result.verdict == "valid"
    assert len(result.taken_for_granted) == 2
    assert result.to_dict()["taken_for_granted"] == list(result.taken_for_granted)


def test_a_key_alone_is_still_refused() -> None:
    assert [f.code for f in checked("--ssl-keyfile", "/certs/tls.key").errors] == ["KV1005"]


def test_infiniband_devices_are_no_fault_of_the_command() -> None:
    ends = ("--disaggregation-mode", "prefill", "--disaggregation-ib-device")
    result = checked(*ends, "mlx5_0,mlx5_1")
    assert result.verdict == "valid"
    assert "mlx5_0, mlx5_1" in result.taken_for_granted[0]
    assert checked(*ends, " ").verdict == "invalid"
