"""Let code that fills GPU memory run without a GPU, and without filling the host's."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

__all__ = ["HostTensors"]

LARGEST = 1 << 31
"""Elements above which a tensor has no memory at all."""
UNTOUCHED = 1 << 12
"""Elements above which a tensor's contents are left as they come."""

FILLED = ("zeros", "ones", "full")
SIZED = ("empty", "rand", "randn", *FILLED)
GPUS = ("cuda", "xpu", "npu", "hip")


class HostTensors(TorchFunctionMode):
    """Within this context, tensors for an accelerator become untouched CPU or meta tensors."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if "pin_memory" in kwargs:
            kwargs["pin_memory"] = False
        name = getattr(func, "__name__", "")
        if _is_gpu(kwargs.get("device")):
            count, size = _elements(name, args, kwargs)
            kwargs["device"] = "cpu" if count <= LARGEST else "meta"
            if size is not None and count > UNTOUCHED and name in FILLED:
                shape = tuple(int(n) for n in size)
                return torch.empty(shape, dtype=kwargs.get("dtype"), device=kwargs["device"])
        if name == "to":
            args = tuple("cpu" if _is_gpu(argument) else argument for argument in args)
        elif name in ("cuda", "pin_memory") or (
            name in ("zero_", "fill_") and args[0].numel() > UNTOUCHED
        ):
            return args[0]
        return func(*args, **kwargs)


def _is_gpu(device: Any) -> bool:
    kind = device.type if isinstance(device, torch.device) else device
    return isinstance(kind, str) and kind.partition(":")[0] in GPUS


def _elements(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, Any]:
    """How many elements a factory makes and its shape, as far as its arguments say."""
    try:
        if name in SIZED:
            size = kwargs.get("size") or args[0]
            if isinstance(size, int):
                size = [n for n in args if isinstance(n, int)]
            count = 1
            for n in size:
                count *= int(n)
            return count, size
        if name == "arange":
            return max(int(n) for n in args if isinstance(n, int)), None
    except (IndexError, TypeError, ValueError):
        pass
    return 0, None
