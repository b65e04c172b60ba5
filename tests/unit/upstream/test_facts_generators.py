"""The maintainers' generators of fact tables, on small sources of our own."""

from __future__ import annotations

import json

import pytest

from kvsolve.inputs.config_classes import ClassTable
from kvsolve.inputs.config_object import make_object
from kvsolve.upstream.architectures import classes_with, listed
from kvsolve.upstream.config_defaults import Collector, merge, period
from kvsolve.upstream.config_names import names_read
from kvsolve.upstream.environment import read_environment
from kvsolve.upstream.package_versions import pinned_versions, release_of

ENVIRON = """
import os
class Level(IntEnum):
    OFF = 0
    ON = 1
class Envs:
    A_FLAG = EnvBool(False)
    A_SIZE = EnvInt(2 * 1024)
    A_LEVEL = EnvInt(Level.ON)
    A_NAME = EnvStrWithAlias("x", deprecated_name="AN_OLD_NAME")
    ON_ROCM = EnvBool(_default_hip)
    A_FOLDER = EnvStr(lambda: _default_cache_subdir("part"))
    A_CACHE = EnvStr(os.path.expanduser("~/.cache/sglang"))
    SOME = EnvTuple(tuple())
    NOT_ONE = 3
_DEPRECATED_ENVS = {
    "GONE": _DeprecatedEnv(),
    "OLD": _DeprecatedEnv("NEW"),
    "MILLISECONDS": _DeprecatedEnv("SECONDS", transform=str),
}
_print_deprecated_env("OLDER", "NEWER")
"""


def test_environment_table():
    assert read_environment(ENVIRON) == {
        "variables": {
            "A_FLAG": ["bool", False],
            "A_SIZE": ["int", 2048],
            "A_LEVEL": ["int", 1],
            "A_NAME": ["str", "x", "AN_OLD_NAME"],
            "ON_ROCM": ["bool", {"hip": True}],
            "A_FOLDER": ["str", {"cache": "part"}],
            "A_CACHE": ["str", {"cache": ""}],
            "SOME": ["tuple", []],
        },
        "renamed": {"OLD": "NEW", "OLDER": "NEWER"},
    }


class Base:
    """Stands for the library's base class."""

    model_type = ""

    def __init__(self, **given):
        self.architectures = None
        for name, value in given.items():
            setattr(self, name, value)


class Part(Base):
    model_type = "part"

    def __init__(self, width=8, **given):
        super().__init__(**given)
        self.width = width


class Whole(Base):
    model_type = "whole"
    attribute_map = {"experts": "num_experts"}  # noqa: RUF012
    sub_configs = {"text_config": Part}  # noqa: RUF012

    def __init__(
        self,
        hidden_size=64,
        num_attention_heads=4,
        head_dim=None,
        num_hidden_layers=6,
        layer_types=None,
        eaten=1,
        text_config=None,
        **given,
    ):
        super().__init__(**given)
        self.hidden_size = hidden_size
        self.num_attention_heads = num_attention_heads
        self.head_dim = head_dim or hidden_size // num_attention_heads
        self.num_hidden_layers = num_hidden_layers
        self.layer_types = layer_types or [
            "full_attention" if i % 3 == 2 else "sliding_attention"
            for i in range(num_hidden_layers)
        ]
        self.num_experts = 2
        self.text_config = text_config if isinstance(text_config, Part) else Part()


NAMES = frozenset(
    [
        "architectures",
        "hidden_size",
        "num_attention_heads",
        "head_dim",
        "num_hidden_layers",
        "layer_types",
        "eaten",
        "num_experts",
        "text_config",
        "width",
        "model_type",
    ]
)


@pytest.fixture
def table():
    collector = Collector(NAMES, Base)
    found = {
        "types": {"whole": collector.body(Whole), "part": collector.body(Part)},
        "base": collector.body(Base),
        "bodies": collector.bodies,
        "registered": ["whole"],
        "legacy_layer_types": {},
    }
    lines = merge({"0.5.1": found, "0.5.2": found})
    assert len(lines) == 4, "two equal releases share their classes"
    added = merge({"0.5.3": found}, lines)
    assert added[1:] == lines[1:], "a release that is added shares them too"
    assert ClassTable(added, "0.5.3").knows("whole")
    return ClassTable(added, "0.5.2")


def test_a_class_is_described_by_what_it_does(table):
    made = make_object({"model_type": "whole", "hidden_size": 96, "eaten": 5}, table).frozen()
    real = Whole(hidden_size=96, eaten=5)
    for name in ("hidden_size", "head_dim", "layer_types", "num_experts", "num_hidden_layers"):
        assert made[name] == getattr(real, name), name
    assert "eaten" not in made
    assert made["experts"] == 2
    assert made["text_config"]["width"] == 8
    assert made["text_config"].is_a("Part")
    assert made.class_names == ("Whole",)


def test_keys_of_the_config_win(table):
    data = {"model_type": "whole", "head_dim": 7, "layer_types": ["x"], "text_config": {"width": 3}}
    made = make_object(data, table).frozen()
    assert made["head_dim"] == 7
    assert made["layer_types"] == ["x"]
    assert made["text_config"]["width"] == 3


def test_an_unknown_type_keeps_what_the_config_says(table):
    made = make_object({"model_type": "new", "anything": 1}, table).frozen()
    assert made["anything"] == 1
    assert made["architectures"] is None


def test_a_frozen_configuration_is_not_changed(table):
    made = make_object({"model_type": "whole"}, table).frozen()
    with pytest.raises(AttributeError):
        made.hidden_size = 1
    changed = made.with_attributes({"experts": 9})
    assert (changed["num_experts"], changed["experts"], made["experts"]) == (9, 9, 2)
    assert "experts" not in changed.to_dict()


@pytest.mark.parametrize(
    ("types", "shortest"),
    [("aaaa", "a"), ("ababab", "ab"), ("aabaab", "aab"), ("aaab", "a"), ("abc", "ab")],
)
def test_period(types, shortest):
    assert period(list(types)) == list(shortest)


def test_names_that_the_sources_read(tmp_path):
    (tmp_path / "server_args.py").write_text("x = config.head_dim\ny = getattr(c, 'n_group')\n")
    (tmp_path / "other.py").write_text("z = config.unseen\n")
    assert {"head_dim", "n_group"} <= names_read(tmp_path)
    assert "unseen" not in names_read(tmp_path)


def test_model_classes_and_lists(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a.py").write_text(
        "class A:\n    fast = True\nclass B(A):\n    pass\nclass C:\n    pass\n"
    )
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "model_config.py").write_text("def f():\n    off = ['X', 'Y']\n")
    assert classes_with(tmp_path, "fast") == ["A", "B"]
    assert listed(tmp_path, "off") == ["X", "Y"]
    assert listed(tmp_path, "nothing") == []


def test_pinned_versions():
    text = (
        "Version: 1.2\nRequires-Dist: torch==2.9\nRequires-Dist: a-b[x]==1; python_version > '3'\n"
    )
    text += "Requires-Dist: c>=1\nRequires-Dist: d==2; extra == 'all'\n"
    assert pinned_versions(text) == {"torch": "2.9", "a_b": "1"}
    assert release_of(text) == "1.2"
    assert json.dumps(pinned_versions(text))
