"""Reading on after argument resolution: what the process that serves refuses at a later stage.

The state is what resolution left. Upstream's functions are read from the middle, with arguments
that a hand-written runner says; nothing gets a name or is written, so that each refusal's guard
stands alone over the final flags and the facts. A refusal becomes a step only where its guard is
exact, short, and can be made safe to evaluate; the others are told by :attr:`Later.told`.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, all_of, any_of, node, raw, walk
from kvsolve.model.program import Let, Place, Refuse, Set
from kvsolve.model.syntax import render
from kvsolve.upstream.reader import choices, special
from kvsolve.upstream.reader.bags import WIDTHS, bag_of, width
from kvsolve.upstream.reader.fingerprint import canonical
from kvsolve.upstream.reader.log import weight
from kvsolve.upstream.reader.nodes import nodes_of
from kvsolve.upstream.reader.safety import never, plain, safe_guard, tight
from kvsolve.upstream.reader.state import parts
from kvsolve.upstream.reader.values import (
    ClassValue,
    ConfigObject,
    Dead,
    External,
    FunctionValue,
    HeapRef,
    ModuleValue,
    Unreadable,
    Value,
    View,
    is_operand,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvsolve.upstream.reader.run import Run
    from kvsolve.upstream.reader.state import State

__all__ = ["Later", "one_of", "read_later"]

_BELOW = "sglang/srt/"
_ENDED = ("local", "heap")
_LASTING = (FunctionValue, ClassValue, ModuleValue, External)
_LONGEST = 160
_FOLLOWED = 4_000
_KEY = 12
_RANK = ("", "never", "model", "opaque", "exact")
_STRICT = frozenset(["helper", "var", "any", "isinstance"])
_UNKNOWN = frozenset(["opaque", "crash", "collect", "env", "env_is_set"])
_JSON = frozenset(["str", "int", "float", "bool", "list", "dict", "NoneType"])
"""What an exact guard is free of. A variable is left out because no table of a release tells what
its absence means past resolution (where upstream itself says it, in what a flag leads to, it is
known), a class because configurations are known by their content."""
_BAGS = (
    "get_device get_model get_exec get_schedule get_memory get_spec get_lora get_mm get_disagg"
    " get_serving get_observability"
)


@dataclass(slots=True)
class Later:
    """What was read past argument resolution.

    Attributes:
        skip: Whether a premise and guard have an entry already that was written by hand.
        by_hand: File and line of statements that entries written by hand stand for.
        wary: Whether only statements of upstream are taken up, and what was not followed counts
            as unknown in every question; see :attr:`Run.wary`.
        said: Whether only statements of upstream are taken up, and what the premise says is
            assumed.
        led: Whether a flag in the premise counts as asked, which says the value of one.
        followed: How many statements that refuse were met last before one that may lead past
            what comes after it; None where there was none such.
        told: File and line of every statement met (as a traceback names it), with what its
            guards are (``exact``, ``opaque``, ``model`` where no flag takes part, or ``never``
            where none ever holds), and stage.
    """

    run: Run
    skip: Callable[[Operand, Operand], bool] = lambda premise, guard: False
    by_hand: frozenset[tuple[str, int]] = frozenset()
    wary: bool = False
    said: bool = False
    led: bool = False
    followed: int | None = None
    told: dict[tuple[str, int], tuple[str, str]] = field(default_factory=dict)
    _lines: dict[str, frozenset[int]] = field(default_factory=dict)
    _premises: dict[tuple[Place, str, Operand, tuple[str, ...], str], list[Operand]] = field(
        default_factory=dict
    )

    def read(
        self,
        stage: str,
        premise: Operand,
        action: Callable[[], Value],
        unread: tuple[str, ...],
        *,
        within: tuple[str, ...] = ("",),
        entered: frozenset[str] = frozenset(),
        known: Operand = True,
    ) -> set[str]:
        """Read something under a premise, and take up what it refuses.

        Args:
            stage: Stage of its refusals.
            premise: When upstream comes here at all.
            action: Reads, in the run that this belongs to.
            unread: Prefixes of modules that are not entered.
            within: Beginnings of ``file:symbol``; what other functions refuse is left alone.
            entered: Names of functions and classes there that are entered all the same.
            known: What the premise means in other terms, which is assumed too.

        Returns:
            The names that were given while it was read, and that nothing can speak of afterwards.
        """
        run = self.run
        mark, gaps, depth, before = len(run.log.steps), len(run.gaps), run.depth(), run.state
        run.state = dict(before)
        run.quiet += 1
        run.unread, run.entered, run.lost = unread, entered, None
        run.wary, run.beyond = self.wary, not self.wary
        run.held = set()
        if self.wary or self.said:
            run.enter(True, all_of(premise, known))
        try:
            action()
        except (Dead, Unreadable, RecursionError):
            run.restore(depth)
        finally:
            run.restore(depth)
            run.quiet -= 1
            run.unread, run.entered = (), frozenset()
            run.wary, run.beyond = False, True
            run.state = before
            del run.gaps[gaps:]
        new = run.log.steps[mark:]
        followed = len(new) if run.lost is None else run.lost - mark
        self.followed = followed if run.lost is not None else None
        run.log.rollback(mark)
        local = {step.name for step in new if isinstance(step, (Let, Set))}
        for file, line, symbol in sorted(run.held):
            # Elsewhere others may call, with other arguments.
            if self.wary and f"{file}:{symbol}".startswith(within):
                self.told.setdefault((file, line), ("never", stage))
        for number, step in enumerate(new):
            careful = self.wary or self.said
            if not isinstance(step, Refuse) or (careful and not self._is_said(step)):
                continue
            if f"{step.place.file}:{step.place.symbol}".startswith(within):
                self._take(step, stage, premise, local, followed=number < followed)
        return local

    def exact(self, condition: Operand, local: set[str]) -> Operand | None:
        """A condition as an entry could ask it; None where something in it is not known."""
        return self._exact(condition, local)

    def _take(
        self, step: Refuse, stage: str, premise: Operand, local: set[str], *, followed: bool
    ) -> None:
        at = (step.place.file, step.place.line)
        guard = self._exact(step.when, local) if followed else None
        if guard is not None and never(all_of(premise, guard)):
            self.told.setdefault(at, ("never", stage))
            return
        if guard is True and (self.wary or self.said) and not self.led:
            guard = None  # nothing that is known decides it
        asks = guard is not None and (self._asks_flags(guard) or self._chosen(premise))
        kind = "opaque" if guard is None else "exact" if asks else "model"
        known = self.told.get(at, ("", ""))[0]
        self.told[at] = (max(kind, known, key=_RANK.index), stage)
        if kind == "exact" and guard is not None and not self._has_entry(at, premise, guard):
            place = Place(step.place.file, step.place.symbol, step.place.line, step.place.symbol)
            key = (place, step.raises, guard, step.words, stage)
            self._premises.setdefault(key, []).append(premise)

    def _has_entry(self, at: tuple[str, int], premise: Operand, guard: Operand) -> bool:
        return at in self.by_hand or self.skip(premise, guard)

    def _is_said(self, step: Refuse) -> bool:
        """Whether upstream says so itself, with a statement; nothing is a crash of the reader's."""
        tree = self.run.tree
        path = step.place.file if tree.exists(step.place.file) else f"{_BELOW}{step.place.file}"
        if path not in self._lines:
            found = nodes_of(tree.parse(path))
            said = [n for n in found if isinstance(n, (ast.Raise, ast.Assert))]
            self._lines[path] = frozenset(
                n.test.lineno if isinstance(n, ast.Assert) else n.lineno for n in said
            )
        return step.place.line in self._lines[path]

    def _chosen(self, premise: Operand) -> bool:
        """Whether a flag leads here, where stages read a premise of their own."""
        return (self.wary or self.led) and bool(self.run.flags_of(premise))

    def _asks_flags(self, guard: Operand) -> bool:
        """Whether a flag takes part; a model that no flag can serve is no matter of flags."""
        return bool(self.run.flags_of(guard))

    def _exact(self, guard: Operand, local: set[str]) -> Operand | None:
        """The guard made safe to evaluate; None where something in it is not known."""
        guard = plain(guard) if weight(guard) <= _FOLLOWED else guard
        careful = self.wary or self.said
        if careful and weight(guard) <= _FOLLOWED:
            guard = tight(guard)
        if not isinstance(guard, Expr):
            return guard
        for term in walk(guard):
            named = term.op == "ref" and term.args[0] in local
            foreign = term.op == "helper" and term.args[0] not in self.run.helpers
            of_class = term.op == "isinstance" and not set(term.args[1:]) <= _JSON
            told = self.led and term.op == "env" and term.args[1] is not None
            if (term.op in _UNKNOWN and not told) or named or foreign or of_class:
                return None
            if self.wary and term.op in _STRICT:
                return None
            if careful and term.op == "fact" and not self._provided(str(term.args[0])):
                return None
        safe = safe_guard(self.run, guard, strict=self.wary)
        return safe if safe is not None and weight(safe) <= _LONGEST else None

    def _provided(self, fact: str) -> bool:
        """Whether a fact is one that a launch tells, by the table of facts."""
        names = self.run.names
        tables = (names.model, names.functions, names.platform, names.constants, names.expressions)
        root = fact.partition(".")[0]
        return root in ("env", "packages") or any(fact in table.values() for table in tables)

    def finish(self) -> list[Refuse]:
        """The steps, one for each statement and guard."""
        return [
            Refuse(raises, when, place, key, words, stage)
            for (place, raises, guard, words, stage), premises in self._premises.items()
            for key in [_digest(stage, raises, guard)]
            if (when := all_of(one_of(premises), guard)) is not False
        ]


def one_of(premises: list[Operand]) -> Operand:
    """Any of several premises: those that differ in one name ask whether it is one of several."""
    premises = [p for p in dict.fromkeys(premises) if not any(_is_part(q, p) for q in premises)]
    groups: dict[tuple[Operand, tuple[Operand, ...], int], list[str]] = {}
    for premise in premises:
        parts = premise.args if isinstance(premise, Expr) and premise.op == "and" else (premise,)
        for at, part in enumerate(parts):
            if isinstance(part, Expr) and part.op == "eq" and isinstance(part.args[1], str):
                rest = (*parts[:at], *parts[at + 1 :])
                groups.setdefault((part.args[0], rest, at), []).append(part.args[1])
    if not groups:
        return any_of(*premises)
    (term, rest, at), names = max(groups.items(), key=lambda group: len(group[1]))
    if len(names) < 2:
        return any_of(*premises)
    among = all_of(*rest[:at], node("in", term, tuple(sorted(names))), *rest[at:])
    merged = {all_of(*rest[:at], node("eq", term, name), *rest[at:]) for name in names}
    return any_of(among, one_of([p for p in premises if p not in merged]))


def _is_part(wider: Operand, premise: Operand) -> bool:
    """Whether a premise asks for more than another one."""
    parts = premise.args if isinstance(premise, Expr) and premise.op == "and" else ()
    own = wider.args if isinstance(wider, Expr) and wider.op == "and" else (wider,)
    return len(own) < len(parts) and all(part in parts for part in own)


def _digest(stage: str, raises: str, guard: Operand) -> str:
    """Models that ask the same thing share the fingerprint, wherever each asks it."""
    text = f"{stage}|{raises}|{render(canonical(guard))}"
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY]


@contextmanager
def read_later(run: Run) -> Iterator[Later]:
    """Read past the end of resolution; the run is afterwards as it was before."""
    before, globals_before = run.state, run.globals
    settled = run.settled
    run.settled, run.state = _settle(run, _remaining({**settled, **before}))
    run.globals = {k: v for k, v in globals_before.items() if isinstance(v, _LASTING)}
    handlers = {**_HANDLERS, **choices.HANDLERS}
    hidden = {name: special.SPECIAL.get(name) for name in handlers}
    special.SPECIAL.update(handlers)
    run.beyond = True
    try:
        yield Later(run)
    finally:
        run.beyond = False
        run.globals = globals_before
        for name, handler in hidden.items():
            if handler is None:
                del special.SPECIAL[name]
            else:
                special.SPECIAL[name] = handler
        run.settled, run.state = settled, before


def _settle(run: Run, state: State) -> tuple[State, State]:
    """What fields are from here on, and the rest of a state."""
    settled = {key: state[key] for key in run.settled}
    for name in run.fields:
        if is_operand(settled["now", name]):
            settled["now", name] = run.log.current(name)
    return settled, {key: value for key, value in state.items() if key not in settled}


def _remaining(state: State) -> State:
    """What a state holds for those who come later: no names of ended calls, no objects of theirs.

    A state is copied and joined at every branch, so what nobody can name any more costs time.
    """
    waiting = [value for key, value in state.items() if key[0] not in _ENDED]
    numbers: set[int] = set()
    while waiting:
        value = waiting.pop()
        if isinstance(value, HeapRef) and value.number not in numbers:
            numbers.add(value.number)
            waiting.append(state.get(("heap", value.number)))
        waiting += parts(value)
    return {
        key: value
        for key, value in state.items()
        if key[0] not in _ENDED or (key[0] == "heap" and key[1] in numbers)
    }


def _width_of(name: str) -> Callable[..., Value]:
    def handler(
        run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        return width(run, name)

    return handler


def _flags(run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return View()


def _first(run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return 0


def _layers(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """Layers are alike in what they refuse; the first one is built."""
    from kvsolve.upstream.reader import calls

    asked = _asked_first(function.node)
    if asked is not None:
        calls.inline(run, FunctionValue(function.module, asked), args, kwargs)
    made = kwargs.get("layer_fn", args[1] if len(args) > 1 else None)
    calls.call(run, made, [], {"idx": 0, "prefix": "layers.0"})
    layers = raw("opaque", "layers")
    placed = "pp_rank" in kwargs or len(args) > 2
    return (layers, 0, raw("opaque", "end_layer")) if placed else layers


@cache
def _asked_first(tree: ast.FunctionDef) -> ast.FunctionDef | None:
    """A function of only the assertions that stand in one outside of any branch."""
    asserted = [s for s in tree.body if isinstance(s, ast.Assert)]
    if not asserted:
        return None
    asked = copy.copy(tree)
    asked.body = list(asserted)
    return asked


def _text(run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return "layer"


def _is_fp4(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """Asked of the KV pool's element type only, which a flag says where it is FP4."""
    if not run.wary:
        return NotImplemented
    stored = node("in", run.field("now", "kv_cache_dtype"), ("nvfp4", "fp4_mx_block16"))
    return node("and", raw("fact", "gpu.is_cuda"), stored)


def _family(
    run: Run, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """Asked of the target model, whose family the names of the curated entries tell."""
    asked = isinstance(args[0], ConfigObject) if args else False
    if not run.wary or not args or not (asked or args[0] == raw("fact", "config")):
        return NotImplemented
    return run.families.get(function.name, NotImplemented)


_FAMILIES = (
    "hybrid_gdn_config hybrid_kda_config is_deepseek_dsa is_deepseek_v4 is_minimax_sparse"
    " mambaish_config"
)
_HANDLERS: dict[str, Callable[..., Value]] = {
    "is_float4_e2m1fn_x2": _is_fp4,
    **dict.fromkeys(_FAMILIES.split(), _family),
    **{name: bag_of("flags") for name in _BAGS.split()},
    **{name: _width_of(size) for name, size in WIDTHS.items()},
    "get_parallel": bag_of("parallel"),
    "get_server_args": _flags,
    "get_global_server_args": _flags,
    "get_tensor_model_parallel_rank": _first,
    "get_attention_tp_rank": _first,
    "make_layers": _layers,
    "make_layers_non_pp": _layers,
    "add_prefix": _text,
}
