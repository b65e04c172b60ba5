"""Where each stage of a start-up begins, and what is no part of it.

Roots are functions and classes as ``file:symbol`` below ``sglang/srt`` (``*`` matches like in a
shell); a release has only some of them. Where the roots of two stages meet, the earlier one stops
at the later one's roots.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from kvsolve.model.noun import dataclass

__all__ = ["BEYOND", "STAGES", "Stage", "matches"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage past argument resolution.

    Attributes:
        name: ``load``, ``pool`` or ``attention``.
        roots: Patterns of functions and classes.
        own: Functions that an earlier stage does not enter, where it comes upon them.
    """

    name: str
    roots: tuple[str, ...]
    own: tuple[str, ...] = ()


STAGES = (
    Stage(
        "load",
        (
            "entrypoints/http_server.py:launch_server",
            "entrypoints/engine.py:Engine._launch_subprocesses",
            "managers/data_parallel_controller.py:run_data_parallel_controller_process",
            "managers/detokenizer_manager.py:run_detokenizer_process",
            "managers/scheduler.py:run_scheduler_process",
            "managers/scheduler.py:Scheduler.__init__",
            "model_executor/model_runner.py:ModelRunner.__init__",
            "model_executor/model_runner.py:ModelRunner.configure_kv_cache_dtype",
            "speculative/*.py:*Worker.__init__",
            "speculative/*.py:*WorkerV2.__init__",
            "layers/quantization/*.py:*Config.from_config",
            "layers/quantization/*.py:*Config.get_quant_method",
            "models/*.py:EntryClass",
        ),
    ),
    Stage(
        "pool",
        (
            "model_executor/model_runner.py:ModelRunner.init_kv_cache_configurator",
            "model_executor/model_runner.py:ModelRunner.alloc_memory_pool",
            "mem_cache/kv_cache_configurator.py:KVCacheConfigurator.__post_init__",
            "mem_cache/kv_cache_configurator.py:KVCacheConfigurator.configure",
            "mem_cache/kv_cache_configurator.py:KVCacheConfigurator._init_pools",
            "model_executor/pool_configurator.py:create_memory_pool_configurator",
            "mem_cache/kv_cache_builder.py:*",
            "mem_cache/registry.py:create_tree_cache",
            "mem_cache/pool_host/*.py:*.__init__",
            "mem_cache/pool_host/*.py:get_*host_pool*",
            "mem_cache/memory_pool_host.py:*.__init__",
            "mem_cache/hybrid_cache/hybrid_pool_assembler.py:build_*",
            "mem_cache/hybrid_cache/hybrid_pool_assembler.py:attach_*",
            "mem_cache/registry.py:default_radix_cache_factory",
            "disaggregation/decode_kvcache_offload_manager.py:DecodeKVCacheOffloadManager.__init__",
        ),
        (
            "mem_cache/[!k]*",
            "mem_cache/kv_[!c]*",
            "mem_cache/kv_cache_[!d]*",
            "managers/cache_controller.py:*",
            "managers/hisparse_coordinator.py:*",
        ),
    ),
    Stage(
        "attention",
        (
            "model_executor/model_runner.py:ModelRunner.init_attention_backends",
            "model_executor/model_runner.py:ModelRunner.init_attention_backend",
            "model_executor/model_runner_components/attention_backend_setup.py:*",
            "layers/attention/attention_registry.py:create_*",
            "layers/attention/attention_registry.py:_create_*",
            "layers/attention/attention_registry.py:attn_backend_wrapper*",
            "speculative/draft_utils.py:DraftBackendFactory.*",
            "speculative/*.py:*.init_attention_backend*",
        ),
        ("layers/attention/*_backend*", "layers/attention/attention_registry.py:*"),
    ),
)

BEYOND = (
    # Read as argument resolution.
    "server_args.py:*",
    "arg_groups/*",
    # The first request, the warm-up and everything that serves.
    "*:*.forward",
    "*:*.forward_*",
    "*:*._forward*",
    "*:*.__call__",
    "*:*.load_weights",
    "*:*.load_weight*",
    "*:*weight_loader*",
    "*:*.event_loop*",
    "*:*.run_event_loop",
    "*:*.dispatch_event_loop",
    "*:dispatch_event_loop",
    "*:*.handle_*",
    "*:*.process_batch*",
    "*:*.get_next_batch*",
    "*:*.run_batch*",
    "*:*.init_cuda_graphs",
    "*:*.init_all_cuda_graphs",
    "*:*.init_decode_cuda_graph",
    "*:*.init_prefill_cuda_graph",
    "*:*.capture*",
    "*:capture_*",
    "*:*.replay*",
    "*:*warmup*",
    "*:*.init_forward_metadata*",
    "*:*.prepare_for_*",
    "managers/schedule_batch.py:[FRS]*.*",
    "mem_cache/allocation.py:*",
    "mem_cache/common.py:*",
    "model_executor/forward_batch_info.py:*",
    "*:*.match_prefix*",
    "*:*.cache_finished_req*",
    "*:*.cache_unfinished_req*",
    "*:*.post_capture_*",
    "entrypoints/openai/*",
    "multimodal/*",
    "models/registry.py:*",
    "debug_utils/*",
    "sglang/test/*",
)
"""Functions that no stage enters."""


def matches(pattern: str, file: str, symbol: str) -> bool:
    """Whether a pattern means a function of a file below ``sglang/srt``."""
    place, _, name = pattern.partition(":")
    return fnmatchcase(file, place) and fnmatchcase(symbol, name or "*")
