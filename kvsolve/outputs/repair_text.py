"""Repairs and conflicts for a person."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from kvsolve.outputs.paint import PLAIN, Paint
from kvsolve.outputs.words import command_lines, count_of, short_value, spoken_value, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.answers.elsewhere import Elsewhere
    from kvsolve.model.edit import Conflict, Edit, Repair

__all__ = ["conflict_text", "elsewhere_text", "paste", "repairs_text"]


def repairs_text(
    repairs: Sequence[Repair],
    argv: Sequence[str],
    program: Sequence[str] = (),
    paint: Paint = PLAIN,
    width: int = 100,
) -> str:
    """The cheapest repair as a diff of the command, then the alternatives as their edits.

    Args:
        repairs: Best first, secrets already hidden.
        argv: The command as given, secrets already hidden.
        program: Tokens of the program in front of it.
        paint: Styles.
        width: Columns.
    """
    blocks = []
    for rank, repair in enumerate(repairs):
        lines = [_title(repair, rank, paint)]
        if rank == 0:
            lines += _diff([*program, *argv], [*program, *repair.argv], paint)
        else:
            lines += [f"  {line}" for edit in repair.edits for line in _edit_lines(edit, paint)]
        lines += _remarks(repair, paint, width)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _title(repair: Repair, rank: int, paint: Paint) -> str:
    name = "fix" if rank == 0 else f"alternative {rank}"
    edits = count_of(len(repair.edits), "edit")
    return f"{paint('bold', name)}: {edits}, cost {repair.cost}, {_proof(repair, rank)}"


def _proof(repair: Repair, rank: int) -> str:
    over = "over all values" if repair.domain == "all" else "over representative values"
    if repair.optimal:
        return f"proven cheapest {over}" if rank == 0 else f"proven next {over}"
    return f"not proven cheapest (at least {repair.bound} {over})"


def _diff(before: Sequence[str], after: Sequence[str], paint: Paint) -> Iterator[str]:
    old, new = list(command_lines(before)), list(command_lines(after))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, stop, new_start, new_stop in matcher.get_opcodes():
        if tag == "equal":
            yield from (paint("dim", f"    {line}") for line in old[start:stop])
            continue
        yield from (paint("red", f"  - {line}") for line in old[start:stop])
        yield from (paint("green", f"  + {line}") for line in new[new_start:new_stop])


def _edit_lines(edit: Edit, paint: Paint) -> Iterator[str]:
    if edit.op != "add":
        yield paint("red", f"- {_typed(edit.flag, edit.before)}")
    if edit.op != "remove":
        yield paint("green", f"+ {_typed(edit.becomes or edit.flag, edit.value)}")


def _typed(flag: str, value: object) -> str:
    if value is None or isinstance(value, bool):
        return flag
    return f"{flag} {short_value(value)}"


def _also(edit: Edit) -> str:
    shown = ", ".join(short_value(value) for value in edit.also[:5])
    more = f" and {len(edit.also) - 5} more" if len(edit.also) > 5 else ""
    return f"{edit.flag} may as well be {shown}{more}"


def _remarks(repair: Repair, paint: Paint, width: int) -> Iterator[str]:
    for edit in repair.edits:
        if edit.also:
            yield paint("dim", wrap(_also(edit), width, "    ", "  "))
    if repair.removes:
        yield wrap("removes " + ", ".join(repair.removes), width, "    ", "  ")
    if repair.rewritten:
        text = "kept, but SGLang will rewrite silently: " + ", ".join(repair.rewritten)
        yield paint("yellow", wrap(text, width, "    ", "  "))
    if repair.reports:
        text = "still publicly reported to fail: " + ", ".join(repair.reports)
        yield paint("yellow", wrap(text, width, "    ", "  "))


def paste(argv: Sequence[str], program: Sequence[str] = ()) -> str:
    """A command with line continuations, ready to paste."""
    return " \\\n  ".join(command_lines([*program, *argv])) + "\n"


def conflict_text(
    conflict: Conflict,
    paint: Paint = PLAIN,
    width: int = 100,
    reasons: dict[str, str] | None = None,
) -> str:
    """Why nothing can be done: the pins, the facts and the entries that cannot all hold.

    Args:
        conflict: The minimal conflict.
        paint: Styles.
        width: Columns.
        reasons: Message by code, where known.
    """
    lines = [paint("error", "no repair") + ": these cannot hold together"]
    lines += [f"  kept: {paint('bold', flag)} {spoken_value(v)}" for flag, v in conflict.pins]
    if conflict.facts:
        lines.append(wrap(", ".join(conflict.facts), width, "    ", "  given: "))
    numbered = {code: number for number, code in enumerate(conflict.codes, 1)}
    for code, number in numbered.items():
        text = (reasons or {}).get(code, "")
        lines.append(wrap(text, width, "     ", f"  {number}. [{code}] "))
    if len(conflict.chain) > 1:  # a single entry says all by itself
        lines += _derivation(conflict, paint, width)
    return "\n".join(lines) + "\n"


def elsewhere_text(elsewhere: Elsewhere | None, width: int = 100) -> str:
    """Where the command would be accepted as it is; nothing where that was not looked up."""
    if elsewhere is None:
        return ""
    gpus, releases = ", ".join(elsewhere.gpus), ", ".join(elsewhere.releases)
    lines = [
        wrap(gpus or "no other GPU profile", width, "    ", "accepted as it is on "),
        wrap(releases or "no other release", width, "    ", "accepted as it is by "),
    ]
    return "\n".join(lines) + "\n"


def _derivation(conflict: Conflict, paint: Paint, width: int) -> Iterator[str]:
    """Each step once: what it rests on, and what holds then."""
    yield "  so:"
    for step in conflict.chain:
        grounds = [f"[{step.code}]"] if step.code else []
        grounds += [f"({number})" for number in step.uses]
        head = f"  ({step.number}) "
        if step.case is not None:
            text = f"suppose {step.case}"
        elif step.follows == "False":
            text = "nothing is left, by " + ", ".join(grounds or ["what is kept"])
        else:
            text = f"{step.follows}, by " + ", ".join(grounds)
        yield paint("dim", wrap(text, width, " " * len(head), head))
