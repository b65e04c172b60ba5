"""A check as JSON: one envelope, or one line a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.outputs.envelope import head, json_line, json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.outputs.report import Answer, Problem, Unused
    from kvsolve.outputs.writers import Look

__all__ = ["Json", "JsonLines"]


class JsonLines:
    """One result a line; what could not be read is told on stderr alone."""

    def __init__(self, look: Look) -> None:
        del look

    def answer(self, answer: Answer) -> str:
        """The line of one command."""
        return json_line(answer.result.to_dict())

    def problem(self, problem: Problem) -> str:
        """Nothing."""
        del problem
        return ""

    def close(self, unused: Sequence[Unused]) -> str:
        """Nothing."""
        del unused
        return ""


class Json:
    """The envelope, written as it comes: an answer may be long, and there may be thousands."""

    def __init__(self, look: Look) -> None:
        del look
        self._begun = False
        self._errors: list[dict[str, object]] = []

    def answer(self, answer: Answer) -> str:
        """One result of the list."""
        before = ",\n" if self._begun else self._start() + "[\n"
        self._begun = True
        return before + _indented(json_text(answer.result.to_dict()))

    def problem(self, problem: Problem) -> str:
        """Keep it for the end."""
        self._errors.append(problem.to_dict())
        return ""

    def close(self, unused: Sequence[Unused]) -> str:
        """The end of the envelope."""
        rest: dict[str, object] = {"errors": self._errors}
        if unused:
            rest["unused_suppressions"] = [idle.to_dict() for idle in unused]
        end = json_text(rest).removeprefix("{")
        return ("\n  ]," if self._begun else self._start() + "[],") + end

    def _start(self) -> str:
        return json_text(head()).rstrip("}\n") + ',\n  "results": '


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.rstrip("\n").split("\n"))
