"""Exports mean what a check says: each is read back by a reader of its own and counted."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from pysat.examples.rc2 import RC2
from pysat.formula import CNF, WCNF
from pysat.solvers import Solver

from kvsolve.outputs.exports import EXPORTS
from kvsolve.solve.lowering.clauses import Clauses
from kvsolve.solve.lowering.lower import Lowered, lower
from tests.property.strategies import Case, cases
from tests.property.test_lowering_laws import naive, subsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def of(case: Case, vary: list[str]) -> Lowered:
    return lower(case.prepared, case.config, vary=dict.fromkeys(vary))


def valid_choices(case: Case, lowered: Lowered) -> set[tuple[int, ...]]:
    """The classes of the valid configurations."""
    clauses = Clauses(lowered)
    return {tuple(clauses.class_of(v, n) for v, n in enumerate(at)) for at in naive(case, lowered)}


def text_of(lowered: Lowered, to: str) -> str:
    return "\n".join(EXPORTS[to](lowered)) + "\n"


@settings(max_examples=120, deadline=None)
@given(cases(), subsets)
def test_dimacs_has_a_model_for_each_valid_choice(case: Case, vary: list[str]) -> None:
    lowered = of(case, vary)
    formula = CNF(from_string=text_of(lowered, "dimacs"))
    with Solver("g4", bootstrap_with=formula.clauses) as solver:
        models = sum(1 for _ in solver.enum_models())
    expected = len(valid_choices(case, lowered))
    assert models == (expected if formula.nv else min(expected, models))


@settings(max_examples=80, deadline=None)
@given(cases(), subsets)
def test_wcnf_costs_the_fewest_flags_changed(case: Case, vary: list[str]) -> None:
    lowered = of(case, vary)
    choices = valid_choices(case, lowered)
    with RC2(WCNF(from_string=text_of(lowered, "wcnf"))) as solver:
        found = solver.compute()
        assert (found is not None) == bool(choices)
        if found is not None:
            assert solver.cost == min(sum(1 for n in at if n) for at in choices)


def everything(lowered: Lowered) -> Iterator[tuple[int, ...]]:
    return product(*(range(len(own)) for own in lowered.classes))


@settings(max_examples=80, deadline=None)
@given(cases(), subsets)
def test_smtlib_minizinc_and_uvl_allow_exactly_the_valid_choices(
    case: Case, vary: list[str]
) -> None:
    lowered = of(case, vary)
    choices = valid_choices(case, lowered)
    for to, read in (("smtlib", smt_reader), ("minizinc", mzn_reader), ("uvl", uvl_reader)):
        allows = read(text_of(lowered, to))
        assert {at for at in everything(lowered) if allows(at)} == choices, to


def smt_reader(text: str) -> Callable[[tuple[int, ...]], bool]:
    """A reader of the part of SMT-LIB that is written."""
    tokens = re.findall(r"[()]|[^\s()]+", re.sub(r";.*", "", text))
    script = _trees(tokens)

    def allows(at: tuple[int, ...]) -> bool:
        known: dict[str, Any] = {f"x{v}": n for v, n in enumerate(at)} | {"false": False}
        for command in script:
            if command[0] == "define-fun":
                known[command[1]] = _smt(command[4], known)
            elif command[0] == "assert" and not _smt(command[1], known):
                return False
        return True

    return allows


def _trees(tokens: list[str]) -> list[Any]:
    stack: list[list[Any]] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0]


def _smt(tree: Any, known: dict[str, Any]) -> Any:
    if isinstance(tree, str):
        return known[tree] if tree in known else int(tree)
    op, parts = tree[0], [_smt(part, known) for part in tree[1:]]
    if op == "<=":
        return parts[0] <= parts[1]
    return {
        "and": all(parts),
        "or": any(parts),
        "not": not parts[0],
        "=": parts[0] == parts[-1],
    }[op]


def mzn_reader(text: str) -> Callable[[tuple[int, ...]], bool]:
    """A reader of the part of MiniZinc that is written, as Python."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    body = [line.removesuffix(";").replace("/\\", " and ") for line in lines]

    def allows(at: tuple[int, ...]) -> bool:
        known: dict[str, Any] = {f"x{v}": n for v, n in enumerate(at)} | {"false": False}
        for line in body:
            if line.startswith("var bool: "):
                name, _, right = line.removeprefix("var bool: ").partition(" = ")
                known[name] = eval(right, {}, known)
            elif line.startswith("constraint ") and not eval(line[11:], {}, known):
                return False
        return True

    return allows


def uvl_reader(text: str) -> Callable[[tuple[int, ...]], bool]:
    """A reader of the constraints of UVL that are written, as Python."""
    lines = [line.strip() for line in text.partition("\nconstraints\n")[2].splitlines()]
    as_python = [
        line.replace("&", " and ").replace("|", " or ").replace("!", " not ") for line in lines
    ]
    features = re.findall(r"^\t+(x\d+_\d+)$", text, re.MULTILINE)

    def allows(at: tuple[int, ...]) -> bool:
        known: dict[str, Any] = {"root": True}
        known |= {f: at[int(f[1:].split("_")[0])] == int(f.split("_")[1]) for f in features}
        for line in as_python:
            name, defines, right = line.partition(" <=> ")
            if defines:
                known[name] = eval(right, {}, known)
            elif not eval(line, {}, known):
                return False
        return True

    return allows
