"""GitLab's code quality report, which a merge request shows beside the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.outputs.concise import line_of
from kvsolve.outputs.envelope import json_text
from kvsolve.outputs.report import relative
from kvsolve.outputs.writers import Collector

if TYPE_CHECKING:
    from kvsolve.outputs.report import Report, Told

__all__ = ["GitLab"]

_SEVERITIES = {"error": "critical", "warning": "minor", "note": "info"}


class GitLab(Collector):
    """One list of issues."""

    def render(self, report: Report) -> str:
        """The list; empty where there is nothing to say."""
        return json_text([_issue(row) for row in report.told(self.look.notes)])


def _issue(row: Told) -> dict[str, Any]:
    return {
        "description": f"{row.code}: {line_of(row)}",
        "check_name": row.slug,
        "fingerprint": row.identity,
        "severity": _SEVERITIES[str(row.severity)],
        "location": {
            "path": relative(row.place.file),
            "lines": {"begin": row.place.line},
        },
    }
