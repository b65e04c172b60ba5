"""A model runner without weights, processes or a device, for the later stages."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any

import torch

from .faked_hardware import FakeStream

__all__ = ["Topology", "light_runner", "resolved", "stand_in_groups"]


def resolved(args: Any, name: str) -> Any:
    """A resolved field of the server arguments, whichever way the release keeps it."""
    try:
        from sglang.srt.arg_groups.overrides import resolution_result

        return resolution_result(args, name)
    except Exception:
        return getattr(args, name)


@dataclass(frozen=True, slots=True)
class Topology:
    """The widths of the process groups, as the scheduler of rank 0 sees them."""

    tp: int
    pp: int
    cp: int
    attn_dp: int
    dcp: int
    ep: int
    moe_dp: int
    dp: int

    @classmethod
    def of(cls, args: Any) -> Topology:
        tp = resolved(args, "tp_size")
        return cls(
            tp=tp,
            pp=resolved(args, "pp_size"),
            cp=resolved(args, "attn_cp_size") or 1,
            attn_dp=_attention_dp(args),
            dcp=resolved(args, "dcp_size") or 1,
            ep=resolved(args, "ep_size") or 1,
            moe_dp=resolved(args, "moe_dp_size") or 1,
            dp=resolved(args, "dp_size"),
        )

    @property
    def attn_tp(self) -> int:
        return max(1, self.tp // max(1, self.attn_dp) // max(1, self.cp))

    def sizes(self) -> dict[str, int]:
        """Every width and rank that the parallel state of some release names."""
        widths = {
            "tp": self.tp,
            "pp": self.pp,
            "attn_tp": self.attn_tp,
            "attn_cp": self.cp,
            "attn_dp": self.attn_dp,
            "dcp": self.dcp,
            "attn_dcp": self.dcp,
            "moe_ep": self.ep,
            "moe_dp": self.moe_dp,
            "moe_tp": max(1, self.tp // self.ep // self.moe_dp),
        }
        sizes = {f"{name}_size": width for name, width in widths.items()}
        return sizes | {f"{name}_rank": 0 for name in widths}


def _attention_dp(args: Any) -> int:
    """Attention data parallelism: a field of its own since 0.5.22, before it ``dp_size``."""
    try:
        width = resolved(args, "attn_dp_size")
    except AttributeError:
        width = None
    if width is not None:
        return int(width)
    try:
        return int(resolved(args, "dp_size")) if resolved(args, "enable_dp_attention") else 1
    except AttributeError:
        return 1


def stand_in_groups(topology: Topology) -> dict[str, Any]:
    """Process groups of one process; only the pipeline group knows its real width."""
    group = types.SimpleNamespace(
        world_size=1,
        rank=0,
        rank_in_group=0,
        local_rank=0,
        cpu_group=None,
        device_group=None,
        is_first_rank=True,
        is_last_rank=True,
    )
    names = ["world", "tp", "attn_tp", "attn_cp", "moe_ep", "moe_dp", "moe_tp"]
    groups = {f"{name}_group": group for name in names}
    groups["pp_group"] = types.SimpleNamespace(**{**vars(group), "world_size": topology.pp})
    return groups


def light_runner(args: Any, config: Any, algorithm: Any, topology: Topology, device: str) -> Any:
    """A ``ModelRunner`` with the attributes that pool and backend construction read.

    Args:
        args: The release's resolved server arguments.
        config: The release's ``ModelConfig`` of the target model.
        algorithm: The release's speculative algorithm.
        topology: The process groups' widths.
        device: ``cuda``, ``cpu``, ``xpu`` or ``npu``.
    """
    from sglang.srt.configs.model_config import AttentionArch
    from sglang.srt.model_executor.model_runner import ModelRunner

    runner = ModelRunner.__new__(ModelRunner)
    groups = stand_in_groups(topology)
    sizes = topology.sizes()
    vars(runner).update(
        device=device,
        gpu_id=0,
        ps=_parallel_state(topology),
        model_config=config,
        server_args=args,
        spec_algorithm=algorithm,
        model=_hollow_model(config),
        is_generation=config.is_generation,
        is_multimodal=config.is_multimodal,
        is_hybrid_swa=config.is_hybrid_swa,
        is_hybrid_swa_compress=getattr(config, "is_hybrid_swa_compress", False),
        use_mla_backend=config.attention_arch == AttentionArch.MLA,
        attention_chunk_size=config.attention_chunk_size,
        dtype=config.dtype,
        page_size=resolved(args, "page_size"),
        enable_hisparse=resolved(args, "enable_hisparse"),
        mem_fraction_static=resolved(args, "mem_fraction_static"),
        dp_size=topology.dp,
        pp_group=groups["pp_group"],
        tp_group=groups["tp_group"],
        attention_tp_group=groups["tp_group"],
        forward_stream=FakeStream(),
        **{name: sizes[name] for name in RUNNER_SIZES},
        **EMPTY_RUNNER,
    )
    return runner


RUNNER_SIZES = [
    "tp_size",
    "pp_size",
    "tp_rank",
    "attn_cp_size",
    "attn_cp_rank",
    "attn_tp_size",
    "attn_dp_size",
    "dcp_size",
    "attn_dcp_size",
    "moe_ep_size",
]

EMPTY_RUNNER: dict[str, Any] = {
    "is_draft_worker": False,
    "draft_attention_backend": None,
    "req_to_token_pool": None,
    "token_to_kv_pool_allocator": None,
    "memory_pool_config": None,
    "draft_model_idx": None,
    "init_new_workspace": False,
    "dist_port": 0,
    "hisparse_coordinator": None,
    "capture_tail_hooks": [],
    "forward_pass_id": 0,
    "mtp_draft_device_pools": (),
}


def _hollow_model(config: Any) -> Any:
    model: Any = torch.nn.Module()
    model.quant_config, model.config = None, config.hf_config
    model.model = torch.nn.Module()
    model.model.layers = torch.nn.ModuleList()
    return model


def _parallel_state(topology: Topology) -> Any:
    values = {
        **topology.sizes(),
        "gpu_id": 0,
        "dp_rank": None,
        "dp_size": topology.dp,
    }
    try:
        from sglang.srt.distributed.parallel_state_wrapper import ParallelState
    except ModuleNotFoundError:
        return types.SimpleNamespace(**values)  # later releases keep this in the runtime context
    fields = ParallelState.__annotations__
    return ParallelState(**{name: value for name, value in values.items() if name in fields})
