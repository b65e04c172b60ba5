"""Methods of a start-up that are read from the middle, on a made-up release."""

from __future__ import annotations

import pytest

from kvsolve.model.fact import ConfigObject
from kvsolve.model.program import Refuse

PIPELINE = """
def run_resolution_pipeline(server_args):
    if server_args.tp_size is None:
        declare_resolution(server_args, "x", tp_size=1)
"""
MORE = {
    "srt/mem_cache/kv_cache_configurator.py": "",
    "srt/runtime_context.py": """
        def get_parallel(): return state
        def get_schedule(): return bags
        def get_exec(): return bags
    """,
    "srt/layers/moe/utils.py": """
        from enum import Enum
        from sglang.srt.runtime_context import get_exec

        class MoeA2ABackend(Enum):
            NONE = "none"
            DEEPEP = "deepep"

            def is_deepep(self):
                return self == MoeA2ABackend.DEEPEP

        def initialize_moe_config():
            if get_exec().tp_size == 7:
                raise ValueError("as it is stored")

        def get_moe_a2a_backend():
            return STORED
    """,
    "srt/managers/scheduler.py": """
        from sglang.srt.layers.moe.utils import get_moe_a2a_backend, initialize_moe_config
        from sglang.srt.runtime_context import get_schedule

        KNOWN = {}

        def register(name):
            KNOWN[name] = True

        class Scheduler:
            def init_moe_gemm_config(self):
                if self.model_config.hf_config.experts:
                    initialize_moe_config()

            def init_schedule_policy(self):
                if get_moe_a2a_backend().is_deepep():
                    raise ValueError("with experts only")
                if self.anything:
                    raise ValueError("nobody knows")
                if "x" not in KNOWN:
                    raise ValueError("who knows what was registered")
                extra = self.model_config.hf_config.extra
                extra.pop(self.anything)
                if extra and get_schedule().tp_size == 2:
                    raise ValueError("what is left")
    """,
}
FIELDS = {
    "tp_size": 1,
    "moe_a2a_backend": "none",
    "model_impl": "auto",
    "device": "cuda",
}


@pytest.fixture
def release(read):
    return read(PIPELINE, MORE, **FIELDS)


def facts(**config):
    return {"config": ConfigObject({"architectures": ["X"], **config})}


def test_what_flags_say_of_experts_is_stored_for_models_with_experts(release):
    some = facts(experts=True, extra={})
    assert release.outcome(some) == "ok"
    assert release.outcome(some, moe_a2a_backend="deepep") == "ValueError"
    assert release.outcome(some, tp_size=7) == "ValueError"
    without = facts(experts=False, extra={})
    assert release.outcome(without, moe_a2a_backend="deepep") == "ok"
    assert release.outcome(without, tp_size=7) == "ok"


def test_what_an_object_holds_beyond_what_is_said_refuses_nothing(release):
    assert len([s for s in release.of(Refuse) if s.stage == "load"]) == 2
    assert release.outcome(facts(experts=False, extra={"a": 1}), tp_size=2) == "ok"


def test_what_became_of_each_statement(release):
    told = {
        line: kind
        for (file, line), (kind, _) in release.reading.beyond.items()
        if "scheduler" in file
    }
    lines = MORE["srt/managers/scheduler.py"].splitlines()
    at = {text: number for number, row in enumerate(lines, 1) for text in [row.strip()]}
    assert told[at['raise ValueError("with experts only")']] == "exact"
    for text in ("nobody knows", "who knows what was registered", "what is left"):
        assert told[at[f'raise ValueError("{text}")']] == "opaque"
