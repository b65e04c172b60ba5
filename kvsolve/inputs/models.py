"""Where a model's facts come from: files, the local Hub cache, profiles, the well-known models.

Profiles (``profiles/models.toml``, ``profiles/model-profiles.jsonl``) stand for a family; the table
of well-known models (``profiles/well-known.jsonl``) maps Hub ids to the keys of their config.json
that matter. Nothing is ever fetched.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.inputs.model_config import ModelFiles, checked, load_config_json
from kvsolve.model.noun import dataclass
from kvsolve.packs.files import constraints_directory, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "DEVICE_FLAGS",
    "MODEL_FLAGS",
    "ModelProfile",
    "ResolvedModel",
    "UnknownModelError",
    "find_model",
    "known_models",
    "model_profile",
    "model_profiles",
    "resolve_model",
]

SIDE_FILE = "hf_quant_config.json"
MODELSLIM = "quant_model_description.json"


DEVICE_FLAGS = frozenset({"device"})
"""Flags that name the machine."""

MODEL_FLAGS = frozenset(
    {
        "json_model_override_args",
        "load_format",
        "model_config_parser",
        "model_impl",
        "model_loader_extra_config",
        "model_path",
        "modelopt_checkpoint_restore_path",
        "quantization_param_path",
        "revision",
        "speculative_draft_load_format",
        "speculative_draft_model_path",
        "speculative_draft_model_revision",
        "speculative_token_map",
        "tokenizer_mode",
        "tokenizer_path",
    }
)
"""Flags that say which model is served and how its files are read: facts, not choices."""


class UnknownModelError(KvsolveError):
    """No model profile of that name; the text lists those there are."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """A stand-in for a family of models.

    Attributes:
        name: Name of the profile.
        family: KV-pool family: ``mha``, ``mla``, ``dsa``, ``dsv4``, ``swa``, ``linear``,
            ``encoder``, ``encoder-decoder``, ``sparse`` or ``draft``.
        about: One line for people.
        files: The configuration.
    """

    name: str
    family: str
    about: str
    files: ModelFiles


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model and where its facts come from.

    Attributes:
        name: As in the command, or the profile's name.
        files: Its configuration, None where nothing is known.
        origin: One line that says where the facts come from.
        approximate: Whether they are those of a relative.
    """

    name: str
    files: ModelFiles | None
    origin: str
    approximate: bool = False


def resolve_model(
    named: str | None = None,
    *,
    config: Path | None = None,
    family: str | None = None,
    env: Mapping[str, str] | None = None,
) -> ResolvedModel:
    """The model of a context; the first source that answers wins.

    Args:
        named: ``--model-path`` of the command.
        config: ``--model-config``: a config.json or a directory that holds one.
        family: ``--family``: a model profile.
        env: Environment that may move the Hub cache; the process's own by default.

    Raises:
        KvsolveError: A named file or profile cannot be used.
    """
    name = named or family or (str(config) if config else "")
    if config is not None:
        return ResolvedModel(name, _from_path(config, name), f"the file {config}")
    if family is not None:
        profile = model_profile(family)
        return ResolvedModel(name, profile.files, f"the model profile {profile.name}")
    if not named:
        return ResolvedModel("", None, "no model was named")
    return _named(named, os.environ if env is None else env)


def _named(named: str, env: Mapping[str, str]) -> ResolvedModel:
    local = Path(named).expanduser()
    if (local / "config.json").is_file():
        return ResolvedModel(named, _from_path(local, named), f"{local / 'config.json'}")
    cached = _cached(named, env)
    if cached is not None:
        return ResolvedModel(named, _from_path(cached, named), "the local Hub cache")
    row = _row(named)
    if row is not None:
        files = _files(row, named)
        if row.get("approximate"):
            origin = f"approximated by {row['base']}" if "base" in row else row["source"]
            return ResolvedModel(named, files, origin, approximate=True)
        return ResolvedModel(named, files, f"the table of well-known models ({row['source']})")
    return ResolvedModel(named, None, "unknown: nothing is known of this model")


def find_model(name: str) -> ModelFiles | None:
    """The model of that path, Hub id or profile name; None where nothing is known of it."""
    profile = model_profiles().get(name)
    if profile is not None:
        return profile.files
    return resolve_model(name).files


def _from_path(path: Path, name: str) -> ModelFiles:
    folder = path if path.is_dir() else path.parent
    quantization = folder / SIDE_FILE
    return ModelFiles(
        config=load_config_json(path),
        name=name,
        quantization=load_config_json(quantization) if quantization.is_file() else None,
        modelslim=(folder / MODELSLIM).is_file(),
        directory=folder,
    )


def _cached(name: str, env: Mapping[str, str]) -> Path | None:
    """The newest snapshot of a Hub id in the local cache that holds a config.json."""
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        return None
    hub = env.get("HF_HUB_CACHE") or env.get("HUGGINGFACE_HUB_CACHE")
    home = env.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface")
    folder = Path(hub or os.path.join(home, "hub")) / f"models--{name.replace('/', '--')}"
    reference = folder / "refs" / "main"
    try:
        chosen = folder / "snapshots" / reference.read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return chosen if (chosen / "config.json").is_file() else None


def model_profiles() -> Mapping[str, ModelProfile]:
    """Every shipped model profile by name."""
    return _profiles(constraints_directory() / "sglang" / "profiles")


def model_profile(name: str) -> ModelProfile:
    """The profile of that name, in any case.

    Raises:
        UnknownModelError: There is none.
    """
    found = model_profiles().get(name.lower())
    if found is None:
        known = ", ".join(model_profiles())
        raise UnknownModelError(f"unknown model profile {name!r}; known: {known}")
    return found


@lru_cache(maxsize=4)
def _profiles(folder: Path) -> Mapping[str, ModelProfile]:
    table = read_toml(folder / "models.toml")["profile"]
    lines = (folder / "model-profiles.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["name"]: row for row in map(json.loads, lines)}
    return {
        name: ModelProfile(name, entry["family"], entry["about"], _files(rows[name], name))
        for name, entry in table.items()
    }


def known_models() -> Iterator[tuple[str, bool]]:
    """Hub ids of the well-known models, and whether their facts are approximate."""
    for line in _known_lines(_known_path()):
        row = json.loads(line)
        for name in (row["name"], *row.get("also", ())):
            yield name, bool(row.get("approximate"))


def _known_path() -> Path:
    return constraints_directory() / "sglang" / "profiles" / "well-known.jsonl"


@lru_cache(maxsize=2)
def _known_lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8").splitlines())


@lru_cache(maxsize=512)
def _row(name: str) -> dict[str, Any] | None:
    """The row of a Hub id, in any case, with what it takes from its base filled in.

    It is kept, and must not be changed.
    """
    quoted = json.dumps(name).lower()
    for line in _known_lines(_known_path()):
        if quoted not in line.lower():
            continue
        row = json.loads(line)
        names = (row["name"], *row.get("also", ()))
        if name.lower() in (n.lower() for n in names):
            return _completed(row)
    return None


def _completed(row: dict[str, Any]) -> dict[str, Any]:
    base = _row(row["base"]) if "base" in row else None
    if base is None:
        return row
    config = {k: v for k, v in base["config"].items() if k not in row.get("unset", ())}
    for name, value in row.get("set", {}).items():
        held = config.get(name)
        merged = {**held, **value} if isinstance(held, dict) and isinstance(value, dict) else value
        config[name] = merged
    kept: dict[str, Any] = {}
    if not row.get("unset"):
        kept = {k: base[k] for k in ("quantization", "fp8_experts") if k in base}
    return {**kept, **row, "config": config}


def _files(row: Mapping[str, Any], name: str) -> ModelFiles:
    return ModelFiles(
        config=checked(row["config"], name),
        name=name,
        quantization=row.get("quantization"),
        fp8_experts=bool(row.get("fp8_experts")),
        fp4_experts=row.get("fp4_experts"),
    )
