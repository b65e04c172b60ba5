"""The inventory of a start-up, on a small made-up release."""

from __future__ import annotations

import ast
import json
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from kvsolve.errors import KvsolveError
from kvsolve.upstream.reach import figures
from kvsolve.upstream.reach.leaves import agreement, conditions, failing, leaves
from kvsolve.upstream.reach.places import Known, Place, places
from kvsolve.upstream.reach.reachable import reachable
from kvsolve.upstream.reach.ruled_out import FILE, read_ruled_out, still_ruled_out
from kvsolve.upstream.reader.modules import lasting_changes
from kvsolve.upstream.source import SourceTree

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "sglang/srt/server_args.py": "",
    "sglang/srt/managers/scheduler.py": """
        from sglang.srt.managers.worker import Worker
        from sglang.srt.managers.checks import check_widths
        from sglang.srt import pools

        class Scheduler:
            def __init__(self, server_args):
                self.server_args = server_args
                self.worker = Worker(server_args)
                check_widths(server_args.tp_size)
                self.worker.start_serving()

            def event_loop_normal(self):
                raise RuntimeError("not at start-up")
    """,
    "sglang/srt/managers/checks.py": """
        import os

        def check_widths(tp_size):
            if tp_size < 1:
                raise ValueError("width")

        def never_called(tp_size):
            assert tp_size
    """,
    "sglang/srt/managers/worker.py": """
        from sglang.srt.model_executor.model_runner import ModelRunner

        class Base:
            def prepare(self):
                raise NotImplementedError

        class Worker(Base):
            def __init__(self, server_args):
                self.runner: ModelRunner = ModelRunner(server_args)
                self.prepare()

            def prepare(self):
                rows = self.runner.weights.shape
                assert rows == 3

            def start_serving(self):
                assert self.runner
    """,
    "sglang/srt/model_executor/model_runner.py": """
        from sglang.srt.layers.attention.attention_registry import create_fast_backend

        class ModelRunner:
            def __init__(self, server_args):
                self.page_size = server_args.page_size
                self.alloc_memory_pool()
                self.init_attention_backends()

            def alloc_memory_pool(self):
                size = self.page_size
                if size % 2:
                    raise ValueError("page")

            def init_attention_backends(self):
                self.backend = create_fast_backend(self)
    """,
    "sglang/srt/layers/attention/attention_registry.py": """
        def create_fast_backend(runner):
            if runner.model_config.head_dim > 256:
                raise ValueError("head")
    """,
    "sglang/srt/pools.py": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> SourceTree:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return SourceTree.open(tmp_path, "1.0")


def test_stages_stop_at_the_roots_of_later_ones(tree: SourceTree) -> None:
    found = reachable(tree)
    assert found["managers/checks.py", "check_widths"] == "load"
    assert found["managers/worker.py", "Worker.prepare"] == "load"
    assert found["model_executor/model_runner.py", "ModelRunner.alloc_memory_pool"] == "pool"
    registry = "layers/attention/attention_registry.py"
    assert found[registry, "create_fast_backend"] == "attention"
    assert ("managers/checks.py", "never_called") not in found
    assert ("managers/scheduler.py", "Scheduler.event_loop_normal") not in found


def test_a_release_without_a_stage_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sglang/srt").mkdir(parents=True)
    (tmp_path / "sglang/srt/server_args.py").write_text("", encoding="utf-8")
    with pytest.raises(KvsolveError, match="no root of stage load"):
        reachable(SourceTree.open(tmp_path, "1.0"))


def test_every_place_has_a_disposition(tree: SourceTree) -> None:
    flags = frozenset({"tp_size", "page_size"})
    runner = "model_executor/model_runner.py"
    line = _line(tree, f"sglang/srt/{runner}", "raise ValueError('page')")
    known = Known({("managers/checks.py", 6): ("exact", "load")}, {(runner, line): ("KV1", "pool")})
    found = {row.symbol: row for row in places(tree, flags, known)}
    assert (found["check_widths"].status, found["check_widths"].flags) == ("exact", ("tp_size",))
    pool = found["ModelRunner.alloc_memory_pool"]
    assert (pool.stage, pool.status, pool.code) == ("pool", "curated", "KV1")
    unread = found["Worker.prepare"]
    assert (unread.status, unread.counts) == ("not modelled", False)
    assert "self.runner" in unread.reason
    assert found["create_fast_backend"].reason.startswith("decided by the model or the machine")
    assert "Base.prepare" not in found
    assert all(row.reason or row.status != "not modelled" for row in found.values())


def _line(tree: SourceTree, path: str, text: str) -> int:
    nodes = ast.walk(tree.parse(path))
    return next(n.lineno for n in nodes if isinstance(n, ast.Raise) and ast.unparse(n) == text)


@pytest.mark.parametrize(
    ("body", "flags", "unknown"),
    [
        ("assert server_args.page_size % 2 == 0", ("server_args.page_size",), ()),
        ("size = args.page_size\n    assert size > 1", ("args.page_size",), ()),
        ("backend = pick(prefill_backend)\n    assert backend.is_fast()", ("prefill_backend",), ()),
        ("if tensor.shape[0]:\n        raise ValueError", (), ("tensor.shape",)),
        ("if is_cuda() and envs.X.get():\n        raise ValueError", (), ()),
        ("assert config.num_attention_heads % 3 == 0", (), ()),
    ],
)
def test_leaves_of_conditions(body: str, flags: tuple[str], unknown: tuple[str]) -> None:
    function = ast.parse(f"def f(args, server_args):\n    {body}").body[0]
    kinds = (ast.Raise, ast.Assert)
    statement = next(node for node in ast.walk(function) if isinstance(node, kinds))
    tests = conditions(function, statement)
    found = leaves(function, tests, frozenset({"page_size"}))
    assert (found.flags, found.unknown) == (flags, unknown)


@pytest.mark.parametrize(
    ("test", "agree"),
    [
        ("self.page_size == spec.page_size", True),
        ("page_size != info.page_size", True),
        ("page_size == size", False),
        ("page_size == page_size", False),
        ("self.page_size > spec.page_size", False),
        ("self.page_size == 64", False),
    ],
)
def test_a_question_whether_two_objects_agree(test: str, agree: bool) -> None:
    tree = ast.parse(
        f"def f(page_size):\n    if {test}:\n        raise ValueError\n    assert {test}"
    )
    function = tree.body[0]
    for statement in (n for n in ast.walk(function) if isinstance(n, (ast.Raise, ast.Assert))):
        assert agreement(function, statement) is agree


def test_figures_are_kept_by_release(tmp_path: Path) -> None:
    rows = [
        Place("a.py", "f", 1, "pool", "curated", "KV1"),
        Place("a.py", "f", 2, "pool", "not modelled", flags=("tp_size",), decided=True),
        Place("a.py", "f", 3, "pool", "not modelled", flags=("tp_size",)),
    ]
    counted = figures.by_stage(rows)
    assert counted["pool"] | {"flag": 2, "flag_entries": 1, "not modelled": 2} == counted["pool"]
    figures.record(tmp_path, "0.5.23", counted)
    path = figures.record(tmp_path, "0.5.9", counted)
    assert list(json.loads(path.read_text(encoding="utf-8"))) == ["0.5.9", "0.5.23"]


@pytest.mark.parametrize(
    ("body", "decided"),
    [
        ("assert weight.dtype == 1", False),
        ("assert isinstance(page_size, torch.device)", False),
        ("assert isinstance(page_size, int)", True),
        ("read = json.load(open(page_size))\n    assert read", False),
        ("assert get_platform().is_sm90", False),
        ("assert backend.is_flashinfer_trtllm()", True),
        ("assert _KNOWN.get(page_size)", False),
        ("use_norm = config.norm\n    assert use_norm", False),
        ("use_norm = get_model().norm\n    assert use_norm", True),
    ],
)
def test_whether_a_flag_takes_part(body: str, decided: bool) -> None:
    module = ast.parse(f"def f(page_size, weight, config):\n    {body}\n")
    function = module.body[0]
    statement = next(n for n in ast.walk(function) if isinstance(n, ast.Assert))
    tests = conditions(function, statement)
    found = leaves(function, tests, frozenset({"page_size"}), None, frozenset({"_KNOWN"}))
    assert (bool(found.flags) and not found.unknown) is decided


def test_what_a_handler_raises_is_reached_where_something_fails() -> None:
    module = ast.parse(
        "def f(a):\n    try:\n        a()\n    except ImportError:\n        raise ValueError\n"
    )
    statement = next(n for n in ast.walk(module) if isinstance(n, ast.Raise))
    assert failing(module.body[0], statement) == "ImportError"


def test_names_that_functions_change() -> None:
    tree = ast.parse(
        "A = {}\nB = {}\nC = None\nD = {}\n"
        "def f():\n    global C\n    C = 1\n    A['x'] = 1\n    D = {}\n    D['x'] = 1\n"
    )
    assert lasting_changes(tree) == {"A", "C"}


ROW = """
[[place]]
file = "managers/checks.py"
symbol = "check_widths"
names = ["tp_size"]
named = "check_widths"
reason = "asked elsewhere"
callers = ["managers/scheduler.py:Scheduler.__init__"]
"""


def test_a_place_is_ruled_out_while_nobody_else_names_it(tree: SourceTree, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(ROW, encoding="utf-8")
    rows = read_ruled_out(tmp_path)
    key = ("managers/checks.py", "check_widths", ("tp_size",))
    assert still_ruled_out(tree, rows) == {key: "asked elsewhere"}
    other = tmp_path / "sglang/srt/managers/other.py"
    other.write_text("from x import check_widths\ncheck_widths(1)\n", encoding="utf-8")
    assert still_ruled_out(SourceTree.open(tmp_path, "1.0"), rows) == {}


def test_a_place_that_is_ruled_out_counts_no_more(tree: SourceTree) -> None:
    key = ("managers/checks.py", "check_widths", ("tp_size",))
    flags = frozenset({"tp_size"})
    before, after = (
        next(p for p in places(tree, flags, Known({}, {}, ruled)) if p.symbol == key[1])
        for ruled in ({}, {key: "asked elsewhere"})
    )
    assert before.counts
    assert not after.counts
    assert after.reason == "no flag decides it: asked elsewhere"


def test_a_row_that_lacks_something_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('[[place]]\nfile = "x.py"\n', encoding="utf-8")
    with pytest.raises(KvsolveError, match="has no symbol"):
        read_ruled_out(tmp_path)
