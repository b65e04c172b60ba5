"""The values that the solver may give to a flag."""

from __future__ import annotations

from kvsolve.model.context import Config
from kvsolve.model.expression import node, raw
from kvsolve.model.flag import Flag, FlagTable
from kvsolve.solve.domains import Literals, State, domain_of, read_literals

FLAGS = [
    Flag("size", ("--size",), type="int", default=None),
    Flag("peer", ("--peer",), type="int", default=8),
    Flag("ratio", ("--ratio",), type="float", default=0.5),
    Flag("mode", ("--mode",), default=None),
    Flag("kind", ("--kind",), choices=("a", "b"), default="a"),
    Flag("on", ("--on",), action="store_true", nargs=0, default=False),
    Flag("both", ("--both", "--no-both"), action="boolean", nargs=0, default=True),
    Flag("tree", ("--tree",), type="json", default=None),
    Flag("many", ("--many",), type="int", nargs="+", default=None),
    Flag("path", ("--path",), required=True, default=None),
]
TABLE = FlagTable("0.0.1", FLAGS, {f.dest: f.default for f in FLAGS}, {})


def config(**typed: object) -> Config:
    return Config({**TABLE.fields, **typed}, {d: f"--{d}" for d in typed})


def states(
    dest: str, literals: Literals | None = None, **typed: object
) -> list[tuple[object, bool]]:
    domain = domain_of(dest, config(**typed), TABLE, literals or Literals())
    assert domain.states[domain.start] == State(typed.get(dest, TABLE.fields[dest]), dest in typed)
    return [(s.value, s.typed) for s in domain.states]


def test_choices_and_switches_are_taken_as_declared() -> None:
    assert states("kind") == [("a", False), ("b", True)]
    assert states("on") == [(False, False), (True, True)]
    assert states("both") == [(True, False), (False, True)]
    assert states("both", both=False) == [(True, False), (True, True), (False, True)]


def test_numbers_are_literals_their_sides_and_customary_values() -> None:
    literals = Literals({"size": (-1, 64)})
    values = [v for v, _ in states("size", literals)]
    assert values[:3] == [None, -1, 64]
    assert {-2, 63, 65, 1, 128, 8192} <= set(values)


def test_the_users_number_brings_divisors_doubles_and_peers_closest_first() -> None:
    literals = Literals({}, {"size": frozenset({"peer"})})
    values = [v for v, typed in states("size", literals, size=12) if typed]
    assert values[0] == 12
    assert {6, 4, 3, 2, 1, 24, 48, 8} <= set(values)
    assert values.index(8) < values.index(1)


def test_text_is_only_set_to_what_entries_compare_with() -> None:
    assert states("mode") == [(None, False)]
    assert states("mode", Literals({"mode": ("x", None)})) == [(None, False), ("x", True)]
    assert states("mode", mode="own") == [(None, False), ("own", True)]


def test_lists_and_json_are_kept_or_unset() -> None:
    assert states("tree", tree={"a": 1}) == [(None, False), ({"a": 1}, True)]
    assert states("many", many=[1, 2]) == [(None, False), ([1, 2], True)]


def test_a_required_flag_cannot_be_unset() -> None:
    domain = domain_of("path", config(path="m"), TABLE, Literals())
    assert domain.unset is None
    assert [s.value for s in domain.states] == ["m"]


def test_literals_are_read_from_comparisons_not_from_results_of_arithmetic() -> None:
    size, mode = raw("ref", "size", 0), raw("ref", "given.mode", 0)
    terms = [
        node("gt", size, 64),
        node("eq", node("mod", size, 16), 0),
        node("in", mode, ("x", "y")),
    ]
    found = read_literals(terms, [frozenset({"size", "raw.peer"})])  # type: ignore[arg-type]
    assert set(found.constants["size"]) == {64, 16}
    assert found.constants["mode"] == ("x", "y")
    assert found.numeric_peers["size"] == frozenset({"peer"})
    assert found.asked_if_given == frozenset({"mode"})
