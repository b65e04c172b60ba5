"""Record the real facts of one platform: ``python -m conformance.facts_probe ...`` in the oracle.

For a release, a platform and every synthetic model this asks the release's own objects: the
platform and its helpers, the environment's defaults, the ModelConfig, the transformers config with
the defaults of its class, and the helpers that argument resolution asks about them. kvsolve
derives the same facts from a config.json and from profiles; tests hold the two together.

An object is ``{"__object__": class, "attributes": {...}}``, a plain dict stays a dict, and a value
that could not be had is ``{"__raised__": exception type}``.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .oracle.encoding import OPAQUE, encode
from .oracle.gpu_profiles import GPU_PROFILES
from .oracle.model_configs import DRAFTS, MODELS, model_path
from .oracle.placeholders import BY_KIND, EVERYWHERE
from .oracle.validator import Validator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["model_facts", "platform_facts"]

HELPER = re.compile(
    r"(is|has|use|support|supports|can|should|cpu_has|xpu_has|device_has|get_device|get_nvidia|get_cuda"
    r"|get_hip|get_rocm|get_.*_memory_capacity|_?is|_?has|_?use|_?default)(_\w+)?"
)
MODEL_ARGUMENTS = frozenset(
    ["config", "hf_config", "model_config", "hf_text_config", "text_config"]
)
ABSENT_PACKAGES = [
    "vllm",
    "wave_lang",
    "helion",
    "hpc",
    "lmcache",
    "mlx",
    "pymlx",
    "sglang_router",
    "granian",
    "torchada",
]
SMALL = 400
"""Characters of JSON above which the answer of a helper about a model is left out."""


def platform_facts(validator: Validator) -> dict[str, Any]:
    """What does not depend on the model."""
    from sglang.srt.platforms import current_platform

    facts = {
        "current_platform": _object_with_methods(current_platform),
        "environment": dict(_environment()),
        "platform_helpers": dict(_helpers()),
        "packages": _packages(),
        "quantization": dict(_quantization()),
        "torch": _torch(validator.profile.kind),
    }
    context = sys.modules.get("sglang.srt.runtime_context")
    if hasattr(context, "get_platform"):
        facts["platform_context"] = dict(_platform_context(context))
    return facts


def model_facts(name: str) -> dict[str, Any]:
    """What depends on the model, and perhaps on the platform."""
    from sglang.srt.configs.model_config import ModelConfig

    path = model_path(f"@model:{name}")
    config = _answer(lambda: ModelConfig(model_path=path))
    if isinstance(config, dict):
        return {"model_config": config, "raw": _answer(lambda: _hf_config(path))}
    hf_config = config.hf_config
    named = {id(hf_config): "hf_config"}
    text = config.hf_text_config
    facts = {"hf_config": transformers_config(hf_config)}
    facts["hf_text_config"] = _reference(hf_config, text) or transformers_config(text)
    named.setdefault(id(text), "hf_text_config")
    facts["model_config"] = _visible(config, named)
    facts["model_helpers"] = dict(_model_helpers(config, path))
    return facts


def transformers_config(config: Any) -> dict[str, Any]:
    """A transformers config with what its class adds; nested configs are objects too."""
    names = {name for name in dir(config) if not name.startswith("_")}
    names |= set(getattr(config, "attribute_map", None) or {})
    attributes = {}
    for name in sorted(names):
        value = _answer(lambda name=name: getattr(config, name))
        if callable(value):
            continue
        encoded = transformers_config(value) if _is_config(value) else _encoded(value)
        if encoded is not OPAQUE:
            attributes[name] = encoded
    return {"__object__": type(config).__name__, "attributes": attributes}


def _hf_config(path: str) -> Any:
    from sglang.srt.utils.hf_transformers_utils import get_config

    return transformers_config(get_config(path, trust_remote_code=True))


def _is_config(value: Any) -> bool:
    return hasattr(type(value), "model_type") and hasattr(value, "to_dict")


def _reference(config: Any, text: Any) -> dict[str, str] | None:
    """How the text config is reached from the whole one, if it is a part of it."""
    if text is config:
        return {"__same_as__": "hf_config"}
    for name, value in vars(config).items():
        if value is text:
            return {"__same_as__": f"hf_config.{name}"}
    return None


def _visible(value: Any, named: dict[int, str]) -> dict[str, Any]:
    """Attributes and properties of an object, other facts among them by name."""
    attributes = {}
    for name in sorted(set(dir(value))):
        if name.startswith("__"):
            continue
        item = _answer(lambda name=name: getattr(value, name))
        if id(item) in named:
            attributes[name] = {"__same_as__": named[id(item)]}
        elif not callable(item):
            encoded = transformers_config(item) if _is_config(item) else _encoded(item)
            if encoded is not OPAQUE:
                attributes[name] = encoded
    return {"__object__": type(value).__name__, "attributes": attributes}


def _object_with_methods(value: Any) -> dict[str, Any]:
    """An object's attributes and what its methods without arguments say."""
    found = _visible(value, {})
    for name in sorted(set(dir(value))):
        member = _answer(lambda name=name: getattr(value, name))
        if not name.startswith("_") and inspect.ismethod(member) and HELPER.fullmatch(name):
            _keep(found["attributes"], f"{name}()", member)
    return found


def _keep(facts: dict[str, Any], name: str, function: Callable[..., Any]) -> None:
    """Store what a function without required parameters returns, if it has a JSON form."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    if any(
        p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters
    ):
        return
    encoded = _encoded(_answer(function))
    if encoded is not OPAQUE:
        facts[name] = encoded


def _helpers() -> Iterator[tuple[str, Any]]:
    """Every function of the release that takes nothing and tells something of the machine."""
    for name, function in _functions(HELPER):
        facts: dict[str, Any] = {}
        _keep(facts, name, function)
        yield from facts.items()


def _functions(pattern: re.Pattern[str]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions of loaded modules of the release, under the module that defines them."""
    for module_name, module in sorted(sys.modules.items()):
        if not module_name.startswith("sglang.srt."):
            continue
        for name, value in sorted(vars(module).items()):
            if pattern.fullmatch(name) and _defined_in(value, module_name):
                yield f"{module_name.removeprefix('sglang.srt.')}.{name}", value


def _defined_in(value: Any, module: str) -> bool:
    """Whether a value is a function of this module, perhaps cached or with arguments bound."""
    function = inspect.unwrap(value) if callable(value) else None
    function = function.func if isinstance(function, functools.partial) else function
    return inspect.isfunction(function) and function.__module__ == module


def _model_helpers(config: Any, path: str) -> Iterator[tuple[str, Any]]:
    """What helpers of the configs package say to this model's config objects."""
    objects = {
        "config": config.hf_config,
        "hf_config": config.hf_config,
        "model_config": config,
        "hf_text_config": config.hf_text_config,
        "text_config": config.hf_text_config,
    }
    for name, function in _functions(re.compile(r"_?(is|has|get|use|needs?|resolve|uses)_\w+")):
        if not name.startswith(("configs.", "arg_groups.", "server_args.", "utils.")):
            continue
        parameters = list(inspect.signature(function).parameters.values())
        required = [p.name for p in parameters if p.default is p.empty]
        if len(required) == 1 and required[0] in MODEL_ARGUMENTS:
            value = _answer(lambda f=function, r=required: f(objects[r[0]]))
            encoded = {"__same_as__": "hf_config"} if value is config.hf_config else _encoded(value)
            if encoded is not OPAQUE and len(json.dumps(encoded)) < SMALL:
                yield f"{name}({required[0]})", encoded
    from sglang.srt.utils import common

    for name in ("has_fp8_weights_in_checkpoint", "has_hf_quant_config"):
        if hasattr(common, name):
            yield f"utils.common.{name}(path)", _answer(lambda n=name: getattr(common, n)(path))


def _environment() -> Iterator[tuple[str, Any]]:
    """The variables that the release declares: their type and their value here."""
    from sglang.srt.environ import envs

    for name, field in sorted(vars(type(envs)).items()):
        if hasattr(field, "parse") and not getattr(field, "secret", False):
            value = _encoded(_answer(field.get))
            yield name, {"kind": type(field).__name__, "value": None if value is OPAQUE else value}


def _platform_context(context: Any) -> Iterator[tuple[str, Any]]:
    """The facts that the context computes on demand, by the names its module knows."""
    platform = context.get_platform()
    source = inspect.getsource(context)
    for name in sorted(
        set(re.findall(r"\b(?:is|has|device|cpu|supports?)_\w+|\bdevice\b", source))
    ):
        value = _answer(lambda name=name: getattr(platform, name))
        if not isinstance(value, dict) and not callable(value):
            encoded = _encoded(value)
            if encoded is not OPAQUE:
                yield name, encoded


def _quantization() -> Iterator[tuple[str, Any]]:
    """The method class behind each quantisation name, and what it demands."""
    from sglang.srt.layers import quantization

    for name in sorted(quantization.QUANTIZATION_METHODS):
        method = _answer(lambda name=name: quantization.get_quantization_config(name))
        if isinstance(method, dict):
            yield name, method
            continue
        dtypes = _encoded(_answer(method.get_supported_act_dtypes))
        yield (
            name,
            {
                "class": method.__name__,
                "min_capability": _encoded(_answer(method.get_min_capability)),
                "supported_act_dtypes": None if dtypes is OPAQUE else dtypes,
                "config_filenames": _encoded(_answer(method.get_config_filenames)),
            },
        )


def _packages() -> dict[str, bool]:
    names = {*EVERYWHERE.split(), *ABSENT_PACKAGES}
    for packages in BY_KIND.values():
        names |= set(packages.split())
    return {name: importlib.util.find_spec(name) is not None for name in sorted(names)}


def _torch(kind: str) -> dict[str, Any]:
    import torch
    import transformers

    facts: dict[str, Any] = {
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda,
        "hip": torch.version.hip,
        "transformers": transformers.__version__,
        "triton": __import__("triton").__version__,
    }
    if kind in ("cuda", "hip"):
        facts["capability"] = list(torch.cuda.get_device_capability())
        facts["properties"] = vars(torch.cuda.get_device_properties(0))
        facts["cudnn"] = torch.backends.cudnn.version()
    return facts


def _answer(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except Exception as error:
        return {"__raised__": type(error).__name__}


def _encoded(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"__raised__"}:
        return value
    return encode(value)


def record(release: str, platform: str, models: Iterable[str], target: Path) -> None:
    """Write one file a model, each with the facts of the platform as well."""
    validator = Validator(release, platform)
    target.mkdir(parents=True, exist_ok=True)
    shared = platform_facts(validator)
    for model in models:
        facts = {"release": release, "platform": platform, "model": model, **shared}
        facts |= model_facts(model)
        path = target / f"{platform}-{model}.json"
        path.write_text(json.dumps(facts, indent=0, sort_keys=True), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the real facts of one platform.")
    parser.add_argument("--release", required=True)
    parser.add_argument("--platform", required=True, choices=sorted(GPU_PROFILES))
    parser.add_argument("--into", type=Path, required=True, help="a directory")
    options = parser.parse_args()
    record(options.release, options.platform, [*MODELS, *DRAFTS], options.into)


if __name__ == "__main__":
    main()
