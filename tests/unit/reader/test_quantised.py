"""Layers made with a quantisation, and the loader of each format, on a made-up release."""

from __future__ import annotations

import pytest

from kvsolve.model.expression import all_of, any_of, node, raw
from kvsolve.model.fact import ConfigObject
from kvsolve.upstream.reader.later import one_of
from kvsolve.upstream.reader.safety import never

PIPELINE = """
def run_resolution_pipeline(server_args):
    if server_args.tp_size is None:
        declare_resolution(server_args, "x", tp_size=1)
"""
MORE = {
    "srt/mem_cache/kv_cache_configurator.py": "",
    "srt/utils/common.py": """
        def make_layers(num_hidden_layers, layer_fn, pp_rank=None, pp_size=None):
            assert not pp_size or num_hidden_layers >= pp_size
            return [layer_fn(idx=0, prefix="") for _ in range(num_hidden_layers)]
    """,
    "srt/runtime_context.py": """
        def get_parallel(): return state
        def get_exec(): return bags
    """,
    "srt/configs/model_config.py": """
        class ModelConfig:
            def __init__(self, model_path, quantization=None):
                self.hf_config = get_config(model_path)
                self.quantization = quantization
    """,
    "srt/configs/load_config.py": """
        import enum
        from dataclasses import dataclass

        class LoadFormat(str, enum.Enum):
            AUTO = "auto"
            GGUF = "gguf"
            SHARDED = "sharded_state"

        @dataclass
        class LoadConfig:
            load_format: LoadFormat = LoadFormat.AUTO
    """,
    "srt/model_loader/loader.py": """
        from sglang.srt.configs.load_config import LoadFormat
        from sglang.srt.runtime_context import get_parallel

        def get_model_loader(load_config, model_config=None):
            if load_config.load_format == LoadFormat.SHARDED:
                if get_parallel().tp_size == 5:
                    raise ValueError("sharded")
    """,
    "srt/layers/linear.py": """
        class ColumnParallelLinear:
            def __init__(self, size, quant_config=None):
                self.quant_method = quant_config.get_quant_method(self)
    """,
    "srt/layers/quantization/fp8_utils.py": """
        from enum import Enum
        from sglang.srt.runtime_context import get_exec
        from sglang.srt.utils import is_fast

        class Fp8GemmRunnerBackend(Enum):
            AUTO = "auto"
            NARROW = "narrow"
            WIDE = "wide"

            def is_narrow(self):
                return self == Fp8GemmRunnerBackend.NARROW

        STORED = None

        def initialize_fp8_gemm_config():
            global FP8_GEMM_RUNNER_BACKEND
            backend = get_exec().fp8_gemm_runner_backend
            FP8_GEMM_RUNNER_BACKEND = Fp8GemmRunnerBackend(backend)

        def get_fp8_gemm_runner_backend():
            return FP8_GEMM_RUNNER_BACKEND
    """,
    "srt/layers/quantization/fp8.py": """
        from sglang.srt.layers.quantization.fp8_utils import get_fp8_gemm_runner_backend
        from sglang.srt.utils import is_fast

        class Fp8Config:
            pass

        class Fp8LinearMethod:
            def __init__(self, quant_config):
                if get_fp8_gemm_runner_backend().is_narrow() and not is_fast():
                    raise ValueError("narrow")
                if quant_config.weight_block_size is not None and quant_config.use_mxfp8:
                    raise ValueError("blocks")
    """,
    "srt/models/toy.py": """
        from sglang.srt.layers.linear import ColumnParallelLinear
        from sglang.srt.runtime_context import get_parallel
        from sglang.srt.utils.common import make_layers

        class Toy:
            def __init__(self, config, quant_config=None):
                self.proj = ColumnParallelLinear(config.size, quant_config=quant_config)
                size = get_parallel().pp_size
                self.layers = make_layers(config.num_layers, self.layer, pp_rank=0, pp_size=size)

            def layer(self, idx, prefix):
                return None

        class Bare:
            def __init__(self, config, quant_config=None):
                self.proj = ColumnParallelLinear(config.size, quant_config=None)

        EntryClass = [Toy, Bare]
    """,
}
FIELDS = {
    "tp_size": 1,
    "pp_size": 1,
    "model_impl": "auto",
    "device": "cuda",
    "model_path": "m",
    "load_format": "auto",
    "modelopt_quant": "",
    "quantization": None,
    "fp8_gemm_runner_backend": "auto",
}


@pytest.fixture
def release(read):
    return read(PIPELINE, MORE, **FIELDS)


def facts(name="Toy", *, fast=False, served=None, **config):
    held = {"architectures": [name], "num_layers": 4, "size": 8, **config}
    return {
        "config": ConfigObject(held),
        "gpu.is_fast": fast,
        "model.quantization": served,
        "env.SGLANG_FP8_IGNORED_LAYERS": "",
    }


def test_fewer_layers_than_stages_are_refused(release):
    assert release.outcome(facts(num_layers=4), pp_size=8) == "AssertionError"
    assert release.outcome(facts(num_layers=8), pp_size=8) == "ok"


def test_a_format_says_its_loader(release):
    assert release.outcome(facts(), load_format="sharded_state", tp_size=5) == "ValueError"
    assert release.outcome(facts(), load_format="auto", tp_size=5) == "ok"


def test_what_was_read_of_each_statement(release):
    kinds = {
        file.rpartition("/")[2]: kind
        for (file, _), (kind, _) in release.reading.beyond.items()
        if file.endswith(("fp8.py", "loader.py", "common.py"))
    }
    assert kinds["loader.py"] == "exact"
    assert kinds["common.py"] == "exact"


def eq(name, value):
    return node("eq", raw("ref", name, 1), value)


def test_premises_that_differ_in_one_name_become_one():
    here, there = raw("fact", "gpu.is_fast"), raw("fact", "gpu.is_hip")
    rows = [all_of(eq("kernel", name), here) for name in ("b", "a", "b")]
    among = node("in", raw("ref", "kernel", 1), ("a", "b"))
    assert one_of(rows) == all_of(among, here)
    other = all_of(eq("kernel", "c"), there)
    assert one_of([*rows, other]) == any_of(all_of(among, here), other)
    assert one_of([eq("kernel", "a"), all_of(eq("kernel", "a"), here)]) == eq("kernel", "a")


def test_a_condition_and_its_denial_never_hold():
    a, b = raw("fact", "gpu.is_fast"), raw("fact", "gpu.is_hip")
    assert never(raw("and", node("not", raw("and", a, b)), a, b))
    assert not never(raw("and", node("not", raw("and", a, b)), a))


NARROW = {"fp8_gemm_runner_backend": "narrow"}


def test_kernels_of_quantised_layers(release):
    assert release.outcome(facts(served="fp8"), **NARROW) == "ValueError"
    assert release.outcome(facts(served="fp8", fast=True), **NARROW) == "ok"
    assert release.outcome(facts(), **NARROW) == "ok"
    assert release.outcome(facts(served="fp8"), fp8_gemm_runner_backend="wide") == "ok"


def test_layers_without_the_models_quantisation_ask_nothing(release):
    assert release.outcome(facts("Bare", served="fp8"), **NARROW) == "ok"


def test_checkpoints_that_keep_layers_in_full_precision_are_left_alone(release):
    stored = {"quant_method": "fp8", "weight_block_size": None}
    told = facts(served="fp8", quantization_config=stored)
    assert release.outcome(told, **NARROW) == "ValueError"
    kept = {**stored, "modules_to_not_convert": ["proj"]}
    assert release.outcome(facts(served="fp8", quantization_config=kept), **NARROW) == "ok"
