"""What a release decides from a model's architecture name, as data.

Run in the oracle's environment, where the release can be imported::

    PYTHONPATH=tests:. $ORACLE_PYTHON -m kvsolve.upstream.architectures RELEASE

prints one JSON line. Every architecture name that the release's sources mention is put to the
release's own functions, one at a time, with made-up sizes; what they answer is noted. Nothing of
their code is copied.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import logging
import re
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["collect"]

PREDICATES = {
    "audio": "is_audio_model",
    "breakable_graph": "is_multimodal_breakable_cuda_graph_supported",
    "encoder_decoder": "is_encoder_decoder_model",
    "hybrid_swa": "is_hybrid_swa_model",
    "local_attention": "is_local_attention_model",
    "multimodal": "is_multimodal_model",
    "piecewise_disabled": "is_piecewise_cuda_graph_disabled_model",
    "piecewise_graph": "is_multimodal_piecewise_cuda_graph_supported",
}
NEGATED = {
    "no_chunked_multimodal": "is_multimodal_chunked_prefill_supported",
    "not_generation": "is_generation_model",
}
NAME = re.compile(
    r"[A-Z][A-Za-z0-9_]+(For[A-Z]\w+|Model|NextN|MTP|DSpark|Eagle|V2|VL|MiniCPMO|MiniCPMV|Contriever"
    r"|MiniCPM\w|Weights|Omni_Reasoning_V3)"
)
LISTED = re.compile(r"[A-Z][a-z0-9A-Z]*[a-z][A-Za-z0-9_]{3,}")
"""Names in the model configuration's own lists need not end like the others."""
SIZES = {
    "hidden_size": 1600,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "num_hidden_layers": 8,
    "head_dim": 104,
    "v_head_dim": 56,
    "qk_nope_head_dim": 40,
    "qk_rope_head_dim": 24,
    "q_lora_rank": 96,
    "vocab_size": 1000,
    "vision_vocab_size": 900,
    "index_head_dim": 32,
    "sliding_window": 128,
    "compress_ratios": [],
    "rope_scaling": None,
    "use_mla_nope": False,
    "rope_parameters": None,
    "layer_types": ["full_attention", "sliding_attention"] * 4,
    "hybrid_layer_pattern": [1, 1, 0, 0, 1, 1, 0, 0],
    "local_layer_ids": [0, 5],
    "mtp_local_layer_ids": [0],
    "num_nextn_predict_layers": 1,
}
SHAPES = {104: "head_dim", 64: "qk_nope_head_dim + qk_rope_head_dim", 56: "v_head_dim"}
LAYERS = {
    (0, 1, 2, 4, 5, 6): "every fourth full",
    (1, 3, 5, 7): "layer_types",
    (0, 1, 4, 5): "hybrid_layer_pattern",
    (0, 5): "local_layer_ids",
    (0,): "first",
    (0, 1, 2, 3, 4, 5, 6, 7): "all",
}


def architecture_names(srt: Path) -> list[str]:
    """Every text in the release's model files and configuration code that looks like a name."""
    files = [*sorted((srt / "models").rglob("*.py")), *sorted((srt / "configs").rglob("*.py"))]
    found: set[str] = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8-sig"))):
            if isinstance(node, ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    lists = ast.parse((srt / "configs" / "model_config.py").read_text("utf-8-sig"))
    listed_names = {
        node.value
        for node in ast.walk(lists)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and LISTED.fullmatch(node.value)
    }
    return sorted({name for name in found if NAME.fullmatch(name)} | listed_names)


def answers(module: Any, function: str, names: list[str], wanted: bool) -> list[str]:
    """The names for which a function of one list answers as wanted."""
    ask = getattr(module, function, None)
    if ask is None:
        return []
    # From 0.5.14 one of them takes the configuration besides.
    arguments = (None,) * (len(inspect.signature(ask).parameters) - 1)
    out = []
    for name in names:
        try:
            if bool(ask([name], *arguments)) is wanted:
                out.append(name)
        except Exception:
            out.append(name)
    return out


def made_up(name: str, **changes: Any) -> tuple[Any, Any]:
    """A ModelConfig without its constructor, and its configuration."""
    module = importlib.import_module("sglang.srt.configs.model_config")
    text = SimpleNamespace(**{**SIZES, "model_type": "", "architectures": [name], **changes})
    made = module.ModelConfig.__new__(module.ModelConfig)
    values = {
        "hf_config": text,
        "hf_text_config": text,
        "is_draft_model": False,
        "disable_hybrid_swa_memory": False,
        "quantization": None,
        "context_len": 4096,
        "model_path": "",
        "sliding_window_size": 128,
    }
    for key, value in values.items():
        setattr(made, key, value)
    return made, text


def shape(name: str, **changes: Any) -> list[Any] | None:
    """Attention family and how the two head widths are had; None where it cannot be told."""
    made, _ = made_up(name, **changes)
    try:
        made._derive_model_shapes()
    except Exception:
        return None
    # Up to 0.5.6.post1 only latent attention has a width of its own for values.
    width = getattr(made, "v_head_dim", made.head_dim)
    return [
        made.attention_arch.name,
        SHAPES.get(made.head_dim, made.head_dim),
        SHAPES.get(width, width),
    ]


def shapes(names: list[str]) -> dict[str, Any]:
    """Names whose attention is not the ordinary one."""
    ordinary = ["MHA", "head_dim", "v_head_dim"]
    found: dict[str, Any] = {}
    for name in names:
        latent = shape(name, kv_lora_rank=512)
        plain = shape(name, kv_lora_rank=None)
        if latent != ordinary or plain != ordinary:
            found[name] = {"latent": latent, "plain": plain}
    return found


def layer_rules(names: list[str]) -> dict[str, str]:
    """How the sliding layers of each name are told."""
    found = {}
    for name in names:
        made, text = made_up(name)
        text.is_hybrid_swa = True
        try:
            made._derive_hybrid_model()
        except Exception:
            continue
        layers = getattr(made, "swa_attention_layer_ids", None)
        if layers is None and getattr(made, "is_hybrid_swa", None) is False:
            continue  # up to 0.5.13 the name alone decides, so no layers are asked for
        rule = "none" if layers is None else LAYERS.get(tuple(layers), "unknown")
        if rule != "hybrid_layer_pattern":
            found[name] = rule
    return found


def detected(names: list[str], attribute: str) -> list[str]:
    """Names for which the hybrid derivation sets a flag without help of the configuration."""
    out = []
    for name in names:
        made, text = made_up(name)
        text.is_hybrid_swa = True
        try:
            made._derive_hybrid_model()
        except Exception:
            continue
        if getattr(made, attribute, False):
            out.append(name)
    return out


def embedding_specs(names: list[str]) -> dict[str, Any]:
    """Embedding capabilities by name, with and without the embedding flag."""
    try:
        module = importlib.import_module("sglang.srt.configs.embedding_model_spec")
    except ModuleNotFoundError:
        return {}

    def ask(name: str, requested: bool, gemma: bool = False) -> dict[str, Any]:
        spec = module.resolve_embedding_model_spec(
            [name], is_embedding_requested=requested, is_embedding_gemma=gemma
        )
        fields = [f for f in dir(spec) if not f.startswith("_")]
        values = {f: getattr(spec, f) for f in fields}
        return {
            f: getattr(v, "value", v)
            for f, v in values.items()
            if isinstance(v, (str, bool, int, type(None))) or hasattr(v, "value")
        }

    default = [ask("Nobody", r) for r in (False, True)]
    found = {"": default, "gemma": [ask("Nobody", r, True) for r in (False, True)]}
    for name in names:
        spec = [ask(name, r) for r in (False, True)]
        if spec != default:
            found[name] = spec
    return found


def listed(srt: Path, variable: str) -> list[str]:
    """The texts of a list that the model configuration assigns to a local variable."""
    tree = ast.parse((srt / "configs" / "model_config.py").read_text(encoding="utf-8-sig"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == variable:
            return [str(c.value) for c in ast.walk(node.value) if isinstance(c, ast.Constant)]
    return []


def classes_with(srt: Path, attribute: str) -> list[str]:
    """Model classes that set an attribute to True, or extend one that does."""
    bases: dict[str, list[str]] = {}
    holders: set[str] = set()
    for path in sorted((srt / "models").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8-sig")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            bases[node.name] = [b.id for b in node.bases if isinstance(b, ast.Name)]
            for line in node.body:
                if isinstance(line, ast.Assign) and getattr(line.targets[0], "id", "") == attribute:
                    holders.add(node.name)
    while True:
        more = {n for n, above in bases.items() if holders & set(above)} - holders
        if not more:
            return sorted(holders)
        holders |= more


def boundary_reductions(names: list[str]) -> dict[str, str]:
    """Default of the boundary reduction where a name alone decides it."""
    try:
        module = importlib.import_module("sglang.srt.arg_groups.boundary_reduction")
    except ModuleNotFoundError:
        return {}
    ask = module.model_boundary_reduction
    default = ask(SimpleNamespace(architectures=["Nobody"]))
    found = {n: ask(SimpleNamespace(architectures=[n])) for n in names}
    return {"": default, **{n: r for n, r in found.items() if r != default}}


def collect(srt: Path) -> dict[str, Any]:
    """Everything that the imported release decides from an architecture name."""
    module = importlib.import_module("sglang.srt.configs.model_config")
    names = architecture_names(srt)
    return {
        **{key: answers(module, function, names, True) for key, function in PREDICATES.items()},
        **{key: answers(module, function, names, False) for key, function in NEGATED.items()},
        "multimodal_off": listed(srt, "mm_disabled_models"),
        "shapes": shapes(names),
        "swa_layers": layer_rules(names),
        "sinks": detected(names, "has_attention_sinks"),
        "swa_compress": detected(names, "is_hybrid_swa_compress"),
        "embedding": embedding_specs(names),
        "cuda_vmm": classes_with(srt, "supports_cuda_vmm_feature_transport"),
        "boundary": boundary_reductions(names),
        "native": classes_of_models(srt),
    }


def classes_of_models(srt: Path) -> list[str]:
    """Architectures that the release serves with a model class of its own."""
    found: set[str] = set()
    for path in sorted((srt / "models").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8-sig")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "EntryClass":
                found |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    return sorted(found)


def main(release: str) -> None:
    """Print one line."""
    home = importlib.import_module("conformance.oracle.home")
    hardware = importlib.import_module("conformance.oracle.faked_hardware")
    site = home.site(release)
    sys.path[:0] = [str(site), str(home.transformers_site(release))]
    hardware.install("h100", site)
    logging.disable(logging.CRITICAL)
    found = {"release": release, **collect(site / "sglang" / "srt")}
    print(json.dumps(found, sort_keys=True, separators=(",", ":")))


if __name__ == "__main__":
    main(*sys.argv[1:])
