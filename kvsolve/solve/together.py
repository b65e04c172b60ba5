"""The contexts of commands that leave the same things open, run together.

The first commands run in each context by itself. Contexts that prove to be asked for often are set
out side by side (:mod:`kvsolve.packs.abreast`), so that a command costs little more than the
differences between them. Both give the same traces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.model.context import Config
    from kvsolve.packs.abreast import Abreast
    from kvsolve.packs.evaluate import Trace
    from kvsolve.solve.check import Prepared

__all__ = ["Together"]

_PATIENCE = 3
"""Runs after which it pays to set contexts side by side: that costs about as much as these."""
_FEWEST = 4
"""Contexts from which on it pays at all."""


class Together:
    """Contexts of one release and one stage.

    Args:
        prepared: These.
    """

    __slots__ = ("_abreast", "_prepared", "_runs")

    def __init__(self, prepared: Sequence[Prepared]) -> None:
        self._prepared = prepared
        self._abreast: Abreast | None = None
        self._runs = 0

    def traces(self, config: Config) -> Iterator[Trace]:
        """Run a configuration in each of them."""
        if self._abreast is None and len(self._prepared) >= _FEWEST:
            self._runs += 1
            if self._runs > _PATIENCE:
                self.set_out(config)
        if self._abreast is None:
            yield from (prepared.trace(config) for prepared in self._prepared)
            return
        found = self._abreast.traces(config.values, config.given)
        for prepared, trace in zip(self._prepared, found, strict=True):
            yield prepared.trace(config) if trace is None else trace

    def set_out(self, config: Config, *, make: bool = False) -> None:
        """Set the contexts side by side, where the release's program is there in units.

        Args:
            config: What was asked for; all else is compared with its defaults.
            make: Make the units where nothing has made them.
        """
        from kvsolve.packs.abreast import Abreast

        first = self._prepared[0]
        units = first.pack.units(make=make or first.has_run_often())
        if units is not None:
            base = first.defaults(config)
            tables = [prepared.facts for prepared in self._prepared]
            self._abreast = Abreast(units, first.pack.program, base.values, base.given, tables)
