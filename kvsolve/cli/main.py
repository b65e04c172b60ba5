"""The ``kvsolve`` command: runs what is asked and turns errors into one sentence."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from kvsolve.errors import KvsolveError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "run"]

BAD_INPUT = 2
INTERRUPTED = 130
READER_GONE = 141
_STDOUT = 1


def run() -> NoReturn:
    """Entry point of the console script."""
    gc.disable()  # until the modules are loaded: a start allocates much and drops next to nothing
    sys.exit(main(sys.argv[1:]))


def main(args: Sequence[str]) -> int:
    """Run one command line of kvsolve.

    Args:
        args: Tokens after the program's name; those behind ``--`` are the SGLang command.

    Returns:
        The exit code: 0 nothing found, 1 findings, 2 bad input, 130 interrupted, 141 where the
        reader of stdout has gone.
    """
    if sys.stdout is None:
        return _complain("stdout is closed, so there is nowhere to write the answer")
    try:
        code = _dispatch(args)
        sys.stdout.flush()
        return code
    except KvsolveError as error:
        return _complain(str(error))
    except (BrokenPipeError, SystemExit) as end:
        if isinstance(end, SystemExit) and not end.code:
            return 0  # Typer has completed a word for the shell
        # The reader has gone, as in `kvsolve rules | head`; nobody is left to be told. Typer ends
        # the process where a verb meets that.
        _drop_output()
        return READER_GONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:
            # What reads names its file; this is a full disk behind stdout.
            _drop_output()
            return _complain(f"the answer cannot be written: {error.strerror or error}")
        return _complain(_explain_failure(error, args))


def _drop_output() -> None:
    """Let what is left in the buffer of stdout go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)


def _dispatch(args: Sequence[str]) -> int:
    from kvsolve.cli.quick import read_check

    own, command = _split(args)
    plain = read_check(own, command)
    if plain is not None:
        from kvsolve.cli.checking import run_check

        _loaded()
        asked, files, switches = plain
        return run_check(asked, files, **switches)
    from kvsolve.cli.app import dispatch

    _loaded()
    return dispatch(own, command)


def _loaded() -> None:
    """Collect garbage again, but never walk through what the modules hold."""
    if not gc.isenabled():
        gc.freeze()
        # Long runs make many small things and few circles; looking for these is not worth a fifth.
        gc.set_threshold(20_000, 20, 50)
        gc.enable()


def _split(args: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Kvsolve's own tokens, and those behind ``--`` or None where it is missing."""
    tokens = list(args)
    if "--" not in tokens:
        return tokens, None
    at = tokens.index("--")
    return tokens[:at], tokens[at + 1 :]


def _complain(sentence: str) -> int:
    print(f"kvsolve: error: {sentence}", file=sys.stderr)
    return BAD_INPUT


def _explain_failure(error: Exception, args: Sequence[str]) -> str:
    from kvsolve.cli.app import USAGE_ERROR

    if isinstance(error, USAGE_ERROR):
        sentence = " ".join(error.format_message().split())  # type: ignore[attr-defined]
        if not sentence:  # nothing was asked, and the help is on stdout
            return "name a verb"
        looks_like_command = any("sglang" in token for token in args) and "--" not in args
        hint = ". Put the SGLang command behind `--`." if looks_like_command else ""
        return sentence.removesuffix(".") + hint
    if os.environ.get("KVSOLVE_DEBUG"):
        raise error
    detail = " ".join(str(error).split())
    return (
        f"internal error ({type(error).__name__}: {detail}); this is a bug of kvsolve, "
        "KVSOLVE_DEBUG=1 shows where it happened"
    )
