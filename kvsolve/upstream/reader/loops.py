"""``for`` loops: unrolled over known items, read once over a list that only run time knows."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kvsolve.model.expression import Expr, Operand, all_of, any_of, negate, raw
from kvsolve.model.program import Need, Refuse
from kvsolve.upstream.reader import expressions, iteration, statements
from kvsolve.upstream.reader.log import free_variables
from kvsolve.upstream.reader.state import Sequence
from kvsolve.upstream.reader.values import (
    External,
    Frame,
    HeapRef,
    Union,
    Unreadable,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvsolve.upstream.reader.run import Run
    from kvsolve.upstream.reader.state import State

__all__ = ["each", "read_for"]

T = TypeVar("T")
QUANTIZATION = "the quantization methods"
"""Stands for all quantisation classes at once: the first that takes a checkpoint over."""


def read_for(run: Run, statement: ast.For, frame: Frame) -> statements.Outcomes:
    """Read a loop."""
    if ast.unparse(statement.iter) == "QUANTIZATION_METHODS.items()":
        method = ("", External(QUANTIZATION))
        return _Unrolled(run, statement, frame).read([(True, method)])
    return _over(run, statement, expressions.evaluate(run, statement.iter, frame), frame)


def _over(run: Run, statement: ast.For, source: Value, frame: Frame) -> statements.Outcomes:
    if isinstance(source, Union) and not iteration.iterable(run, source):
        return _either(run, statement, source, frame)
    if isinstance(source, Expr) and not iteration.iterable(run, source):
        return _unknown_list(run, statement, run.operand(source), frame)
    return _Unrolled(run, statement, frame).read(iteration.items(run, source))


def _either(run: Run, statement: ast.For, source: Union, frame: Frame) -> statements.Outcomes:
    """A loop over one of two lists of which only run time knows one."""
    before, sides = run.state, []
    for test, side in ((source.test, source.then), (negate(source.test), source.other)):
        run.state = dict(before)
        with run.under(test):
            read = partial(_over, run, statement, side, frame)
            sides.append(statements.attempt(run, statement, frame, read))
    return statements.join(run, source.test, *sides)


class _Unrolled:
    def __init__(self, run: Run, statement: ast.For, frame: Frame) -> None:
        self.run, self.statement, self.frame = run, statement, frame
        self.ends: statements.Outcomes = []
        self.left: list[tuple[Operand, State]] = []
        self.live: Operand = True

    def read(self, found: iteration.Items) -> statements.Outcomes:
        depth = len(self.run.path)
        try:
            for there, item in found:
                if not self.round(self.run.assumed.condition(there), item):
                    break
            if self.live is not False:
                self.otherwise()
        finally:
            while len(self.run.path) > depth:
                self.run.leave()
        if not self.left:
            return self.ends
        when = any_of(*(c for c, _ in self.left)) if self.ends else True
        state = statements.merge_outcomes(self.run, self.left)
        return [*self.ends, statements.Outcome("next", when, state)]

    def round(self, there: Operand, item: object) -> bool:
        """Read the body for one item; tells whether the loop can go on."""
        run, before = self.run, self.run.state
        if there is False:
            return True
        run.state = dict(before)
        with run.under(there):
            statements.assign(run, self.statement.target, item, self.frame)
            outcomes = statements.block(run, self.statement.body, self.frame)
            on = [o for o in outcomes if o.kind in ("next", "continue")]
            merged = statements.merge_outcomes(run, [(o.when, o.state) for o in on]) if on else {}
        for outcome in outcomes:
            seen = outcome.within(all_of(self.live, there))
            if outcome.kind == "break":
                self.left.append((seen.when, seen.state))
            elif outcome.kind == "return":
                self.ends.append(seen)
        run.state = merged if on else before
        when = any_of(*(o.when for o in on)) if len(on) != len(outcomes) else True
        return self.proceed(there, when, before)

    def proceed(self, there: Operand, when: Operand, before: State) -> bool:
        """Go on after a round; ``when`` is the condition under which it did not end the loop."""
        run = self.run
        if isinstance(there, Expr):
            run.state = run.merge(there, run.state, before)
            when = any_of(negate(there), when) if when is not True else True
        if when is False:
            self.live = False
        elif when is not True:
            self.live = all_of(self.live, when)
            run.enter(when)
        return self.live is not False

    def otherwise(self) -> None:
        if not self.statement.orelse:
            self.left.append((self.live, self.run.state))
            return
        for outcome in statements.block(self.run, self.statement.orelse, self.frame):
            seen = outcome.within(self.live)
            if outcome.kind == "next":
                self.left.append((seen.when, seen.state))
            else:
                self.ends.append(seen)


def each(run: Run, iterable: Operand, body: Callable[[Expr], T]) -> T:
    """Read something once for a bound item: what it raises is raised if some item makes it so.

    Raises:
        Unreadable: It writes.
    """
    variable, mark = run.next_variable(), len(run.log.steps)
    base, path = run.guard(), run.path
    caught = [(handler, len(handler.caught)) for handler in run.handlers]
    run.path = []
    run.quiet += 1
    try:
        result = body(variable)
    finally:
        run.quiet -= 1
        run.path = path
    for handler, count in caught:
        handler.caught[count:] = [
            (all_of(base, _some(variable, iterable, when)), state, clause)
            for when, state, clause in handler.caught[count:]
        ]
    for position in range(mark, len(run.log.steps)):
        step = run.log.steps[position]
        if not isinstance(step, (Refuse, Need)):
            raise Unreadable("a write in a loop over an unknown list")
        if variable.args[0] not in free_variables((step.when, getattr(step, "value", True))):
            some: Operand = _some(variable, iterable, step.when)
        else:
            some = raw("any", variable.args[0], iterable, _body(step))
        if isinstance(step, Refuse):
            run.log.steps[position] = replace(step, when=all_of(base, some))
        else:
            run.log.steps[position] = Need(some, base, step.place)
    return result


def _some(variable: Expr, iterable: Operand, when: Operand) -> Operand:
    """That some item makes a condition true."""
    if variable.args[0] in free_variables(when):
        return raw("any", variable.args[0], iterable, when)
    return all_of(raw("call", "bool", iterable), when)


def _body(step: Refuse | Need) -> Operand:
    return step.when if isinstance(step, Refuse) else all_of(step.when, step.value)


def _unknown_list(
    run: Run, statement: ast.For, iterable: Operand, frame: Frame
) -> statements.Outcomes:
    before = dict(run.state)

    bound: list[Expr] = []

    def body(variable: Expr) -> statements.Outcomes:
        bound.append(variable)
        statements.assign(run, statement.target, variable, frame)
        return statements.block(run, statement.body, frame)

    outcomes = each(run, iterable, body)
    changed = {
        key[1]
        for key, payload in run.state.items()
        if key[0] == "heap" and key in before and before[key] is not payload
    }
    whole = all(o.kind in ("next", "continue") for o in outcomes)
    filled = _filled(run, before, changed, bound[0], iterable) if whole else {}
    lost = _lost(run, before)
    run.state = {**before, **lost}
    statements.forget(run, statements.bound_names([statement]), frame)
    _replace(run, filled)
    if changed - set(filled):
        _forget(run, changed - set(filled), frame)
        run.gap("a collection filled in a loop over an unknown list", statement)
    if any(o.kind in ("return", "break") for o in outcomes):
        run.gap("a return or break in a loop over an unknown list", statement)
    return [statements.Outcome("next", True, run.state)]


def _lost(run: Run, before: State) -> State:
    """Locals that a statement of the body that cannot be read has made opaque."""
    return {
        key: value
        for key, value in run.state.items()
        if key[0] == "local"
        and key in before
        and before[key] is not value
        and isinstance(value, Expr)
        and value.op == "opaque"
    }


def _filled(
    run: Run, before: State, changed: set[int], variable: Expr, iterable: Operand
) -> dict[int, Operand]:
    """Lists that were empty and get one element for each round, as comprehensions."""
    found: dict[int, Operand] = {}
    for number in changed:
        was, now = before["heap", number], run.state["heap", number]
        if not (isinstance(was, Sequence) and isinstance(now, Sequence)):
            continue
        if was.items or len(now.items) != 1 or now.kind != "list":
            continue
        [(there, element)] = now.items
        try:
            made = run.operand(element)
        except Unreadable:
            continue
        found[number] = raw("collect", "list", variable.args[0], iterable, there, made)
    return found


def _replace(run: Run, filled: dict[int, Operand]) -> None:
    """Let the names of filled lists stand for what they hold now."""
    for key, value in list(run.state.items()):
        if key[0] == "local" and isinstance(value, HeapRef) and value.number in filled:
            run.state[key] = filled[value.number]


def _forget(run: Run, objects: set[int], frame: Frame) -> None:
    """What a loop over an unknown list changed is not known any more."""
    for key, value in list(run.state.items()):
        if key[0] == "local" and isinstance(value, HeapRef) and value.number in objects:
            label = f"{frame.module.name.split('.')[-1]}.{key[2]}"
            run.state[key] = raw("opaque", label)
