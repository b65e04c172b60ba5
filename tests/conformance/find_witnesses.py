"""Find and confirm cases of entries: ``python -m conformance.find_witnesses --release 0.5.23``.

Every entry of argument resolution is looked for in setting after setting (GPU and model, then
environment variables and drafts) until it has a pair; what the release bears out at the entry's own
statement is added to ``tests/cases/args.jsonl.gz``. What it does not bear out is printed: the entry
or the facts are wrong there.
"""

from __future__ import annotations

import argparse
import tomllib
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from kvsolve.packs.files import constraints_directory

from .cases import CASES, has_value, job_of, read_file, write_file
from .entry_probe import Probe
from .oracle.home import RELEASES
from .witness_cases import confirm, misses, pair_of
from .witness_search import Explorer
from .witness_seeds import read_seeds, sprout
from .witness_settings import settings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from .entry_probe import Seen
    from .witness_search import Setting
    from .witness_seeds import Seed

__all__ = ["FILE", "curated_codes", "find", "standing"]

Case = dict[str, Any]
FILE = CASES / "args.jsonl.gz"


def curated_codes() -> list[str]:
    """Codes of the argument stage with a text by hand."""
    found: list[str] = []
    for path in sorted((constraints_directory() / "sglang").glob("[1-6]*.toml")):
        texts = tomllib.loads(path.read_text(encoding="utf-8")).get("text", [])
        found += [text["code"] for text in texts]
    return list(dict.fromkeys(found))


def standing(cases: Iterable[Case]) -> Iterator[Case]:
    """The pairs that still hold, under the codes that their entries have now."""
    pairs: dict[tuple[str, str], dict[str, Case]] = {}
    for case in cases:
        pairs.setdefault((case["code"], case["sglang"]), {})[case["kind"]] = case
    probes = {release: Probe(release) for release in {release for _, release in pairs}}
    done: set[tuple[str, str]] = set()
    for (_, release), both in pairs.items():
        breaks, keeps = both["breaks"], both["keeps"]
        code = _code_now(breaks, probes[release].look(job_of(breaks)))
        if not code or (code, release) in done:
            continue
        if misses(keeps, code, probes[release].look(job_of(keeps))):
            done.add((code, release))
            yield from ({**case, "code": code} for case in (breaks, keeps))


def _code_now(breaks: Case, seen: Seen) -> str:
    """Code of the entry that a breaking case shows at its place; empty where it shows none."""
    if breaks.get("told") == "unknown" and seen.leaves_open(breaks["code"]):
        return breaks["code"]
    if "dest" not in breaks:
        return seen.first if list(seen.place) == breaks["where"] else ""
    if seen.first or not has_value(breaks, seen.effective):
        return ""
    alike = (code for code, told in seen.writes.items() if told[0] == breaks["dest"])
    return breaks["code"] if breaks["code"] in seen.writes else next(alike, "")


def find(probe: Probe, wanted: dict[str, list[int]], where: Iterable[Setting]) -> Iterator[Case]:
    """Pairs of entries, as kvsolve sees them; what is found leaves ``wanted``."""
    explorer = Explorer(probe, wanted)
    for setting in where:
        told: Counter[str] = Counter()
        for attempt in explorer.visit(setting):
            told[attempt.result] += 1
            if attempt.result == "pair":
                assert attempt.breaks is not None
                assert attempt.keeps is not None
                yield from pair_of(probe, attempt.code, attempt.breaks, attempt.keeps)
        print(f"{setting}: {dict(told)}, {len(wanted)} left", flush=True)
        if not wanted:
            return


def grown(probe: Probe, seeds: Iterable[Seed]) -> Iterator[Case]:
    """Pairs that grow from seeds of one release, as kvsolve sees them; one an entry."""
    done: set[str] = set()
    for seed in seeds:
        if seed.code in done or seed.code not in probe.entries:
            continue
        pair = sprout(probe, seed)
        if pair is None:
            print(f"nothing grows from {seed}", flush=True)
            continue
        done.add(seed.code)
        yield from pair_of(probe, seed.code, *pair)


def looked_for(probe: Probe, done: Collection[str], options: argparse.Namespace) -> list[Case]:
    """Pairs of the entries of a release that have none yet."""
    if options.seeds:
        own = (seed for seed in read_seeds() if seed.release == probe.release)
        return list(grown(probe, (seed for seed in own if seed.code not in done)))
    curated = set(curated_codes())
    wanted = {
        code: [number for number, _ in steps]
        for code, steps in probe.entries.items()
        if code not in done and (code in curated or not options.curated)
    }
    found = list(find(probe, wanted, islice(settings(), options.settings)))
    print(f"{probe.release}: {len(wanted)} entries without", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Find and confirm cases of entries.")
    parser.add_argument("--release", nargs="+", choices=RELEASES, default=["0.5.23", "0.5.18"])
    parser.add_argument("--curated", action="store_true", help="only entries with a text by hand")
    parser.add_argument("--seeds", action="store_true", help="begin at witness_seeds.txt only")
    parser.add_argument("--settings", type=int, help="how many settings to visit; default: all")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    cases = list(standing(read_file(FILE) if FILE.exists() else ()))
    for release in options.release:
        any_release = options.curated or options.seeds
        done = {case["code"] for case in cases if any_release or case["sglang"] == release}
        found = looked_for(Probe(release), done, options)
        sure, wrong = confirm(release, found, options.workers)
        for case, outcome in wrong:
            told = {name: outcome.get(name) for name in ("status", "type", "where")}
            print(f"not borne out: {case} {told}")
        cases += sure
        write_file(FILE, cases)
        print(f"{release}: {len(sure) // 2} pairs more", flush=True)


if __name__ == "__main__":
    main()
