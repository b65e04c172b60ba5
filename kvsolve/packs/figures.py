"""How much of a release is known, in numbers."""

from __future__ import annotations

import json
import marshal
from typing import TYPE_CHECKING, Any

from kvsolve import __version__
from kvsolve.model.finding import stage_rank
from kvsolve.model.flag import FlagTable
from kvsolve.model.program import Refuse, Set
from kvsolve.packs.files import constraints_directory, read_cached, stamp, write_cached
from kvsolve.packs.pack import modelled_dests, read_full_program
from kvsolve.packs.status import release_status

if TYPE_CHECKING:
    from kvsolve.model.program import Program

__all__ = ["figures_of"]

_REACH = "reach.json"


def figures_of(release: str) -> dict[str, Any]:
    """The figures of a release; the pack is not compiled for them.

    Returns:
        ``sglang``, ``status``, ``flags`` (options), ``modelled`` (those that some step reads or
        writes), ``refusals``, ``rewrites``, ``statements`` (raise and assert statements of
        argument resolution), ``exact`` (those that are entries with nothing opaque in the guard),
        ``share`` (percent of them), ``gaps`` (places that were not followed), ``last_stage``;
        ``late_places`` (raise and assert statements past argument resolution that a launch can
        reach and a flag decides), ``late_entries`` (those that are entries), ``late_share``, each
        None where they were not counted, and ``stages`` (the counts by stage, see
        :mod:`kvsolve.upstream.reach.figures`).
    """
    root = constraints_directory() / "sglang"
    paths = (root / "program" / f"{release}.jsonl", root / "flags" / f"{release}.json")
    late = sorted(root.glob("7[0-9]-*.toml"))
    key = f"{__version__}\n{stamp([*paths, *late, root / 'compared.toml', root / _REACH])}"
    kept = read_cached(f"{release}.figures", key)
    if kept is not None:
        return dict(marshal.loads(kept))
    figures = _counted(release, read_full_program(release), FlagTable.load(paths[1]))
    write_cached(f"{release}.figures", key, marshal.dumps(figures))
    return figures


def _counted(release: str, program: Program, flags: FlagTable) -> dict[str, Any]:
    refusals = [step for step in program.steps if isinstance(step, Refuse)]
    total, exact = program.statements.get("total"), program.statements.get("entries")
    return {
        "sglang": release,
        "status": release_status(release),
        "flags": len(flags),
        "modelled": len(modelled_dests(program) & set(flags.fields)),
        "refusals": len(refusals),
        "rewrites": sum(isinstance(step, Set) for step in program.steps),
        "statements": total,
        "exact": exact,
        "share": round(100 * exact / total, 1) if total and exact is not None else None,
        "gaps": len(program.gaps),
        "last_stage": max((s.stage for s in refusals), key=stage_rank, default="args"),
        **_past_resolution(release),
    }


def _past_resolution(release: str) -> dict[str, Any]:
    """What `kvsolve upstream inventory --record` counted."""
    path = constraints_directory() / "sglang" / _REACH
    stages = json.loads(path.read_text(encoding="utf-8")).get(release, {})
    late = [counted for stage, counted in stages.items() if stage != "args"]
    places = sum(counted["flag"] for counted in late) or None
    entries = sum(counted["flag_entries"] for counted in late) if places else None
    return {
        "late_places": places,
        "late_entries": entries,
        "late_share": round(100 * entries / places, 1) if places and entries is not None else None,
        "stages": stages,
    }
