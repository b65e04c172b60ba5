"""The text form of expressions: a whitelisted subset of Python's expression syntax.

``parse`` reads text with :mod:`ast` and builds terms; anything outside the subset is rejected
with the reason, nothing is ever executed. ``render`` writes a term so that ``parse`` gives it back.

Names, by their first part:

* ``gpu.x host.x model.x packages.x env.X draft.x`` and ``config`` are facts;
* ``raw.flag`` is the field as written so far, ``given.flag`` what the command says, ``flag`` the
  resolved value; ``flag@2`` is the value that step number 2 of that name gave it;
* any other name is a named result (``let``) of the program.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.expression import (
    FUNCTIONS,
    METHODS,
    Expr,
    Operand,
    all_of,
    any_of,
    if_,
    negate,
    node,
    raw,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["FACT_ROOTS", "ExpressionError", "parse", "render"]

FACT_ROOTS = frozenset({"gpu", "host", "model", "packages", "env", "draft", "config"})
_VIEWS = frozenset({"raw", "given"})
_DEEPER = frozenset({"packages.version", "packages.torch"})

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.In: "in",
    ast.NotIn: "not_in",
    ast.Is: "is",
    ast.IsNot: "is_not",
}
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Div: "truediv",
    ast.Pow: "pow",
    ast.BitOr: "bitor",
    ast.BitAnd: "bitand",
    ast.BitXor: "bitxor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
# Operator text and binding strength, as in Python's grammar.
_SYMBOL: dict[str, tuple[str, int]] = {
    "eq": ("==", 6),
    "ne": ("!=", 6),
    "lt": ("<", 6),
    "le": ("<=", 6),
    "gt": (">", 6),
    "ge": (">=", 6),
    "in": ("in", 6),
    "not_in": ("not in", 6),
    "is": ("is", 6),
    "is_not": ("is not", 6),
    "bitor": ("|", 7),
    "bitxor": ("^", 8),
    "bitand": ("&", 9),
    "lshift": ("<<", 10),
    "rshift": (">>", 10),
    "add": ("+", 11),
    "sub": ("-", 11),
    "mul": ("*", 12),
    "floordiv": ("//", 12),
    "mod": ("%", 12),
    "truediv": ("/", 12),
    "pow": ("**", 14),
}


class ExpressionError(KvsolveError):
    """Expression text is outside the entry language."""


class _Parser:
    """Builds terms from syntax; ``versions`` tells the current version of each slot."""

    def __init__(self, versions: Mapping[str, int] | None) -> None:
        self.versions = versions or {}
        self.bound: dict[str, int] = {}

    def reject(self, tree: ast.AST, why: str) -> ExpressionError:
        return ExpressionError(f"`{ast.unparse(tree)}` is not allowed in an expression: {why}")

    def expression(self, tree: ast.expr) -> Operand:
        method: Callable[[Any], Operand] | None = getattr(self, f"_{type(tree).__name__}", None)
        if method is None:
            raise self.reject(tree, f"{type(tree).__name__} is not part of the entry language")
        return method(tree)

    def _Constant(self, tree: ast.Constant) -> Operand:  # noqa: N802
        if tree.value is Ellipsis or isinstance(tree.value, complex):
            raise self.reject(tree, "such a constant has no meaning here")
        return tree.value

    def _Name(self, tree: ast.Name) -> Operand:  # noqa: N802
        if tree.id in self.bound:
            return raw("var", self.bound[tree.id])
        if tree.id == "config":
            return raw("fact", "config")
        if tree.id in FACT_ROOTS or tree.id in _VIEWS:
            raise self.reject(tree, "it needs a name after the dot")
        return self.slot(tree.id)

    def slot(self, name: str, version: int | None = None) -> Operand:
        return raw("ref", name, self.versions.get(name, 0) if version is None else version)

    def _Attribute(self, tree: ast.Attribute) -> Operand:  # noqa: N802
        field = isinstance(tree.value, ast.Name) and tree.value.id in _VIEWS
        if tree.attr.startswith("_") and not field:
            raise self.reject(tree, "a name after a dot does not begin with an underscore")
        root = tree.value
        if isinstance(root, ast.Name) and root.id not in self.bound and root.id != "config":
            if root.id in _VIEWS:
                return self.slot(f"{root.id}.{tree.attr}")
            if root.id in FACT_ROOTS:
                return raw("fact", f"{root.id}.{tree.attr}")
        if isinstance(root, ast.Attribute) and ast.unparse(root) in _DEEPER:
            return raw("fact", f"{ast.unparse(root)}.{tree.attr}")
        return node("attr", self.expression(root), tree.attr)

    def _BoolOp(self, tree: ast.BoolOp) -> Operand:  # noqa: N802
        parts = [self.expression(v) for v in tree.values]
        return all_of(*parts) if isinstance(tree.op, ast.And) else any_of(*parts)

    def _UnaryOp(self, tree: ast.UnaryOp) -> Operand:  # noqa: N802
        operand = self.expression(tree.operand)
        if isinstance(tree.op, ast.Not):
            return negate(operand)
        if isinstance(tree.op, ast.USub):
            return node("neg", operand)
        raise self.reject(tree, "only `not` and a minus sign may stand before a value")

    def _BinOp(self, tree: ast.BinOp) -> Operand:  # noqa: N802
        if isinstance(tree.op, ast.MatMult):
            return self.versioned(tree)
        return node(_BINARY[type(tree.op)], self.expression(tree.left), self.expression(tree.right))

    def versioned(self, tree: ast.BinOp) -> Operand:
        name = ast.unparse(tree.left)
        known = isinstance(tree.left, ast.Name) or name.split(".")[0] in _VIEWS
        if not known or not isinstance(tree.right, ast.Constant):
            raise self.reject(tree, "`@` selects a version of a named value, as in `page_size@2`")
        if type(tree.right.value) is not int:
            raise self.reject(tree, "the version after `@` is a whole number")
        return self.slot(name, tree.right.value)

    def _Compare(self, tree: ast.Compare) -> Operand:  # noqa: N802
        operands = [self.expression(x) for x in (tree.left, *tree.comparators)]
        return all_of(
            *(
                node(_COMPARE[type(op)], a, b)
                for op, a, b in zip(tree.ops, operands, operands[1:], strict=False)
            )
        )

    def _IfExp(self, tree: ast.IfExp) -> Operand:  # noqa: N802
        return if_(
            self.expression(tree.test), self.expression(tree.body), self.expression(tree.orelse)
        )

    def _Tuple(self, tree: ast.Tuple) -> Operand:  # noqa: N802
        return node("tuple", *(self.expression(x) for x in tree.elts))

    def _List(self, tree: ast.List) -> Operand:  # noqa: N802
        parts = [self.expression(x) for x in tree.elts]
        return node("call", "list", node("tuple", *parts))

    def _Set(self, tree: ast.Set) -> Operand:  # noqa: N802
        return node("call", "set", node("tuple", *(self.expression(x) for x in tree.elts)))

    def _Subscript(self, tree: ast.Subscript) -> Operand:  # noqa: N802
        value = self.expression(tree.value)
        if isinstance(tree.slice, ast.Slice):
            bounds = [
                self.expression(b) if b is not None else None
                for b in (tree.slice.lower, tree.slice.upper)
            ]
            return node("slice", value, *bounds)
        return node("item", value, self.expression(tree.slice))

    def _ListComp(self, tree: ast.ListComp) -> Operand:  # noqa: N802
        return self.comprehension(tree, "list")

    def _SetComp(self, tree: ast.SetComp) -> Operand:  # noqa: N802
        return self.comprehension(tree, "set")

    def comprehension(
        self, tree: ast.ListComp | ast.SetComp | ast.GeneratorExp, kind: str
    ) -> Operand:
        if len(tree.generators) != 1 or not isinstance(tree.generators[0].target, ast.Name):
            raise self.reject(tree, "a comprehension has one `for` over one name")
        generator = tree.generators[0]
        assert isinstance(generator.target, ast.Name)
        iterable = self.expression(generator.iter)
        name, number = generator.target.id, self.number(generator.target)
        outer = self.bound.get(name)
        self.bound[name] = number
        condition = all_of(*(self.expression(c) for c in generator.ifs))
        element = self.expression(tree.elt)
        if outer is None:
            del self.bound[name]
        else:
            self.bound[name] = outer
        if kind == "any":
            return raw("any", number, iterable, all_of(condition, element))
        return raw("collect", kind, number, iterable, condition, element)

    def number(self, name: ast.Name) -> int:
        if name.id[:1] == "v" and name.id[1:].isdigit():
            return int(name.id[1:])
        return 10_000 + len(self.bound)

    def _Call(self, tree: ast.Call) -> Operand:  # noqa: N802
        if tree.keywords or any(isinstance(a, ast.Starred) for a in tree.args):
            raise self.reject(tree, "calls take plain positional arguments")
        if isinstance(tree.func, ast.Attribute):
            if tree.func.attr not in METHODS:
                raise self.reject(tree, f"the method `{tree.func.attr}` is not on the list")
            return node(
                "method",
                self.expression(tree.func.value),
                tree.func.attr,
                *(self.expression(a) for a in tree.args),
            )
        if not isinstance(tree.func, ast.Name):
            raise self.reject(tree, "only named functions can be called")
        return self.function(tree, tree.func.id)

    def function(self, tree: ast.Call, name: str) -> Operand:
        if name == "any" and len(tree.args) == 1 and isinstance(tree.args[0], ast.GeneratorExp):
            return self.comprehension(tree.args[0], "any")
        arguments = [self.expression(a) for a in tree.args]
        if name in FUNCTIONS:
            return node("call", name, *arguments)
        if name in ("pick", "table"):
            return raw(name, *arguments)
        if name in ("getattr", "hasattr") and isinstance(arguments[1], str):
            return node(name, *arguments)
        if name == "isinstance":
            return node("isinstance", *arguments)
        if name == "environ":
            return raw("env", arguments[0], arguments[1] if len(arguments) > 1 else None)
        if name == "is_set":
            return raw("env_is_set", arguments[0])
        if name in ("helper", "opaque", "crash") and arguments and isinstance(arguments[0], str):
            return raw(name, *arguments)
        raise self.reject(tree, f"the function `{name}` is not on the list")


def parse(text: str, versions: Mapping[str, int] | None = None) -> Operand:
    """Read an expression.

    Args:
        text: The expression.
        versions: Current version of each slot name; 0 where absent.

    Raises:
        ExpressionError: The text is not in the entry language; says which part and why.

    >>> render(parse("page_size in (32, 64) and not gpu.is_hip"))
    'page_size in (32, 64) and not gpu.is_hip'
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ExpressionError(f"`{text[:80]}` is not an expression: {error}") from None
    try:
        return _Parser(versions).expression(tree)
    except RecursionError:
        raise ExpressionError(f"`{text[:80]}...` is nested too deeply") from None


def _constant(value: object) -> str:
    if isinstance(value, float) and repr(value) in ("inf", "-inf", "nan"):
        return f"float({repr(value)!r})"
    if isinstance(value, frozenset):
        inner = ", ".join(_constant(v) for v in sorted(value, key=repr))
        return f"{{{inner}}}" if value else "frozenset()"
    if isinstance(value, tuple):
        inner = ", ".join(_constant(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


class _Renderer:
    def __init__(self, versions: Mapping[str, int]) -> None:
        self.versions = versions

    def text(self, operand: Operand, strength: int = 0) -> str:
        if not isinstance(operand, Expr):
            if isinstance(operand, tuple):
                return self.sequence(operand)
            text = _constant(operand)
            return f"({text})" if text[:1] == "-" and strength > 12 else text
        text, own = self.term(operand)
        return f"({text})" if own < strength else text

    def sequence(self, items: tuple[Operand, ...]) -> str:
        inner = ", ".join(self.text(i, 1) for i in items)
        return f"({inner},)" if len(items) == 1 else f"({inner})"

    def arguments(self, items: tuple[Any, ...]) -> str:
        return ", ".join(self.text(i, 1) for i in items)

    def term(self, e: Expr) -> tuple[str, int]:
        """The text of a term and how strongly it binds."""
        op, args = e.op, e.args
        if op in _SYMBOL:
            symbol, strength = _SYMBOL[op]
            left = strength + 1 if op == "pow" or strength == 6 else strength
            return (
                f"{self.text(args[0], left)} {symbol} {self.text(args[1], strength + 1)}",
                strength,
            )
        if op in ("and", "or"):
            strength = 4 if op == "and" else 3
            return f" {op} ".join(self.text(a, strength + 1) for a in args), strength
        if op == "not":
            return f"not {self.text(args[0], 5)}", 5
        if op == "neg":
            return f"-{self.text(args[0], 13)}", 13
        if op == "if":
            test, then, other = args
            return f"{self.text(then, 3)} if {self.text(test, 3)} else {self.text(other, 2)}", 2
        return self.primary(e), 20

    def primary(self, e: Expr) -> str:
        op, args = e.op, e.args
        if op == "ref":
            name, version = args
            return name if self.versions.get(name, 0) == version else f"({name}@{version})"
        if op == "fact":
            return str(args[0])
        if op == "var":
            return f"v{args[0]}"
        if op in ("env", "env_is_set"):
            shown = args if op == "env" and args[1] is not None else args[:1]
            return f"{'environ' if op == 'env' else 'is_set'}({self.arguments(shown)})"
        if op in ("helper", "opaque", "crash", "pick", "table", "isinstance"):
            return f"{op}({self.arguments(args)})"
        if op in ("getattr", "hasattr"):
            return f"{op}({self.arguments(args)})"
        if op == "attr":
            return f"{self.text(args[0], 20)}.{args[1]}"
        if op == "item":
            return f"{self.text(args[0], 20)}[{self.text(args[1])}]"
        if op == "slice":
            low, high = ("" if b is None else self.text(b, 1) for b in args[1:])
            return f"{self.text(args[0], 20)}[{low}:{high}]"
        if op == "call":
            return f"{args[0]}({self.arguments(args[1:])})"
        if op == "method":
            return f"{self.text(args[0], 20)}.{args[1]}({self.arguments(args[2:])})"
        if op == "tuple":
            return self.sequence(args)
        if op == "any":
            number, iterable, body = args
            return f"any({self.text(body, 3)} for v{number} in {self.text(iterable, 3)})"
        if op == "collect":
            return self.collection(*args)
        raise ExpressionError(f"the operation `{op}` has no text form")

    def collection(
        self, kind: str, number: int, iterable: Operand, condition: Operand, element: Operand
    ) -> str:
        tail = "" if condition is True else f" if {self.text(condition, 3)}"
        body = f"{self.text(element, 2)} for v{number} in {self.text(iterable, 3)}{tail}"
        return f"{{{body}}}" if kind == "set" else f"[{body}]"


def render(operand: Operand, versions: Mapping[str, int] | None = None) -> str:
    """Write an operand as text; names at their current version are written plainly.

    Args:
        operand: A constant or a term.
        versions: Current version of each slot name; 0 where absent.
    """
    return _Renderer(versions or {}).text(operand)
