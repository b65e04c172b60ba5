"""Add a release, from its number to a pack that was held to its own validator::

    python -m conformance.add_release 0.5.24

It fetches the release, reads it, gives codes, carries late entries over, records the real parser
and validator, compares, and at the end prints the drift and what is left to a person. A run that
was stopped goes on where it stopped; ``--anew`` makes everything of the release again. ``--read``
stops before the validator is run: the release is then told as read, not compared.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.packs.figures import figures_of
from kvsolve.packs.release_order import release_order
from kvsolve.packs.status import compared_releases, release_status

from . import record_parsers
from .batches import Batch
from .comparison import load_exclusions
from .confirm_entries import main as confirm
from .kvsolve_subject import Kvsolve
from .record_verdicts import ALL_FLAGS, FIRST_SCOPE, record
from .release_report import report
from .release_steps import READING, Step, Work, put
from .sampling import flag_table
from .tally import tally
from .thresholds import THRESHOLDS, figures, reached
from .verdict_file import read_verdicts, recorded_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["COMPARING", "add"]

_HEAD = """\
# Releases whose pack was held to their own validator and reached its thresholds: to the last
# stage, or argument resolution only. Every other release was read from its source and is told as
# such in every answer. Written by `python -m conformance.add_release`.
"""
ARGS_OF_OLDER = 120
"""Configurations drawn for a release that is judged to argument resolution only."""
OLDER_PLATFORMS = ("h100", "b200")


def _parsers(work: Work) -> None:
    answers = record_parsers.asked(work.release, 1, record_parsers.LINES)
    text = json.dumps(answers, separators=(",", ":"))
    path = record_parsers.path(work.release)
    scratch = path.with_suffix(".part")
    scratch.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    scratch.replace(path)


def _verdicts(work: Work) -> None:
    record(_batch(work.release), 1)


def _batch(release: str) -> Batch:
    if _judged_to(release) == "args":
        return Batch(release, "recorded", ARGS_OF_OLDER, 0, OLDER_PLATFORMS)
    return Batch(release, "recorded", ALL_FLAGS, FIRST_SCOPE)


def _judged_to(release: str) -> str:
    """The last stage that the release's pack speaks of."""
    return str(figures_of(release)["last_stage"])


def _compare(work: Work) -> None:
    """List the release as compared where the recorded verdicts reach the thresholds."""
    passed = True
    for name, agreeing, of in _scores(work.release):
        good = reached(name, agreeing, of, strict=False)
        passed = passed and good
        wanted = f"{100 * THRESHOLDS[name]:g} %"
        print(f"    {'pass' if good else 'FAIL'}  {name}: {agreeing} of {of} (wanted {wanted})")
    if passed:
        put(work.root / "compared.toml", _listed(work.release))


def _listed(release: str) -> str:
    """The list of compared releases with one more."""
    to_args = _judged_to(release) == "args"
    text = _HEAD
    for name, is_args in (("releases", False), ("args_only", True)):
        known = {*compared_releases(to_args=is_args), *([release] if to_args is is_args else [])}
        rows = "".join(f'  "{one}",\n' for one in sorted(known, key=release_order))
        text += f"{name} = [\n{rows}]\n"
    return text


def _scores(release: str) -> Iterator[tuple[str, int, int]]:
    _, lines = read_verdicts(recorded_path(release), flag_table(release).fields)
    outcomes = list(lines)
    subject, exclusions = Kvsolve(), load_exclusions()
    by_stage = [
        tally(release, [o for o in outcomes if o["judged_to"] == stage], subject, exclusions)
        for stage in ("args", "attention")
    ]
    for name, (agreeing, of) in figures(*by_stage).items():
        if by_stage[1].compared or name.startswith("args"):
            yield name, agreeing, of


def _confirm(_: Work) -> None:
    confirm()


COMPARING: tuple[Step, ...] = (
    Step("the real parser's answers", lambda w: record_parsers.path(w.release).exists(), _parsers),
    Step("the real validator's verdicts", lambda w: recorded_path(w.release).exists(), _verdicts),
    Step("agreement", lambda w: release_status(w.release) == "compared", _compare),
    Step("entries that the validator bears out", lambda _: False, _confirm),
)
"""From a pack to one that was held to the release."""


def add(work: Work, steps: Sequence[Step], *, anew: bool = False) -> None:
    """Take the steps that are not done yet, telling how long each took.

    Raises:
        KvsolveError: A file of the release or of the packs cannot be used.
        RuntimeError: A part of the release does not run in the oracle.
    """
    for step in steps:
        began = time.monotonic()
        if not anew and step.made(work):
            print(f"  {step.name}: there", flush=True)
            continue
        step.make(work)
        print(f"  {step.name}: {time.monotonic() - began:.0f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Add a release of SGLang to the packs.")
    parser.add_argument("release", help="its number, as in 0.5.24")
    parser.add_argument("--read", action="store_true", help="do not run the validator")
    parser.add_argument("--anew", action="store_true", help="make what is there again")
    options = parser.parse_args()
    work = Work(options.release)
    try:
        release_order(options.release)
        add(work, READING if options.read else (*READING, *COMPARING), anew=options.anew)
        print(report(work))
    except ValueError:
        print(f"{options.release} is no release such as 0.5.24", file=sys.stderr)
        return 2
    except (KvsolveError, RuntimeError) as error:
        print(f"{error}\nrun the command again to go on from here", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
