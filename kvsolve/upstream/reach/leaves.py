"""What the condition of a statement rests on, told by names.

A condition is the test of the statement and of the blocks around it; local names in it are
followed to what was assigned to them. Each name at the end is of a kind: a flag, the machine, the
model's configuration, the environment, or something that no command line tells (*unknown*).
"""

from __future__ import annotations

import ast
import builtins
import re
from typing import TYPE_CHECKING

from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Leaves", "agreement", "conditions", "failing", "leaves"]

_DEPTH = 5
_BAG = re.compile(
    r"(^|\.)(server_args|get_(?!platform|context|jit_\w+)\w+\(\)|ps|parallel)(\.|$)|_server_args$"
)
_PLATFORM = re.compile(r"^get_(platform|jit_\w+)\(\)\.|^get_(platform|jit_\w+)$")
_AT_HAND = re.compile(r"^is_port_available$")
"""Asked of the machine as it runs, which no command tells."""
_BACKEND = re.compile(r"backend\.is_\w+$")
"""A kernel is asked which one it is: an option chose it, whatever machine it is named like."""
_TENSORS = re.compile(r"\.(dtype|device)$")
"""Attributes that tensors have and flags are named like."""
_SETTINGS = re.compile(r"(^|_)(config|configs|args)$|^(self|cls|cfg)$")
_READ_FILE = re.compile(
    r"(^|\.)(open|load|loads|safe_load|read_text|read_bytes|listdir|glob|hf_hub_download|safe_open"
    r"|snapshot_download|cached_file|load_file|get_class_from_dynamic_module)$"
)
_BASIC = frozenset(["str", "int", "float", "bool", "list", "tuple", "dict", "set", "NoneType"])
"""Classes that the value of an option can be of."""
_WIDTHS = re.compile(
    r"^_?(attn_|moe_|shared_experts_)?(tp|dp|cp|pp|ep|dcp|world|tp_world|local_attn_tp|attn_tp)"
    r"_(size|world_size|enabled)$|^(attn_)?dcp_\w+$|^enable_\w+$|^disable_\w+$|^is_draft_worker$"
    r"|^use_(?!mla|dsa)\w+$|^spec_\w+$|^speculative_\w+$|^is_(none|eagle\w*|ngram|dflash\w*|standalone)$"
    r"|^(?!use_mla)\w*backend(_str)?$|^kv_cache_dtype(_str)?$|^page_size$|^get_\w*tensor_model_parallel_\w+$"
    r"|^get_\w*(tp|dp|cp|pp|ep)_\w*size$|^quantization$|^load_format$"
)
_MACHINE = re.compile(
    r"^_?is_(cuda|hip|npu|cpu|xpu|musa|mps|hpu|sm\w+|blackwell\w*|hopper\w*|gfx\w*|ampere\w*|flash\w*"
    r"|flashinfer\w*|out_of_tree|cuda_alike|rocm)\w*$|capability|^device(_sm|_type|_count)?$"
    r"|^cpu_has\w*$|^_?has_\w+$|^current_platform$|^get_device\w*$|_available$|^_?use_aiter$"
    r"|^torch_\w*version\w*$|^is_\w*supported\w*$|^is_\w*available\w*$|^get_\w*version$|^is_\w*arch\w*$"
)
_MODEL = re.compile(
    r"(^|\.)_?(hf|text|model|vision|quant|draft|linear|layer|audio|moe|hf_text|thinker)?_?config(s|_dict)?"
    r"(\.|\[|$)|(^|\.)(num_\w*(heads?|experts|layers|groups)\w*|head_dim|v_head_dim|hidden_size"
    r"|intermediate_size\w*|kv_lora_rank|q_lora_rank|\w*quant_method\w*|quant_config|architectures?"
    r"|model_type|layer_types|block_n|block_k|group_size|weight_block_size|weight_bits|bits"
    r"|total_num_\w+|top_k|vocab_size|hidden_act|input_size\w*|output_size\w*|sym|desc_act"
    r"|activation_scheme|is_\w*checkpoint\w*|qk_\w+_dim|rope_\w+|sliding_window\w*|mambaish\w*"
    r"|is_hybrid\w*|is_mla\w*|use_mla\w*|use_dsa\w*|dtype|model_dtype|state_size|n_groups|conv_\w+)$"
)
_ENVIRONMENT = re.compile(r"^envs\.|environ|getenv|get_\w*env_var|^SGLANG_|^_?USE_|^ENABLE_")
_PLAIN = frozenset(
    ["isinstance", "hasattr", "getattr", "len", "any", "all", "min", "max", "set", "str", "int"]
) | {"torch", "math", "self", "cls", "np", "os", "sys", "type", "Path", "json"}


@dataclass(frozen=True, slots=True)
class Leaves:
    """What a condition rests on.

    Attributes:
        flags: Flags, and widths and roles that follow from flags alone.
        unknown: Names that no command line, machine or config.json tells.
        known: How many other names it reads.
    """

    flags: tuple[str, ...]
    unknown: tuple[str, ...]
    known: int


def failing(function: ast.AST, statement: ast.stmt) -> str:
    """What fails where a statement is reached: the exceptions of the ``except`` that it stands in.

    Flags decide how something is asked for, and not whether it fails.
    """
    caught = [n for n in _around(function, statement) if isinstance(n, ast.ExceptHandler)]
    if not caught:
        return ""
    return ast.unparse(caught[-1].type) if caught[-1].type is not None else "anything"


def conditions(function: ast.AST, statement: ast.stmt) -> list[ast.expr]:
    """The tests around a statement of a function, and its own."""
    found: list[ast.expr] = [statement.test] if isinstance(statement, ast.Assert) else []
    for node in _around(function, statement):
        match node:
            case ast.If(test=test) | ast.While(test=test):
                found.append(test)
            case ast.For(iter=iterated):
                found.append(iterated)
            case ast.Match(subject=subject):
                found.append(subject)
    return found


def agreement(function: ast.AST, statement: ast.stmt) -> bool:
    """Whether a statement asks that two objects hold the same under one name.

    ``page_size != buffer_info.page_size`` is such a question; what both hold comes from one flag,
    so that no value of it decides.
    """
    tests = conditions(function, statement)
    own = tests[0] if isinstance(statement, ast.Assert) else tests[-1] if tests else None
    match own:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            names = [_last_name(part) for part in (left, right)]
            dotted = any(isinstance(part, ast.Attribute) for part in (left, right))
            return dotted and names[0] is not None and names[0] == names[1]
    return False


def _last_name(part: ast.expr) -> str | None:
    match part:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return None


def _around(function: ast.AST, statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes that hold a statement, outermost first."""
    for child in ast.iter_child_nodes(function):
        if child is statement:
            return
        if any(part is statement for part in ast.walk(child)):
            yield child
            yield from _around(child, statement)
            return


def leaves(
    function: ast.AST,
    tests: Iterable[ast.expr],
    flags: frozenset[str],
    owner: ast.ClassDef | None = None,
    lasting: frozenset[str] = frozenset(),
) -> Leaves:
    """What tests of a function rest on.

    Args:
        function: The function that they stand in.
        tests: The tests.
        flags: Dests of the release.
        owner: The class whose method it is.
        lasting: Names of the module that its functions change, which hold a state of the process.
    """
    assigned = _assigned(function) | (_attributes(owner) if owner is not None else {})
    names: dict[str, None] = {}
    waiting = [(test, 0) for test in tests]
    followed: set[str] = set()
    while waiting:
        tree, depth = waiting.pop()
        for name in _names(tree):
            values = assigned.get(name)
            if values and depth < _DEPTH and not _told(name, flags):
                if name not in followed:
                    followed.add(name)
                    waiting += [(value, depth + 1) for value in values]
            else:
                names[name] = None
    kinds = {
        name: "unknown" if name.partition(".")[0] in lasting else _kind(name, flags)
        for name in names
    }
    picked = {kind: tuple(sorted(n for n in kinds if kinds[n] == kind)) for kind in kinds.values()}
    told = picked.get("flag", ())
    others = sum(kind in ("model", "machine", "environment") for kind in kinds.values())
    return Leaves(told, picked.get("unknown", ()), others)


def _told(name: str, flags: frozenset[str]) -> bool:
    """Whether a name tells what it is, whatever was assigned to it."""
    if name.partition(".")[0] not in ("self", "cls") and "." in name:
        return True
    return _kind(name, flags) in ("environment", "plain", "machine")


def _attributes(owner: ast.ClassDef) -> dict[str, list[ast.expr]]:
    """What the methods of a class store in its objects: ``self.x`` -> values."""
    out: dict[str, list[ast.expr]] = {}
    for node in ast.walk(owner):
        match node:
            case ast.Assign(targets=targets, value=value):
                stored: list[ast.expr] = targets
            case ast.AnnAssign(target=field, value=ast.expr() as value):
                stored = [field]
            case _:
                continue
        for target in stored:
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                out.setdefault(f"self.{target.attr}", []).append(value)
    return out


def _assigned(function: ast.AST) -> dict[str, list[ast.expr]]:
    out: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                for part in (p for t in targets for p in ast.walk(t)):
                    if isinstance(part, ast.Name):
                        out.setdefault(part.id, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                out.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                out.setdefault(name, []).append(value)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                out.setdefault(name, []).append(value)
            case ast.For(target=loop, iter=value) | ast.comprehension(target=loop, iter=value):
                for part in ast.walk(loop):
                    if isinstance(part, ast.Name):
                        out.setdefault(part.id, []).append(value)
            case ast.With(items=items):
                for item in items:
                    if isinstance(item.optional_vars, ast.Name):
                        out.setdefault(item.optional_vars.id, []).append(item.context_expr)
    return out


def _names(tree: ast.AST) -> Iterator[str]:
    """Dotted names that an expression reads, the longest of each."""
    match tree:
        case ast.Attribute():
            yield ast.unparse(tree)
            inner = tree.value
            while isinstance(inner, (ast.Attribute, ast.Call, ast.Subscript)):
                if isinstance(inner, ast.Call):
                    for given in (*inner.args, *(k.value for k in inner.keywords)):
                        yield from _names(given)
                    inner = inner.func
                elif isinstance(inner, ast.Subscript):
                    yield from _names(inner.slice)
                    inner = inner.value
                else:
                    inner = inner.value
        case ast.Call(func=ast.Attribute() | ast.Name() as called):
            yield from _called(tree, called)
        case ast.Name(id=name):
            yield name
        case _:
            for child in ast.iter_child_nodes(tree):
                yield from _names(child)


def _called(tree: ast.Call, called: ast.Attribute | ast.Name) -> Iterator[str]:
    """What a call rests on: its arguments, and its receiver or, without any, its own name."""
    given = [*tree.args, *(k.value for k in tree.keywords)]
    name = called.id if isinstance(called, ast.Name) else called.attr
    if _READ_FILE.search(ast.unparse(called)) or _asks_class(name, given):
        yield f"{ast.unparse(called)}({ast.unparse(given[0])[:40] if given else ''})"
        return
    if name == "getattr" and len(given) > 1 and isinstance(given[1], ast.Constant):
        yield f"{ast.unparse(given[0])}.{given[1].value!s}"
        return
    asked = ast.unparse(called)
    told = _kind(asked, frozenset()) in ("machine", "environment", "flag")
    told = told and not _BACKEND.search(asked)
    own = isinstance(called, ast.Attribute) and ast.unparse(called.value) in ("self", "cls")
    if told or own or (isinstance(called, ast.Name) and not given):
        yield ast.unparse(called)
    elif isinstance(called, ast.Attribute):
        yield from _names(called.value)
    for part in given:
        yield from _names(part)


def _asks_class(name: str, given: list[ast.expr]) -> bool:
    """Whether a call asks for a class that the value of no option is of."""
    if name not in ("isinstance", "issubclass") or len(given) < 2:
        return False
    kinds = given[1].elts if isinstance(given[1], ast.Tuple) else [given[1]]
    return not any(ast.unparse(kind) in _BASIC for kind in kinds)


def _kind(name: str, flags: frozenset[str]) -> str:
    last = re.sub(r"\(.*$", "", name.rpartition(".")[2])
    if _asked_of_data(name) or _AT_HAND.search(last):
        return "unknown"
    if name in ("server_args", "self.server_args"):
        # The record as a whole is there in any case.
        return "plain"
    if _PLATFORM.search(name):
        return "machine"
    if _ENVIRONMENT.search(name):
        return "environment"
    if name in _PLAIN or hasattr(builtins, name) or _is_constant(last) or name.startswith("torch."):
        return "plain"
    if last in flags or _BAG.search(name) or _WIDTHS.search(last):
        return "flag"
    if _BACKEND.search(name):
        return "flag"
    if _MACHINE.search(last):
        return "machine"
    if _MODEL.search(name):
        return "model"
    return "unknown"


def _asked_of_data(name: str) -> bool:
    """Whether a name is a file's content, the class of an object, or what a tensor is of."""
    if "(" in name:
        called = name.partition("(")[0]
        return bool(_READ_FILE.search(called)) or called in ("isinstance", "issubclass")
    owner = name.rpartition(".")[0]
    held = owner.rpartition(".")[2]
    return bool(_TENSORS.search(name)) and not (_SETTINGS.search(held) or _BAG.search(f"{owner}."))


def _is_constant(last: str) -> bool:
    """Constants, members of enumerations and classes are spelled in capitals."""
    return bool(re.match(r"_?[A-Z]", last))
