"""The formats that `check` can be printed in: one table, one small module each.

A writer is fed one command after the other, so that those formats that need not wait print as they
go, and the others keep no more than they need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from kvsolve.model.noun import dataclass
from kvsolve.outputs.paint import PLAIN, Paint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kvsolve.outputs.report import Answer, Problem, Report, Unused

__all__ = ["ALL_FORMATS", "CHECK_FORMATS", "Collector", "Look", "Writer", "writer"]

_WRITERS = {
    "text": "text_report:Text",
    "concise": "concise:Concise",
    "json": "json_report:Json",
    "jsonl": "json_report:JsonLines",
    "sarif": "sarif:Sarif",
    "github": "github:GitHub",
    "gitlab": "gitlab:GitLab",
    "junit": "junit:JUnit",
    "markdown": "comment:Comment",
}
CHECK_FORMATS = tuple(_WRITERS)
"""What a check can be printed as, the usual one first."""
ALL_FORMATS = (*CHECK_FORMATS, "csv", "html")
"""Those of every verb."""


@dataclass(frozen=True, slots=True)
class Look:
    """How an answer is to look.

    Attributes:
        paint: Styles.
        width: Columns.
        notes: Also tell what upstream does by itself.
    """

    paint: Paint = PLAIN
    width: int = 100
    notes: bool = False


class Writer(Protocol):
    """One format."""

    def answer(self, answer: Answer) -> str:
        """What to print once a command is judged."""

    def problem(self, problem: Problem) -> str:
        """What to print once something could not be read."""

    def close(self, unused: Sequence[Unused]) -> str:
        """What to print at the end."""


def writer(name: str, look: Look) -> Writer:
    """The writer of a format.

    Args:
        name: One of :data:`CHECK_FORMATS`.
        look: How the answer is to look.
    """
    module, _, made = _WRITERS[name].partition(":")
    make: Callable[[Look], Writer] = getattr(import_module(f"kvsolve.outputs.{module}"), made)
    return make(look)


class Collector:
    """A format that is written as a whole, at the end."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self._answers: list[Answer] = []
        self._problems: list[Problem] = []

    def answer(self, answer: Answer) -> str:
        """Keep it, without the values of all flags."""
        from dataclasses import replace

        slim: dict[str, Any] = {"effective": {}, "provenance": {}}
        self._answers.append(replace(answer, result=replace(answer.result, **slim)))
        return ""

    def problem(self, problem: Problem) -> str:
        """Keep it."""
        self._problems.append(problem)
        return ""

    def close(self, unused: Sequence[Unused]) -> str:
        """Write everything."""
        from kvsolve.outputs.report import Report

        return self.render(Report(tuple(self._answers), tuple(self._problems), tuple(unused)))

    def render(self, report: Report) -> str:
        """The whole of it; each format has its own."""
        raise NotImplementedError
