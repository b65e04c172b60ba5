"""Recordings keep what they are given."""

from __future__ import annotations

import pytest

from .oracle.home import RELEASES
from .record_facts import facts_of, pack
from .sampling import flag_table
from .verdict_file import read_verdicts, recorded_path, write_verdicts

DEFAULTS = {"page_size": None, "tp_size": 1, "is_embedding": False}


def test_effective_values_survive_a_recording(tmp_path):
    path = tmp_path / "v.jsonl.gz"
    resolved = {"page_size": 64, "tp_size": 1, "is_embedding": 0}
    outcome = {
        "id": "a",
        "argv": [],
        "model": "m",
        "platform": "p",
        "status": "ok",
        "stage": "args",
        "resolved": resolved,
        "message": "not ours",
    }
    write_verdicts(path, {"release": "r"}, [outcome], DEFAULTS)
    header, lines = read_verdicts(path, DEFAULTS)
    [line] = lines
    assert header == {"release": "r"}
    assert line["resolved"] == resolved
    assert type(line["resolved"]["is_embedding"]) is int
    assert "message" not in line


def test_a_field_that_was_not_told_stays_untold(tmp_path):
    path = tmp_path / "v.jsonl.gz"
    outcome = {"id": 1, "status": "ok", "resolved": {"tp_size": 2}}
    write_verdicts(path, {}, [outcome], DEFAULTS)
    [line] = read_verdicts(path, DEFAULTS)[1]
    assert line["resolved"] == {"tp_size": 2}


@pytest.mark.parametrize("release", RELEASES)
def test_a_committed_recording_holds_what_its_header_says_and_no_text(release):
    header, lines = read_verdicts(recorded_path(release), flag_table(release).fields)
    found = list(lines)
    assert header["release"] == release
    assert header["verdicts"] == len(found) > 900
    assert {line["judged_to"] for line in found} == {"args", "attention"}
    assert not any("message" in line for line in found)


def test_packed_facts_come_back_whole():
    found = [
        {
            "release": "r",
            "platform": platform,
            "model": model,
            "platform_helpers": {"is_cuda": platform != "cpu", "cores": [1]},
            "environment": {"A": 1} if platform == "cpu" else {"A": 1, "B": 2},
            "hf_config": {"name": model, "kind": "fast" if platform == "h100" else "slow"},
            "model_config": {"x": None},
        }
        for platform in ("h100", "b200", "cpu")
        for model in ("one", "two")
    ]
    packed = pack(found)
    for facts in found:
        back = facts_of(packed, facts["platform"], facts["model"])
        assert back == {k: v for k, v in facts.items() if k not in ("release", "platform", "model")}
