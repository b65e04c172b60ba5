"""A model's configuration as the release's resolution sees it, from a config.json.

:func:`load_config_json` reads the file, :func:`model_configuration` does what the release does to
it: the classes' defaults, the selection of the text part, the rewriting of architectures and of
Gemma 4's head widths, and ``--json-model-override-args``.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.inputs.config_classes import ClassTable, class_table
from kvsolve.inputs.config_object import DraftObject, make_object
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = [
    "ConfigFileError",
    "ModelFiles",
    "load_config_json",
    "model_configuration",
    "own_text_part",
    "text_part",
    "unread_types",
]

GEMMA4_TYPES = frozenset(
    [
        "gemma4",
        "gemma4_assistant",
        "gemma4_unified",
        "gemma4_unified_assistant",
        "diffusion_gemma",
        "embedding_gemma2",
    ]
)
LONGCAT = frozenset({"LongcatCausalLM", "LongcatFlashForCausalLM", "LongcatFlashNgramForCausalLM"})
TEXT_PARTS = ("text_config", "llm_config", "language_config", "thinker_config")
SHARED = ("pad_token_id", "bos_token_id", "eos_token_id", "tie_word_embeddings")
NOT_FLATTENED = frozenset({"torch_dtype", "rope_scaling", "model_type"})
READ_BY_HAND = frozenset({"deepseek_v32"})
"""Types that no library knows and that every release reads as a relative's."""
PER_LAYER = frozenset({"head_dim", "num_key_value_heads"})
"""Gemma 4: since 0.5.22 the library tells these layer by layer only."""


class ConfigFileError(KvsolveError):
    """A config.json cannot be used; the text names the file and, where it can, the line."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What is known of a model's files.

    Attributes:
        config: Keys of the config.json.
        name: How the model was named, for messages.
        quantization: Keys of a side file ``hf_quant_config.json``, None where there is none.
        modelslim: Whether a side file ``quant_model_description.json`` lies beside it.
        directory: The local directory, None where the facts come from a table.
        fp8_experts: Whether the weights of the experts are known to be stored in FP8.
        fp4_experts: Whether those of a DeepSeek-V4 checkpoint are stored in FP4, None where the
            checkpoint was not looked at.
    """

    config: Mapping[str, Any]
    name: str = ""
    quantization: Mapping[str, Any] | None = None
    modelslim: bool = False
    directory: Path | None = None
    fp8_experts: bool = False
    fp4_experts: bool | None = None


def load_config_json(path: Path) -> dict[str, Any]:
    """The keys of a config.json.

    Args:
        path: The file, or the directory that holds it.

    Raises:
        ConfigFileError: It cannot be read, is no JSON, or is no JSON object.
    """
    file = path / "config.json" if path.is_dir() else path
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigFileError(f"cannot read the model configuration {file}: {reason}") from error
    except UnicodeDecodeError as error:
        raise ConfigFileError(f"the model configuration {file} is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise ConfigFileError(
            f"the model configuration {file} is not valid JSON: "
            f"line {error.lineno}, column {error.colno}: {error.msg}"
        ) from error
    except RecursionError as error:
        raise ConfigFileError(f"the model configuration {file} is nested too deeply") from error
    return checked(data, str(file))


def checked(data: Any, where: str) -> dict[str, Any]:
    """The keys of a configuration, after a look at their types.

    Raises:
        ConfigFileError: It is no object, or a key that decides the architecture has a wrong type.
    """
    if not isinstance(data, dict):
        raise ConfigFileError(
            f"the model configuration {where} must be a JSON object, not {_kind(data)}"
        )
    architectures = data.get("architectures")
    if architectures is not None and not (
        isinstance(architectures, list) and all(isinstance(a, str) for a in architectures)
    ):
        raise ConfigFileError(
            f"the model configuration {where}: architectures must be a list of names"
        )
    if not isinstance(data.get("model_type", ""), (str, type(None))):
        raise ConfigFileError(f"the model configuration {where}: model_type must be a text")
    for name in ("hidden_size", "num_attention_heads", "num_hidden_layers", "num_key_value_heads"):
        value = data.get(name)
        if value is not None and (type(value) is not int or value < 0):
            raise ConfigFileError(f"the model configuration {where}: {name} must be a whole number")
    return data


def _kind(data: object) -> str:
    names = {list: "an array", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(data), "a number")


def model_configuration(
    release: str, files: ModelFiles, overrides: Mapping[str, Any] | None = None
) -> DraftObject:
    """The configuration object that the release makes of a model's files.

    Args:
        release: Release of SGLang.
        files: The model.
        overrides: ``--json-model-override-args``.
    """
    table = class_table(release)
    files = _as_relative(files, table)
    config = make_object(files.config, table)
    names = config.get("architectures") or []
    if len(names) == 1 and names[0] in LONGCAT:
        config = make_object(files.config, table, table.of_type("longcat_flash"))
    text = text_part(config, table)
    if config.get("model_type") in table.registered:
        text = text_part(config, table) if config.kind.parts else config
    else:
        _flatten(config, text, release)
    if config.get("model_type") == "internvl_chat":
        config.attributes = {**text.attributes, **config.attributes}
    if config.get("model_type") in GEMMA4_TYPES:
        _gemma4(config, files.config)
    if config.get("model_type") == "longcat_flash":
        config.set("architectures", ["LongcatFlashForCausalLM"])
    if config.get("model_type") == "multi_modality":
        config.set("architectures", ["MultiModalityCausalLM"])
    for name, value in (overrides or {}).items():
        _override(config, name, value, release)
    text_part(config, table)
    return config


def unread_types(release: str, files: ModelFiles | None, *, remote: bool) -> tuple[str, ...]:
    """What is open of a model whose type a release's library may not know at all.

    Args:
        release: Release of SGLang.
        files: The model; None where nothing is known of it.
        remote: Whether the command trusts code that comes with the model.
    """
    kind = files.config.get("model_type") if files is not None else None
    table = class_table(release)
    known = table.knows(kind) or kind in table.registered or kind in READ_BY_HAND
    if not kind or remote or known:
        return ()
    return (f"whether SGLang {release} reads a model of type {kind}",)


def _as_relative(files: ModelFiles, table: ClassTable) -> ModelFiles:
    """A DeepSeek-V3.2 as releases read it whose library does not know it: as a DeepSeek-V3."""
    kind = files.config.get("model_type")
    if kind not in READ_BY_HAND or table.knows(kind) or kind in table.registered:
        return files
    changes = {"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"]}
    return replace(files, config={**files.config, **changes})


def _flatten(config: DraftObject, text: DraftObject, release: str) -> None:
    """Attributes of the text part that the whole lacks are copied up."""
    if text is config:
        return
    apart = NOT_FLATTENED
    if config.get("model_type") in GEMMA4_TYPES and _at_least(release, 22):
        apart = apart | PER_LAYER
    for name, value in text.attributes.items():
        if value is not None and not config.has(name) and name not in apart:
            config.attributes[name] = value
    if "rope_parameters" in config.attributes:
        config.attributes["rope_scaling"] = config.attributes["rope_parameters"]


def _override(config: DraftObject, name: str, value: Any, release: str) -> None:
    current = config.get(name)
    if isinstance(value, dict) and isinstance(current, DraftObject) and _at_least(release, 17):
        for key, part in value.items():
            current.set(key, part)
    elif name in ("rope_scaling", "rope_parameters") and isinstance(value, dict):
        merged = value
        if isinstance(current, dict) and _at_least(release, 23):
            merged = {**current, **value}
        config.attributes["rope_scaling"] = config.attributes["rope_parameters"] = merged
    elif name in ("dtype", "torch_dtype"):
        dtype = f"torch.{value}" if isinstance(value, str) else value
        config.attributes["dtype"] = config.attributes["torch_dtype"] = dtype
    else:
        config.set(name, value)


def _at_least(release: str, patch: int) -> bool:
    return tuple(int(p) for p in release.split(".")[:3]) >= (0, 5, patch)


def _gemma4(config: DraftObject, data: Mapping[str, Any]) -> None:
    """Gemma 4 states the sliding layers' shapes; the release wants the full layers' first."""
    text = config.get("text_config")
    if not isinstance(text, DraftObject):
        return
    given = data.get("text_config") or {}
    head = given.get("global_head_dim", text.get("global_head_dim")) or text.get("head_dim")
    heads = given.get("num_global_key_value_heads") or text.get("num_key_value_heads")
    text.set("swa_head_dim", text.get("head_dim"))
    text.set("swa_v_head_dim", text.get("head_dim"))
    text.set("swa_num_key_value_heads", text.get("num_key_value_heads"))
    text.set("head_dim", head)
    text.set("num_key_value_heads", heads)
    if not text.has("v_head_dim"):
        text.set("v_head_dim", head)


def text_part(config: DraftObject, table: ClassTable) -> DraftObject:
    """The part that describes the language model; the whole where there is none.

    Parts that are still plain dictionaries become objects, and a few attributes that one side
    lacks are copied from the other, as the release does on the way.
    """
    name = (config.get("architectures") or [""])[0]
    if name.startswith("Llava") and name.endswith("ForCausalLM"):
        config.set("dtype", "torch.float16")
        return config
    _make_parts(config, table)
    _type_of_rope(config)
    text = _selected(config)
    if text is None or text is config:
        return config
    for shared in SHARED:
        if config.has(shared) and not text.has(shared):
            text.set(shared, config.get(shared))
        elif text.has(shared) and not config.has(shared):
            config.set(shared, text.get(shared))
    return text


def _make_parts(config: DraftObject, table: ClassTable) -> None:
    dtype = config.get("dtype")
    for name in TEXT_PARTS:
        part = config.get(name)
        if isinstance(part, dict):
            part = make_object(part, table, table.of_type(None))
            if "model_type" in (config.get(name) or {}):
                part.set("model_type", config.get(name)["model_type"])
            config.set(name, part)
        if isinstance(part, DraftObject) and part.get("dtype") is None and dtype is not None:
            part.attributes["dtype"] = part.attributes["torch_dtype"] = dtype


def _selected(config: DraftObject) -> DraftObject | None:
    thinker = config.get("thinker_config")
    if isinstance(thinker, DraftObject):
        inner = thinker.get("text_config")
        if isinstance(inner, DraftObject):
            inner.attributes["dtype"] = inner.attributes["torch_dtype"] = thinker.get("dtype")
            return inner
        return thinker
    for name in ("llm_config", "language_config", "text_config"):
        part = config.get(name)
        if isinstance(part, DraftObject):
            return part
    return None


def _type_of_rope(config: DraftObject) -> None:
    settings = config.get("rope_scaling")
    if isinstance(settings, dict) and "rope_type" in settings:
        settings.setdefault("type", settings["rope_type"])
    for name in ("text_config", "llm_config", "language_config", "vision_config", "thinker_config"):
        part = config.get(name)
        if isinstance(part, DraftObject):
            _type_of_rope(part)


def own_text_part(config: DraftObject) -> DraftObject:
    """What the library's own ``get_text_config()`` gives: the text part, else the whole."""
    for name in ("text_encoder", "decoder", "generator", "text_config"):
        part = config.get(name)
        if isinstance(part, DraftObject):
            return part
    return config
