"""Recorded verdicts of the real validators, replayed without them."""

from __future__ import annotations

import json

import pytest

from .comparison import load_exclusions
from .kvsolve_subject import Kvsolve
from .oracle.home import RELEASES
from .sampling import flag_table
from .tally import tally
from .thresholds import figures, reached
from .verdict_file import read_verdicts, recorded_path


@pytest.mark.parametrize("release", RELEASES)
def test_kvsolve_agrees_with_what_the_release_said(release):
    _, lines = read_verdicts(recorded_path(release), flag_table(release).fields)
    outcomes = list(lines)
    subject, exclusions = Kvsolve(), load_exclusions()
    args, scope = (
        tally(release, [o for o in outcomes if o["judged_to"] == stage], subject, exclusions)
        for stage in ("args", "attention")
    )
    told = json.dumps([args.to_dict(), scope.to_dict()], indent=1)
    for name, (agreeing, of) in figures(args, scope).items():
        assert reached(name, agreeing, of, strict=False), f"{name}: {agreeing} of {of}\n{told}"
