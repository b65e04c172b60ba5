"""The KV pools: what sizing and building them, their host tier and their watchers refuse.

Each row of the table below is one function of upstream, with the premise under which a start-up
calls it for the target model and what it is given. Sizes in tokens and bytes rest on free memory
and are not said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from kvsolve.model.expression import raw
from kvsolve.upstream.reader import serving
from kvsolve.upstream.reader.state import Instance
from kvsolve.upstream.reader.values import HeapRef, Unreadable, Value, View

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kvsolve.upstream.reader.later import Later
    from kvsolve.upstream.reader.premises import Premises
    from kvsolve.upstream.reader.run import Run

__all__ = ["read_pools"]

_CACHE = "sglang.srt.mem_cache"
_CONFIGURATOR = f"{_CACHE}.kv_cache_configurator:KVCacheConfigurator"
_SIZING = "sglang.srt.model_executor.pool_configurator"
_UNREAD = (
    "sglang.srt.layers.quantization",
    "sglang.jit_kernel",
    "sglang.kernels",
    "sglang.srt.models",
    "sglang.srt.managers",
    "sglang.srt.distributed",
    *(
        f"{_CACHE}.{part}"
        for part in (
            "allocator",
            "cache_init_params",
            "common",
            "hicache",
            "hybrid_cache",
            "kv_vmm_backing",
            "layout",
            "mamba",
            "memory_pool",
            "ple_state_pool",
            "pool_host",
            "sparsity",
            "storage.mooncake",
            "swa_memory_pool",
            "unified_cache",
            "unified_draft_pool",
            "unified_radix_cache",
            "utils",
        )
    ),
)
_UNSAID = (
    "dflash_draft_cell_size_per_token",
    "draft_parallel_layout",
    "draft_swa_full_capacity",
    "forward_stream",
    "is_hybrid_swa_mtp_draft",
    "kv_shard_group",
    "kv_shard_spec",
    "layer_info",
    "memory_pool_config",
    "post_capture_kv_active",
    "spec_aux_config",
)


@dataclass(frozen=True, slots=True)
class _Row:
    """A function and when it is called.

    Attributes:
        when: Premises, the first of which that the release's flags can say is taken.
        what: ``module:function`` or ``module:Class.method``.
        given: Arguments: text of a premise, or None for what is not said.
        holds: What the object holds whose method it is, in the same way.
        unless: A module; the row stands for releases that no longer have it.
        also: Beginnings of ``file:symbol`` of functions called there that are taken up too.
        led: Whether the premise alone may decide.
    """

    when: tuple[str, ...]
    what: str
    given: Mapping[str, str | None] = field(default_factory=dict)
    holds: Mapping[str, str | None] = field(default_factory=dict)
    unless: str = ""
    also: tuple[str, ...] = ()
    led: bool = False


_TENSORCAST = "mem_cache/storage/tensorcast_store/host_allocator.py"
_OLD_TIER = f"{_CACHE}.hiradix_cache"
"""The tree that releases up to this module's last one built over the host tier of plain models."""
_JOINED = "enable_unified_memory and "
_NOT_JOINED = "late_is_recurrent and not enable_unified_memory and "
_TIER = "enable_hierarchical_cache and "
_ROWS = (
    _Row(
        (f"{_JOINED}late_is_recurrent and late_is_hybrid_swa and not late_is_dsv4",),
        f"{_CONFIGURATOR}._init_unified_mamba_swa_pools",
        dict.fromkeys(("max_num_reqs", "full_max_total_num_tokens", "swa_max_total_num_tokens")),
        also=("mem_cache/unified_memory_pool.py:init_",),
    ),
    _Row(
        (f"{_JOINED}late_is_recurrent and (late_is_dsv4 or not late_is_hybrid_swa)",),
        f"{_CONFIGURATOR}._init_unified_mamba_pools",
        dict.fromkeys(("max_num_reqs", "max_total_num_tokens")),
        also=("mem_cache/unified_memory_pool.py:init_",),
    ),
    _Row(
        (f"{_JOINED}late_is_hybrid_swa and not late_is_dsv4 and not late_is_recurrent",),
        f"{_CONFIGURATOR}._init_unified_swa_pools",
        dict.fromkeys(("max_num_reqs", "full_max_total_num_tokens", "swa_max_total_num_tokens")),
        also=("mem_cache/unified_memory_pool.py:init_",),
    ),
    _Row(
        (
            f"{_NOT_JOINED}disaggregation_mode != 'decode' and not enable_pd_role_switch",
            f"{_NOT_JOINED}disaggregation_mode != 'decode'",
        ),
        f"{_CONFIGURATOR}._build_hybrid_req_pool",
        dict.fromkeys(("max_num_reqs", "extra_max_context_len")),
    ),
    _Row(
        (f"{_NOT_JOINED}not late_is_dsv4 and not late_is_hybrid_swa",),
        f"{_CONFIGURATOR}._build_hybrid_linear_kv_pool",
        dict.fromkeys(
            (
                "max_total_num_tokens",
                "req_to_token_pool",
                "mha_pool_class",
                "mla_pool_class",
                "dsa_pool_class",
            )
        ),
    ),
    _Row(
        ("late_is_recurrent",),
        f"{_CONFIGURATOR}._handle_max_mamba_cache",
        {"total_rest_memory": None},
    ),
    _Row(
        ("late_is_dsv4 and late_is_hybrid_swa and not gpu.is_npu",),
        f"{_SIZING}:check_dsv4_unified_fp8_pd_supported",
        {
            "unified_fp8": "@sglang.srt.layers.attention.dsv4.unified_kv_gate:is_unified_kv_fp8",
            "disaggregation_mode": "disaggregation_mode",
            "pp_size": "pp_size",
            "enable_hisparse": "enable_hisparse",
        },
    ),
    _Row(
        ("late_is_dsv4 and not gpu.is_npu and page_size == 256",),
        f"{_CACHE}.deepseek_v4_memory_pool:select_dsv4_kv_layout",
    ),
    _Row(
        ("late_is_dsv4 and gpu.is_npu",),
        "sglang.srt.hardware_backend.npu.dsv4.dsv4_memory_pool:DSV4NPUTokenToKVPool.__init__",
    ),
    _Row(
        ("late_is_dsv4 and late_is_hybrid_swa",),
        f"{_SIZING}:DSV4PoolConfigurator.__init__",
        {"kvc": "@configurator"},
    ),
    _Row(
        ("late_is_dsv4 and late_is_hybrid_swa and page_size % 128 == 0",),
        f"{_SIZING}:DSV4PoolConfigurator.calculate_pool_sizes_from_max_tokens",
        {"page_size": "page_size"},
    ),
    _Row(
        ("not late_is_hybrid_swa",),
        f"{_SIZING}:DefaultPoolConfigurator._compute_cell_size",
        {"kvc": "@configurator"},
    ),
    _Row(
        ("kv_cache_dtype in ('nvfp4', 'fp4_mx_block16')",),
        "sglang.srt.layers.quantization.fp4_kv_cache_quant_method:resolve_kv_cache_quant",
        {"kv_cache_dtype": "kv_cache_dtype"},
    ),
    _Row(
        ("disaggregation_mode == 'decode' and disaggregation_decode_enable_radix_cache",),
        f"{_CACHE}.kv_cache_builder:validate_decode_radix_cache",
        {
            "model_config": "@model",
            "token_to_kv_pool": None,
            "is_hybrid_swa": "late_is_hybrid_swa and not late_is_dsv4",
            "enable_hierarchical_cache": "enable_hierarchical_cache",
        },
    ),
    _Row(
        ("disaggregation_mode == 'decode' and disaggregation_decode_enable_offload_kvcache",),
        "sglang.srt.disaggregation.decode_kvcache_offload_manager:"
        "DecodeKVCacheOffloadManager.__init__",
        dict.fromkeys(
            ("req_to_token_pool", "token_to_kv_pool_allocator", "tp_group", "tree_cache")
        ),
    ),
    _Row(
        (
            "disaggregation_decode_retraction_backup == 'host_pool' and not radix_cache_backend"
            " and not enable_lmcache",
        ),
        f"{_CACHE}.registry:create_unified_radix_cache",
        {"ctx": "@context"},
    ),
    _Row(
        (
            f"{_TIER}late_is_dsv4 and not gpu.is_npu and not radix_cache_backend"
            " and not enable_lmcache and not enable_unified_cache_external_linker",
        ),
        f"{_CACHE}.hybrid_cache.hybrid_pool_assembler:_deepseek_v4_num_host_pages",
        {"params": None, "kvcache": None, "page_size": "page_size", "swa_page_size": None},
        unless=_OLD_TIER,
    ),
    _Row(
        (
            f"{_TIER}not (late_is_mla or late_is_dsv4 or late_is_recurrent or late_is_hybrid_swa"
            " or late_is_minimax_sparse) and not radix_cache_backend and not enable_lmcache",
        ),
        f"{_CACHE}.hybrid_cache.hybrid_pool_assembler:build_kv_host_pool",
        {"kv_pool": None, "page_size": None, "use_mla": "False"},
        unless=_OLD_TIER,
    ),
    _Row(
        (
            f"{_TIER}hicache_storage_backend is not None and not radix_cache_backend"
            " and not enable_lmcache",
            f"{_TIER}hicache_storage_backend is not None",
        ),
        "sglang.srt.managers.cache_controller:HiCacheController.attach_storage_backend",
        {"storage_backend": "hicache_storage_backend"},
        {
            "enable_storage": "False",
            "host_memory_mode": "hicache_host_memory_mode",
            "storage_host_pool": None,
        },
    ),
    _Row(
        (f"{_TIER}hicache_storage_backend == 'tensorcast'",),
        f"{_CACHE}.storage.tensorcast_store.host_allocator:"
        "get_tensorcast_host_allocator_from_runtime",
        also=(f"{_TENSORCAST}:validate", f"{_TENSORCAST}:create"),
    ),
    _Row(
        ("late_pool_is_npu and late_is_mla",),
        "sglang.srt.hardware_backend.npu.sparsity_driven_kv_offload.config:"
        "is_sparsity_driven_kv_offload_enabled",
        {"model_config": "@model", "use_mla_backend": "late_is_mla"},
    ),
    _Row(
        ("late_is_recurrent and gpu.is_npu and not enable_unified_memory and not late_is_dsv4",),
        f"{_CONFIGURATOR}._hybrid_full_attention_pool_class",
    ),
    _Row(
        ("enable_unified_cache_external_linker and not radix_cache_backend",),
        f"{_CACHE}.unified_cache.linker_factory:create_unified_cache_linker",
        {
            "server_args": "@flags",
            "params": None,
            "backend": "unified_cache_external_linker_backend",
            "config": None,
            "components": None,
        },
    ),
    _Row(
        ("radix_cache_backend and radix_cache_backend != 'flexkv'",),
        f"{_CACHE}.registry:create_tree_cache",
        {"ctx": "@context"},
        led=True,
    ),
    _Row(
        (f"{_JOINED}late_is_recurrent and not late_is_hybrid_swa and not late_is_dsv4",),
        f"{_CACHE}.unified_memory_pool:UnifiedKVPool.__init__",
        {"page_size": "page_size", "sub_pool_specs": None},
    ),
    _Row(
        ("kv_canary is not None",),
        "sglang.srt.kv_canary.api:install_canary",
        {"server_args": "@flags", "model_runner": "@runner"},
        also=("kv_canary/",),
    ),
    _Row(
        ("enable_return_indexer_topk and device in ('cuda', 'npu') and late_is_dsa",),
        "sglang.srt.state_capturer.indexer_topk:IndexerTopkCapturer.__init__",
        dict.fromkeys(
            ("num_tokens", "num_indexer_layers", "index_topk", "max_running_requests", "device")
        ),
    ),
)


def read_pools(run: Run, later: Later, premises: Premises) -> None:
    """Read every row that the release has."""
    for row in _ROWS:
        premise = premises.first(*row.when)
        if premise is not None and run.modules.get(row.unless) is None:
            module, _, symbol = row.what.partition(":")
            file = module.removeprefix("sglang.srt.").replace(".", "/")
            within = (f"{file}.py:{symbol}", *row.also)
            later.led = row.led
            later.read("pool", premise, partial(_call, run, premises, row), _UNREAD, within=within)
            later.led = False


def _call(run: Run, premises: Premises, row: _Row) -> Value:
    module, _, symbol = row.what.partition(":")
    given = {name: _said(run, premises, name, text) for name, text in row.given.items()}
    if "." not in symbol:
        return serving.call_named(run, module, symbol, given)
    name, _, method = symbol.partition(".")
    cls = serving.class_named(run, module, name)
    if cls is None:
        raise Unreadable(f"the release has no {name}")
    holds = {name: _said(run, premises, name, text) for name, text in row.holds.items()}
    if row.what.startswith(_CONFIGURATOR):
        holds |= _configurator(premises, serving.of_runner(run, premises))
    owner = run.allocate(Instance(cls, holds))
    return serving.call_method(run, owner, method, given)


def _said(run: Run, premises: Premises, name: str, text: str | None) -> Value:
    """What an argument is."""
    match text:
        case None:
            return raw("opaque", name)
        case "@flags":
            return View()
        case "@runner":
            return serving.runner(run, premises)
        case "@configurator":
            cls = serving.class_named(run, *_CONFIGURATOR.split(":"))
            if cls is None:
                raise Unreadable("the release has no configurator")
            known = serving.of_runner(run, premises)
            return run.allocate(Instance(cls, _configurator(premises, known)))
        case "@model":
            return serving.model()
        case "@context":
            return _context(run, premises)
        case _ if text.startswith("@"):
            module, _, function = text[1:].partition(":")
            return serving.call_named(run, module, function, {})
        case _:
            return premises.said(name, text)


def _configurator(premises: Premises, known: Mapping[str, Value]) -> dict[str, Value]:
    """What the configurator of the target model holds."""
    said: dict[str, Value] = {**known, **{name: raw("opaque", name) for name in _UNSAID}}
    return said | {
        "attn_dp_size": premises.said("attn_dp_size", "late_attention_dp"),
        "model_dtype": known["dtype"],
        "req_to_token_pool": None,
        "token_to_kv_pool_allocator": None,
        "extra_mamba_cache_bytes_per_req": 0,
        "mambaish_config": serving.family(premises, "late_is_recurrent"),
        "hybrid_gdn_config": serving.family(premises, "late_is_gdn"),
        "hybrid_kda_config": serving.family(premises, "late_is_kda"),
        "kv_shard_rank": None,
        "kv_shard_size": 1,
    }


def _context(run: Run, premises: Premises) -> HeapRef:
    """What a tree cache is built from."""
    cls = serving.class_named(run, f"{_CACHE}.registry", "TreeCacheBuildContext")
    if cls is None:
        raise Unreadable("the release has no TreeCacheBuildContext")
    said: dict[str, Value] = {
        "server_args": View(),
        "params": raw("opaque", "params"),
        "is_hybrid_swa": premises.said("is_hybrid_swa", "late_is_hybrid_swa"),
        "is_hybrid_ssm": premises.said("is_hybrid_ssm", "late_is_recurrent"),
        "enable_hierarchical_cache": premises.said("hicache", "enable_hierarchical_cache"),
        "full_tokens_per_layer": raw("opaque", "full_tokens_per_layer"),
        "tp_worker": raw("opaque", "tp_worker"),
    }
    return run.allocate(Instance(cls, said))
