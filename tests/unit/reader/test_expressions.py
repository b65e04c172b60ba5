from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kvsolve.model.expression import raw
from kvsolve.model.program import Let, Refuse, load_program
from kvsolve.packs.messages import hash_message
from kvsolve.upstream.reader import calls, fingerprint


def test_comprehensions_over_known_and_unknown_lists(read):
    release = read(
        """
        KNOWN = {"x": 1, "y": 2}
        def run_resolution_pipeline(server_args):
            asked = [name for name, size in KNOWN.items() if size > server_args.a]
            if server_args.b in asked:
                raise ValueError
            if any(item not in KNOWN for item in server_args.names):
                raise KeyError
        """,
        a=0,
        b=None,
        names=(),
    )
    assert release.outcome(b="x") == "ValueError"
    assert release.outcome(b="x", a=1) == "ok"
    assert release.outcome(names=["x", "q"]) == "KeyError"


def test_plain_enumerations_are_names_and_valued_ones_their_value(read):
    release = read(
        """
        import enum
        class Kind(enum.Enum):
            FAST = enum.auto()
            SLOW = enum.auto()
            @classmethod
            def of(cls, text):
                if text is None:
                    return cls.SLOW
                try:
                    return cls[text.upper()]
                except KeyError:
                    raise ValueError("no such kind at all")
            def is_fast(self):
                return self == Kind.FAST
        class Mode(str, enum.Enum):
            ON = "on"
        def run_resolution_pipeline(server_args):
            if Kind.of(server_args.kind).is_fast():
                raise KeyError
            if server_args.mode == Mode.ON:
                raise OSError
        """,
        kind=None,
        mode="off",
    )
    assert release.outcome() == "ok"
    assert release.outcome(kind="fast") == "KeyError"
    assert release.outcome(kind="slow") == "ok"
    assert release.outcome(mode="on") == "OSError"


def test_closures_see_and_change_what_is_around_them(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            seen = set()
            count = 0
            def note(name):
                nonlocal count
                count = count + 1
                seen.add(name)
            if server_args.a:
                note("a")
            note("b")
            if "a" in seen and count == 2:
                raise ValueError
        """,
        a=False,
    )
    assert release.outcome() == "ok"
    assert release.outcome(a=True) == "ValueError"


def test_module_collections_changed_under_a_condition(read):
    release = read(
        """
        METHODS = {"plain": 1}
        if is_fast():
            METHODS.update({"quick": 2})
        def run_resolution_pipeline(server_args):
            if server_args.a not in METHODS:
                raise ValueError
        """,
        a="plain",
    )
    assert release.outcome({"gpu.is_fast": True}, a="quick") == "ok"
    assert release.outcome({"gpu.is_fast": False}, a="quick") == "ValueError"


def test_a_result_that_prints_long_gets_the_functions_name(read):
    release = read(
        """
        def pick_backend(a, b):
            if a == "one":
                return "left" if b else "right"
            return a
        def run_resolution_pipeline(server_args):
            if pick_backend(server_args.a, server_args.b) == "left":
                raise ValueError
            if pick_backend(server_args.a, server_args.b) == "right":
                raise KeyError
        """,
        a="one",
        b=False,
    )
    assert [s.name for s in release.of(Let)] == ["pick_backend"]
    assert release.outcome(b=True) == "ValueError"
    assert release.outcome() == "KeyError"


def test_a_branch_that_cannot_be_taken_leaves_no_step(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            if server_args.a == "x":
                if server_args.a is None:
                    raise ValueError
                if server_args.a != "x":
                    raise KeyError
        """,
        a="x",
    )
    assert release.of(Refuse) == []


def test_a_program_survives_its_file(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            for size in server_args.sizes:
                if size % 2:
                    raise ValueError(f"the size {size} is not an even number")
            declare_resolution(server_args, "x", b=[s for s in server_args.sizes if s > 1])
        """,
        sizes=(),
        b=None,
    )
    assert load_program(release.program.dump().splitlines()) == release.program
    (refusal,) = release.of(Refuse)
    assert refusal.words == hash_message(["the size ", " is not an even number"])


def test_coverage_tells_what_became_of_each_statement(read):
    release = read(
        """
        def unused():
            raise ValueError
        def run_resolution_pipeline(server_args):
            if server_args.a:
                raise KeyError
        """,
        a=False,
    )
    assert {(r.symbol, r.status) for r in release.reading.rows} == {
        ("unused", "unreached"),
        ("run_resolution_pipeline", "exact"),
    }
    assert release.program.statements == {"total": 2, "entries": 1, "opaque": 0}


def test_keys_do_not_depend_on_lines_or_on_the_order_of_conjuncts(read):
    text = """
    def run_resolution_pipeline(server_args):
        if {0} and {1}:
            raise ValueError
    """
    first = read(text.format("server_args.a", "server_args.b"), a=0, b=0).of(Refuse)[0]
    again = read("\n\n" + text.format("server_args.b", "server_args.a"), a=0, b=0).of(Refuse)[0]
    other = read(text.format("server_args.a", "server_args.c"), a=0, b=0, c=0).of(Refuse)[0]
    assert first.place.line != again.place.line
    assert first.key == again.key != other.key


def test_equal_fingerprints_are_told_apart(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            cfg = resolving_view(server_args)
            if cfg.a:
                raise ValueError("one")
            declare_resolution(server_args, "x", a=cfg.b)
            if cfg.a:
                raise ValueError("two")
        """,
        a=False,
        b=False,
    )
    first, second = release.of(Refuse)
    assert second.key == f"{first.key}-2"
    assert fingerprint.canonical(first.when) == fingerprint.canonical(second.when)


@pytest.mark.parametrize("seed", ["1", "77"])
def test_the_same_bytes_under_any_hash_seed(tmp_path: Path, read, seed: str):
    release = read(
        """
        NAMES = {"a", "b", "c", "d"}
        def run_resolution_pipeline(server_args):
            if server_args.a in NAMES | {"e", "f"}:
                declare_resolution(server_args, "x", b="one", c="two", d="three")
            for name in NAMES:
                if name == server_args.b:
                    raise ValueError
        """,
        a="x",
        b=None,
        c=None,
        d=None,
    )
    script = (
        "from kvsolve.upstream.source import SourceTree\n"
        "from kvsolve.upstream.reader.facts import FactNames\n"
        "from kvsolve.upstream.reader.program import read_program\n"
        f"tree = SourceTree.open({str(tmp_path / 'release')!r}, '0.0.1')\n"
        "print(read_program(tree, FactNames()).dump(), end='')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == release.program.dump()


def test_a_users_dictionary_spread_into_a_class_keeps_its_defaults(read):
    release = read(
        """
        import dataclasses
        import json
        @dataclasses.dataclass
        class Plan:
            size: int = 3
            kind: str = None
        def run_resolution_pipeline(server_args):
            plan = Plan(**json.loads(server_args.text))
            declare_resolution(server_args, "x", size=plan.size)
            if plan.kind == "odd":
                raise ValueError
        """,
        text="{}",
        size=None,
    )
    assert release.value("size") == 3
    assert release.value("size", text='{"size": 5}') == 5
    assert release.outcome(text='{"kind": "odd"}') == "ValueError"


def test_a_return_that_cannot_be_read_gives_an_unknown_value(read):
    release = read(
        """
        def odd(value):
            return ~value
        def run_resolution_pipeline(server_args):
            if odd(server_args.a) is None:
                raise ValueError
        """,
        a=1,
    )
    assert release.outcome().startswith("unknown")
    assert [g.reads for g in release.program.gaps] == [()]


@pytest.mark.parametrize(
    ("kind", "accepted", "refused"),
    [
        ("Sequence", [["a"], ("a",), "a"], [{"a": 1}, 3]),
        ("Mapping", [{"a": 1}], [["a"], "a", 3]),
        ("numbers.Integral", [3, True], [3.5, "3", None]),
        ("(str, numbers.Real)", [3, 3.5, "3"], [["a"], None]),
    ],
)
def test_an_abstract_class_stands_for_the_plain_types_that_are_of_it(read, kind, accepted, refused):
    release = read(
        f"""
        import numbers
        from collections.abc import Mapping, Sequence
        def run_resolution_pipeline(server_args):
            if not isinstance(server_args.a, {kind}):
                raise ValueError
        """,
        a=None,
    )
    assert {release.outcome(a=value) for value in accepted} == {"ok"}
    assert {release.outcome(a=value) for value in refused} == {"ValueError"}


DRAFT = raw("ref", "speculative_draft_model_path", 0)


@pytest.mark.parametrize(
    ("asked", "fact"),
    [
        (raw("helper", "config_of", DRAFT), "draft.size"),
        (raw("attr", raw("helper", "config_of", DRAFT), "text_config"), "draft.size"),
        (raw("fact", "draft.config"), "draft.size"),
        (raw("fact", "config"), "model.size"),
        (raw("helper", "config_of", raw("ref", "model_path", 0)), "model.size"),
        (DRAFT, "model.size"),
    ],
)
def test_what_is_asked_of_the_drafts_configuration_is_a_fact_of_the_draft(asked, fact):
    assert calls.whose("model.size", [asked]) == fact
    assert calls.whose("gpu.size", [asked]) == "gpu.size"
