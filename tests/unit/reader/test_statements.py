from __future__ import annotations

from itertools import product

from kvsolve.model.program import Refuse, Set


def test_a_raise_refuses_where_its_branch_is_taken(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            if server_args.a > 2:
                if server_args.b:
                    raise ValueError("a b c d e")
        """,
        a=1,
        b=False,
    )
    assert release.outcome(a=3, b=True) == "ValueError"
    assert release.outcome(a=3, b=False) == "ok"
    assert release.outcome(a=2, b=True) == "ok"


def test_the_first_refusal_is_upstreams_and_later_ones_follow(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            if server_args.a:
                raise ValueError("one")
            assert not server_args.b, "two"
        """,
        a=False,
        b=False,
    )
    assert release.outcome(a=True, b=True) == "ValueError"
    assert release.outcome(b=True) == "AssertionError"
    assert len(release.run(a=True, b=True).refusals) == 2


def test_nothing_after_an_early_return_happens(read):
    release = read(
        """
        def check(server_args):
            if server_args.a:
                return
            if server_args.b:
                raise ValueError
        def run_resolution_pipeline(server_args):
            check(server_args)
            if server_args.c:
                raise KeyError
        """,
        a=False,
        b=True,
        c=False,
    )
    assert release.outcome(a=True) == "ok"
    assert release.outcome(a=False) == "ValueError"
    assert release.outcome(a=True, c=True) == "KeyError"


def test_a_value_written_in_two_branches_is_read_behind_them(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            if server_args.a:
                declare_resolution(server_args, "x", c="left")
            elif server_args.b:
                declare_resolution(server_args, "x", c="right")
            cfg = resolving_view(server_args)
            if cfg.c == "left" and server_args.b:
                raise ValueError
        """,
        a=False,
        b=False,
        c="start",
    )
    for a, b in product((False, True), repeat=2):
        expected = "left" if a else "right" if b else "start"
        assert release.value("c", a=a, b=b) == expected
        assert release.outcome(a=a, b=b) == ("ValueError" if a and b else "ok")


def test_loops_over_known_items_break_and_continue(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            found = None
            for name in ("x", "y", "z"):
                if name == server_args.skip:
                    continue
                if name == server_args.a:
                    found = name
                    break
            else:
                raise ValueError
            declare_resolution(server_args, "x", b=found)
        """,
        a="x",
        b=None,
        skip=None,
    )
    assert release.value("b", a="y") == "y"
    assert release.outcome(a="w") == "ValueError"
    assert release.outcome(a="y", skip="y") == "ValueError"


def test_a_loop_over_a_users_list_refuses_for_some_item(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            for size in server_args.sizes or []:
                if size <= 0:
                    raise ValueError
        """,
        sizes=None,
    )
    assert release.outcome(sizes=[1, 2]) == "ok"
    assert release.outcome(sizes=[1, 0]) == "ValueError"
    assert release.outcome() == "ok"


def test_a_handler_takes_what_its_body_raises(read):
    release = read(
        """
        def check(value):
            if value > 3:
                raise ValueError("too much of it")
        def run_resolution_pipeline(server_args):
            try:
                check(server_args.a)
            except ValueError:
                declare_resolution(server_args, "x", b="caught")
        """,
        a=1,
        b="none",
    )
    assert release.outcome(a=9) == "ok"
    assert release.value("b", a=9) == "caught"
    assert release.value("b", a=1) == "none"


def test_an_import_in_a_try_is_a_fact_of_the_packages(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            try:
                import rare_kernels
            except ImportError:
                raise RuntimeError("needs it")
        """,
        a=1,
    )
    assert release.outcome({"packages.rare_kernels": True}) == "ok"
    assert release.outcome({"packages.rare_kernels": False}) == "RuntimeError"


def test_a_statement_that_cannot_be_read_is_a_gap_and_its_names_are_opaque(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            while server_args.a:
                b = 1
            if b:
                raise ValueError
            if server_args.a:
                raise KeyError
        """,
        a=0,
    )
    assert [g.reason for g in release.program.gaps] == ["statement While"]
    first, second = release.of(Refuse)
    assert release.outcome().startswith("unknown")
    assert "opaque" in repr(first.when)
    assert "opaque" not in repr(second.when)


def test_arithmetic_on_an_unset_flag_is_a_need_that_crashes_at_its_place(read):
    release = read(
        """
        def handle(server_args):
            width = server_args.a * 2
            return width
        def run_resolution_pipeline(server_args):
            handle(server_args)
            if server_args.b:
                raise ValueError
        """,
        a=None,
        b=True,
    )
    assert release.outcome() == "crash TypeError"
    assert release.outcome(a=2) == "ValueError"
    trace = release.run()
    assert release.program.steps[trace.first].place.symbol == "handle"


def test_no_need_for_what_cannot_fail(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            width = server_args.a * 2
            if width > 4:
                raise ValueError
        """,
        a=1,
    )
    assert [type(s).__name__ for s in release.program.steps] == ["Refuse"]


def test_places_name_the_innermost_function_and_the_handler(read):
    release = read(
        """
        def inner(value):
            assert value, "no"
        def handle(server_args):
            inner(server_args.a)
        def run_resolution_pipeline(server_args):
            handle(server_args)
        """,
        a=True,
    )
    (refusal,) = release.of(Refuse)
    assert refusal.place.file == "arg_groups/pipeline.py"
    assert (refusal.place.symbol, refusal.place.caller) == ("inner", "handle")


def test_every_write_is_a_set_with_its_condition(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            if server_args.a:
                declare_resolution(server_args, "x", b=server_args.c + 1)
        """,
        a=False,
        b=0,
        c=4,
    )
    (write,) = release.of(Set)
    assert (write.name, write.mode) == ("b", "declare")
    assert release.value("b", a=True, c=9) == 10
    assert release.value("b", c=9) == 0


def test_a_missing_key_in_a_try_reaches_the_handler(read):
    release = read(
        """
        SIZES = {"small": 1, "large": 2}
        def size_of(name):
            try:
                return SIZES[name]
            except KeyError:
                pass
            if name == "tiny":
                return 0
            raise ValueError("no such size is known here")
        def run_resolution_pipeline(server_args):
            declare_resolution(server_args, "x", size=size_of(server_args.word))
        """,
        word="small",
        size=None,
    )
    assert release.value("size", word="large") == 2
    assert release.value("size", word="tiny") == 0
    assert release.outcome(word="huge") == "ValueError"


def test_a_collection_filled_from_an_unknown_list_is_unknown(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            found = {}
            for name in server_args.names:
                found[name] = True
            if "x" not in found:
                raise ValueError
        """,
        names=(),
    )
    assert release.outcome(names=["x"]).startswith("unknown")


def test_a_loop_over_a_users_mapping_or_the_releases_own_is_exact_for_the_latter(read):
    release = read(
        """
        OWN = {"1": [1, 3], "8": [2]}
        def sizes(server_args):
            table = server_args.table if server_args.table is not None else OWN
            found = set()
            for key, sizes in table.items():
                found.update(sizes)
            return sorted(found)
        def run_resolution_pipeline(server_args):
            if server_args.size not in sizes(server_args):
                raise ValueError
        """,
        table=None,
        size=3,
    )
    assert release.outcome() == "ok"
    assert release.outcome(size=4) == "ValueError"
    assert release.outcome(size=4, table={"1": [4]}).startswith("unknown")


def test_a_list_filled_beside_a_write_that_cannot_be_read_is_still_known(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            kept = []
            for name in server_args.names:
                server_args.last = name
                kept.append(name)
            if not kept:
                raise ValueError
        """,
        names=(),
        last=None,
    )
    assert release.outcome(names=["a"]) == "ok"
    assert release.outcome() == "ValueError"
