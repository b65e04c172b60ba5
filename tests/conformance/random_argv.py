"""Random command lines around everything that a parser can be asked, valid and not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from kvsolve.model.flag import Flag, FlagTable

__all__ = ["random_line"]

NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "8",
    "64",
    "-1",
    "-2",
    "-1.5",
    "-.5",
    "0.8",
    "1e-3",
    "-1e5",
    "1_000",
    "007",
    "+4",
    "-inf",
    "nan",
    "0x10",
    "١٢",
    "1.",
    "-",
]
HUMAN = ["1k", "1Ki", "1.5k", "1.5Ki", "25.6k", "2M", "1kk", "3K", "1_0k", "1.k", "0.0001k"]
WORDS = [
    "",
    " ",
    "a",
    "None",
    "true",
    "1",
    "-x",
    "--y",
    "a b",
    "-x y",
    "--z=1 2",
    "é",
    "@file",
    "=",
    "a=b",
]
OBJECTS = [
    "{}", "[]", '{"a": 1}', '["x", 2]', "null", "1", "NaN", "[Infinity]", "1e999", "-1e999",
    "{'a': 1}",
    "18446744073709551616", "[9223372036854775807, -9223372036854775809]", '"\\ud800"', '"\\u00e9"',
    '{"a": 1, "a": 2}', " [1] ", "[1,]", "", "tru", '"a\tb"', "[1.0, -0, 1E2]", "﻿[]",
    '{"decode": {"backend": "full", "max_bs": 4}}', '{"decode": {"nope": 1}}', '{"x": {}}',
    '{"prefill": 3}', '{"prefill": {"backend": "tc_piecewise"}}',
    '{"decode": {"tc_compiler": "eager"}}',
    '{"prefill": {"backend": ["tc_piecewise"]}}', '{"prefill": {"full_prefill_max_req": 2}}',
]  # fmt: skip
LORA = [
    "a=b", "/path", '{"lora_name": "n", "lora_path": "p"}', '{"lora_name": "n"}', "{x}", " a ",
    "{}",
    '{"lora_name": "n", "lora_path": "p", "pinned": true}',
]  # fmt: skip


def random_line(chance: random.Random, table: FlagTable) -> list[str]:
    """A command line without the program; nine in ten name a model."""
    tokens: list[str] = []
    for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 6))):
        tokens += _piece(chance, table)
    if chance.random() < 0.9:
        at = chance.choice((0, len(tokens)))
        tokens[at:at] = [chance.choice(("--model-path", "--model")), "m"]
    return tokens


def _piece(chance: random.Random, table: FlagTable) -> Iterator[str]:
    flag = chance.choice(_notable(table) if chance.random() < 0.3 else table.flags)
    kind = chance.random()
    if kind < 0.03:
        return iter(
            [chance.choice(("--", "-", "-1", "", "x", "-h", "-hx", "--help", "--he", "-h=1"))]
        )
    if kind < 0.08:
        return iter([_misspelt(chance, flag), *_values(chance, flag)[: chance.randrange(3)]])
    spelling = chance.choice(flag.spellings)
    if chance.random() < 0.2:
        spelling = spelling[: chance.randrange(len(spelling) // 2, len(spelling) + 1)]
    values = _values(chance, flag)
    if chance.random() < 0.12:
        values = values[: chance.randrange(len(values) + 1)] or [chance.choice(WORDS)]
    if chance.random() < 0.05:
        values = []
    if values and chance.random() < 0.25:
        return iter([f"{spelling}={values[0]}", *values[1:]])
    return iter([spelling, *values])


def _notable(table: FlagTable) -> tuple[Flag, ...]:
    """The flags that are not a plain switch or a plain value."""
    usual = {"store_true": ("",), "store": ("str", "int", "float")}
    return tuple(
        f
        for f in table.flags
        if f.type not in usual.get(f.action, ()) or f.nargs not in (0, None) or f.deprecated
    )


def _values(chance: random.Random, flag: Flag) -> list[str]:
    if flag.nargs == 0:
        return ["1"] if chance.random() < 0.04 else []
    most = 1 if flag.nargs in (None, "?") else chance.choice((1, 1, 2, 3))
    return [_value(chance, flag) for _ in range(most)]


def _value(chance: random.Random, flag: Flag) -> str:
    if flag.choices and chance.random() < 0.85:
        return str(chance.choice(flag.choices))
    if chance.random() < 0.1:
        return chance.choice(WORDS)
    if flag.action == "lora_paths":
        return chance.choice(LORA)
    if "json" in flag.type or flag.type.startswith("phase"):
        return chance.choice(OBJECTS)
    if flag.type == "human_int":
        return chance.choice(HUMAN + NUMBERS)
    if flag.type in ("int", "float"):
        return chance.choice(NUMBERS)
    return chance.choice((*WORDS, "x", "tc_piecewise", "full"))


def _misspelt(chance: random.Random, flag: Flag) -> str:
    name = chance.choice(flag.spellings)
    at = chance.randrange(2, len(name))
    return chance.choice((
        name[:at] + name[at + 1 :],
        name[:at] + "x" + name[at:],
        name.replace("-", "_").replace("__", "--", 1),
        name + "s",
        name[1:],
    ))  # fmt: skip
