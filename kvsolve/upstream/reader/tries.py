"""``try`` statements: raises of the body reach matching handlers; imports become package facts."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, all_of, any_of, if_, negate, raw
from kvsolve.upstream.reader import statements
from kvsolve.upstream.reader.nodes import nodes_of
from kvsolve.upstream.reader.run import Clause, Handler, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.upstream.reader.state import State
    from kvsolve.upstream.reader.values import Frame

__all__ = ["read_try"]

_ALWAYS_THERE = frozenset({"sglang", "torch", "transformers", "huggingface_hub", "numpy"})
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def read_try(run: Run, statement: ast.Try, frame: Frame) -> statements.Outcomes:
    """Read a ``try``; of several clauses the first that takes an exception is read for it."""
    handler = Handler(tuple(_clause(h) for h in statement.handlers))
    missing = handler.clause_for(_IMPORT_ERRORS)
    installed = _packages(statement.body) if missing is not None else True
    before = run.state
    run.state = dict(before)
    depth = len(run.handlers)
    run.handlers.append(handler)
    try:
        with run.under(installed):
            body = statements.block(run, [*statement.body, *statement.orelse], frame)
    finally:
        del run.handlers[depth:]
    caught = [(_relative(run, c), s, n) for c, s, n in handler.caught]
    if isinstance(installed, Expr) and missing is not None:
        caught.append((negate(installed), dict(before), missing))
        body = [o.within(installed) if o.kind != "next" else o for o in body]
    for number in sorted({number for _, _, number in caught}):
        ended_here = [(when, state) for when, state, n in caught if n == number]
        body = _handled(run, statement.handlers[number], frame, body, ended_here)
    return _finally(run, statement, frame, body)


def _relative(run: Run, guard: Operand) -> Operand:
    """A full path condition seen from the path being read."""
    outer = set(run.path)
    if isinstance(guard, Expr) and guard.op == "and":
        known = {
            a for p in outer if isinstance(p, Expr) for a in (p.args if p.op == "and" else (p,))
        }
        return all_of(*(a for a in guard.args if a not in known))
    return True if guard in outer else guard


def _clause(handler: ast.ExceptHandler) -> Clause:
    """An ``except`` that only raises again what it caught changes nothing."""
    ends = [n for n in nodes_of(handler) if isinstance(n, (ast.Raise, ast.Return, ast.Assert))]
    last = handler.body[-1]
    again = isinstance(last, ast.Raise) and last.exc is None and ends == [last]
    return Clause(_caught_by(handler), again)


def _caught_by(handler: ast.ExceptHandler) -> frozenset[str]:
    if handler.type is None:
        return frozenset({"Exception"})
    found = {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}
    return frozenset(
        found | {n.attr for n in ast.walk(handler.type) if isinstance(n, ast.Attribute)}
    )


def _imported(body: list[ast.stmt]) -> Iterator[str]:
    for part in body:
        for n in ast.walk(part):
            if isinstance(n, ast.Import):
                yield from (a.name for a in n.names)
            elif isinstance(n, ast.ImportFrom) and n.module and not n.level:
                yield n.module


def _packages(body: list[ast.stmt]) -> Operand:
    found = {m.split(".")[0] for m in _imported(body)}
    names = sorted(found - _ALWAYS_THERE - sys.stdlib_module_names)
    return all_of(*(raw("fact", f"packages.{name}") for name in names))


def _handled(
    run: Run,
    first: ast.ExceptHandler,
    frame: Frame,
    body: statements.Outcomes,
    caught: list[tuple[Operand, State]],
) -> statements.Outcomes:
    when = any_of(*(c for c, _ in caught))
    run.state = dict(statements.merge_outcomes(run, caught))
    with run.under(when):
        if first.name:
            run.state["local", frame.number, first.name] = raw("opaque", "exception")
        handled = statements.block(run, first.body, frame)
    if not isinstance(when, Expr):
        return handled if when else body
    ends = [o.within(when) for o in handled if o.kind != "next"]
    ends += [o.within(negate(when)) for o in body if o.kind != "next"]
    on = next((o for o in body if o.kind == "next"), None)
    after = next((o for o in handled if o.kind == "next"), None)
    if on and after:
        certain = on.when is True and after.when is True
        joined = run.merge(when, after.state, on.state)
        ends.append(
            statements.Outcome("next", True if certain else if_(when, after.when, on.when), joined)
        )
    elif on:
        gone = any(o.kind != "next" for o in handled)
        ends.append(
            statements.Outcome(
                "next", all_of(negate(when), on.when) if gone else on.when, on.state, negate(when)
            )
        )
    elif after:
        gone = any(o.kind != "next" for o in body)
        ends.append(
            statements.Outcome(
                "next", all_of(when, after.when) if gone else after.when, after.state
            )
        )
    return ends


def _finally(
    run: Run, statement: ast.Try, frame: Frame, outcomes: statements.Outcomes
) -> statements.Outcomes:
    if not statement.finalbody:
        return outcomes
    out: statements.Outcomes = []
    for outcome in outcomes:
        if outcome.kind != "next":
            out.append(outcome)
            continue
        run.state = outcome.state
        out += [o.within(outcome.when) for o in statements.block(run, statement.finalbody, frame)]
    return out
