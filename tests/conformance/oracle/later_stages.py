"""What the scheduler process validates after the arguments are resolved.

Calls the release's own code on light objects, in the order of a launch: publish the arguments,
build the model config, settle the KV dtype, size and construct the pools, construct the attention
backends. Pools are shrunk to a few pages after the release computed their sizes, so the byte
budget is never judged.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from typing import Any

import torch

from .light_runner import Topology, light_runner, resolved, stand_in_groups
from .steps import Steps, call_known

__all__ = ["LaterStages"]

FREE_GIB = 40.0
TOKENS = 1 << 20
PAGES, REQUESTS = 16, 8


class LaterStages:
    """One launch past argument resolution.

    Args:
        args: The release's resolved server arguments.
        steps: Where outcomes go.
        kind: The kind of the GPU profile.
    """

    def __init__(self, args: Any, steps: Steps, kind: str) -> None:
        self.args = args
        self.steps = steps
        self.device = "cuda" if kind == "hip" else kind
        self.config: Any = None
        self.runner: Any = None

    def run(self) -> None:
        """Go through all steps; a refusal of the release comes out as its own exception."""
        import sglang.srt.runtime_context as context

        try:
            if self._load(context):
                self._pools(context)
        finally:
            _reset(context)

    def _load(self, context: Any) -> bool:
        """The steps of stage load; False when the rest cannot be tried."""
        step = self.steps.run
        step("publish", lambda: _publish(context, self.args))
        topology = Topology.of(self.args)
        step("parallel", lambda: _fake_groups(context, topology))
        self.config = step("model_config", self._model_config)
        algorithm = step("speculative_algorithm", self._algorithm) if self.config else None
        if algorithm is None:
            return False
        self.runner = step(
            "runner",
            lambda: light_runner(self.args, self.config, algorithm, topology, self.device),
        )
        if self.runner is None:
            return False
        self.topology, self.algorithm = topology, algorithm
        self.runner.spec_aux_config = step("speculative_aux", self._speculative_aux)
        if self.runner.spec_aux_config is None:
            self.runner.spec_aux_config = step("speculative_aux_default", _no_draft)
        self.runner.layer_info = step("layers", self._layers)
        self.runner.sliding_window_size = step("sliding_window", self._sliding_window)
        step("kv_dtype", self._kv_dtype)
        return True

    def _pools(self, context: Any) -> None:
        step, runner = self.steps.run, self.runner
        configurator = step("kv_configurator", self._configurator, ("kv_dtype", "layers"))
        if configurator is None:
            return
        runner.kv_cache_configurator = configurator
        # The family gate needs only facts of the model, so it is asked before pools are made.
        step("prefill_only_family", lambda: self._family(configurator))
        step("mamba_size", lambda: self._mamba(configurator, context))
        sizes = step("pool_sizes", lambda: self._sizes(configurator))
        pools = step("pool", lambda: self._construct(configurator, sizes), ("pool_sizes",))
        _give_pools(runner, pools, sizes)
        if hasattr(type(runner), "init_kv_index_translator"):
            step("index_translator", lambda: runner.init_kv_index_translator() or True, ("pool",))
        step("backend_names", self._backend_names)
        step("backend", self._backend, ("backend_names", "pool"))

    def _model_config(self) -> Any:
        from sglang.srt.configs.model_config import ModelConfig

        return ModelConfig.from_server_args(self.args)

    def _algorithm(self) -> Any:
        from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

        return SpeculativeAlgorithm.from_string(resolved(self.args, "speculative_algorithm"))

    def _speculative_aux(self) -> Any:
        """Reads the draft checkpoint's config when there is one."""
        from sglang.srt.model_executor.model_runner_components import spec_aux_hidden_state

        return call_known(
            spec_aux_hidden_state.resolve_spec_aux_hidden_state_config,
            server_args=self.args,
            model_config=self.config,
            spec_algorithm=self.algorithm,
            is_draft_worker=False,
        )

    def _layers(self) -> Any:
        from sglang.srt.model_executor.model_runner_components import layer_setup

        # Named by some releases' callers only after this module is loaded.
        assert layer_setup.ModelLayerInfo
        if self.topology.pp > 1:
            from sglang.srt.distributed.utils import get_pp_indices

            first, last = get_pp_indices(self.config.num_hidden_layers, 0, self.topology.pp)
            self.runner.model.start_layer, self.runner.model.end_layer = first, last
        return call_known(
            layer_setup.resolve_layer_indices,
            model=self.runner.model,
            model_config=self.config,
            is_draft_worker=False,
            spec_algorithm=self.algorithm,
        )

    def _sliding_window(self) -> Any:
        from sglang.srt.model_executor.model_runner_components import load_model_utils

        return call_known(
            load_model_utils.resolve_sliding_window_size,
            model=self.runner.model,
            model_config=self.config,
            is_hybrid_swa=self.config.is_hybrid_swa,
            is_draft_worker=False,
        )

    def _kv_dtype(self) -> None:
        self.runner.configure_kv_cache_dtype()
        text = getattr(self.runner, "kv_cache_dtype_str", None)
        text = text or resolved(self.args, "kv_cache_dtype")
        dtype = str(self.runner.kv_cache_dtype).removeprefix("torch.")
        self.steps.note("kv_dtype", f"{text} -> {dtype}")

    def _configurator(self) -> Any:
        from sglang.srt.mem_cache.kv_cache_configurator import KVCacheConfigurator

        known = {
            **vars(self.runner),
            "attn_dp_size": self.topology.attn_dp,
            "pp_size": self.topology.pp,
            "model_dtype": self.runner.dtype,
            "post_capture_kv_active": False,
        }
        values = {}
        for field in dataclasses.fields(KVCacheConfigurator):
            required = field.default is field.default_factory is dataclasses.MISSING
            if field.init and (field.name in known or required):
                values[field.name] = known.get(field.name)
        return KVCacheConfigurator(**values)

    def _family(self, configurator: Any) -> None:
        from sglang.srt.configs.model_config import is_deepseek_dsa, is_deepseek_v4
        from sglang.srt.platforms import current_platform

        gate = getattr(configurator, "_validate_prefill_only_disable_kv_cache_pool_family", None)
        if gate is None:
            self.steps.note("prefill_only_family", "n/a")
            return
        model = self.config.hf_config
        given = (is_deepseek_dsa(model), is_deepseek_v4(model), current_platform)
        gate(*given[: len(inspect.signature(gate).parameters)])

    def _mamba(self, configurator: Any, context: Any) -> None:
        if configurator.mambaish_config is None:
            self.steps.note("mamba_size", "n/a")
            return
        configurator._handle_max_mamba_cache(FREE_GIB)
        schedule = context.get_schedule() if hasattr(context, "get_schedule") else self.args
        self.steps.note("mamba_size", str(schedule.max_mamba_cache_size))

    def _sizes(self, configurator: Any) -> Any:
        from sglang.srt.model_executor.pool_configurator import create_memory_pool_configurator

        pool = create_memory_pool_configurator(configurator)
        self.steps.note("pool_sizes", type(pool).__name__)
        page = self.runner.page_size
        sizes = pool.calculate_pool_sizes_from_max_tokens(TOKENS, page)
        limit = configurator.resolve_max_num_reqs(sizes.max_total_num_tokens)
        sizes.max_running_requests = limit
        sizes = pool.finalize_with_max_running_requests(sizes)
        sizes.max_running_requests = min(REQUESTS, sizes.max_running_requests or REQUESTS)
        for name in TOKEN_COUNTS:
            if getattr(sizes, name, None):
                setattr(sizes, name, min(getattr(sizes, name), max(page, 1) * PAGES))
        return configurator._derive_pool_sizes(config=sizes)

    def _construct(self, configurator: Any, sizes: Any) -> Any:
        pools = configurator._init_pools(
            sizes=sizes, req_to_token_pool=None, token_to_kv_pool_allocator=None
        )
        self.steps.note("pool", type(pools.token_to_kv_pool).__name__)
        self.steps.note("allocator", type(pools.token_to_kv_pool_allocator).__name__)
        self.steps.note("request_pool", type(pools.req_to_token_pool).__name__)
        return pools

    def _backend_names(self) -> None:
        from sglang.srt.model_executor.model_runner_components import attention_backend_setup

        resolve = getattr(attention_backend_setup, "resolve_attention_backend_strs", None)
        if resolve is None:
            prefill, decode = self.args.get_attention_backends()
        else:
            names = resolve(model_runner=self.runner)
            prefill, decode = names.prefill, names.decode
        self.runner.prefill_attention_backend_str = prefill
        self.runner.decode_attention_backend_str = decode
        self.steps.note("backend_names", f"{prefill}/{decode}")

    def _backend(self) -> Any:
        from sglang.srt.model_executor.model_runner_components import attention_backend_setup

        backend = attention_backend_setup.get_attention_backend(model_runner=self.runner)
        self.steps.note("backend", type(backend).__name__)
        return backend


TOKEN_COUNTS = ("max_total_num_tokens", "full_max_total_num_tokens", "swa_max_total_num_tokens")


def _publish(context: Any, args: Any) -> None:
    if hasattr(context, "SpawnRanks"):
        ranks = context.SpawnRanks(world_rank=0, dp_rank=None, gpu_id=0)
        context.publish(args, role="scheduler", ranks=ranks)
    elif hasattr(context, "publish"):
        context.publish(args, role="scheduler")
    else:
        from sglang.srt.server_args import set_global_server_args_for_scheduler

        set_global_server_args_for_scheduler(args)


def _fake_groups(context: Any, topology: Topology) -> None:
    """Later releases derive widths from the published arguments; earlier ones are told."""
    parallel = context.get_parallel()
    groups = stand_in_groups(topology)
    if not hasattr(parallel, "_stamp"):
        groups |= topology.sizes()
        groups |= {"world_size": topology.tp * topology.pp, "world_rank": 0}
        groups |= {"dcp_enabled": topology.dcp > 1}
        groups |= {"dcp_group": groups["tp_group"] if topology.dcp > 1 else None}
    parallel._overrides.update(groups)


def _reset(context: Any) -> None:
    try:
        context.get_parallel()._overrides = {}
        context.reset_context()
    except Exception:
        return  # nothing had been published


def _no_draft() -> Any:
    from sglang.srt.model_executor.model_runner_components import spec_aux_hidden_state

    return spec_aux_hidden_state.SpecAuxHiddenStateConfig(eagle_draft_num_layers=1)


def _give_pools(runner: Any, pools: Any, sizes: Any) -> None:
    """Hand the pools to the runner, or empty ones when their construction was an artefact."""
    if pools is not None:
        runner.req_to_token_pool = pools.req_to_token_pool
        runner.token_to_kv_pool = pools.token_to_kv_pool
        runner.token_to_kv_pool_allocator = pools.token_to_kv_pool_allocator
        runner.max_running_requests = sizes.max_running_requests
        runner.max_total_num_tokens = sizes.max_total_num_tokens
        return
    table = torch.zeros((REQUESTS + 1, 128), dtype=torch.int32)
    runner.req_to_token_pool = types.SimpleNamespace(
        size=REQUESTS, req_to_token=table, max_context_len=128
    )
    runner.token_to_kv_pool = types.SimpleNamespace()
    runner.token_to_kv_pool_allocator = types.SimpleNamespace()
    runner.max_running_requests = REQUESTS
