"""Draw launch configurations near the boundary, the same ones for the same seed.

A third are independent draws of one to five flags; the rest start from a near-valid bundle that is
then mutated, so that many lie one change away from acceptance. ``python -m conformance.sampling
--release 0.5.18 --seed 1 --count 1000`` prints them as JSON lines for the oracle.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.model.flag import FlagTable

from .flag_pool import TABLES, FlagPool

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Sampler", "flag_table"]

Job = dict[str, Any]
Chosen = dict[str, str | None]
"""Canonical spelling -> value, None for a switch; in the order of the command line."""

FLAG_TABLES = Path(__file__).resolve().parents[2] / "constraints" / "sglang" / "flags"

INDEPENDENT = 1 / 3
FITTING_MODEL = 0.9
UNTOUCHED_BUNDLE = 0.65
ANY_FLAG = 0.25
ODD_SPELLING = 0.1
SHUFFLED = 0.2
SLIP = 0.015
ENVIRONMENT = 0.04


class Sampler:
    """Draws configurations of one release.

    Args:
        table: Every flag of the release.
        seed: Anything printable; equal seeds draw equal configurations.
        first_scope: Only flags of the first scope, spelled canonically and without slips.
        platforms: Only these GPU profiles; empty for all of ``sampling.toml``.
        environment: Now and then set a variable.
    """

    def __init__(
        self,
        table: FlagTable,
        seed: object,
        *,
        first_scope: bool = False,
        platforms: Sequence[str] = (),
        environment: bool = True,
    ) -> None:
        self.release = table.release
        self.first_scope = first_scope
        self.environment = environment and not first_scope
        self.pool = FlagPool.of(table, TABLES, TABLES["first_scope"] if first_scope else ())
        self.every = list(self.pool.flags)
        self.near = [name for name in self.every if self.pool.weights[name] >= 1]
        self.weights = [self.pool.weights[name] for name in self.near]
        self.platforms = platforms or list(TABLES["platforms"])
        self.platform_weights = [TABLES["platforms"][name] for name in self.platforms]
        self.bundles = self._bundles()
        self.seed = seed
        self.random = random.Random(f"{table.release}/{seed}/{first_scope}")

    def draw(self, count: int) -> Iterator[Job]:
        """Draw configurations, each a job for the oracle."""
        letter, stage = ("f", "attention") if self.first_scope else ("a", "args")
        for number in range(count):
            ident = f"{self.release}-{letter}{self.seed}-{number}"
            yield {"id": ident, **self.one(), "judged_to": stage}

    def one(self) -> Job:
        """Draw one configuration."""
        rng = self.random
        [platform] = rng.choices(self.platforms, self.platform_weights)
        independent = rng.random() < INDEPENDENT
        kind = "independent" if independent else rng.choice(sorted(self.bundles))
        models = TABLES["models"]["generative"] + TABLES["models"]["embedding"]
        if independent:
            chosen = self._draws(rng.choice([0, 1, 1, 2, 2, 3, 4, 5]))
        else:
            if rng.random() < FITTING_MODEL:
                models = TABLES["bundles"][kind]["models"]
            chosen = self._mutated(self.bundles[kind])
        job = {"kind": kind, "platform": platform, "model": rng.choice(models)}
        job["argv"] = self._spelled(chosen)
        if self.environment and rng.random() < ENVIRONMENT:
            name = rng.choice(sorted(TABLES["environment"]))
            job["env"] = {name: rng.choice(TABLES["environment"][name])}
        return job

    def _bundles(self) -> dict[str, dict[str, Sequence[str]]]:
        """The bundles whose first two flags this release and this scope have."""
        found = {}
        for name, bundle in TABLES["bundles"].items():
            flags: dict[str, Sequence[str]] = {}
            spelled = [key for key in bundle if key != "models"]
            for spelling in spelled:
                canonical = self.pool.canonical(spelling)
                if canonical is not None:
                    given = bundle[spelling]
                    known = self.pool.values[canonical]
                    flags[canonical] = known if given == "choices" else [str(v) for v in given]
            needed = spelled[:1] if self.first_scope else spelled[:2]
            if all(self.pool.canonical(spelling) in flags for spelling in needed):
                found[name] = flags
        return found

    def _draws(self, count: int) -> Chosen:
        """Independent draws; now and then of any flag, not of those near the boundary."""
        chosen: Chosen = {}
        for _ in range(count):
            if self.random.random() < ANY_FLAG:
                name = self.random.choice(self.every)
            else:
                [name] = self.random.choices(self.near, self.weights)
            chosen.pop(name, None)
            chosen[name] = self._value(name)
        return chosen

    def _value(self, name: str) -> str | None:
        values = self.pool.values[name]
        return self.random.choice(values) if values else None

    def _mutated(self, bundle: dict[str, Sequence[str]]) -> Chosen:
        rng = self.random
        chosen: Chosen = {
            name: rng.choice(values) if values else None for name, values in bundle.items()
        }
        if rng.random() > UNTOUCHED_BUNDLE:
            chosen.pop(rng.choice(list(chosen)))
        for name, value in self._draws(rng.choice([0, 0, 1, 1, 2])).items():
            chosen.pop(name, None)
            chosen[name] = value
        return chosen

    def _spelled(self, chosen: Chosen) -> list[str]:
        """The command line, at times in another order or spelling, or with a slip."""
        rng = self.random
        items = list(chosen.items())
        if rng.random() < SHUFFLED:
            rng.shuffle(items)
        argv: list[str] = []
        for name, value in items:
            argv += self._tokens(name, value)
        if not self.first_scope and rng.random() < SLIP:
            argv = self._slip(argv)
        return argv

    def _tokens(self, name: str, value: str | None) -> list[str]:
        rng, flag = self.random, self.pool.flags[name]
        spelling = name
        if flag.action == "boolean" or (not self.first_scope and rng.random() < ODD_SPELLING):
            spelling = rng.choice(flag.spellings)
        if value is None:
            return [spelling]
        if not self.first_scope and rng.random() < ODD_SPELLING:
            return [f"{spelling}={value}"]
        if flag.nargs in ("*", "+") and rng.random() < ANY_FLAG:
            return [spelling, value, rng.choice(self.pool.values[name])]
        return [spelling, value]

    def _slip(self, argv: list[str]) -> list[str]:
        """A mistake that people make when they type a command."""
        rng = self.random
        kind = rng.choice(["shortened", "misspelt", "repeated", "no value", "wrong type"])
        name = rng.choice(self.every)
        value = self._value(name)
        tokens = [name] if value is None else [name, value]
        if kind == "shortened":
            return [*argv, name[: -rng.randint(1, 4)], *tokens[1:]]
        if kind == "misspelt":
            return [*argv, name[:5] + name[6:], *tokens[1:]]
        if kind == "repeated":
            return [*argv, *tokens, *tokens]
        if kind == "no value":
            return [*argv, name]
        return [*argv, name, rng.choice(["many", "", "1.5", "-3", "None"])]


def flag_table(release: str) -> FlagTable:
    """The committed flag table of a release."""
    return FlagTable.load(FLAG_TABLES / f"{release}.json")


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw configurations for the oracle.")
    parser.add_argument("--release", required=True)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first-scope", action="store_true")
    parser.add_argument("--platforms", nargs="*", default=[], help="default: all")
    options = parser.parse_args()
    sampler = Sampler(
        flag_table(options.release),
        options.seed,
        first_scope=options.first_scope,
        platforms=options.platforms,
    )
    for job in sampler.draw(options.count):
        print(json.dumps(job))


if __name__ == "__main__":
    main()
