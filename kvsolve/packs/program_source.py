"""A program as Python source: the outer half of compiling, one function for all steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kvsolve.model.expression import Expr, walk
from kvsolve.model.program import Let, Need, Program, Refuse, Set
from kvsolve.packs.term_source import TermWriter, uses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kvsolve.model.expression import Operand

__all__ = ["ProgramWriter", "indented"]


class _Row(NamedTuple):
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
        self.doubtful: set[tuple[str, int]] = set()
        self.last_read = _last_reads(program)
        operands = [o for s in program.steps for o in _operands(s)]
        self.writer = TermWriter(uses(operands), self.slot)

    def slot(self, name: str, version: int) -> str:
        """Source that reads a slot at a version.

        Raises:
            TypeError: Nothing has written that version yet.
        """
        found = self.locals.get((name, version))
        if found is None:
            if version:
                raise TypeError(f"{name}@{version} is read before it is written")
            found = self.input(name)
        return f"known({found})" if (name, version) in self.doubtful else found

    def input(self, name: str) -> str:
        """The variable that holds a slot's initial value."""
        found = self.locals.get((name, 0))
        if found is None:
            found = self.locals[name, 0] = f"i{len(self.inputs)}"
            self.inputs.append(name)
        return found

    def lines(self, rows: Sequence[_Row]) -> Iterator[str]:
        """Statements of a run of steps; each may span several lines."""
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
        """Steps that begin with the same test, behind one ``if``."""
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
        yield f"if {test}:\n" + "\n".join(indented(line) for line in inner)

    def step(self, row: _Row) -> Iterator[str]:
        """Statements of one step."""
        number, step, tests = row
        if isinstance(step, Refuse):
            lines = self.guarded(tests, lambda: f"R.append({number})")
        elif isinstance(step, Need):
            lines = self.guarded(tests, lambda: self.writer.text(step.value))
        else:
            lines = self.assignment(row)
        if self.is_doubtful(step, tests):
            # Only the value is in doubt. Where a condition is, the run ends here and is repeated by
            # the interpreter, which can tell whether the rest of the condition decides.
            yield "try:\n" + "\n".join(indented(line) for line in lines)
            yield f"except Unknown as e:\n X.append(({number}, e.args[0]))" + self.spoilt(step)
        else:
            yield from lines

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
        """The rest of a handler: the slot written holds what only a machine can tell."""
        return f"; {self.locals[step.name, self.versions[step.name]]} = unknowable(e.args[0])"

    def assignment(self, row: _Row) -> list[str]:
        """Statements of a step that writes a slot, which stands one version higher afterwards."""
        number, step, tests = row
        version = self.versions.get(step.name, 0)
        if isinstance(step, Let):
            after = f"r{len(self.results)}"
            self.results.append(after)
            lines = self.guarded(tests, lambda: f"{after} = {self.writer.text(step.value)}")
            self.locals[step.name, version + 1] = after
            self.versions[step.name] = version + 1
            return lines
        before = self.locals.get((step.name, version)) or self.input(step.name)
        shown = f"shown({before})" if (step.name, version) in self.doubtful else before
        after, copy = before, []
        if self.last_read.get((step.name, version), -1) > number:
            after = f"s{len(self.locals)}"
            self.copies.append((after, step.name))
            copy = [f"{after} = {before}"]

        def write() -> str:
            value = self.writer.text(step.value)
            return f"p = {shown}; {after} = {value}; W.append(Write({number}, p, {after}))"

        lines = self.guarded(tests, write)
        self.locals[step.name, version + 1] = after
        self.versions[step.name] = version + 1
        return [*copy, *lines]

    def final(self, name: str, version: int) -> str:
        """The statement that hands a slot's last value out, where it is known."""
        variable = self.locals[name, version]
        kept = f"E[{name!r}] = {variable}"
        if (name, version) in self.doubtful:
            return f"if type({variable}) is not unknowable: {kept}"
        return kept

    def source(self) -> str:
        """The whole module: ``run`` and the functions that it calls."""
        rows = [_Row(n, s, _conjuncts(s.when)) for n, s in enumerate(self.program.steps)]
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


def _conjuncts(when: Operand) -> tuple[Operand, ...]:
    if when is True:
        return ()
    return when.args if isinstance(when, Expr) and when.op == "and" else (when,)


def _last_reads(program: Program) -> dict[tuple[str, int], int]:
    """For each slot at each version, the last step that reads it."""
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


def indented(statement: str) -> str:
    """A statement one level further in."""
    return "\n".join(f" {line}" for line in statement.split("\n"))


def _operands(step: Any) -> Iterator[Operand]:
    yield step.when
    if not isinstance(step, Refuse):
        yield step.value
