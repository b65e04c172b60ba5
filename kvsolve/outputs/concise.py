"""One line a finding, as compilers write them: editors and problem matchers read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.outputs.report import Teller, told_problem, told_unused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.outputs.report import Answer, Problem, Told, Unused
    from kvsolve.outputs.writers import Look

__all__ = ["Concise", "line_of"]


class Concise:
    """``file:line:col: severity CODE sentence [slug]``."""

    def __init__(self, look: Look) -> None:
        self._paint = look.paint
        self._teller = Teller(look.notes)

    def answer(self, answer: Answer) -> str:
        """The lines of one command; none where there is nothing to say."""
        return "".join(map(self._line, self._teller.answer(answer)))

    def problem(self, problem: Problem) -> str:
        """The line of something that could not be read."""
        return self._line(told_problem(problem))

    def close(self, unused: Sequence[Unused]) -> str:
        """The lines of idle suppressions."""
        return "".join(map(self._line, map(told_unused, unused)))

    def _line(self, row: Told) -> str:
        paint, severity = self._paint, str(row.severity)
        place = f"{row.place.file}:{row.place.line}:{row.place.column}"
        head = f"{paint('bold', place)}: {paint(severity, severity)} {row.code}"
        slug = paint("dim", f" [{row.slug}]") if row.finding else ""
        return f"{head} {line_of(row)}{slug}\n"


def line_of(row: Told) -> str:
    """What a finding says, on one line; a rewrite with its values."""
    finding = row.finding
    change = ""
    if finding and finding.dest is not None:
        from kvsolve.outputs.words import short_value

        flag = finding.flags[0] if finding.flags else finding.dest
        change = f"{flag} {short_value(finding.before)} -> {short_value(finding.after)}: "
    return " ".join((change + row.message).split())
