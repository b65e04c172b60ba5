"""A check as Markdown: one command in full, or many as a comment on a pull request."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kvsolve.model.finding import Verdict
from kvsolve.outputs.concise import line_of
from kvsolve.outputs.markdown import check_markdown
from kvsolve.outputs.words import count_of
from kvsolve.outputs.writers import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.outputs.report import Report, Told

__all__ = ["MARKER", "MOST", "Comment"]

MARKER = "<!-- kvsolve -->"
"""First line of a comment, by which a bot finds its own to renew it."""
MOST = 60_000
"""Characters: GitHub takes 65,536 in a comment."""
_COLUMNS = ("where", "", "what", "way out")


class Comment(Collector):
    """Short enough to be read: a line a finding, the commands folded away."""

    def render(self, report: Report) -> str:
        """The comment; a single command that stands in no file is told in full instead."""
        sources = [answer.result.source for answer in report.answers]
        if sources == [None] and not report.problems and not report.unused:
            (only,) = report.answers
            return check_markdown(only.result, only.program)
        rows = list(report.told(self.look.notes))
        head = [MARKER, f"### kvsolve: {_title(report)}"]
        blocks = [*head, *_table(rows), *_suppressed(report), *_folded(report, rows)]
        return _fitted(blocks) + "\n"


def _title(report: Report) -> str:
    verdicts = Counter(answer.result.verdict for answer in report.answers)
    commands = count_of(len(report.answers), "command")
    parts = []
    if verdicts[Verdict.INVALID]:
        parts.append(f"{verdicts[Verdict.INVALID]} of {commands} would not start")
    if verdicts[Verdict.UNKNOWN]:
        parts.append(f"{verdicts[Verdict.UNKNOWN]} of {commands} not decided")
    if report.problems:
        parts.append(f"{count_of(len(report.problems), 'problem')} with the input")
    return ", ".join(parts) or f"nothing known refuses {commands}"


def _table(rows: Sequence[Told]) -> Iterator[str]:
    """The findings that fit into two thirds of a comment, and how many do not."""
    lines, left = [_line(_COLUMNS), _line(("---",) * len(_COLUMNS))], MOST * 2 // 3
    for row in rows:
        line = _line(_cells(row))
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    if rows:
        yield "\n".join(lines)
    if left < 0:
        yield f"And {count_of(len(rows) - len(lines) + 2, 'finding')} more: see the job's log."


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _suppressed(report: Report) -> Iterator[str]:
    findings = (finding for answer in report.answers for finding in answer.result.findings)
    number = sum(1 for finding in findings if finding.suppressed)
    if number:
        yield f"{count_of(number, 'finding')} suppressed."


def _cells(row: Told) -> tuple[str, ...]:
    remedy = row.finding.remedy if row.finding else None
    place = f"`{row.place.file}:{row.place.line}`"
    return place, f"**{row.severity}** {row.code}", _plain(line_of(row)), _plain(remedy or "")


def _plain(text: str) -> str:
    """Text that a Markdown table leaves alone."""
    for sign in "\\`*_<>[]|":
        text = text.replace(sign, "\\" + sign)
    return text


def _folded(report: Report, rows: Sequence[Told]) -> Iterator[str]:
    told = {id(row.answer) for row in rows}
    for answer in report.answers:
        if id(answer) in told:
            place = f"{answer.place.file}:{answer.place.line}"
            summary = f"<summary>{answer.result.verdict}: <code>{_escaped(place)}</code></summary>"
            body = check_markdown(answer.result, answer.program)
            yield f"<details>{summary}\n\n{body}\n</details>"


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)


def _fitted(blocks: Sequence[str]) -> str:
    """The blocks that fit, whole; says where some were left out."""
    kept: list[str] = []
    left = MOST
    for number, block in enumerate(blocks):
        left -= len(block) + 2
        if left < 0:
            dropped = count_of(len(blocks) - number, "command")
            kept.append(f"_{dropped} left out: a comment holds no more. See the job's log._")
            break
        kept.append(block)
    return "\n\n".join(kept)
