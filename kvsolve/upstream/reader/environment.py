"""How the release's table of environment variables turns a written text into a value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, if_, node, raw

if TYPE_CHECKING:
    from kvsolve.upstream.reader.run import Run

__all__ = ["kind_of", "parsed"]

_MODULE = "sglang.srt.environ"
_TRUE = ("true", "1", "yes", "y")


def kind_of(run: Run, name: str) -> str:
    """The class that declares a variable, ``EnvBool`` say, or "" when the table has none."""
    module = run.modules.get(_MODULE)
    table = module.definitions.get("Envs") if module else None
    for statement in table.body if isinstance(table, ast.ClassDef) else ():
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        if any(isinstance(t, ast.Name) and t.id == name for t in statement.targets):
            return ast.unparse(statement.value.func)
    return ""


def parsed(run: Run, name: str, text: Operand) -> Operand:
    """The value that reading a variable gives after ``text`` was written to it."""
    if text is None:
        return raw("fact", f"env.{name}")
    if isinstance(text, Expr) and text.op == "if":
        return if_(text.args[0], parsed(run, name, text.args[1]), parsed(run, name, text.args[2]))
    kind = kind_of(run, name)
    if kind.startswith("EnvBool"):
        return node("in", node("method", text, "lower"), _TRUE)
    if kind.startswith("EnvInt"):
        return node("call", "int", text)
    if kind.startswith("EnvFloat"):
        return node("call", "float", text)
    return text
