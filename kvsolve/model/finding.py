"""What a check says: findings, provenance, verdict."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "STAGES",
    "CheckResult",
    "Finding",
    "Ground",
    "Kind",
    "Location",
    "ProfileVerdict",
    "Severity",
    "Suppression",
    "Verdict",
    "stage_rank",
]

STAGES = ("parse", "args", "load", "pool", "attention", "request")
"""Where upstream notices, in the order of a start-up."""


def stage_rank(stage: str) -> int:
    """Position of a stage in a start-up, from 0."""
    return STAGES.index(stage)


class Kind(StrEnum):
    """What a finding is about."""

    VIOLATION = "violation"
    PARSE = "parse"
    REWRITE = "rewrite"
    REPORT = "report"


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Verdict(StrEnum):
    """What is known of a configuration; ``VALID`` means that nothing known refuses it."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Ground:
    """Where upstream does what a finding says.

    Attributes:
        file: Path below ``sglang/srt``.
        symbol: Qualified name, ending in the innermost function.
        sglang: The releases it is confirmed for.
        line: Line in the release checked, or None.
        checked: ``validator`` where the real validator was run, else ``source``.
    """

    file: str
    symbol: str
    sglang: str
    line: int | None = None
    checked: str = "validator"

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a ground."""
        out = {"file": self.file, "symbol": self.symbol, "sglang": self.sglang}
        return out | {"line": self.line, "checked": self.checked}


@dataclass(frozen=True, slots=True)
class Location:
    """A position in a file: 1-based line and column."""

    file: str
    line: int
    column: int

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a location."""
        return {"file": self.file, "line": self.line, "column": self.column}


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why a finding is not to be told.

    Attributes:
        by: ``comment``, ``annotation``, ``config`` or ``baseline``.
        reason: In the words of whoever suppressed it.
    """

    by: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a suppression."""
        return {"by": self.by, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about a configuration.

    Attributes:
        code: Stable code, as in ``KV1042``.
        slug: Stable short name.
        kind: What it is about.
        severity: ``error`` for violations and parse findings, ``warning`` or ``note`` else.
        stage: Where upstream notices.
        flags: The flags in conflict, in the user's spelling where typed.
        message: One sentence in our own words.
        ground: Where upstream does it; None for a parse finding.
        raises: Upstream's exception, None for rewrites and reports.
        remedy: The way out, None where there is none to name.
        crash: Upstream does not raise on purpose; it breaks.
        before: Value before a rewrite.
        after: Value after it.
        dest: Flag that a rewrite changes.
        after_first: It comes after the violation that upstream would stop at.
        not_reached: It reads a value that a crash before it left undefined.
        location: Where in the user's file.
        step: Position in the program, for sorting; -1 for parse findings.
        suppressed: Why it does not count, None where it does.
    """

    code: str
    slug: str
    kind: Kind
    severity: Severity
    stage: str
    flags: tuple[str, ...]
    message: str
    ground: Ground | None = None
    raises: str | None = None
    remedy: str | None = None
    crash: bool = False
    before: Any = None
    after: Any = None
    dest: str | None = None
    after_first: bool = False
    not_reached: bool = False
    location: Location | None = None
    step: int = -1
    suppressed: Suppression | None = None

    @property
    def is_error(self) -> bool:
        """Whether upstream would not start."""
        return self.severity is Severity.ERROR

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a finding, as design.md fixes it."""
        out: dict[str, Any] = {
            "code": self.code,
            "slug": self.slug,
            "kind": str(self.kind),
            "severity": str(self.severity),
            "stage": self.stage,
            "raises": self.raises,
            "flags": list(self.flags),
            "message": self.message,
            "remedy": self.remedy,
            "crash": self.crash,
            "after_first": self.after_first,
            "not_reached": self.not_reached,
            "ground": self.ground.to_dict() if self.ground else None,
            "location": self.location.to_dict() if self.location else None,
        }
        if self.kind is Kind.REWRITE:
            out |= {"dest": self.dest, "before": self.before, "after": self.after}
        if self.suppressed:
            out["suppressed"] = self.suppressed.to_dict()
        return out


@dataclass(frozen=True, slots=True)
class ProfileVerdict:
    """The verdict under one consistent profile, where GPU or model is not given."""

    gpu: str
    model: str
    verdict: Verdict
    codes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON of it."""
        return {
            "gpu": self.gpu,
            "model": self.model,
            "verdict": str(self.verdict),
            "codes": list(self.codes),
        }


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The answer of a check.

    Attributes:
        argv: The command's tokens after the program, secrets redacted.
        sglang: Release judged.
        sglang_from: ``option``, ``settings``, ``image`` or ``newest``.
        facts: ``gpu``, ``gpus``, ``model``, ``model_from``.
        judged_to: Last stage judged.
        verdict: What is known.
        findings: In upstream's order.
        effective: Every modelled flag by dest with the value that will really run.
        provenance: By dest: ``user``, ``default`` or the code that set it.
        not_modelled: Non-default flags that upstream reads and the pack does not model.
        unknown: Names of facts that were needed and not known.
        taken_for_granted: What the command names and the machine that serves is taken to have.
        profiles: Verdict per consistent profile, where GPU or model is not given.
        source: Where the command stands, None for a command line.
        ident: The ``id`` of a batch line.
        pack_status: ``compared`` where the release's pack was held to its real validator, else
            ``read``.
    """

    argv: tuple[str, ...]
    sglang: str
    sglang_from: str
    facts: Mapping[str, Any]
    judged_to: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    effective: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    not_modelled: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    taken_for_granted: tuple[str, ...] = ()
    profiles: tuple[ProfileVerdict, ...] = ()
    source: Location | None = None
    ident: Any = None
    pack_status: str = "compared"

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that keep upstream from starting."""
        return tuple(f for f in self.findings if f.is_error)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of a result, as design.md fixes it."""
        head, tail = self.around_values()
        values = {
            "effective": dict(self.effective.items()),
            "provenance": dict(self.provenance.items()),
        }
        return head | values | tail

    def around_values(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What stands before ``effective`` and ``provenance`` in the JSON, and what after."""
        out: dict[str, Any] = {} if self.ident is None else {"id": self.ident}
        out |= {
            "source": self.source.to_dict() if self.source else None,
            "argv": list(self.argv),
            "sglang": self.sglang,
            "sglang_from": self.sglang_from,
            "pack": {"status": self.pack_status},
            "facts": dict(self.facts),
            "judged_to": self.judged_to,
            "verdict": str(self.verdict),
            "findings": [f.to_dict() for f in self.findings],
        }
        return out, {
            "not_modelled": list(self.not_modelled),
            "unknown": list(self.unknown),
            "taken_for_granted": list(self.taken_for_granted),
            "profiles": [p.to_dict() for p in self.profiles],
        }
