"""On a real pack: no single edit is cheaper than what repair proves to be the cheapest.

Every edit of one flag is tried on the whole program, without any of the search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kvsolve.session import Request, Session
from kvsolve.solve.network import network_of
from kvsolve.solve.repair import repair
from kvsolve.solve.space import Space

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvsolve.session import Question

LLAMA = "--model-path meta-llama/Llama-3.1-8B-Instruct"
SESSION = Session()
COMMANDS = (
    "--kv-cache-dtype nvfp4",
    "--is-embedding --prefill-only-disable-kv-cache --kv-cache-dtype nvfp4",
    "--attention-backend fa4 --page-size 3",
    "--tp-size 3",
    "--enable-hierarchical-cache --disable-radix-cache",
)


def question(flags: str) -> Question:
    return SESSION.ask(Request(f"{LLAMA} {flags}".split(), sglang="0.5.18", gpu="h100"))


def one_edit(asked: Question) -> Iterator[int]:
    """Cost of every edit of a single flag that the program accepts."""
    prepared = asked.context
    held = {"model_path", *asked.held}
    space = Space(network_of(prepared), asked.pack.flags, asked.config, held=held)
    for dest in sorted(network_of(prepared).dests):
        variable = space.variable(dest)
        if variable is None:
            continue
        for state in space.order(variable):
            if state != space.start[variable]:
                changed = space.changed({variable: state})
                if not prepared.broken(changed):
                    yield space.price(variable, state).cost


@pytest.mark.parametrize("flags", COMMANDS)
def test_no_single_edit_is_cheaper(flags: str) -> None:
    asked = question(flags)
    found = repair(asked.context, asked.config, held=asked.held, k=1)
    (best,) = found.repairs
    assert best.optimal
    costs = list(one_edit(asked))
    assert all(best.cost <= cost for cost in costs)
    if len(best.edits) == 1:
        assert best.cost == min(costs)
