"""python-constraint as the engine for residual problems; the only module that imports it.

A fresh problem is built for every query, since solving changes one, and constraints are functions
of values, never text, since the library executes text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["solutions"]

Rule = tuple[tuple[int, ...], Callable[..., bool]]


def solutions(domains: Sequence[Sequence[int]], rules: Iterable[Rule]) -> Iterator[tuple[int, ...]]:
    """Every assignment that all rules allow, in no particular order.

    Args:
        domains: Values of each variable.
        rules: Pairs of the variables' positions and a function of their values.
    """
    from constraint import (  # type: ignore[import-untyped]
        FunctionConstraint,
        OptimizedBacktrackingSolver,
        Problem,
    )

    if any(not values for values in domains):
        return
    if not domains:
        yield ()
        return
    problem = Problem(OptimizedBacktrackingSolver())
    for number, values in enumerate(domains):
        problem.addVariable(number, list(values))
    for scope, allows in rules:
        problem.addConstraint(FunctionConstraint(allows), list(scope))
    order = range(len(domains))
    for solution in problem.getSolutionIter():
        yield tuple(solution[number] for number in order)
