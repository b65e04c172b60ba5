"""One symbolic run over a release: state, path, assumptions, call stack and the growing program."""

from __future__ import annotations

import ast
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import (
    Expr,
    Operand,
    all_of,
    children,
    if_,
    is_boolean,
    negate,
    raw,
)
from kvsolve.model.program import Gap, Place
from kvsolve.upstream.reader.assumptions import Assumptions, never_none
from kvsolve.upstream.reader.log import Log, free_variables, weight
from kvsolve.upstream.reader.nodes import nodes_of
from kvsolve.upstream.reader.state import Instance, Sequence, State, Table, joined, merge
from kvsolve.upstream.reader.values import (
    ABSENT,
    RECORD,
    BoundMethod,
    ClassValue,
    ConfigObject,
    Dead,
    External,
    FunctionValue,
    HeapRef,
    Platform,
    Record,
    Union,
    Unreadable,
    Value,
    View,
    is_operand,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvsolve.upstream.reader.facts import FactNames
    from kvsolve.upstream.reader.modules import Modules, Tree
    from kvsolve.upstream.reader.overridden import Lacking

__all__ = ["Call", "Clause", "Handler", "Run"]

_NAME_ABOVE = 12
_LEAVING = (ast.Return, ast.Break, ast.Continue)
_OWN_HELPERS = frozenset({"adaptive_candidate_steps", "quantization_override"})
"""Helper terms that the reader makes itself, beside those that the table of facts names."""
_ENTRIES = frozenset(
    {"resolve_once", "run_resolution_pipeline", "_run_resolution_pipeline", "__post_init__"}
)
"""What calls the handlers: not worth naming as the caller."""
_FAILING = frozenset(
    [
        "add",
        "sub",
        "mul",
        "floordiv",
        "mod",
        "truediv",
        "pow",
        "neg",
        "lt",
        "le",
        "gt",
        "ge",
        "item",
        "slice",
        "method",
        "attr",
        "crash",
        "bitor",
        "bitand",
        "lshift",
        "rshift",
    ]
)
_FAILING_CALLS = frozenset(["int", "float", "len", "max", "min", "sorted", "sum", "ceil", "floor"])
_ORDER = frozenset(["lt", "le", "gt", "ge", "add", "sub", "mul", "neg"])


@dataclass(slots=True)
class Call:
    """A call being read: what is called and the statement that is being read in it."""

    function: FunctionValue
    line: int = 0


@dataclass(frozen=True, slots=True)
class Clause:
    """An ``except``: what it catches, and whether it raises the same again."""

    catches: frozenset[str]
    lets_pass: bool = False


@dataclass(slots=True, eq=False)
class Handler:
    """An enclosing ``try``.

    Attributes:
        caught: The paths caught so far: condition, state and the number of the clause.
    """

    clauses: tuple[Clause, ...]
    caught: list[tuple[Operand, State, int]] = field(default_factory=list)

    @property
    def catches(self) -> bool:
        """Whether anything ends here."""
        return any(not clause.lets_pass for clause in self.clauses)

    def clause_for(self, names: frozenset[str]) -> int | None:
        """The clause in which an exception of these names ends, None when it goes on."""
        for number, clause in enumerate(self.clauses):
            if clause.catches & names:
                return None if clause.lets_pass else number
        return None


_PARENTS = {
    "KeyError": ("LookupError",),
    "IndexError": ("LookupError",),
    "ZeroDivisionError": ("ArithmeticError",),
    "FileNotFoundError": ("OSError",),
    "ModuleNotFoundError": ("ImportError",),
    "NotImplementedError": ("RuntimeError",),
    "JSONDecodeError": ("ValueError",),
}
_ANY = frozenset({"Exception", "BaseException"})


class Run:
    """Everything a reading of one release holds.

    Attributes:
        record: The class of the server arguments.
        fields: Declared default of every field.
        aliased: Whether the declarations were written back, so that both views are one.
        reached: File and line of each raise and assert statement that became an entry, with
            whether its condition is exact.
        wary: Whether something that was not followed counts as unknown even where only its kind,
            its presence or its truth is asked: reading starts in the middle, among objects of
            which only some attributes are said.
        families: What functions that ask a configuration for its family answer of the target
            model's, by their names; the family itself, or the configuration where it is of it.
        held: File, line and symbol of refusals whose condition is false wherever reading came to
            them.
        unread: Prefixes of modules whose functions and classes are not entered.
        entered: Names of functions and classes that are entered all the same.
        beyond: Whether what comes after argument resolution is being read.
        learned: What reading on found out: when upstream does something, by its name.
        lost: How many steps there were when a statement that may leave its function or loop was
            not followed; what is read from there on may never be reached.
    """

    def __init__(self, tree: Tree, record: ClassValue, modules: Modules, names: FactNames,
                 fields: Mapping[str, Any]) -> None:  # fmt: skip
        self.tree, self.modules, self.names = tree, modules, names
        self.record, self.fields = record, fields
        self.helpers = frozenset(names.helpers.values()) | _OWN_HELPERS
        self.fallbacks: Mapping[str, Any] = {}
        self.log = Log(frozenset(fields))
        self.assumed = Assumptions(self.log.meaning)
        self.state: State = {}
        self.constants: State = {}
        self.settled: State = {}
        self.globals: dict[tuple[str, str], Value] = {}
        self.path: list[Operand] = []
        self.shared: list[dict[Any, Any]] = [{}]
        self.calls: list[Call] = []
        self.handlers: list[Handler] = []
        self.parents: dict[int, int | None] = {}
        self.gaps: list[Gap] = []
        self.unmapped: Counter[str] = Counter()
        self.reached: dict[tuple[str, int], bool] = {}
        self.enums: dict[str, tuple[ClassValue, str]] = {}
        self.exceptions: dict[str, tuple[str, ...]] = {}
        self.unreadable_functions: dict[str, str] = {}
        self.locals_of: dict[ast.AST, frozenset[str]] = {}
        self.nonlocals_of: dict[ast.AST, frozenset[str]] = {}
        self.generators: dict[ast.AST, bool] = {}
        self.bases_of: dict[ast.AST, list[ClassValue]] = {}
        self.quiet = 0
        self.aliased = False
        self.building: list[str] = []
        self.lacking: Lacking | None = None
        self.told_lacking: dict[Expr, Expr] = {}
        self.unread: tuple[str, ...] = ()
        self.wary = False
        self.families: Mapping[str, Operand] = {}
        self.held: set[tuple[str, int, str]] = set()
        self.entered: frozenset[str] = frozenset()
        self.beyond = False
        self.learned: dict[str, Operand] = {}
        self.lost: int | None = None
        self._numbers = 0
        self._variables = 0
        for name in fields:
            self.settled["raw", name] = raw("ref", f"raw.{name}", 0)
            self.settled["now", name] = raw("ref", name, 0)
            self.settled["declared", name] = False
        self.rank = {key: number for number, key in enumerate(self.settled)}

    def field(self, kind: str, name: str) -> Value:
        """A field's ``raw``, ``now`` or ``declared``; ABSENT for what is no field and not written.

        A state, which is copied at every branch, holds only what was written on its way.
        """
        key = (kind, name)
        value = self.state.get(key, ABSENT)
        return self.settled.get(key, ABSENT) if value is ABSENT else value

    def snapshot(self) -> State:
        """The whole state of now, fields that nobody wrote included."""
        return {**self.settled, **self.state}

    # -- counters

    def next_object(self) -> int:
        """A fresh number for an object or a call."""
        self._numbers += 1
        return self._numbers

    def next_variable(self) -> Expr:
        """A fresh bound variable."""
        self._variables += 1
        return raw("var", self._variables)

    def unknown(self) -> Expr:
        """A value that nothing is known of, not even whether it is like another one."""
        return raw("opaque", f"unknown {self.next_object()}")

    # -- path

    def guard(self) -> Operand:
        """The full condition of the path being read."""
        return all_of(*self.path)

    @contextmanager
    def under(self, condition: Operand) -> Iterator[None]:
        """Read under a further condition."""
        self.enter(condition)
        try:
            yield
        finally:
            self.leave()

    def enter(self, condition: Operand, assumption: Operand = True) -> None:
        """Begin to read under a condition, or under an assumption that no guard carries."""
        self.path.append(condition)
        self.assumed.push(condition if assumption is True else assumption)
        self.shared.append({})

    def leave(self) -> None:
        """End the latest :meth:`enter`."""
        self.path.pop()
        self.assumed.pop()
        self.shared.pop()

    def depth(self) -> tuple[int, int, int]:
        """Heights of the stacks, for :meth:`restore`."""
        return len(self.path), len(self.calls), len(self.handlers)

    def restore(self, depth: tuple[int, int, int]) -> None:
        """Unwind the stacks after a statement was given up."""
        while len(self.path) > depth[0]:
            self.leave()
        del self.calls[depth[1] :]
        del self.handlers[depth[2] :]

    def branch(self, test: Expr, then: Any, other: Any) -> Value:
        """Evaluate two thunks under a test and its negation, and join values and states."""
        before = self.state
        self.state = dict(before)
        with self.under(test):
            a = self.arm(then)
        left, self.state = self.state, dict(before)
        with self.under(negate(test)):
            b = self.arm(other)
        self.state, join = joined(self, test, left, self.state)
        return join(a, b)

    def arm(self, thunk: Any) -> Value:
        """A thunk's value; where it cannot be computed, the crash that upstream has there."""
        try:
            return thunk()
        except Dead as dead:
            return raw("crash", dead.args[0] or "Exception")

    def lineage(self, exception: str) -> frozenset[str]:
        """Names of an exception and of what it is derived from."""
        own = self.exceptions.get(exception, _PARENTS.get(exception, ()))
        return _ANY | {exception, *own}

    # -- names and places

    def place(self) -> Place:
        """Where upstream is."""
        if not self.calls:
            return Place("", "", 0, "")
        inner = self.calls[-1]
        inside = [call for call in self.calls if call.function.name not in _ENTRIES]
        outer = next(iter(inside), inner)
        function = inner.function
        return Place(function.module.place, function.symbol, inner.line, outer.function.symbol)

    def named(self, wish: str, value: Value, above: int = _NAME_ABOVE) -> Value:
        """The value, or a named result that stands for it when it prints long."""
        if not isinstance(value, Expr) or self.quiet or weight(value) <= above:
            return value
        if free_variables(value):
            return value
        for level in reversed(self.shared):
            if value in level:
                return level[value]
        reference = self.log.let(wish, value, self.guard(), self.place())
        self.shared[-1][value] = reference
        return reference

    def gap(self, reason: str, node: ast.AST | None = None, line: int = 0) -> None:
        """Note a statement that was not followed."""
        place = self.place()
        if line or node is not None:
            at = line or getattr(node, "lineno", place.line)
            place = Place(place.file, place.symbol, at, place.caller)
        nodes = nodes_of(node) if node is not None else []
        if self.lost is None and any(isinstance(n, _LEAVING) for n in nodes[1:]):
            self.lost = len(self.log.steps)
        inside = sum(isinstance(n, (ast.Raise, ast.Assert)) for n in nodes)
        read = {n.attr for n in nodes if isinstance(n, ast.Attribute)} & set(self.fields)
        self.gaps.append(Gap(place, reason, inside, tuple(sorted(read))))

    # -- objects

    def allocate(self, payload: Sequence | Table | Instance) -> HeapRef:
        """A new object."""
        number = self.next_object()
        self.state["heap", number] = payload
        return HeapRef(number)

    def new_list(self, items: Any, kind: str = "list") -> HeapRef:
        """A new list or set of certain items."""
        return self.allocate(Sequence(kind, tuple((True, item) for item in items)))

    def payload(self, reference: HeapRef) -> Any:
        """What an object holds now."""
        found = self.state.get(("heap", reference.number))
        return found if found is not None else self.constants[("heap", reference.number)]

    def store(self, reference: HeapRef, payload: Sequence | Table | Instance) -> None:
        """Change an object."""
        self.state["heap", reference.number] = payload

    # -- operands

    def operand(self, value: Value) -> Operand:
        """A value as an operand of the entry language.

        Raises:
            Unreadable: The language has no such thing.
        """
        if is_operand(value):
            return value  # type: ignore[no-any-return]
        if isinstance(value, (tuple, range, list)):
            return raw_tuple(self.operand(v) for v in value)
        if isinstance(value, HeapRef):
            return self._object(self.payload(value))
        if isinstance(value, Union):
            if value.named is not None:
                return value.named
            return if_(value.test, self.operand(value.then), self.operand(value.other))
        if isinstance(value, ConfigObject):
            return raw("fact", value.root)
        label = _label(value)
        if label is None:
            raise Unreadable(f"{type(value).__name__} as an operand")
        return raw("opaque", label)

    def _object(self, payload: Any) -> Operand:
        if isinstance(payload, Sequence):
            if payload.certain:
                items = raw_tuple(self.operand(v) for _, v in payload.items)
                return _frozen(items) if payload.kind == "set" else raw("call", "list", items)
            pairs = [(c, self.operand(v)) for c, v in payload.items]
            picked = raw("pick", *(x for pair in pairs for x in pair))
            return raw("call", "set", picked) if payload.kind == "set" else picked
        if isinstance(payload, Table):
            rows = [(k, c, self.operand(v)) for k, (c, v) in payload.entries.items()]
            return raw("table", *(x for row in rows for x in row))
        rows = [(k, True, self.operand(v)) for k, v in payload.attributes.items()]
        return raw("table", *(x for row in rows for x in row))

    def config_fact(self, root: str, name: str) -> Expr:
        """The fact that an attribute of a model configuration is."""
        mapped = self.names.model.get(name, f"model.{name}")
        if root != "model":
            mapped = f"{root}.{mapped.removeprefix('model.')}"
        return raw("fact", mapped)

    def is_boolean(self, value: Value) -> bool:
        """Tell whether a value can only be true or false, looking through named results."""
        seen = 0
        while (
            isinstance(value, Expr) and value.op == "ref" and value in self.log.meaning and seen < 8
        ):
            value, seen = self.log.meaning[value], seen + 1
        return is_operand(value) and is_boolean(value)

    def can_fail(self, operand: Operand) -> bool:
        """Tell whether evaluating an operand may crash for some input."""
        key = ("can_fail", operand)
        if not isinstance(operand, Expr):
            return False
        found = self.shared[0].get(key)
        if found is None:
            self.shared[0][key] = False
            found = self._can_fail(operand)
            self.shared[0][key] = found
        return bool(found)

    def _can_fail(self, term: Expr) -> bool:
        if term.op == "ref":
            return False
        if any(self.can_fail(c) for c in children(term)):
            return True
        if term.op in _ORDER:
            return any(self.may_be_none(c) for c in children(term))
        if term.op == "call":
            return term.args[0] in _FAILING_CALLS and self._call_fails(term)
        if term.op == "method":
            return self.may_be_none(term.args[0])
        if term.op in ("in", "not_in"):
            return self.may_be_none(term.args[1])
        return term.op in _FAILING

    def _call_fails(self, term: Expr) -> bool:
        if term.args[0] == "int" and len(term.args) == 2 and is_number(term.args[1]):
            return False
        return term.args[0] in ("int", "float") or any(self.may_be_none(a) for a in term.args[1:])

    def may_be_none(self, operand: Operand, depth: int = 0) -> bool:
        """Tell whether an operand may have the value None, as far as the reader can see."""
        if not isinstance(operand, Expr):
            return operand is None
        if depth > 20 or self.assumed.decide("is", operand, None) is False:
            return False
        if operand.op == "ref":
            meaning = self.log.meaning.get(operand)
            if meaning is not None:
                return self.may_be_none(meaning, depth + 1)
            name = operand.args[0].removeprefix("raw.")
            return name not in self.fields or self.fields[name] is None
        if operand.op == "if":
            return any(self.may_be_none(a, depth + 1) for a in operand.args[1:])
        if operand.op == "fact":
            return not operand.args[0].startswith("gpu.")
        return not never_none(operand)

    def known(self, operand: Operand) -> bool:
        """Tell whether an operand reads nothing that the reader could not follow or name."""
        if not isinstance(operand, Expr):
            return True
        key = ("known", operand)
        if key not in self.shared[0]:
            self.shared[0][key] = True
            self.shared[0][key] = self._known(operand)
        return bool(self.shared[0][key])

    def _known(self, term: Expr) -> bool:
        if term.op == "opaque":
            return False
        if term.op == "helper" and term.args[0] not in self.helpers:
            return False
        if term.op == "ref" and term in self.log.meaning:
            if term.args[0].removeprefix("raw.") in self.fields:
                return True
            return self.known(self.log.meaning[term])
        return all(self.known(c) for c in children(term))

    def flags_of(self, operand: Operand) -> frozenset[str]:
        """Flags that an operand reads, looking through named results."""
        if not isinstance(operand, Expr):
            return frozenset()
        key = ("flags", operand)
        if key not in self.shared[0]:
            self.shared[0][key] = frozenset()
            self.shared[0][key] = self._flags_of(operand)
        return self.shared[0][key]  # type: ignore[no-any-return]

    def _flags_of(self, term: Expr) -> frozenset[str]:
        if term.op == "ref":
            name = term.args[0].removeprefix("raw.")
            return (
                frozenset({name}) if name in self.fields else self.flags_of(self.log.meaning[term])
            )
        return frozenset().union(*map(self.flags_of, children(term)))

    def merge(self, test: Operand, then: State, other: State) -> State:
        """Join two states of this run."""
        return merge(self, test, then, other)


def is_number(operand: Operand) -> bool:
    """Tell whether an operand is surely a number."""
    if not isinstance(operand, Expr):
        return isinstance(operand, (int, float))
    return operand.op in ("add", "sub", "mul", "floordiv", "mod", "truediv", "neg")


def raw_tuple(items: Any) -> Operand:
    """A tuple of operands, constant where it can be."""
    parts = tuple(items)
    return raw("tuple", *parts) if any(isinstance(p, Expr) for p in parts) else parts


def _frozen(items: Operand) -> Operand:
    return raw("call", "set", items) if isinstance(items, Expr) else frozenset(items)  # type: ignore[arg-type]


def _label(value: Value) -> str | None:
    if isinstance(value, (Record, View)) or value is RECORD:
        return "server_args"
    if isinstance(value, External):
        return value.name
    if isinstance(value, ClassValue):
        return f"{value.module.name}:{value.name}"
    if isinstance(value, FunctionValue):
        return value.dotted
    if isinstance(value, Platform):
        return "platform"
    if isinstance(value, BoundMethod):
        return f"{_label(value.owner) or 'value'}.{value.name}"
    return None
