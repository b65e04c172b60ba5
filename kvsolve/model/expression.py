"""Expressions of the entry language: an interned, folded, side-effect free term graph.

An *operand* is either a Python constant (``None``, booleans, numbers, strings, tuples and frozen
sets of those) or an :class:`Expr`. Equal terms are the same object, so identity is equality and a
dictionary keyed by terms is a dictionary keyed by meaning.

Expressions are *partial*: evaluating one gives a value, or says that upstream would crash there
(:class:`Crash`), or that a fact it needs is not known (:class:`Unknown`). ``and``, ``or`` and the
conditional evaluate from left to right and stop early, like Python's. ``and`` and ``or`` give a
boolean, unlike Python's.

The operations, with their arguments:

==============================  ===================================================================
``ref name version``            a slot of the program: a flag, ``raw.flag`` or a named result
``fact name``                   a fact (``gpu.is_cuda``, ``model.head_dim``, ``config``)
``env name default``            the text of an environment variable
``env_is_set name``             whether it is set at all
``helper name *args``           a fact that depends on arguments
``var n``                       the variable bound by ``any`` or ``collect``
``opaque label``                something the reader could not follow; never known
``crash exception``             upstream raises here without meaning to
``attr x name``                 attribute of a configuration object (crashes where absent)
``getattr x name default``      the same with a default;  ``hasattr x name``
``item x key``, ``slice x a b``  subscripts
``and``, ``or``, ``not``, ``if``  logic; ``if test then else``
``eq ne lt le gt ge in not_in is is_not``  comparisons
``add sub mul floordiv mod truediv pow neg bitor bitand bitxor lshift rshift``  arithmetic
``call function *args``         a function of :data:`FUNCTIONS`
``method x name *args``         a method of :data:`METHODS`
``isinstance x *type names``
``tuple *items``                a tuple with parts that are not constant
``pick c1 v1 c2 v2 ...``        the list of the ``v`` whose ``c`` holds
``table k1 c1 v1 ...``          the dictionary of the entries whose ``c`` holds
``any n iterable body``         some element, bound to ``var n``, makes the body true
``collect kind n iterable condition element``  a list or set comprehension
==============================  ===================================================================
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeAlias

from kvsolve.model.arithmetic import ARITHMETIC, COMPARISONS, FUNCTIONS, Crash, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "ARITHMETIC",
    "COMPARISONS",
    "FUNCTIONS",
    "METHODS",
    "Constant",
    "Crash",
    "Expr",
    "Operand",
    "Unknown",
    "all_of",
    "any_of",
    "can_crash",
    "children",
    "crashes_by_itself",
    "if_",
    "intern",
    "is_boolean",
    "is_constant",
    "key_of",
    "negate",
    "node",
    "rebuild",
    "same",
    "substitute",
    "truth",
    "walk",
]

Constant: TypeAlias = "bool | int | float | str | bytes | tuple[Any, ...] | frozenset[Any] | None"


class Expr:
    """A term: an operation and its arguments. Made by :func:`node` and its relatives only.

    Attributes:
        op: The operation.
        args: Names and operands.
        uid: A number of its own, which stands for the term in the keys of those above it.
        key: The operation and the keys of its arguments.
    """

    __slots__ = ("args", "key", "op", "uid")

    op: str
    args: tuple[Any, ...]
    uid: int
    key: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"Expr({self.op}, {', '.join(map(repr, self.args))})"

    def __reduce__(self) -> tuple[Callable[..., Operand], tuple[Any, ...]]:
        return raw, (self.op, *self.args)


Operand: TypeAlias = "Expr | Constant"


METHODS: frozenset[str] = frozenset(
    {
        "count", "encode", "endswith", "find", "get", "index", "isdigit", "items", "keys", "lower",
        "lstrip", "partition", "replace", "rfind", "rsplit", "rstrip", "split", "splitlines",
        "startswith", "strip", "upper", "values",
    }
)  # fmt: skip

# The leading arguments of these operations are names, not operands.
_NAMED: dict[str, tuple[int, ...]] = {
    "ref": (0, 1),
    "fact": (0,),
    "env": (0,),
    "env_is_set": (0,),
    "helper": (0,),
    "var": (0,),
    "opaque": (0,),
    "crash": (0,),
    "attr": (1,),
    "getattr": (1,),
    "hasattr": (1,),
    "call": (0,),
    "method": (1,),
    "any": (0,),
    "collect": (0, 1),
}
_NAMED_FIRST = {op: len(places) for op, places in _NAMED.items() if places[0] == 0}
_NAMED_SECOND = frozenset(op for op, places in _NAMED.items() if places == (1,))

_INVERSE = {"eq": "ne", "ne": "eq", "in": "not_in", "not_in": "in", "is": "is_not", "is_not": "is"}
_BOOLEAN_OPS = frozenset(
    [*COMPARISONS, "not", "and", "or", "any", "hasattr", "isinstance", "env_is_set"]
)
_TOTAL_CALLS = frozenset(["bool", "reads_as_float", "reads_as_int"])
_BOOLEAN_CALLS = frozenset([*_TOTAL_CALLS, "all", "any"])

# These give a value whatever their arguments are (`in` too, over a constant container).
_TOTAL_OPS = frozenset(
    ["ref", "env", "env_is_set", "var", "and", "or", "not", "if", "eq", "ne", "is", "is_not",
     "tuple", "hasattr", "getattr", "isinstance", "pick", "table"]
)  # fmt: skip

_interned: dict[tuple[Any, ...], Expr] = {}
_boolean: dict[Expr, bool] = {}
_partial: dict[Expr, bool] = {}


def is_constant(value: object) -> bool:
    """Tell whether an operand is a plain value."""
    if isinstance(value, Expr):
        return False
    if isinstance(value, tuple):
        return all(is_constant(part) for part in value)
    return isinstance(value, (type(None), bool, int, float, str, bytes, frozenset))


def key_of(value: object) -> object:
    """What two operands have in common if they are the same, whatever Python's ``==`` says."""
    if isinstance(value, Expr):
        return value.uid
    if isinstance(value, tuple):
        return ("tuple", *(key_of(part) for part in value))
    if isinstance(value, frozenset):
        return ("set", *sorted(map(repr, value)))
    if isinstance(value, float):
        return ("float", repr(value))
    return (type(value).__name__, value)


def raw(op: str, *args: Any) -> Expr:
    """Intern a term as it stands, without folding."""
    key = (op, *[a.uid if type(a) is Expr else key_of(a) for a in args])
    return _interned.get(key) or intern(key, args)


def intern(key: tuple[Any, ...], args: tuple[Any, ...]) -> Expr:
    """The term of a key, made where it was not yet.

    Args:
        key: The operation, then the key of each argument (:func:`key_of`).
        args: The arguments.
    """
    found = _interned.get(key)
    if found is None:
        found = Expr()
        found.op, found.args, found.uid, found.key = key[0], args, -1 - len(_interned), key
        _interned[key] = found
    return found


def lookup(op: str, *args: Any) -> Expr | None:
    """The term if it was ever made, else None; makes nothing."""
    return _interned.get((op, *map(key_of, args)))


def same(a: object, b: object) -> bool:
    """Tell whether two operands are the same term or the same constant of the same type."""
    if a is b:
        return True
    if isinstance(a, Expr) or isinstance(b, Expr):
        return False
    return type(a) is type(b) and a == b


def is_boolean(value: object) -> bool:
    """Tell whether an operand can only be ``True`` or ``False``."""
    if not isinstance(value, Expr):
        return isinstance(value, bool)
    found = _boolean.get(value)
    if found is None:
        found = (
            value.op in _BOOLEAN_OPS
            or (value.op == "if" and is_boolean(value.args[1]) and is_boolean(value.args[2]))
            or (value.op == "call" and value.args[0] in _BOOLEAN_CALLS)
        )
        _boolean[value] = found
    return found


def can_crash(operand: Operand) -> bool:
    """Tell whether evaluating an operand may crash or need an unknown; errs on the side of yes."""
    if not isinstance(operand, Expr):
        return isinstance(operand, tuple) and any(can_crash(part) for part in operand)
    found = _partial.get(operand)
    if found is None:
        found = crashes_by_itself(operand) or any(can_crash(c) for c in children(operand))
        _partial[operand] = found
    return found


def crashes_by_itself(term: Expr) -> bool:
    """Tell whether a term's own operation may have no value, its operands left aside."""
    if term.op in ("in", "not_in"):
        return not (isinstance(term.args[1], tuple) and is_constant(term.args[1]))
    return term.op not in _TOTAL_OPS and not (term.op == "call" and term.args[0] in _TOTAL_CALLS)


def truth(value: Operand) -> Operand:
    """``bool(value)`` as an operand."""
    if not isinstance(value, Expr):
        return bool(value)
    return value if is_boolean(value) else raw("call", "bool", value)


def negate(value: Operand) -> Operand:
    """``not value``."""
    if not isinstance(value, Expr):
        return not value
    if value.op == "not":
        return truth(value.args[0])
    if value.op == "call" and value.args[0] == "bool":
        return raw("not", value.args[1])
    inverse = _INVERSE.get(value.op)
    return raw(inverse, *value.args) if inverse else raw("not", value)


def _opposite(value: Expr) -> Expr | None:
    """The already made negation of a term, if there is one."""
    if value.op == "not":
        inner = value.args[0]
        return inner if isinstance(inner, Expr) else None
    inverse = _INVERSE.get(value.op)
    return _interned.get((inverse, *value.key[1:]) if inverse else ("not", value.uid))


def _refuted(terms: Iterable[Expr]) -> set[Expr]:
    """The already made terms of which one of these is the :func:`_opposite`."""
    found = set[Expr]()
    for term in terms:
        inverse = _INVERSE.get(term.op)
        inner = term.args[0] if term.op == "not" else None
        if isinstance(inner, Expr) and inner.op != "not" and inner.op not in _INVERSE:
            found.add(inner)
        for key in (("not", term.uid), (inverse, *term.key[1:])):
            if (made := _interned.get(key)) is not None:
                found.add(made)
    return found


def _all_terms(args: tuple[Operand, ...]) -> bool:
    return all(isinstance(x, Expr) for x in args)


def _flatten(op: str, values: Iterable[Operand]) -> Iterator[Operand]:
    for value in values:
        bare = _bare(value)
        if isinstance(bare, Expr) and bare.op == op:
            yield from bare.args
        else:
            yield bare


def _bare(value: Operand) -> Operand:
    """What a truth value is made of, for places where only the truth matters."""
    while isinstance(value, Expr) and value.op == "call" and value.args[0] == "bool":
        value = value.args[1]
    return value


def all_of(*values: Operand) -> Operand:
    """Conjunction, in order. A false constant ends it: what stands before it may still crash,
    but upstream's refusal cannot come from it, so it is dropped."""
    kept: dict[Expr, None] = {}
    for value in _flatten("and", values):
        if not isinstance(value, Expr):
            if value:
                continue
            return False
        opposite = _opposite(value)
        if opposite is not None and opposite in kept:
            return False
        kept[value] = None
    if not kept:
        return True
    if len(kept) == 1:
        return truth(next(iter(kept)))
    return raw("and", *kept)


def any_of(*values: Operand) -> Operand:
    """Disjunction, in order, with ``a or (not a and b)`` reduced to ``a or b``."""
    kept: dict[Expr, None] = {}
    for value in _flatten("or", values):
        if not isinstance(value, Expr):
            if value:
                return True
            continue
        opposite = _opposite(value)
        if opposite is not None and opposite in kept:
            return True
        kept[value] = None
    if not kept:
        return False
    if len(kept) == 1:
        return truth(next(iter(kept)))
    reduced: dict[Expr, None] = {}
    refuted = _refuted(kept)
    for value in kept:
        part: Operand = value
        if value.op == "and" and not refuted.isdisjoint(value.args) and _all_terms(value.args):
            part = all_of(*(x for x in value.args if x not in refuted))
        if not isinstance(part, Expr):
            if part:
                return True
            continue
        reduced[part] = None
    if reduced.keys() != kept.keys():
        return any_of(*reduced)
    return truth(next(iter(reduced))) if len(reduced) == 1 else raw("or", *reduced)


def if_(test: Operand, then: Operand, other: Operand) -> Operand:
    """The conditional, folded where the outcome does not depend on the test."""
    test = _bare(test)
    if not isinstance(test, Expr):
        return then if test else other
    if same(then, other):
        return then
    if test.op == "not":
        return if_(test.args[0], other, then)
    if isinstance(then, Expr) and then.op == "if" and then.args[0] is test:
        then = then.args[1]
    if isinstance(other, Expr) and other.op == "if" and other.args[0] is test:
        other = other.args[2]
    if same(then, other):
        return then
    if is_boolean(then) and is_boolean(other):
        if then is True:
            return truth(any_of(test, other))
        if then is False:
            return truth(all_of(negate(test), other))
        if other is True:
            return truth(any_of(negate(test), then))
        if other is False:
            return truth(all_of(test, then))
    if isinstance(other, Expr) and other.op == "if" and same(other.args[1], then):
        return if_(any_of(test, other.args[0]), then, other.args[2])
    return raw("if", test, then, other)


_distributed: dict[tuple[Any, ...], Operand] = {}


def _distribute(op: str, value: Operand, constant: Constant) -> Operand:
    """Push a comparison with a constant into a conditional whose branches are constants."""
    if not isinstance(value, Expr):
        return node(op, value, constant)
    if value.op != "if" or not (is_constant(value.args[1]) or is_constant(value.args[2])):
        return raw(op, value, constant)
    key = (op, value, key_of(constant))
    found = _distributed.get(key)
    if found is None:
        test, then, other = value.args
        found = if_(test, _distribute(op, then, constant), _distribute(op, other, constant))
        _distributed[key] = found
    return found


def _compare(op: str, a: Operand, b: Operand) -> Operand:
    if op in ("in", "not_in") and isinstance(b, (tuple, frozenset)) and is_constant(b):
        if not b:
            return op == "not_in"
        if len(b) == 1:
            return _compare("eq" if op == "in" else "ne", a, next(iter(b)))
    if isinstance(a, Expr):
        if a is b and not can_crash(a):
            if op in ("eq", "is"):
                return True
            if op in ("ne", "is_not"):
                return False
        if a.op == "if" and is_constant(b):
            return _distribute(op, a, b)  # type: ignore[arg-type]
    elif isinstance(b, Expr) and op in ("eq", "ne"):
        return _compare(op, b, a)
    return raw(op, a, b)


def node(op: str, *args: Any) -> Operand:
    """Make a term, folded as far as its arguments allow.

    An operation on constants that raises gives a ``crash`` term with the exception's name, since
    upstream would raise there too.
    """
    if op == "not":
        return negate(args[0])
    if op == "and":
        return all_of(*args)
    if op == "or":
        return any_of(*args)
    if op == "if":
        return if_(*args)
    if op in COMPARISONS or op in ARITHMETIC:
        if all(is_constant(a) for a in args):
            return _folded(COMPARISONS.get(op) or ARITHMETIC[op], *args)
        return _compare(op, *args) if op in COMPARISONS else raw(op, *args)
    if op == "tuple" and all(is_constant(a) for a in args):
        return tuple(args)
    if op == "call" and all(is_constant(a) for a in args[1:]):
        if args[0] == "bool":
            return bool(args[1])
        if args[0] not in ("range", "dict", "list", "sorted", "json"):
            return _folded(FUNCTIONS[args[0]], *args[1:])
    if op == "call" and args[0] == "bool":
        return truth(args[1])
    if op == "method" and is_constant(args[0]) and all(is_constant(a) for a in args[2:]):
        if args[1] not in METHODS or not hasattr(args[0], args[1]):
            return raw("crash", "AttributeError")
        return _folded(getattr(args[0], args[1]), *args[2:])
    if op == "item" and is_constant(args[0]) and is_constant(args[1]):
        return _folded(operator.getitem, *args)
    if (
        op == "item"
        and isinstance(args[0], Expr)
        and args[0].op == "tuple"
        and type(args[1]) is int
    ):
        parts = args[0].args
        return parts[args[1]] if -len(parts) <= args[1] < len(parts) else raw("crash", "IndexError")
    if op == "hasattr" and is_constant(args[0]):
        return hasattr(args[0], args[1])
    if op in ("attr", "getattr") and is_constant(args[0]):
        return args[2] if op == "getattr" else raw("crash", "AttributeError")
    if op == "isinstance" and is_constant(args[0]):
        return type(args[0]).__name__ in args[1:] or (
            isinstance(args[0], bool) and "int" in args[1:]
        )
    return raw(op, *args)


def _folded(function: Callable[..., Any], *args: Any) -> Operand:
    try:
        value = function(*args)
    except Exception as error:
        return raw("crash", type(error).__name__)
    if isinstance(value, list):
        value = tuple(value)
    return value if is_constant(value) else raw("crash", "TypeError")


def children(term: Expr) -> tuple[Operand, ...]:
    """The operand arguments of a term, names left out, in order."""
    op = term.op
    if op in _NAMED_FIRST:
        return term.args[_NAMED_FIRST[op] :]
    if op in _NAMED_SECOND:
        return term.args[:1] + term.args[2:]
    return term.args[:1] if op == "isinstance" else term.args


def rebuild(
    term: Expr,
    change: Callable[[Operand], Operand],
    make: Callable[..., Operand] | None = None,
) -> Operand:
    """The same term over changed operands, made by ``make`` (:func:`node`, which folds)."""
    make = make or node
    if term.op == "isinstance":
        return make("isinstance", change(term.args[0]), *term.args[1:])
    names = _NAMED.get(term.op, ())
    return make(term.op, *(a if i in names else change(a) for i, a in enumerate(term.args)))


def walk(*operands: Operand) -> Iterator[Expr]:
    """Every distinct term below the operands, each once, parents before children."""
    seen: set[Expr] = set()
    stack = [o for o in reversed(operands) if isinstance(o, Expr)]
    while stack:
        term = stack.pop()
        if term in seen:
            continue
        seen.add(term)
        yield term
        stack.extend(c for c in children(term) if isinstance(c, Expr))


def substitute(
    operand: Operand, leaf: Callable[[Expr], Operand], memo: dict[Expr, Operand]
) -> Operand:
    """Rebuild an operand with its leaves replaced, folding on the way up.

    Args:
        operand: What to rebuild.
        leaf: Gives the replacement of a leaf term (``ref``, ``fact``, ``env``, ``helper`` ...), or
            the term itself to keep it. It is asked for every term without operands and for
            ``helper`` terms after their arguments were rebuilt.
        memo: Results so far; share it between calls with the same ``leaf``.

    Branches of a conditional that the test decides are not visited.
    """
    if not isinstance(operand, Expr):
        if isinstance(operand, tuple) and not is_constant(operand):
            return tuple(substitute(part, leaf, memo) for part in operand)
        return operand
    found = memo.get(operand, memo)
    if found is not memo:
        return found  # type: ignore[return-value]
    result: Operand
    if operand.op == "if":
        test = substitute(operand.args[0], leaf, memo)
        if not isinstance(test, Expr):
            result = substitute(operand.args[1 if test else 2], leaf, memo)
        else:
            result = if_(
                test,
                substitute(operand.args[1], leaf, memo),
                substitute(operand.args[2], leaf, memo),
            )
    elif operand.op in ("and", "or"):
        stop = operand.op == "or"
        parts: list[Operand] = []
        for argument in operand.args:
            part = substitute(argument, leaf, memo)
            parts.append(part)
            if not isinstance(part, Expr) and bool(part) is stop:
                break
        result = any_of(*parts) if stop else all_of(*parts)
    else:
        has_operands = any(True for _ in children(operand))
        result = rebuild(operand, lambda a: substitute(a, leaf, memo)) if has_operands else operand
        if isinstance(result, Expr) and (not has_operands or result.op == "helper"):
            result = leaf(result)
    memo[operand] = result
    return result
