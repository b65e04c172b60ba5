"""What a term may come to, and when: each outcome of a term with the literal that it holds under.

An outcome is a value, or the mark that upstream crashes (``CRASHED``) or that a fact is missing
(``UNKNOWN``). Terms over one flag are tried out in each of its states. A term over several is
put together from the outcomes of its parts in the order in which upstream evaluates them, so the
result is exact however many flags it reads; nothing is ever expanded over all its flags.

The encoder remembers; what is made of a term is said in :mod:`.combining`, :mod:`.truths`,
:mod:`.lacks` and :mod:`.kinds`, which ask the encoder for the parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from kvsolve.model.expression import Crash, Expr, Operand, Unknown, is_constant
from kvsolve.packs.evaluate import Interpreter
from kvsolve.solve.lowering.combining import MOST_ROWS, Combiner
from kvsolve.solve.lowering.comparing import Comparer, TooManyOutcomesError
from kvsolve.solve.lowering.evaluating import Bindings, in_state
from kvsolve.solve.lowering.gates import FALSE, TRUE, Gates
from kvsolve.solve.lowering.kinds import Kinds, kinds_of
from kvsolve.solve.lowering.lacks import Lacks
from kvsolve.solve.lowering.listing import Outcomes, Truth, key_of
from kvsolve.solve.lowering.terms import NO_FLAG, SEVERAL_FLAGS, Reads
from kvsolve.solve.lowering.truths import Truths
from kvsolve.solve.network import CRASHED, UNKNOWN, outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kvsolve.solve.domains import State

__all__ = ["Encoder", "Outcomes", "TooManyOutcomesError", "Truth"]

_T = TypeVar("_T")
_Key = tuple[Expr, Bindings]


class Encoder:
    """Encodes terms over the states of some flags into a circuit.

    Args:
        dests: The flags that vary.
        states: The states of each.
        held: Slot values of all other flags.
        facts: Facts by name.
        most_runs: How often a loop or a table may be run, on all combinations of what it reads.

    Attributes:
        gates: The circuit.
        reads: What terms read.
        constant: Evaluates terms over no flag that varies.
        states: For each flag an interpreter in each of its states.
    """

    def __init__(
        self,
        dests: Sequence[str],
        states: Sequence[Sequence[State]],
        held: Mapping[tuple[str, int], Any],
        facts: Mapping[str, Any],
        most_runs: int = MOST_ROWS,
    ) -> None:
        self.facts, self.most_runs = facts, most_runs
        self.gates = Gates([len(s) for s in states])
        self.reads = Reads({dest: at for at, dest in enumerate(dests)})
        self.constant = Interpreter(dict(held), facts)
        self.states = [
            [in_state(dest, state, held, facts) for state in domain]
            for dest, domain in zip(dests, states, strict=True)
        ]
        self.combiner, self.comparer = Combiner(self), Comparer(self)
        self.truths, self.lacks, self.kinds_maker = Truths(self), Lacks(self), Kinds(self)
        self._outcomes: dict[_Key, Outcomes] = {}
        self._truths: dict[_Key, Truth] = {}
        self._lacks: dict[_Key, tuple[int, int]] = {}
        self._kinds: dict[_Key, Outcomes] = {}
        self._too_wide: set[tuple[int, Any]] = set()

    def allow(self, most_runs: int) -> None:
        """Let loops be run so often from now on; what took too many may be tried again."""
        self.most_runs = most_runs
        self._too_wide.clear()

    # What a term reads

    def owner_of(self, operand: Operand) -> int:
        """As ``owner``, of any operand."""
        return self.owner(operand) if isinstance(operand, Expr) else NO_FLAG

    def owner(self, term: Expr) -> int:
        """The variable that a term reads, negative where it reads none or several."""
        return self.reads.owner(term)

    def varies(self, term: Expr) -> bool:
        """Whether a term reads several flags."""
        return self.reads.owner(term) == SEVERAL_FLAGS

    def free(self, term: Expr) -> frozenset[int]:
        """The bound variables that a term reads from outside."""
        return self.reads.free(term)

    def leaves(self, operand: Operand) -> list[Expr]:
        """The largest terms over a single flag below an operand."""
        return self.reads.leaves(operand)

    def _within(self, term: Expr, bound: Bindings) -> Bindings:
        if not bound:
            return bound
        free = self.reads.free(term)
        return tuple([b for b in bound if b[0] in free])

    def _kept(self, memo: dict[Any, _T], key: Any, make: Callable[[], _T]) -> _T:
        """What was made before; what failed before fails again at once."""
        found = memo.get(key)
        if found is None:
            if (id(memo), key) in self._too_wide:
                raise TooManyOutcomesError
            try:
                found = memo[key] = make()
            except TooManyOutcomesError:
                self._too_wide.add((id(memo), key))
                raise
        return found

    # What it comes to

    def tried(self, term: Expr, owner: int, state: int, reads: dict[int, int]) -> Any:
        """The value of a term over one flag in a state of it.

        Args:
            term: The term.
            owner: Its flag.
            state: The state.
            reads: Per flag the mask of states that make no difference so far; narrowed.

        Raises:
            Crash: It crashes.
            Unknown: A fact is missing.
        """
        value = outcome(self.states[owner][state], term)
        _, literal = self.outcomes(term)[key_of(value)]
        tested = self.gates.mask(literal)
        if tested is not None:
            reads[owner] = reads.get(owner, -1) & tested[1]
        if value is CRASHED:
            raise Crash("crash")
        if value is UNKNOWN:
            raise Unknown("fact")
        return value

    def outcomes(self, operand: Operand, bound: Bindings = ()) -> Outcomes:
        """Every outcome of an operand with its literal; exactly one of them holds."""
        if not isinstance(operand, Expr):
            if isinstance(operand, tuple) and not is_constant(operand):
                return self.combiner.combined(list(operand), lambda *parts: parts, bound)
            return {key_of(operand): (operand, TRUE)}
        bound = self._within(operand, bound)
        return self._kept(
            self._outcomes, (operand, bound), lambda: self.combiner.of(operand, bound)
        )

    def kinds(self, operand: Operand, bound: Bindings = ()) -> Outcomes:
        """As ``outcomes``, with all ordinary numbers taken for one."""
        if not isinstance(operand, Expr):
            return kinds_of(self.outcomes(operand, bound), self.gates)
        bound = self._within(operand, bound)
        return self._kept(
            self._kinds, (operand, bound), lambda: self.kinds_maker.of(operand, bound)
        )

    def truth(self, operand: Operand, bound: Bindings = ()) -> Truth:
        """When an operand is true, false, crashes or is unknown."""
        if not isinstance(operand, Expr):
            if isinstance(operand, tuple) and operand and not is_constant(operand):
                return self.truths.defined(self.lacks.of_all(operand, bound))
            return Truth(TRUE, FALSE) if operand else Truth(FALSE, TRUE)
        bound = self._within(operand, bound)
        return self._kept(self._truths, (operand, bound), lambda: self.truths.of(operand, bound))

    def crash(self, when: Operand, value: Operand) -> Truth:
        """A step that stops nothing unless it breaks: never true."""
        return self.truths.crash(when, value)

    def lack(self, operand: Operand, bound: Bindings = ()) -> tuple[int, int]:
        """The literals under which an operand crashes, and under which it is unknown."""
        if not isinstance(operand, Expr):
            return self.lacks.of_all(operand if isinstance(operand, tuple) else (), bound)
        bound = self._within(operand, bound)
        return self._kept(self._lacks, (operand, bound), lambda: self.lacks.of(operand, bound))
