"""Options are read from annotated fields and explicit calls of a small made-up release."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from kvsolve.model.flag import UNSET, Flag, FlagTable
from kvsolve.upstream import derived_code
from kvsolve.upstream.fingerprint import fingerprint
from kvsolve.upstream.flags import read_flags
from kvsolve.upstream.record import record_fields
from kvsolve.upstream.source import SourceTree
from kvsolve.upstream.static import Static
from kvsolve.upstream.static_values import UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

MERGER = "class ConfigArgumentMerger:\n    pass\n"
RECORD = '''
import argparse
import dataclasses
from typing import Dict, List, Literal, Optional, Union

COLOURS = ["red", "green"]
EXTRA = {"small"}

@dataclasses.dataclass
class ServerArgs:
    """Fields."""
    model_path: A[str, Arg(help="Path.", aliases=["--model"])]
    port: A[int, "The port."] = 30 * 1000
    port: A[int, "The port, declared again."] = 8000
    ratio: A[Optional[float], "A share."] = None
    fast: A[bool, "Go."] = False
    colour: A[str, Arg(help="Choose " "one.", choices=COLOURS)] = COLOURS[0]
    shape: A[Optional[Literal["round", "flat"]], Arg(help="x", resolvable=True)] = None
    level: A[Literal[1, 2], "x"] = 1
    sizes: A[Optional[List[int]], Arg(help="x")] = None
    paths: A[List[str], Arg(help="x", nargs="*")] = dataclasses.field(default_factory=list)
    maybe: A[Optional[bool], Arg(help="x", action=argparse.BooleanOptionalAction)] = None
    mixed: A[Optional[Union[str, Dict]], Arg(help=argparse.SUPPRESS, cli_name="--mix")] = None
    union: A[int | None, "[Deprecated] Gone soon."] = None
    flagless: A[int, Arg(no_cli=True)] = 4
    bare: int = 5
    token: A[Optional[str], Arg(help="x", nargs="?", const="")] = None

    @staticmethod
    def add_cli_args(parser):
        add_cli_args_from_dataclass(parser, ServerArgs)
        more = set(EXTRA)
        if envs.SGLANG_BIG.get():
            more.add("big")
        parser.add_argument("--size", type=str, choices=more, default=ServerArgs.colour)
        parser.add_argument("--old-port", dest="port", type=int, default=argparse.SUPPRESS)
        parser.add_argument("--noisy", action="store_true", help="Deprecated: use --fast.")
        EXPLICIT

def prepare_server_args(argv):
    seen = any(arg == "--port" or arg.startswith("--port=") for arg in argv)
    raw_args = parser.parse_args(argv)
    raw_args._port_seen = seen
    level = getattr(logging, raw_args.log_level.upper())
'''


def read(
    root: Path, monkeypatch: pytest.MonkeyPatch, explicit: str = "pass", more: str = ""
) -> FlagTable:
    node = ast.parse(MERGER).body[0]
    assert isinstance(node, ast.ClassDef)
    monkeypatch.setitem(derived_code._MERGERS, fingerprint(node), {"config_keys": "dest"})
    files = {
        "sglang/srt/server_args.py": RECORD.replace("EXPLICIT", explicit) + more,
        "sglang/srt/server_args_config_parser.py": MERGER,
        "sglang/version.py": "__version__ = '9.9'\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("        pass\n", ""), encoding="utf-8")
    return read_flags(SourceTree.open(root))


def test_every_kind_of_declaration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = read(tmp_path, monkeypatch)
    assert {flag.name: flag for flag in table} == {
        flag.name: flag
        for flag in (
            Flag("model_path", ("--model-path", "--model"), type="str", required=True),
            Flag("port", ("--port",), type="int", default=8000),
            Flag("ratio", ("--ratio",), type="float"),
            Flag("fast", ("--fast",), "store_true", nargs=0, default=False),
            Flag("colour", ("--colour",), type="str", choices=("red", "green"), default="red"),
            Flag("shape", ("--shape",), type="str", choices=("round", "flat")),
            Flag("level", ("--level",), type="int", choices=(1, 2), default=1),
            Flag("sizes", ("--sizes",), type="int", nargs="+"),
            Flag("paths", ("--paths",), type="str", nargs="*", default=[]),
            Flag("maybe", ("--maybe", "--no-maybe"), "boolean", nargs=0),
            Flag("mixed", ("--mix",), type="str", hidden=True),
            Flag("union", ("--union",), type="int", deprecated=True),
            Flag("token", ("--token",), type="str", nargs="?", const=""),
            Flag("size", ("--size",), type="str", choices=("small",), default="red",
                 choices_by_env=(("SGLANG_BIG", ("big",)),)),
            Flag("port", ("--old-port",), type="int", default=UNSET),
            Flag("noisy", ("--noisy",), "store_true", nargs=0, default=False, deprecated=True),
        )
    }  # fmt: skip
    assert table.release == "9.9"
    assert table.fields["flagless"] == 4
    assert table.fields["bare"] == 5
    assert table.fields["model_path"] is None
    assert table.launcher == {
        "config_keys": "dest",
        "noticed": {"_port_seen": "--port"},
        "log_level": "log_level",
    }


def test_an_option_added_by_hand_may_be_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = read(tmp_path, monkeypatch, 'parser.add_argument("--x", type=int, required=True)')
    assert table.by_spelling("--x").required


def test_a_default_that_is_true_on_one_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = "    warm: bool = dataclasses.field(default_factory=lambda: is_hip())\n"
    monkeypatch.setitem(globals(), "RECORD", RECORD.replace("    bare:", field + "    bare:"))
    added = 'parser.add_argument("--warm", action="store_true", default=ServerArgs.warm)'
    assert read(tmp_path, monkeypatch, added).by_spelling("--warm").default is False
    static = Static(SourceTree.open(tmp_path))
    assert {f.name: f.on_platform for f in record_fields(static) if f.on_platform} == {
        "warm": "is_hip"
    }


@pytest.mark.parametrize(
    "explicit",
    [
        'parser.add_argument("--x", type=weird)',
        'parser.add_argument("--x", action="append")',
        'parser.add_argument("--x", metavar="Y")',
        'parser.add_argument("--x", choices=unknown())',
        "parser.set_defaults(port=1)",
        "extend(parser)",
        'if a:\n            parser.add_argument("--x")',
        'parser.add_argument("--late-colour", dest="colour", default="green")\n'
        '        parser.add_argument("--a-colour", dest="colour", default="blue")',
    ],
)
def test_what_is_not_known_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, explicit: str
) -> None:
    with pytest.raises(UnreadableError):
        read(tmp_path, monkeypatch, explicit)


def test_a_value_type_that_reads_differently_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "\ndef nullable_str(val):\n    return val or 'nothing'\n"
    with pytest.raises(UnreadableError, match=r"nullable_str \(fingerprint [0-9a-f]{12}\)"):
        read(tmp_path, monkeypatch, 'parser.add_argument("--x", type=nullable_str)', more)


def test_deriving_code_that_reads_differently_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sglang/srt/arg_groups/arg_utils.py"
    path.parent.mkdir(parents=True)
    path.write_text("def add_cli_args_from_dataclass(parser, cls):\n    pass\n", encoding="utf-8")
    with pytest.raises(UnreadableError, match="add_cli_args_from_dataclass"):
        read(tmp_path, monkeypatch)


def test_a_release_without_a_known_config_reader_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(tmp_path, monkeypatch)
    (tmp_path / "sglang/srt/server_args_config_parser.py").unlink()
    with pytest.raises(UnreadableError, match="--config"):
        read_flags(SourceTree.open(tmp_path))


def of(text: str) -> str:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    return fingerprint(node)


def test_a_fingerprint_is_of_meaning_not_of_words() -> None:
    base = of(
        'def f(a):\n    if a == "x":\n        raise ValueError("no such thing")\n    return 1\n'
    )
    assert base == of(
        'def f(a: str) -> int:\n    """Doc."""\n    # why\n    if a == "x":\n'
        '        raise ValueError(f"this {a} is wrong")\n    return 1\n'
    )
    assert base != of(
        'def f(a):\n    if a == "y":\n        raise ValueError("no thing")\n    return 1\n'
    )
    assert base != of(
        'def f(a):\n    if a == "x":\n        raise TypeError("no thing")\n    return 1\n'
    )
    assert base != of(
        'def f(a):\n    if a == "x":\n        raise ValueError("no thing")\n    return 2\n'
    )
