"""Expressions are data: they reach no object's internals and exhaust nothing."""

from __future__ import annotations

import pytest

from kvsolve.model.expression import Crash
from kvsolve.model.fact import ConfigObject
from kvsolve.model.syntax import parse
from kvsolve.packs.compile import FactTable, compile_predicate
from kvsolve.packs.evaluate import Interpreter

BAG = ConfigObject({"hidden_size": 8, "rope": {"type": "yarn"}})


@pytest.mark.parametrize(
    "text",
    [
        "9 ** (9 ** 9)",
        "1 << 10 ** 9",
        "'a' * 10 ** 9",
        "len(list(range(10 ** 12)))",
        "config.attributes_of",
        "config.with_attributes",
        "name.nothing",
        "'%s' % name",
        "getattr(name, 'upper', 1) + ''",
    ],
)
def test_what_would_harm_is_a_crash_of_the_expression(text: str) -> None:
    facts = FactTable({"config": BAG, "environ": {}})
    with pytest.raises(Crash):
        Interpreter({("name", 0): "x"}, facts).value(parse(text))
    with pytest.raises(Exception):  # noqa: B017, PT011 - which one does not matter to the caller
        compile_predicate(parse(text))({"name": "x"}, facts)


def test_a_configuration_objects_attributes_are_looked_up_in_its_own_table() -> None:
    facts = FactTable({"config": BAG, "environ": {}})
    for text, value in [
        ("config.hidden_size", 8),
        ("config.rope['type']", "yarn"),
        ("getattr(config, 'absent', 3)", 3),
        ("hasattr(config, 'rope')", True),
        ("config.get('absent', 4)", 4),
    ]:
        assert Interpreter({}, facts).value(parse(text)) == value
        assert compile_predicate(parse(text))({}, facts) == value
