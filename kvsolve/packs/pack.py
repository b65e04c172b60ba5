"""A release's knowledge, ready to use: flags, program, catalog, compiled once and kept.

Loading for a check reads one cached file with the compiled function and the tables; the term graph
is read from another only when somebody needs it (a repair, an explanation, a crash).
"""

from __future__ import annotations

import marshal
import re
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve import __version__
from kvsolve.errors import KvsolveError
from kvsolve.model.flag import FlagTable
from kvsolve.model.overlay import Shared
from kvsolve.packs.cached_parts import read_cached_parts, write_cached_parts
from kvsolve.packs.compile import CompiledProgram
from kvsolve.packs.files import constraints_directory, read_cached, stamp, write_cached
from kvsolve.packs.packed_rows import blocks_of
from kvsolve.packs.release_order import base_of, release_order
from kvsolve.packs.steps import StepInfo, StepTable, step_info

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kvsolve.model.context import Config
    from kvsolve.packs.units import Units

__all__ = ["Pack", "StepInfo", "UnknownReleaseError", "load_pack", "newest", "releases"]


READ = "read"
"""Status of a release whose pack was not held to its validator."""
_POST = re.compile(r"[\d.]+\.post\d+")
# What the tag of an image adds to the release: the platform that it was built for.
_PLATFORM = re.compile(r"-(?:cu\d|rocm\d|cann\d|xeon|runtime).*")


class UnknownReleaseError(KvsolveError):
    """No pack for a release; the text names the nearest known ones."""


class Pack:
    """Everything known about one release.

    Attributes:
        release: As in ``0.5.23``.
        flags: Its command-line options.
        steps: What each step of the program is, by position.
        compiled: The program as a function.
        runs: How often it was run, whatever the context.
        typed: The configuration checked last, and what it has instead of the defaults.
    """

    def __init__(
        self,
        release: str,
        flags: FlagTable,
        steps: Sequence[StepInfo],
        compiled: CompiledProgram,
        tables: Mapping[str, Any],
        key: str = "",
        texts: tuple[Sequence[bytes], int] = ((), 0),
    ) -> None:
        self.release = release
        self.flags = flags
        self.steps = steps
        self.compiled = compiled
        self._tables = tables
        self._texts = texts
        self._key = key
        self._units: Units | None = None
        self._units_missing = False
        self.runs = 0
        self.typed: tuple[Config, tuple[Shared, dict[str, Any]]] | None = None

    @cached_property
    def program(self) -> Any:
        """The program with its terms: argument resolution as read, then the curated late stages."""
        kept = read_cached(f"{self.release}.program", self._key) if self._key else None
        if kept is None:
            return read_full_program(self.release)
        from kvsolve.packs.program_table import read_plain_program

        return read_plain_program(marshal.loads(kept))

    def units(self, *, make: bool) -> Units | None:
        """The program in units, for many runs in one context; kept from start to start.

        Args:
            make: Make them where they are not kept, which takes some seconds.
        """
        if self._units is None and not self._units_missing:
            from kvsolve.packs.units import Units

            kept = read_cached(f"{self.release}.units", self._key)
            self._units_missing = kept is None
            self._units = None if kept is None else Units.unmarshal(kept)
        if self._units is None and make:
            from kvsolve.packs.units import compile_units

            self._units = compile_units(self.program)
            write_cached(f"{self.release}.units", self._key, self._units.marshal())
        return self._units

    @cached_property
    def written(self) -> tuple[str, ...]:
        """For each step the flag that it writes; empty where it writes none."""
        return tuple("" if "." in step.name else step.name for step in self.steps)

    @property
    def stamp(self) -> str:
        """Changes with every file that the pack is made from; empty where it is kept nowhere."""
        return self._key

    @cached_property
    def effective(self) -> Shared:
        """The defaults of all modelled flags: what runs where nobody says or writes anything."""
        initial = self.flags.initial
        return Shared({d: value for d, value in initial.items() if d in self.modelled})

    @cached_property
    def provenance(self) -> Shared:
        """Where these come from."""
        return Shared(dict.fromkeys(self.effective.values, "default"))

    @cached_property
    def catalog(self) -> Any:
        """Codes, reasons and remedies by step."""
        from kvsolve.packs.catalog import Catalog

        return Catalog.from_plain(self._tables["catalog"], *self._texts)

    @cached_property
    def modelled(self) -> frozenset[str]:
        """Dests that some step reads or writes."""
        return frozenset(self._tables["modelled"])

    @cached_property
    def unread(self) -> frozenset[str]:
        """Dests that upstream's resolution reads where the reader could not follow."""
        return frozenset(self._tables["unread"])

    @property
    def status(self) -> str:
        """``compared`` with the release's real validator, or only ``read`` from its source."""
        return str(self._tables.get("status", READ))

    @property
    def last_stage(self) -> str:
        """The last stage that some entry speaks of."""
        return str(self._tables["last_stage"])


def read_full_program(release: str) -> Any:
    """The program file of a release with the curated late entries among its later stages."""
    from kvsolve.model.program import load_program
    from kvsolve.packs.late import by_stage, late_steps

    root = constraints_directory() / "sglang"
    path = root / "program" / f"{release}.jsonl"
    with open(path, encoding="utf-8") as handle:
        program = load_program(handle, path.name)
    late = late_steps(program, sorted(root.glob("7[0-9]-*.toml")))
    return replace(program, steps=by_stage(program.steps, late))


@lru_cache(maxsize=1)
def releases() -> tuple[str, ...]:
    """Releases that kvsolve knows, oldest first."""
    found = (constraints_directory() / "sglang" / "program").glob("*.jsonl")
    return tuple(sorted((p.stem for p in found), key=release_order))


def newest() -> str:
    """The newest release known."""
    return releases()[-1]


def resolve_release(wanted: str) -> str:
    """The pack for a release as users write it.

    That is ``v0.5.18``, ``0.5.18.post1``, an image's tag or a whole image.

    Raises:
        UnknownReleaseError: There is none; names the nearest.
    """
    tag = wanted.strip().partition("@")[0].rpartition(":")[2]
    name = _PLATFORM.sub("", tag).removeprefix("v")
    known = releases()
    if name in known:
        return name
    mended = [r for r in known if base_of(r) == base_of(name)]
    if mended and _POST.fullmatch(name):
        # A later mending of a release that is known: the nearest before it.
        before = [r for r in mended if release_order(r) <= release_order(name)]
        return before[-1] if before else mended[0]
    near = _nearest(name, known)
    raise UnknownReleaseError(
        f"no pack for SGLang {wanted}; the nearest known releases are {', '.join(near)}"
        " (`kvsolve packs` lists all)"
    )


def _nearest(name: str, known: tuple[str, ...]) -> list[str]:
    """Known releases to offer instead, at most three: from the end that lies nearest, or alike."""
    from difflib import get_close_matches

    from packaging.version import InvalidVersion, Version

    try:
        version = Version(name)
    except InvalidVersion:
        return get_close_matches(name, known, 3, 0.3) or [known[-1]]
    if version > Version(known[-1]):
        return list(known[:-4:-1])
    if version < Version(known[0]):
        return list(known[:3])
    return get_close_matches(name, known, 3, 0.3) or [known[-1]]


def _sources(release: str) -> list[Path]:
    root = constraints_directory() / "sglang"
    fixed = [root / "program" / f"{release}.jsonl", root / "flags" / f"{release}.json"]
    words = root / "words" / f"{release}.json"
    package = Path(__file__).parents[1]
    code = [f for part in ("packs", "model") for f in sorted((package / part).glob("*.py"))]
    return [*fixed, words, *sorted(root.glob("*.toml")), *code]


@lru_cache(maxsize=8)
def load_pack(wanted: str) -> Pack:
    """Load a release's pack, compiled at first use and cached.

    Raises:
        UnknownReleaseError: There is none.
        KvsolveError: A file of it is malformed.
    """
    release = resolve_release(wanted)
    key = f"{__version__}\n{stamp(_sources(release))}"
    kept = read_cached_parts(f"{release}.pack", key)
    if kept is not None:
        return _restore(release, kept, key)
    program = read_full_program(release)
    parts = _build(release, program)
    write_cached_parts(f"{release}.pack", key, parts)
    _keep_terms(program, key)
    return _restore(release, parts, key)


def _keep_terms(program: Any, key: str) -> None:
    """Keep the terms of a program as a table, which is read in a twentieth of the time of text."""
    from kvsolve.packs.program_table import program_to_plain

    write_cached(f"{program.release}.program", key, marshal.dumps(program_to_plain(program)))


def modelled_dests(program: Any) -> set[str]:
    """Slots that some step of a program reads or writes."""
    from kvsolve.model.expression import walk

    operands = [o for s in program.steps for o in (s.when, getattr(s, "value", None))]
    read = {t.args[0] for t in walk(*operands) if t.op == "ref"}
    written = {s.name for s in program.steps if hasattr(s, "name")}
    return {n.removeprefix("raw.").removeprefix("given.") for n in read | written}


def _build(release: str, program: Any) -> list[bytes]:
    """The compiled function, the tables, then the steps and the catalog's entries in blocks."""
    from kvsolve.model.program import Refuse
    from kvsolve.packs.cataloguing import load_catalog
    from kvsolve.packs.compile import compile_program

    path = constraints_directory() / "sglang" / "flags" / f"{release}.json"
    flags = FlagTable.load(path)
    compiled = compile_program(program)
    modelled = modelled_dests(program)
    stages = [s.stage for s in program.steps if isinstance(s, Refuse)]
    from kvsolve.model.finding import stage_rank
    from kvsolve.packs.status import release_status

    steps = blocks_of(map(step_info, program.steps))
    catalog = load_catalog(release, program)
    tables = {
        "steps": (len(program.steps), len(steps)),
        "catalog": catalog.to_plain(),
        "status": release_status(release),
        "modelled": sorted(modelled & set(flags.fields)),
        "unread": sorted({r for gap in program.gaps for r in gap.reads} - modelled),
        "last_stage": max(stages, key=stage_rank, default="args"),
    }
    head = marshal.dumps((flags.to_plain(), tables))
    return [compiled.marshal(), head, *steps, *catalog.blocks()]


def _restore(release: str, parts: Sequence[bytes], key: str) -> Pack:
    flags, tables = marshal.loads(parts[1])
    count, blocks = tables["steps"]
    pack: Pack

    def exact() -> Any:
        return pack.program

    pack = Pack(
        release,
        FlagTable.from_plain(flags),
        StepTable(parts, count, 2),
        CompiledProgram.unmarshal(parts[0], exact),
        tables,
        key,
        (parts, 2 + blocks),
    )
    return pack
