from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from kvsolve.model.noun import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A noun."""

    x: int
    y: int = 0
    tags: list[str] = dataclasses.field(default_factory=list)

    @property
    def sum(self) -> int:
        return self.x + self.y


@dataclass(frozen=True, slots=True)
class Other:
    """Another with the same fields."""

    x: int
    y: int = 0
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclass(frozen=True, slots=True, order=True)
class Ordered:
    """Asks for more than the fast way makes."""

    x: int


def test_it_is_a_dataclass() -> None:
    point = Point(1, y=2)
    assert dataclasses.is_dataclass(Point)
    assert [f.name for f in dataclasses.fields(Point)] == ["x", "y", "tags"]
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "tags": []}
    assert dataclasses.replace(point, y=5) == Point(1, 5)
    assert repr(point) == "Point(x=1, y=2, tags=[])"
    assert point.sum == 3


def test_it_is_frozen_and_has_slots() -> None:
    point = Point(1)
    for change in (lambda: setattr(point, "x", 2), lambda: delattr(point, "x")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert not hasattr(point, "__dict__")
    assert point.x == 1


def test_equality_is_by_class_and_value() -> None:
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(2, 1)
    assert Point(1) != Other(1)
    assert Point(1) != (1, 0, [])


def test_factories_make_a_new_value_each_time() -> None:
    assert Point(1).tags is not Point(1).tags


def test_hash_follows_the_values() -> None:
    assert hash(Ordered(1)) == hash(Ordered(1))
    with pytest.raises(TypeError):
        hash(Point(1))


def test_missing_and_unknown_arguments_are_refused() -> None:
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, z=2)  # type: ignore[call-arg]


def test_copies_and_pickles_are_equal() -> None:
    point = Point(1, 2, ["a"])
    for other in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert other == point
        assert other is not point


def test_what_it_does_not_make_the_standard_library_makes() -> None:
    assert Ordered(1) < Ordered(2)
