"""A check's answer as Markdown, for a pull-request comment or an issue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.finding import CheckResult, Finding, Kind, Severity
from kvsolve.outputs.tables import markdown_table
from kvsolve.outputs.text import headline
from kvsolve.outputs.words import command_lines, short_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["check_markdown", "repairs_markdown"]

if TYPE_CHECKING:
    from kvsolve.model.edit import Repair

_WIDE = 10_000


def check_markdown(result: CheckResult, program: Sequence[str] = ()) -> str:
    """Verdict, command, findings as a list, rewrites as a table."""
    name, _, sentence = headline(result, width=_WIDE).partition(": ")
    blocks = [f"**{name}**: {sentence}", _fence([*program, *result.argv])]
    findings = [finding for finding in result.findings if not finding.suppressed]
    items = [_item(f) for f in findings if f.kind is not Kind.REWRITE]
    if items:
        blocks.append("\n".join(items))
    rewrites = [f for f in findings if f.kind is Kind.REWRITE]
    asked = [f for f in rewrites if f.severity is Severity.WARNING]
    if asked:
        rows = [_row(f) for f in asked]
        blocks += ["Rewritten silently:", markdown_table(_COLUMNS, rows).rstrip("\n")]
    return "\n\n".join(blocks) + "\n"


_COLUMNS = ("flag", "given", "becomes", "why", "code")


def _row(finding: Finding) -> tuple[str, ...]:
    flag = finding.flags[0] if finding.flags else finding.dest or ""
    before, after = short_value(finding.before), short_value(finding.after)
    return (f"`{flag}`", f"`{before}`", f"`{after}`", finding.message, finding.code)


def _item(finding: Finding) -> str:
    return "\n".join(_item_lines(finding))


def _item_lines(finding: Finding) -> Iterator[str]:
    flags = ", ".join(f"`{flag}`" for flag in finding.flags)
    yield f"- **{finding.severity} {finding.code}** {finding.slug}: {flags}"
    yield f"  - {finding.message}"
    if finding.remedy:
        yield f"  - Hint: {finding.remedy}"
    if finding.ground:
        ground = finding.ground
        yield f"  - At `{ground.file}` `{ground.symbol}`, stage {finding.stage}"


def _fence(argv: Sequence[str], kind: str = "sh") -> str:
    return "\n".join([f"```{kind}", " \\\n  ".join(command_lines(argv)), "```"])


def repairs_markdown(
    repairs: Sequence[Repair], argv: Sequence[str], program: Sequence[str] = ()
) -> str:
    """The repairs as diffs of the command."""
    from kvsolve.outputs.repair_text import repairs_text

    if not repairs:
        return ""
    return f"```diff\n{_flush_left(repairs_text(repairs, argv, program, width=_WIDE))}```\n"


def _flush_left(text: str) -> str:
    """Signs in the first column, where a diff has them."""
    return "".join(
        line[2:] + "\n" if line.startswith(("  -", "  +")) else line + "\n"
        for line in text.splitlines()
    )
