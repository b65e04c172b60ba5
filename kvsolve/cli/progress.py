"""A sign of life on a terminal while a verb takes long; nothing at all elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, ClassVar, TextIO

if TYPE_CHECKING:
    from threading import Event, Thread
    from types import TracebackType

__all__ = ["Progress"]

PATIENCE = 2.0
"""Seconds before anything is said."""
_STEP = 0.5
_ERASE = "\r\x1b[2K"


class Progress:
    """Says how long it has taken, and how far it is where that is told.

    One within another leaves the saying to the outer one.

    Args:
        stream: Where to say it; stderr where None.
        patience: Seconds before anything is said.
    """

    _outer: ClassVar[Progress | None] = None

    def __init__(self, stream: TextIO | None = None, patience: float = PATIENCE) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._patience = patience
        self._done = 0
        self._ended: Event | None = None
        self._thread: Thread | None = None

    def __enter__(self) -> Progress:
        if Progress._outer is not None:
            return Progress._outer
        if self._stream is not None and self._stream.isatty():
            Progress._outer = self
            from threading import Event, Thread

            self._ended = Event()
            self._thread = Thread(target=self._tick, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._ended is not None and self._thread is not None:
            Progress._outer = None
            self._ended.set()
            self._thread.join()

    def step(self) -> None:
        """One command more is done."""
        self._done += 1

    def _tick(self) -> None:
        assert self._ended is not None
        began, said = time.monotonic(), False
        wait = self._patience
        while not self._ended.wait(wait):
            said, wait = True, _STEP
            # The cursor goes back to the start, so that whatever is printed next writes over it.
            self._write(f"{_ERASE}{self._words(time.monotonic() - began)}\r")
        if said:
            self._write(_ERASE)

    def _words(self, seconds: float) -> str:
        far = f", {self._done} done" if self._done else ""
        return f"kvsolve: still at it{far}, {seconds:.0f} s (Ctrl-C stops)"

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal has gone
            return
