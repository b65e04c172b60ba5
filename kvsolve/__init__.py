"""Check, repair and map SGLang launch commands offline, before a GPU is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kvsolve.api import (
        check,
        conflict,
        count,
        cover,
        explain,
        iter_configs,
        matrix,
        options,
        repair,
        sample,
        why,
    )

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "check",
    "conflict",
    "count",
    "cover",
    "explain",
    "iter_configs",
    "matrix",
    "options",
    "repair",
    "sample",
    "why",
]


def __getattr__(name: str) -> Any:
    # Imported when first asked for: `import kvsolve` costs nothing, and a check loads no solver.
    if name in __all__:
        from kvsolve import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
