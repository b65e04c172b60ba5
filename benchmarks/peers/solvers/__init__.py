"""One module for each solver, the only one that imports it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.peers.problem import Problem
    from benchmarks.peers.solvers.peer import Peer

__all__ = ["PEERS", "peer"]

PEERS = {
    "kvsolve": "kvsolve_itself.Kvsolve",
    "python-constraint2": "python_constraint.PythonConstraint",
    "OR-Tools CP-SAT": "cp_sat.CpSat",
    "PySAT": "python_sat.PySat",
    "clingo": "clingo_asp.Clingo",
    "z3": "z3_smt.Z3",
    "CPMpy": "cpmpy_mus.CpmPy",
    "flamapy": "flamapy_fm.Flamapy",
    "dd (CUDD)": "decision_diagram.DecisionDiagram",
    "allpairspy": "arrays.AllPairs",
    "covertable": "arrays.CoverTable",
}
"""By the name in tables, module and class."""


def peer(name: str, problem: Problem) -> Peer:
    """A solver with a problem."""
    module, _, kind = PEERS[name].partition(".")
    found: Peer = getattr(import_module(f"{__name__}.{module}"), kind)(problem)
    return found
