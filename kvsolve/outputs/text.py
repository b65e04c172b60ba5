"""A check's answer for a person."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from kvsolve.model.finding import CheckResult, Finding, Kind, Severity, Verdict
from kvsolve.outputs.paint import PLAIN, Paint
from kvsolve.outputs.words import count_of, short_value, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kvsolve.model.finding import ProfileVerdict

__all__ = ["check_text", "finding_text", "headline"]


def check_text(
    result: CheckResult, paint: Paint = PLAIN, width: int = 100, notes: bool = False
) -> str:
    """The whole answer: what would stop a start, then what is rewritten, then one line of verdict.

    Args:
        result: The answer, secrets already hidden.
        paint: Styles.
        width: Columns.
        notes: Show each default that upstream fills in by itself, not only how many.
    """
    findings = [finding for finding in result.findings if not finding.suppressed]
    blocks = [finding_text(finding, paint, width) for finding in _told(findings, notes)]
    blocks += _unjudged(findings, paint, notes)
    blocks += _rewrites(findings, paint, width, notes)
    blocks += _suppressed(result, paint)
    blocks += _open_questions(result, paint, width)
    blocks += _reading(result, paint)
    return "\n\n".join([*blocks, headline(result, paint, width)]) + "\n"


def _told(findings: Iterable[Finding], notes: bool) -> Iterator[Finding]:
    """The findings to tell in full; one that stands in the program several times is told once."""
    seen = set()
    for finding in findings:
        alike = (finding.code, finding.message, finding.flags, finding.not_reached)
        if finding.kind is Kind.REWRITE or alike in seen or (finding.not_reached and not notes):
            continue
        seen.add(alike)
        yield finding


def _unjudged(findings: Iterable[Finding], paint: Paint, notes: bool) -> Iterator[str]:
    """How many entries a crash keeps from being judged."""
    number = len({f.step for f in findings if f.not_reached})
    if number and not notes:
        text = f": {count_of(number, 'later step')} not judged after the break above"
        yield paint("note", "note") + text + paint("dim", " (--notes shows them)")


def _suppressed(result: CheckResult, paint: Paint) -> Iterator[str]:
    """How many findings somebody suppressed."""
    number = sum(1 for finding in result.findings if finding.suppressed)
    if number:
        yield paint("note", "note") + f": {count_of(number, 'finding')} suppressed"


def finding_text(finding: Finding, paint: Paint = PLAIN, width: int = 100) -> str:
    """One finding: what is wrong, the way out, and where upstream says so."""
    lines = [_head(finding, paint), wrap(finding.message, width, "  ")]
    if finding.remedy:
        lines.append(wrap(finding.remedy, width, "        ", "  " + "hint: "))
        lines[-1] = lines[-1].replace("hint:", paint("cyan", "hint:"), 1)
    ground = _ground(finding)
    if ground:
        lines.append(paint("dim", f"  {ground}"))
    return "\n".join(lines)


def _head(finding: Finding, paint: Paint) -> str:
    severity = str(finding.severity)
    head = paint(severity, f"{severity}[{finding.code}]") + " " + paint("bold", finding.slug)
    if finding.flags:
        head += "  " + ", ".join(finding.flags)
    if finding.location:
        head += paint("dim", f"  {finding.location.file}:{finding.location.line}")
    remark = _remark(finding)
    return head + (paint("dim", f"  ({remark})") if remark else "")


def _remark(finding: Finding) -> str:
    if finding.not_reached:
        return "not judged: it reads what the break above leaves undefined"
    if finding.is_error and not finding.after_first:
        return "SGLang stops here"
    return ""


def _ground(finding: Finding) -> str:
    if finding.ground is None:
        return ""
    ground = finding.ground
    where = f"{ground.file}:{ground.line}" if ground.line else ground.file
    raised = f" {finding.raises}" if finding.raises else ""
    crash = ", not raised on purpose" if finding.crash else ""
    text = f"{where} {ground.symbol}: {finding.stage}{raised}{crash}"
    # Only those say what they rest on that were not held to the real validator.
    return text + (" (source only)" if ground.checked == "source" else "")


def _rewrites(findings: Iterable[Finding], paint: Paint, width: int, notes: bool) -> Iterator[str]:
    rewrites = [f for f in findings if f.kind is Kind.REWRITE]
    asked = [f for f in rewrites if f.severity is Severity.WARNING]
    if asked:
        title = (
            paint("warning", "warning") + f": {count_of(len(asked), 'value')} rewritten silently"
        )
        yield "\n".join([title, *_grouped(asked, paint, width)])
    quiet = [f for f in rewrites if f.severity is not Severity.WARNING]
    if not quiet:
        return
    title = paint("note", "note") + f": {count_of(len(quiet), 'default')} replaced"
    if notes:
        yield "\n".join([title, *_grouped(quiet, paint, width)])
    else:
        yield title + paint("dim", " (--notes shows them, --effective what will really run)")


def _grouped(findings: Sequence[Finding], paint: Paint, width: int) -> Iterator[str]:
    """Rewrites by their common reason, which is told once."""
    for message, group in groupby(findings, key=lambda f: f.message):
        members = list(group)
        for finding in members:
            yield _change(finding, paint)
        yield wrap(message, width, "    ")
        grounds = dict.fromkeys(_place(finding) for finding in members)
        yield from (paint("dim", f"    {ground}") for ground in grounds if ground)


def _change(finding: Finding, paint: Paint) -> str:
    flag = finding.flags[0] if finding.flags else finding.dest or ""
    before, after = short_value(finding.before), short_value(finding.after)
    change = f"{paint('red', before)} -> {paint('green', after)}"
    return f"  {paint('bold', flag)} {change}  {paint('dim', f'[{finding.code}]')}"


def _place(finding: Finding) -> str:
    return f"{finding.ground.file} {finding.ground.symbol}" if finding.ground else ""


def _reading(result: CheckResult, paint: Paint) -> Iterator[str]:
    """What the answer rests on, where nobody held the release's pack to the release."""
    if result.pack_status != "compared":
        text = f": SGLang {result.sglang} was read, not compared with its real validator"
        yield paint("note", "note") + text


def _open_questions(result: CheckResult, paint: Paint, width: int) -> Iterator[str]:
    if result.taken_for_granted:
        text = f"taken for granted: {'; '.join(result.taken_for_granted)}"
        yield wrap(text, width, "  ", paint("note", "note") + ": ")
    if result.not_modelled:
        names = ", ".join(result.not_modelled)
        text = f"not modelled, so not judged: {names}"
        yield wrap(text, width, "  ", paint("warning", "unknown") + ": ")
    if result.unknown:
        names = ", ".join(result.unknown)
        yield wrap(f"facts not known: {names}", width, "  ", paint("warning", "unknown") + ": ")
    if result.profiles:
        yield "\n".join(_profiles(result.profiles, paint, width))


def _profiles(profiles: Sequence[ProfileVerdict], paint: Paint, width: int) -> Iterator[str]:
    """The consistent profiles, alike answers together."""
    groups: dict[tuple[str, tuple[str, ...]], list[ProfileVerdict]] = {}
    for profile in profiles:
        groups.setdefault((str(profile.verdict), profile.codes), []).append(profile)
    if len(groups) > 1:
        yield "It depends on what the command does not say:"
    else:
        yield "The same under every profile that fits:"
    for (verdict, codes), members in groups.items():
        why = f" [{', '.join(codes)}]" if codes else ""
        style = "green" if verdict == "valid" else "red"
        yield wrap(_who(members), width, "    ", f"  {paint(style, verdict)}{why}: ")


def _who(members: Sequence[ProfileVerdict]) -> str:
    """GPU and model names, the models of each set of GPUs told once."""
    by_gpu: dict[str, list[str]] = {}
    for member in members:
        by_gpu.setdefault(member.gpu, []).append(member.model)
    by_models: dict[tuple[str, ...], list[str]] = {}
    for gpu, models in by_gpu.items():
        by_models.setdefault(tuple(dict.fromkeys(models)), []).append(gpu)
    parts = [f"{', '.join(gpus)} with {_few(models)}" for models, gpus in by_models.items()]
    return "; ".join(parts)


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"


def headline(result: CheckResult, paint: Paint = PLAIN, width: int = 100) -> str:
    """One sentence of verdict; never says that a configuration works."""
    errors = f" ({count_of(len(result.errors), 'refusal')})" if result.errors else ""
    errors = errors or " under any profile that fits"
    sglang = f"SGLang {result.sglang}"
    if result.verdict is Verdict.INVALID:
        first, text = paint("error", "invalid"), f"{sglang} would not start{errors}."
    elif result.verdict is Verdict.UNKNOWN:
        first, text = paint("warning", "unknown"), f"{sglang}: {_why_unknown(result)}."
    else:
        first = paint("green", "valid")
        text = f"nothing known makes {sglang} refuse this (judged up to stage {result.judged_to})."
    return wrap(text, width, "  ", f"{first}: ")


def _why_unknown(result: CheckResult) -> str:
    if result.profiles:
        missing = [name for name in ("gpu", "model") if result.facts.get(name) is None]
        options = {"gpu": "--gpu", "model": "--model-config or --family"}
        return "say more with " + " and ".join(options[name] for name in missing)
    if result.not_modelled:
        return "a flag that matters is not modelled"
    return "a fact that matters is not known"
