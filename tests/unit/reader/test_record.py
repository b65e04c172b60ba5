from __future__ import annotations

from kvsolve.model.program import Set


def test_raw_fields_and_declarations_are_two_views(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            declare_resolution(server_args, "x", a=5)
            if server_args.a == 5:
                raise KeyError
            if resolving_view(server_args).a == 5 and server_args.b:
                raise ValueError
        """,
        a=1,
        b=False,
    )
    assert release.outcome() == "ok"
    assert release.outcome(b=True) == "ValueError"
    assert release.outcome(a=5) == "KeyError"


def test_a_field_write_moves_the_resolved_view_unless_it_was_declared(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            if server_args.b:
                declare_resolution(server_args, "x", a="declared")
            server_args.a = "written"
            cfg = resolved_view(server_args)
            declare_resolution(server_args, "x", c=cfg.a, d=server_args.a)
        """,
        a="start",
        b=False,
        c=None,
        d=None,
    )
    assert release.value("a") == "written"
    assert release.value("a", b=True) == "declared"
    assert release.value("c", b=True) == "declared"
    assert release.value("d", b=True) == "written"


def test_a_snapshot_keeps_the_values_of_its_time(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            old = resolved_view(server_args)
            live = resolving_view(server_args)
            declare_resolution(server_args, "x", a=7)
            declare_resolution(server_args, "x", b=old.a, c=live.a)
        """,
        a=1,
        b=None,
        c=None,
    )
    assert release.value("b", a=3) == 3
    assert release.value("c", a=3) == 7


def test_a_pass_sees_a_snapshot_and_its_answer_is_declared(read):
    release = read(
        """
        def fill(view):
            answer = {}
            if view.a is None:
                answer["a"] = view.b * 2
            return answer
        def run_resolution_pipeline(server_args):
            run_post_process_pass(server_args, fill)
        """,
        a=None,
        b=4,
    )
    assert release.value("a") == 8
    assert release.value("a", a=3) == 3


def test_where_nothing_is_declared_one_slot_is_enough(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            if server_args.b:
                server_args.a = 2
            if server_args.a == 2:
                raise ValueError
        """,
        a=1,
        b=False,
    )
    assert [s.name for s in release.of(Set)] == ["a"]
    assert release.outcome(b=True) == "ValueError"


def test_written_back_declarations_are_seen_by_raw_reads(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            declare_resolution(server_args, "x", a=5)
            materialize_declarations(server_args)
            if server_args.a == 5:
                raise ValueError
        """,
        a=1,
    )
    assert release.outcome() == "ValueError"


def test_a_fallback_stands_for_none_at_the_very_end(read):
    record = """
    class ServerArgs:
        a: A[object, Arg(fallback=0.8)] = None
        b: A[object, "words"] = None
        def check_server_args(self):
            if self.a is not None:
                raise ValueError
    """
    release = read(
        "def run_resolution_pipeline(server_args): pass\n",
        {"srt/server_args.py": record},
        a=None,
        b=None,
    )
    (write,) = release.of(Set)
    assert (write.name, write.mode) == ("a", "default")
    assert release.value("a") == 0.8
    assert release.value("a", a=0.5) == 0.5


def test_the_environment_that_the_pipeline_writes_is_state(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            if server_args.a:
                os.environ["DEMO"] = "1"
            if os.environ.get("DEMO") == "1":
                raise ValueError
        """,
        a=False,
    )
    assert release.outcome() == "ok"
    assert release.outcome(a=True) == "ValueError"
    assert release.outcome({"environ": {"DEMO": "1"}}) == "ValueError"


def test_mapped_functions_are_facts_and_helpers_keep_their_arguments(read):
    release = read(
        """
        def run_resolution_pipeline(server_args):
            if is_fast() and describe(server_args.a) == "odd":
                raise ValueError
        """,
        a=1,
    )
    odd = {"helper:describe": lambda x: "odd" if x % 2 else "even"}
    assert release.outcome({"gpu.is_fast": True, **odd}) == "ValueError"
    assert release.outcome({"gpu.is_fast": True, **odd}, a=2) == "ok"
    assert release.outcome({"gpu.is_fast": False}) == "ok"


def test_an_object_changed_after_it_was_declared_is_told_as_it_ends(read):
    release = read(
        """
        import dataclasses
        @dataclasses.dataclass
        class Plan:
            size: int = 1
            kind: str = "plain"
        def run_resolution_pipeline(server_args):
            plan = Plan(kind=server_args.kind)
            declare_resolution(server_args, "x", plan=plan)
            if server_args.big:
                plan.size = 8
            if resolving_view(server_args).plan.size > 4 and server_args.kind == "odd":
                raise ValueError
        """,
        plan=None,
        kind="plain",
        big=False,
    )
    assert release.value("plan", big=True) == {"size": 8, "kind": "plain"}
    assert release.value("plan", kind="odd") == {"size": 1, "kind": "odd"}
    assert release.outcome(kind="odd", big=True) == "ValueError"
