"""From the keys of a config.json to the attributes that a release's resolution sees.

A configuration class of the model library adds defaults, computes some attributes from others,
gives some a second name and turns nested dictionaries into configurations of their own. Which class
does what is data (:mod:`kvsolve.inputs.config_classes`); this module applies it.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from kvsolve.inputs.computed_attributes import set_computed
from kvsolve.model.fact import ConfigObject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.inputs.config_classes import ClassTable, ConfigClass

__all__ = ["DraftObject", "make_object"]

ROPE_KEYS = ("rope_scaling", "rope_theta", "rope_parameters")
OF_THE_WHOLE = ("model_type", "architectures", "quantization_config")
LENGTH_SCALED = ("llama3", "yarn", "longrope")


class DraftObject:
    """A configuration object while it is being made: attributes can still be set.

    Attributes:
        kind: Its class.
        attributes: By own name; aliases are resolved by :meth:`get` and :meth:`set`.
    """

    def __init__(self, kind: ConfigClass, attributes: dict[str, Any]) -> None:
        self.kind = kind
        self.attributes = attributes

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute, or ``default`` where it is absent."""
        return self.attributes.get(self.kind.aliases.get(name, name), default)

    def has(self, name: str) -> bool:
        """Whether the attribute is there, perhaps as None."""
        return self.kind.aliases.get(name, name) in self.attributes

    def set(self, name: str, value: Any) -> None:
        """Set an attribute."""
        self.attributes[self.kind.aliases.get(name, name)] = value

    def frozen(self, known: dict[int, ConfigObject] | None = None) -> ConfigObject:
        """The finished object; a part that stands in two places stays one object."""
        known = {} if known is None else known
        if id(self) not in known:
            table = {
                name: value.frozen(known) if isinstance(value, DraftObject) else value
                for name, value in self.attributes.items()
            }
            known[id(self)] = ConfigObject(table, self.kind.names, self.kind.aliases)
        return known[id(self)]


def make_object(
    data: Mapping[str, Any], table: ClassTable, kind: ConfigClass | None = None
) -> DraftObject:
    """The configuration that the library makes from the keys of a config.json.

    Args:
        data: The keys.
        table: The classes of the release.
        kind: The class, where something other than ``model_type`` decides it.
    """
    kind = kind or table.of_type(data.get("model_type"))
    made = DraftObject(kind, copy.deepcopy(dict(kind.values)))
    names = {**kind.aliases, **kind.renamed}
    given = {names.get(k, k): copy.deepcopy(v) for k, v in data.items()}
    apart = {*ROPE_KEYS, "torch_dtype", "dtype", *kind.parts, *kind.swallowed}
    made.attributes.update({k: v for k, v in given.items() if k not in apart})
    if kind.architectures is not None:
        made.attributes["architectures"] = list(kind.architectures)
    if "model_type" in kind.values and not (kind.typed and "model_type" in given):
        made.attributes["model_type"] = kind.values["model_type"]
    _set_dtype(made, data)
    _set_parts(made, given, table)
    _apply_rules(made, given)
    _fill_layers(made, given, table)
    _set_rope(made, data)
    set_computed(made)
    return made


def _set_dtype(made: DraftObject, data: Mapping[str, Any]) -> None:
    named = data.get("dtype") or data.get("torch_dtype")
    dtype = f"torch.{named}" if isinstance(named, str) else named
    made.attributes["dtype"] = made.attributes["torch_dtype"] = dtype


def _set_parts(made: DraftObject, given: Mapping[str, Any], table: ClassTable) -> None:
    for name, part in made.kind.parts.items():
        found = given.get(name)
        if isinstance(found, dict):
            kind = _class_of(part, found, table, by_type=name == "llm_config")
            made.attributes[name] = make_object(found, table, kind)
        elif name == "text_config" and made.kind.flat and name not in given:
            _move_text(made, name, given, table, _class_of(part, {}, table))
        elif part.get("made") and found is None:
            made.attributes[name] = make_object({}, table, _class_of(part, {}, table))
        else:
            made.attributes[name] = found


def _move_text(
    made: DraftObject,
    name: str,
    given: Mapping[str, Any],
    table: ClassTable,
    kind: ConfigClass | None,
) -> None:
    """Keys of the text part stand at the top: they move into it."""
    apart = {*OF_THE_WHOLE, *made.kind.parts, *made.kind.values}
    own = {k: v for k, v in given.items() if k not in apart or (kind and k in kind.values)}
    made.attributes[name] = text = make_object(
        {k: v for k, v in own.items() if k not in OF_THE_WHOLE}, table, kind
    )
    for key in own:
        if key in text.kind.values and key not in made.kind.values:
            made.attributes.pop(key, None)


def _class_of(
    part: Mapping[str, Any],
    found: Mapping[str, Any],
    table: ClassTable,
    by_type: bool = False,
) -> ConfigClass | None:
    if (part.get("auto") or by_type) and table.knows(found.get("model_type")):
        return table.of_type(found["model_type"])
    number = part.get("body")
    return None if number is None else table.numbered(number)


def _apply_rules(made: DraftObject, given: Mapping[str, Any]) -> None:
    for name, cases in made.kind.rules.items():
        case = "missing" if name not in given else "null" if given[name] is None else "given"
        formula = cases.get(case) or cases.get("missing", [])
        if formula == cases.get(case) or formula[1:2] == ["and"]:
            value = evaluate(formula, made) if formula else None
            if value is not None or formula[1:2] == ["and"]:
                made.attributes[name] = value


def evaluate(formula: list[str], made: DraftObject) -> Any:
    """The value of a generated formula; None where an attribute it needs is no number."""
    first = made.get(formula[0])
    if len(formula) == 1:
        return first
    second = made.get(formula[2])
    if formula[1] == "and":
        return second if first else 0 if formula[3:] else None
    if not isinstance(first, int) or not isinstance(second, int) or not second:
        return None
    return first + second if formula[1] == "+" else first // second


def _fill_layers(made: DraftObject, given: Mapping[str, Any], table: ClassTable) -> None:
    rule = made.kind.layers
    types = made.get("layer_types")
    if rule is not None and given.get("layer_types") is None:
        types = layer_types(rule, made)
    if isinstance(types, list) and not made.kind.legacy:
        types = [table.legacy_layer_types.get(t, t) if isinstance(t, str) else t for t in types]
    if rule is not None or made.has("layer_types"):
        made.attributes["layer_types"] = types


def layer_types(rule: Mapping[str, Any], made: DraftObject) -> list[str] | None:
    """The layer types that a class fills in."""
    if "default" in rule:
        return rule["default"]  # type: ignore[no-any-return]
    count = made.get("num_hidden_layers") or 0
    if rule.get("window") and made.get("use_sliding_window") and made.get("sliding_window"):
        first = made.get("max_window_layers") or 0
        return ["full_attention" if i < first else "sliding_attention" for i in range(count)]
    repeated = _period(rule, made)
    types = [repeated[i % len(repeated)] for i in range(count)]
    if types and "last" in rule:
        types[-1] = rule["last"]
    return types


def _period(rule: Mapping[str, Any], made: DraftObject) -> list[str]:
    every = rule.get("every")
    plain: list[str] = rule["period"]
    if every is None:
        return plain
    size = made.get(every["attribute"])
    five: list[str] = every["period"]
    if not isinstance(size, int) or size < 1 or len(five) != 5 or size == len(plain):
        return plain
    odd = next(t for t in five if five.count(t) == 1)
    rest = next(t for t in five if t != odd)
    repeated = [rest] * size
    repeated[0 if five[0] == odd else -1] = odd
    return repeated


def _set_rope(made: DraftObject, data: Mapping[str, Any]) -> None:
    """Rotary settings: one dictionary with theta and type, under both of its names."""
    kind = made.kind.rope.get("kind", "raw")
    given = {k: copy.deepcopy(data[k]) for k in ROPE_KEYS if k in data}
    if made.kind.flat and "text_config" not in data:
        return
    if "rope_theta" in made.kind.values and "rope_theta" in given:
        made.attributes["rope_theta"] = given["rope_theta"]
    if kind == "raw":
        _raw_rope(made, given)
        return
    default = copy.deepcopy(made.kind.rope.get("default"))
    settings = (
        given.get("rope_scaling")
        or given.get("rope_parameters")
        or (default if not given.get("rope_theta") or kind == "nested" else {})
    )
    if kind == "nested":
        settings = _nested(settings, default)
    elif isinstance(settings, dict):
        _standardise(settings, made, given, default)
    made.attributes["rope_parameters"] = made.attributes["rope_scaling"] = settings


def _raw_rope(made: DraftObject, given: dict[str, Any]) -> None:
    if "default" in made.kind.rope:
        default = copy.deepcopy(made.kind.rope["default"])
        made.attributes["rope_scaling"] = made.attributes["rope_parameters"] = default
    made.attributes.update(given)
    if "rope_scaling" in given and "rope_parameters" not in given:
        made.attributes["rope_parameters"] = given["rope_scaling"]
    elif "rope_parameters" in given:
        made.attributes["rope_scaling"] = given["rope_parameters"]


def _nested(settings: Any, default: Any) -> Any:
    if not isinstance(settings, dict) or not isinstance(default, dict):
        return default
    if any(isinstance(v, dict) for v in settings.values()):
        return settings
    return {
        name: {**part, **settings} if name == "full_attention" else part
        for name, part in default.items()
    }


def _standardise(
    settings: dict[str, Any], made: DraftObject, given: dict[str, Any], default: Any
) -> None:
    fallback = default.get("rope_theta") if isinstance(default, dict) else None
    settings.setdefault("rope_theta", given.get("rope_theta", fallback))
    settings.setdefault("rope_type", settings.get("type", "default"))
    if settings["rope_type"] == "mrope":
        settings["rope_type"] = "default"
    if made.get("partial_rotary_factor") is not None:
        settings.setdefault("partial_rotary_factor", made.get("partial_rotary_factor"))
    if settings["rope_type"] in LENGTH_SCALED:
        own = made.get("original_max_position_embeddings")
        if own is not None:
            settings["original_max_position_embeddings"] = own
        else:
            settings.setdefault(
                "original_max_position_embeddings", made.get("max_position_embeddings")
            )
