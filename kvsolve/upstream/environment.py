"""The environment variables that a release types, read from the syntax tree of ``environ.py``.

``python -m kvsolve.upstream.environment SOURCE TARGET`` writes the table of one release
(``constraints/sglang/env/RELEASE.json``) from the directory in which it is unpacked.
"""

from __future__ import annotations

import ast
import json
import operator
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["read_environment"]

TABLE = "Envs"
ALIASED = "WithAlias"
OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
}


def read_environment(source: str) -> dict[str, Any]:
    """Variables and renamed variables of one ``environ.py``.

    Returns:
        ``variables``: name -> [type, default] or [type, default, older name]; a default that is
        computed is ``{"hip": true}`` (whether the platform is ROCm), ``{"cache": name}`` (a folder
        in the cache) or ``{"variable": name}``. ``renamed``: older name -> name.
    """
    tree = ast.parse(source)
    variables: dict[str, Any] = {}
    members = _members(tree)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == TABLE:
            for line in node.body:
                found = _variable(line)
                if found is not None:
                    variables[found[0]] = _resolved(found[1], members)
    return {"variables": variables, "renamed": dict(_renamed(tree))}


def _resolved(entry: list[Any], members: dict[str, dict[str, Any]]) -> list[Any]:
    default = entry[1]
    if isinstance(default, dict) and "member" in default:
        owner, name = default["member"]
        return [entry[0], members[owner][name], *entry[2:]]
    return entry


def _variable(line: ast.stmt) -> tuple[str, list[Any]] | None:
    if not isinstance(line, ast.Assign) or not isinstance(line.value, ast.Call):
        return None
    target, call = line.targets[0], line.value
    if not isinstance(target, ast.Name) or not isinstance(call.func, ast.Name):
        return None
    kind = call.func.id.removeprefix("Env").removesuffix(ALIASED).lower()
    keywords = {k.arg: k.value for k in call.keywords}
    default = call.args[0] if call.args else keywords.get("default", ast.Constant(None))
    entry: list[Any] = [kind, _default(default)]
    older = keywords.get("deprecated_name")
    if isinstance(older, ast.Constant):
        entry.append(older.value)
    return target.id, entry


def _default(node: ast.expr) -> Any:
    text = ast.unparse(node)
    if text == "_default_hip":
        return {"hip": True}
    if text == "_default_tree_cache_sanity_check":
        return {"variable": "SGLANG_IS_IN_CI"}
    if "_default_cache_subdir" in text:
        return {"cache": next(c.value for c in ast.walk(node) if isinstance(c, ast.Constant))}
    if text == "os.path.expanduser('~/.cache/sglang')":
        return {"cache": ""}
    if isinstance(node, ast.Call) and text == "tuple()":
        return []
    if text.startswith("os.path.expanduser('~/"):
        return {"home": text.split("'")[1].removeprefix("~/")}
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return {"member": [node.value.id, node.attr]}
    return _arithmetic(node)


def _arithmetic(node: ast.expr) -> Any:
    """The value of a constant expression."""
    if isinstance(node, ast.BinOp):
        return OPERATIONS[type(node.op)](_arithmetic(node.left), _arithmetic(node.right))
    return ast.literal_eval(node)


def _members(tree: ast.Module) -> dict[str, dict[str, Any]]:
    """Values of the members of the enumerations in the file."""
    found: dict[str, dict[str, Any]] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {
                line.targets[0].id: line.value.value
                for line in node.body
                if isinstance(line, ast.Assign)
                and isinstance(line.targets[0], ast.Name)
                and isinstance(line.value, ast.Constant)
            }
    return found


def _renamed(tree: ast.Module) -> list[tuple[str, str]]:
    """Renames without a change of the value."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_print_deprecated_env":
            texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
            if len(texts) == 2:
                found.append((str(texts[0]), str(texts[1])))
        elif isinstance(node, ast.Dict):
            found.extend(_table_renames(node))
    return found


def _table_renames(table: ast.Dict) -> list[tuple[str, str]]:
    found = []
    for key, value in zip(table.keys, table.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(value, ast.Call):
            continue
        if getattr(value.func, "id", "") != "_DeprecatedEnv":
            continue
        keywords = {k.arg: k.value for k in value.keywords}
        new = value.args[0] if value.args else keywords.get("replacement")
        if isinstance(new, ast.Constant) and "transform" not in keywords and len(value.args) < 2:
            found.append((str(key.value), str(new.value)))
    return found


def main(source: str, target: str) -> None:
    """Write the table of one release."""
    text = (Path(source) / "sglang" / "srt" / "environ.py").read_text(encoding="utf-8")
    data = json.dumps(read_environment(text), indent=0, sort_keys=True, separators=(",", ":"))
    Path(target).write_text(data + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
