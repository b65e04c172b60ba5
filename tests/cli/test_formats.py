from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.model.finding import Location, Severity, Suppression, Verdict
from kvsolve.outputs.comment import MARKER, MOST
from kvsolve.outputs.redact import Redactor
from kvsolve.outputs.report import Answer, Patch, Problem, Replacement, Report, Unused
from kvsolve.outputs.writers import CHECK_FORMATS, Look, writer
from tests.cli import samples
from tests.public_schemas import SARIF, assert_fits, public_schema

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kvsolve.model.finding import CheckResult, Finding

HIDE = Redactor(samples.ARGV)


def at(result: CheckResult, file: str, line: int, column: int = 1) -> CheckResult:
    return replace(HIDE.result(result), source=Location(file, line, column))


KNOWN = replace(samples.FIRST, suppressed=Suppression("comment", "the chart patches this in"))
PATCH = Patch(
    "add --disable-radix-cache",
    "deploy/serve.sh",
    (Replacement(4, 12, 4, 12, " --disable-radix-cache"),),
    ("KV0101", "KV0202"),
)
REPORT = Report(
    (
        Answer(at(samples.EVERYTHING, "deploy/serve.sh", 3, 5), samples.PROGRAM, (PATCH,)),
        Answer(at(samples.CLEAN, "deploy/serve.sh", 9), samples.PROGRAM),
        Answer(at(samples.OPEN, "deploy/open, 100%.yaml", 7), samples.PROGRAM),
        Answer(at(samples.result(KNOWN), "deploy/known.yaml", 2), samples.PROGRAM),
        Answer(HIDE.result(samples.result(samples.REPORTED)), samples.PROGRAM),
    ),
    (Problem("lost.yaml", 12, "lost.yaml, line 12: the value of $TP is not known"),),
    (
        Unused(Location("deploy/serve.sh", 1, 3), "KV0777", "long gone"),
        Unused(Location("kvsolve.toml", 1, 1), "KV0778", "elsewhere", Severity.NOTE),
    ),
)


def rendered(style: str, report: Report = REPORT, notes: bool = False) -> str:
    out = writer(style, Look(notes=notes, width=80))
    parts = [out.answer(answer) for answer in report.answers]
    parts += [out.problem(problem) for problem in report.problems]
    return "".join(parts) + out.close(report.unused)


@pytest.mark.parametrize("style", [s for s in CHECK_FORMATS if s not in ("json", "jsonl")])
def test_a_run_over_files_reads_like_this(style: str, snapshot: SnapshotAssertion) -> None:
    assert rendered(style) == snapshot


@pytest.mark.parametrize("style", CHECK_FORMATS)
def test_no_format_shows_a_secret(style: str) -> None:
    assert samples.SECRET not in rendered(style, notes=True)


@pytest.mark.parametrize("style", [s for s in CHECK_FORMATS if s != "jsonl"])
def test_every_format_tells_of_what_was_not_judged(style: str) -> None:
    """An open verdict and a lost file never look like a pass."""
    text = rendered(style)
    open_, lost = {
        "text": ("It depends on what the command does not say", "1 problem with the input"),
        "json": ('"verdict": "unknown"', "lost.yaml"),
    }.get(style, ("unknown-verdict", "lost.yaml"))
    assert open_ in text
    assert lost in text


@pytest.mark.parametrize("style", CHECK_FORMATS)
def test_what_is_suppressed_is_not_told_as_a_finding(style: str) -> None:
    only = Report((Answer(at(samples.result(KNOWN), "known.yaml", 2)),))
    text = rendered(style, only)
    if style in ("json", "jsonl", "sarif"):  # they carry it, marked
        assert "the chart patches this in" in text
    else:
        assert samples.FIRST.message not in text


def test_an_open_verdict_names_what_is_not_known() -> None:
    (line,) = rendered("concise", Report((REPORT.answers[2],))).splitlines()
    assert line.endswith("say more with --gpu: mm_process_config.")
    parts = tuple(f"--flag-{number} ($X: not set)" for number in range(6))
    open_ = samples.result(verdict=Verdict.UNKNOWN, unknown=parts)
    (line,) = rendered("concise", Report((Answer(at(open_, "a.yaml", 1)),))).splitlines()
    assert "--flag-3 ($X: not set) and 2 more" in line


def test_files_are_named_as_a_repository_names_them() -> None:
    answer = Answer(at(samples.result(samples.FIRST), "./deploy/a.sh", 1))
    for style in ("concise", "github", "gitlab", "markdown", "sarif"):
        text = rendered(style, Report((answer,)))
        assert "./deploy" not in text.replace("<code>./deploy", "")
        assert "deploy/a.sh" in text


def test_an_empty_run_is_well_formed() -> None:
    empty = Report(())
    assert rendered("concise", empty) == rendered("text", empty) == rendered("github", empty) == ""
    assert json.loads(rendered("json", empty))["results"] == []
    assert json.loads(rendered("gitlab", empty)) == []
    assert_fits(json.loads(rendered("sarif", empty)), public_schema(SARIF))
    ElementTree.fromstring(rendered("junit", empty))


# SARIF


def sarif(report: Report = REPORT, notes: bool = False) -> Any:
    return json.loads(rendered("sarif", report, notes))


@pytest.mark.parametrize("notes", [False, True])
def test_sarif_fits_the_public_schema(notes: bool) -> None:
    assert_fits(sarif(notes=notes), public_schema(SARIF))


def test_sarif_rules_are_told_once_and_pointed_at() -> None:
    (run,) = sarif(notes=True)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["help"]["text"]
    helped = next(rule for rule in rules if rule["id"] == "KV0101")
    assert "Way out: " in helped["help"]["text"]


def test_sarif_places_are_relative_and_encoded() -> None:
    (run,) = sarif()["runs"]
    uris = {
        location["physicalLocation"]["artifactLocation"]["uri"]
        for result in run["results"]
        for location in result["locations"]
        if "physicalLocation" in location
    }
    assert "deploy/open%2C%20100%25.yaml" in uris
    assert not any(uri.startswith(("/", "file:")) for uri in uris)
    assert all(len(result["locations"]) == 1 for result in run["results"])


def test_sarif_says_that_a_file_was_lost() -> None:
    (invocation,) = sarif()["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert note["message"]["text"] == "the value of $TP is not known"


def test_sarif_repairs_are_changes_of_the_file() -> None:
    results = sarif()["runs"][0]["results"]
    fixed = {r["ruleId"] for r in results if "fixes" in r}
    assert fixed == {"KV0101", "KV0202"}
    (fix,) = next(r for r in results if r["ruleId"] == "KV0202")["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "deploy/serve.sh"
    (replacement,) = change["replacements"]
    assert replacement["deletedRegion"]["startLine"] == 4
    assert replacement["insertedContent"]["text"] == " --disable-radix-cache"


def test_sarif_suppressions_carry_their_reason() -> None:
    (row,) = [r for r in sarif()["runs"][0]["results"] if "suppressions" in r]
    assert row["suppressions"] == [
        {"kind": "inSource", "justification": "the chart patches this in"}
    ]


# The identity of a finding


def identities(report: Report) -> list[str]:
    return [row.identity for row in report.told(notes=True, suppressed=True)]


def moved(report: Report, lines: int) -> Report:
    def shift(finding: Finding) -> Finding:
        place = finding.location
        reworded = replace(finding, message=finding.message + " Reworded.")
        return reworded if place is None else replace(reworded, location=down(place))

    def down(place: Location) -> Location:
        return replace(place, line=place.line + lines)

    answers = [
        replace(
            answer,
            result=replace(
                answer.result,
                source=answer.result.source and down(answer.result.source),
                findings=tuple(map(shift, answer.result.findings)),
            ),
        )
        for answer in report.answers
    ]
    return replace(report, answers=tuple(answers))


@given(st.integers(1, 1000))
@settings(max_examples=20)
def test_moving_and_rewording_keeps_identities(lines: int) -> None:
    assert identities(moved(REPORT, lines)) == identities(REPORT)


def test_identities_differ() -> None:
    twice = Report((*REPORT.answers, *REPORT.answers))
    found = identities(twice)
    assert len(found) == len(set(found)) > len(identities(REPORT))


# Whatever the words are, the form holds

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(message=WORDS, remedy=WORDS, file=WORDS.filter(bool), flag=WORDS)
@settings(max_examples=60, deadline=None)
def test_any_words_keep_the_form(message: str, remedy: str, file: str, flag: str) -> None:
    finding = replace(samples.FIRST, message=message, remedy=remedy, flags=(flag,))
    report = Report(
        (Answer(replace(samples.result(finding), source=Location(file, 3, 4))),),
        (Problem(file, None, message),),
    )
    assert len(rendered("github", report).split("\n")) == 3
    assert_fits(json.loads(rendered("sarif", report)), public_schema(SARIF))
    for style in ("json", "jsonl", "gitlab"):
        json.loads(rendered(style, report))
    root = ElementTree.fromstring(rendered("junit", report))
    assert (root.get("failures"), root.get("errors")) == ("1", "1")
    table = [line for line in rendered("markdown", report).split("\n") if line.startswith("| ")]
    assert len(table) >= 3


def test_a_comment_fits_into_a_pull_request() -> None:
    long = replace(samples.FIRST, message="word " * 200)
    many = Report(
        tuple(Answer(at(samples.result(long), f"a{number}.sh", 1)) for number in range(400))
    )
    text = rendered("markdown", many)
    assert text.startswith(MARKER)
    assert len(text) <= MOST + 200
    assert text.count("\n| `a") > 20
    assert re.search(r"And \d+ findings more", text)
    assert "left out" in text


def test_gitlab_issues_have_what_gitlab_asks_for() -> None:
    issues = json.loads(rendered("gitlab"))
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["lines"]["begin"] >= 1
    prints = [issue["fingerprint"] for issue in issues]
    assert len(prints) == len(set(prints))


def test_a_concise_line_is_what_the_problem_matcher_reads() -> None:
    lines = rendered("concise").splitlines()
    shape = re.compile(r"^(.+?):(\d+):(\d+): (error|warning|note) (\S+) (.+)$")
    assert lines
    assert all(shape.match(line) for line in lines)
