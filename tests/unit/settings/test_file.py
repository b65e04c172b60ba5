from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kvsolve.errors import KvsolveError
from kvsolve.settings.file import keys, nearest_settings, read_settings, settings_for
from kvsolve.settings.settle import settled

if TYPE_CHECKING:
    from pathlib import Path

FULL = """
sglang = "0.5.18"
gpu = "h100"
gpus = 4
model-config = "models/llama"
env = { SGLANG_A = "1", B = "x y" }
stage = "pool"
limit-s = 2
fail-on = "warning"
allow-unknown = true
exit-zero = true
format = "concise"
notes = true
baseline = "known.json"
keep = ["page-size"]
cost = { tp-size = 5 }

[[ignore]]
code = ["KV1035", "some-slug"]
files = "deploy/*.yaml"
reason = "patched in by the chart"
"""


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings_for("none")  # forgets what an earlier run has found


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_every_key_is_read(tmp_path: Path) -> None:
    settings = read_settings(write(tmp_path / "kvsolve.toml", FULL))
    assert settings.values == {
        "sglang": "0.5.18",
        "gpu": "h100",
        "gpus": 4,
        "model_config": str(tmp_path / "models/llama"),
        "env": ("SGLANG_A=1", "B=x y"),
        "stage": "pool",
        "limit_s": 2.0,
        "fail_on": "warning",
        "allow_unknown": True,
        "exit_zero": True,
        "format": "concise",
        "notes": True,
        "baseline": str(tmp_path / "known.json"),
        "keep": ("page-size",),
        "cost": {"tp-size": 5},
    }
    (ignored,) = settings.ignores
    assert ignored.codes == ("KV1035", "some-slug")
    assert ignored.files == ("deploy/*.yaml",)
    assert ignored.reason == "patched in by the chart"


def test_pyproject_has_a_table(tmp_path: Path) -> None:
    project = write(tmp_path / "pyproject.toml", '[tool.kvsolve]\ngpu = "b200"\n')
    found = settings_for(None)
    assert found is not None
    assert (found.file, found.values) == (project, {"gpu": "b200"})


def test_kvsolve_toml_goes_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[tool.kvsolve]\ngpu = "b200"\n')
    own = write(tmp_path / "kvsolve.toml", 'gpu = "h100"\n')
    found = settings_for(None)
    assert found is not None
    assert found.file == own


def test_a_pyproject_without_the_table_is_passed_over(tmp_path: Path) -> None:
    outer = write(tmp_path / "kvsolve.toml", 'gpu = "h100"\n')
    write(tmp_path / "sub/pyproject.toml", '[project]\nname = "mentions-tool.kvsolve"\n')
    found = nearest_settings(str(tmp_path / "sub/deep/serve.sh"))
    assert found is not None
    assert found.file == outer


def test_the_nearest_file_holds_and_none_is_merged(tmp_path: Path) -> None:
    write(tmp_path / "kvsolve.toml", 'gpu = "h100"\nfail-on = "note"\n')
    write(tmp_path / "b200/kvsolve.toml", 'gpu = "b200"\n')
    found = nearest_settings(str(tmp_path / "b200/serve.sh"))
    assert found is not None
    assert found.values == {"gpu": "b200"}


def test_extend_is_the_way_to_merge(tmp_path: Path) -> None:
    write(
        tmp_path / "kvsolve.toml",
        'gpu = "h100"\nfail-on = "note"\nenv = { A = "1", B = "1" }\n'
        '[[ignore]]\ncode = "KV1"\nreason = "r"\n',
    )
    own = write(
        tmp_path / "b200/kvsolve.toml", 'extend = "../kvsolve.toml"\ngpu = "b200"\nenv.B = "2"\n'
    )
    found = read_settings(own)
    assert found.values["gpu"] == "b200"
    assert found.values["fail_on"] == "note"
    assert found.values["env"] == ("A=1", "B=1", "B=2")
    assert len(found.ignores) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gpus = 'many'", 'kvsolve.toml: gpus is a whole number, not "many"'),
        ("gpus = true", "gpus is a whole number"),
        ("gpus = 0", "gpus is at least 1, not 0"),
        ("gpu = 3", "gpu is a text, not 3"),
        ("stage = 'load2'", "stage is one of parse, args, load"),
        ("limit-s = -1", "limit-s is at least 0"),
        ("allow-unknown = 'yes'", "allow-unknown is true or false"),
        ("env = ['A=1']", "env is a table of texts"),
        ("env = { A = 1 }", "the value of A is a text, not 1"),
        ("format = 'xml'", "format is one of text, concise"),
        ("notes = 'x'", "notes is true or false"),
        ("fail_on = 'error'", "there is no key fail_on; did you mean fail-on?"),
        ("gppu = 'h100'", "there is no key gppu; did you mean gpu"),
        ("settings = 'x'", "there is no key settings"),
        ("keep = 3", "keep is a text or a list of texts"),
        ("cost = 3", "cost is a table of whole numbers"),
        ("cost.tp-size = 0", "the cost of tp-size is a positive whole number"),
        ("zzz = 1", "known are allow-unknown, baseline"),
        ("extend = 3", "extend is a text"),
        ("family = 'a'\nmodel-config = 'b'", "give one"),
        ("ignore = 'KV1'", "ignore is a list of tables"),
        ("[[ignore]]\ncode = 'KV1'", "ignore, table 1 gives no reason"),
        ("[[ignore]]\nreason = 'x'", "ignore, table 1 gives no code"),
        ("[[ignore]]\ncode = 'KV1'\nreason = ' '", "reason is a text"),
        ("[[ignore]]\ncode = []\nreason = 'x'", "code is a text or a list of texts"),
        ("[[ignore]]\ncodes = 'KV1'\nreason = 'x'", "no key codes; did you mean code?"),
        ("gpu = ", "is no TOML"),
        ("extend = 'kvsolve.toml'", "extend leads in a circle"),
        ("extend = 'gone.toml'", "gone.toml: cannot be read"),
        ("extend = 'pyproject.toml'", "extend: "),
    ],
)
def test_what_cannot_be_used_is_told_with_its_file(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path / "pyproject.toml", "[project]\nname = 'x'\n")
    path = write(tmp_path / "kvsolve.toml", text)
    with pytest.raises(KvsolveError) as caught:
        read_settings(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(KvsolveError, match="cannot be read"):
        settings_for(str(tmp_path / "gone.toml"))
    project = write(tmp_path / "pyproject.toml", "[project]\nname = 'x'\n")
    with pytest.raises(KvsolveError, match="holds no table"):
        settings_for(project)


def test_none_reads_no_file(tmp_path: Path) -> None:
    write(tmp_path / "kvsolve.toml", "not = toml =")
    assert settings_for("none") is None


def test_all_keys_are_spelled_as_options_are() -> None:
    assert {"sglang", "model-config", "fail-on", "ignore", "extend", "baseline"} <= set(keys())


FILED: dict[str, Any] = {"gpu": "h100", "family": "llama-mha", "env": ("A=1",), "format": "sarif"}


def test_the_nearer_say_wins() -> None:
    values = settled({"gpu": "b200", "env": ("A=2",)}, FILED, ("text", "sarif"))
    assert values["gpu"] == "b200"
    assert values["family"] == "llama-mha"
    assert values["env"] == ("A=1", "A=2")
    assert values["format"] == "sarif"
    assert values["gpus"] == 8


def test_a_typed_model_puts_the_filed_one_aside() -> None:
    values = settled({"model_config": "x"}, FILED, ("text",))
    assert (values["model_config"], values["family"]) == ("x", None)


def test_a_format_that_the_verb_has_not_is_left_out() -> None:
    assert settled({}, FILED, ("text", "json"))["format"] == "text"
