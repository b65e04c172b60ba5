"""One answer for several contexts: what holds in all of them, and where they differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.model.finding import ProfileVerdict, Verdict
from kvsolve.model.overlay import Overlay

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.model.finding import CheckResult, Finding
    from kvsolve.session import Request

__all__ = ["agreed"]


def agreed(results: Sequence[CheckResult], request: Request) -> CheckResult:
    """What the answers for each consistent profile come to.

    Args:
        results: An answer for each profile, at least two.
        request: What was asked.
    """
    first = results[0]
    verdicts = {r.verdict for r in results}
    same = _common_values([r.effective for r in results])
    one_model = len({r.facts["model"] for r in results}) == 1
    return replace(
        first,
        facts={
            "gpu": request.gpu,
            "gpus": request.gpus,
            "model": first.facts["model"] if one_model else None,
            "model_from": "unknown" if request.gpu is not None else first.facts["model_from"],
        },
        verdict=verdicts.pop() if len(verdicts) == 1 else Verdict.UNKNOWN,
        findings=tuple(_common_findings(results)),
        effective=same,
        provenance={n: p for n, p in first.provenance.items() if n in same},
        unknown=tuple(dict.fromkeys(u for r in results for u in r.unknown)),
        profiles=tuple(_verdict(r) for r in results),
    )


def _verdict(result: CheckResult) -> ProfileVerdict:
    codes = tuple(f.code for f in result.errors)
    return ProfileVerdict(
        str(result.facts["gpu"]), str(result.facts["model"]), result.verdict, codes
    )


def _common_findings(results: Sequence[CheckResult]) -> Iterator[Finding]:
    """The findings of the first answer that all have, whatever the values that they tell."""
    common = {(f.code, f.dest) for f in results[0].findings}
    for result in results[1:]:
        common &= {(f.code, f.dest) for f in result.findings}
    return (f for f in results[0].findings if (f.code, f.dest) in common)


def _common_values(values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The values that are the same everywhere, in the first one's order."""
    same = dict(values[0].items())
    for other in values[1:]:
        for name in _unlike(same, values[0], other):
            del same[name]
    return same


def _unlike(
    same: Mapping[str, Any], first: Mapping[str, Any], other: Mapping[str, Any]
) -> set[str]:
    """The names of values that another mapping has not, or has otherwise."""
    names: Any = same
    if isinstance(first, Overlay) and isinstance(other, Overlay):
        (shared, changes), (others, more) = first.parts, other.parts
        if shared is others:  # then only what replaces something there can differ
            names = [name for name in {**changes, **more} if name in same]
    absent = object()
    found = ((name, other.get(name, absent)) for name in names)
    return {name for name, value in found if value is not same[name] and value != same[name]}
