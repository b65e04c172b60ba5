"""Each curated entry with a case: it takes place in the breaking one and not in its twin.

``args.jsonl`` (argument resolution) is found and confirmed by ``conformance.find_cases``;
``late.jsonl`` (load to request) is written from the releases' source.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from kvsolve.session import Request, Session

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent / "conformance" / "models"
FILES = ("args.jsonl", "late.jsonl")


def cases(name):
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def session():
    return Session()


def check(session, case):
    model = str(MODELS / case["model"])
    tokens = [token.replace("@model:", f"{MODELS}/") for token in case["argv"]]
    return session.check(
        Request(
            command=["--model-path", model, *tokens],
            sglang=case["sglang"],
            gpu=case["gpu"],
            model_config=model,
            env=case.get("env", {}),
            stage=case.get("stage"),
        )
    )


def told(case):
    return " ".join((case["code"], case["kind"], case["gpu"], case["model"], *case["argv"]))


def is_as_told(case, result):
    """Whether a check says what the case says."""
    errors = [finding.code for finding in result.errors]
    if case["kind"] == "keeps":
        return case["code"] not in errors and case["code"] not in result.provenance.values()
    if "dest" in case:
        value = result.effective[case["dest"]]
        return result.provenance[case["dest"]] == case["code"] and value == case["after"]
    # Past the arguments other refusals of the same start-up may come first.
    return case["code"] in (errors[:1] if case.get("stage") == "args" else errors)


RELEASES = sorted({(name, case["sglang"]) for name in FILES for case in cases(name)})


@pytest.mark.parametrize(("name", "release"), RELEASES)
def test_an_entry_takes_place_where_its_cases_say(name, release, session):
    own = [case for case in cases(name) if case["sglang"] == release]
    wrong = [told(case) for case in own if not is_as_told(case, check(session, case))]
    assert own
    assert wrong == []


@pytest.mark.parametrize("name", FILES)
def test_every_entry_has_both_kinds_of_case(name):
    kinds = defaultdict(set)
    for case in cases(name):
        kinds[case["code"], case["sglang"]].add(case["kind"])
    assert [key for key, found in kinds.items() if found != {"breaks", "keeps"}] == []
