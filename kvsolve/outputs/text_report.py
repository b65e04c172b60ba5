"""A check for a person: each command in turn, then what a run over several comes to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kvsolve.model.finding import Kind, Severity, Verdict
from kvsolve.outputs.report import relative
from kvsolve.outputs.text import check_text, headline
from kvsolve.outputs.words import count_of, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.model.finding import CheckResult
    from kvsolve.outputs.report import Answer, Problem, Unused
    from kvsolve.outputs.writers import Look

__all__ = ["Text"]


class Text:
    """Long for a command with findings, one line for one without."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._verdicts: Counter[Verdict] = Counter()
        self._suppressed = 0
        self._problems = 0
        self._files: set[str] = set()
        self._last = ""

    def answer(self, answer: Answer) -> str:
        """What there is to say of one command."""
        look, result = self._look, answer.result
        self._verdicts[result.verdict] += 1
        self._suppressed += sum(1 for f in result.findings if f.suppressed)
        if result.source is None:
            return self._set("block", check_text(result, look.paint, look.width, look.notes))
        self._files.add(answer.place.file)
        title = look.paint("bold", f"{answer.place.file}:{answer.place.line}")
        if result.verdict is Verdict.VALID and not _tells(result, look.notes):
            return self._set("line", f"{title}: {headline(result, look.paint, 10_000)}\n")
        text = check_text(result, look.paint, look.width, look.notes)
        return self._set("block", f"{title}\n\n{text}")

    def _set(self, kind: str, text: str) -> str:
        """A text, with a blank line before it unless it is a line after a line."""
        apart = self._last and not self._last == kind == "line"
        self._last = kind
        return "\n" + text if apart else text

    def problem(self, problem: Problem) -> str:
        """Nothing: stderr tells it."""
        self._problems += 1
        return ""

    def close(self, unused: Sequence[Unused]) -> str:
        """Idle suppressions, and the sum where there was more than one command."""
        lines = []
        for idle in unused:
            paint, severity = self._look.paint, str(idle.severity)
            place = f"{relative(idle.place.file)}:{idle.place.line}"
            text = f"{paint(severity, severity)}: {place}: {idle.message}"
            lines.append(wrap(text, self._look.width, "  ", ""))
        if self._verdicts.total() + self._problems > 1:
            lines.append("; ".join(self._sums()))
        return self._set("block", "\n".join(lines) + "\n") if lines else ""

    def _sums(self) -> Iterator[str]:
        order = (Verdict.INVALID, Verdict.UNKNOWN, Verdict.VALID)
        told = ", ".join(f"{self._verdicts[v]} {v}" for v in order if self._verdicts[v])
        where = f" in {count_of(len(self._files), 'file')}" if self._files else ""
        yield f"{count_of(self._verdicts.total(), 'command')}{where}: {told or 'none judged'}"
        if self._suppressed:
            yield f"{count_of(self._suppressed, 'finding')} suppressed"
        if self._problems:
            yield f"{count_of(self._problems, 'problem')} with the input"


def _tells(result: CheckResult, notes: bool) -> bool:
    return any(
        notes or f.severity is not Severity.NOTE or f.kind is not Kind.REWRITE
        for f in result.findings
        if not f.suppressed
    )
