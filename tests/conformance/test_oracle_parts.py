"""The parts of the oracle that need no release."""

from __future__ import annotations

import dataclasses
import enum
import importlib.util
import json

import pytest

from .oracle import home, run
from .oracle.encoding import OPAQUE, encode
from .oracle.gpu_profiles import GPU_PROFILES
from .oracle.model_configs import MODELS, MODELS_DIRECTORY, model_path
from .oracle.placeholders import TOUCHES, Placeholder, packages_of
from .oracle.places import frames, innermost, is_raised

SOURCE = """
class Record:
    def check(self, value):
        if value > 1:
            raise ValueError(
                "too much"
            )
        return 1 / value
"""


@pytest.fixture
def release(tmp_path):
    """A directory that looks like a release's, with one module."""
    path = tmp_path / "srt" / "server_args.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("fake_server_args", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return tmp_path, module


@pytest.mark.parametrize(("value", "deliberate"), [(2, True), (0, False)])
def test_a_failure_has_a_place_and_was_meant_or_not(release, value, deliberate):
    root, module = release
    with pytest.raises((ValueError, ZeroDivisionError)) as caught:
        module.Record().check(value)
    [(place, _)] = frames(caught.tb, root)
    file, line, symbol = innermost(caught.tb)
    assert (place.file, place.symbol, place.line) == ("server_args.py", "Record.check", line)
    assert symbol == "Record.check"
    assert is_raised(file, line) is deliberate


class Colour(str, enum.Enum):  # noqa: UP042 - as releases spell it
    RED = "red"


class Shape(enum.Enum):
    ROUND = 1


@dataclasses.dataclass
class Phase:
    sizes: tuple[int, ...]
    hook: object = print


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Colour.RED, "red"),
        (Shape.ROUND, "Shape.ROUND"),
        ((1, "a", None), [1, "a", None]),
        ({"a": {1, 2}}, {"a": {"__set__": [1, 2]}}),
        (str(MODELS_DIRECTORY / "bert"), "@model:bert"),
        (print, OPAQUE),
        (object(), OPAQUE),
        ([object()], OPAQUE),
    ],
)
def test_values_become_json(value, expected):
    assert encode(value) == expected


def test_an_object_of_the_release_keeps_what_has_a_json_form(monkeypatch):
    monkeypatch.setattr(Phase, "__module__", "sglang.srt.x")
    assert encode(Phase((1, 2))) == {"__object__": "Phase", "attributes": {"sizes": [1, 2]}}


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("@model:bert", f"{MODELS_DIRECTORY}/bert"),
        ("--draft=@model:bert", f"--draft={MODELS_DIRECTORY}/bert"),
        ("--tp-size", "--tp-size"),
        ("x@model:bert", "x@model:bert"),
    ],
)
def test_a_model_token_becomes_its_directory(token, expected):
    assert model_path(token) == expected


@pytest.mark.parametrize("name", MODELS)
def test_every_model_names_its_architecture(name):
    config = json.loads((MODELS_DIRECTORY / name / "config.json").read_text())
    assert config["architectures"]
    assert config["model_type"]


def test_touches_of_placeholders_are_told_only_while_recording():
    thing = Placeholder(name="pkg").inner
    thing()
    TOUCHES.start()
    thing()
    if thing:
        pass
    assert TOUCHES.stop() == ["bool pkg.inner", "call pkg.inner"]


def test_a_profile_has_its_own_vendor_packages_only():
    assert "flashinfer" in packages_of(GPU_PROFILES["h100"])
    assert "aiter" not in packages_of(GPU_PROFILES["h100"])
    assert "aiter" in packages_of(GPU_PROFILES["mi300x"])
    assert "flashinfer" not in packages_of(GPU_PROFILES["cpu"])


def test_a_requirement_is_read_from_metadata(tmp_path):
    info = tmp_path / "sglang-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Requires-Dist: torch==2.1\nRequires-Dist: x>=3; extra == 'y'\n")
    assert home.requirement(tmp_path, "sglang", "torch") == "==2.1"
    assert home.requirement(tmp_path, "sglang", "x") == ">=3"
    with pytest.raises(LookupError, match="asks for z"):
        home.requirement(tmp_path, "sglang", "z")


def test_a_dead_worker_costs_one_job_only(monkeypatch):
    def worker(release, platform, jobs):
        for job in jobs:
            if job["id"] == "deadly":
                return
            yield {"id": job["id"], "status": "ok"}

    monkeypatch.setattr(run, "_one_worker", worker)
    jobs = [{"id": n, "platform": "cpu"} for n in ("a", "deadly", "b")]
    outcomes = run.check_all("0.5.18", jobs, workers=1)
    assert [outcome["id"] for outcome in outcomes] == ["a", "deadly", "b"]
    assert [outcome["status"] for outcome in outcomes] == ["ok", "harness-error", "ok"]
