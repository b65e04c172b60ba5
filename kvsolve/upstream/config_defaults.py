"""What a release's configuration classes add to a config.json, as data.

Run in the oracle's environment, where the release and its transformers can be imported::

    PYTHONPATH=tests:. $ORACLE_PYTHON -m kvsolve.upstream.config_defaults RELEASE NAMES [BASE]

prints one JSON object. NAMES is a JSON list of the attributes to note (those that the release's
resolution and pool code reads), BASE the object of a release with the same transformers, which
saves describing the library's own classes again. Nothing of a class is copied: it is made once
without arguments and some more times with one argument changed, and what it then holds is noted.
:func:`merge` joins the releases into one table in which equal classes are stored once.
"""

from __future__ import annotations

import importlib
import inspect
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Collector", "merge"]

FORMULAS: dict[str, tuple[tuple[str, ...], ...]] = {
    "head_dim": (
        ("hidden_size", "//", "num_attention_heads"),
        ("qk_rope_head_dim",),
        ("qk_nope_head_dim", "+", "qk_rope_head_dim"),
    ),
    "num_key_value_heads": (("num_attention_heads",),),
    "num_kv_heads": (("num_attention_heads",),),
    "v_head_dim": (("hidden_size", "//", "num_attention_heads"), ("head_dim",)),
    "swa_head_dim": (("head_dim",),),
    "swa_v_head_dim": (("head_dim",),),
    "swa_num_key_value_heads": (("num_key_value_heads",),),
    "qk_rope_head_dim": (("head_dim",),),
    "qk_head_dim": (("qk_nope_head_dim", "+", "qk_rope_head_dim"),),
    "linear_num_key_heads": (("num_attention_heads",),),
    "linear_num_value_heads": (("num_attention_heads",),),
    "sliding_window_size": (("sliding_window",),),
    "model_max_length": (("max_position_embeddings",),),
    "n_routed_experts": (("num_experts",),),
    "sliding_window": (
        ("use_sliding_window", "and", "sliding_window"),
        ("use_sliding_window", "and", "sliding_window", "0"),
    ),
}
"""Attributes that a class may compute from others, with the formulas tried, in order."""

PROBES: tuple[dict[str, Any], ...] = (
    {"hidden_size": 1920, "num_attention_heads": 12},
    {"num_attention_heads": 24},
    {"qk_rope_head_dim": 48},
    {"qk_nope_head_dim": 80},
    {"head_dim": 136},
    {"num_key_value_heads": 4},
    {"sliding_window": 776},
    {"max_position_embeddings": 7776},
    {"num_experts": 60},
    {"num_experts": 72},
)
LONG = 96
SKIPPED = frozenset(
    {"torch_dtype", "dtype", "transformers_version", "rope_scaling", "_name_or_path"}
)
COMPUTED = frozenset(
    {
        "_commit_hash",
        "full_attention_layer_ids",
        "layers_block_type",
        "linear_layer_ids",
        "rope_parameters",
    }
)
"""Attributes that kvsolve computes itself, so a default instance's value would be wrong."""
MISSING = object()
MADE: dict[str, Any] = {}
"""Instances of the class that is being described, by arguments."""


class Collector:
    """Describes classes; one instance a release.

    Attributes:
        bodies: Descriptions so far, in order; a class is described once.
    """

    def __init__(self, names: frozenset[str], base: type) -> None:
        self.names = names
        self.base = base
        self.bodies: list[dict[str, Any]] = []
        self._known: dict[type, int | None] = {}

    def body(self, cls: type) -> int | None:
        """The index of a class's description, or None where it cannot be made without arguments."""
        if cls not in self._known:
            self._known[cls] = None
            described = self._describe(cls)
            if described is not None:
                self._known[cls] = len(self.bodies)
                self.bodies.append(described)
        return self._known[cls]

    def _describe(self, cls: type) -> dict[str, Any] | None:
        instance = attempt(cls)
        if instance is None:
            return None
        parts = self._parts(cls, instance)
        aliases = dict(getattr(cls, "attribute_map", {}) or {})
        values = {
            name: plain
            for name in sorted(self.names - SKIPPED - set(parts) - set(aliases))
            if (plain := as_data(read(instance, name))) is not MISSING
        }
        rules = self._rules(cls, instance)
        body: dict[str, Any] = {
            "class": [c.__name__ for c in cls.__mro__[: cls.__mro__.index(self.base)]],
            "values": values,
        }
        for key, content in (("parts", parts), ("aliases", aliases), ("rules", rules)):
            if content:
                body[key] = content
        layers = layer_rule(cls)
        if layers is not None:
            body["layers"] = layers
        body["rope"] = rope_rule(cls, instance)
        if takes_flat_text(cls):
            body["flat"] = True
        named = read(attempt(cls, architectures=["Named"]), "architectures")
        if named is not MISSING and named != ["Named"]:
            body["architectures"] = named
        if read(attempt(cls, model_type="named"), "model_type") == "named":
            body["typed"] = True
        count = as_data(read(instance, "num_hidden_layers"))
        if isinstance(count, int) and layers is not None:
            kept = read(attempt(cls, layer_types=["mamba"] * count), "layer_types")
            if isinstance(kept, (list, tuple)) and "mamba" in kept:
                body["legacy"] = True
        swallowed = self._swallowed(cls, instance)
        if swallowed:
            body["swallowed"] = swallowed
        if read(attempt(cls, chunk_size=77), "mamba_chunk_size") == 77:
            body["renamed"] = {"chunk_size": "mamba_chunk_size"}
        return body

    def _parts(self, cls: type, instance: Any) -> dict[str, Any]:
        """Sub-configurations: attribute -> how the part is made."""
        parts: dict[str, Any] = {}
        stated = getattr(cls, "sub_configs", {}) or {}
        # One class of transformers 4.57 tells them of an instance only.
        declared = dict(stated) if isinstance(stated, dict) else {}
        held = {k: v for k, v in vars(instance).items() if isinstance(v, self.base)}
        for name in sorted({*declared, *held}):
            kind = type(held[name]) if name in held else declared[name]
            if not isinstance(kind, type) or not issubclass(kind, self.base):
                parts[name] = {"auto": True, "made": name in held}
                continue
            index = self.body(kind) if kind is not cls else None
            auto = not isinstance(declared.get(name, kind), type) or not issubclass(
                declared.get(name, kind), self.base
            )
            parts[name] = {"body": index, "made": name in held, **({"auto": True} if auto else {})}
        return parts

    def _swallowed(self, cls: type, instance: Any) -> list[str]:
        """Arguments that a class takes without making attributes of them."""
        taken = {"layer_types"}
        for owner in cls.__mro__[: cls.__mro__.index(self.base)]:
            code = owner.__dict__.get("__init__")
            if code is not None:
                taken |= set(inspect.signature(code).parameters)
        missing = [n for n in taken & self.names if lacks(instance, n)]
        return sorted(n for n in missing if not keeps(cls, n))

    def _rules(self, cls: type, instance: Any) -> dict[str, Any]:
        rules: dict[str, Any] = {}
        for name, formulas in FORMULAS.items():
            if read(instance, name) is MISSING:
                continue
            for when, given in (("missing", {}), ("null", {name: None}), ("given", {name: 168})):
                formula = next((f for f in formulas if follows(cls, name, f, given)), None)
                if formula is not None:
                    rules.setdefault(name, {})[when] = list(formula)
        return rules


def attempt(cls: type, **given: Any) -> Any:
    """An instance, or None where the class refuses these arguments; each is made once."""
    if MADE.get("of") is not cls:
        MADE.clear()
        MADE["of"] = cls
    key = repr(sorted(given.items()))
    if key not in MADE:
        try:
            MADE[key] = cls(**given)
        except Exception:
            MADE[key] = None
    return MADE[key]


def keeps(cls: type, name: str) -> bool:
    """Whether an argument becomes an attribute; True where it cannot be tried."""
    for value in (["full_attention"] * 4, 4, "text"):
        made = attempt(cls, **{name: value})
        if made is not None:
            return not lacks(made, name)
    return True


def lacks(instance: Any, name: str) -> bool:
    """Whether there is no such attribute; one that only refuses to be read is there."""
    try:
        getattr(instance, name)
    except AttributeError as error:
        return type(error) is AttributeError
    except Exception:
        return False
    return False


def read(instance: Any, name: str) -> Any:
    """An attribute, or MISSING."""
    try:
        value = getattr(instance, name)
    except Exception:
        return MISSING
    return MISSING if callable(value) else value


def as_data(value: Any) -> Any:
    """A JSON value equal to ``value``, or MISSING."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        items = [as_data(v) for v in value]
        return MISSING if any(v is MISSING for v in items) or len(items) > LONG * 2 else items
    if isinstance(value, dict):
        pairs = {str(k): as_data(v) for k, v in value.items()}
        return MISSING if any(v is MISSING for v in pairs.values()) else pairs
    return MISSING


def evaluate(formula: tuple[str, ...] | list[str], get: Any) -> Any:
    """The value of a formula over attributes; None where one is not a number."""
    first = get(formula[0])
    if len(formula) == 1:
        return first
    second = get(formula[2])
    if formula[1] == "and":
        return second if first else None  # or 0: see follows
    if not isinstance(first, int) or not isinstance(second, int):
        return None
    return first + second if formula[1] == "+" else first // second


def follows(cls: type, name: str, formula: tuple[str, ...], given: dict[str, Any]) -> bool:
    """Whether an attribute that is not given obeys a formula, and moves with it."""
    if name == "sliding_window":
        off = read(attempt(cls, sliding_window=776, use_sliding_window=False), name)
        on = read(attempt(cls, sliding_window=776, use_sliding_window=True), name)
        wanted = 0 if formula[3:] else None
        return not given and on == 776 and type(off) is type(wanted) and off == wanted
    seen = set()
    for probe in ({}, *PROBES):
        instance = attempt(cls, **{k: v for k, v in probe.items() if k != name}, **given)
        if instance is None:
            continue
        value = read(instance, name)
        if (
            value is MISSING
            or value is None
            or value != evaluate(formula, lambda key, made=instance: read(made, key))
        ):
            return False
        seen.add(value)
    return len(seen) > 1


def layer_rule(cls: type) -> dict[str, Any] | None:
    """How ``layer_types`` is filled where the config.json does not give it."""
    plain = read(attempt(cls), "layer_types")
    if plain is MISSING:
        return None
    if not isinstance(plain, (list, tuple)):
        return {"default": None}
    long = read(attempt(cls, num_hidden_layers=LONG), "layer_types")
    if not isinstance(long, (list, tuple)) or len(long) != LONG:
        return {"default": list(plain)}
    rule: dict[str, Any] = {"period": period(list(long))}
    window = read(
        attempt(
            cls,
            num_hidden_layers=LONG,
            use_sliding_window=True,
            sliding_window=64,
            max_window_layers=7,
        ),
        "layer_types",
    )
    if window == ["full_attention"] * 7 + ["sliding_attention"] * (LONG - 7):
        rule["window"] = True
    for key in ("sliding_window_pattern", "full_attention_interval", "layer_types_interval"):
        five = read(attempt(cls, num_hidden_layers=LONG, **{key: 5}), "layer_types")
        if isinstance(five, (list, tuple)) and list(five) != list(long):
            rule["every"] = {"attribute": key, "period": period(list(five))}
    if long[-1] != rule["period"][(LONG - 1) % len(rule["period"])]:
        rule["last"] = long[-1]
    return rule


def period(types: list[str]) -> list[str]:
    """The shortest list that, repeated, gives all but perhaps the last of ``types``."""
    for size in range(1, len(types)):
        if all(types[i] == types[i % size] for i in range(len(types) - 1)):
            return types[:size]
    return types


def takes_flat_text(cls: type) -> bool:
    """Whether keys of the text part may stand at the top of the config.json."""
    made = attempt(cls, hidden_size=1920, num_attention_heads=12)
    return bool(read(read(made, "text_config"), "hidden_size") == 1920)


def rope_rule(cls: type, instance: Any) -> dict[str, Any]:
    """What becomes of ``rope_theta`` and ``rope_scaling``."""
    default = read(instance, "rope_parameters")
    if default is MISSING:
        return {"kind": "raw"}  # no default: the attribute is not there
    nested = isinstance(default, dict) and any(isinstance(v, dict) for v in default.values())
    scaled = attempt(cls, rope_theta=12345.0, rope_scaling={"rope_type": "linear", "factor": 2.0})
    found = read(scaled, "rope_parameters") if scaled is not None else MISSING
    if isinstance(found, dict) and found.get("factor") == 2.0:
        kind = "standard" if found.get("rope_theta") == 12345.0 else "raw"
    else:
        kind = "nested" if nested else "kept"
    return {"kind": kind, "default": as_data(default) if as_data(default) is not MISSING else None}


def collect(names: frozenset[str], base: dict[str, Any] | None = None) -> dict[str, Any]:
    """Describe every configuration class that the imported release knows.

    Args:
        names: Attributes to note.
        base: The description of a release with the same transformers: what that library itself
            brings is taken from there, and only the release's own classes are made.
    """
    transformers = importlib.import_module("transformers")
    registry = _registry()
    mapping = transformers.CONFIG_MAPPING
    collector = Collector(names, transformers.PretrainedConfig)
    types: dict[str, int] = {}
    for name in sorted({*mapping.keys(), *registry}):
        cls = registry.get(name) or mapping[name]
        if base is not None and not cls.__module__.startswith("sglang"):
            continue
        index = collector.body(cls)
        if index is not None:
            types[name] = index
    utilities = importlib.import_module("transformers.configuration_utils")
    found = {
        "bodies": collector.bodies,
        "types": types,
        "registered": sorted(registry),
        "base": collector.body(transformers.PretrainedConfig),
        "legacy_layer_types": dict(getattr(utilities, "_LEGACY_LAYER_TYPE_REMAP", {})),
    }
    return found if base is None else joined(found, base, set(mapping.keys()))


def _registry() -> dict[str, type]:
    """The release's own configuration classes by model type; up to 0.5.10 in one module."""
    try:
        module = importlib.import_module("sglang.srt.utils.hf_transformers.common")
    except ModuleNotFoundError:
        module = importlib.import_module("sglang.srt.utils.hf_transformers_utils")
    return dict(module._CONFIG_REGISTRY)


def joined(found: dict[str, Any], base: dict[str, Any], mapped: set[str]) -> dict[str, Any]:
    """The release's own classes beside those of its library."""
    offset = len(base["bodies"])
    place = {i: i + offset for i in range(len(found["bodies"]))}
    bodies = [*base["bodies"], *(relocate(body, place) for body in found["bodies"])]
    types = {name: i for name, i in base["types"].items() if name in mapped}
    types |= {name: place[i] for name, i in found["types"].items()}
    return {**found, "bodies": bodies, "types": types, "base": base["base"]}


def merge(releases: dict[str, dict[str, Any]], table: Sequence[str] = ()) -> list[str]:
    """The lines of one table for all releases: the index, then each distinct class once.

    Args:
        releases: What :func:`collect` told of each.
        table: The lines of a table that these releases are added to, or take their place in.
    """
    lines = list(table[1:])
    index = {line: number for number, line in enumerate(lines)}
    out: dict[str, Any] = dict(json.loads(table[0])["releases"]) if table else {}
    for release, found in sorted(releases.items()):
        base = found["bodies"][found["base"]]
        place: dict[int, int] = {}
        for i, body in enumerate(found["bodies"]):
            above = {"values": {}} if body is base else base
            text = as_line(relocate(without(body, above), place))
            if text not in index:
                index[text] = len(lines)
                lines.append(text)
            place[i] = index[text]
        out[release] = {
            "types": {name: place[i] for name, i in found["types"].items()},
            "registered": found["registered"],
            "base": place[found["base"]],
            "legacy_layer_types": found["legacy_layer_types"],
        }
    return [as_line({"releases": out}), *lines]


def as_line(data: Any) -> str:
    """Compact JSON, the same bytes every time."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def without(body: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """A body without what every class has, and without what its layer rule says."""
    values = {
        name: value
        for name, value in body["values"].items()
        if base["values"].get(name, MISSING) != value
        and not (name == "layer_types" and "layers" in body)
        and name not in COMPUTED
    }
    return {**body, "values": values}


def relocate(body: dict[str, Any], place: dict[int, int]) -> dict[str, Any]:
    """The body with the indices of its parts replaced."""
    parts = {
        name: {**part, "body": place.get(part["body"])} if part.get("body") is not None else part
        for name, part in body.get("parts", {}).items()
    }
    return {**body, "parts": parts} if parts else body


def write_table(folder: str, target: str) -> None:
    """Join the files ``cd-RELEASE.json`` of a folder into the shipped table."""
    found = {
        path.stem.removeprefix("cd-"): json.loads(path.read_text())
        for path in sorted(Path(folder).glob("cd-*.json"))
    }
    Path(target).write_text("\n".join(merge(found)) + "\n")


def main(release: str, names_file: str, base_file: str | None = None) -> None:
    """Print the description of one release, or (``merge FOLDER TARGET``) join several."""
    home = importlib.import_module("conformance.oracle.home")
    hardware = importlib.import_module("conformance.oracle.faked_hardware")
    site = home.site(release)
    sys.path[:0] = [str(site), str(home.transformers_site(release))]
    hardware.install("h100", site)
    logging.disable(logging.CRITICAL)
    base = json.loads(Path(base_file).read_text()) if base_file else None
    found = collect(frozenset(json.loads(Path(names_file).read_text())), base)
    json.dump(found, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    if sys.argv[1] == "merge":
        write_table(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
