"""Reading upstream's statements forward.

A statement gives outcomes: it goes on, returns, breaks or continues, each under a condition
relative to where the statement began, with the state that holds there. A ``raise`` has no outcome:
it adds a refusal and ends its path. The paths that survive do not carry "did not raise" in their
guards; the order of the steps says that.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Expr, Operand, all_of, if_, negate, node, raw
from kvsolve.upstream.reader import (
    attributes,
    calls,
    classes,
    expressions,
    iteration,
    loops,
    messages,
    names,
    operators,
    overridden,
    tries,
)
from kvsolve.upstream.reader.modules import imports_of
from kvsolve.upstream.reader.nodes import nodes_of
from kvsolve.upstream.reader.state import Sequence, State, Table
from kvsolve.upstream.reader.values import (
    ClassValue,
    Dead,
    Ended,
    External,
    Frame,
    FunctionValue,
    HeapRef,
    Union,
    Unreadable,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kvsolve.upstream.reader.run import Run

__all__ = [
    "Outcome",
    "Outcomes",
    "assign",
    "attempt",
    "block",
    "bound_names",
    "forget",
    "give_up",
    "join",
    "raise_",
    "require",
]

_STATE_NAMED_ABOVE = 24
_CHANGING = frozenset(
    ["add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault",
     "sort", "update"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a statement can end.

    Attributes:
        kind: ``next``, ``return``, ``break`` or ``continue``.
        when: Condition relative to the statement's begin.
        state: The state there.
        value: What is returned; for ``next``, a term that is known to hold from here on.
    """

    kind: str
    when: Operand
    state: State
    value: Value = None

    def within(self, condition: Operand) -> Outcome:
        """The same outcome seen from outside of a condition."""
        return Outcome(self.kind, all_of(condition, self.when), self.state, self.value)


Outcomes = list[Outcome]


def going_on(run: Run, known: Operand | None = None) -> Outcomes:
    """The one outcome of a plain statement."""
    return [Outcome("next", True, run.state, known)]


def block(run: Run, body: Iterable[ast.stmt], frame: Frame) -> Outcomes:
    """Read statements one after the other."""
    outcomes: Outcomes = []
    live: Operand = True
    depth = len(run.path)
    try:
        for statement in body:
            follow = None
            for outcome in _guarded(run, statement, frame):
                if outcome.kind == "next":
                    follow = outcome
                else:
                    outcomes.append(outcome.within(live))
            if follow is None:
                return outcomes
            run.state = follow.state
            if follow.when is not True:
                when = run.named(f"{_caller_name(run)}_goes_on", follow.when, _STATE_NAMED_ABOVE)
                live = all_of(live, when)
                if live is False:
                    return outcomes
                run.enter(when)
            elif isinstance(follow.value, Expr):
                run.enter(True, follow.value)
        outcomes.append(Outcome("next", live, run.state))
        return outcomes
    finally:
        while len(run.path) > depth:
            run.leave()


def _caller_name(run: Run) -> str:
    return run.calls[-1].function.name.strip("_") if run.calls else "module"


def _guarded(run: Run, statement: ast.stmt, frame: Frame) -> Outcomes:
    """Read one statement; one that cannot be read leaves opaque names and a gap."""
    if run.calls:
        run.calls[-1].line = statement.lineno
    return attempt(run, statement, frame, lambda: _read(run, statement, frame))


def attempt(run: Run, statement: ast.stmt, frame: Frame, read: Callable[[], Outcomes]) -> Outcomes:
    """Read a statement in some way; where that fails, what it changes becomes opaque."""
    before, depth, mark = dict(run.state), run.depth(), len(run.log.steps)
    try:
        return read()
    except Dead as dead:
        run.restore(depth)
        if not isinstance(dead, Ended):
            raise_(run, dead.args[0], ())
        return []
    except Unreadable as error:
        run.restore(depth)
        run.log.rollback(mark)
        run.gap(str(error)[:100], statement)
        run.state = before
        give_up(run, [statement], frame)
        if isinstance(statement, ast.Return):
            label = f"{frame.module.name.split('.')[-1]}.{_caller_name(run)}()"
            return [Outcome("return", True, run.state, raw("opaque", label))]
        return going_on(run)


def give_up(run: Run, body: list[ast.stmt], frame: Frame) -> None:
    """What unread statements assign or change becomes opaque."""
    changed = {name for name in changed_names(body) if _is_object(run, frame, name)}
    forget(run, bound_names(body) | changed, frame)


def forget(run: Run, names: set[str], frame: Frame) -> None:
    """Make local names opaque."""
    for name in sorted(names):
        label = f"{frame.module.name.split('.')[-1]}.{_caller_name(run)}.{name}"
        run.state["local", frame.number, name] = run.unknown() if run.wary else raw("opaque", label)


def _is_object(run: Run, frame: Frame, name: str) -> bool:
    value = run.state.get(("local", frame.number, name))
    return isinstance(value, (HeapRef, Union)) or (run.beyond and isinstance(value, Expr))


def changed_names(body: Iterable[ast.stmt]) -> set[str]:
    """Names of objects that statements change: by a method, an item or an attribute."""
    found: set[str] = set()
    for statement in body:
        for n in nodes_of(statement):
            changes = isinstance(n, ast.Attribute) and (
                n.attr in _CHANGING or isinstance(n.ctx, ast.Store)
            )
            changes = changes or (isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
            if changes and isinstance(n.value, ast.Name):  # type: ignore[attr-defined]
                found.add(n.value.id)  # type: ignore[attr-defined]
    return found


def bound_names(body: Iterable[ast.stmt]) -> set[str]:
    """Names that statements assign."""
    return {
        n.id
        for statement in body
        for n in nodes_of(statement)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _read(run: Run, statement: ast.stmt, frame: Frame) -> Outcomes:
    method = _READ.get(type(statement))
    if method is None:
        raise Unreadable(f"statement {type(statement).__name__}")
    return method(run, statement, frame)


def require(run: Run, value: Value) -> None:
    """Note that upstream evaluates something here that can fail on an unset flag."""
    if run.quiet or any(h.catches for h in run.handlers) or not isinstance(value, Expr):
        return
    if not run.can_fail(value) or not run.known(value):
        return
    if calls.facts_only(run, value) and (run.building or run.flags_of(run.guard()) <= _MODEL_FLAGS):
        overridden.note(run, value)
        return  # it fails for a model that no flag can serve
    key = ("need", value)
    if any(key in level for level in run.shared):
        return
    run.shared[-1][key] = True
    run.log.need(value, run.guard(), run.place())


def raise_(run: Run, exception: str, words: tuple[str, ...], exact: bool = True) -> None:
    """Upstream raises on the path being read."""
    guard = run.guard()
    if guard is False:
        return
    names = run.lineage(exception)
    for handler in reversed(run.handlers):
        clause = handler.clause_for(names)
        if clause is not None:
            handler.caught.append((guard, dict(run.state), clause))
            return
    if words or exact is not True or exception not in _CRASHES:
        run.log.refuse(exception, guard, run.place(), words)
    else:
        run.log.need(raw("crash", exception), guard, run.place())


def raise_if_caught(run: Run, exception: str, when: Operand) -> None:
    """Upstream raises under a condition, and a ``try`` around takes it."""
    when = run.assumed.condition(when)
    if when is not False and is_caught(run, exception):
        with run.under(when):
            raise_(run, exception, ())


def is_caught(run: Run, exception: str) -> bool:
    """Tell whether a ``try`` around takes an exception."""
    names = run.lineage(exception)
    return any(handler.clause_for(names) is not None for handler in run.handlers)


def break_where(run: Run, condition: Operand, exception: str) -> None:
    """Something outside of the release breaks here under a condition on the machine."""
    when = run.assumed.condition(condition)
    if when is False or run.quiet:
        return
    with run.under(when):
        if is_caught(run, exception):
            raise_(run, exception, ())
        else:
            run.log.need(raw("crash", exception), run.guard(), run.place())


_MODEL_FLAGS = frozenset({"model_path", "tokenizer_path"})
_CRASHES = frozenset({"AttributeError", "TypeError", "KeyError", "IndexError", "ZeroDivisionError"})


def _pass(run: Run, statement: ast.stmt, frame: Frame) -> Outcomes:
    return going_on(run)


def _expression(run: Run, statement: ast.Expr, frame: Frame) -> Outcomes:
    if not isinstance(statement.value, ast.Constant) and not _grown(run, statement.value, frame):
        require(run, expressions.evaluate(run, statement.value, frame))
        if run.beyond:
            forget(run, _changed_terms(run, statement.value, frame), frame)
    return going_on(run)


def _changed_terms(run: Run, tree: ast.expr, frame: Frame) -> set[str]:
    """The name of a term that a method changes, ``name.pop(x)``: it is not the same afterwards."""
    match tree:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            value = run.state.get(("local", frame.number, name))
            return {name} if method in _CHANGING and isinstance(value, Expr) else set()
    return set()


def _grown(run: Run, tree: ast.expr, frame: Frame) -> bool:
    """``name.append(x)`` on a list that is only known at run time: the name gets a longer one."""
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Attribute):
        return False
    target, method = tree.func.value, tree.func.attr
    if not isinstance(target, ast.Name) or method not in ("append", "extend"):
        return False
    present = names.lookup(run, target.id, frame)
    if not isinstance(present, Expr) or present.op not in ("collect", "call", "add", "ref", "if"):
        return False
    added = expressions.evaluate(run, tree.args[0], frame)
    more = run.new_list([added]) if method == "append" else added
    longer = node("add", present, run.operand(more))
    assign(run, ast.Name(target.id, ast.Store()), run.named(target.id, longer), frame)
    return True


def _function(run: Run, statement: ast.FunctionDef, frame: Frame) -> Outcomes:
    value = FunctionValue(frame.module, statement, frame.number)
    run.state["local", frame.number, statement.name] = value
    return going_on(run)


def _class(run: Run, statement: ast.ClassDef, frame: Frame) -> Outcomes:
    raise Unreadable("a class inside a function")


def _import(run: Run, statement: ast.Import | ast.ImportFrom, frame: Frame) -> Outcomes:
    for name, imported in imports_of(statement, frame.module.package):
        run.state["local", frame.number, name] = names.follow(run, imported)
    return going_on(run)


def _assign(run: Run, statement: ast.Assign, frame: Frame) -> Outcomes:
    value = expressions.evaluate(run, statement.value, frame)
    require(run, value)
    if isinstance(statement.targets[0], ast.Name):
        value = run.named(statement.targets[0].id, value)
    if run.beyond:
        forget(run, _changed_terms(run, statement.value, frame), frame)
    for target in statement.targets:
        assign(run, target, value, frame)
    return going_on(run)


def _annotated(run: Run, statement: ast.AnnAssign, frame: Frame) -> Outcomes:
    if statement.value is not None:
        value = expressions.evaluate(run, statement.value, frame)
        require(run, value)
        assign(run, statement.target, value, frame)
    return going_on(run)


def _augmented(run: Run, statement: ast.AugAssign, frame: Frame) -> Outcomes:
    target = ast.parse(ast.unparse(statement.target), mode="eval").body
    present = expressions.evaluate(run, target, frame)
    added = expressions.evaluate(run, statement.value, frame)
    payload = run.payload(present) if isinstance(present, HeapRef) else None
    if isinstance(payload, Sequence) and payload.kind == "list" and iteration.iterable(run, added):
        more = (*payload.items, *iteration.items(run, added))
        run.store(present, Sequence("list", more, payload.label))
        return going_on(run)
    value = operators.binary(run, type(statement.op), present, added)
    require(run, value)
    assign(run, statement.target, value, frame)
    return going_on(run)


def _return(run: Run, statement: ast.Return, frame: Frame) -> Outcomes:
    value = expressions.evaluate(run, statement.value, frame) if statement.value else None
    require(run, value)
    return [Outcome("return", True, run.state, value)]


def _raise(run: Run, statement: ast.Raise, frame: Frame) -> Outcomes:
    _reach(run, statement)
    name = exception_name(statement.exc)
    _learn_lineage(run, name, statement.exc, frame)
    raise_(run, name, messages.words(statement.exc), exact=False)
    return []


def _learn_lineage(run: Run, name: str, tree: ast.expr | None, frame: Frame) -> None:
    """Note what an exception class of the release is derived from."""
    made = tree.func if isinstance(tree, ast.Call) else tree
    if name not in run.exceptions and isinstance(made, (ast.Name, ast.Attribute)):
        try:
            cls = expressions.evaluate(run, made, frame)
        except (Unreadable, Dead):
            return
        if isinstance(cls, ClassValue):
            run.exceptions[name] = tuple(classes.lineage(run, cls))


def exception_name(tree: ast.expr | None) -> str:
    """The name of what a ``raise`` raises."""
    if tree is None:
        return "Exception"
    return ast.unparse(tree.func if isinstance(tree, ast.Call) else tree).split(".")[-1]


def _reach(run: Run, statement: ast.stmt) -> None:
    if run.guard() is False:
        return
    place = run.place()
    run.reached.setdefault((place.file, statement.lineno), True)


def _assert(run: Run, statement: ast.Assert, frame: Frame) -> Outcomes:
    holds = expressions.condition(run, statement.test, frame)
    _reach(run, statement)
    run.calls[-1].line = statement.test.lineno  # that is what a traceback tells
    require(run, holds)
    fails = run.assumed.condition(negate(holds))
    if fails is False:
        _never(run, [statement])
        return going_on(run)
    with run.under(fails):
        raise_(run, "AssertionError", messages.words(statement.msg), exact=False)
    return going_on(run, holds) if isinstance(fails, Expr) else []


def _if(run: Run, statement: ast.If, frame: Frame) -> Outcomes:
    test = expressions.condition(run, statement.test, frame)
    if not isinstance(test, Expr):
        _never(run, statement.orelse if test else statement.body)
        return block(run, statement.body if test else statement.orelse, frame)
    require(run, test)
    test = _named_test(run, test)
    before = run.state
    run.state = dict(before)
    with run.under(test):
        then = block(run, statement.body, frame)
    run.state = dict(before)
    with run.under(negate(test)):
        other = block(run, statement.orelse, frame) if statement.orelse else going_on(run)
    return join(run, test, then, other)


def _never(run: Run, body: Iterable[ast.stmt]) -> None:
    """Note the refusals that reading came to and found never to hold."""
    for statement in body if run.wary else ():
        if isinstance(statement, (ast.Raise, ast.Assert)):
            place = run.place()
            run.held.add((place.file, statement.lineno, place.symbol))
        elif isinstance(statement, ast.If):
            _never(run, (*statement.body, *statement.orelse))


def _named_test(run: Run, test: Expr) -> Expr:
    value = run.named(f"{_caller_name(run)}_case", test, _STATE_NAMED_ABOVE)
    return value if isinstance(value, Expr) else test


def join(run: Run, test: Expr, then: Outcomes, other: Outcomes) -> Outcomes:
    """The outcomes behind a branch."""
    inverse = negate(test)
    ends = [o.within(test) for o in then if o.kind != "next"]
    ends += [o.within(inverse) for o in other if o.kind != "next"]
    on_then = next((o for o in then if o.kind == "next"), None)
    on_other = next((o for o in other if o.kind == "next"), None)
    if on_then and on_other:
        certain = on_then.when is True and on_other.when is True
        when = True if certain else if_(test, on_then.when, on_other.when)
        ends.append(Outcome("next", when, run.merge(test, on_then.state, on_other.state)))
    elif on_then:
        ended = any(o.kind != "next" for o in other)
        when = all_of(test, on_then.when) if ended else on_then.when
        ends.append(Outcome("next", when, on_then.state, test))
    elif on_other:
        ended = any(o.kind != "next" for o in then)
        when = all_of(inverse, on_other.when) if ended else on_other.when
        ends.append(Outcome("next", when, on_other.state, inverse))
    return ends


def merge_outcomes(run: Run, outcomes: list[tuple[Operand, State]]) -> State:
    """One state out of several under disjoint conditions."""
    state = outcomes[-1][1]
    for when, earlier in reversed(outcomes[:-1]):
        state = run.merge(when, earlier, state)
    return state


def _with(run: Run, statement: ast.With, frame: Frame) -> Outcomes:
    for entry in statement.items:
        try:
            value = expressions.evaluate(run, entry.context_expr, frame)
        except Unreadable:
            value = raw("opaque", "context")
        if entry.optional_vars is not None:
            opened = isinstance(value, (External, FunctionValue))
            assign(run, entry.optional_vars, raw("opaque", "context") if opened else value, frame)
    return block(run, statement.body, frame)


def assign(run: Run, target: ast.expr, value: Value, frame: Frame) -> None:
    """Bind a target to a value."""
    if isinstance(target, ast.Name):
        number = frame.number
        while target.id in frame.nonlocals and number is not None:
            number = run.parents.get(number)
            if ("local", number, target.id) in run.state:
                break
        run.state["local", number, target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(run, target, value, frame)
    elif isinstance(target, ast.Attribute):
        attributes.write(run, expressions.evaluate(run, target.value, frame), target.attr, value)
    elif isinstance(target, ast.Subscript):
        owner = expressions.evaluate(run, target.value, frame)
        write_item(run, owner, expressions.evaluate(run, target.slice, frame), value)
    else:
        raise Unreadable(f"assignment to {type(target).__name__}")


def _unpack(run: Run, target: ast.Tuple | ast.List, value: Value, frame: Frame) -> None:
    if isinstance(value, (Expr, Union)):
        for position, part in enumerate(target.elts):
            assign(run, part, attributes.item(run, value, position), frame)
        return
    found = iteration.items(run, value)
    if len(found) != len(target.elts) or any(isinstance(t, ast.Starred) for t in target.elts):
        raise Unreadable("unpacking")
    for part, (_, item) in zip(target.elts, found, strict=True):
        assign(run, part, item, frame)


def write_item(run: Run, owner: Value, key: Value, value: Value) -> None:
    """``owner[key] = value``."""
    if isinstance(owner, External) and owner.name == "os.environ" and isinstance(key, str):
        run.state["env", key] = (True, value)
        return
    if isinstance(owner, External) and owner.name == "server_args.__dict__":
        run.state["raw", key] = value
        return
    payload = run.payload(owner) if isinstance(owner, HeapRef) else None
    if isinstance(payload, Table):
        entries = {**payload.entries, run.operand(key): (True, value)}
        run.store(owner, Table(entries, payload.label))
        return
    if isinstance(payload, Sequence) and payload.certain and isinstance(key, int):
        kept = list(payload.items)
        kept[key] = (True, value)
        run.store(owner, Sequence(payload.kind, tuple(kept), payload.label))
        return
    raise Unreadable("an item written into a container that is only known at run time")


_READ: dict[type[ast.stmt], Callable[[Run, Any, Frame], Outcomes]] = {
    ast.Pass: _pass,
    ast.Global: _pass,
    ast.Nonlocal: _pass,
    ast.Delete: _pass,
    ast.Expr: _expression,
    ast.FunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.If: _if,
    ast.With: _with,
    ast.For: lambda run, statement, frame: loops.read_for(run, statement, frame),
    ast.Try: lambda run, statement, frame: tries.read_try(run, statement, frame),
    ast.Break: lambda run, statement, frame: [Outcome("break", True, run.state)],
    ast.Continue: lambda run, statement, frame: [Outcome("continue", True, run.state)],
}
