"""elsewhere: on which GPU, and with which release, a command would be accepted as it is.

No edit of a command changes the machine or the release, so no repair tells of these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import request, session
from kvsolve.errors import KvsolveError
from kvsolve.model.finding import Verdict
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kvsolve.answers.asking import Command
    from kvsolve.session import Question, Request

__all__ = ["Elsewhere", "elsewhere", "elsewhere_of"]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Where nothing known refuses a command, everything else as asked.

    Attributes:
        gpus: GPU profiles.
        releases: Releases.
    """

    gpus: tuple[str, ...]
    releases: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of it."""
        return {"gpus": list(self.gpus), "releases": list(self.releases)}


def elsewhere(command: Command, **context: Any) -> Elsewhere:
    """Tell on which GPUs and with which releases a command would be accepted as it is.

    Args:
        command: Text or tokens.
        **context: As for :func:`kvsolve.check`.

    Raises:
        KvsolveError: Something in it cannot be used.
    """
    return elsewhere_of(session().ask(request(command, **context)))


def elsewhere_of(question: Question) -> Elsewhere:
    """The same for a question that was read."""
    from kvsolve.inputs.gpu import gpu_profiles
    from kvsolve.packs.pack import releases

    asked = question.request
    here = {prepared.context.gpu for prepared in question.prepared}
    gpus = (replace(asked, gpu=name) for name in gpu_profiles() if name not in here)
    others = (replace(asked, sglang=r) for r in releases() if r != question.pack.release)
    return Elsewhere(
        tuple(str(r.gpu) for r in _accepted(gpus)), tuple(str(r.sglang) for r in _accepted(others))
    )


def _accepted(requests: Iterable[Request]) -> Iterator[Request]:
    for one in requests:
        try:
            if session().check(one).verdict is Verdict.VALID:
                yield one
        except KvsolveError:
            continue  # the command cannot even be read there
