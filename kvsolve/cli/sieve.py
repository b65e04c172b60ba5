"""What takes findings out of the count in a run: suppressions and the baseline."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kvsolve.answers.places import places_of
from kvsolve.outputs.words import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.cli.asked import Asked
    from kvsolve.cli.sources import Source
    from kvsolve.model.finding import CheckResult
    from kvsolve.outputs.report import Problem, Unused
    from kvsolve.settings.baseline import Baseline
    from kvsolve.settings.suppress import Suppressor

__all__ = ["Sieve", "baseline_for", "tell_suppressed"]

_MARK = "kvsolve"


class Sieve:
    """Marks what is suppressed in one answer after the other.

    Args:
        baseline: The findings that do not count, None where there are none.
        write: The findings of this run are to be the baseline.
    """

    def __init__(self, baseline: Baseline | None = None, write: bool = False) -> None:
        self._baseline, self._write = baseline, write
        self._suppressor: Suppressor | None = None
        self._read: set[str] = set()

    def sift(
        self, result: CheckResult, asked: Asked, source: Source
    ) -> tuple[CheckResult, Sequence[Problem]]:
        """The answer with its suppressed findings marked, and suppressions that make no sense.

        Args:
            result: The answer.
            asked: The options of the run.
            source: Its command.
        """
        document, found = source.document, source.found
        settings = (asked.near(document.path) if document else asked).settings
        mistakes: Sequence[Problem] = ()
        if document and document.path not in self._read:
            self._read.add(document.path)
            if _MARK in document.text:
                mistakes = self._loaded().read(document.path, document.text)
        if self._suppressor or (settings and settings.ignores):
            lines_of = places_of(found, document) if found and document else None
            result = self._loaded().apply(result, settings, lines_of)
        if self._baseline:
            result = self._baseline.apply(result, self._write)
        return result, mistakes

    def _loaded(self) -> Suppressor:
        if self._suppressor is None:
            from kvsolve.settings.suppress import Suppressor

            self._suppressor = Suppressor()
        return self._suppressor

    def close(self) -> tuple[Unused, ...]:
        """Write the baseline, tell of it on stderr, and give the suppressions nobody needed.

        Raises:
            KvsolveError: The baseline cannot be written.
        """
        if self._baseline and self._write:
            number = self._baseline.write()
            print(f"wrote {count_of(number, 'finding')} to {self._baseline.path}", file=sys.stderr)
        elif self._baseline and self._baseline.gone:
            gone = count_of(len(self._baseline.gone), "finding")
            path = self._baseline.path
            print(
                f"{gone} of {path} no longer there; --write-baseline {path} renews it",
                file=sys.stderr,
            )
        return tuple(self._suppressor.unused()) if self._suppressor else ()


def baseline_for(path: str | None, write: str | None = None) -> Baseline | None:
    """The baseline of a run.

    Args:
        path: A file of findings that do not count, None where there is none.
        write: Where to write the findings of this run as a new one, None for nowhere.

    Raises:
        KvsolveError: It cannot be read, or not be written.
    """
    if write is None and path is None:
        return None
    from kvsolve.settings.baseline import Baseline, read_baseline

    if write is not None:
        made = Baseline(write)
        made.must_be_writable()
        return made
    assert path is not None
    return read_baseline(path)


def tell_suppressed(result: CheckResult, place: str = "") -> None:
    """Say on stderr what stays, and why."""
    for finding in result.errors:
        if finding.suppressed:
            why = finding.suppressed.reason
            print(f"{place}{finding.code} stays, it is suppressed: {why}", file=sys.stderr)
