"""Annotations of a GitHub Actions run: workflow commands that mark the line of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.outputs.concise import line_of
from kvsolve.outputs.report import COMMAND, Teller, relative, told_problem, told_unused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.outputs.report import Answer, Problem, Told, Unused
    from kvsolve.outputs.writers import Look

__all__ = ["GitHub"]

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


class GitHub:
    """``::error file=...,line=...::sentence``."""

    def __init__(self, look: Look) -> None:
        self._teller = Teller(look.notes)

    def answer(self, answer: Answer) -> str:
        """The annotations of one command."""
        return "".join(map(_line, self._teller.answer(answer)))

    def problem(self, problem: Problem) -> str:
        """The annotation of something that could not be read."""
        return _line(told_problem(problem))

    def close(self, unused: Sequence[Unused]) -> str:
        """Those of idle suppressions."""
        return "".join(map(_line, map(told_unused, unused)))


def _line(row: Told) -> str:
    title = f"{row.code} {row.slug}" if row.finding else row.code
    properties = {"title": title}
    if row.place.file != COMMAND:
        file = relative(row.place.file)  # GitHub finds files by their path in the repository
        line, column = str(row.place.line), str(row.place.column)
        properties = {"file": file, "line": line, "col": column, "title": title}
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_LEVELS[str(row.severity)]} {told}::{_data(_words(row))}\n"


def _words(row: Told) -> str:
    remedy = row.finding.remedy if row.finding else None
    return line_of(row) + (f"\nHint: {remedy}" if remedy else "")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
