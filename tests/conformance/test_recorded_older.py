"""Recorded verdicts of older releases, which are compared up to argument resolution."""

from __future__ import annotations

import json

import pytest

from .comparison import load_exclusions
from .kvsolve_subject import Kvsolve
from .oracle.home import ARGS_ONLY
from .sampling import flag_table
from .tally import tally
from .thresholds import figures, reached
from .verdict_file import read_verdicts, recorded_path


@pytest.mark.parametrize("release", ARGS_ONLY)
def test_kvsolve_agrees_with_what_an_older_release_said(release):
    header, lines = read_verdicts(recorded_path(release), flag_table(release).fields)
    outcomes = list(lines)
    assert header["release"] == release
    assert header["verdicts"] == len(outcomes) > 100
    found = tally(release, outcomes, Kvsolve(), load_exclusions())
    for name, (agreeing, of) in figures(found, found).items():
        told = json.dumps(found.to_dict(), indent=1)
        if name.startswith("args"):
            assert reached(name, agreeing, of, strict=False), f"{name}: {agreeing} of {of}\n{told}"
