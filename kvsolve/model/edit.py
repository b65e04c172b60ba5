"""Edits of a command line and repairs made of them."""

from __future__ import annotations

from typing import Any

from kvsolve.model.noun import dataclass

__all__ = ["Conflict", "Derived", "Edit", "Repair"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a command line.

    Attributes:
        op: ``add`` (the flag was not there), ``set`` (another value) or ``remove``.
        dest: The flag's dest.
        flag: The spelling to type.
        before: Value before (the default where it was not given).
        value: Value after; the default for ``remove``.
        cost: Positive; the weight of the flag times 1 for add, 2 for set, 3 or 2 for remove.
        also: Other values of the same cost that would do, best first.
        becomes: The spelling to type in place of a flag that the release does not know by this
            name; else empty.
    """

    op: str
    dest: str
    flag: str
    before: Any
    value: Any
    cost: int
    also: tuple[Any, ...] = ()
    becomes: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The JSON of an edit."""
        renamed = {"becomes": self.becomes} if self.becomes else {}
        return {
            "op": self.op,
            "flag": self.flag,
            "from": self.before,
            "value": self.value,
            "cost": self.cost,
            "also": list(self.also),
            **renamed,
        }


@dataclass(frozen=True, slots=True)
class Repair:
    """A set of edits that makes a configuration valid.

    Attributes:
        cost: Sum of the edits' costs.
        edits: In declared order of their flags.
        argv: The repaired command's tokens.
        removes: Codes of the violations that it removes.
        optimal: Proven cheapest over the domain (for alternatives: proven next in order).
        bound: Proven lower bound of the cost.
        domain: ``representatives`` or ``all``.
        rewritten: Dests of kept user values that upstream would silently rewrite.
        reports: Codes of reports that the repaired configuration still has.
    """

    cost: int
    edits: tuple[Edit, ...]
    argv: tuple[str, ...]
    removes: tuple[str, ...]
    optimal: bool
    bound: int
    domain: str = "representatives"
    rewritten: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a repair."""
        return {
            "cost": self.cost,
            "optimal": self.optimal,
            "bound": self.bound,
            "domain": self.domain,
            "edits": [e.to_dict() for e in self.edits],
            "removes": list(self.removes),
            "rewritten": list(self.rewritten),
            "reports": list(self.reports),
            "argv": list(self.argv),
        }


@dataclass(frozen=True, slots=True)
class Derived:
    """One step of the way from pins to a contradiction.

    Attributes:
        number: Its place, from 1.
        code: The entry that it follows from; None where it only gathers or opens a case.
        reads: Dests that it speaks of.
        uses: Earlier steps that it builds on; what it takes from pins is not numbered.
        follows: What holds then, as an expression over one flag; ``False`` is a contradiction.
        case: The assumption that it opens, as an expression; None where it opens none.
    """

    number: int
    code: str | None
    reads: tuple[str, ...]
    uses: tuple[int, ...]
    follows: str
    case: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a step."""
        return {
            "step": self.number,
            "code": self.code,
            "reads": list(self.reads),
            "uses": list(self.uses),
            "follows": self.follows,
            "case": self.case,
        }


@dataclass(frozen=True, slots=True)
class Conflict:
    """A minimal unsatisfiable subset of pins, facts and entries.

    Attributes:
        pins: Flags held, with their values.
        facts: Facts that take part.
        codes: Entries that take part, in upstream's order.
        chain: The steps that lead to the contradiction, each told once and referred to by number.
    """

    pins: tuple[tuple[str, Any], ...]
    facts: tuple[str, ...]
    codes: tuple[str, ...]
    chain: tuple[Derived, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a conflict."""
        return {
            "pins": [{"flag": f, "value": v} for f, v in self.pins],
            "facts": list(self.facts),
            "codes": list(self.codes),
            "chain": [step.to_dict() for step in self.chain],
        }
