"""The steps that make the pack of a release, in the order in which they depend on each other.

Each step writes whole files: what it made is put in place when it is complete, so that a run that
was stopped is continued by running it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kvsolve.errors import KvsolveError
from kvsolve.packs.files import constraints_directory
from kvsolve.packs.release_order import release_order
from kvsolve.upstream.config_defaults import merge
from kvsolve.upstream.config_names import ELSEWHERE, names_read
from kvsolve.upstream.drift.sides import predecessor
from kvsolve.upstream.environment import read_environment
from kvsolve.upstream.flags import read_flags
from kvsolve.upstream.package_versions import metadata, pinned_versions
from kvsolve.upstream.source import SourceTree

from .oracle import setup
from .oracle.home import TESTS, home, python, site, transformers_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from kvsolve.upstream.reader.program import Reading

__all__ = ["READING", "Step", "Work", "put"]


class Work:
    """A release that is being added.

    Attributes:
        release: As in ``0.5.23``.
        root: The packs' directory.
    """

    def __init__(self, release: str) -> None:
        self.release = release
        self.root = constraints_directory() / "sglang"

    @property
    def srt(self) -> Path:
        """The release's own ``sglang/srt``."""
        return site(self.release) / "sglang" / "srt"

    @cached_property
    def tree(self) -> SourceTree:
        """The release's source."""
        return SourceTree.open(site(self.release))

    @cached_property
    def reading(self) -> Reading:
        """What the reader makes of it; some minutes for the newest releases."""
        from kvsolve.upstream.extract import read_source

        return read_source(site(self.release))

    @cached_property
    def before(self) -> str:
        """The newest release known before it."""
        return predecessor(self.release)

    def file(self, part: str, ending: str) -> Path:
        """A file of the release's own."""
        return self.root / part / f"{self.release}.{ending}"

    def ask(self, module: str, *arguments: str) -> str:
        """What a module prints in the oracle's environment, where the release can be imported.

        Raises:
            RuntimeError: It fails; names the last thing that it said.
        """
        run = subprocess.run(
            [str(python()), "-P", "-m", module, *arguments],
            env={**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"},
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            said = run.stderr.strip().splitlines() or ["nothing"]
            raise RuntimeError(f"{module} fails for {self.release}: {said[-1]}")
        return run.stdout


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        name: What it makes.
        made: Whether that is there already.
        make: Make it.
    """

    name: str
    made: Callable[[Work], bool]
    make: Callable[[Work], None]


def put(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.part")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)


def _installed(work: Work) -> bool:
    return (site(work.release) / ".ok").exists() and (
        transformers_site(work.release) / "tokenizers"
    ).is_dir()


def _install(work: Work) -> None:
    setup.install([work.release])


def _flags(work: Work) -> None:
    put(work.file("flags", "json"), read_flags(work.tree).dumps("kvsolve upstream flags"))


def _environment(work: Work) -> None:
    found = read_environment((work.srt / "environ.py").read_text(encoding="utf-8"))
    text = json.dumps(found, indent=0, sort_keys=True, separators=(",", ":"))
    put(work.file("env", "json"), text + "\n")


def _versions_file(work: Work) -> Path:
    return work.root / "profiles" / "package-versions.json"


def _versions(work: Work) -> None:
    path = _versions_file(work)
    table = json.loads(path.read_text(encoding="utf-8"))
    table[work.release] = pinned_versions(metadata(site(work.release)))
    put(path, json.dumps(table, indent=0, sort_keys=True) + "\n")


def _has_versions(work: Work) -> bool:
    return work.release in json.loads(_versions_file(work).read_text(encoding="utf-8"))


def _architectures_file(work: Work) -> Path:
    return work.root / "profiles" / "architectures.jsonl"


def _rows(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {json.loads(line)["release"]: line for line in lines}


def _architectures(work: Work) -> None:
    path = _architectures_file(work)
    rows = _rows(path)
    rows[work.release] = work.ask("kvsolve.upstream.architectures", work.release).strip()
    put(path, "".join(f"{rows[name]}\n" for name in sorted(rows, key=release_order)))


def _has_architectures(work: Work) -> bool:
    return work.release in _rows(_architectures_file(work))


def _classes_file(work: Work) -> Path:
    return work.root / "profiles" / "config-classes.jsonl"


def _classes(work: Work) -> None:
    """Describe the classes; those of the library only where no release with it was described."""
    folder = home() / "classes"
    folder.mkdir(exist_ok=True)
    names = folder / "names.json"
    put(names, json.dumps(sorted(_names(_sites()))))
    digest = hashlib.sha256(names.read_bytes()).hexdigest()[:12]
    library = folder / f"{transformers_site(work.release).name}-{digest}.json"
    base = [str(library)] if library.exists() else []
    text = work.ask("kvsolve.upstream.config_defaults", work.release, str(names), *base)
    if not base:
        put(library, text)
    path = _classes_file(work)
    table = path.read_text(encoding="utf-8").splitlines()
    put(path, "\n".join(merge({work.release: json.loads(text)}, table)) + "\n")


def _sites() -> Iterable[Path]:
    return sorted(path for path in (home() / "sglang").iterdir() if path.is_dir())


def _names(sites: Iterable[Path]) -> set[str]:
    return set(ELSEWHERE).union(*(names_read(path / "sglang" / "srt") for path in sites))


def _has_classes(work: Work) -> bool:
    with _classes_file(work).open(encoding="utf-8") as handle:
        return work.release in json.loads(handle.readline())["releases"]


def _program(work: Work) -> None:
    put(work.file("program", "jsonl"), work.reading.program.dump())


def _codes(work: Work) -> None:
    from kvsolve.upstream.codes import codes_text

    put(work.root / "codes.toml", codes_text(work.root))


def _has_codes(work: Work) -> bool:
    first = (work.root / "codes.toml").read_text(encoding="utf-8").partition("[crashes]")[0]
    return f'"{work.release}"' in first


def _late_entries(work: Work) -> None:
    from kvsolve.upstream.late_ranges import carry_over
    from kvsolve.upstream.late_words import write_late_words

    before = SourceTree.open(site(work.before)) if _can_compare(work) else None
    if before is not None:
        found = carry_over(sorted(work.root.glob("7[0-9]-*.toml")), before, work.tree)
        for path, text in found.texts.items():
            put(path, text)
    write_late_words(work.tree, work.root)


def _can_compare(work: Work) -> bool:
    """Whether the release before lies in the oracle; an older one than all has none before it."""
    try:
        return (site(work.before) / ".ok").exists()
    except KvsolveError:
        return False


def _own(part: str, ending: str) -> Callable[[Work], bool]:
    return lambda work: work.file(part, ending).exists()


READING: tuple[Step, ...] = (
    Step("the release and its transformers", _installed, _install),
    Step("options", _own("flags", "json"), _flags),
    Step("environment variables", _own("env", "json"), _environment),
    Step("pinned packages", _has_versions, _versions),
    Step("architectures", _has_architectures, _architectures),
    Step("configuration classes", _has_classes, _classes),
    Step("program", _own("program", "jsonl"), _program),
    Step("codes", _has_codes, _codes),
    Step("late entries and their words", _own("words", "json"), _late_entries),
)
"""From the wheel to a pack."""
