"""packs lint without a context: what no shipped profile bears out."""

from __future__ import annotations

import time
from itertools import product
from math import lcm
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import session
from kvsolve.answers.lint import remark_json, remedy_trials
from kvsolve.answers.spreading import cores, spread
from kvsolve.model.noun import dataclass
from kvsolve.session import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kvsolve.session import Question
    from kvsolve.solve.firing import Firing

__all__ = ["Profiles", "lint_release", "profiles"]

Profiles = tuple[str, str]
"""A GPU profile and a model profile."""
_ROUND = 12
"""Contexts looked at before it is counted what is still open."""
_ENOUGH = 24
"""Contexts in which an entry fired after which a way out that never helped is given up."""


@dataclass(frozen=True, slots=True)
class Task:
    """What to look at in one context.

    Attributes:
        release: The pack.
        codes: Entries that have not fired anywhere yet, or have a way out that never helped yet.
    """

    release: str
    codes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of one entry in one context.

    Attributes:
        code: The entry.
        reach: How far it gets.
        ways: For each way out that was understood whether it helped; if not, the remark.
    """

    code: str
    reach: str
    ways: tuple[tuple[str, Any], ...] = ()


def profiles(gpus: Sequence[str] = (), models: Sequence[str] = ()) -> list[Profiles]:
    """The contexts of the shipped profiles, unlike ones first.

    Args:
        gpus: GPU profiles; all where empty.
        models: Model profiles; all but drafts where empty.
    """
    from kvsolve.inputs.gpu import gpu_profiles
    from kvsolve.inputs.models import model_profiles

    gpus = gpus or [*sorted(gpu_profiles(), key=lambda name: name not in ("h100", "b200"))]
    models = models or [p.name for p in model_profiles().values() if p.family != "draft"]
    mixed = (
        (gpus[n % len(gpus)], models[n % len(models)]) for n in range(lcm(len(gpus), len(models)))
    )
    return list(dict.fromkeys([*mixed, *product(gpus, models)]))


def lint_release(
    release: str,
    contexts: Sequence[Profiles],
    say: Callable[[str], None] = lambda _: None,
    *,
    whole: bool = True,
    limit_s: float | None = None,
) -> dict[str, Any]:
    """Faults of a pack: curated entries that never fire, remedies that never help.

    Args:
        release: The pack.
        contexts: Profiles to look at; the search ends when every entry has shown itself.
        say: Told of the progress.
        whole: These are all contexts there are; otherwise what was not seen to happen is open.
        limit_s: Seconds after which no more contexts are looked at, which leaves as much open.
    """
    from kvsolve.packs.pack import load_pack

    pack = load_pack(release)
    curated = {e.code for e in pack.catalog.all() if e.curated and e.kind == "refuse"}
    found: dict[str, dict[Profiles, Seen]] = {code: {} for code in sorted(curated)}
    until = None if limit_s is None else time.monotonic() + limit_s
    size = _ROUND if limit_s is None else cores()
    for start in range(0, len(contexts), size):
        codes = frozenset(code for code, seen in found.items() if not _is_settled(seen))
        if not codes:
            break
        if until is not None and time.monotonic() > until:
            say(f"the time was up after {start} of {len(contexts)} contexts")
            whole = False
            break
        batch = contexts[start : start + size]
        say(f"{start} of {len(contexts)} contexts, {len(codes)} entries are still open")
        answers = spread(look, Task(release, codes), batch, cores())
        for context, seen in zip(batch, answers, strict=True):
            for one in seen:
                found[one.code][context] = one
    remarks = [one for code, seen in found.items() for one in _remarks(code, seen, whole)]
    looked_at = {context for seen in found.values() for context in seen}
    return {
        "sglang": release,
        "contexts": [
            {"gpu": gpu, "model": model} for gpu, model in contexts if (gpu, model) in looked_at
        ],
        "remarks": remarks,
    }


def look(task: Task, context: Profiles) -> list[Seen]:
    """What becomes of entries in one context; what worker processes do."""
    from kvsolve.solve.firing import Firings

    gpu, model = context
    request = Request(["--model-path", model], sglang=task.release, gpu=gpu, family=model)
    question = session().ask(request)
    code = question.pack.catalog.entry
    best: dict[str, Seen] = {}
    with Firings(question.context, question.config, held=question.held) as firings:
        for step in firings.steps():
            name = str(code(step).code)
            if name in task.codes:
                firing = firings.firing(step)
                ways = tuple(_ways(question, firing))
                seen = Seen(name, str(firing.reach), ways)
                best[name] = max(best.get(name, seen), seen, key=_rank)
    return list(best.values())


def _ways(question: Question, firing: Firing) -> Iterator[tuple[str, Any]]:
    from kvsolve.solve.lint import Kind, Outcome, Remark

    for number, (text, tried) in enumerate(remedy_trials(question, firing)):
        if tried is not None:
            name = f"{number}: {text}"
            remark = None
            if tried.outcome is not Outcome.HELPS:
                code = str(question.pack.catalog.entry(firing.step).code)
                remark = Remark(
                    Kind.REMEDY, code, (), tried.codes, firing.witness, "witness", text, fault=True
                )
            yield name, None if remark is None else remark_json(question, remark)


_ORDER = ("never", "shadowed", "open", "implied", "alone")


def _rank(seen: Seen) -> int:
    return _ORDER.index(seen.reach)


def _is_settled(seen: dict[Profiles, Seen]) -> bool:
    """Whether an entry has fired and each of its ways out has helped once, or never will."""
    fired = [one for one in seen.values() if one.reach in ("implied", "alone")]
    return bool(fired) and (not _failing(seen) or len(fired) >= _ENOUGH)


def _failing(seen: dict[Profiles, Seen]) -> dict[str, Mapping[str, Any]]:
    """Ways out that never helped, with what they led to the first time."""
    first: dict[str, Mapping[str, Any]] = {}
    helped: set[str] = set()
    for one in seen.values():
        for name, led_to in one.ways:
            if led_to is None:
                helped.add(name)
            else:
                first.setdefault(name, led_to)
    return {name: led_to for name, led_to in first.items() if name not in helped}


def _remarks(code: str, seen: dict[Profiles, Seen], whole: bool) -> Iterator[dict[str, Any]]:
    reached = [one.reach for one in seen.values()]
    fired = sum(reach in ("implied", "alone") for reach in reached)
    if not fired:
        never = set(reached) == {"never"} and whole
        yield {
            "kind": "never-fires" if never else "shadowed" if _is_late(reached, whole) else "open",
            "code": code,
            "values": [],
            "codes": [],
            "proof": "search",
            "witness": None,
            "detail": f"in none of {len(seen)} contexts",
            "fault": never,
        }
    failing = _failing(seen)
    for (gpu, model), one in seen.items():
        told = dict(one.ways)
        for name, first in failing.items():
            if told.get(name) is first:
                sure = whole or fired >= _ENOUGH
                yield {**first, "fault": sure, "context": {"gpu": gpu, "model": model}}


def _is_late(reached: Sequence[str], whole: bool) -> bool:
    """Whether others come before an entry in every context in which it could fire."""
    return whole and "shadowed" in reached and "open" not in reached
