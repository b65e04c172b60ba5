"""A program as Python source: the outer half of compiling, one function for all steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.model.expression import Expr, walk
from kvsolve.model.program import Let, Need, Program, Refuse, Set
from kvsolve.packs.term_source import TermWriter, uses

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kvsolve.model.expression import Operand

__all__ = ["ProgramWriter", "Row", "conjuncts", "indented", "operands_of"]


class Row(NamedTuple):
    """A step to lay out: its position, itself, and what of its condition is still to be tested."""

    number: int
    step: Any
    tests: tuple[Operand, ...]


class ProgramWriter:
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
        self.made = 0
        self.doubtful: set[tuple[str, int]] = set()
        self.last_read = _last_reads(program)
        operands = [o for s in program.steps for o in operands_of(s)]
        self.writer = self.terms(uses(operands))

    def terms(self, shared: Counter[Expr]) -> TermWriter:
        """What writes the terms."""
        return TermWriter(shared, self.slot)

    def slot(self, name: str, version: int, used: bool) -> str:
        """Source that reads a slot at a version, where its value is known."""
        found = self.variable(name, version)
        if (name, version) not in self.doubtful:
            return found
        self.writer.risks += 1
        return found if used else f"known({found})"

    def variable(self, name: str, version: int) -> str:
        """What holds a slot at a version."""
        return self.locals.get((name, version)) or self.input(name, version)

    def input(self, name: str, version: int) -> str:
        """The variable that holds a slot's initial value, made at its first use.

        Raises:
            TypeError: Nothing has written that version yet.
        """
        if version:
            raise TypeError(f"{name}@{version} is read before it is written")
        found = self.locals[name, 0] = f"i{len(self.inputs)}"
        self.inputs.append(name)
        return found

    def lines(self, rows: Sequence[Row]) -> Iterator[str]:
        """Statements of a run of steps; each may span several lines."""
        at = 0
        while at < len(rows):
            end = self.alike(rows, at)
            if end - at > 1:
                yield from self.group(rows[at:end])
            else:
                yield from self.step(rows[at])
            at = max(end, at + 1)

    def alike(self, rows: Sequence[Row], at: int) -> int:
        """Where the run of steps ends whose conditions begin with the same test."""
        tests = rows[at].tests
        if not tests or not isinstance(tests[0], Expr):
            return at
        end = at
        while end < len(rows) and rows[end].tests and rows[end].tests[0] is tests[0]:
            end += 1
        return end

    def group(self, rows: Sequence[Row]) -> Iterator[str]:
        """Steps that begin with the same test, behind one ``if``."""
        test = self.writer.test(rows[0].tests[0])
        yield from self.writer.statements()
        start, made, outer = dict(self.versions), self.writer.made.copy(), self.copies
        self.copies = []
        inner = list(self.lines([row._replace(tests=row.tests[1:]) for row in rows]))
        for variable, name in self.copies:
            yield f"{variable} = {self.variable(name, start.get(name, 0))}"
        self.copies = outer + self.copies
        self.writer.made = made
        yield f"if {test}:\n" + "\n".join(indented(line) for line in inner)

    def step(self, row: Row) -> Iterator[str]:
        """Statements of one step."""
        number, step, tests = row
        if isinstance(step, Refuse):
            yield from self.guarded(tests, lambda: f"R.append({number})")
        elif isinstance(step, Need):
            yield from self.guarded(tests, lambda: self.writer.text(step.value))
        else:
            yield from self.assignment(row)

    def guarded(self, tests: Sequence[Operand], statement: Callable[[], str]) -> list[str]:
        """A statement behind its tests; what each needs stands where the tests before it hold."""
        levels: list[tuple[list[str], list[str]]] = [([], [])]
        outer = dict(self.writer.made)
        for test in tests:
            text, needed = self.writer.test(test), list(self.writer.statements())
            if needed and levels[-1][1]:
                levels.append((needed, [text]))
                continue
            levels[-1][0].extend(needed)
            levels[-1][1].append(text)
            if len(levels) == 1:
                outer = dict(self.writer.made)
        body = statement()
        inner = [*self.writer.statements(), body]
        for needed, texts in reversed(levels):
            block = "\n".join(indented(line) for line in inner)
            inner = [*needed, f"if {' and '.join(texts)}:\n{block}"] if texts else [*needed, *inner]
        if tests:
            self.writer.made = outer
        return inner

    def reads_doubt(self, operands: Iterable[Operand]) -> bool:
        """Whether operands read what no fact tells, or a slot that may hold such a thing."""
        return any(
            t.op == "opaque" or (t.op == "ref" and (t.args[0], t.args[1]) in self.doubtful)
            for t in walk(*operands)
        )

    def is_doubtful(self, step: Let | Set) -> bool:
        """Whether a step's value may be one that no fact tells; remembers the slot that it writes.

        Where a connective may still decide, or a condition is in doubt, the run ends and is
        repeated by the interpreter, which can tell.
        """
        own = self.reads_doubt((step.value,))
        version = self.versions.get(step.name, 0)
        if own or (isinstance(step, Set) and (step.name, version) in self.doubtful):
            self.doubtful.add((step.name, version + 1))
        return own and not any(t.op in ("and", "or") for t in walk(step.value))

    def told(self, number: int, statement: str, after: str) -> str:
        """A statement that gives a slot its value, and what to do where that is not known."""
        block = indented(statement)
        kept = f"X.append(({number}, e.args[0])); {after} = unknowable(e.args[0])"
        return f"try:\n{block}\nexcept Unknown as e:\n {kept}"

    def assignment(self, row: Row) -> list[str]:
        """Statements of a step that writes a slot, which stands one version higher afterwards."""
        number, step, tests = row
        version = self.versions.get(step.name, 0)
        doubtful = self.is_doubtful(step)
        if isinstance(step, Let):
            after = f"r{len(self.results)}"
            self.results.append(after)

            def name() -> str:
                statement = f"{after} = {self.writer.text(step.value)}"
                return self.told(number, statement, after) if doubtful else statement

            lines = self.guarded(tests, name)
            self.locals[step.name, version + 1] = after
            self.versions[step.name] = version + 1
            return lines
        before = self.variable(step.name, version)
        shown = f"shown({before})" if (step.name, version) in self.doubtful else before
        after, copy = before, []
        if self.must_stay(row, before):
            self.made += 1
            after = f"s{self.made}"
            self.copies.append((after, step.name))
            copy = [f"{after} = {before}"]

        def write() -> str:
            value = self.writer.text(step.value)
            statement = f"p = {shown}; {after} = {value}; W.append(Write({number}, p, {after}))"
            return self.told(number, statement, after) if doubtful else statement

        lines = self.guarded(tests, write)
        self.locals[step.name, version + 1] = after
        self.versions[step.name] = version + 1
        return [*copy, *lines]

    def must_stay(self, row: Row, before: str) -> bool:
        """Whether the value before a write is still read after it."""
        version = self.versions.get(row.step.name, 0)
        return self.last_read.get((row.step.name, version), -1) > row.number

    def final(self, name: str, version: int) -> str:
        """The statement that hands a slot's last value out, where it is known."""
        variable = self.locals[name, version]
        kept = f"E[{name!r}] = {variable}"
        if (name, version) in self.doubtful:
            return f"if type({variable}) is not unknowable: {kept}"
        return kept

    def source(self) -> str:
        """The whole module: ``run`` and the functions that it calls."""
        rows = [Row(n, s, conjuncts(s.when)) for n, s in enumerate(self.program.steps)]
        body = list(self.lines(rows))
        kept = {step.name for step in self.program.steps if isinstance(step, Set)}
        final = [self.final(name, v) for name, v in self.versions.items() if name in kept]
        head = [f"{self.locals[name, 0]} = {_initial(name)}" for name in self.inputs]
        if self.results:
            head.append(" = ".join(self.results) + " = None")
        lines = [*head, *body, *final, "return None"]
        run = "def run(V, G, F, C, R, W, E, X):\n" + "".join(
            f"{indented(line)}\n" for line in lines
        )
        return "".join(self.writer.closed) + run


def conjuncts(when: Operand) -> tuple[Operand, ...]:
    """The tests that a condition is made of, in order."""
    if when is True:
        return ()
    return when.args if isinstance(when, Expr) and when.op == "and" else (when,)


def _last_reads(program: Program) -> dict[tuple[str, int], int]:
    """For each slot at each version, the last step that reads it."""
    found: dict[tuple[str, int], int] = {}
    for number, step in enumerate(program.steps):
        for term in walk(*operands_of(step)):
            if term.op == "ref":
                found[term.args[0], term.args[1]] = number
    return found


def _initial(slot: str) -> str:
    """Source of a slot's initial value: as parsed, or as typed for the ``given`` view."""
    view, dot, flag = slot.rpartition(".")
    value = f"V.get({flag!r})"
    return f"{value} if {flag!r} in G else None" if view == "given" and dot else value


def indented(statement: str) -> str:
    """A statement one level further in."""
    return "\n".join(f" {line}" for line in statement.split("\n"))


def operands_of(step: Any) -> Iterator[Operand]:
    """What a step evaluates: its condition, and its value where it has one."""
    yield step.when
    if not isinstance(step, Refuse):
        yield step.value
