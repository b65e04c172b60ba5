"""How much of a release is known, in numbers."""

from __future__ import annotations

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


def figures_of(release: str) -> dict[str, Any]:
    """The figures of a release; the pack is not compiled for them.

    Returns:
        ``sglang``, ``status``, ``flags`` (options), ``modelled`` (those that some step reads or
        writes), ``refusals``, ``rewrites``, ``statements`` (raise and assert statements of
        argument resolution), ``exact`` (those that are entries with nothing opaque in the guard),
        ``share`` (percent of them), ``gaps`` (places that were not followed), ``last_stage``.
    """
    root = constraints_directory() / "sglang"
    paths = (root / "program" / f"{release}.jsonl", root / "flags" / f"{release}.json")
    late = sorted(root.glob("7[0-9]-*.toml"))
    key = f"{__version__}\n{stamp([*paths, *late, root / 'compared.toml'])}"
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
    }
