"""Findings for what SGLang's own parser would refuse about a command."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kvsolve.model.finding import Finding, Kind, Severity
from kvsolve.packs.parse_codes import PARSE_CODES
from kvsolve.packs.release_order import release_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvsolve.inputs.history import History, Rename
    from kvsolve.inputs.problems import ParseProblem
    from kvsolve.packs.pack import Pack

__all__ = ["ignored_config_file", "parse_findings", "successor"]

_MOST = 8
_PARSER_ENDS = "SystemExit"


def parse_findings(problems: Iterable[ParseProblem], pack: Pack) -> tuple[Finding, ...]:
    """The problems as findings, in the order in which upstream would notice them."""
    ordered = sorted(problems, key=lambda problem: problem.order)
    return tuple(_finding(p, pack, after=n > 0) for n, p in enumerate(ordered))


def successor(problem: ParseProblem, pack: Pack) -> tuple[str, ...]:
    """What to type for something refused, option and values, where that is beyond doubt.

    Args:
        problem: What the parser refuses.
        pack: The release's knowledge.

    Returns:
        Empty where nothing takes its place or where what is meant can only be guessed.
    """
    match problem.kind:
        case "unknown":
            found = _history(problem.spelling, pack.release)
            if found.instead is not None:
                return found.instead.tokens(problem.values)
            near = "" if found.releases else _clearly(problem.spelling, problem.suggestions)
            return (near, *problem.values) if near else ()
        case "ambiguous":
            instead = _history(problem.spelling, pack.release).instead
            return instead.tokens(problem.values) if instead is not None else ()
        case "retired":
            return (*problem.suggestions[:1], *problem.values) if problem.suggestions else ()
        case "bad-choice":
            near = _clearly(problem.values[0], problem.suggestions)
            return (problem.name, near) if near else ()
    return ()


def _clearly(word: str, known: tuple[str, ...]) -> str:
    """The one known word that this is a misspelling of, "" where there is none or a rival."""
    from kvsolve.inputs.spelling import misspelt

    return misspelt(word, known)


def ignored_config_file(spelling: str) -> Finding:
    """The warning that a file named as ``--config=FILE`` is not read.

    Args:
        spelling: The flag as typed.
    """
    known = PARSE_CODES["config-ignored"]
    return Finding(
        code=known.code,
        slug=known.slug,
        kind=Kind.REPORT,
        severity=Severity.WARNING,
        stage="parse",
        flags=(spelling,),
        message=known.reason,
        remedy=known.remedy,
    )


def _finding(problem: ParseProblem, pack: Pack, after: bool) -> Finding:
    known = PARSE_CODES[problem.kind]
    message, remedy = _words(problem, pack)
    flag = problem.name if problem.kind == "stray" else problem.spelling
    return Finding(
        code=known.code,
        slug=known.slug,
        kind=Kind.PARSE,
        severity=Severity.ERROR,
        stage="parse",
        flags=(flag,) if flag else (),
        message=message,
        raises=known.raises if known.raises != _PARSER_ENDS or not problem.crash else None,
        remedy=remedy or known.remedy,
        crash=problem.crash,
        after_first=after,
    )


def _words(problem: ParseProblem, pack: Pack) -> tuple[str, str]:
    """The message and the remedy; an empty remedy stands for the general one."""
    typed, release = problem.spelling, f"SGLang {pack.release}"
    value = problem.values[0] if problem.values else ""
    detail = f": {problem.detail}" if problem.detail else ""
    match problem.kind:
        case "unknown":
            return _unknown(problem, pack)
        case "ambiguous":
            rivals = _listed(problem.suggestions, "and")
            instead = " ".join(successor(problem, pack))
            advice = f"Use {instead}." if instead else "Spell the flag out."
            return f"{typed} is the start of {rivals}.", advice
        case "stray":
            where = f" after {problem.name}" if problem.name else ""
            return f"The value {typed}{where} belongs to no flag.", ""
        case "missing-value":
            return f"{typed} takes a value, and none follows it.", f"Give {typed} its value."
        case "unwanted-value":
            switch = typed.partition("=")[0]
            return f"{switch} is a switch and takes no value.", f"Write {switch} alone."
        case "bad-value":
            return f"{typed} cannot be read from {value!r}{detail}.", ""
        case "bad-choice":
            allowed = _listed(problem.suggestions, "or")
            told = f"{release} knows no {value!r} for {typed}{detail}."
            return told, f"Set {typed} to {allowed}." if allowed else ""
        case "retired":
            instead = f"Use {problem.suggestions[0]}." if problem.suggestions else f"Drop {typed}."
            return f"{release} has retired {typed}{detail}.", instead
        case "missing-flag":
            return f"{typed} is required and not given{detail}.", f"Add {typed}."
        case "config-file":
            return f"SGLang cannot take up the file of --config{detail}.", ""
        case "bad-level":
            allowed = _listed(problem.suggestions, "or")
            return f"{typed} {value} is no log level.", f"Set {typed} to {allowed}."
        case "bad-overrides":
            return f"{typed} holds no JSON object{detail}.", ""
    return PARSE_CODES[problem.kind].reason, ""


def _unknown(problem: ParseProblem, pack: Pack) -> tuple[str, str]:
    found = _history(problem.spelling, pack.release)
    message = f"SGLang {pack.release} has no flag {problem.spelling}{_when(found, pack.release)}."
    if found.instead is not None:
        tokens = found.instead.tokens(problem.values)
        note = f" {found.instead.note}" if found.instead.note else ""
        return message, f"Use {' '.join(tokens)}.{note}" if tokens else f"Drop it.{note}"
    if found.releases:
        return message, f"Drop {problem.spelling}, or use a release that has it."
    near = _listed(problem.suggestions, "or")
    return message, f"Did you mean {near}?" if near else ""


def _when(found: History, release: str) -> str:
    """Where among the known releases the flag is."""
    if not found.releases:
        return ""
    order = release_order(release)
    if found.since and order < release_order(found.since):
        return f"; it came with {found.since}"
    if found.gone and order >= release_order(found.gone):
        return f"; it is gone since {found.gone}"
    return f"; {_listed(found.releases, 'and')} had it"


def _history(spelling: str, release: str) -> History:
    from kvsolve.inputs.history import history

    tables, renames = _known()
    return history(spelling, release, tables, renames)


@lru_cache(maxsize=1)
def _known() -> tuple[tuple[tuple[str, frozenset[str]], ...], Mapping[str, Rename]]:
    """Spellings of every known release, oldest first, and the renames; read only on a mistake."""
    from kvsolve.inputs.history import load_renames
    from kvsolve.model.flag import FlagTable
    from kvsolve.packs.files import constraints_directory

    root = constraints_directory() / "sglang"
    paths = sorted((root / "flags").glob("*.json"), key=lambda path: release_order(path.stem))
    tables = tuple((p.stem, frozenset(FlagTable.load(p).spellings)) for p in paths)
    return tables, load_renames((root / "renames.toml").read_text(encoding="utf-8"))


def _listed(items: Iterable[str], word: str) -> str:
    shown = list(items)
    if len(shown) > _MOST:
        shown = [*shown[: _MOST - 1], f"{len(shown) - _MOST + 1} others"]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {word} {shown[-1]}"
