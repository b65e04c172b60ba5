"""JUnit's XML: a test suite for each file, a test case for each command."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from kvsolve.model.finding import Severity
from kvsolve.outputs.concise import line_of
from kvsolve.outputs.report import Teller, told_problem, told_unused
from kvsolve.outputs.words import quote
from kvsolve.outputs.writers import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element

    from kvsolve.outputs.report import Answer, Report, Told

__all__ = ["JUnit"]

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Case = tuple[str, str, list["Told"], tuple[str, ...], str]
"""File, name, what there is to tell, the command, and why refusals of it do not count."""


class JUnit(Collector):
    """A refusal is a failure; an open verdict and a file that cannot be read are errors."""

    def render(self, report: Report) -> str:
        """The whole document."""
        from xml.etree.ElementTree import Element, indent, tostring

        root = Element("testsuites", name="kvsolve")
        files: dict[str, list[Case]] = {}
        for case in self._cases(report):
            files.setdefault(case[0], []).append(case)
        for file, cases in files.items():
            _suite(root, file, cases)
        for name in ("tests", "failures", "errors", "skipped"):
            root.set(name, str(sum(int(suite.get(name, 0)) for suite in root)))
        indent(root)
        return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, "unicode") + "\n"

    def _cases(self, report: Report) -> Iterator[Case]:
        teller, numbers = Teller(self.look.notes), Counter[str]()
        for answer in report.answers:
            file = answer.place.file
            numbers[file] += 1
            name, rows = _name(answer, numbers[file]), list(teller.answer(answer))
            yield file, name, rows, (*answer.program, *answer.result.argv), _excuse(answer)
        for problem in report.problems:
            told = told_problem(problem)
            yield told.place.file, "readable", [told], (), ""
        for unused in report.unused:
            yield unused.place.file, f"suppression of {unused.code}", [told_unused(unused)], (), ""


def _name(answer: Answer, number: int) -> str:
    # No line in it: a case keeps its name while the file is edited around it.
    model = answer.result.facts.get("model")
    return f"command {number}" + (f" {model}" if model else "")


def _excuse(answer: Answer) -> str:
    return "; ".join(
        f"{finding.code} suppressed: {finding.suppressed.reason}"
        for finding in answer.result.errors
        if finding.suppressed
    )


def _suite(root: Element, file: str, cases: Sequence[Case]) -> None:
    from xml.etree.ElementTree import SubElement

    suite = SubElement(root, "testsuite", name=_clean(file), tests=str(len(cases)))
    failures = errors = skipped = 0
    for _, name, rows, argv, excused in cases:
        case = SubElement(suite, "testcase", classname=_clean(file), name=_clean(name))
        bad = [row for row in rows if row.finding and row.severity is Severity.ERROR]
        lost = [row for row in rows if row.code in ("bad-input", "unknown-verdict")]
        kind, told = ("failure", bad) if bad else ("error", lost)
        failures, errors = failures + bool(bad), errors + bool(lost and not bad)
        if told:
            words = "\n".join(f"{row.code} {line_of(row)}" for row in told)
            node = SubElement(case, kind, type=told[0].code, message=_clean(line_of(told[0])))
            node.text = _clean(words)
        elif excused:
            SubElement(case, "skipped", message=_clean(excused))
            skipped += 1
        _talk(case, [row for row in rows if row not in told], argv)
    for name, number in (("failures", failures), ("errors", errors), ("skipped", skipped)):
        suite.set(name, str(number))


def _talk(case: Element, rows: Sequence[Told], argv: Sequence[str]) -> None:
    from xml.etree.ElementTree import SubElement

    lines = [" ".join(map(quote, argv))] if argv else []
    lines += [f"{row.severity} {row.code} {line_of(row)}" for row in rows]
    if lines:
        SubElement(case, "system-out").text = _clean("\n".join(lines))


def _clean(text: str) -> str:
    """Text that XML can hold: control characters cannot be written in it at all."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
