"""flamapy: the UVL export, its decision diagram for counts and samples, its SAT plugin else.

It pins an older python-sat, so it runs in an environment of its own.
"""

from __future__ import annotations

import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from flamapy.metamodels.bdd_metamodel.operations import BDDConfigurationsNumber, BDDSampling
from flamapy.metamodels.bdd_metamodel.transformations import FmToBDD
from flamapy.metamodels.fm_metamodel.transformations import UVLReader
from flamapy.metamodels.pysat_metamodel.operations import PySATConfigurationsNumber
from flamapy.metamodels.pysat_metamodel.transformations import FmToPysat

from benchmarks.peers.solvers.peer import SAMPLES, Peer

__all__ = ["Flamapy", "read_uvl"]


class Flamapy(Peer):
    """flamapy."""

    distributions = ("flamapy", "flamapy-bdd", "flamapy-sat")
    how = "UVL read once; BDD for counts and samples, SAT for lists"

    def build(self) -> None:
        FmToPysat(read_uvl(self.problem.refusing.texts["uvl"])).transform()

    def enumerate(self) -> int:
        found = FmToPysat(read_uvl(self.problem.product.texts["uvl"])).transform()
        return int(PySATConfigurationsNumber().execute(found).get_result())

    def count(self) -> int:
        return int(BDDConfigurationsNumber().execute(self._diagram).get_result())

    def sample(self) -> int:
        operation = BDDSampling()
        operation.set_sample_size(SAMPLES)
        return len(operation.execute(self._diagram).get_result())

    @cached_property
    def _diagram(self) -> Any:
        return FmToBDD(read_uvl(self.problem.scope.texts["uvl"])).transform()


def read_uvl(text: str) -> Any:
    """The feature model of a UVL text."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "model.uvl")
        path.write_text(text, encoding="utf-8")
        return UVLReader(str(path)).transform()
