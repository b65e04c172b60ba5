"""Times, and how they are told."""

from __future__ import annotations

import math

__all__ = ["Figures"]


class Figures:
    """Milliseconds of the processor, told as median, 95th percentile and worst."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def add(self, milliseconds: float) -> None:
        self.times.append(milliseconds)

    def at(self, share: float) -> float:
        """The least time that a share of the times does not exceed."""
        ordered = sorted(self.times)
        return ordered[max(math.ceil(share * len(ordered)), 1) - 1]

    def within(self, milliseconds: float) -> float:
        """The share of times that do not exceed one."""
        return sum(t <= milliseconds for t in self.times) / len(self.times)

    def __str__(self) -> str:
        if not self.times:
            return "none"
        middle, most, worst = self.at(0.5), self.at(0.95), max(self.times)
        return f"median {middle:.1f} ms, 95% {most:.1f} ms, worst {worst:.1f} ms"
