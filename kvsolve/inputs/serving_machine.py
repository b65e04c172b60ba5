"""What a command takes for granted on the machine that serves, which is seldom this one.

SGLang looks at files and devices of the machine that it starts on. kvsolve runs elsewhere, on a
laptop or in CI, so that a certificate or an InfiniBand device that is not here says nothing. What
the command names is taken to be there, and the answer says so.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.model.context import Config

__all__ = ["NOTHING", "Taken", "taken_for_granted"]

_FILES = ("ssl_keyfile", "ssl_certfile", "ssl_ca_certs")
_DEVICES = ("disaggregation_ib_device", "mooncake_ib_device")
_DEVICE_FOLDER = "/sys/class/infiniband"


class Taken:
    """Files and devices that a command names and that are not on this machine.

    Attributes:
        files: Paths.
        devices: InfiniBand devices.
    """

    __slots__ = ("devices", "files")

    def __init__(self, files: frozenset[str], devices: frozenset[str]) -> None:
        self.files, self.devices = files, devices

    def __bool__(self) -> bool:
        return bool(self.files or self.devices)

    @property
    def key(self) -> tuple[frozenset[str], frozenset[str]]:
        """What tells one from another."""
        return self.files, self.devices

    def facts(self) -> dict[str, Any]:
        """The functions of the context that know of them, where there are any."""
        if not self:
            return {}
        return {
            "helper:path_isfile": self._isfile,
            "helper:path_isdir": self._isdir,
            "helper:os.listdir": self._listdir,
        }

    def sentences(self) -> Iterator[str]:
        """What the answer says of them."""
        for path in sorted(self.files):
            yield f"{path} is on the machine that serves"
        if self.devices:
            names = ", ".join(sorted(self.devices))
            yield f"the machine that serves has the InfiniBand devices {names}"

    def _isfile(self, path: Any) -> bool:
        return path in self.files or os.path.isfile(path)

    def _isdir(self, path: Any) -> bool:
        return (path == _DEVICE_FOLDER and bool(self.devices)) or os.path.isdir(path)

    def _listdir(self, path: Any) -> tuple[str, ...]:
        if path == _DEVICE_FOLDER and self.devices:
            return tuple(sorted(self.devices))
        raise Unknown(f"what lies in {path}")


NOTHING = Taken(frozenset(), frozenset())
"""Where the machine that serves is this one."""


def taken_for_granted(config: Config) -> Taken:
    """What a command names and this machine does not have.

    Args:
        config: Values of the command's flags.
    """
    given = {
        dest: value
        for dest in (*_FILES, *_DEVICES)
        if dest in config.given and isinstance(value := config.values[dest], str)
    }
    files = {v for dest, v in given.items() if dest in _FILES and not os.path.isfile(v)}
    devices = {name for dest in _DEVICES if dest in given for name in _named(given[dest])}
    here = set(os.listdir(_DEVICE_FOLDER)) if os.path.isdir(_DEVICE_FOLDER) else set()
    return Taken(frozenset(files), frozenset(devices if devices - here else ()))


def _named(value: str) -> Iterator[str]:
    """Devices of a comma-separated list, or of a JSON object of such lists by GPU, or its file."""
    text = value.strip()
    try:
        parsed = json.loads(Path(text).read_bytes() if text.endswith(".json") else text)
    except (OSError, ValueError):
        parsed = None
    groups = list(parsed.values()) if isinstance(parsed, dict) else [text]
    if text.endswith(".json") and parsed is None:
        return
    for group in groups:
        if isinstance(group, str):
            yield from (name.strip() for name in group.split(",") if name.strip())
