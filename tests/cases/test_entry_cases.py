"""Each curated entry with a case: it takes place in the breaking one and not in its twin.

``args.jsonl.gz`` (argument resolution) is found and confirmed by ``conformance.find_witnesses``;
``late.jsonl`` (load to request) is written from the releases' source.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import pytest

from kvsolve.session import Request, Session

from ..conformance.cases import CASES, model_name, read_file
from ..conformance.comparison import equal_values
from ..conformance.oracle.model_configs import MODELS_DIRECTORY

FILES = ("args.jsonl.gz", "late.jsonl")


@cache
def cases(name):
    return read_file(CASES / name)


@pytest.fixture(scope="module")
def session():
    return Session()


def check(session, case):
    model = str(MODELS_DIRECTORY / case["model"])
    tokens = [token.replace("@model:", f"{MODELS_DIRECTORY}/") for token in case["argv"]]
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
        return misses(case, result, errors)
    if "dest" in case:
        value = model_name(result.effective[case["dest"]])
        decided = result.provenance[case["dest"]] == case["code"]
        return not errors and decided and equal_values(case["after"], value)
    # Past the arguments other refusals of the same start-up may come first.
    return case["code"] in (errors[:1] if case.get("stage") == "args" else errors)


def misses(case, result, errors):
    """Whether the entry has no part in a check, and an accepted command is accepted."""
    if case["code"] in errors or case["code"] in result.provenance.values():
        return False
    if case.get("stage") != "args":
        return True
    if "where" not in case:
        return not errors
    ground = result.errors[0].ground if errors else None
    return ground is not None and [ground.file, ground.symbol] == case["where"]


RELEASES = sorted({(name, case["sglang"]) for name in FILES for case in cases(name)})


@pytest.mark.parametrize(("name", "release"), RELEASES)
def test_an_entry_takes_place_where_its_cases_say(name, release, session):
    own = [case for case in cases(name) if case["sglang"] == release]
    own.sort(key=lambda case: (case["gpu"], case["model"], str(case.get("env"))))
    wrong = [told(case) for case in own if not is_as_told(case, check(session, case))]
    assert own
    assert wrong == []


@pytest.mark.parametrize("name", FILES)
def test_every_entry_has_both_kinds_of_case(name):
    kinds = defaultdict(set)
    for case in cases(name):
        kinds[case["code"], case["sglang"]].add(case["kind"])
    assert [key for key, found in kinds.items() if found != {"breaks", "keeps"}] == []
