"""Facts that depend on arguments: what a release asks of files, paths and libraries.

Each is a plain function of values. One that the release would see fail raises
:class:`~kvsolve.model.expression.Crash` with the name of upstream's exception. Files are looked at
only where a path of the command names them; the network never is.
"""

from __future__ import annotations

import glob
import json
import math
import os
import re
import struct
from functools import total_ordering
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Crash, Unknown
from kvsolve.model.fact import ConfigObject

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PURE", "VersionNumber", "fp8_in_checkpoint", "ib_devices", "url_scheme"]

URL = re.compile(r"(.+)://(.*)")
OBJECT_STORAGE = ("s3://", "gs://", "az://")
GGUF = b"GGUF"
LARGEST_HEADER = 1 << 28
EXPERT = ("experts", "weight")
WATERMARK_FILE = 4096


def url_scheme(url: Any) -> str:
    """What stands before ``://``, empty where nothing does."""
    found = URL.match(_text(url))
    return found.group(1) if found else ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Crash("TypeError")
    return value


def listed(path: Any) -> tuple[str, ...]:
    """What lies in a folder; of one that is not here nothing is known."""
    try:
        return tuple(sorted(os.listdir(_text(path))))
    except OSError:
        raise Unknown(f"what lies in {path}") from None


def is_gguf_file(path: Any) -> bool:
    """Whether a path is a local file in GGUF format."""
    file = Path(_text(path))
    try:
        if not file.is_file():
            return False
        if file.suffix == ".gguf":
            return True
        with file.open("rb") as handle:
            return handle.read(4) == GGUF
    except (OSError, ValueError):
        return False


def own_text_config(config: Any) -> Any:
    """The language part that the model library itself would select."""
    for name in ("text_encoder", "decoder", "generator", "text_config"):
        part = config.get(name)
        if isinstance(part, ConfigObject):
            return part
    return config


def text_config(config: Any) -> Any:
    """The language part that the release selects."""
    names = config.get("architectures") or [""]
    if names[0].startswith("Llava") and names[0].endswith("ForCausalLM"):
        return config
    thinker = config.get("thinker_config")
    if isinstance(thinker, ConfigObject):
        inner = thinker.get("text_config")
        return inner if isinstance(inner, ConfigObject) else thinker
    for name in ("llm_config", "language_config", "text_config"):
        if isinstance(config.get(name), ConfigObject):
            return config.get(name)
    return config


def uses_kda(config: Any) -> bool:
    """Whether a model has delta-attention layers."""
    for part in (config, own_text_config(config)):
        linear = part.get("linear_attn_config")
        if isinstance(linear, dict) and linear.get("kda_layers"):
            return True
        types = part.get("layer_types") or ()
        sizes = part.get("linear_num_heads"), part.get("linear_head_dim")
        if "linear_attention" in types and None not in sizes:
            return True
    return False


def fp8_in_checkpoint(folder: Path) -> bool:
    """Whether the first expert weight of a local checkpoint is stored as FP8 (E4M3)."""
    try:
        return _fp8_in(folder)
    except (OSError, ValueError, KeyError, AttributeError, TypeError, struct.error):
        return False


def _fp8_in(folder: Path) -> bool:
    index = folder / "model.safetensors.index.json"
    shard = folder / "model.safetensors"
    if index.is_file():
        placed = json.loads(index.read_text(encoding="utf-8")).get("weight_map", {})
        experts = {v for k, v in placed.items() if all(part in k for part in EXPERT)}
        shards = sorted(experts or set(placed.values()))
        if not shards:
            return False
        shard = folder / shards[0]
    with shard.open("rb") as handle:
        (length,) = struct.unpack("<Q", handle.read(8))
        header = json.loads(handle.read(min(length, LARGEST_HEADER)))
    for key, meta in header.items():
        if key != "__metadata__" and all(part in key for part in EXPERT):
            return bool(meta.get("dtype") == "F8_E4M3")
    return False


def ib_devices(text: Any) -> Any:
    """Device names, or device number -> names, of an InfiniBand setting."""
    if text is None or not _text(text).strip():
        return None
    text = text.strip()
    if not text.endswith(".json") and not text.startswith("{"):
        return text
    mapping = _mapping(text)
    if not isinstance(mapping, dict) or not mapping:
        raise Crash("ValueError")
    if not all(str(k).isdigit() and isinstance(v, str) for k, v in mapping.items()):
        raise Crash("ValueError")
    return {int(key): value.strip() for key, value in mapping.items()}


def _mapping(text: str) -> Any:
    if not text.endswith(".json"):
        return load_json_text(text)
    try:
        return json.loads(Path(text).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Crash("RuntimeError") from error


def adaptive_candidate_steps(path: Any) -> list[int]:
    """Every draft length of the file that --speculative-adaptive-config names."""
    try:
        config = json.loads(Path(_text(path)).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Crash("FileNotFoundError") from error
    except (OSError, ValueError) as error:
        raise Crash("JSONDecodeError") from error
    entries = [entry for key, entry in config.items() if key.isdigit()]
    return sorted({step for entry in entries for step in entry["candidate_steps"]})


def watermark_file(path: Any) -> str:
    """The beginning of the file that --watermark-config names."""
    try:
        with Path(_text(path)).expanduser().open(encoding="utf-8") as handle:
            return handle.read(WATERMARK_FILE + 1)
    except (OSError, ValueError) as error:
        raise Crash("WatermarkConfigError") from error


def load_json_text(text: Any) -> Any:
    """The value of a JSON text."""
    try:
        return json.loads(text)
    except TypeError as error:
        raise Crash("TypeError") from error
    except (ValueError, RecursionError) as error:
        raise Crash("JSONDecodeError") from error


def ip_address(text: Any) -> str:
    """A host of --allowed-media-domains as it is kept: an IP address, else a name in lower case.

    The release goes on with the name where the text is no address; nothing else asks.
    """
    import ipaddress

    try:
        return str(ipaddress.ip_address(text))
    except ValueError as error:
        if not isinstance(text, str) or ":" in text:
            raise Crash("ValueError") from error
        return _host_name(text)


def _host_name(text: str) -> str:
    try:
        return text.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise Crash("ValueError") from error


def cached_file(path: Any, name: Any, *_: Any) -> str | None:
    """A file of a local checkpoint, None where it is not there."""
    if not isinstance(path, str) or not isinstance(name, str):
        return None
    file = os.path.join(path, name)
    return file if os.path.isfile(file) else None


def _unique(values: Any) -> dict[Any, None]:
    return dict.fromkeys(values)


@total_ordering
class VersionNumber:
    """A package version that can be compared; suffixes after the numbers are left out."""

    __slots__ = ("numbers",)

    def __init__(self, text: Any) -> None:
        found = re.match(r"\d+(?:\.\d+)*", str(text))
        if found is None:
            raise Crash("InvalidVersion")
        numbers = [int(part) for part in found.group().split(".")]
        while len(numbers) > 1 and numbers[-1] == 0:
            numbers.pop()
        self.numbers = tuple(numbers)

    def __str__(self) -> str:
        return ".".join(map(str, self.numbers))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VersionNumber) and self.numbers == other.numbers

    def __lt__(self, other: VersionNumber) -> bool:
        return self.numbers < other.numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    def attributes_of(self) -> dict[str, Any]:
        """Attributes that the entry language may read."""
        return {"base_version": str(self), "release": self.numbers}


NAMESPACE_URL = "6ba7b811-9dad-11d1-80b4-00c04fd430c8"
"""The namespace of addresses, as RFC 4122 gives it."""


def name_uuid(namespace: str, name: str) -> ConfigObject:
    """The UUID (version 5) of a name in a namespace, with its ``hex``."""
    import uuid

    found = uuid.uuid5(uuid.UUID(namespace), name)
    return ConfigObject({"hex": found.hex, "int": found.int})


PURE: dict[str, Callable[..., Any]] = {
    "adaptive_candidate_steps": adaptive_candidate_steps,
    "callable": callable,
    "entry_points": lambda *_: (),
    "dict.fromkeys": _unique,
    "gguf_reference": lambda *_: None,
    "glob.glob": lambda pattern, *_: sorted(glob.glob(_text(pattern))),
    "ib_devices": ib_devices,
    "ipaddress.ip_address": ip_address,
    "is_gguf_file": is_gguf_file,
    "is_object_storage_uri": lambda path: str(path).startswith(OBJECT_STORAGE),
    "is_remote_url": lambda path: URL.match(_text(path)) is not None,
    "json.loads": load_json_text,
    "math.log": math.log,
    "math.sqrt": math.sqrt,
    "os.listdir": listed,
    "os.path.dirname": os.path.dirname,
    "os.path.join": os.path.join,
    "own_text_config": own_text_config,
    "packaging.version.Version": VersionNumber,
    "path_exists": os.path.exists,
    "path_isdir": os.path.isdir,
    "path_isfile": os.path.isfile,
    "sglang.srt.configs.model_config:uses_kda_attention": uses_kda,
    "text_config": text_config,
    "transformers.utils.cached_file": cached_file,
    "transformers.utils.hub.cached_file": cached_file,
    "url_scheme": url_scheme,
    "watermark_file": watermark_file,
    "uuid.uuid5": name_uuid,
}
"""Functions that need nothing of the context, by helper name. The official images have no plug-ins,
so no group of entry points has a member."""
