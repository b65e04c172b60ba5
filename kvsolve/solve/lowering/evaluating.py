"""Single evaluations of terms: in a state of a flag, or on outcomes of their parts."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Crash, Expr, Operand, Unknown, children
from kvsolve.packs.evaluate import Interpreter
from kvsolve.packs.operations import OPERATIONS, call_function, call_method
from kvsolve.solve.network import CRASHED, UNKNOWN, outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvsolve.solve.domains import State

__all__ = ["Bindings", "Preset", "apply", "compiled", "in_state", "operation_of", "run"]

Bindings = tuple[tuple[int, Any], ...]
"""Values of bound variables."""


class _Slots(dict[tuple[str, int], Any]):
    """Slot values of one state of one flag, on top of those that do not vary."""

    def __init__(self, own: Mapping[tuple[str, int], Any], rest: Mapping[Any, Any]) -> None:
        super().__init__(own)
        self.rest = rest

    def __missing__(self, key: tuple[str, int]) -> Any:
        return self.rest[key]


class Preset(Interpreter):
    """Evaluates a term whose parts have known outcomes."""

    def __init__(self, known: Mapping[Expr, Any], facts: Mapping[str, Any]) -> None:
        super().__init__({}, facts)
        self.known = known

    def value(self, operand: Operand) -> Any:
        """As the interpreter has it, unless the outcome is known."""
        if isinstance(operand, Expr) and operand in self.known:
            value = self.known[operand]
            if value is CRASHED:
                raise Crash("crash")
            if value is UNKNOWN:
                raise Unknown("fact")
            return value
        return super().value(operand)


def in_state(
    dest: str, state: State, held: Mapping[tuple[str, int], Any], facts: Mapping[str, Any]
) -> Interpreter:
    """An interpreter with one flag in a state.

    Args:
        dest: The flag.
        state: Its state.
        held: Slot values of the flags that do not vary.
        facts: Facts by name.
    """
    given = state.value if state.typed else None
    own = {(dest, 0): state.value, (f"raw.{dest}", 0): state.value, (f"given.{dest}", 0): given}
    return Interpreter(_Slots(own, held), facts)


def run(interpreter: Interpreter, term: Expr, bound: Bindings) -> Any:
    """What a term comes to, with some variables bound."""
    if not bound:
        return outcome(interpreter, term)
    interpreter.bound = dict(bound)
    try:
        return outcome(interpreter, term)
    finally:
        interpreter.bound = {}


def apply(operation: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """What an operation comes to on values."""
    try:
        return operation(*values)
    except Unknown:
        return UNKNOWN
    except Exception:
        return CRASHED


def operation_of(term: Expr, facts: Mapping[str, Any]) -> Callable[..., Any]:
    """What a term does with the values of its operands."""
    op, args = term.op, term.args
    if op == "call":
        return lambda *values: call_function(args[0], *values)
    if op == "method":
        return lambda value, *values: call_method(value, args[1], *values)
    if op == "helper":
        function = facts.get(f"helper:{args[0]}")
        return function if function is not None else _missing
    if op == "tuple":
        return lambda *values: values
    if op in ("attr", "hasattr"):
        return lambda value: OPERATIONS[op](value, args[1])
    if op == "isinstance":
        return lambda value: bool(OPERATIONS[op](value, *args[1:]))
    if op == "opaque":
        return _missing
    return OPERATIONS[op]


def _missing(*_: Any) -> Any:
    raise Unknown("fact")


def compiled(
    operand: Operand, leaves: Mapping[Expr, int], facts: Mapping[str, Any]
) -> Callable[[tuple[Any, ...]], Any]:
    """A calculation as a function of the values of its leaves."""
    if not isinstance(operand, Expr):
        return lambda row: operand
    if operand in leaves:
        return itemgetter(leaves[operand])
    operation = operation_of(operand, facts)
    parts = [compiled(part, leaves, facts) for part in children(operand)]
    if len(parts) == 2:
        a, b = parts
        return lambda row: operation(a(row), b(row))
    return lambda row: operation(*[part(row) for part in parts])
