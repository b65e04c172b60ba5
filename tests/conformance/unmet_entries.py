"""Write down which entries nothing is known to meet: ``constraints/sglang/unmet.toml``.

Every entry of argument resolution without a case is searched for once more, to the end, in the
first settings. It is listed where no setting leaves a doubt: facts alone rule it out everywhere,
or wherever they do not the search has proven that there is no command. Entries that read
environment variables are left out unless they are named. A row with ``why = "read"`` has a reason
that was read in the source; it is written by hand and stays. Run it after cases were found::

    python -m conformance.unmet_entries --release 0.5.23 --settings 8
    python -m conformance.unmet_entries --release 0.5.18 --settings 8 --codes KV1047 KV1048
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from kvsolve.packs.files import constraints_directory

from .cases import read_file
from .entry_probe import Probe
from .find_witnesses import FILE
from .oracle.home import RELEASES
from .witness_search import Explorer
from .witness_settings import settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from .witness_search import Setting

__all__ = ["results", "rows", "write_rows"]

Results = dict[str, Counter[str]]
Row = dict[str, Any]
HEAD = (
    "# From the results of the search for cases (`python -m conformance.unmet_entries`): entries",
    "# that nothing is known to meet, why, and in how many settings of machine and model. A row",
    '# with why = "read" is written by hand.',
)


def results(explorer: Explorer, where: Iterable[Setting]) -> Results:
    """How often each entry still wanted came out which way."""
    found: Results = defaultdict(Counter)
    for setting in where:
        for attempt in explorer.visit(setting):
            found[attempt.code][attempt.result] += 1
    return found


def rows(release: str, found: Results, kinds: Mapping[str, str]) -> dict[str, Row]:
    """The rows of the list: entries of which no result leaves a doubt."""
    told = {}
    for code, counts in sorted(found.items()):
        if set(counts) - {"absent", "impossible"}:
            continue
        proven = counts["impossible"]
        hidden = "undone" if kinds[code] == "set" else "proven"
        why, number = (hidden, proven) if proven else ("facts", counts["absent"])
        told[code] = {"release": release, "why": why, "settings": number}
    return told


def write_rows(path: Path, told: Mapping[str, Row]) -> None:
    """Write the list, in the order of the codes."""
    lines = [*HEAD]
    for code, row in sorted(told.items()):
        lines.append(f"[{code}]")
        lines += [f"{name} = {json.dumps(value)}" for name, value in row.items()]
        lines.append("")
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _wanted(probe: Probe, codes: Iterable[str] | None, done: set[str]) -> dict[str, list[int]]:
    named = set(codes or ())
    return {
        code: [number for number, _ in steps]
        for code, steps in probe.entries.items()
        if code in named or (not named and code not in done and not probe.surroundings(code)[1])
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="List the entries that nothing is known to meet.")
    parser.add_argument("--release", choices=RELEASES, default="0.5.23")
    parser.add_argument("--settings", type=int, default=8)
    parser.add_argument("--codes", nargs="+", help="only these entries; default: all without case")
    options = parser.parse_args()
    probe = Probe(options.release)
    done = {case["code"] for case in read_file(FILE)}
    wanted = _wanted(probe, options.codes, done)
    kinds = {code: steps[0][1].kind for code, steps in probe.entries.items()}
    found = results(Explorer(probe, dict(wanted), again=True), islice(settings(), options.settings))
    for code, counts in sorted(found.items()):
        if set(counts) - {"absent", "impossible"}:
            print(f"open: {code} {dict(counts)}")
    path = constraints_directory() / "sglang" / "unmet.toml"
    known = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept = {
        code: row
        for code, row in known.items()
        if code not in done and (row["why"] == "read" or code not in wanted)
    }
    told = {**rows(options.release, found, kinds), **kept}
    write_rows(path, told)
    print(f"{len(told)} entries listed")


if __name__ == "__main__":
    main()
