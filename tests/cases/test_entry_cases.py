"""Each curated entry with a case: it takes place in the breaking one and not in its twin.

``args.jsonl.gz`` (argument resolution) is found and confirmed by ``conformance.find_witnesses``, as
is ``late-0.5.23.jsonl``; ``late.jsonl`` (load to request) is written from the releases' source.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import pytest

from kvsolve.packs.unmet import load_unmet
from kvsolve.session import Session

from ..conformance.cases import CASES, job_of, read_file
from ..conformance.entry_probe import Probe
from ..conformance.find_witnesses import curated_codes
from ..conformance.kvsolve_subject import request_of
from ..conformance.oracle.home import RELEASES
from ..conformance.witness_cases import stands

ARGS, LATE = "args.jsonl.gz", ("late.jsonl", "late-0.5.23.jsonl")
FILES = (ARGS, *LATE)


@cache
def cases(name):
    return read_file(CASES / name)


def releases(name):
    return sorted({case["sglang"] for case in cases(name)})


def own_cases(name, release):
    own = [case for case in cases(name) if case["sglang"] == release]
    return sorted(own, key=lambda case: (case["gpu"], case["model"], str(case.get("env"))))


def told(case):
    return " ".join((case["code"], case["kind"], case["gpu"], case["model"], *case["argv"]))


@pytest.mark.parametrize("release", releases(ARGS))
def test_an_entry_of_the_arguments_takes_place_where_its_cases_say(release):
    probe = Probe(release)
    own = own_cases(ARGS, release)
    assert own
    assert [told(case) for case in own if not stands(case, probe.look(job_of(case)))] == []


def is_as_told(case, result):
    """Whether the entry is refused, or is not; other refusals of the start-up may come first."""
    refused = case["code"] in [finding.code for finding in result.errors]
    return refused is (case["kind"] == "breaks")


@pytest.mark.parametrize(("name", "release"), [(n, r) for n in LATE for r in releases(n)])
def test_a_later_entry_takes_place_where_its_cases_say(name, release):
    session = Session()
    own = own_cases(name, release)
    results = (session.check(request_of(release, job_of(c), c.get("stage"))) for c in own)
    pairs = zip(own, results, strict=True)
    assert [told(case) for case, result in pairs if not is_as_told(case, result)] == []


@pytest.mark.parametrize("name", FILES)
def test_every_entry_has_both_kinds_of_case(name):
    kinds = defaultdict(set)
    for case in cases(name):
        kinds[case["code"], case["sglang"]].add(case["kind"])
    assert [key for key, found in kinds.items() if found != {"breaks", "keeps"}] == []


def test_every_curated_entry_of_the_arguments_has_cases_or_a_reason_why_not():
    known = {code for release in RELEASES for code in Probe(release).entries}
    cased = {case["code"] for case in cases(ARGS)}
    left = [c for c in curated_codes() if c in known and c not in cased]
    assert [code for code in left if code not in load_unmet()] == []
