"""Configurations one by one: for people, programs, spreadsheets and shells."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from kvsolve.outputs.envelope import json_line
from kvsolve.outputs.words import quote, spoken_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvsolve.model.flag import FlagTable

__all__ = ["CONFIGURATION_FORMATS", "Configurations"]

CONFIGURATION_FORMATS = ("text", "json", "jsonl", "csv", "shell")
_PROGRAM = ("python", "-m", "sglang.launch_server")


class Configurations:
    """Writes one configuration after the other.

    Args:
        style: One of :data:`CONFIGURATION_FORMATS`; JSON is one object a line.
    """

    def __init__(self, style: str) -> None:
        self.style = style
        self._columns: tuple[str, ...] | None = None

    def line(
        self,
        argv: Sequence[str],
        assignment: Mapping[str, Any],
        flags: FlagTable,
        context: Mapping[str, Any],
    ) -> str:
        """The text of a configuration, with a header before the first where there is one.

        Args:
            argv: Tokens of its command.
            assignment: The flags of interest by dest.
            flags: The release's options.
            context: What else was varied.
        """
        if self.style in ("json", "jsonl"):
            return json_line({"argv": list(argv), "assignment": {**context, **assignment}})
        if self.style == "shell":
            return " ".join(quote(token) for token in (*_PROGRAM, *argv)) + "\n"
        named = {**context, **{flags.flag(d).name: v for d, v in assignment.items()}}
        if self.style == "csv":
            return self._csv(named)
        return "  ".join(f"{n}={spoken_value(v)}" for n, v in named.items()) + "\n"

    def _csv(self, named: Mapping[str, Any]) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        if self._columns != tuple(named):
            self._columns = tuple(named)
            writer.writerow(self._columns)
        writer.writerow("" if value is None else spoken_value(value) for value in named.values())
        return out.getvalue()
