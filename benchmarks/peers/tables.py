"""Tables of measurements, for a terminal and for a page.

``python -m benchmarks.peers.tables RESULTS.json PAGE.md`` rewrites the tables of a page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["in_page", "written"]

_BEGIN, _END = "<!-- tables: written by make bench -->", "<!-- end of tables -->"
NAMES = {
    "build": "model built",
    "nearest": "nearest valid",
    "conflict": "pins proven infeasible, with a minimal conflict",
    "alternatives": "10 alternatives",
    "options_one": "options of one flag",
    "options_all": "options of all flags",
    "enumerate": "list a product of 4 x 10^5",
    "million": "list 10^6 valid ones",
    "count": "count the first scope",
    "sample": "1,000 samples of the first scope",
    "cover_scope": "pairs covered, first scope",
    "cover": "pairs covered, all flags",
    "support": "support of all pairs of values",
}
TARGETS_MS = {
    "build": 100,
    "nearest": 1,
    "conflict": 5,
    "alternatives": 20,
    "options_one": 5,
    "options_all": 200,
    "enumerate": 200,
    "million": 3000,
    "count": 2000,
    "sample": 2000,
    "cover": 15000,
    "support": 5000,
}
WORST_MS = {"nearest": 100}
MEMORY_MIB = 500


def written(results: Mapping[str, Any]) -> str:
    """All tables as Markdown."""
    return "\n".join(_lines(results))


def in_page(page: str, results: Mapping[str, Any]) -> str:
    """A page with its tables replaced."""
    head, _, rest = page.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    return f"{head}{_BEGIN}\n\n{written(results)}\n\n{_END}{tail}"


def _lines(results: Mapping[str, Any]) -> Iterator[str]:
    yield f"Measured on {results['date']}: {results['machine']}."
    whole = [context for context in results["contexts"] if context["copies"] == 1]
    for context in whole:
        yield from _context(context, results)
    if whole and "kvsolve" in whole[0]["peers"]:
        yield from _targets(whole)
    if len(results["contexts"]) > len(whole):
        yield from _growth(whole[0], results["contexts"])
    yield from _versions(whole)


def _context(context: Mapping[str, Any], results: Mapping[str, Any]) -> Iterator[str]:
    peers = context["peers"]
    yield f"\n### {context['title']}\n"
    yield (
        f"{context['flags']} flags with {context['classes']} classes of values, "
        f"{context['entries']} entries, {context['clauses']} clauses; {context['scope']} flags in "
        f"the first scope. Median (worst) of up to {context['commands']} questions, milliseconds "
        f"of the processor. `> n s`: not one answer in so many seconds; `n answered`: so many "
        f"were in {results['limit_s']:g} s ({results['own_limit_s']:g} s for kvsolve).\n"
    )
    rows = []
    for operation, name in NAMES.items():
        cells = [_cell(of["operations"][operation], peer, results) for peer, of in peers.items()]
        if any(cell != "n/a" for cell in cells):
            rows.append([name, *cells])
    rows.append(["most memory, MiB", *(_memory(of) or "n/a" for of in peers.values())])
    yield tabulate(rows, headers=["", *peers], tablefmt="github", disable_numparse=True)
    if context["differences"]:
        yield "\nThe solvers disagree:\n"
        yield from (f"- {line}" for line in context["differences"])
    else:
        yield (
            "\nAll answers that can be compared (costs of repairs, lists, counts) are the same for "
            "all solvers that gave one."
        )


def _cell(operation: Mapping[str, Any], peer: str, results: Mapping[str, Any]) -> str:
    times = operation["ms"]
    limit = results["own_limit_s" if peer == "kvsolve" else "limit_s"]
    if operation["state"] == "failed":
        return "failed"
    if not times:
        return f"> {limit:g} s" if operation["state"] == "timeout" else "n/a"
    text = _ms(median(times))
    if len(times) > 1:
        text += f" ({_ms(max(times))})"
    return f"{text}, {len(times)} answered" if operation["state"] == "timeout" else text


def _ms(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def _memory(peer: Mapping[str, Any]) -> int:
    return max((op.get("rss_mib", 0) for op in peer["operations"].values()), default=0)


def _targets(contexts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "\n### What was to be reached\n"
    rows = []
    wanted = [(NAMES[op], op, target, median) for op, target in TARGETS_MS.items()]
    wanted += [(f"{NAMES[op]}, worst", op, target, max) for op, target in WORST_MS.items()]
    for name, operation, target, of in wanted:
        row = [name, f"{target:,}"]
        for context in contexts:
            own = context["peers"]["kvsolve"]["operations"][operation]
            # What ran out of time did not reach the target, whatever the rest took.
            finished = own["state"] == "done" and own["ms"]
            row.append(_against(of(own["ms"]), target) if finished else "not finished: missed")
        rows.append(row)
    rows.append(["nearest valid, times the best peer", "10", *map(_ahead, contexts)])
    memory = [_memory(context["peers"]["kvsolve"]) for context in contexts]
    rows.append(["memory, MiB", str(MEMORY_MIB), *(_against(m, MEMORY_MIB) for m in memory)])
    headers = ["milliseconds", "target", *(context["title"] for context in contexts)]
    yield tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True)


def _against(value: float, target: float) -> str:
    return f"{_ms(value)}: {'reached' if value <= target else 'missed'}"


def _ahead(context: Mapping[str, Any]) -> str:
    found = {
        name: median(of["operations"]["nearest"]["ms"])
        for name, of in context["peers"].items()
        if of["operations"]["nearest"]["ms"]
    }
    own = found.pop("kvsolve", None)
    if own is None or not found:
        return "n/a"
    best = min(found, key=lambda name: found[name])
    times = found[best] / own
    return f"{times:.0f} ({best}): {'reached' if times >= 10 else 'missed'}"


def _growth(first: Mapping[str, Any], contexts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "\n### As the pack grows\n"
    yield (
        f"{first['title']}: so many disjoint copies of the program, every flag renamed; median "
        "milliseconds. The first scope is that of the first copy.\n"
    )
    grown = [first, *(c for c in contexts if c["copies"] > 1)]
    rows = []
    for peer in grown[-1]["peers"]:
        for operation in NAMES:
            cells = [
                context["peers"].get(peer, {}).get("operations", {}).get(operation)
                for context in grown
            ]
            if all(cell and cell["ms"] for cell in (cells[0], cells[1])):
                texts = [_ms(median(c["ms"])) if c and c["ms"] else "not finished" for c in cells]
                rows.append([peer, NAMES[operation], *texts])
    headers = ["", "", *(f"x{context['copies']}" for context in grown)]
    yield tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True)


def _versions(contexts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "\n### Versions, and how each was used\n"
    rows = []
    for name, of in contexts[0]["peers"].items() if contexts else ():
        versions = ", ".join(f"{k} {v}" for k, v in (of["versions"] or {}).items())
        rows.append([name, versions or "did not start", of["how"] or ""])
    yield tabulate(rows, headers=["", "version", "used"], tablefmt="github", disable_numparse=True)


if __name__ == "__main__":
    measured, page = map(Path, sys.argv[1:3])
    text = in_page(page.read_text("utf-8"), json.loads(measured.read_text("utf-8")))
    page.write_text(text, "utf-8")
