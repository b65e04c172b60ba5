"""What a lint found, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.words import command_lines, count_of, short_value, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["lint_text"]

_MOST = 15
_HEADINGS = {
    "contradictory-remedy": "Remedies that lead to a refusal",
    "never-fires": "Entries that cannot fire",
    "shadowed": "Entries that others always come before",
    "implied": "Entries that refuse nothing by themselves",
    "dead-value": "Values that no valid launch has",
    "core-value": "Flags with one value left",
    "false-optional": "Flags that cannot be left out",
    "atomic-set": "Values that come together or not at all",
    "open": "Not decided",
}


def lint_text(answer: Mapping[str, Any], width: int = 100, most: int | None = _MOST) -> str:
    """Remarks by kind, pack faults marked.

    Args:
        answer: The JSON of the verb.
        width: Columns to wrap at.
        most: Remarks of one kind to show; all where None.
    """
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for remark in answer["remarks"]:
        by_kind.setdefault(remark["kind"], []).append(remark)
    blocks = [
        "\n".join(_block(heading, by_kind[kind], width, most))
        for kind, heading in _HEADINGS.items()
        if kind in by_kind
    ]
    return "\n\n".join([*blocks, _summary(answer)]) + "\n"


def _summary(answer: Mapping[str, Any]) -> str:
    faults = sum(remark["fault"] for remark in answer["remarks"])
    told = [
        f"{count_of(len(answer['remarks']), 'remark')}, {count_of(faults, 'fault')} of the pack"
    ]
    if "contexts" in answer:
        told.append(f"{count_of(len(answer['contexts']), 'context')} looked at")
    if answer.get("remedies_not_understood"):
        told.append(f"{answer['remedies_not_understood']} ways out were not understood")
    return "; ".join(told) + "."


def _block(
    heading: str, remarks: Sequence[Mapping[str, Any]], width: int, most: int | None
) -> Iterator[str]:
    yield f"{heading} ({len(remarks)})"
    for remark in remarks[:most]:
        yield from _lines(remark, width)
    if most is not None and len(remarks) > most:
        yield f"  and {len(remarks) - most} more; --all shows them"


def _lines(remark: Mapping[str, Any], width: int) -> Iterator[str]:
    subject = remark["code"] or ", ".join(_value(value) for value in remark["values"])
    parts = [part for part in (subject, remark["detail"]) if part]
    text = ": ".join(parts)
    if remark["codes"]:
        verb = {"contradictory-remedy": "leads to", "dead-value": "because of"}
        text += f"; {verb.get(remark['kind'], 'what it refuses is refused by')} "
        text += ", ".join(remark["codes"])
    if remark["proof"] == "facts":
        text += "; the context rules it out"
    yield wrap(text, width, "      ", "  fault " if remark["fault"] else "  - ")
    if where := remark.get("context"):
        yield f"      on {where['gpu']} with {where['model']}"
    if remark["witness"] and remark["kind"] == "contradictory-remedy":
        yield wrap("for " + " ".join(command_lines(remark["witness"])), width, "        ", "      ")


def _value(value: Mapping[str, Any]) -> str:
    return f"{value['flag']} {short_value(value['value'])}"
