"""What SGLang's own parser would refuse about a command, as values."""

from __future__ import annotations

from kvsolve.model.noun import dataclass

__all__ = ["ParseProblem"]

# Upstream notices in this order: its config file, ambiguous abbreviations while it sorts the
# tokens, then each option in turn, then what is required, unknown options, and the logging level.
_RANK = {
    "config-file": -1,
    "ambiguous": 0,
    "missing-flag": 2,
    "unknown": 3,
    "stray": 3,
    "bad-level": 4,
    "bad-overrides": 5,
}


@dataclass(frozen=True, slots=True)
class ParseProblem:
    """One thing for which the release's parser would stop.

    Attributes:
        kind: ``unknown`` (no such option), ``ambiguous`` (an abbreviation of several), ``stray`` (a
            value that belongs to no option), ``missing-value``, ``unwanted-value`` (a switch with
            ``=VALUE``), ``bad-value`` (not of the option's type), ``bad-choice``, ``retired``
            (stops with a pointer), ``missing-flag`` (required and not given), ``help`` (prints
            help and starts nothing), ``config-file`` (what ``--config`` names is not to upstream's
            liking), ``bad-level`` (no logging level) or ``bad-overrides`` (no JSON object).
        spelling: The option as typed; for ``stray`` the token, for ``missing-flag`` the option.
        index: Position of the token, -1 when there is none.
        detail: What is wrong, in a few words; may be empty.
        suggestions: Spellings or values to use instead, the likeliest first.
        name: Canonical spelling of the option concerned, "" when unknown.
        values: The values concerned.
        crash: Upstream stops with a traceback instead of a message.
    """

    kind: str
    spelling: str
    index: int
    detail: str = ""
    suggestions: tuple[str, ...] = ()
    name: str = ""
    values: tuple[str, ...] = ()
    crash: bool = False

    @property
    def order(self) -> tuple[int, int]:
        """Sorts problems in the order in which upstream would notice them."""
        return _RANK.get(self.kind, 1), self.index
