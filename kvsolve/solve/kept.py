"""What is made of a context, kept from start to start: its constraints, circuit and clauses.

A file holds plain values only, no code, and stands for one digest of everything that a command does
not say, one state of kvsolve's own files, and one set of answers of the facts that depend on
arguments (a file of a model may have changed); anything else is made anew. Files that cannot be
read or written cost time, nothing else. No answer depends on whether something was kept: clauses
hold in the context whoever learned them (docs/adr/0026-contexts-kept-on-disk.md).
"""

from __future__ import annotations

import atexit
import marshal
import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Expr, children
from kvsolve.model.fact import ConfigObject
from kvsolve.model.table import read_terms, write_terms
from kvsolve.packs.evaluate import Interpreter
from kvsolve.packs.files import cache_directory, read_cached, stamp, write_cached
from kvsolve.solve.circuit import Circuit, Kind, Made
from kvsolve.solve.domains import Literals, State
from kvsolve.solve.network import CRASHED, UNKNOWN, Mark, Network, outcome
from kvsolve.solve.nogoods import Clause, Soft, numbers
from kvsolve.solve.specialise import Constraint, Inlined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kvsolve.solve.board import Board
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.universe import Universe

__all__ = ["KeptContext", "digest_of", "kept_network"]

_FOLDER = "contexts"
_MOST_FILES = 64
"""Files kept; a context takes one of two megabytes and one for its clauses."""
_MOST_FOLLOWED = 4
"""Contexts of a process that are kept when it ends, and so as long in memory, the first ones."""
_MOST_CLAUSES = 4000
_DAMAGED = (ValueError, EOFError, TypeError, KeyError, IndexError, AttributeError)
"""What reading plain values of another shape may raise."""
_MARKS = {mark.name: mark for mark in (CRASHED, UNKNOWN)}


class KeptContext:
    """The files of one context.

    Attributes:
        name: Name of the files without their ending.
        key: What must not have changed since they were written.
    """

    def __init__(self, name: str, key: str) -> None:
        self.name, self.key = name, key
        self._is_stored = False
        self._inlined: Inlined | None = None
        self._circuit: tuple[Any, ...] | None = None
        self._answers: str | None = None
        self._known = 0

    def network(self, prepared: Prepared) -> Network:
        """The context's network, from the file where that holds."""
        found = self._read(prepared)
        if found is None:
            found = Network(prepared.inlined, prepared.facts, prepared.judges)
            self._inlined = prepared.inlined
            self._answers = _answers(self._inlined.asked, prepared.facts)
        found.kept = self
        return found

    def _read(self, prepared: Prepared) -> Network | None:
        body = read_cached(f"{self.name}.model", self.key)
        if body is None:
            return None
        try:
            asked, answers, inlined, literals, circuit = _model_of(marshal.loads(body))
        except _DAMAGED:
            return None
        if _answers(asked, prepared.facts) != answers:
            return None
        self._circuit, self._answers, self._is_stored = circuit, answers, True
        vars(prepared)["inlined"] = inlined
        return Network(inlined, prepared.facts, prepared.judges, literals)

    def circuit(self, network: Network, universe: Universe) -> Circuit | None:
        """The context's circuit, None where none was kept."""
        if self._circuit is None:
            return None
        made = _made_of(self._circuit, network, universe)
        self._circuit = None
        return Circuit(network, universe, made)

    def follow(self, board: Board) -> None:
        """Take what earlier processes learned; keep what this one has made when it ends."""
        if self._answers is not None:
            self._take(board)
            if len(_followed) < _MOST_FOLLOWED:
                _followed.append((self, board))

    def save(self, board: Board) -> None:
        """Keep the circuit, and what was learned since the start."""
        if not self._is_stored and self._answers is not None:
            self._write(self._answers, board)
        if self._is_stored:
            self._write_clauses(board)

    def _write(self, answers: str, board: Board) -> None:
        assert self._inlined is not None
        try:
            body = marshal.dumps(_plain_model(self._inlined, answers, board))
        except ValueError:  # a fact's value that cannot be written
            return
        write_cached(f"{self.name}.model", self.key, body)
        self._is_stored, self._inlined = True, None
        _forget_oldest()

    @property
    def _learned_key(self) -> str:
        return f"{self.key}\n{self._answers}"

    def _take(self, board: Board) -> None:
        """Learn the clauses of earlier starts."""
        body = read_cached(f"{self.name}.clauses", self._learned_key)
        if body is not None:
            try:
                clauses = list(_clauses_of(marshal.loads(body), board.universe))
            except _DAMAGED:
                return
            for clause in clauses:
                board.learned.learn(clause)
        self._known = len(board.learned.clauses)

    def _write_clauses(self, board: Board) -> None:
        clauses = board.learned.clauses
        if len(clauses) <= self._known:
            return
        self._known = len(clauses)
        try:
            body = marshal.dumps(_plain_clauses(clauses[:_MOST_CLAUSES], board.universe))
        except ValueError:  # somebody typed a value that cannot be written
            return
        write_cached(f"{self.name}.clauses", self._learned_key, body)


_followed: list[tuple[KeptContext, Board]] = []


@atexit.register
def _save_all() -> None:
    for kept, board in _followed:
        kept.save(board)


def kept_network(prepared: Prepared) -> Network | None:
    """The network of a context that can be kept; None where it cannot."""
    stamped = prepared.pack.stamp
    digest = digest_of(prepared) if stamped else None
    if digest is None:
        return None
    code = stamp(sorted(Path(__file__).parent.glob("*.py")))
    return KeptContext(f"{_FOLDER}/{digest}", f"{stamped}\n{code}").network(prepared)


def digest_of(prepared: Prepared) -> str | None:
    """A text that stands for release, stage and facts; None where a fact has no plain form."""
    try:
        facts = [(name, _plain(value)) for name, value in sorted(prepared.facts.items())]
    except TypeError:
        return None
    parts = (prepared.pack.release, prepared.stage, facts)
    return sha256(repr(parts).encode()).hexdigest()[:32]


def _plain(value: Any) -> Any:
    """A value's plain form: the same for equal values of equal types alone.

    Functions are all the same: what they answer is compared instead (:func:`_answers`).

    Raises:
        TypeError: It is of another type.
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, str, bytes):
        return kind.__name__, value
    if kind in (list, tuple):
        return kind.__name__, [_plain(item) for item in value]
    if kind in (set, frozenset):
        return kind.__name__, sorted(repr(_plain(item)) for item in value)
    if kind is dict:
        return kind.__name__, [(_plain(k), _plain(v)) for k, v in value.items()]
    if kind is ConfigObject:
        return value.class_names, _plain(value.attributes_of()), _plain(value.to_dict())
    if callable(value):
        return "function"
    slots = [name for base in kind.__mro__ for name in getattr(base, "__slots__", ())]
    if not slots:
        raise TypeError(kind.__name__)
    return kind.__name__, [_plain(getattr(value, name)) for name in slots]


def _answers(asked: Iterable[Expr], facts: Any) -> str | None:
    """What facts that depend on arguments answer, as a text to compare; None if it has none."""
    run = Interpreter({}, facts)
    try:
        found = [_plain(outcome(run, term)) for term in asked]
    except TypeError:
        return None
    return sha256(repr(found).encode()).hexdigest()


def _plain_model(inlined: Inlined, answers: str, board: Board) -> tuple[Any, ...]:
    literals, made = board.network.literals, board.circuit.made()
    cones = {c.cone: None for c in inlined.constraints}
    number = {cone: at for at, cone in enumerate(cones)}
    constraints = [(c.step, number[c.cone], c.may_crash) for c in inlined.constraints]
    operands = [c.broken for c in inlined.constraints]
    operands += [*inlined.effective.values(), *inlined.asked, *made.terms]
    return (
        write_terms(operands),
        [tuple(cone) for cone in cones],
        constraints,
        tuple(inlined.effective),
        len(inlined.asked),
        answers,
        (dict(literals.constants), dict(literals.numeric_peers), literals.asked_if_given),
        _plain_circuit(made),
    )


def _model_of(plain: tuple[Any, ...]) -> tuple[tuple[Expr, ...], str, Inlined, Literals, Any]:
    table, cones, rows, slots, size, answers, literals, circuit = plain
    terms = iter(read_terms(table))
    sets = [frozenset(cone) for cone in cones]
    constraints = tuple([Constraint(s, next(terms), sets[c], crash) for s, c, crash in rows])
    effective = {slot: next(terms) for slot in slots}
    asked = tuple([next(terms) for _ in range(size)])
    inlined = Inlined(constraints, effective, asked)
    return asked, answers, inlined, Literals(*literals), (list(terms), *circuit)


def _plain_circuit(made: Made) -> tuple[Any, ...]:
    """The nodes without their terms, and the numbers of those whose values must be run again.

    These are values that only running them can tell, since they ask facts that depend on arguments,
    and values of no plain form. Marks are told apart from texts by their places.
    """
    asking, run, lacks = _Asking(), [], []
    values: list[Any] = []
    for at, (term, table) in enumerate(zip(made.terms, made.tables, strict=True)):
        told = [made.constants[at]] if table is None else table
        plain = [v.name if isinstance(v, Mark) else v for v in told]
        if asking.of(term) or not _is_plain(plain):
            run.append(at)
            plain = []
        else:
            lacks += [(at, n) for n, v in enumerate(told) if isinstance(v, Mark)]
        values.append(plain)
    columns = [made.kinds, made.args, made.parents, made.variable]
    return columns, values, run, lacks, (made.risky, made.unsure, made.weight)


def _made_of(plain: tuple[Any, ...], network: Network, universe: Universe) -> Made:
    terms, (kinds, args, parents, variables), values, run, lacks, marks = plain
    for at in run:
        values[at] = _run(terms[at], kinds[at], variables[at], network, universe)
    for at, number in lacks:
        values[at][number] = _MARKS[values[at][number]]
    tables = [told if v >= 0 else None for told, v in zip(values, variables, strict=True)]
    constants = [None if v >= 0 else told[0] for told, v in zip(values, variables, strict=True)]
    risky, unsure, weight = marks
    return Made(terms, kinds, args, parents, variables, tables, constants, risky, unsure, weight)


class _Asking:
    """Tells whether terms ask a fact that depends on arguments, each shared term looked at once."""

    def __init__(self) -> None:
        self.known: dict[Expr, bool] = {}

    def of(self, operand: Any) -> bool:
        """Whether an operand does."""
        if not isinstance(operand, Expr):
            return isinstance(operand, tuple) and any(map(self.of, operand))
        found = self.known.get(operand)
        if found is None:
            found = operand.op == "helper" or any(map(self.of, children(operand)))
            self.known[operand] = found
        return found


def _is_plain(value: Any) -> bool:
    try:
        marshal.dumps(value)
    except ValueError:
        return False
    return True


def _run(operand: Any, kind: int, variable: int, network: Network, universe: Universe) -> list[Any]:
    """What an atom or a constant comes to, by running it."""
    if variable >= 0:
        dest, states = universe.dests[variable], universe.states[variable]
        return [network.single_value(operand, dest, state) for state in states]
    if kind != Kind.LEAF or not isinstance(operand, Expr):
        return [operand if kind == Kind.LEAF else None]
    owner = network.owner(operand)
    if owner == "":
        return [network.constant_value(operand)]
    return [network.single_value(operand, owner, universe.fixed(owner))]


def _plain_clauses(clauses: Iterable[Clause], universe: Universe) -> tuple[Any, ...]:
    """Clauses, and the states in them that have a number only where somebody typed them."""
    plain = [(c.literals, c.source, c.soft and tuple(c.soft)) for c in clauses]
    typed = {}
    for literals, _, _ in plain:
        for variable, mask in literals:
            for number in numbers(_beyond(mask, universe.full[variable])):
                state = universe.states[variable][number]
                typed[variable, number] = (state.value, state.typed)
    return plain, typed


def _beyond(mask: int, full: int) -> int:
    """The states that a mask names, or leaves out, beyond those of a flag that is not given."""
    return (mask if mask >= 0 else ~mask) & ~full


def _clauses_of(plain: tuple[Any, ...], universe: Universe) -> Iterator[Clause]:
    clauses, typed = plain
    new = {
        (variable, number): universe.number(variable, State(*state))
        for (variable, number), state in typed.items()
    }
    for literals, source, soft in clauses:
        here = tuple([(v, _renumbered(v, mask, universe.full[v], new)) for v, mask in literals])
        yield Clause(here, source, Soft(*soft) if soft else None)


def _renumbered(variable: int, mask: int, full: int, new: Mapping[tuple[int, int], int]) -> int:
    """A mask with the numbers that typed states have now."""
    beyond = _beyond(mask, full)
    if not beyond:
        return mask
    moved = sum(1 << new[variable, number] for number in numbers(beyond))
    return mask & full | moved if mask >= 0 else ~(~mask & full | moved)


def _forget_oldest() -> None:
    """Delete the files written longest ago beyond those to be kept."""
    try:
        files = sorted(os.scandir(cache_directory() / _FOLDER), key=_age)
        for file in files[:-_MOST_FILES]:
            os.unlink(file.path)
    except OSError:
        return


def _age(file: os.DirEntry[str]) -> int:
    return file.stat().st_mtime_ns
