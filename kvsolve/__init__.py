"""Check, repair and map SGLang launch commands offline, before a GPU is touched."""

from __future__ import annotations

__version__ = "0.1.0"
