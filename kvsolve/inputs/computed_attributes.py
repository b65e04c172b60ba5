"""Attributes that a few configuration classes compute in code of their own.

Each rule is named by the class it belongs to; a class that extends it follows it too. What the
generated table can say (defaults, formulas over two attributes, layer patterns) is not repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kvsolve.inputs.config_object import DraftObject

__all__ = ["set_computed"]

RENAMED = {"Olmo3ForCausalLM": "Olmo2ForCausalLM"}
OF_EACH_PART = frozenset({"architectures", "dtype", "model_type", "torch_dtype"})
MIXERS = {
    **dict.fromkeys(("minicpm", "standard", "attention", "attn"), "minicpm4"),
    **dict.fromkeys(("lightning", "lightning_attn"), "lightning-attn"),
}
"""Other names of the two kinds of mixers."""


def set_computed(made: DraftObject) -> None:
    """Set what the object's class computes."""
    for name in made.kind.names:
        rule = RULES.get(name)
        if rule is not None:
            rule(made)
            return


def _kimi_linear(made: DraftObject) -> None:
    linear = made.get("linear_attn_config") or {}
    _set_layers(made, [i - 1 for i in linear.get("full_attn_layers") or ()])
    made.set("n_routed_experts", made.get("num_experts"))


def _qwen3_next(made: DraftObject) -> None:
    every = made.get("full_attention_interval") or 0
    count = made.get("num_hidden_layers") or 0
    types = made.attributes.pop("layer_types", None)
    if isinstance(types, list) and types:
        _set_layers(made, [i for i, t in enumerate(types) if t == "full_attention"])
    elif every:
        _set_layers(made, [i for i in range(count) if (i + 1) % every == 0])


def _nemotron_h(made: DraftObject) -> None:
    pattern = made.get("hybrid_override_pattern")
    if pattern is None:
        blocks = made.get("layers_block_type") or ()
        if blocks:
            made.set("num_hidden_layers", len(blocks))
        _set_layers(made, [i for i, b in enumerate(blocks) if b == "attention"])
        return
    made.set("num_hidden_layers", len(pattern))
    _set_layers(made, [i for i, c in enumerate(pattern) if c == "*"])


def _granite_hybrid(made: DraftObject) -> None:
    types = made.get("layer_types") or ()
    _set_layers(made, [i for i, t in enumerate(types) if t in ("attention", "full_attention")])


def _olmo3(made: DraftObject) -> None:
    names = made.get("architectures") or ["Olmo3ForCausalLM"]
    made.set("architectures", [RENAMED.get(name, name) for name in names])


def _bidirectional_gemma(made: DraftObject) -> None:
    """Attention to both sides halves the window and counts the token itself."""
    window = made.get("sliding_window")
    if made.get("use_bidirectional_attention") and isinstance(window, int):
        made.set("sliding_window", window // 2 + 1)


def _minicpm_hybrid(made: DraftObject) -> None:
    """The kinds of mixers repeat over the layers; sparse ones count with a sparse_config only."""
    count = made.get("num_hidden_layers") or 0
    given = made.get("mixer_types") or ["minicpm4"]
    if not all(isinstance(name, str) for name in given):
        return
    kinds = [MIXERS.get(name, name) for name in given]
    types = (kinds * -(-count // len(kinds)))[:count]
    made.set("mixer_types", types)
    _set_layers(made, [i for i, kind in enumerate(types) if kind == "minicpm4"])
    sparse = made.get("sparse_config") is not None and "minicpm4" in types
    made.attributes["has_minicpm_sparse_attention"] = sparse
    made.attributes["has_lightning_layers"] = "lightning-attn" in types


def _hoisted(made: DraftObject) -> None:
    """The quantisation that the language part declares is the whole's."""
    text = made.get("text_config")
    if text is None or isinstance(text, dict):
        return
    if made.get("quantization_config") is None and text.has("quantization_config"):
        made.set("quantization_config", text.get("quantization_config"))
    if "KimiK3Config" in made.kind.names:
        made.set("hidden_size", text.get("hidden_size"))


def _mirrored(made: DraftObject) -> None:
    """What the language part holds stands at the top too."""
    text = made.get("text_config")
    if text is None or isinstance(text, dict):
        return
    for name, value in text.attributes.items():
        if name not in OF_EACH_PART:
            made.attributes[name] = value


def _set_layers(made: DraftObject, full: list[int]) -> None:
    made.attributes["full_attention_layer_ids"] = full


RULES: dict[str, Callable[[DraftObject], None]] = {
    "Gemma3TextConfig": _bidirectional_gemma,
    "Glm5NextConfig": _mirrored,
    "GraniteMoeHybridConfig": _granite_hybrid,
    "KimiK25Config": _hoisted,
    "KimiK3Config": _hoisted,
    "KimiLinearConfig": _kimi_linear,
    "MiniCPMHybridConfig": _minicpm_hybrid,
    "NemotronHConfig": _nemotron_h,
    "Olmo3Config": _olmo3,
    "Qwen3NextConfig": _qwen3_next,
}
