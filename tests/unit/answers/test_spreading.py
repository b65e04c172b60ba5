"""Work spread over processes comes back in order, and its errors are told as here."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from kvsolve.answers import spreading
from kvsolve.answers.spreading import cores, spread
from kvsolve.errors import KvsolveError
from tests.unit.answers.spread_work import place, work

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_answers_come_in_the_order_of_the_items(workers: int) -> None:
    assert list(spread(work, 3, [4, 1, 2], workers)) == [12, 3, 6]


def test_other_processes_do_the_work() -> None:
    found = list(spread(place, None, [1, 2, 3], 2))
    assert os.getpid() not in found
    assert list(spread(place, None, [1], 2)) == [os.getpid()]


@pytest.mark.parametrize("workers", [1, 2])
def test_bad_input_is_told_as_without_processes(workers: int) -> None:
    with pytest.raises(KvsolveError, match="99 is too much"):
        list(spread(work, 3, [1, 99, 2], workers))


def test_a_worker_that_dies_is_told_and_leaves_nothing_behind() -> None:
    before = threading.active_count()
    with pytest.raises(KvsolveError, match=r"worker process ended.*3"):
        list(spread(work, 3, [66, 66], 2))
    assert threading.active_count() == before


def test_without_an_interpreter_to_start_the_work_is_done_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spreading.sys, "executable", "/no/such/python")
    assert list(spread(place, None, [1, 2], 2)) == [os.getpid()] * 2
    assert cores() >= 1


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from kvsolve.answers.spreading import spread\n"
        "from tests.unit.answers.spread_work import work\n"
        "print(list(spread(work, 2, [1, 2], 2)))\n"
    )
    env = {**os.environ, "PYTHONPATH": os.getcwd()}
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env)
    assert ran.stdout == "[2, 4]\n", ran.stderr
