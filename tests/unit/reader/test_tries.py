"""What ``try`` statements catch, and what breaks outside of the release."""

from __future__ import annotations

import pytest


def test_each_exception_goes_to_the_first_clause_that_takes_it(read):
    release = read(
        """
        def work(server_args):
            if server_args.a == 1:
                raise KeyError
            if server_args.a == 2:
                raise OSError
            if server_args.a == 3:
                raise TypeError
        def run_resolution_pipeline(server_args):
            try:
                work(server_args)
            except OSError:
                raise RuntimeError
            except (ValueError, LookupError):
                raise ImportError
        """,
        a=0,
    )
    outcomes = {a: release.outcome(a=a) for a in range(4)}
    assert outcomes == {0: "ok", 1: "ImportError", 2: "RuntimeError", 3: "TypeError"}


def test_a_clause_that_raises_the_same_again_changes_nothing(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            try:
                if server_args.a > 1:
                    raise KeyError
            except ValueError:
                raise OSError
            except BaseException:
                server_args.failed = True
                raise
            finally:
                server_args.b = 2
        """,
        a=1,
        b=0,
    )
    assert release.outcome(a=2) == "KeyError"
    assert release.outcome() == "ok"
    assert release.outcome(a=None) == "crash TypeError"
    assert release.value("b") == 2


def test_an_exception_of_the_release_is_taken_as_what_it_is_derived_from(read):
    release = read(
        """
        class BadKey(ValueError):
            pass
        def run_resolution_pipeline(server_args):
            try:
                if server_args.a:
                    raise BadKey("no key")
            except ValueError:
                raise OSError
        """,
        a=False,
    )
    assert release.outcome(a=True) == "OSError"
    assert release.outcome() == "ok"


@pytest.mark.parametrize(
    ("texts", "outcome"),
    [(["1", "2.5"], "ok"), (["1", "two"], "AssertionError"), ([], "ok"), (["-3"], "KeyError")],
)
def test_a_text_that_is_no_number_reaches_the_handler(read, texts, outcome):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            try:
                values = [float(text) for text in server_args.texts]
            except ValueError:
                assert False, "numbers only"
            if any(value < 0 for value in values):
                raise KeyError
        """,
        texts=(),
    )
    assert release.outcome(texts=texts) == outcome


def test_a_single_number_is_read_or_caught(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            try:
                count = int(server_args.count)
            except (ValueError, TypeError):
                count = 7
            server_args.n = count
        """,
        count="1",
        n=0,
    )
    assert release.value("n", count="12") == 12
    assert release.value("n", count="many") == 7


def test_torch_tells_no_capability_where_there_is_no_cuda(read):
    release = read(
        """
        import torch
        def default(server_args):
            major, _ = torch.cuda.get_device_capability()
            return "new" if major >= 10 else "old"
        def run_resolution_pipeline(server_args):
            server_args.kind = default(server_args)
        """,
        kind=None,
    )
    facts = {"gpu.torch_cuda_available": True, "gpu.torch_capability": (10, 0)}
    program = release.program
    assert release.value("kind", facts) == "new"
    assert release.outcome({"gpu.torch_cuda_available": False}) == "crash AssertionError"
    crash = release.run({"gpu.torch_cuda_available": False}).first
    assert program.steps[crash].place.symbol == "default"


def test_mappings_that_only_run_time_knows_are_spread_into_one(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            merged = {"a": 1, **server_args.first, **server_args.second, "z": 9}
            server_args.out = [merged["a"], merged.get("b"), merged["z"]]
        """,
        first=None,
        second=None,
        out=None,
    )
    merged = release.value("out", first={"b": 2, "z": 0}, second={"a": 5})
    assert list(merged) == [5, 2, 9]
