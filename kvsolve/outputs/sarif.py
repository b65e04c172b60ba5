"""SARIF 2.1.0, which code scanning and editors read.

What it took to be read well elsewhere: relative addresses, one location a result, fingerprints
without lines or prose, repairs as real changes of the file, and files that could not be read as
notifications of an execution that did not succeed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve import __version__
from kvsolve.outputs.concise import line_of
from kvsolve.outputs.envelope import json_text
from kvsolve.outputs.report import COMMAND, relative, told_problem
from kvsolve.outputs.writers import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kvsolve.model.finding import Finding, Location, Suppression
    from kvsolve.outputs.report import Patch, Report, Told

__all__ = ["Sarif"]

Json = dict[str, Any]
_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_ROOT = "%SRCROOT%"
_WORDS = {
    "unknown-verdict": "What the command leaves open decides whether SGLang would start.",
    "unused-suppression": "A suppression stands where nothing is found.",
}


class Sarif(Collector):
    """One run."""

    def render(self, report: Report) -> str:
        """The whole log."""
        rows = [
            row for row in report.told(self.look.notes, suppressed=True) if row.code != "bad-input"
        ]
        rules = {row.code: row for row in reversed(rows)}
        order = {code: number for number, code in enumerate(sorted(rules))}
        run = {
            "tool": {"driver": _driver([_rule(rules[code]) for code in order])},
            "columnKind": "unicodeCodePoints",
            "invocations": [_invocation(report)],
            "results": [_result(row, order[row.code]) for row in rows],
        }
        return json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _driver(rules: list[Json]) -> Json:
    return {
        "name": "kvsolve",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": rules,
    }


def _invocation(report: Report) -> Json:
    notes = [
        {"level": "error", "message": {"text": row.message}, "locations": [_location(row.place)]}
        for row in map(told_problem, report.problems)
    ]
    return {"executionSuccessful": not notes, "toolExecutionNotifications": notes}


def _rule(row: Told) -> Json:
    finding = row.finding
    words = finding.message if finding else _WORDS[row.code]
    rule: Json = {
        "id": row.code,
        "name": row.slug,
        "shortDescription": {"text": row.slug.replace("-", " ")},
        "fullDescription": {"text": words},
        "help": {"text": words},
        "defaultConfiguration": {"level": str(row.severity)},
    }
    if finding:
        lines = list(_help(finding))
        rule["help"] = {"text": "\n".join(lines), "markdown": "\n\n".join(lines)}
        rule["properties"] = {"tags": ["sglang", str(finding.kind), f"stage-{finding.stage}"]}
    return rule


def _help(finding: Finding) -> Iterator[str]:
    yield finding.message
    if finding.remedy:
        yield f"Way out: {finding.remedy}"
    if finding.ground:
        ground = finding.ground
        yield f"Where: sglang/srt/{ground.file} {ground.symbol} ({ground.sglang})"
    yield f"More: kvsolve explain {finding.code}"


def _result(row: Told, index: int) -> Json:
    result: Json = {
        "ruleId": row.code,
        "ruleIndex": index,
        "level": str(row.severity),
        "message": {"text": line_of(row)},
        "locations": [_location(row.place)],
        "partialFingerprints": {"kvsolve/v1": row.identity},
    }
    finding, answer = row.finding, row.answer
    if finding is None or answer is None:
        return result
    result["properties"] = {
        "sglang": answer.result.sglang,
        "stage": finding.stage,
        "flags": list(finding.flags),
    }
    if finding.suppressed:
        result["suppressions"] = [_suppression(finding.suppressed)]
    fixes = [_fix(patch) for patch in answer.patches if finding.code in patch.removes]
    return {**result, "fixes": fixes} if fixes else result


def _suppression(suppressed: Suppression) -> Json:
    kind = "inSource" if suppressed.by in ("comment", "annotation") else "external"
    return {"kind": kind, "justification": suppressed.reason}


def _location(place: Location) -> Json:
    if place.file == COMMAND:
        return {"logicalLocations": [{"name": "command line", "kind": "module"}]}
    region = {"startLine": place.line, "startColumn": place.column}
    return {"physicalLocation": {"artifactLocation": _artifact(place.file), "region": region}}


def _artifact(file: str) -> Json:
    from urllib.parse import quote

    path = relative(file)
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    if path.startswith("../"):
        return {"uri": Path(path).resolve().as_uri()}
    return {"uri": quote(path), "uriBaseId": _ROOT}


def _fix(patch: Patch) -> Json:
    change = {
        "artifactLocation": _artifact(patch.file),
        "replacements": _replacements(patch),
    }
    return {"description": {"text": patch.title}, "artifactChanges": [change]}


def _replacements(patch: Patch) -> Sequence[Json]:
    return [
        {
            "deletedRegion": {
                "startLine": part.line,
                "startColumn": part.column,
                "endLine": part.end_line,
                "endColumn": part.end_column,
            },
            "insertedContent": {"text": part.text},
        }
        for part in patch.replacements
    ]
