"""Compiling a program to one Python function.

The function is generated from checked terms: it holds nothing but names made here, literals
written by ``repr`` from plain values, and calls of the operations in
:mod:`kvsolve.packs.operations`. Text of a pack never reaches it. A run that meets a crash or a
missing fact raises, and the caller falls back to :func:`kvsolve.packs.evaluate.interpret`, which
tells exactly what happened; so the function needs no bookkeeping of undefined values and
stays fast.
"""

from __future__ import annotations

import marshal
from types import CodeType
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import COMPARISONS, Crash, Unknown
from kvsolve.packs.evaluate import Failure, Trace, Write, interpret
from kvsolve.packs.operations import OPERATIONS, call_function, call_method

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

    from kvsolve.model.expression import Operand
    from kvsolve.model.program import Program

__all__ = [
    "CompiledProgram",
    "FactTable",
    "Predicate",
    "compile_predicate",
    "compile_program",
    "initial_slots",
]

UNSET = object()


class FactTable(dict[str, Any]):
    """Facts by name; asking for one that is not there says that it is unknown.

    Attributes:
        memory: What compiled programs keep from run to run; the facts must not change meanwhile.
    """

    __slots__ = ("memory",)

    def __init__(self, facts: Mapping[str, Any] = {}) -> None:
        super().__init__(facts)
        self.memory: dict[Any, list[Any]] = {}

    def __missing__(self, name: str) -> Any:
        raise Unknown(name)


class Unknowable:
    """The value of a slot that only a machine can tell; using it says which one it is.

    A comparison, a test and arithmetic use it. Where a value is only handed on, looked at by its
    identity, or given to a function, generated code asks :func:`_known` first.

    Attributes:
        label: What is not known; None where upstream would crash.
    """

    __slots__ = ("label",)

    def __init__(self, label: str | None) -> None:
        self.label = label

    def _refuse(self, *_: Any) -> Any:
        raise Crash if self.label is None else Unknown(self.label)

    __bool__ = __hash__ = __contains__ = __iter__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __sub__ = __rsub__ = __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = _refuse
    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refuse
    __lshift__ = __rlshift__ = __neg__ = __abs__ = __int__ = __float__ = __index__ = _refuse
    __len__ = __getitem__ = __getattr__ = __str__ = __format__ = _refuse
    __or__ = __ror__ = __and__ = __rand__ = __xor__ = __rxor__ = __rshift__ = __rrshift__ = _refuse


def _known(value: Any) -> Any:
    """A slot's value, if it is known."""
    if type(value) is Unknowable:
        value._refuse()
    return value


def _fault(error: Exception) -> Unknowable:
    """Stands for a value that could not be computed."""
    return Unknowable(error.args[0] if isinstance(error, Unknown) else None)


def _again(error: Exception) -> Any:
    raise error


def _shown(value: Any) -> Any:
    return None if type(value) is Unknowable else value


def _raise(exception: type[Exception], name: str) -> Any:
    raise exception(name)


SCOPE: dict[str, Any] = {
    "__builtins__": {},
    "Write": Write,
    "unset": UNSET,
    "again": _again,
    "Exception": Exception,
    "Unknown": Unknown,
    "unknowable": Unknowable,
    "known": _known,
    "fault": _fault,
    "shown": _shown,
    "call": call_function,
    "method": call_method,
    "op": OPERATIONS,
    "crash": lambda name: _raise(Crash, name),
    "unknown": lambda name: _raise(Unknown, name),
    "attr": OPERATIONS["attr"],
    "hasattr": OPERATIONS["hasattr"],
    "isinstance": OPERATIONS["isinstance"],
    "eq": OPERATIONS["eq"],
    "ne": OPERATIONS["ne"],
    "add": OPERATIONS["add"],
    "mul": OPERATIONS["mul"],
    "mod": OPERATIONS["mod"],
    "pow": OPERATIONS["pow"],
    "lshift": OPERATIONS["lshift"],
    "item": OPERATIONS["item"],
    "same": COMPARISONS["is"],
    "any": any,
    "frozenset": frozenset,
    "float": float,
    "type": type,
}


class CompiledProgram:
    """A program ready to run.

    Attributes:
        code: The generated function's code.
        kept: How many values it keeps for a context.
    """

    __slots__ = ("_exact", "_run", "code", "kept")

    def __init__(self, code: CodeType, kept: int, exact: Callable[[], Program]) -> None:
        self.code, self.kept, self._exact = code, kept, exact
        scope = dict(SCOPE)
        exec(code, scope)  # our own output from checked terms, see the module docstring
        self._run: Callable[..., None] = scope["run"]

    def marshal(self) -> bytes:
        """The code, for a cache that this Python version alone can read."""
        return marshal.dumps((without_lines(self.code), self.kept))

    @classmethod
    def unmarshal(cls, data: bytes, exact: Callable[[], Program]) -> CompiledProgram:
        """The inverse of :meth:`marshal`; ``exact`` gives the program for runs that need it."""
        code, kept = marshal.loads(data)
        return cls(code, kept, exact)

    def attempt(
        self, values: Mapping[str, Any], given: Container[str], facts: FactTable
    ) -> Trace | None:
        """Run on one configuration.

        None where a crash or a missing fact asks for the exact run; what is opaque in the program
        itself is told as the exact run would.

        Args:
            values: Value of each flag as parsed.
            given: Flags that were typed.
            facts: Facts by name.
        """
        trace = Trace()
        unknown: list[tuple[int, str]] = []
        memory = facts.memory.get(self)
        if memory is None:
            memory = facts.memory[self] = [UNSET] * self.kept
        out = (trace.refusals, trace.writes, trace.values, unknown)
        try:
            self._run(values, given, facts, memory, *out)
        except Exception:
            return None
        trace.failures.extend(Failure(step, "unknown", label) for step, label in unknown)
        return trace

    def run(self, values: Mapping[str, Any], given: Container[str], facts: FactTable) -> Trace:
        """Run on one configuration, exactly; arguments as for :meth:`attempt`."""
        found = self.attempt(values, given, facts)
        if found is None:
            return interpret(self._exact(), initial_slots(values, given), facts)
        return found


def initial_slots(values: Mapping[str, Any], given: Container[str]) -> dict[str, Any]:
    """Initial value of every slot: ``flag`` and ``raw.flag`` as parsed, ``given.flag`` as typed."""
    slots = dict(values)
    for flag, value in values.items():
        slots[f"raw.{flag}"] = value
        slots[f"given.{flag}"] = value if flag in given else None
    return slots


def without_lines(code: CodeType) -> CodeType:
    """The same code without line numbers: nearly half of it, and of use to nobody."""
    constants = tuple(without_lines(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=constants)


def compile_program(program: Program) -> CompiledProgram:
    """Compile a program; takes about as long as Python needs to compile a file of its size."""
    from kvsolve.packs.program_source import ProgramWriter

    writer = ProgramWriter(program)
    code = compile(writer.source(), "<kvsolve program>", "exec")
    return CompiledProgram(code, len(writer.writer.closed), lambda: program)


class Predicate:
    """An operand as a function of (slot values, facts); only version 0 of slots occurs in it.

    A call raises what the operand's evaluation raises, and :class:`Unknown` also where a part that
    is not known stands before one that decides.
    """

    __slots__ = ("_code", "_kept", "_run")

    def __init__(self, code: CodeType, kept: int) -> None:
        self._code, self._kept = code, kept
        scope = dict(SCOPE)
        exec(code, scope)  # our own output from checked terms, see the module docstring
        self._run: Callable[..., Any] = scope["run"]

    def __call__(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> Any:
        """The operand's value for flags as parsed and facts by name."""
        return self._run(values, facts, [UNSET] * self._kept)

    def texts(self) -> frozenset[str]:
        """Every text in the code, the names of the slots that it reads among them."""
        return frozenset(_texts(self._code))

    def marshal(self) -> bytes:
        """The code, for a cache that this Python version alone can read."""
        return marshal.dumps((without_lines(self._code), self._kept))

    @classmethod
    def unmarshal(cls, data: bytes) -> Predicate:
        """The inverse of :meth:`marshal`."""
        return cls(*marshal.loads(data))


def _texts(value: Any) -> Iterator[str]:
    """The texts in a constant, or in those of code."""
    parts = value.co_consts if isinstance(value, CodeType) else value
    if isinstance(value, str):
        yield value
    elif isinstance(value, (CodeType, tuple, frozenset)):
        for part in parts:
            yield from _texts(part)


def compile_predicate(operand: Operand) -> Predicate:
    """Compile an operand.

    Raises:
        TypeError: It reads a slot at a later version.
    """
    from kvsolve.packs.program_source import indented
    from kvsolve.packs.term_source import TermWriter, uses

    def slot(name: str, version: int, used: bool) -> str:
        if version:
            raise TypeError(f"{name}@{version} is no input")
        return f"V[{name!r}]"

    writer = TermWriter(uses([operand]), slot)
    result = f"return {writer.text(operand)}"
    lines = [*writer.statements(), result]
    source = "def run(V, F, C):\n" + "".join(f"{indented(line)}\n" for line in lines)
    code = compile("".join(writer.closed) + source, "<kvsolve predicate>", "exec")
    return Predicate(code, len(writer.closed))
