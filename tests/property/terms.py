"""Strategies for terms and programs of the entry language, shared by the property tests."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from kvsolve.model.expression import Expr, Operand, node, raw
from kvsolve.model.program import Let, Need, Place, Program, Refuse, Set, Step

FLAGS = ("page_size", "backend", "chunk", "radix", "dp")
VALUES: tuple[Any, ...] = (None, True, False, 0, 1, 2, 64, -1, "", "fa3", "triton")
FACTS = ("gpu.is_cuda", "gpu.sm", "model.heads")
PLACE = Place("server_args.py", "handle", 1)

constants = st.sampled_from(VALUES)


def random_term(
    source: random.Random, versions: dict[str, int], depth: int = 3, calm: bool = False
) -> Operand:
    """A term over flags, facts and constants; crashing ones among them unless it is to be calm."""
    if depth == 0 or source.random() < 0.2:
        return _leaf(source, versions)

    def inner() -> Operand:
        return random_term(source, versions, depth - 1, calm)

    op = source.choice(_CALM if calm else _OPERATIONS)
    if op in ("and", "or"):
        return node(op, *(inner() for _ in range(source.randint(2, 3))))
    if op in ("in", "not_in"):
        return node(op, inner(), tuple(source.choices(VALUES, k=source.randint(0, 3))))
    if op == "not":
        return node(op, inner())
    if op == "if":
        return node(op, inner(), inner(), inner())
    if op == "int":
        return node("call", "int", inner())
    if op == "lower":
        return node("method", inner(), "lower")
    if op == "any":
        return raw("any", 1, node("tuple", inner(), "fa3"), node("eq", raw("var", 1), inner()))
    return node(op, inner(), inner())


_CALM = ("eq", "ne", "is", "is_not", "in", "not_in", "and", "and", "or", "not", "if", "if")
_OPERATIONS = (
    "eq", "eq", "ne", "lt", "le", "gt", "ge", "is", "is_not", "in", "not_in", "and", "and", "or",
    "not", "if", "if", "add", "floordiv", "mod", "int", "lower", "any",
)  # fmt: skip


def _leaf(source: random.Random, versions: dict[str, int]) -> Operand:
    kind = source.random()
    if kind < 0.4:
        return source.choice(VALUES)  # type: ignore[no-any-return]
    if kind < 0.55:
        return raw("fact", source.choice(FACTS))
    if kind < 0.58:
        return raw("opaque", "a file's text")
    pairs = [(n, 0) for n in FLAGS]
    pairs += [(n, v) for n, top in versions.items() for v in range(1, top + 1)]
    return raw("ref", *source.choice(pairs))


def _path(
    source: random.Random, versions: dict[str, int], steps: list[Step], calm: bool
) -> Operand:
    """A condition; often one that begins like the one of the step before, as branches make them."""
    if source.random() < 0.2:
        return True
    condition = random_term(source, versions, calm=calm)
    if steps and source.random() < 0.5:
        earlier = steps[-1].when
        begins = earlier.args if isinstance(earlier, Expr) and earlier.op == "and" else (earlier,)
        return node("and", *begins[: source.randint(1, len(begins))], condition)
    return condition


def random_program(source: random.Random) -> Program:
    """A small program with lets, sets, refusals and needs; every other one can hardly crash."""
    calm = source.random() < 0.5
    versions: dict[str, int] = {}
    steps: list[Step] = []
    for number in range(source.randint(1, 10)):
        kind = source.choice(["let", "set", "set", "refuse", "refuse", "need"])
        when = _path(source, versions, steps, calm)
        if kind == "refuse":
            steps.append(Refuse("ValueError", when, PLACE))
            continue
        value = random_term(source, versions, calm=calm)
        if kind == "need":
            steps.append(Need(value, when, PLACE))
            continue
        name = source.choice(FLAGS) if kind == "set" else f"named_{number}"
        written = Set(name, value, when, PLACE, "declare")
        steps.append(written if kind == "set" else Let(name, value, when, PLACE))
        if kind == "set" or when is True:
            # A named result is read on its own path only.
            versions[name] = versions.get(name, 0) + 1
    return Program("0.0.1", tuple(steps))


def terms() -> st.SearchStrategy[Operand]:
    """Terms over version 0 of the flags."""
    return st.integers(0, 2**32).map(lambda seed: random_term(random.Random(seed), {}))


def programs() -> st.SearchStrategy[Program]:
    """Small programs."""
    return st.integers(0, 2**32).map(lambda seed: random_program(random.Random(seed)))


def slots() -> st.SearchStrategy[dict[str, Any]]:
    """Initial values of the flags."""
    return st.fixed_dictionaries(dict.fromkeys(FLAGS, constants))


def facts() -> st.SearchStrategy[dict[str, Any]]:
    """Facts, some of them missing."""
    known = st.fixed_dictionaries({}, optional=dict.fromkeys(FACTS, constants))
    return known.map(lambda f: {**f, "environ": {}})
