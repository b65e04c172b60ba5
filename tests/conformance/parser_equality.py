"""Hold a flag table to a recorded real parser, option by option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.inputs.argv import parse_argv
from kvsolve.inputs.config_file import merge_config_file, switches, unsupported
from kvsolve.model.flag import UNSET

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.model.flag import Flag, FlagTable

__all__ = ["differences", "wrong_answer", "wrong_merge"]

ACTIONS = {
    "StoreAction": "store",
    "StoreTrueAction": "store_true",
    "BooleanOptionalAction": "boolean",
    "LoRAPathAction": "lora_paths",
    "DeprecatedAction": "ignore",
    "DeprecatedStoreTrueAction": "const",
    "DeprecatedStoreConstAction": "const",
    "DeprecatedAliasStoreAction": "alias",
}
TYPES = {
    None: "str",
    "loads": "json",
    "json_list_type": "strict_json",
    "human_readable_int": "human_int",
    "parse_cuda_graph_backend_arg": "living_word",
    "parse_cuda_graph_config_arg": "phase_settings",
}


def differences(recorded: dict[str, Any], table: FlagTable) -> Iterator[str]:
    """Say, one line each, where the table and the real parser differ."""
    real = {option["spellings"][0]: option for option in recorded["options"]}
    ours = {flag.name: flag for flag in table}
    for name in sorted(real.keys() ^ ours.keys()):
        yield f"{name}: only in the {'real parser' if name in real else 'table'}"
    for name in sorted(real.keys() & ours.keys()):
        wanted, got = _as_table(real[name]), _as_plain(ours[name])
        for key, value in wanted.items():
            if got[key] != value or type(got[key]) is not type(value):
                yield f"{name}: {key} is {value!r} in the real parser, {got[key]!r} in the table"
    yield from _field_differences(recorded["fields"], table)
    yield from _config_differences(recorded["config_file"], table)


def _as_table(option: dict[str, Any]) -> dict[str, Any]:
    action = ACTIONS[option["action"]]
    deprecated = option["action"].startswith("Deprecated")
    valued = action in ("store", "alias", "lora_paths") or (
        option["nargs"] != 0 and action == "const"
    )
    const = True if option["action"] == "DeprecatedStoreTrueAction" else option["const"]
    return {
        "dest": option["dest"],
        "spellings": option["spellings"],
        "action": "refuse" if option["refuses"] else action,
        "nargs": option["nargs"],
        "choices": option["choices"],
        "default": option["default"],
        "required": option["required"],
        "hidden": option["hidden"],
        **({"type": TYPES.get(option["type"], option["type"])} if valued else {}),
        **({"const": const} if action in ("store", "alias", "const") else {}),
        **({"deprecated": True} if deprecated else {}),
        **({"new_flag": option["new_flag"]} if option["new_flag"] else {}),
    }


def _as_plain(flag: Flag) -> dict[str, Any]:
    return {
        "dest": flag.dest,
        "spellings": list(flag.spellings),
        "action": flag.action,
        "nargs": flag.nargs,
        "choices": None if flag.choices is None else list(flag.choices),
        "default": "==SUPPRESS==" if flag.default is UNSET else flag.default,
        "required": flag.required,
        "hidden": flag.hidden,
        "type": flag.type.removesuffix("_living"),
        "const": flag.const,
        "deprecated": flag.deprecated,
        "new_flag": flag.new_flag,
    }


def _field_differences(fields: dict[str, Any], table: FlagTable) -> Iterator[str]:
    for name in sorted(fields.keys() ^ table.fields.keys()):
        yield f"field {name}: only in the {'real record' if name in fields else 'table'}"
    for name, wanted in fields.items():
        value = None if wanted == "<required>" else wanted
        found = table.fields.get(name)
        if found != value or type(found) is not type(value):
            yield f"field {name}: {wanted!r} in the real record, {found!r} in the table"


def _config_differences(config: dict[str, list[str]], table: FlagTable) -> Iterator[str]:
    ours = {"switches": switches(table), "unsupported": unsupported(table)}
    for name, keys in config.items():
        for key in sorted(set(keys) ^ ours[name]):
            yield f"--config: {key} is {name} on one side only"


def wrong_merge(real: dict[str, Any], table: FlagTable) -> str | None:
    """What is wrong about our reading of a recorded ``--config`` file, or None."""
    found = merge_config_file(real["tokens"], table, lambda path: load_yaml(real["text"]))
    if real["raised"]:
        return None if found.problems else f"accepted: {found.argv}"
    if found.problems:
        return f"refused: {found.problems}"
    return None if list(found.argv) == real["merged"] else f"merged: {found.argv}"


def load_yaml(text: str) -> Any:
    """The text as the real reader has it."""
    import yaml

    return yaml.safe_load(text)


def wrong_answer(real: dict[str, Any], table: FlagTable) -> str | None:
    """What is wrong about our answer to a recorded command line, or None."""
    parsed = parse_argv(real["tokens"], table)
    # What upstream does after its parser is no part of the record.
    first = next((p for p in parsed.problems if p.kind != "bad-level"), None)
    if real["kind"] == "ok":
        if first is not None:
            return f"refused: {first}"
        usual = parse_argv(["--model-path", "m"], table).values
        changed = {
            name: value
            for name, value in parsed.values.items()
            if (value != usual[name] or name == "model_path")
            and name not in table.launcher["noticed"]
        }
        same = repr(sorted(changed.items())) == repr(sorted(real["values"].items()))
        return None if same else f"values: {changed}"
    if first is None:
        return "accepted"
    if real["kind"] == "crash":
        return None if first.crash else f"no crash: {first}"
    kind = "unknown" if first.kind == "stray" else first.kind
    if kind != real["kind"] or first.crash:
        return f"another kind: {first}"
    if "name" in real and real["name"] not in (first.name, first.spelling):
        return f"another option: {first}"
    if "typed" in real and real["typed"].split("=")[0] != first.spelling:
        return f"another token: {first}"
    return None
