"""Takes what somebody suppressed out of the count, and finds suppressions that nobody needs."""

from __future__ import annotations

import os
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from kvsolve.model.finding import Location, Severity, Suppression
from kvsolve.outputs.report import Problem, Unused, relative
from kvsolve.settings.ignores import Ignore, ignores_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from kvsolve.model.finding import CheckResult, Finding
    from kvsolve.settings.file import Ignored, Settings

__all__ = ["Suppressor"]


class Suppressor:
    """Applies the suppressions of files and settings to one answer after the other."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[Ignore, ...]] = {}
        self._used: set[tuple[str, object, str]] = set()
        self._scope: dict[tuple[str, Ignored], None] = {}

    def read(self, file: str, text: str) -> list[Problem]:
        """Find the suppressions in a file.

        Args:
            file: Its name.
            text: What is in it.

        Returns:
            Those that cannot be used: without a code, or without a reason.
        """
        if file in self._files:
            return []
        found = self._files[file] = ignores_in(text)
        bad = ((ignore, ignore.mistake) for ignore in found)
        return [Problem(file, ignore.line, mistake) for ignore, mistake in bad if mistake]

    def apply(
        self,
        result: CheckResult,
        settings: Settings | None = None,
        lines_of: Callable[[Finding], Collection[int]] | None = None,
    ) -> CheckResult:
        """The answer with each suppressed finding marked.

        Args:
            result: The answer.
            settings: Those that hold for its command.
            lines_of: The lines that a finding is about, beside that of its location.
        """
        file, outer = _file(result), settings.file if settings else ""
        here = [i for i in self._files.get(file, ()) if not i.mistake]
        filed = list(_matching(settings, file))
        self._scope |= dict.fromkeys((outer, ignored) for ignored in filed)
        if not here and not filed:
            return result
        findings = []
        for finding in result.findings:
            lines = _lines(result, finding, lines_of)
            near = [i for i in here if any(i.first <= line <= i.last for line in lines)]
            # All that fit are in use, not only the one that is named as the reason.
            fits = [*self._fitting(file, near, finding), *self._fitting(outer, filed, finding)]
            findings.append(replace(finding, suppressed=fits[0]) if fits else finding)
        return replace(result, findings=tuple(findings))

    def _fitting(
        self, file: str, ignores: Iterable[Ignore | Ignored], finding: Finding
    ) -> Iterator[Suppression]:
        for ignore in ignores:
            for code in ignore.codes:
                if code in (finding.code, finding.slug):
                    self._used.add((file, ignore, code))
                    by = ignore.by if isinstance(ignore, Ignore) else "config"
                    yield Suppression(by, ignore.reason)

    def unused(self) -> Iterator[Unused]:
        """The suppressions seen that suppress nothing."""
        for file, ignores in self._files.items():
            for ignore in ignores:
                place = Location(file, ignore.line, ignore.column)
                for code in ignore.codes if not ignore.mistake else ():
                    if (file, ignore, code) not in self._used:
                        yield Unused(place, code, ignore.reason)
        for file, ignored in self._scope:
            for code in ignored.codes:
                if (file, ignored, code) not in self._used:
                    # Another run over more files may need it.
                    place = Location(relative(file), 1, 1)
                    yield Unused(place, code, ignored.reason, Severity.NOTE)


def _file(result: CheckResult) -> str:
    return result.source.file if result.source else ""


def _lines(
    result: CheckResult,
    finding: Finding,
    lines_of: Callable[[Finding], Collection[int]] | None,
) -> set[int]:
    lines = set(lines_of(finding)) if lines_of else set()
    places = (result.source, finding.location)
    return lines | {place.line for place in places if place}


def _matching(settings: Settings | None, file: str) -> Iterator[Ignored]:
    """The suppressions of settings that hold for a file; those without files hold for a command."""
    if settings is None:
        return
    for ignored in settings.ignores:
        patterns = ignored.files
        if not patterns or (file and any(_matches(file, settings.folder, p) for p in patterns)):
            yield ignored


@lru_cache(maxsize=4096)
def _matches(file: str, folder: str, pattern: str) -> bool:
    """Whether a file is meant: by path below the folder, by a folder above it, or by name."""
    path = os.path.relpath(os.path.abspath(file), folder).replace(os.sep, "/")
    plain = pattern.rstrip("/")
    if "/" not in plain and fnmatchcase(path.rsplit("/", 1)[-1], plain):
        return True
    return fnmatchcase(path, plain) or fnmatchcase(path, f"{plain}/*")
