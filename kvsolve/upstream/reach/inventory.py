"""The whole inventory of a release: argument resolution as read, and what comes after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.noun import dataclass
from kvsolve.packs.files import constraints_directory
from kvsolve.upstream.extract import read_tree
from kvsolve.upstream.flags import read_flags
from kvsolve.upstream.reach.curated import curated_places
from kvsolve.upstream.reach.places import NOT_MODELLED, Known, Place, places
from kvsolve.upstream.reach.ruled_out import read_ruled_out, still_ruled_out
from kvsolve.upstream.source import SourceTree

if TYPE_CHECKING:
    from pathlib import Path

    from kvsolve.upstream.reader.inventory import Row

__all__ = ["Inventory", "take"]


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a release can refuse.

    Attributes:
        places: Every raise and assert statement that a launch can reach, by stage.
        statements: The counts of argument resolution that the program file carries.
        unmapped: Predicates that no fact is named for, with their uses.
    """

    release: str
    places: tuple[Place, ...]
    statements: dict[str, int]
    unmapped: dict[str, int]


def take(source: Path, *, beyond: bool = True) -> Inventory:
    """Read a release and list its places.

    Args:
        source: A wheel, an unpacked wheel or a checkout.
        beyond: Whether stages past argument resolution are wanted, which take a minute.

    Raises:
        KvsolveError: The path is no SGLang release.
    """
    tree = SourceTree.open(source)
    reading = read_tree(tree)
    rows = [_resolution(row) for row in reading.rows]
    if beyond:
        read = {
            **reading.beyond,
            **{at: ("exact" if ok else "opaque", "args") for at, ok in reading.outside.items()},
        }
        root = constraints_directory() / "sglang"
        flags = frozenset(read_flags(tree).fields)
        ruled_out = still_ruled_out(tree, read_ruled_out(root))
        rows += places(tree, flags, Known(read, curated_places(tree, root), ruled_out))
    program = reading.program
    return Inventory(
        program.release,
        tuple(rows),
        dict(program.statements),
        dict(sorted(reading.unmapped.items())),
    )


def _resolution(row: Row) -> Place:
    status = NOT_MODELLED if row.status == "unreached" else row.status
    return Place(row.file, row.symbol, row.line, "args", status, reason=row.reason)
