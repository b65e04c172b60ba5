"""The fields of a release's server arguments, with what their annotations say about options."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kvsolve.model.flag import UNSET
from kvsolve.upstream.static_values import Class, External, Growing, Member, Scope, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.upstream.static import Static

__all__ = [
    "RECORD_FILE",
    "Choices",
    "Field",
    "Meta",
    "Shape",
    "choices_of",
    "is_suppressed",
    "plain",
    "platform_default",
    "record_class",
    "record_fields",
    "text_of",
]

RECORD_FILE = "sglang/srt/server_args.py"
_NAMESPACES = "_INPUT_NAMESPACES"
_PLATFORMS = frozenset({"is_cpu", "is_cuda", "is_hip", "is_npu", "is_xpu"})


@dataclass(frozen=True, slots=True)
class Choices:
    """Allowed values, and those that an environment variable adds: (variable, values) pairs."""

    values: tuple[Any, ...]
    by_env: tuple[tuple[str, tuple[Any, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """What a type annotation means for the derived option.

    Attributes:
        name: The type's name, ``Optional`` taken off; "" for anything compound.
        element: The element type's name when it is a list, else None.
        literals: The values of a ``Literal``, else None.
    """

    name: str = ""
    element: str | None = None
    literals: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True)
class Meta:
    """What ``Arg(...)`` says, in upstream's own terms."""

    help: str = ""
    choices: Choices | None = None
    aliases: tuple[str, ...] = ()
    cli_name: str | None = None
    type_parser: Any = None
    nargs: str | int | None = None
    required: bool | None = None
    action: Any = None
    action_kwargs: Any = None
    const: Any = None
    no_cli: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the record.

    Attributes:
        name: Its name.
        shape: Its type.
        meta: What it declares of an option; None when it declares none.
        default: Its value when nothing is given.
        on_platform: The predicate (``is_hip``) on whose platform the default is True instead, as
            0.5.10 to 0.5.13 have it for ``pre_warm_nccl``; "" for one default everywhere.
    """

    name: str
    shape: Shape
    meta: Meta | None
    default: Any
    on_platform: str = ""


def record_fields(static: Static) -> list[Field]:
    """Every field of the release's ``ServerArgs``.

    Raises:
        UnreadableError: A declaration is outside of what can be read statically.
    """
    record = record_class(static)
    owners = [record]
    if static.defines(RECORD_FILE, _NAMESPACES):
        owners = [*static.lookup(RECORD_FILE, _NAMESPACES), record]
    # 0.5.16 declares dcp_size twice; the later declaration is the one that counts.
    fields = {field.name: field for owner in owners for field in _fields_of(owner, static)}
    return list(fields.values())


def record_class(static: Static) -> Class:
    """The class ``ServerArgs`` as it is written, before later releases rebuild it.

    Raises:
        UnreadableError: The release has none.
    """
    for statement in static.tree.parse(RECORD_FILE).body:
        if isinstance(statement, ast.ClassDef) and statement.name == "ServerArgs":
            return Class(RECORD_FILE, statement)
    raise UnreadableError(f"{RECORD_FILE} has no class ServerArgs.")


def _fields_of(owner: Class, static: Static) -> Iterator[Field]:
    scope = Scope(owner.path)
    for statement in owner.node.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        inner, meta = _annotation(statement.annotation, static, scope)
        shape = _shape(inner, static, scope)
        platform = platform_default(statement.value)
        if platform:
            yield Field(statement.target.id, shape, meta, False, platform)
            continue
        default = UNSET if statement.value is None else static.value(statement.value, scope)
        yield Field(statement.target.id, shape, meta, plain(default))


def platform_default(node: ast.expr | None) -> str:
    """``is_hip`` of ``field(default_factory=lambda: is_hip())``, "" of anything else."""
    factories = [k.value for k in getattr(node, "keywords", ()) if k.arg == "default_factory"]
    if len(factories) != 1 or not isinstance(factories[0], ast.Lambda):
        return ""
    call = factories[0].body
    if not isinstance(call, ast.Call) or call.args or call.keywords:
        return ""
    name = ast.unparse(call.func)
    return name if name in _PLATFORMS else ""


def _annotation(node: ast.expr, static: Static, scope: Scope) -> tuple[ast.expr, Meta | None]:
    """Take ``A[type, ...]`` apart: the type, and the first ``Arg`` or help text."""
    if not (isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("A", "Annotated")):
        return node, None
    assert isinstance(node.slice, ast.Tuple)
    inner, *extras = node.slice.elts
    for extra in extras:
        if isinstance(extra, ast.Call):
            if ast.unparse(extra.func) == "Arg":
                return inner, _meta(extra, static, scope)
        elif isinstance(text := static.value(extra, scope), str):
            return inner, Meta(help=text)
    return inner, None


def _meta(call: ast.Call, static: Static, scope: Scope) -> Meta:
    given: dict[str, Any] = {}
    if call.args:
        raise UnreadableError(f"{scope.module}:{call.lineno} passes Arg a positional argument.")
    for keyword in call.keywords:
        if keyword.arg is None:
            raise UnreadableError(f"{scope.module}:{call.lineno} passes Arg a dictionary.")
        if keyword.arg in ("resolvable", "fallback"):
            continue
        if keyword.arg == "help":
            given["help"] = text_of(keyword.value)
            given["hidden"] = is_suppressed(keyword.value)
        else:
            given[keyword.arg] = static.value(keyword.value, scope)
    if "choices" in given:
        given["choices"] = choices_of(given["choices"], static)
    if "aliases" in given:
        given["aliases"] = tuple(given["aliases"] or ())
    return Meta(**given)


def is_suppressed(help_text: ast.expr | None) -> bool:
    """Tell whether an option is left out of the release's own help."""
    return help_text is not None and ast.unparse(help_text) == "argparse.SUPPRESS"


def text_of(node: ast.expr | None) -> str:
    """The words of a help text; what a format string puts in does not matter."""
    if node is None:
        return ""
    return "".join(
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def _shape(node: ast.expr, static: Static, scope: Scope) -> Shape:
    node = _without_optional(node)
    if isinstance(node, ast.Name):
        return Shape(name=node.id)
    if isinstance(node, ast.Subscript) and isinstance(node.value, (ast.Name, ast.Attribute)):
        head = ast.unparse(node.value).split(".")[-1]
        if head == "Literal":
            value = static.value(node.slice, scope)
            return Shape(literals=value if isinstance(value, tuple) else (value,))
        if head in ("List", "list"):
            return Shape(element=ast.unparse(node.slice))
    return Shape()


def _without_optional(node: ast.expr) -> ast.expr:
    """``X`` of ``Optional[X]``, ``Union[X, None]`` and ``X | None``, as typing flattens them."""
    parts = list(_union(node))
    kept = [p for p in parts if not (isinstance(p, ast.Constant) and p.value is None)]
    return kept[0] if len(kept) == 1 else node


def _union(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _union(node.left)
        yield from _union(node.right)
    elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Optional"):
        yield from _union(node.slice)
        yield ast.Constant(None)
    elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Union"):
        members = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for member in members:
            yield from _union(member)
    else:
        yield node


def choices_of(value: Any, static: Static) -> Choices | None:
    """The choices that a value of ``choices=`` stands for; an empty one means no choices."""
    if value is None:
        return None
    items = static.items(value, ast.Constant(None), Scope(RECORD_FILE))
    by_env = value.by_env if isinstance(value, Growing) else ()
    more = tuple((variable, (further,)) for variable, further in by_env)
    return Choices(tuple(plain(v) for v in items), more) if items else None


def plain(value: Any) -> Any:
    """A value as JSON can hold it; tuples and sets become lists.

    Raises:
        UnreadableError: It is something else.
    """
    if value is UNSET or value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Member) and isinstance(value.value, (int, str)):
        return value.value
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return [plain(v) for v in sorted(value, key=repr)]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, External) and value.name == "argparse.SUPPRESS":
        return UNSET
    raise UnreadableError(f"{value!r} cannot be a default or a choice.")
