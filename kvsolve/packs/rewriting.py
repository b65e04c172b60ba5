"""One sentence for a rewrite: what becomes of a flag, and on what launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, is_constant
from kvsolve.packs.phrase_book import UnphrasedError, listed, shown_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kvsolve.packs.phrase_book import Phrase
    from kvsolve.packs.phrases import Phraser

__all__ = ["Rewrite"]

_BY = {"mul": "multiplies {} by {}", "truediv": "divides {} by {}", "floordiv": "divides {} by {}",
       "add": "raises {} by {}", "sub": "lowers {} by {}"}  # fmt: skip
_CASES = {"lower": "lower", "upper": "upper"}


class Rewrite:
    """What a rewrite does to a flag.

    Attributes:
        others: Phrases of its condition that the sentence still has to tell.
    """

    def __init__(
        self, phraser: Phraser, flag: str, value: Operand, phrases: Sequence[Phrase]
    ) -> None:
        self.phraser, self.flag, self.value = phraser, flag, value
        own = [p for p in phrases if p.text == flag or p.text.startswith(f"{flag} ")]
        self.unset = any(p.role == "without" for p in own)
        told = [p.text.removeprefix(flag).strip() for p in own if p.role == "flag"]
        exact = [value for value in told if value and " " not in value]
        self.before = exact[0] if exact and not self.unset else None
        self.others = [p for p in phrases if p not in own or not self._tells(p)]

    def _tells(self, phrase: Phrase) -> bool:
        """Whether the verb says what a phrase about the flag itself says."""
        if phrase.role == "without" or self.unset:
            return True
        return phrase.text == self.flag or phrase.text == f"{self.flag} {self.before}"

    def does(self, reads: Sequence[str]) -> str:
        """Verb, flag and value.

        Args:
            reads: Flags that the value is worked out from, told where it has no short wording.
        """
        flag, value = self.flag, self.value
        if isinstance(value, bool):
            return f"turns {flag} {'on' if value else 'off'}"
        if value is None:
            return f"unsets {flag}"
        if (of_itself := self._of_itself()) is not None:
            return of_itself
        new = self._values()
        if new is None:
            others = [name for name in reads if name != flag]
            return f"works {flag} out" + (f" from {listed(others, 'and')}" if others else "")
        if self.unset:
            return f"sets {flag}, left unset, to {new}"
        return f"changes {flag} from {self.before} to {new}" if self.before else (
            f"sets {flag} to {new}"
        )  # fmt: skip

    def _of_itself(self) -> str | None:
        """The words for a value made of the one before."""
        value = self.value
        if not isinstance(value, Expr):
            return None
        first = value.args[0] if value.args else None
        if value.op in _BY and self.phraser.flag(first) == self.flag and is_constant(value.args[1]):
            return _BY[value.op].format(self.flag, shown_value(value.args[1]))
        if self.phraser.flag(value) != self.flag:
            return None
        if value.op == "method" and value.args[1] in _CASES:
            return f"reads {self.flag} in {_CASES[value.args[1]]} case"
        return f"takes {self.flag} over as resolved so far"

    def _values(self) -> str | None:
        """The new value, None where it has no short wording."""
        outcomes = list(dict.fromkeys(_outcomes(self.value)))
        if len(outcomes) > 1 and all(is_constant(o) for o in outcomes):
            return listed([shown_value(o) for o in outcomes])
        try:
            text = self.phraser.value(self.value)
        except UnphrasedError:
            return None
        one_flag = text.startswith("--") and " " not in text
        return f"the value of {text}" if one_flag else text


def _outcomes(value: Operand) -> list[Operand]:
    """The values that a conditional can give."""
    if isinstance(value, Expr) and value.op == "if":
        return [*_outcomes(value.args[1]), *_outcomes(value.args[2])]
    return [value]
