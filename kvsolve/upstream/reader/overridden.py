"""Where ModelConfig breaks because its configuration lacks an attribute.

A checkpoint's own configuration has what its architecture asks for, so such breaks are no part of
a program; but ``--json-model-override-args`` can name an architecture whose attributes the
configuration lacks. What is missing where is gathered while ModelConfig is read, and told once for
each function, for launches that override something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.expression import (
    Expr,
    Operand,
    all_of,
    any_of,
    children,
    negate,
    node,
    raw,
    rebuild,
    walk,
)
from kvsolve.upstream.reader import calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.model.program import Place
    from kvsolve.upstream.reader.run import Run

_FUNCTIONS = frozenset({"ModelConfig._derive_model_shapes", "get_dsa_index_head_dim"})
__all__ = ["Lacking", "note", "tell"]

_OVERRIDES = "json_model_override_args"
_HARMLESS = frozenset(
    ["fact", "helper", "ref", "and", "or", "not", "if", "in", "not_in", "eq", "ne", "is", "is_not",
     "getattr", "hasattr"]
)  # fmt: skip
_LAZY = frozenset({"and", "or", "if", "getattr", "hasattr", "isinstance", "any", "collect"})


class Lacking:
    """What one construction of ModelConfig asks of its configuration.

    Attributes:
        depth: Height of the path when it began.
        found: Function -> place, and the attributes that each condition asks for there.
    """

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.found: dict[str, tuple[Place, dict[Operand, dict[Operand, None]]]] = {}


def note(run: Run, value: Expr) -> None:
    """Upstream reads attributes of the configuration on the path being read."""
    if run.lacking is None or run.building != ["model"]:
        return
    when = all_of(*run.path[run.lacking.depth :])
    if not calls.facts_only(run, when) or not run.known(when):
        return
    place = run.place()
    for owner, name in _attributes(value):
        _, asked = run.lacking.found.setdefault(place.symbol, (place, {}))
        asked.setdefault(when, {})[node("hasattr", owner, name)] = None


def _attributes(value: Operand) -> Iterator[tuple[Operand, str]]:
    """Attributes that are read whenever a term is evaluated."""
    if not isinstance(value, Expr) or value.op in _LAZY:
        return
    if value.op == "attr":
        yield value.args[0], value.args[1]
    for part in children(value):
        yield from _attributes(part)


def tell(run: Run) -> None:
    """Add the breaks of a construction, behind its own steps."""
    if run.lacking is None or _OVERRIDES not in run.fields:
        return
    given = node("ne", raw("ref", _OVERRIDES, 0), "{}")
    shared = _Shared(run, given)
    for symbol in sorted(_FUNCTIONS & set(run.lacking.found)):
        place, asked = run.lacking.found[symbol]
        missing = any_of(*(all_of(w, negate(all_of(*has))) for w, has in asked.items()))
        wish = f"{symbol.split('.')[-1].strip('_')}_lacks"
        known = shared.let(wish, shared.expanded(missing))
        run.log.need(raw("crash", "AttributeError"), all_of(run.guard(), given, known), place)


class _Shared:
    """Named results that every construction of ModelConfig reads: they depend on facts alone."""

    def __init__(self, run: Run, given: Operand) -> None:
        self.run, self.given = run, given
        self.memo: dict[Expr, Operand] = {}

    def let(self, wish: str, meaning: Operand) -> Operand:
        """The name of a result, the same for the same result."""
        if not isinstance(meaning, Expr):
            return meaning
        known = self.run.told_lacking.get(meaning)
        if known is None:
            place = self.run.place()
            known = self.run.log.let(wish, meaning, self.given, place)
            self.run.told_lacking[meaning] = known
        return known

    def expanded(self, operand: Operand) -> Operand:
        """An operand that no longer reads the named results of this construction."""
        if not isinstance(operand, Expr):
            return operand
        if operand not in self.memo:
            self.memo[operand] = self._expanded(operand)
        return self.memo[operand]

    def _expanded(self, term: Expr) -> Operand:
        if term.op != "ref" or term not in self.run.log.meaning:
            return rebuild(term, self.expanded)
        meaning = self.expanded(self.run.log.meaning[term])
        if isinstance(meaning, Expr) and _asks_for_names(meaning):
            return self.let(str(term.args[0]), meaning)
        return meaning


def _asks_for_names(term: Expr) -> bool:
    """Whether a term only looks at which architectures and attributes there are: it cannot fail."""
    return all(
        part.op in _HARMLESS or (part.op == "attr" and part.args[1] == "architectures")
        for part in walk(term)
    )
