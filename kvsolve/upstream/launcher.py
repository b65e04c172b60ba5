"""What a release does with a command line before and after its parser: ``prepare_server_args``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from kvsolve.upstream.derived_code import config_reading
from kvsolve.upstream.record import RECORD_FILE
from kvsolve.upstream.static_values import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.upstream.source import SourceTree

__all__ = ["read_launcher"]

_LOG_LEVEL = "getattr(logging, raw_args.log_level.upper())"


def read_launcher(tree: SourceTree) -> dict[str, Any]:
    """How the release treats a command line around its parser, as ``FlagTable.launcher`` has it.

    Raises:
        UnreadableError: The release has no ``prepare_server_args`` or an unknown config reader.
    """
    function = _prepare(tree)
    text = ast.unparse(function)
    made: dict[str, Any] = {**config_reading(tree), "noticed": dict(_noticed(function))}
    if _LOG_LEVEL in text:
        made["log_level"] = "log_level"
    return made


def _prepare(tree: SourceTree) -> ast.FunctionDef:
    for node in tree.parse(RECORD_FILE).body:
        if isinstance(node, ast.FunctionDef) and node.name == "prepare_server_args":
            return node
    raise UnreadableError(f"SGLang {tree.release} has no prepare_server_args.")


def _noticed(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Fields that say whether an option stands literally in the command: (field, option)."""
    searched: dict[str, str] = {}
    for statement in function.body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Name) and (option := _searched_option(value)):
            searched[target.id] = option
        elif (
            isinstance(target, ast.Attribute)
            and ast.unparse(target.value) == "raw_args"
            and isinstance(value, ast.Name)
            and value.id in searched
        ):
            yield target.attr, searched[value.id]


def _searched_option(value: ast.expr) -> str | None:
    """S of ``any(arg == S or arg.startswith(S + "=") for arg in argv)``."""
    words = [str(n.value) for n in ast.walk(value) if isinstance(n, ast.Constant)]
    if len(words) != 2 or words[1] != f"{words[0]}=":
        return None
    option = words[0]
    wanted = f"any((arg == {option!r} or arg.startswith('{option}=') for arg in argv))"
    return option if ast.unparse(value) == wanted else None
