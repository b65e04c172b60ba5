"""Record what a release's real parser is and does: ``python -m conformance.parser_probe``.

Runs in the oracle's environment. Reads command lines from stdin, one JSON list of tokens a line,
and writes one JSON object: the options of the real parser, the fields of the real record with
their defaults, what the real ``--config`` reader makes of keys, and what the real parser answers to
each command line. No text of upstream's is recorded, only kinds of refusal.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config_texts import COMMANDS, TEXTS
from .oracle import faked_hardware, quarantine
from .oracle.home import RELEASES, site, transformers_site

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["answer", "config_file", "merged", "options", "record"]

KINDS = (
    ("ambiguous option", "ambiguous"),
    ("unrecognized arguments", "unknown"),
    ("the following arguments are required", "missing-flag"),
    ("ignored explicit argument", "unwanted-value"),
    ("expected one argument", "missing-value"),
    ("expected at least one argument", "missing-value"),
    ("invalid choice", "bad-choice"),
)


def load(release: str) -> Any:
    """The release's module ``server_args``, imported on a faked H100."""
    sys.path[:0] = [str(site(release)), str(transformers_site(release))]
    faked_hardware.install("h100", site(release))
    quarantine.block_network()
    from sglang.srt import server_args

    return server_args


def options(parser: argparse.ArgumentParser) -> list[dict[str, Any]]:
    """Every option but ``--help`` as the parser holds it, in the order of declaration."""
    return [_option(a) for a in parser._actions if not isinstance(a, argparse._HelpAction)]


def _option(action: argparse.Action) -> dict[str, Any]:
    kind = getattr(action.type, "__name__", None)
    return {
        "dest": action.dest,
        "spellings": list(action.option_strings),
        "action": type(action).__name__.strip("_"),
        "nargs": action.nargs,
        "const": _plain(getattr(action, "const_value", action.const)),
        "default": "==SUPPRESS=="
        if action.default is argparse.SUPPRESS
        else _plain(action.default),
        "type": kind,
        "choices": _choices(action.choices),
        "required": action.required,
        "hidden": action.help is argparse.SUPPRESS,
        "refuses": getattr(action, "error_message", None) is not None,
        "new_flag": getattr(action, "new_flag", None),
    }


def _choices(choices: Any) -> list[Any] | None:
    if choices is None:
        return None
    ordered = sorted(choices, key=repr) if isinstance(choices, set | frozenset) else choices
    return [_plain(c) for c in ordered]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return f"<{type(value).__name__}>"


def record(server_args: Any) -> dict[str, Any]:
    """Every field of the real record with its default; ``<required>`` where it has none."""
    import dataclasses

    made = {}
    cls = server_args.ServerArgs
    if dataclasses.is_dataclass(cls):
        fields, absent = dataclasses.fields(cls), (dataclasses.MISSING,)
    else:
        import msgspec

        fields, absent = msgspec.structs.fields(cls), (msgspec.NODEFAULT,)
    for field in fields:
        if field.default not in absent:
            made[field.name] = _plain(field.default)
        elif field.default_factory not in absent:
            made[field.name] = _plain(field.default_factory())
        else:
            made[field.name] = "<required>"
    return made


def _merger() -> Any:
    try:
        from sglang.srt.utils import server_args_config_parser as module
    except ImportError:
        from sglang.srt import server_args_config_parser as module
    return module.ConfigArgumentMerger


def config_file(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """How the real ``--config`` reader treats keys."""
    merger = _merger()(parser)
    return {
        "switches": sorted(set(merger.store_true_actions)),
        "unsupported": sorted(merger.unsupported_actions),
    }


def merged(parser: argparse.ArgumentParser, text: str, command: Sequence[str]) -> dict[str, Any]:
    """What the real reader makes of a file with this text."""
    merger = _merger()(parser)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.yaml"
        path.write_text(text, encoding="utf-8")
        made: dict[str, Any] = {
            "text": text,
            "tokens": ["a.yaml" if t == "FILE" else t for t in command],
        }
        try:
            tokens = merger.merge_config_with_args(
                [str(path) if t == "FILE" else t for t in command]
            )
        except Exception as error:
            return {**made, "raised": type(error).__name__}
        return {**made, "raised": "", "merged": tokens}


def answer(parser: argparse.ArgumentParser, tokens: Sequence[str]) -> dict[str, Any]:
    """What the parser makes of a command line: changed values, a refusal, help or a crash."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            values = vars(parser.parse_args(list(tokens)))
    except SystemExit as stop:
        if not stop.code:
            return {"kind": "help"}
        return _refusal(said.getvalue())
    except Exception as error:
        return {"kind": "crash", "raised": type(error).__name__}
    usual = vars(parser.parse_args(["--model-path", "m"]))
    missing = object()
    changed = {k: v for k, v in values.items() if v != usual.get(k, missing) or k == "model_path"}
    return {"kind": "ok", "values": _plain(changed)}


def _refusal(said: str) -> dict[str, Any]:
    message = said[said.index("error: ") + len("error: ") :]
    about = re.match(r"argument ([^:\s]+)[^:]*: (.*)", message, re.DOTALL)
    subject, text = about.groups() if about else ("", message)
    kind = next((k for start, k in KINDS if text.startswith(start)), "bad-value")
    if not about and kind == "bad-value":
        kind = "retired"
    made = {"kind": kind}
    if subject:
        made["name"] = subject.split("/")[0]
    if kind == "ambiguous":
        made["typed"] = text.split()[2]
    return made


def main() -> None:
    cli = argparse.ArgumentParser(description="Record a release's real parser.")
    cli.add_argument("--release", required=True, choices=RELEASES)
    release = cli.parse_args().release
    lines = [json.loads(line) for line in sys.stdin if line.strip()]
    real = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        server_args = load(release)
        parser = argparse.ArgumentParser(prog="sglang serve")
        server_args.ServerArgs.add_cli_args(parser)
        made = {
            "release": release,
            "python": sys.version.split()[0],
            "written_by": "python -m conformance.record_parsers",
            "options": options(parser),
            "fields": record(server_args),
            "config_file": config_file(parser),
            "merges": [merged(parser, text, COMMANDS[0]) for text in TEXTS]
            + [merged(parser, text, COMMANDS[1]) for text in TEXTS[:5]],
            "answers": [{"tokens": t, **answer(parser, t)} for t in lines],
        }
    json.dump(made, real)


if __name__ == "__main__":
    main()
