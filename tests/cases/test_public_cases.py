"""Commands that people published get the verdict that the release itself gives.

The expectations come from the real validators (``tests/conformance/public_cases.py``), not from
kvsolve. A case judged valid is judged to the arguments: what crashes later without a check in
SGLang is no refusal.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kvsolve.session import Request, Session

LINES = (Path(__file__).with_name("public.jsonl")).read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def marks(case):
    # Where kvsolve is known to be wrong the file says why; a cure has to take the mark away.
    known = case.get("known_error")
    return [pytest.mark.xfail(reason=known, strict=True)] if known else []


@pytest.mark.parametrize(
    "case",
    [pytest.param(c, id=f"{c['id']}-{c['sglang']}", marks=marks(c)) for c in CASES],
)
def test_a_published_command_gets_the_verdict_of_its_release(case, session):
    expect = case["expect"]
    judged_to = expect["stage"] if expect["stage"] != "parse" else "args"
    result = session.check(
        Request(
            command=case["argv"],
            sglang=case["sglang"],
            gpu=case["gpu"],
            gpus=case["gpus"],
            env=case.get("env", {}),
            stage=judged_to,
        )
    )
    errors = result.errors
    assert str(result.verdict) == expect["verdict"], [e.code for e in errors] or result.unknown
    if "first" in expect:
        first = errors[0]
        assert expect["first"] == ("parse" if first.kind == "parse" else first.ground.symbol)
    for name, value in expect.get("effective", {}).items():
        assert result.effective[name] == value, name


def test_the_published_commands_are_told_apart():
    keys = {(case["id"], case["sglang"]) for case in CASES}
    assert len(keys) == len(CASES)
    assert {case["expect"]["verdict"] for case in CASES} == {"valid", "invalid"}
