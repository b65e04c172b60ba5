"""Keep a validator away from the network, and from compiling kernels."""

from __future__ import annotations

import importlib
import logging
import socket
import sys
import warnings
from typing import Any

from .placeholders import Placeholder

__all__ = ["NetworkAttemptError", "WarningCount", "block_network", "replace_kernel_loader"]

LOCAL = {None, "", "127.0.0.1", "localhost", "::1", "0.0.0.0"}

KERNEL_LOADERS = (
    "sglang.kernels.jit.utils.compile.loader",
    "sglang.kernels.jit.utils",
    "sglang.jit_kernel.utils",
)


class NetworkAttemptError(Exception):
    """A validator wanted to reach another machine."""


class WarningCount(logging.Handler):
    """Counts log records from WARNING on; their text is never kept."""

    def __init__(self) -> None:
        super().__init__(level=logging.WARNING)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


def count_warnings() -> WarningCount:
    """Silence Python's warnings and replace all logging by a counter."""
    counter = WarningCount()
    root = logging.getLogger()
    root.handlers[:] = [counter]
    root.setLevel(logging.WARNING)
    logging.basicConfig = lambda *_, **__: None
    warnings.simplefilter("ignore")
    return counter


def block_network() -> None:
    """Refuse every connection and look-up that leaves this machine."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo
    local = LOCAL | {socket.gethostname()}

    def guarded_connect(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else str(address)
        if self.family in (socket.AF_INET, socket.AF_INET6) and host not in local:
            raise NetworkAttemptError(f"connection to {host}")
        connect(self, address)

    def guarded_look_up(host: Any, *rest: Any, **options: Any) -> Any:
        if host not in local:
            raise NetworkAttemptError(f"look-up of {host}")
        return look_up(host, *rest, **options)

    socket.socket.connect = guarded_connect
    socket.getaddrinfo = guarded_look_up


def replace_kernel_loader() -> None:
    """Some backends compile a kernel when they are built; give them a placeholder instead."""
    stub = Placeholder(name="load_jit")
    for name in KERNEL_LOADERS:
        try:
            module: Any = importlib.import_module(name)
        except ImportError:
            continue  # another release keeps it elsewhere
        original = getattr(module, "load_jit", None)
        if original is None or isinstance(original, Placeholder):
            continue
        for loaded in list(sys.modules.values()):
            if getattr(loaded, "__dict__", {}).get("load_jit") is original:
                loaded.load_jit = stub
