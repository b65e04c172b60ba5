"""Findings with the place of the option that they are about."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from kvsolve.files.found import Document, FoundCommand, Token
    from kvsolve.model.finding import CheckResult, Finding, Location

__all__ = ["placed", "places_of"]


def placed(result: CheckResult, found: FoundCommand, document: Document) -> CheckResult:
    """The answer with the command's place in its file, and that of each finding's first option.

    Args:
        result: The answer.
        found: The command with the place of each word.
        document: The file.
    """
    places = _options(found.tokens, document)
    findings = tuple(_placed(finding, places) for finding in result.findings)
    return replace(result, source=found.location, findings=findings)


def _options(tokens: tuple[Token, ...], document: Document) -> dict[str, Location]:
    """Where each word stands; of an option given more than once the last one counts."""
    places = {}
    for token in tokens:
        location = document.location(token.start)
        if token.text.startswith("-"):
            places[token.text.partition("=")[0]] = location
        places.setdefault(token.text, location)
    return places


def _placed(finding: Finding, places: dict[str, Location]) -> Finding:
    first = next((places[flag] for flag in finding.flags if flag in places), None)
    return finding if first is None else replace(finding, location=first)


def places_of(found: FoundCommand, document: Document) -> Callable[[Finding], Collection[int]]:
    """What tells the lines that a finding is about: those of its options and of their values.

    Args:
        found: The command with the place of each word.
        document: The file.
    """
    lines: dict[str, set[int]] = {}
    option = ""
    for token in found.tokens:
        if token.text.startswith("--"):
            option = token.text.partition("=")[0]
        if option:
            lines.setdefault(option, set()).add(document.location(token.start).line)
    return lambda finding: {line for flag in finding.flags for line in lines.get(flag, ())}
