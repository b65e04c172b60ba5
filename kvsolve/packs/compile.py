"""Compiling a program to one Python function.

The function is generated from checked terms: it holds nothing but names made here, literals written
by ``repr`` from plain values, and calls of the operations in :mod:`kvsolve.packs.operations`. Text of
a pack never reaches it. A run that meets a crash or a missing fact raises, and the caller falls back
to :func:`kvsolve.packs.evaluate.interpret`, which tells exactly what happened; so the function needs
no bookkeeping of undefined values and stays fast.
"""

from __future__ import annotations

import marshal
from collections import Counter
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.model.expression import (
    COMPARISONS,
    Crash,
    Expr,
    Operand,
    Unknown,
    children,
    crashes_by_itself,
    is_constant,
    walk,
)
from kvsolve.model.program import Let, Need, Program, Refuse, Set
from kvsolve.packs.evaluate import Failure, Trace, Write, interpret
from kvsolve.packs.operations import OPERATIONS, call_function, call_method

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "CompiledProgram",
    "FactTable",
    "compile_predicate",
    "compile_program",
    "initial_slots",
]

_INLINE = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "in": "in",
    "not_in": "not in",
    "add": "+",
    "sub": "-",
    "floordiv": "//",
    "truediv": "/",
    "bitor": "|",
    "bitand": "&",
    "bitxor": "^",
    "rshift": ">>",
}


class FactTable(dict[str, Any]):
    """Facts by name; asking for one that is not there says that it is unknown."""

    def __missing__(self, name: str) -> Any:
        raise Unknown(name)


class _Unknowable:
    """The value of a slot that only a machine can tell; using it says which one it is."""

    __slots__ = ("label",)

    def __init__(self, label: str) -> None:
        self.label = label


def _known(value: Any) -> Any:
    """A slot's value, if it is known."""
    if type(value) is _Unknowable:
        raise Unknown(value.label)
    return value


def _shown(value: Any) -> Any:
    return None if type(value) is _Unknowable else value


def _raise(exception: type[Exception], name: str) -> Any:
    raise exception(name)


_GLOBALS: dict[str, Any] = {
    "__builtins__": {},
    "Write": Write,
    "unset": object(),
    "Unknown": Unknown,
    "unknowable": _Unknowable,
    "known": _known,
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


class _Writer:
    """Writes terms as Python source; a term used often gets a variable.

    A shared term that cannot crash is computed where it is first needed, before the statement that
    needs it. One that can is computed at its first use, by a local function, so that it is never
    evaluated where upstream would not evaluate it.

    Attributes:
        before: Statements that must stand before the one being written.
        temporaries: Variables that start as unset.
    """

    def __init__(self, shared: Mapping[Expr, int], slot: Callable[[str, int], str]) -> None:
        self.shared = shared
        self.slot = slot
        self.before: list[str] = []
        self.temporaries: list[str] = []
        self.made: dict[Expr, str] = {}
        self.bound = 0
        self.count = 0

    def text(self, operand: Operand) -> str:
        """Source of an operand's value, bracketed so that it can stand anywhere."""
        if not isinstance(operand, Expr):
            return self.literal(operand)
        if self.bound or self.shared.get(operand, 0) < 2:
            return self.term(operand)
        found = self.made.get(operand)
        if found is None:
            found = self.made[operand] = self.share(operand)
        return found

    def share(self, operand: Expr) -> str:
        """Give a term a variable; the source that reads it."""
        body = self.term(operand)
        self.count += 1
        name = f"t{self.count}"
        if _harmless(operand) and "known(" not in body:
            self.before.append(f"{name} = {body}")
            return name
        self.temporaries.append(name)
        self.before.append(f"def f{name}():\n  nonlocal {name}\n  {name} = {body}\n  return {name}")
        return f"({name} if {name} is not unset else f{name}())"

    def statements(self) -> Iterator[str]:
        """What has to stand before the statement just written, and forget it."""
        yield from self.before
        self.before.clear()

    def test(self, operand: Operand) -> str:
        """Source of an operand where only its truth matters."""
        if isinstance(operand, Expr) and operand.op in ("and", "or"):
            if not self.bound and self.shared.get(operand, 0) >= 2:
                return self.text(operand)
            return "(" + f" {operand.op} ".join(self.test(a) for a in operand.args) + ")"
        return self.text(operand)

    def literal(self, value: Any) -> str:
        if (isinstance(value, float) and value != value) or value in (float("inf"), float("-inf")):
            return f"float({str(value)!r})"
        if isinstance(value, frozenset):
            return f"frozenset({self.literal(tuple(sorted(value, key=repr)))})"
        if isinstance(value, tuple):
            return "(" + "".join(f"{self.text(v)}, " for v in value) + ")"
        if value is None or isinstance(value, (bool, int, float, str, bytes)):
            return repr(value)
        raise TypeError(f"{value!r} is no constant of the entry language")

    def term(self, e: Expr) -> str:
        method: Callable[..., str] | None = getattr(self, f"_{e.op}", None)
        if method is not None:
            return method(*e.args)
        if e.op in ("eq", "ne") and any(_is_sequence(a) for a in e.args):
            return f"{e.op}({self.text(e.args[0])}, {self.text(e.args[1])})"
        if e.op == "add":
            return f"add({self.text(e.args[0])}, {self.text(e.args[1])})"
        if e.op in _INLINE:
            a, b = e.args
            return f"({self.text(a)} {_INLINE[e.op]} {self.text(b)})"
        if e.op in ("mul", "mod", "pow", "lshift", "item"):
            return f"{e.op}({self.text(e.args[0])}, {self.text(e.args[1])})"
        raise TypeError(f"no code for the operation {e.op}")

    def arguments(self, operands: Iterable[Operand]) -> str:
        return ", ".join(self.text(o) for o in operands)

    def _ref(self, name: str, version: int) -> str:
        return self.slot(name, version)

    def _fact(self, name: str) -> str:
        return f"F[{name!r}]"

    def _env(self, name: str, default: Operand) -> str:
        return f"F['environ'].get({name!r}, {self.text(default)})"

    def _env_is_set(self, name: str) -> str:
        return f"({name!r} in F['environ'])"

    def _helper(self, name: str, *arguments: Operand) -> str:
        return f"F[{'helper:' + name!r}]({self.arguments(arguments)})"

    def _var(self, number: int) -> str:
        return f"v{number}"

    def _opaque(self, label: str, *_: Operand) -> str:
        return f"unknown({label!r})"

    def _crash(self, exception: str) -> str:
        return f"crash({exception!r})"

    def _and(self, *operands: Operand) -> str:
        inner = " and ".join(self.test(o) for o in operands)
        return f"(True if {inner} else False)"

    def _or(self, *operands: Operand) -> str:
        inner = " or ".join(self.test(o) for o in operands)
        return f"(True if {inner} else False)"

    def _not(self, operand: Operand) -> str:
        return f"(not {self.test(operand)})"

    def _if(self, test: Operand, then: Operand, other: Operand) -> str:
        return f"({self.text(then)} if {self.test(test)} else {self.text(other)})"

    def _is(self, a: Operand, b: Operand) -> str:
        if b is None or isinstance(b, bool):
            return f"({self.text(a)} is {b!r})"
        return f"same({self.text(a)}, {self.text(b)})"

    def _is_not(self, a: Operand, b: Operand) -> str:
        if b is None or isinstance(b, bool):
            return f"({self.text(a)} is not {b!r})"
        return f"(not same({self.text(a)}, {self.text(b)}))"

    def _neg(self, operand: Operand) -> str:
        return f"(-{self.text(operand)})"

    def _attr(self, operand: Operand, name: str) -> str:
        return f"attr({self.text(operand)}, {name!r})"

    def _getattr(self, operand: Operand, name: str, default: Operand) -> str:
        value = self.text(operand)
        return (
            f"(attr({value}, {name!r}) if hasattr({value}, {name!r}) else {self.text(default)})"
        )

    def _hasattr(self, operand: Operand, name: str) -> str:
        return f"hasattr({self.text(operand)}, {name!r})"

    def _isinstance(self, operand: Operand, *names: str) -> str:
        return f"isinstance({self.text(operand)}, {', '.join(map(repr, names))})"

    def _call(self, name: str, *arguments: Operand) -> str:
        if name == "bool":
            return f"(True if {self.test(arguments[0])} else False)"
        return f"call({name!r}, {self.arguments(arguments)})"

    def _method(self, operand: Operand, name: str, *arguments: Operand) -> str:
        return f"method({self.arguments((operand,))}, {name!r}, {self.arguments(arguments)})"

    def _slice(self, operand: Operand, low: Operand, high: Operand) -> str:
        return f"op['slice']({self.arguments((operand, low, high))})"

    def _tuple(self, *operands: Operand) -> str:
        return self.literal(operands)

    def _pick(self, *operands: Operand) -> str:
        pairs = zip(operands[::2], operands[1::2], strict=True)
        return "[" + ", ".join(self.present(c, self.text(v)) for c, v in pairs) + "]"

    def present(self, condition: Operand, text: str) -> str:
        return text if condition is True else f"*(({text},) if {self.test(condition)} else ())"

    def _table(self, *operands: Operand) -> str:
        rows = zip(operands[::3], operands[1::3], operands[2::3], strict=True)
        parts = []
        for key, condition, value in rows:
            entry = f"{self.text(key)}: {self.text(value)}"
            parts.append(
                entry if condition is True else f"**({{{entry}}} if {self.test(condition)} else {{}})"
            )
        return "{" + ", ".join(parts) + "}"

    def _any(self, number: int, iterable: Operand, body: Operand) -> str:
        self.bound += 1
        text = f"any({self.text(body)} for v{number} in {self.text(iterable)})"
        self.bound -= 1
        return text

    def _collect(
        self, kind: str, number: int, iterable: Operand, condition: Operand, element: Operand
    ) -> str:
        self.bound += 1
        tail = "" if condition is True else f" if {self.test(condition)}"
        inner = f"{self.text(element)} for v{number} in {self.text(iterable)}{tail}"
        self.bound -= 1
        return f"frozenset({inner})" if kind == "set" else f"[{inner}]"


_safe: dict[Expr, bool] = {}
_OPTIONAL = "draft."
"""Root of the facts that most contexts lack: they are looked up where they are needed, not early."""


def _harmless(operand: Operand) -> bool:
    """Whether a term can be computed early: it cannot crash as long as its facts are there."""
    if not isinstance(operand, Expr):
        return True
    found = _safe.get(operand)
    if found is None:
        found = (operand.op == "fact" and not operand.args[0].startswith(_OPTIONAL)) or (
            not crashes_by_itself(operand) and all(_harmless(c) for c in children(operand))
        )
        _safe[operand] = found
    return found


def _is_sequence(operand: Operand) -> bool:
    """Whether an operand may be a list or a tuple by its form; a plain slot is taken not to be."""
    if isinstance(operand, Expr):
        return operand.op in ("call", "tuple", "pick", "collect", "slice", "add", "if", "item")
    return isinstance(operand, tuple)


def _uses(operands: Iterable[Operand]) -> Counter[Expr]:
    """How often each term worth a variable is used, counted over distinct parents."""
    count: Counter[Expr] = Counter()
    stack = [o for o in operands if isinstance(o, Expr)]
    seen: set[Expr] = set()
    while stack:
        term = stack.pop()
        if _worth_sharing(term):
            count[term] += 1
        if term not in seen:
            seen.add(term)
            stack.extend(_below(term))
    return count


def _below(term: Expr) -> Iterator[Expr]:
    for child in children(term):
        if isinstance(child, Expr):
            yield child
        elif isinstance(child, tuple) and not is_constant(child):
            yield from (c for c in child if isinstance(c, Expr))


def _worth_sharing(term: Expr) -> bool:
    return term.op not in ("ref", "fact", "var", "opaque", "crash", "not") and not (
        term.op in ("is", "is_not", "eq", "ne")
        and isinstance(term.args[0], Expr)
        and term.args[0].op == "ref"
        and not isinstance(term.args[1], Expr)
    )


class _Row(NamedTuple):
    """A step to lay out: its position, itself, and what of its condition is still to be tested."""

    number: int
    step: Any
    tests: tuple[Operand, ...]


class _ProgramWriter:
    """Lays the steps of a program out as the body of one function.

    Neighbouring steps whose conditions begin alike stand in one ``if``. A slot keeps its variable
    when it is written, unless an earlier value of it is still read afterwards.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.versions: dict[str, int] = {}
        self.locals: dict[tuple[str, int], str] = {}
        self.inputs: list[str] = []
        self.results: list[str] = []
        self.copies: list[tuple[str, str]] = []
        self.doubtful: set[tuple[str, int]] = set()
        self.last_read = _last_reads(program)
        operands = [o for s in program.steps for o in _operands(s)]
        self.writer = _Writer(_uses(operands), self.slot)

    def slot(self, name: str, version: int) -> str:
        found = self.locals.get((name, version))
        if found is None:
            if version:
                raise TypeError(f"{name}@{version} is read before it is written")
            found = self.input(name)
        return f"known({found})" if (name, version) in self.doubtful else found

    def input(self, name: str) -> str:
        found = self.locals.get((name, 0))
        if found is None:
            found = self.locals[name, 0] = f"i{len(self.inputs)}"
            self.inputs.append(name)
        return found

    def lines(self, rows: Sequence[_Row]) -> Iterator[str]:
        at = 0
        while at < len(rows):
            end = self.alike(rows, at)
            if end - at > 1:
                yield from self.group(rows[at:end])
            else:
                yield from self.step(rows[at])
            at = max(end, at + 1)

    def alike(self, rows: Sequence[_Row], at: int) -> int:
        """Where the run of steps ends whose conditions begin with the same test."""
        tests = rows[at].tests
        if not tests or not isinstance(tests[0], Expr) or self.reads_doubt(tests[:1]):
            return at
        end = at
        while end < len(rows) and rows[end].tests and rows[end].tests[0] is tests[0]:
            end += 1
        return end

    def group(self, rows: Sequence[_Row]) -> Iterator[str]:
        test = self.writer.test(rows[0].tests[0])
        yield from self.writer.statements()
        start, made, outer = dict(self.versions), dict(self.writer.made), self.copies
        self.copies = []
        inner = list(self.lines([row._replace(tests=row.tests[1:]) for row in rows]))
        for variable, name in self.copies:
            earlier = self.locals.get((name, start.get(name, 0))) or self.input(name)
            yield f"{variable} = {earlier}"
        self.copies = outer + self.copies
        self.writer.made = made
        yield f"if {test}:\n" + "\n".join(_indented(line) for line in inner)

    def step(self, row: _Row) -> Iterator[str]:
        number, step, tests = row
        if isinstance(step, Refuse):
            lines = [self.guarded(tests, f"R.append({number})")]
        elif isinstance(step, Need):
            lines = [self.guarded(tests, self.writer.text(step.value))]
        else:
            lines = self.assignment(row)
        yield from self.writer.statements()
        if self.is_doubtful(step, tests):
            # Only the value is in doubt. Where a condition is, the run ends here and is repeated by
            # the interpreter, which can tell whether the rest of the condition decides.
            yield "try:\n" + "\n".join(_indented(line) for line in lines)
            yield f"except Unknown as e:\n X.append(({number}, e.args[0]))" + self.spoilt(step)
        else:
            yield from lines

    def guarded(self, tests: Sequence[Operand], statement: str) -> str:
        if not tests:
            return statement
        return f"if {' and '.join(self.writer.test(t) for t in tests)}: {statement}"

    def reads_doubt(self, operands: Iterable[Operand]) -> bool:
        """Whether operands read what no fact tells, or a slot that may hold such a thing."""
        return any(
            t.op == "opaque" or (t.op == "ref" and (t.args[0], t.args[1]) in self.doubtful)
            for t in walk(*operands)
        )

    def is_doubtful(self, step: Any, tests: Sequence[Operand]) -> bool:
        """Whether a step writes a slot with what no fact tells; remembers that slot."""
        if not isinstance(step, (Let, Set)):
            return False
        own = self.reads_doubt((step.value,))
        version = self.versions[step.name]
        if own or (isinstance(step, Set) and (step.name, version - 1) in self.doubtful):
            self.doubtful.add((step.name, version))
        connective = any(t.op in ("and", "or") for t in walk(step.value))
        return own and not connective and not self.reads_doubt(tests)

    def spoilt(self, step: Let | Set) -> str:
        return f"; {self.locals[step.name, self.versions[step.name]]} = unknowable(e.args[0])"

    def assignment(self, row: _Row) -> list[str]:
        number, step, tests = row
        value = self.writer.text(step.value)
        version = self.versions.get(step.name, 0)
        self.versions[step.name] = version + 1
        if isinstance(step, Let):
            after = self.locals[step.name, version + 1] = f"r{len(self.results)}"
            self.results.append(after)
            return [self.guarded(tests, f"{after} = {value}")]
        before = self.locals.get((step.name, version)) or self.input(step.name)
        shown = f"shown({before})" if (step.name, version) in self.doubtful else before
        after, lines = before, []
        if self.last_read.get((step.name, version), -1) > number:
            after = f"s{len(self.locals)}"
            self.copies.append((after, step.name))
            lines.append(f"{after} = {before}")
        self.locals[step.name, version + 1] = after
        write = f"p = {shown}; {after} = {value}; W.append(Write({number}, p, {after}))"
        return [*lines, self.guarded(tests, write)]

    def final(self, name: str, version: int) -> str:
        variable = self.locals[name, version]
        kept = f"E[{name!r}] = {variable}"
        if (name, version) in self.doubtful:
            return f"if type({variable}) is not unknowable: {kept}"
        return kept

    def source(self) -> str:
        rows = [_Row(n, s, _conjuncts(s.when)) for n, s in enumerate(self.program.steps)]
        body = list(self.lines(rows))
        kept = {step.name for step in self.program.steps if isinstance(step, Set)}
        final = [self.final(name, v) for name, v in self.versions.items() if name in kept]
        head = [f"{self.locals[name, 0]} = {_initial(name)}" for name in self.inputs]
        if self.writer.temporaries:
            head.append(" = ".join(self.writer.temporaries) + " = unset")
        if self.results:
            head.append(" = ".join(self.results) + " = None")
        lines = [*head, *body, *final, "return None"]
        return "def run(V, G, F, R, W, E, X):\n" + "".join(f"{_indented(line)}\n" for line in lines)


def _conjuncts(when: Operand) -> tuple[Operand, ...]:
    if when is True:
        return ()
    return when.args if isinstance(when, Expr) and when.op == "and" else (when,)


def _last_reads(program: Program) -> dict[tuple[str, int], int]:
    """For each slot at each version, the last step that reads it; one past the end if the end does."""
    found: dict[tuple[str, int], int] = {}
    for number, step in enumerate(program.steps):
        for term in walk(*_operands(step)):
            if term.op == "ref":
                found[term.args[0], term.args[1]] = number
    return found


def _initial(slot: str) -> str:
    """Source of a slot's initial value: as parsed, or as typed for the ``given`` view."""
    view, dot, flag = slot.rpartition(".")
    value = f"V.get({flag!r})"
    return f"{value} if {flag!r} in G else None" if view == "given" and dot else value


def _indented(statement: str) -> str:
    return "\n".join(f" {line}" for line in statement.split("\n"))


def _operands(step: Any) -> Iterator[Operand]:
    yield step.when
    if not isinstance(step, Refuse):
        yield step.value


class CompiledProgram:
    """A program ready to run.

    Attributes:
        code: The generated function's code.
        inputs: The slots whose initial values it reads.
    """

    __slots__ = ("_exact", "_run", "code", "inputs")

    def __init__(
        self, code: CodeType, inputs: tuple[str, ...], exact: Callable[[], Program]
    ) -> None:
        self.code, self.inputs, self._exact = code, inputs, exact
        scope = dict(_GLOBALS)
        exec(code, scope)  # our own output from checked terms, see the module docstring
        self._run: Callable[..., None] = scope["run"]

    def marshal(self) -> bytes:
        """The code, for a cache that this Python version alone can read."""
        return marshal.dumps((_without_lines(self.code), self.inputs))

    @classmethod
    def unmarshal(cls, data: bytes, exact: Callable[[], Program]) -> CompiledProgram:
        """The inverse of :meth:`marshal`; ``exact`` gives the program for runs that need it."""
        code, inputs = marshal.loads(data)
        return cls(code, inputs, exact)

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
        try:
            self._run(values, given, facts, trace.refusals, trace.writes, trace.values, unknown)
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


def _without_lines(code: CodeType) -> CodeType:
    """The same code without line numbers: nearly half of it, and of use to nobody."""
    constants = tuple(_without_lines(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=constants)


def compile_program(program: Program) -> CompiledProgram:
    """Compile a program; takes about as long as Python needs to compile a file of its size."""
    writer = _ProgramWriter(program)
    code = compile(writer.source(), "<kvsolve program>", "exec")
    return CompiledProgram(code, tuple(writer.inputs), lambda: program)


def compile_predicate(operand: Operand) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Any]:
    """A function of (slot values, facts) that gives an operand's value.

    Only version 0 of a slot may occur. The function raises what the operand's evaluation raises, and
    :class:`Unknown` also where a part that is not known stands before one that decides.
    """

    def slot(name: str, version: int) -> str:
        if version:
            raise TypeError(f"{name}@{version} is no input")
        return f"V[{name!r}]"

    writer = _Writer(_uses([operand]), slot)
    result = f"return {writer.text(operand)}"
    head = [" = ".join([*writer.temporaries, "unset"])] if writer.temporaries else []
    lines = [*head, *writer.statements(), result]
    source = "def run(V, F):\n" + "".join(f"{_indented(line)}\n" for line in lines)
    scope = dict(_GLOBALS)
    exec(compile(source, "<kvsolve predicate>", "exec"), scope)
    found: Callable[[Mapping[str, Any], Mapping[str, Any]], Any] = scope["run"]
    return found
