"""What a session keeps, and what it drops."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kvsolve import contexts as module
from kvsolve.alike import Alike
from kvsolve.session import Question, Request, Session

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


ALIKE = ["--model-path", "m", "--tp-size", "2", "--host", "{host}", "--port", "{port}"]


def questions(session: Session, *changes: dict[str, str]) -> list[Question]:
    words = [[word.format(**change) for word in ALIKE] for change in changes]
    return [session.ask(Request(tokens, family="llama-mha")) for tokens in words]


def test_commands_that_differ_in_what_nothing_reads_share_an_answer() -> None:
    session, alike = Session(), Alike()
    first, second = questions(
        session, {"host": "10.0.0.1", "port": "30000"}, {"host": "10.0.0.2", "port": "30000"}
    )
    assert "host" not in first.pack.modelled
    assert alike.key(first) == alike.key(second)
    kept = session.judge(first, alike)
    shared = session.judge(second, alike)
    assert shared.findings is kept.findings
    assert shared.argv == second.argv
    assert shared.to_dict() == session.judge(second).to_dict()


def test_commands_that_differ_in_what_the_release_reads_do_not() -> None:
    session, alike = Session(), Alike()
    first, second = questions(
        session, {"host": "h", "port": "30000"}, {"host": "h", "port": "30001"}
    )
    assert alike.key(first) != alike.key(second)
    session.judge(first, alike)
    assert session.judge(second, alike).to_dict() == session.judge(second).to_dict()


def test_true_and_one_are_not_alike() -> None:
    session, alike = Session(), Alike()
    (question,) = questions(session, {"host": "h", "port": "1"})
    config = question.config
    keys = {
        alike.key(replace(question, config=config.with_values({"mem_fraction_static": value})))
        for value in (1, 1.0, True, [1], [True], {"a": 1}, {"a": True})
    }
    assert len(keys) == 7
    odd = replace(question, config=config.with_values({"mem_fraction_static": object()}))
    assert alike.key(odd) is None
    assert session.judge(odd, alike).argv == odd.argv


def test_models_of_which_nothing_is_known_share_their_contexts() -> None:
    session = Session()
    first, second = (
        session.ask(Request(["--model-path", name], gpu="h100")) for name in ("/models/a", "b/c")
    )
    assert first.prepared is second.prepared
    draft = ["--speculative-algorithm", "EAGLE", "--speculative-draft-model-path", "/models/d"]
    third = session.ask(Request(["--model-path", "/models/a", *draft], gpu="h100"))
    assert third.prepared is not first.prepared
    config = first.prepared[0].facts["helper:config_of"]
    assert config("/models/a") is config("b/c") is first.prepared[0].facts["config"]
