"""Contexts kept between starts: the same answers, and nothing else is trusted."""

from __future__ import annotations

import os
import random

import pytest

from kvsolve.inputs.facts import context_facts
from kvsolve.inputs.gpu import gpu_profile
from kvsolve.inputs.models import find_model
from kvsolve.model.context import Config, Context
from kvsolve.packs.files import write_cached
from kvsolve.packs.pack import load_pack, newest
from kvsolve.solve import kept
from kvsolve.solve.check import Prepared
from kvsolve.solve.domains import State, default_of
from kvsolve.solve.kept import digest_of
from kvsolve.solve.network import network_of
from kvsolve.solve.repair import repair

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
TYPED = {"attention_backend": "fa3", "kv_cache_dtype": "fp8_e5m2", "page_size": 7, "tp_size": 16}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    load_pack(newest())
    monkeypatch.setenv("KVSOLVE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kept, "_followed", [])
    return tmp_path / "contexts"


def prepare(gpu: str = "h100", **facts: object) -> Prepared:
    known = context_facts(newest(), gpu_profile(gpu), find_model(MODEL)) | facts
    return Prepared(load_pack(newest()), Context(newest(), gpu, 8, MODEL, "table", known))


def config_of(prepared: Prepared, **typed: object) -> Config:
    flags = prepared.pack.flags
    values = {d: default_of(flags, d) for d in flags.fields} | {"model_path": MODEL} | typed
    return Config(values, {d: flags.flag(d).name for d in ("model_path", *typed)})


def save(prepared: Prepared) -> None:
    network = network_of(prepared)
    network.kept.save(network.board_of(prepared.pack.flags))


def test_answers_are_the_same_from_a_kept_context(folder) -> None:
    first = prepare()
    cold = repair(first, config_of(first, **TYPED), k=2)
    save(first)
    second = prepare()
    second.pack.__dict__.pop("program", None)
    warm = repair(second, config_of(second, **TYPED), k=2)
    assert (warm.repairs, warm.feasible, warm.bound) == (cold.repairs, cold.feasible, cold.bound)
    assert "program" not in vars(second.pack)
    assert sorted(file.suffix for file in folder.iterdir()) == [".clauses", ".model"]


def told(value: object) -> object:
    """A value with its types; two equal sets may be written in different order."""
    if isinstance(value, (list, tuple)):
        return type(value), [told(part) for part in value]
    if isinstance(value, dict):
        return type(value), [(key, told(part)) for key, part in value.items()]
    return type(value), sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def test_a_kept_circuit_has_every_node_and_value() -> None:
    made, read = prepare(), prepare()
    save(made)
    boards = [network_of(p).board_of(p.pack.flags) for p in (made, read)]
    a, b = (board.circuit for board in boards)
    assert a is not b
    assert (a.kinds, a.args, a.parents, a.roots) == (b.kinds, b.args, b.parents, b.roots)
    assert all(x is y or x == y for x, y in zip(a.terms, b.terms, strict=True))
    assert told((a.tables, a.constants)) == told((b.tables, b.constants))
    for board in boards:
        board.follower.grow()
    assert told(boards[0].follower.values) == told(boards[1].follower.values)


def test_kept_clauses_hold_for_whoever_typed_other_values() -> None:
    first = prepare()
    repair(first, config_of(first, **TYPED), k=3)
    save(first)
    second = prepare()
    network = network_of(second)
    universe = network.universe_of(second.pack.flags)
    universe.number(universe.index["page_size"], State(11, True))
    board = network.board_of(second.pack.flags)
    assert len(board.learned.clauses) > 20
    source = random.Random(7)
    for clause in board.learned.clauses:
        if clause.soft is None:
            at = {}
            for variable, mask in clause.literals:
                states = [s for s in range(len(universe.states[variable])) if mask >> s & 1]
                at[variable] = source.choice(states)
            board.move({v: s for v, s in at.items() if s != universe.rest[v]})
            assert board.follower.broken


def test_another_fact_is_another_context() -> None:
    plain, other = prepare(), prepare(**{"model.head_dim": 80})
    assert digest_of(plain) == digest_of(prepare())
    assert digest_of(plain) != digest_of(other)
    assert digest_of(plain) != digest_of(prepare("h200"))
    assert digest_of(prepare(**{"gpu.is_sm90": 1})) != digest_of(plain)


def test_a_fact_without_a_plain_form_is_not_kept() -> None:
    prepared = prepare(**{"host.thing": object()})
    assert digest_of(prepared) is None
    network = network_of(prepared)
    network.board_of(prepared.pack.flags)
    assert network.kept is None


def test_another_answer_of_a_file_makes_the_context_anew() -> None:
    first = prepare()
    save(first)
    second = prepare(**{"helper:path_isdir": lambda *_: True})
    assert digest_of(first) == digest_of(second)
    network = network_of(second)
    assert network.kept._circuit is None
    assert second.inlined.constraints != first.inlined.constraints or second.inlined.asked


@pytest.mark.parametrize("ending", ["model", "clauses"])
def test_a_damaged_file_is_made_anew(folder, ending: str) -> None:
    first = prepare()
    answer = repair(first, config_of(first, **TYPED), k=1)
    save(first)
    file = next(folder.glob(f"*.{ending}"))
    whole = file.read_bytes()
    head = whole.index(b"\0") + 1
    for body in (b"garbage", whole[head : head + 40]):
        file.write_bytes(whole[:head] + body)
        again = prepare()
        assert repair(again, config_of(again, **TYPED), k=1).repairs == answer.repairs


def test_a_file_that_others_may_write_is_not_read(folder) -> None:
    first = prepare()
    save(first)
    next(folder.glob("*.model")).chmod(0o666)
    assert network_of(prepare()).kept._circuit is None


def test_a_folder_that_cannot_be_written_is_no_error(folder) -> None:
    folder.parent.joinpath("contexts").write_text("in the way")
    prepared = prepare()
    answer = repair(prepared, config_of(prepared, **TYPED), k=1)
    save(prepared)
    assert answer.repairs


def test_a_full_disk_keeps_no_half_of_a_file(folder, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    write_cached("some.pack", "key", b"body")
    assert not list(folder.parent.iterdir())


def test_few_files_stay(folder, monkeypatch) -> None:
    monkeypatch.setattr(kept, "_MOST_FILES", 3)
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.model").write_bytes(b"old")
        os.utime(folder / f"{number}.model", (number, number))
    prepared = prepare()
    save(prepared)
    assert sorted(f.name for f in folder.iterdir())[:2] == ["3.model", "4.model"]
    assert len(list(folder.iterdir())) == 3
