"""check: everything that SGLang would refuse or silently rewrite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.answers.asking import hider, request, session

if TYPE_CHECKING:
    from kvsolve.answers.asking import Command
    from kvsolve.model.finding import CheckResult
    from kvsolve.session import Request

__all__ = ["answer", "check"]


def check(command: Command, **context: Any) -> CheckResult:
    """Say everything that SGLang would refuse or silently rewrite about a launch command.

    >>> answer = check("--model-path m --tp 2 --tp 2", gpu="h100", family="llama-mha")
    >>> str(answer.verdict)
    'valid'

    Args:
        command: Text or tokens, with or without the program in front.
        **context: ``sglang``, ``gpu``, ``gpus``, ``model_config``, ``family``, ``env``, ``stage``.

    Raises:
        KvsolveError: Something in it cannot be used.
    """
    return answer(request(command, **context))


def answer(asked: Request) -> CheckResult:
    """The check of a request, secrets hidden."""
    question = session().ask(asked)
    return hider(question).result(session().judge(question))
