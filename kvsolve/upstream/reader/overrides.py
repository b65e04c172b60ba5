"""The registry of per-architecture overrides: which provider applies to which model, in order."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, node
from kvsolve.upstream.reader import calls, expressions, iteration, names, operators, record
from kvsolve.upstream.reader.values import RECORD, Dead, Frame, FunctionValue, Unreadable, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.upstream.reader.modules import Module
    from kvsolve.upstream.reader.run import Run

__all__ = ["apply_all"]

_PACKAGE = "sglang.srt.arg_groups.model_overrides"
_OVERRIDES = "sglang.srt.arg_groups.overrides"
_BASE = "sglang.srt.arg_groups.model_override_base"
_BY_NAME = frozenset({"_register_for", "register_model_override"})
_BY_PREDICATE = "register_model_override_predicate"


def apply_all(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """Ask every provider on the present state, then declare what they answered, in order."""
    architecture, _, config = args
    answers: list[tuple[Operand, Value]] = []
    for test, provider in _providers(run, architecture):
        when = run.assumed.condition(test)
        if when is False:
            continue
        answer = (
            _ask(run, when, provider, config) if isinstance(provider, FunctionValue) else provider
        )
        if answer is not None:
            answers.append((when, answer))
    for when, answer in answers:
        _apply(run, when, answer)
    return run.new_list([])


def _providers(run: Run, architecture: Value) -> Iterator[tuple[Operand, Value]]:
    """Constant overrides, then functions by name, then functions by predicate."""
    base = _BASE if run.modules.get(_BASE) else _OVERRIDES
    constants = iteration.table_of(run, names.global_name(run, base, "MODEL_OVERRIDES"))
    for key, (_, value) in constants.entries.items():
        yield operators.equal(run, architecture, key), value
    later: list[tuple[Operand, Value]] = []
    for module, definition in _definitions(run):
        frame = Frame(module)
        for decorator in reversed(definition.decorator_list):
            if not isinstance(decorator, ast.Call):
                continue
            name = ast.unparse(decorator.func).split(".")[-1]
            provider = FunctionValue(module, definition)
            if name in _BY_NAME:
                yield (
                    node("in", run.operand(architecture), _architectures(run, decorator, frame)),
                    provider,
                )
            elif name == _BY_PREDICATE:
                predicate = expressions.evaluate(run, decorator.args[0], frame)
                test = expressions.truth(run, calls.call(run, predicate, [architecture], {}))
                later.append((test, provider))
    yield from later


def _architectures(run: Run, decorator: ast.Call, frame: Frame) -> tuple[str, ...]:
    out: list[str] = []
    for argument in decorator.args:
        if isinstance(argument, ast.Starred):
            out += [
                x for _, x in iteration.items(run, expressions.evaluate(run, argument.value, frame))
            ]
        else:
            out.append(expressions.evaluate(run, argument, frame))
    return tuple(out)


def _definitions(run: Run) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """Functions in the order in which their modules register them."""
    module = run.modules.get(_OVERRIDES)
    assert module is not None
    for statement in module.tree.body:
        if isinstance(statement, ast.Import) and any(
            "model_overrides" in a.name for a in statement.names
        ):
            yield from _of_package(run)
        elif isinstance(statement, ast.FunctionDef):
            yield module, statement


def _of_package(run: Run) -> Iterator[tuple[Module, ast.FunctionDef]]:
    package = run.modules.get(_PACKAGE)
    for statement in package.tree.body if package else ():
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                member = run.modules.get(f"{_PACKAGE}.{alias.name}")
                if member is not None:
                    yield from (
                        (member, d) for d in member.tree.body if isinstance(d, ast.FunctionDef)
                    )


def _ask(run: Run, when: Operand, provider: FunctionValue, config: Value) -> Value:
    before, depth = run.state, run.depth()
    run.state = dict(before)
    answer: Value = None
    try:
        with run.under(when):
            answer = calls.call(run, provider, [RECORD, config], {})
    except Dead:
        run.restore(depth)
    except Unreadable as error:
        run.restore(depth)
        run.gap(f"{provider.name}: {error}", provider.node)
        run.state = dict(before)
    if isinstance(when, Expr):
        run.state = run.merge(when, run.state, before)
    return answer


def _apply(run: Run, when: Operand, answer: Value) -> None:
    before = run.state
    run.state = dict(before)
    with run.under(when):
        record.declare_all(run, answer)
    if isinstance(when, Expr):
        run.state = run.merge(when, run.state, before)
