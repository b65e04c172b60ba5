"""What is known to hold on the path being read, and folding of terms under it.

Inside a branch the branch's condition is true: later conditions that repeat it, or that ask for
the value it pins, fold to constants. Slots and named results can be looked through to the values
they were given, so that ``x == "a"`` folds where every write of ``x`` is a known constant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kvsolve.model.expression import (
    COMPARISONS,
    Constant,
    Expr,
    Operand,
    all_of,
    any_of,
    is_boolean,
    is_constant,
    lookup,
    negate,
    node,
)

__all__ = ["MESSAGE", "Assumptions", "as_condition", "never_none"]

_DEPTH = 6
_LOOK_THROUGH = 12
_OPPOSITE = {"ne": "eq", "not_in": "in", "is_not": "is"}
_NEVER_NONE = frozenset(
    [
        *COMPARISONS,
        "and",
        "or",
        "not",
        "any",
        "collect",
        "pick",
        "table",
        "tuple",
        "hasattr",
        "isinstance",
        "add",
        "sub",
        "mul",
        "floordiv",
        "mod",
        "truediv",
        "pow",
        "neg",
        "env_is_set",
    ]
)
_MAYBE_NONE_CALLS = frozenset({"max", "min"})


@dataclass(slots=True)
class _Level:
    truths: dict[Expr, bool] = field(default_factory=dict)
    pinned: dict[Expr, Constant] = field(default_factory=dict)
    memo: dict[Expr, Operand] = field(default_factory=dict)
    decided: dict[tuple[str, Expr, object, str], bool | None] = field(default_factory=dict)


class Assumptions:
    """A stack of known truths.

    Attributes:
        meaning: What each slot version or named result was given, for looking through.
    """

    def __init__(self, meaning: dict[Expr, Operand]) -> None:
        self.meaning = meaning
        self.levels = [_Level()]

    def push(self, condition: Operand) -> None:
        """Assume a condition until the matching :meth:`pop`."""
        top = self.levels[-1]
        level = _Level(dict(top.truths), dict(top.pinned))
        self._learn(level, condition, True, 0)
        self.levels.append(level)

    def pop(self) -> None:
        """Forget the latest assumption."""
        self.levels.pop()

    def fresh(self) -> None:
        """Start a level that knows nothing (a module's constants are read on no path)."""
        self.levels.append(_Level())

    def _learn(self, level: _Level, term: Operand, value: bool, depth: int) -> None:
        if not isinstance(term, Expr) or depth > _DEPTH:
            return
        level.truths[term] = value
        if term.op == "not" or (term.op == "call" and term.args[0] == "bool"):
            self._learn(level, term.args[-1], value ^ (term.op == "not"), depth)
        elif (term.op == "and" and value) or (term.op == "or" and not value):
            for part in term.args:
                self._learn(level, part, value, depth)
        elif term.op in ("eq", "is", "ne", "is_not"):
            holds = value if term.op in ("eq", "is") else not value
            subject, constant = term.args
            if holds and isinstance(subject, Expr) and is_constant(constant):
                level.pinned[subject] = constant
        elif term.op == "ref" and term in self.meaning:
            self._learn(level, self.meaning[term], value, depth + 1)

    def simplify(self, operand: Operand) -> Operand:
        """Fold a condition (or value) under what is assumed."""
        return self._simplify(operand, 0)

    def _simplify(self, operand: Operand, depth: int) -> Operand:
        if not isinstance(operand, Expr):
            return operand
        memo = self.levels[-1].memo
        found = memo.get(operand, memo)
        if found is memo:
            found = memo[operand] = operand  # a cycle through meanings ends here
            if depth < _DEPTH:
                found = self._fold(operand, depth)
            memo[operand] = found
        return found  # type: ignore[return-value]

    def _fold(self, term: Expr, depth: int) -> Operand:
        level = self.levels[-1]
        known = level.truths.get(term)
        if known is not None and is_boolean(term):
            return known
        if term in level.pinned:
            return level.pinned[term]
        if known is False and term.op in ("ref", "fact", "attr", "getattr"):
            return term
        if term.op == "not":
            return negate(self._simplify(term.args[0], depth + 1))
        if term.op == "and":
            return all_of(*(self._simplify(x, depth + 1) for x in term.args))
        if term.op == "or":
            return any_of(*(self._simplify(x, depth + 1) for x in term.args))
        if term.op in COMPARISONS:
            return self._fold_comparison(term)
        if term.op == "if":
            test = self.condition(term.args[0], depth + 1)
            if not isinstance(test, Expr):
                return self._simplify(term.args[1 if test else 2], depth + 1)
        if term.op == "ref":
            return self._fold_ref(term, depth)
        return term

    def condition(self, operand: Operand, depth: int = 0) -> Operand:
        """Fold a term that only its truth is asked of."""
        found = as_condition(self._simplify(operand, depth))
        if isinstance(found, Expr):
            known = self.levels[-1].truths.get(found)
            if known is None:
                known = self._truth(found, _LOOK_THROUGH)
            return found if known is None else known
        return bool(found)

    def _fold_comparison(self, term: Expr) -> Operand:
        subject, constant = term.args
        if not isinstance(subject, Expr) or not is_constant(constant):
            return term
        level = self.levels[-1]
        if subject in level.pinned:
            return node(term.op, level.pinned[subject], constant)
        opposite = _OPPOSITE.get(term.op)
        if opposite is not None:
            other = lookup(opposite, subject, constant)
            if other is not None and other in level.truths:
                return not level.truths[other]
        decided = self.decide(term.op, subject, constant)
        return term if decided is None else decided

    def _fold_ref(self, term: Expr, depth: int) -> Operand:
        meaning = self.meaning.get(term)
        if meaning is None:
            return term
        inner = self._simplify(meaning, depth + 1)
        return inner if not isinstance(inner, Expr) else term

    def decide(self, op: str, subject: Operand, constant: Constant) -> bool | None:
        """The outcome of a comparison with a constant, if every possible value gives the same."""
        return self._decide(op, subject, constant, _LOOK_THROUGH)

    def _decide(self, op: str, subject: Operand, constant: Constant, budget: int) -> bool | None:
        if not isinstance(subject, Expr):
            result = node(op, subject, constant)
            return result if isinstance(result, bool) else None
        if budget == 0:
            return None
        level = self.levels[-1]
        key = (op, subject, constant, type(constant).__name__)
        if key in level.decided:
            return level.decided[key]
        level.decided[key] = None
        level.decided[key] = answer = self._decide_term(op, subject, constant, budget)
        return answer

    def _decide_term(self, op: str, subject: Expr, constant: Constant, budget: int) -> bool | None:
        level = self.levels[-1]
        if subject in level.pinned:
            return self._decide(op, level.pinned[subject], constant, budget - 1)
        other = lookup(op, subject, constant)
        if other is not None and other in level.truths:
            return bool(level.truths[other])
        if constant is None and op in ("is", "is_not", "eq", "ne") and never_none(subject):
            return op in ("is_not", "ne")
        if subject.op == "ref" and subject in self.meaning:
            return self._decide(op, self.meaning[subject], constant, budget - 1)
        if subject.op == "if":
            test = self.condition(subject.args[0], _DEPTH - 1)
            if not isinstance(test, Expr):
                return self._decide(op, subject.args[1 if test else 2], constant, budget - 1)
            then = self._decide(op, subject.args[1], constant, budget - 1)
            if then is None:
                return None
            return then if self._decide(op, subject.args[2], constant, budget - 1) is then else None
        return None

    def _truth(self, term: Expr, budget: int) -> bool | None:
        meaning = self.meaning.get(term)
        if budget == 0 or meaning is None:
            return None
        if not isinstance(meaning, Expr):
            return bool(meaning)
        known: bool | None = self.levels[-1].truths.get(meaning)
        return known if known is not None else self._truth(meaning, budget - 1)


MESSAGE = "formatted text"
"""Names a text of which only a part is known; as it has a part, it counts as true."""
_conditions: dict[Expr, Operand] = {}


def as_condition(operand: Operand) -> Operand:
    """The same truth in plainer words: ``a if b else b`` asks for both, for example."""
    if not isinstance(operand, Expr):
        return operand
    found = _conditions.get(operand)
    if found is None:
        found = _conditions[operand] = _as_condition(operand)
    return found


def _as_condition(term: Expr) -> Operand:
    if term.op == "opaque" and term.args[0] == MESSAGE:
        return True
    if term.op == "add" and any(isinstance(part, str) and part for part in term.args):
        return True
    if term.op == "not":
        return negate(as_condition(term.args[0]))
    if term.op in ("and", "or"):
        return (all_of if term.op == "and" else any_of)(*map(as_condition, term.args))
    if term.op != "if":
        return term
    test, then, other = map(as_condition, term.args)
    if other is test or (not isinstance(other, Expr) and not other):
        return all_of(test, then)
    if then is test or (not isinstance(then, Expr) and then):
        return any_of(test, other)
    if not isinstance(then, Expr):
        return all_of(negate(test), other)
    if not isinstance(other, Expr):
        return any_of(negate(test), then)
    return term


def never_none(term: Expr) -> bool:
    """Tell whether a term can have no value None."""
    if term.op == "call":
        return term.args[0] not in _MAYBE_NONE_CALLS
    if term.op == "method":
        return bool(term.args[1] != "get")
    return term.op in _NEVER_NONE
