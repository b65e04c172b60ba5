"""The shipped registry fits the shipped programs, and the shipped texts cover the first scope."""

from __future__ import annotations

from kvsolve.packs.files import constraints_directory
from kvsolve.packs.pack import newest
from kvsolve.upstream.codes import write_codes
from kvsolve.upstream.coverage import uncurated

ROOT = constraints_directory() / "sglang"


def test_giving_codes_again_changes_nothing():
    assert write_codes(ROOT, check=True), "run `kvsolve upstream codes`"


def test_every_entry_of_the_first_scope_has_a_text():
    assert uncurated(ROOT, releases=[newest()]) == []
