"""Run one step of the later stages and decide what its failure means."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .genuine import is_genuine
from .host_tensors import HostTensors
from .places import frames, innermost
from .stages import STAGES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["STAGES", "Steps", "accepted", "call_known"]


class Steps:
    """Runs named steps in order and keeps what each came to.

    Attributes:
        current: The step that runs now; after an exception, the one that failed.
        outcomes: Per step ``ok``, a value, ``n/a``, ``skipped: ...`` or ``artefact: ...``. An
            artefact is a failure of our stand-ins; it never changes the verdict.
    """

    def __init__(self, root: Path, kind: str) -> None:
        self.root = root
        self.kind = kind
        self.current = "parse"
        self.outcomes: dict[str, str] = {}
        self._tensors = HostTensors()

    def run(self, name: str, action: Callable[[], Any], needs: tuple[str, ...] = ()) -> Any:
        """Run one step.

        Returns:
            What the action returned; None when it was skipped or was an artefact.

        Raises:
            BaseException: The release's own exception, when a real launch would be refused.
        """
        if any(not accepted(self.outcomes.get(step, "")) for step in needs):
            self.outcomes[name] = "skipped"
            return None
        self.current = name
        try:
            with self._tensors:
                value = action()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if is_genuine(error, self.root, self.kind):
                raise
            self.outcomes[name] = self._artefact(error)
            return None
        self.outcomes.setdefault(name, "ok")
        return value

    def note(self, name: str, text: str) -> None:
        """Keep a value under a step's name."""
        self.outcomes[name] = text

    def _artefact(self, error: BaseException) -> str:
        inside = frames(error.__traceback__, self.root)
        file, line, _ = innermost(error.__traceback__)
        where = f"{inside[-1][0].file}:{inside[-1][0].line}" if inside else f"{file.name}:{line}"
        return f"artefact: {type(error).__name__} at {where}"


def accepted(outcome: str) -> bool:
    """Whether later steps may rely on a step that came to this."""
    return not outcome.startswith(("artefact", "skipped"))


def call_known(function: Callable[..., Any], **arguments: Any) -> Any:
    """Call with those of the arguments that this release's signature has."""
    known = inspect.signature(function).parameters
    return function(**{name: value for name, value in arguments.items() if name in known})
