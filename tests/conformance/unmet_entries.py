"""Write down which entries nothing is known to meet: ``constraints/sglang/unmet.toml``.

Every entry of argument resolution without a case in the release is searched for once more, to the
end, in the first settings. It is listed where no setting leaves a doubt: facts alone rule it out
everywhere, or wherever they do not the search has proven that there is no command. Entries that
read environment variables are left out. Run it after cases were found::

    python -m conformance.unmet_entries --release 0.5.23 --settings 8
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from kvsolve.packs.files import constraints_directory

from .cases import read_file
from .entry_probe import Probe
from .find_witnesses import FILE
from .oracle.home import RELEASES
from .witness_search import Explorer
from .witness_settings import settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .witness_search import Setting

__all__ = ["results", "rows"]

Results = dict[str, Counter[str]]


def results(explorer: Explorer, where: Iterable[Setting]) -> Results:
    """How often each entry still wanted came out which way."""
    found: Results = defaultdict(Counter)
    for setting in where:
        for attempt in explorer.visit(setting):
            found[attempt.code][attempt.result] += 1
    return found


def rows(release: str, found: Results, kinds: Mapping[str, str]) -> list[str]:
    """The lines of the list: entries of which no result leaves a doubt."""
    lines = []
    for code, counts in sorted(found.items()):
        if set(counts) - {"absent", "impossible"}:
            continue
        proven = counts["impossible"]
        hidden = "undone" if kinds[code] == "set" else "proven"
        why, number = (hidden, proven) if proven else ("facts", counts["absent"])
        lines += [f"[{code}]", f'release = "{release}"', f'why = "{why}"', f"settings = {number}"]
        lines.append("")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="List the entries that nothing is known to meet.")
    parser.add_argument("--release", choices=RELEASES, default="0.5.23")
    parser.add_argument("--settings", type=int, default=8)
    options = parser.parse_args()
    probe = Probe(options.release)
    done = {case["code"] for case in read_file(FILE) if case["sglang"] == options.release}
    wanted = {
        code: [number for number, _ in steps]
        for code, steps in probe.entries.items()
        if code not in done and not probe.surroundings(code)[1]
    }
    kinds = {code: steps[0][1].kind for code, steps in probe.entries.items()}
    explorer = Explorer(probe, wanted, again=True)
    found = results(explorer, islice(settings(), options.settings))
    lines = [
        "# Written by `python -m conformance.unmet_entries`: entries that nothing is known to meet",
        "# and why, with the number of settings of machine and model that were searched",
        *rows(options.release, found, kinds),
    ]
    path = constraints_directory() / "sglang" / "unmet.toml"
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(f"{sum(line.startswith('[') for line in lines)} of {len(kinds)} entries listed")


if __name__ == "__main__":
    main()
