"""What is known by name of the code that derives a release's options.

The reader of options does not interpret these functions and classes; it knows what they mean. A
release in which one of them reads differently is refused until someone has looked and recorded
its fingerprint here.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from kvsolve.upstream.fingerprint import fingerprint
from kvsolve.upstream.static_values import Class, External, Function, UnreadableError

if TYPE_CHECKING:
    from kvsolve.upstream.source import SourceTree
    from kvsolve.upstream.static import Static

__all__ = ["config_reading", "known_action", "known_type", "require_known"]

_BUILT_IN = {"str": "str", "int": "int", "float": "float", "json.loads": "json"}

# Value types that upstream defines: function -> fingerprint -> (our name, what it is about).
_TYPES = {
    "json_list_type": {"ef8e7017d3fc": "strict_json"},
    "human_readable_int": {"db45bd22ff88": "human_int"},
    "nullable_str": {"70105820fe7a": "nullable_str"},
    "parse_cuda_graph_backend_arg": {"3c3213244c60": "living_word"},
    "parse_cuda_graph_config_arg": {
        "4e357066a1eb": "phase_settings",
        "b6e977d70af8": "phase_settings_living",
    },
}
# Actions that upstream defines: class -> fingerprint -> what the action does.
_ACTIONS = {
    "LoRAPathAction": {"52c35bc03e2b": "lora_paths"},
    "DeprecatedAction": {
        "0b1ccd519ab0": "ignore",
        "2c8a400384f6": "ignore_or_refuse",
        "79f568dd20ed": "ignore_or_refuse",
    },
    "DeprecatedStoreTrueAction": {"20e585a2ac0d": "const_true"},
    "DeprecatedStoreConstAction": {"4fe7df287a72": "const"},
    "DeprecatedAliasStoreAction": {"7b9043b8fa2d": "alias"},
}
_ARG_UTILS = "sglang/srt/arg_groups/arg_utils.py"
_MODELLED = {
    (_ARG_UTILS, "add_cli_args_from_dataclass"): ("d26d9f4d6d02", "a6a748d8eac3"),
    (_ARG_UTILS, "_unwrap_annotated"): ("ff4c2e08cc00",),
    (_ARG_UTILS, "_unwrap_optional"): ("411faec8a584",),
    (_ARG_UTILS, "_unwrap_literal"): ("15081ac07812",),
    (_ARG_UTILS, "_infer_type_func"): ("b76ac058fff3",),
    (_ARG_UTILS, "_field_default"): ("efcd8dbb659d", "2873c1c805e8"),
    (_ARG_UTILS, "_field_to_cli_name"): ("77c9033d8817",),
    ("sglang/srt/arg_groups/fields/__init__.py", "collect_input_fields"): ("fcfa2863f981",),
    ("sglang/srt/server_args.py", "_declared_default"): ("ad729c92c8ce",),
}
_MERGERS = {
    "8479db26d86d": {"config_keys": "none", "config_mappings": "text"},
    "c81e9a5ffb47": {"config_keys": "dest", "config_mappings": "text"},
    "3a90b974005c": {"config_keys": "dest"},
    "155fda59fb2e": {"config_keys": "spellings"},
}
_MERGER_FILES = (
    "sglang/srt/server_args_config_parser.py",
    "sglang/srt/utils/server_args_config_parser.py",
)


def require_known(tree: SourceTree) -> None:
    """Make sure that the release derives its options by code that is known.

    Raises:
        UnreadableError: A function that is modelled by name reads differently.
    """
    for (path, name), known in _MODELLED.items():
        node = _definition(tree, path, name)
        if node is not None and fingerprint(node) not in known:
            raise _unknown(tree, path, name, node)


def config_reading(tree: SourceTree) -> dict[str, str]:
    """How the release's ``--config`` reader knows options and writes mappings.

    ``config_keys`` is ``"dest"`` or ``"spellings"``, or ``"none"`` where it knows none: every true
    value gives a bare option, and nothing is refused. ``config_mappings`` is ``"text"`` where a
    mapping becomes Python's text of it; without it it becomes JSON.

    Raises:
        UnreadableError: The reader is missing or unknown.
    """
    for path in _MERGER_FILES:
        node = _definition(tree, path, "ConfigArgumentMerger")
        if node is not None:
            found = _MERGERS.get(fingerprint(node))
            if found is None:
                raise _unknown(tree, path, "ConfigArgumentMerger", node)
            return found
    raise UnreadableError(f"SGLang {tree.release} has no --config reader where one is known.")


def known_type(value: Any, static: Static) -> tuple[str, Any]:
    """Our name of a value type, and the facts of the release that it needs.

    Raises:
        UnreadableError: The type is unknown or reads differently in this release.
    """
    if isinstance(value, External) and value.name in _BUILT_IN:
        return _BUILT_IN[value.name], None
    if not isinstance(value, Function):
        raise UnreadableError(f"{value!r} is no value type that is known.")
    name = _TYPES.get(value.node.name, {}).get(fingerprint(value.node))
    if name is None:
        raise _unknown(static.tree, value.path, value.node.name, value.node)
    return name, _facts(name, value, static)


def _facts(name: str, function: Function, static: Static) -> Any:
    if name == "living_word":
        return {"retired": _retired(function)}
    if name.startswith("phase_settings"):
        allowed = static.lookup(function.path, "ALLOWED_KEYS_PER_PHASE")
        facts: dict[str, Any] = {"phases": {phase: list(keys) for phase, keys in allowed.items()}}
        if name == "phase_settings_living":
            backend = static.lookup(function.path, "parse_cuda_graph_backend_arg")
            facts["retired"] = {"backend": known_type(backend, static)[1]["retired"]}
        return facts
    return None


def _retired(function: Function) -> list[str]:
    """The words that the function refuses by comparing its argument with them."""
    found = []
    for node in ast.walk(function.node):
        if isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Constant):
            found.append(str(node.comparators[0].value))
    return found


def known_action(value: Any, static: Static) -> str:
    """What an action class does.

    Raises:
        UnreadableError: The class is unknown or reads differently in this release.
    """
    if value in ("store", "store_true"):
        return str(value)
    if isinstance(value, External) and value.name == "argparse.BooleanOptionalAction":
        return "boolean"
    if not isinstance(value, Class):
        raise UnreadableError(f"{value!r} is no action that is known.")
    found = _ACTIONS.get(value.node.name, {}).get(fingerprint(value.node))
    if found is None:
        raise _unknown(static.tree, value.path, value.node.name, value.node)
    return found


def _definition(tree: SourceTree, path: str, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    if not tree.exists(path):
        return None
    for node in tree.parse(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node
    return None


def _unknown(
    tree: SourceTree, path: str, name: str, node: ast.FunctionDef | ast.ClassDef
) -> UnreadableError:
    return UnreadableError(
        f"{path} of SGLang {tree.release}: {name} (fingerprint {fingerprint(node)}) is not the "
        "code that is known; read it and record it in kvsolve/upstream/derived_code.py."
    )
