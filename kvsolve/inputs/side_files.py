"""Files and JSON texts that facts are read from, apart from a config.json.

Since 0.5.22 a Qwen3.5 backbone may come with ``decision_config.json`` (its head answers decisions)
or ``joint_head_config.json`` (a joint schema head); the first changes the architecture.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Crash, Unknown
from kvsolve.model.fact import ConfigObject
from kvsolve.packs.release_order import release_order

if TYPE_CHECKING:
    from kvsolve.inputs.config_object import DraftObject
    from kvsolve.inputs.model_config import ModelFiles

__all__ = ["apply_readouts", "kv_events", "local_json", "local_yaml"]

DECISION = "decision_config.json"
JOINT_HEAD = "joint_head_config.json"
BACKBONE = "Qwen3_5Model"
WHOLE = "Qwen3_5ForConditionalGeneration"
NONCAUSAL = "noncausal_full_attention"
KV_EVENTS = {"publisher": "null", "endpoint": "tcp://*:5557", "replay_endpoint": None}
MODES = ("causal", NONCAUSAL)


def apply_readouts(
    release: str, files: ModelFiles, config: DraftObject, text: DraftObject
) -> dict[str, Any]:
    """The readouts of a model, after what they change in its configuration.

    A decision file that the release refuses changes nothing: it is refused before.
    """
    found: dict[str, Any] = {"decision_config": None, "joint_head_config": None}
    if files.directory is None or release_order(release) < (0, 5, 22, 0):
        return found
    if config.get("architectures") == [BACKBONE]:
        decision = _beside(files.directory, DECISION)
        found["decision_config"] = decision
        if isinstance(decision, dict) and _is_served(decision):
            config.set("architectures", [WHOLE])
            if decision.get("attention_mode") == NONCAUSAL:
                text.set("is_causal", False)
    if config.get("architectures") == [WHOLE]:
        found["joint_head_config"] = _beside(files.directory, JOINT_HEAD)
    return found


def _is_served(decision: dict[str, Any]) -> bool:
    return (
        decision.get("format_version") == 1
        and decision.get("attention_mode", "causal") in MODES
        and decision.get("pooling", "last") == "last"
    )


def _beside(folder: Path, name: str) -> Any:
    try:
        return local_json(folder / name) if (folder / name).is_file() else None
    except Crash:
        return None  # the program asks for the file again and breaks at its place


def local_json(path: object) -> Any:
    """What a JSON file holds.

    Raises:
        Crash: It is not there, cannot be read, or is no JSON.
    """
    try:
        return json.loads(Path(str(path)).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Crash("FileNotFoundError") from error
    except OSError as error:
        raise Crash("OSError") from error
    except (ValueError, RecursionError) as error:
        raise Crash("JSONDecodeError") from error


def local_yaml(path: object) -> Any:
    """What a YAML file holds.

    Raises:
        Crash: It is not there, cannot be read, or is no YAML.
        Unknown: Nothing here reads YAML.
    """
    try:
        import yaml
    except ImportError as error:
        raise Unknown("yaml.safe_load") from error
    try:
        return yaml.safe_load(Path(str(path)).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Crash("FileNotFoundError") from error
    except OSError as error:
        raise Crash("OSError") from error
    except (ValueError, yaml.YAMLError) as error:
        raise Crash("YAMLError") from error


def kv_events(text: object) -> ConfigObject:
    """``--kv-events-config``, with its defaults.

    Raises:
        Crash: The text is no JSON object.
        Unknown: A value has another type than the release declares.
    """
    try:
        given = json.loads(str(text))
    except ValueError as error:
        raise Crash("ValidationError") from error
    if not isinstance(given, dict):
        raise Crash("ValidationError")
    merged = {**KV_EVENTS, **given}
    optional = merged["replay_endpoint"]
    if not all(isinstance(merged[name], str) for name in ("publisher", "endpoint")) or not (
        optional is None or isinstance(optional, str)
    ):
        raise Unknown("KVEventsConfig")
    return ConfigObject(merged)
