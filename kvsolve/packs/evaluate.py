"""Running a program: the trace of what fires, and the exact interpreter behind the fast path.

:func:`interpret` follows the definition of the entry language to the letter: step by step, lazily,
with undefined values after a crash and unknown facts kept apart. :mod:`kvsolve.packs.compile` makes
a function that gives the same trace much faster as long as nothing crashes and no fact is missing;
where something does, it hands the run over to :func:`interpret`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.model.expression import Crash, Expr, Operand, Unknown
from kvsolve.model.noun import dataclass
from kvsolve.model.program import Let, Program, Refuse, Set
from kvsolve.packs.operations import OPERATIONS, call_function, call_method

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Failure",
    "Interpreter",
    "NotReached",
    "Trace",
    "Undefined",
    "Write",
    "interpret",
    "run_step",
]


class NotReached(Exception):
    """An expression reads a value that an earlier crash left undefined."""


class Write(NamedTuple):
    """A ``set`` that fired: which step, and the slot's value before and after."""

    step: int
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """A step that could not be evaluated.

    Attributes:
        step: Which.
        reason: ``crash`` (upstream breaks there), ``unknown`` (a fact is missing) or
            ``not_reached`` (it reads what an earlier failure left undefined).
        detail: The exception's name, or the fact's.
    """

    step: int
    reason: str
    detail: str


@dataclass(slots=True)
class Trace:
    """What a run did.

    Attributes:
        refusals: Steps of the refusals that fired, in order.
        writes: Sets that fired, in order.
        failures: Steps that could not be evaluated, in order.
        values: Final value of every slot that was written.
    """

    refusals: list[int] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def first(self) -> int | None:
        """The step at which upstream stops, or None."""
        crashes = [f.step for f in self.failures if f.reason == "crash"]
        return min([*self.refusals[:1], *crashes[:1]], default=None)


class Undefined:
    """The value of a slot that a failure left undefined, and the reason."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


class Interpreter:
    """Evaluates expressions over slots and facts, each shared term once."""

    def __init__(self, slots: dict[tuple[str, int], Any], facts: Mapping[str, Any]) -> None:
        self.slots = slots
        self.facts = facts
        self.memo: dict[Expr, Any] = {}
        # A term that crashed once was upstream's end: whatever needs it again is not reached.
        self.crashed: dict[Expr, str] = {}
        self.bound: dict[int, Any] = {}

    def value(self, operand: Operand) -> Any:
        """The value of an operand.

        Raises:
            Crash: Upstream would break.
            Unknown: A fact is missing.
            NotReached: It reads an undefined value.
        """
        if not isinstance(operand, Expr):
            return operand
        if operand in self.memo:
            return self.memo[operand]
        if operand in self.crashed:
            raise NotReached(self.crashed[operand])
        method = getattr(self, f"_{operand.op}", None)
        try:
            result = method(*operand.args) if method else self._operation(operand)
        except (Crash, Unknown, NotReached) as error:
            if isinstance(error, Crash) and not self.bound and operand.op != "crash":
                self.crashed[operand] = str(error.args[0])
            raise
        except Exception as error:
            if not self.bound:
                self.crashed[operand] = type(error).__name__
            raise Crash(type(error).__name__) from None
        if not self.bound:
            self.memo[operand] = result
        return result

    def _operation(self, operand: Expr) -> Any:
        return OPERATIONS[operand.op](*(self.value(a) for a in operand.args))

    def _ref(self, name: str, version: int) -> Any:
        value = self.slots[name, version]
        if isinstance(value, Undefined):
            if isinstance(value.error, Unknown):
                raise Unknown(*value.error.args)
            raise NotReached(name)
        return value

    def _fact(self, name: str) -> Any:
        if name not in self.facts:
            raise Unknown(name)
        return self.facts[name]

    def _env(self, name: str, default: Operand) -> Any:
        found = self.facts["environ"].get(name)
        return self.value(default) if found is None else found

    def _env_is_set(self, name: str) -> Any:
        return name in self.facts["environ"]

    def _helper(self, name: str, *arguments: Operand) -> Any:
        function = self.facts.get(f"helper:{name}")
        if function is None:
            raise Unknown(name)
        return function(*(self.value(a) for a in arguments))

    def _var(self, number: int) -> Any:
        return self.bound[number]

    def _opaque(self, label: str, *_: Operand) -> Any:
        raise Unknown(label)

    def _crash(self, exception: str) -> Any:
        raise Crash(exception)

    def _and(self, *operands: Operand) -> bool:
        return self.connective(operands, False)

    def _or(self, *operands: Operand) -> bool:
        return self.connective(operands, True)

    def connective(self, operands: tuple[Operand, ...], decisive: bool) -> bool:
        """Kleene's: an unknown operand matters only where no other one decides."""
        doubt: tuple[Any, ...] | None = None  # not the error: its traceback holds this frame
        for operand in operands:
            try:
                if bool(self.value(operand)) is decisive:
                    return decisive
            except Unknown as unknown:
                doubt = doubt or unknown.args
            except (Crash, NotReached):
                if doubt is None:
                    raise
        if doubt is not None:
            raise Unknown(*doubt)
        return not decisive

    def _not(self, operand: Operand) -> bool:
        return not self.value(operand)

    def _if(self, test: Operand, then: Operand, other: Operand) -> Any:
        return self.value(then if self.value(test) else other)

    def _attr(self, operand: Operand, name: str) -> Any:
        return OPERATIONS["attr"](self.value(operand), name)

    def _getattr(self, operand: Operand, name: str, default: Operand) -> Any:
        value = self.value(operand)
        if OPERATIONS["hasattr"](value, name):
            return OPERATIONS["attr"](value, name)
        return self.value(default)

    def _hasattr(self, operand: Operand, name: str) -> Any:
        return OPERATIONS["hasattr"](self.value(operand), name)

    def _isinstance(self, operand: Operand, *names: str) -> bool:
        return bool(OPERATIONS["isinstance"](self.value(operand), *names))

    def _call(self, name: str, *arguments: Operand) -> Any:
        return call_function(name, *(self.value(a) for a in arguments))

    def _method(self, operand: Operand, name: str, *arguments: Operand) -> Any:
        return call_method(self.value(operand), name, *(self.value(a) for a in arguments))

    def _tuple(self, *operands: Operand) -> tuple[Any, ...]:
        return tuple(self.value(o) for o in operands)

    def _pick(self, *operands: Operand) -> list[Any]:
        pairs = zip(operands[::2], operands[1::2], strict=True)
        return [self.value(v) for c, v in pairs if self.value(c)]

    def _table(self, *operands: Operand) -> dict[Any, Any]:
        rows = zip(operands[::3], operands[1::3], operands[2::3], strict=True)
        return {self.value(k): self.value(v) for k, c, v in rows if self.value(c)}

    def _any(self, number: int, iterable: Operand, body: Operand) -> bool:
        return any(self.value(body) for _ in self.loop(number, iterable))

    def _collect(
        self, kind: str, number: int, iterable: Operand, condition: Operand, element: Operand
    ) -> Any:
        found = [self.value(element) for _ in self.loop(number, iterable) if self.value(condition)]
        return frozenset(found) if kind == "set" else found

    def loop(self, number: int, iterable: Operand) -> Any:
        """Bind a variable to each item in turn; its outer binding comes back at the end."""
        outer = self.bound.get(number, self)
        items = self.value(iterable)
        for item in items:
            self.bound[number] = item
            yield item
        if outer is self:
            self.bound.pop(number, None)
        else:
            self.bound[number] = outer


def interpret(program: Program, values: Mapping[str, Any], facts: Mapping[str, Any]) -> Trace:
    """Run a program exactly.

    Args:
        program: What to run.
        values: Initial value of each slot: ``flag``, ``raw.flag``, ``given.flag``.
        facts: Facts by name; ``helper:NAME`` gives functions, ``environ`` the raw environment.
    """
    slots: dict[tuple[str, int], Any] = {(name, 0): value for name, value in values.items()}
    versions: dict[str, int] = {}
    interpreter = Interpreter(slots, facts)
    trace = Trace()
    for number, step in enumerate(program.steps):
        version = versions.get(step.name, 0) if isinstance(step, (Let, Set)) else 0
        run_step(number, step, interpreter, version, trace)
        interpreter.bound.clear()
        if isinstance(step, (Let, Set)):
            versions[step.name] = version + 1
    written = {step.name for step in program.steps if isinstance(step, Set)}
    trace.values = {
        name: value
        for name, version in versions.items()
        if name in written and not isinstance(value := slots[name, version], Undefined)
    }
    return trace


def run_step(number: int, step: Any, run: Interpreter, version: int, trace: Trace) -> None:
    """Run one step.

    Args:
        number: Its position.
        step: What to run.
        run: Has the slots; a step that writes one adds its next version.
        version: That of the step's slot before it.
        trace: Told what happens.
    """
    named = isinstance(step, (Let, Set))
    before = run.slots.get((step.name, version)) if named else None
    after: Any = before
    try:
        if run.value(step.when):
            if isinstance(step, Refuse):
                trace.refusals.append(number)
            else:
                after = run.value(step.value)
                if isinstance(step, Set):
                    shown = None if isinstance(before, Undefined) else before
                    trace.writes.append(Write(number, shown, after))
    except (Crash, Unknown, NotReached) as error:
        reason = {Crash: "crash", Unknown: "unknown"}.get(type(error), "not_reached")
        trace.failures.append(Failure(number, reason, str(error.args[0])))
        # Not the error itself, whose traceback holds all of the run, in a circle.
        after = Undefined(type(error)(*error.args))
    if named:
        run.slots[step.name, version + 1] = after
