"""Every committed case of an entry: kvsolve sees the entry in the broken one only."""

from __future__ import annotations

import pytest

from .cases import job_of, read_cases
from .kvsolve_subject import Kvsolve, request_of
from .oracle.home import RELEASES


@pytest.fixture(scope="module")
def subject() -> Kvsolve:
    return Kvsolve()


@pytest.mark.parametrize("release", RELEASES)
def test_an_entry_fires_in_its_breaking_cases_only(release, subject):
    wrong = []
    for case in read_cases(release):
        stage = case.get("stage", "request")
        result = subject.session.check(request_of(release, job_of(case), stage))
        told = {finding.code for finding in result.errors} | set(result.provenance.values())
        if (case["code"] in told) != (case["kind"] == "breaks"):
            wrong.append((case["code"], case["kind"], case["gpu"], case["model"], case["argv"]))
    assert not wrong


def test_every_entry_with_a_case_has_both_kinds():
    kinds: dict[tuple[str, str], set[str]] = {}
    for case in read_cases():
        kinds.setdefault((case["code"], case["sglang"]), set()).add(case["kind"])
    assert kinds
    assert [key for key, found in kinds.items() if found != {"breaks", "keeps"}] == []
