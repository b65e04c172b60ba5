"""One process that runs one release's validators on one GPU profile.

Reads a job a line from stdin and writes its outcome as a line to stdout::

    {"id": 1, "argv": ["--page-size", "16"], "model": "llama-mha", "env": {}, "judged_to": "args"}
    {"id": 1, "status": "ok", "stage": "attention", "step": "done", "resolved": {...}, ...}

``status`` is ``ok``, ``rejected``, ``parse-error`` or ``harness-error``. Run it through ``run.py``.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from . import faked_hardware, quarantine
from .encoding import OPAQUE, encode
from .genuine import is_genuine
from .home import site, transformers_site
from .infiniband import infiniband
from .later_stages import LaterStages
from .light_runner import resolved
from .model_configs import model_path
from .placeholders import TOUCHES, Placeholder
from .places import frames, handlers, innermost, is_raised
from .remembered import forget_environment
from .steps import STAGES, Steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["Validator"]

# Imports that a release does lazily happen here once, not in the first job.
WARM_UP: tuple[tuple[str, list[str]], ...] = (
    ("llama-mha", []),
    ("deepseek-v3.2", ["--tp-size", "8"]),
    ("qwen3-next", []),
    ("gpt-oss", []),
    ("deepseek-v4", ["--tp-size", "8"]),
    ("llama-mha", ["--enable-hierarchical-cache"]),
)


class Validator:
    """The validators of one release on one faked machine.

    Args:
        release: A release that ``setup`` installed.
        platform: A name in ``GPU_PROFILES``.
    """

    def __init__(self, release: str, platform: str) -> None:
        self.root: Path = site(release) / "sglang"
        sys.path[:0] = [str(site(release)), str(transformers_site(release))]
        self.profile = faked_hardware.install(platform, site(release))
        self.warnings = quarantine.count_warnings()
        quarantine.block_network()
        from sglang.srt import server_args
        from sglang.srt.utils import common

        faked_hardware.fake_sockets(common)
        self.server_args = server_args
        self.resolves_once = hasattr(server_args.ServerArgs, "resolve_once")
        self._watch_construction()
        self._share_parser()
        quarantine.replace_kernel_loader()
        self._warm_up()
        gc.collect()
        gc.freeze()

    def check(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """What the release says to one job, up to its stage ``judged_to`` (default: the last)."""
        steps = Steps(self.root, self.profile.kind)
        self._begin(steps, only_args=job.get("judged_to") == "args")
        with _environment(job.get("env") or {}), infiniband(job.get("devices")):
            self.own_environment = bool(job.get("env"))
            if self.own_environment:
                forget_environment()
            verdict = self._verdict(self._argv(job), steps)
        if self.own_environment:
            forget_environment()
        touches = TOUCHES.stop()
        outcome = {
            "id": job.get("id"),
            **verdict,
            "stage": STAGES.get(steps.current, "load"),
            "step": steps.current,
            "warnings": self.warnings.count,
        }
        if self.args is not None and verdict["status"] != "parse-error":
            outcome["resolved"] = self.resolved or self.fields()
            outcome["resolved_complete"] = steps.current not in ("parse", "args")
        if steps.outcomes:
            outcome["outcomes"] = steps.outcomes
        if touches:
            outcome["placeholder_touches"] = touches[:8]
        return outcome

    def fields(self) -> dict[str, Any]:
        """All fields of the server arguments that have a JSON form, as resolved so far."""
        kind = type(self.args)
        names = getattr(kind, "__struct_fields__", None) or kind.__dataclass_fields__
        found = {}
        for name in names:
            with contextlib.suppress(Exception):
                value = encode(resolved(self.args, name))
                if value is not OPAQUE:
                    found[name] = value
        return found

    def _begin(self, steps: Steps, *, only_args: bool) -> None:
        self.args: Any = None
        self.resolved: dict[str, Any] = {}
        self.only_args = only_args
        self.steps = steps
        self.warnings.count = 0
        self.own_environment = False
        TOUCHES.start()

    def _argv(self, job: Mapping[str, Any]) -> list[str]:
        tokens = [model_path(str(token)) for token in job.get("argv") or []]
        return ["--model-path", model_path(f"@model:{job['model']}"), *tokens]

    def _verdict(self, argv: list[str], steps: Steps) -> dict[str, Any]:
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
                self._launch(argv, steps)
        except SystemExit as error:
            if steps.current == "parse":
                return {"status": "parse-error", "message": _parser_error(said.getvalue())}
            return self._refusal(error, steps)
        except BaseException as error:
            return self._refusal(error, steps)
        return {"status": "ok"}

    def _launch(self, argv: list[str], steps: Steps) -> None:
        self.args = self.server_args.prepare_server_args(argv)
        steps.current = "args"
        if self.resolves_once:
            self.args.resolve_once()
        steps.current = "check"
        self.args.check_server_args()
        self.resolved = self.fields()  # later stages of some releases write to the arguments
        if not self.only_args:
            LaterStages(self.args, steps, self.profile.kind).run()
            steps.current = "done"

    def _refusal(self, error: BaseException, steps: Steps) -> dict[str, Any]:
        inside = frames(error.__traceback__, self.root)
        file, line, symbol = innermost(error.__traceback__)
        deliberate = file.is_relative_to(self.root) and is_raised(file, line)
        outcome: dict[str, Any] = {
            "status": "rejected",
            "deliberate": deliberate,
            "type": type(error).__name__,
            "message": str(error)[:800],
            "where": inside[-1][0].to_dict() if inside else None,
            "stack": [place.to_dict() for place in handlers([place for place, _ in inside])],
        }
        later = STAGES.get(steps.current, "load") not in ("parse", "args")
        if isinstance(error, ImportError) and (later or not deliberate):
            outcome["missing_package"] = error.name or "not named"
        if not deliberate:
            outcome["last_frame"] = f"{file.name}:{symbol}:{line}"
        if self._is_ours(error, later, deliberate):
            outcome["status"] = "harness-error"
        return outcome

    def _is_ours(self, error: BaseException, later: bool, deliberate: bool) -> bool:
        """Whether the failure says something about the oracle, not about the launch."""
        if isinstance(error, quarantine.NetworkAttemptError) or "placeholder" in str(error):
            return True
        if later:
            return False  # the steps let nothing through that is not genuine
        inside = frames(error.__traceback__, self.root)
        held = inside[-1][1].f_locals.values() if inside else ()
        if any(isinstance(value, Placeholder) for value in held):
            return True
        return (
            isinstance(error, ImportError)
            and not deliberate
            and not is_genuine(error, self.root, self.profile.kind)
        )

    def _watch_construction(self) -> None:
        """Tell parsing from resolution, and keep a record that fails half-way."""
        kind = self.server_args.ServerArgs
        from_cli_args = kind.from_cli_args

        def watched(namespace: Any) -> Any:
            self.steps.current = "args"
            return from_cli_args(namespace)

        kind.from_cli_args = staticmethod(watched)
        if not self.resolves_once:
            post_init = kind.__post_init__

            def kept(record: Any) -> Any:
                self.args = record
                return post_init(record)

            kind.__post_init__ = kept

    def _share_parser(self) -> None:
        """Building the parser is most of a plain check and gives the same parser each time."""
        add = self.server_args.ServerArgs.add_cli_args
        prototype = argparse.ArgumentParser(prog="sglang serve")
        add(prototype)

        def add_cli_args(parser: argparse.ArgumentParser) -> None:
            if self.own_environment:
                add(parser)  # some defaults are read from the environment
            else:
                vars(parser).update(vars(prototype))

        self.server_args.ServerArgs.add_cli_args = staticmethod(add_cli_args)
        self.parser = prototype

    def _warm_up(self) -> None:
        for model, argv in WARM_UP:
            self.check({"argv": argv, "model": model})


@contextlib.contextmanager
def _environment(added: Mapping[str, Any]) -> Iterator[None]:
    """Run with more variables; whatever the release sets is undone as well."""
    before = dict(os.environ)
    os.environ.update({name: str(value) for name, value in added.items()})
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)


def _parser_error(text: str) -> str:
    return text.rpartition(": error: ")[2].strip()[:800]


def main() -> None:
    parser = argparse.ArgumentParser(description="Check jobs from stdin against one release.")
    parser.add_argument("--release", required=True)
    parser.add_argument("--platform", required=True)
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # nothing that a release prints may mix with the answers
    validator = Validator(options.release, options.platform)
    answers.write('{"ready": true}\n')
    for line in sys.stdin:
        answers.write(json.dumps(validator.check(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
