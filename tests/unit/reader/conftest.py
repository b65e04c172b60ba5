"""Small made-up releases: a record, a pipeline and a check, written to a folder and read."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from kvsolve.model.program import Let, Need, Program, Refuse, Set
from kvsolve.packs.evaluate import Trace, interpret
from kvsolve.upstream.reader.facts import FactNames
from kvsolve.upstream.reader.program import Reading, read_release
from kvsolve.upstream.source import SourceTree

if TYPE_CHECKING:
    from pathlib import Path

PLUMBING = """
def declare_resolution(server_args, source, **fields): ...
def resolving_view(server_args): ...
def resolved_view(server_args): ...
def run_post_process_pass(server_args, fn): ...
def materialize_declarations(server_args): ...
"""
HEAD = """
import os
from sglang.srt.arg_groups.overrides import (
    declare_resolution, resolved_view, resolving_view, run_post_process_pass,
    materialize_declarations,
)
from sglang.srt.utils import is_fast, describe
"""
UTILS = """
def is_fast(): return probe()
def describe(config): return probe(config)
"""
RECORD = """
import dataclasses
@dataclasses.dataclass
class ServerArgs:
{fields}
    def check_server_args(self):
        pass
"""
NAMES = FactNames(
    functions={
        "sglang.srt.utils:is_fast": "gpu.is_fast",
        "sglang.srt.utils:is_hip": "gpu.is_hip",
        "torch.cuda.get_device_capability": "gpu.torch_capability",
    },
    helpers={"sglang.srt.utils:describe": "describe"},
    constants={"torch.bfloat16": "packages.torch.bfloat16"},
    model={"hf_config": "config"},
)


@dataclass(frozen=True)
class Release:
    """A read release, with shorthands for tests."""

    reading: Reading
    defaults: dict[str, Any]

    @property
    def program(self) -> Program:
        return self.reading.program

    def run(self, facts: dict[str, Any] | None = None, **values: Any) -> Trace:
        given = {**self.defaults, **values}
        slots = {view + name: value for name, value in given.items() for view in ("", "raw.")}
        return interpret(self.program, slots, {"environ": {}, **(facts or {})})

    def outcome(self, facts: dict[str, Any] | None = None, **values: Any) -> str:
        """ "ok", or what the first step that breaks raises."""
        trace = self.run(facts, **values)
        if trace.first is None:
            unknown = [f.detail for f in trace.failures if f.reason == "unknown"]
            return f"unknown {unknown[0]}" if unknown else "ok"
        step = self.program.steps[trace.first]
        crash = next((f.detail for f in trace.failures if f.step == trace.first), "")
        return step.raises if isinstance(step, Refuse) and not crash else f"crash {crash}"

    def value(self, name: str, facts: dict[str, Any] | None = None, **values: Any) -> Any:
        given = {**self.defaults, **values}
        return self.run(facts, **values).values.get(name, given[name])

    def of(self, kind: type) -> list[Any]:
        return [s for s in self.program.steps if isinstance(s, kind)]


@pytest.fixture
def read(tmp_path: Path):
    """Write a release whose pipeline is the given text, and read it."""

    def make(body: str, more: dict[str, str] | None = None, **fields: Any) -> Release:
        root = tmp_path / "release" / "sglang"
        lines = "".join(f"    {name}: object = {value!r}\n" for name, value in fields.items())
        files = {
            "srt/server_args.py": RECORD.format(fields=lines or "    pass\n"),
            "srt/arg_groups/overrides.py": PLUMBING,
            "srt/arg_groups/pipeline.py": HEAD + dedent(body),
            "srt/utils.py": UTILS,
            **{name: dedent(text) for name, text in (more or {}).items()},
        }
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        tree = SourceTree.open(tmp_path / "release", "0.0.1")
        return Release(read_release(tree, NAMES), fields)

    return make


__all__ = ["Let", "Need", "Refuse", "Release", "Set"]
