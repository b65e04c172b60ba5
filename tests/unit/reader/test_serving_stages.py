"""Reading of the stages pool and attention, on a made-up release."""

from __future__ import annotations

import pytest

from kvsolve.model.expression import raw
from kvsolve.model.fact import ConfigObject
from kvsolve.model.program import Refuse
from kvsolve.model.syntax import parse, render
from kvsolve.upstream.reader.safety import tight

PIPELINE = """
def run_resolution_pipeline(server_args):
    if server_args.page_size is None:
        declare_resolution(server_args, "x", page_size=1)
"""
CREATORS = """
    from sglang.srt.layers.attention.fast import FastBackend

    def register_attention_backend(name): ...

    @register_attention_backend("fast")
    def create_fast(runner):
        if runner.use_mla_backend:
            raise ValueError("mla")
        return FastBackend(runner)

    @register_attention_backend("slow")
    def create_slow(runner):
        assert runner.page_size == 64
"""
FAST = """
    import torch
    from sglang.srt.runtime_context import get_parallel, get_schedule
    from somewhere import measure, Pool

    class FastBackend:
        ring: int = 0

        def __init__(self, runner):
            if get_schedule().page_size > 8:
                raise ValueError("page")
            if measure() is None:
                raise ValueError("measured")
            if not isinstance(runner.token_to_kv_pool, Pool):
                raise ValueError("pool")
            if getattr(runner, "anything", None) is None:
                raise ValueError("attribute")
            if measure(1).kind != measure(2).kind:
                raise ValueError("kinds")
            self.width = 1
            if self.width != 1:
                raise ValueError("never")
            if runner.kv_cache_dtype == torch.bfloat16:
                raise ValueError("bf16")

        def later(self):
            self.ring = measure()
"""
LINEAR = """
    from enum import Enum
    from sglang.srt.runtime_context import get_exec

    class Kernel(Enum):
        TRITON = "triton"
        FLASH = "flash"
        OWN = "own"

        @classmethod
        def _missing_(cls, value):
            return cls.OWN

    class Backends:
        decode: Kernel
        verify: Kernel

    def resolve_linear_attn_backends(prefill_default=None):
        decode = Kernel(get_exec().linear_attn_decode_backend or get_exec().linear_attn_backend)
        return Backends(decode=decode, verify=Kernel(decode.value))
"""
GDN = """
    from sglang.srt.layers.attention.linear.utils import Kernel

    class GDNAttnBackend:
        def __init__(self, runner):
            backends = runner.linear_attn_backends
            if backends.decode == Kernel.TRITON:
                self.kernel = 1
            elif backends.decode == Kernel.FLASH:
                raise ValueError("flash")
            else:
                raise ValueError("other")
"""
MORE = {
    "srt/mem_cache/kv_cache_configurator.py": "",
    "srt/mem_cache/kv_cache_builder.py": """
        def validate_decode_radix_cache(*, model_config, is_hybrid_swa, enable_hierarchical_cache):
            if not is_hybrid_swa:
                return
            if enable_hierarchical_cache:
                raise ValueError("tier")
    """,
    "srt/model_executor/model_runner.py": """
        class ModelRunner:
            def __init__(self): ...
    """,
    "srt/runtime_context.py": """
        def get_parallel(): return state
        def get_schedule(): return bags
        def get_exec(): return bags
    """,
    "srt/layers/attention/attention_registry.py": CREATORS,
    "srt/layers/attention/fast.py": FAST,
    "srt/layers/attention/linear/utils.py": LINEAR,
    "srt/layers/attention/linear/gdn_backend.py": GDN,
}
FIELDS = {
    "page_size": None,
    "tp_size": 1,
    "pp_size": 1,
    "device": "cuda",
    "model_impl": "auto",
    "dtype": "auto",
    "kv_cache_dtype": "auto",
    "attention_backend": "slow",
    "prefill_attention_backend": None,
    "decode_attention_backend": None,
    "linear_attn_backend": "triton",
    "linear_attn_decode_backend": None,
    "disable_hybrid_swa_memory": False,
    "disaggregation_mode": "null",
    "disaggregation_decode_enable_radix_cache": False,
    "enable_hierarchical_cache": False,
}
MLA, MHA = "AttentionArch.MLA", "AttentionArch.MHA"


@pytest.fixture
def release(read):
    return read(PIPELINE, MORE, **FIELDS)


def facts(arch=MHA, text=None, hybrid=False, **config):
    inner = ConfigObject({"model_type": text}) if text else None
    values = {"architectures": ["Any"], "model_type": "any", "text_config": inner, **config}
    return {
        "config": ConfigObject(values),
        "model.attention_arch": arch,
        "model.dtype": "torch.bfloat16",
        "model.is_hybrid_swa": hybrid,
        "model.hf_text_config": ConfigObject(values),
        "gpu.is_npu": False,
        "gpu.is_hip": False,
        "packages.torch.bfloat16": "torch.bfloat16",
        "packages.torch.float8_e4m3fn": "torch.float8_e4m3fn",
        "packages.torch.float8_e4m3fnuz": "torch.float8_e4m3fnuz",
        "packages.torch.float8_e5m2": "torch.float8_e5m2",
    }


def texts(release, stage):
    return [s for s in release.of(Refuse) if s.stage == stage]


def test_a_backend_refuses_in_every_role_that_it_has(release):
    assert release.outcome(facts(), page_size=64) == "ok"
    assert release.outcome(facts()) == "AssertionError"
    both = {"attention_backend": "other", "page_size": 2}
    assert release.outcome(facts(), **both) == "ok"
    assert release.outcome(facts(), decode_attention_backend="slow", **both) == "AssertionError"
    assert release.outcome(facts(MLA), prefill_attention_backend="fast", **both) == "ValueError"


def test_nothing_rests_on_what_was_not_followed(release):
    fast = {"attention_backend": "fast"}
    assert release.outcome(facts(), page_size=9, **fast) == "ValueError"
    assert release.outcome(facts(), page_size=8, **fast) == "ok"
    lines = FAST.splitlines()
    at = {row.strip(): number for number, row in enumerate(lines, 1)}
    told = {
        line: kind for (file, line), (kind, _) in release.reading.beyond.items() if "fast" in file
    }
    for text in ("measured", "pool", "attribute", "kinds"):
        assert told[at[f'raise ValueError("{text}")']] == "opaque"
    assert told[at['raise ValueError("never")']] == "never"


def test_the_element_type_of_the_pool_counts_where_a_flag_says_it(release):
    fast = {"attention_backend": "fast", "page_size": 1}
    assert release.outcome(facts(), kv_cache_dtype="bf16", **fast) == "ValueError"
    assert release.outcome(facts(), kv_cache_dtype="fp8_e5m2", **fast) == "ok"
    # A checkpoint may store FP8 under auto.
    assert release.outcome(facts(), **fast) == "ok"


def test_a_kernel_is_chosen_by_name_and_an_unknown_name_is_one_of_its_own(release):
    other = {"attention_backend": "other"}
    hybrid = facts(text="qwen3_next")
    assert release.outcome(hybrid, **other) == "ok"
    assert release.outcome(hybrid, linear_attn_backend="flash", **other) == "ValueError"
    assert release.outcome(hybrid, linear_attn_decode_backend="new", **other) == "ValueError"
    assert release.outcome(facts(), linear_attn_backend="flash", **other) == "ok"
    guards = [render(s.when, dict.fromkeys(FIELDS, 9)) for s in texts(release, "attention")]
    assert any(text.endswith("== 'flash'") for text in guards)


def test_a_row_of_the_pools_is_read_under_its_premise(release):
    asked = {
        "attention_backend": "other",
        "disaggregation_mode": "decode",
        "disaggregation_decode_enable_radix_cache": True,
        "enable_hierarchical_cache": True,
    }
    assert release.outcome(facts(hybrid=True), **asked) == "ValueError"
    assert release.outcome(facts(), **asked) == "ok"
    calm = {**asked, "disaggregation_mode": "null"}
    assert release.outcome(facts(hybrid=True), **calm) == "ok"
    assert [s.place.symbol for s in texts(release, "pool")] == ["validate_decode_radix_cache"]


def test_a_release_without_a_flag_is_not_read_where_a_premise_asks_for_it(read):
    fields = {k: v for k, v in FIELDS.items() if not k.startswith("disaggregation")}
    release = read(PIPELINE, MORE, **fields)
    assert not texts(release, "pool")
    assert texts(release, "attention")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("a != 'x' and a == 'y' and b", "a == 'y' and b"),
        ("a == 'y' or a != 'x' or b", "a != 'x' or b"),
        ("a == 'x' and a == 'y'", "False"),
        ("not (a != 'x' and a == 'y')", "a != 'y'"),
        ("a != 'x' and a != 'y'", "a != 'x' and a != 'y'"),
        ("a != 1 and a == 2", "a != 1 and a == 2"),
    ],
)
def test_a_choice_among_names_is_said_once(text, short):
    names = {"a": 0, "b": 0}
    assert render(tight(parse(text, names)), names) == short


def test_what_no_choice_is_stays_as_it_is():
    assert tight(raw("ref", "a", 0)) == raw("ref", "a", 0)
    assert tight(3) == 3


def test_what_never_holds_is_told_of_functions_that_are_taken_up_only(release):
    told = release.reading.beyond
    never = {place for place, (kind, _) in told.items() if kind == "never"}
    assert {file for file, _ in never} == {"layers/attention/fast.py"}
