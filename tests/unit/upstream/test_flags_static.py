"""Constants are computed from syntax trees, and what cannot be told is never guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kvsolve.upstream.source import SourceTree
from kvsolve.upstream.static import Static
from kvsolve.upstream.static_values import External, Growing, Member, UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

HOME = "sglang/srt/server_args.py"
OTHER = '''
NAMES = ["a", "b"]
MORE = NAMES + ["c"]
class Plain:
    """Not an enumeration."""
    A = "x"
    B = "y"
    ALL = (A, B)
class Mode(IntEnum):
    NONE = 0
    SOME = 1
class Registry:
    Map: Dict[str, type] = {"k1": Unknown, "k2": call(), **{"k3": 1}}
def names():
    """Lazy."""
    module = sys.modules.get("x")
    if module is not None:
        return list(module.Y)
    from sglang.srt.other import NAMES
    return list(NAMES)
def takes(one):
    return [one]
'''


def static(tmp_path: Path, text: str) -> Static:
    files = {
        HOME: text,
        "sglang/__init__.py": "",
        "sglang/srt/__init__.py": "from .other import NAMES as EXPORTED\n",
        "sglang/srt/other.py": OTHER,
        "sglang/version.py": "__version__ = '1.0'\n",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return Static(SourceTree.open(tmp_path))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("X = 10 * 1000 - 1 + 1", 10000),
        ("X = -1", -1),
        ("X: int = 3", 3),
        ("Y = [1]\nX = [*Y, 2]", [1, 2]),
        ("X = {'b', 'a'}", {"a", "b"}),
        ("X = 1\nX = 2", 2),
        ("from sglang.srt.other import MORE as X", ["a", "b", "c"]),
        ("from .other import NAMES\nX = NAMES[1]", "b"),
        ("from sglang.srt import EXPORTED\nX = EXPORTED", ["a", "b"]),
        ("from sglang.srt import other\nX = other.NAMES", ["a", "b"]),
        ("from sglang.srt.other import Plain\nX = Plain.ALL", ("x", "y")),
        ("from sglang.srt.other import Mode\nX = [m.name.lower() for m in Mode]", ["none", "some"]),
        ("from sglang.srt.other import Mode\nX = Mode.SOME", Member("SOME", 1)),
        ("from sglang.srt.other import Registry\nX = list(Registry.Map.keys())",
         ["k1", "k2", "k3"]),
        ("from sglang.srt.other import names\nX = names()", ["a", "b"]),
        ("import json\nX = json.loads", External("json.loads")),
        ("import argparse as ap\nX = ap.SUPPRESS", External("argparse.SUPPRESS")),
        ("import dataclasses\nX = dataclasses.field(default_factory=list)", []),
        ("import msgspec\nX = msgspec.field(default_factory=lambda: [1])", [1]),
        ("try:\n    from sglang.srt.other import NAMES as X\nexcept ImportError:\n    X = 0",
         ["a", "b"]),
        ("X = sorted", None),
    ],
)  # fmt: skip
def test_values(tmp_path: Path, text: str, value: Any) -> None:
    reader = static(tmp_path, text)
    if value is None:
        with pytest.raises(UnreadableError):
            reader.lookup(HOME, "X")
    else:
        assert reader.lookup(HOME, "X") == value


def test_a_choice_that_the_environment_adds(tmp_path: Path) -> None:
    text = 'X = {"a"}\nif envs.SGLANG_FLAG.get():\n    X.add("b")\nY = set(X)\n'
    for name in ("X", "Y"):
        found = static(tmp_path, text).lookup(HOME, name)
        assert isinstance(found, Growing)
        assert (set(found), found.by_env) == ({"a"}, (("SGLANG_FLAG", "b"),))


@pytest.mark.parametrize(
    "text",
    [
        "X = ['a']\nX.append('b')",
        "X = ['a']\nX += ['b']",
        "X = ['a']\nif is_hip():\n    X.append('b')",
        "X = ['a']\nfor y in z:\n    X.append(y)",
        "X = os.environ['Y']",
        "X = f(1)",
        "X = [y for y in Z if y]",
        "X = a if b else c",
        "Y = X\nX = Y",
        "X = [1][4]",
        "X = not True",
        "from sglang.srt.other import takes\nX = takes(1)",
        "from sglang.srt.other import Plain\nX = Plain.C",
        "Z = 1",
    ],
)
def test_what_cannot_be_told_is_refused(tmp_path: Path, text: str) -> None:
    reader = static(tmp_path, text)
    for _ in range(2):
        with pytest.raises(UnreadableError, match=r"server_args\.py|other\.py"):
            reader.lookup(HOME, "X")
