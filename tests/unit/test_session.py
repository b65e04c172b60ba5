"""What a session keeps, and what it drops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve import session as module
from kvsolve.session import Request, Session

if TYPE_CHECKING:
    import pytest

    from kvsolve.solve.check import Prepared


def context(session: Session, gpus: int) -> Prepared:
    asked = Request(["--model-path", "m"], gpu="h100", family="llama-mha", gpus=gpus)
    return session.ask(asked).context


def test_contexts_that_were_searched_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SEARCHED", 2)
    session = Session()
    checked = context(session, 1)
    searched = [context(session, gpus) for gpus in (2, 3, 4)]
    for prepared in searched:
        vars(prepared)["inlined"] = object()  # as a repair leaves it
    context(session, 5)
    assert context(session, 1) is checked
    assert [context(session, gpus) is old for gpus, old in enumerate(searched, 2)] == [
        False,
        True,
        True,
    ]


def test_contexts_used_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT", 2)
    session = Session()
    first, second = context(session, 1), context(session, 2)
    assert context(session, 1) is first
    context(session, 3)
    assert context(session, 1) is first
    assert context(session, 2) is not second


def test_no_edit_names_another_machine() -> None:
    question = Session().ask(Request(["--model-path", "m"], gpu="h100", family="llama-mha"))
    assert "device" in question.held
    given = Request(["--model-path", "m", "--device", "cuda"], gpu="h100", family="llama-mha")
    assert "device" not in Session().ask(given).held
