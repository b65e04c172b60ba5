"""A baseline: the findings that were there when somebody began, which do not count from then on."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.finding import Severity, Suppression
from kvsolve.model.noun import dataclass
from kvsolve.outputs.report import COMMAND, Identities, relative

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvsolve.model.finding import CheckResult, Finding

__all__ = ["Baseline", "Known", "read_baseline"]

VERSION = 1


@dataclass(frozen=True, slots=True)
class Known:
    """A finding of a baseline: where, which, and its name that outlives edits."""

    file: str
    code: str
    slug: str
    identity: str


class Baseline:
    """Marks the findings that a baseline knows, and gathers those of a new one.

    Args:
        path: The baseline; files are named from its folder.
        known: What it holds.
    """

    def __init__(self, path: str, known: Iterable[Known] = ()) -> None:
        self.path = path
        self._folder = os.path.dirname(os.path.abspath(path))
        self._known = {row.identity: row for row in known}
        self._identities = Identities(self._folder)
        self._met: set[str] = set()
        self._files: set[str] = set()
        self._found: dict[str, Known] = {}

    def must_be_writable(self) -> None:
        """Find out before a long run whether its findings can be kept.

        Raises:
            KvsolveError: They cannot.
        """
        if os.path.isdir(self.path):
            raise KvsolveError(f"{self.path}: cannot be written: is a folder")
        if not os.path.isdir(self._folder) or not os.access(self._folder, os.W_OK):
            raise KvsolveError(
                f"{self.path}: cannot be written: there is no such folder to write to"
            )

    def apply(self, result: CheckResult, learn: bool = False) -> CheckResult:
        """The answer with the findings of the baseline marked as suppressed.

        Args:
            result: The answer.
            learn: Every finding is to be in the baseline that is written.
        """
        if result.source:
            self._files.add(relative(result.source.file, self._folder))
        findings = tuple(self._marked(finding, result, learn) for finding in result.findings)
        return replace(result, findings=findings)

    def _marked(self, finding: Finding, result: CheckResult, learn: bool) -> Finding:
        place = finding.location or result.source
        file = place.file if place else COMMAND
        identity = self._identities.of(file, finding)
        if finding.suppressed or finding.severity is Severity.NOTE:
            return finding
        told = Known(relative(file, self._folder), finding.code, finding.slug, identity)
        self._found[identity] = told
        if identity not in self._known and not learn:
            return finding
        self._met.add(identity)
        return replace(finding, suppressed=Suppression("baseline", f"known in {self.path}"))

    @property
    def gone(self) -> tuple[Known, ...]:
        """Findings of the baseline that the files judged no longer have."""
        rows = self._known.values()
        return tuple(r for r in rows if r.file in self._files and r.identity not in self._met)

    def write(self) -> int:
        """Write the findings met as the new baseline, whole or not at all.

        Returns:
            How many there are.

        Raises:
            KvsolveError: The file cannot be written.
        """
        rows = sorted(self._found.values(), key=lambda row: (row.file, row.code, row.identity))
        data = {"version": VERSION, "tool": "kvsolve", "findings": [_plain(row) for row in rows]}
        temporary = f"{self.path}.{os.getpid()}"
        try:
            with open(temporary, "w", encoding="utf-8") as handle:
                handle.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
            os.replace(temporary, self.path)
        except OSError as error:
            raise KvsolveError(f"{self.path}: cannot be written: {error.strerror}") from None
        finally:  # also where somebody interrupts
            with suppress(OSError):
                os.unlink(temporary)
        return len(rows)


def _plain(row: Known) -> dict[str, str]:
    return {"file": row.file, "code": row.code, "slug": row.slug, "identity": row.identity}


def read_baseline(path: str) -> Baseline:
    """The baseline in a file.

    Raises:
        KvsolveError: It cannot be read.
    """
    try:
        with open(path, encoding="utf-8") as handle:
            data = json.load(handle)
    except OSError as error:
        raise KvsolveError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise KvsolveError(f"{path} is no baseline: it is no JSON") from None
    return Baseline(path, _rows(data, path))


def _rows(data: Any, path: str) -> list[Known]:
    rows = data.get("findings") if isinstance(data, dict) else None
    if not isinstance(rows, list) or data.get("version") != VERSION:
        raise KvsolveError(f"{path} is no baseline of this version; write it with --write-baseline")
    try:
        return [Known(r["file"], r["code"], r["slug"], r["identity"]) for r in rows]
    except (KeyError, TypeError):
        raise KvsolveError(f"{path}: an entry lacks file, code, slug or identity") from None
