"""sample: valid configurations drawn at random, each as likely as any other."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.solve.lowering.counting import Counting
from kvsolve.solve.lowering.lower import lower

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.model.context import Config
    from kvsolve.solve.check import Prepared
    from kvsolve.solve.domains import State

__all__ = ["sample"]


def sample(
    prepared: Prepared,
    config: Config,
    vary: Mapping[str, Sequence[State] | None],
    *,
    number: int,
    seed: int = 0,
    time_limit: float | None = None,
) -> Iterator[Config]:
    """Draw valid configurations, with repetition.

    Args:
        prepared: Pack, context and stage.
        config: Values of the flags that do not vary.
        vary: The flags that vary, with their states or None for all representatives.
        number: How many to draw.
        seed: Equal seeds draw the same.
        time_limit: Seconds that counting may take; drawing needs the exact count.

    Raises:
        KvsolveError: Nothing is valid, or the flags hang together too widely to draw uniformly.
    """
    lowered = lower(prepared, config, vary=vary)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    counting = Counting(lowered, deadline)
    if not counting.exact:
        raise KvsolveError(
            "drawing fairly needs an exact count, and there was not the time for it; vary fewer "
            "flags, name fewer values, or allow more time with --limit-s"
        )
    if not counting.lower:
        raise KvsolveError("no configuration over these flags is valid")
    source = random.Random(seed)
    for _ in range(number):
        yield lowered.config_at(counting.draw(source))
