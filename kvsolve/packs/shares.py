"""What a model shares out over ranks, in words.

Most of what the constructors of model classes refuse is one question put in hundreds of places:
whether a number of the model goes evenly into the ranks of some group. Worded from its conditions
alone it would be a list of what the configuration holds; here it is told as what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kvsolve.model.expression import Expr, walk
from kvsolve.model.noun import dataclass
from kvsolve.packs.phrase_book import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kvsolve.model.expression import Operand
    from kvsolve.model.program import Refuse
    from kvsolve.packs.phrase_book import PhraseBook

__all__ = ["Share", "Shares"]


@dataclass(frozen=True, slots=True)
class Share:
    """How a refusal over shares is told.

    Attributes:
        slug: A short name, without the digits of a code.
        reason: What upstream asks.
        remedy: The way out.
        flags: Dests of the flags that make the width.
    """

    slug: str
    reason: str
    remedy: str
    flags: tuple[str, ...]


class _Width(NamedTuple):
    """A number of ranks.

    Attributes:
        dests: The flags that make it.
        spelled: The same as typed.
    """

    dests: tuple[str, ...]
    spelled: tuple[str, ...]

    @property
    def text(self) -> str:
        return " / ".join(self.spelled)

    @property
    def choose(self) -> str:
        """The start of a way out, as far as "so that it ..."."""
        return f"Choose {listed(list(self.spelled), 'and')} so that {self.that}"

    @property
    def that(self) -> str:
        return "it" if len(self.spelled) == 1 else self.text


class Shares:
    """Words refusals over shares.

    Args:
        results: (name, version) -> definition of each named result of the program.
        spelling: Flag by dest -> its ``--kebab`` spelling, None for what is no flag.
        book: Says which flags are widths, and what the numbers of a model count.
    """

    def __init__(
        self,
        results: Mapping[tuple[str, int], Operand],
        spelling: Callable[[str], str | None],
        book: PhraseBook,
    ) -> None:
        self._results, self._spelling, self._book = results, spelling, book

    def of(self, step: Refuse) -> Share | None:
        """How a refusal is told; None where it is none of these, or rests on other flags too."""
        if not isinstance(step.when, Expr) or step.when.op != "and" or self._asks_more(step.when):
            return None
        last = step.when.args[-1]
        if not isinstance(last, Expr):
            return None
        parts = last.args
        if last.op == "gt":
            ranks, number = parts
            return self._share(_EACH, number, ranks)
        if last.op == "ne" and parts[1] == 0 and isinstance(parts[0], Expr):
            last, parts = parts[0], parts[0].args
        if last.op != "mod":
            return None
        first, second = parts
        are_fewer = any(_says_fewer(part, second) for part in step.when.args)
        copied = self._share(_COPIED, second, first) if are_fewer else None
        return self._share(_SHARED, first, second) or copied

    def _asks_more(self, when: Expr) -> bool:
        """Whether something else than the model and widths takes part."""
        return any(
            t.op == "ref"
            and t.args[0] not in self._book.widths
            and not (t.args in self._results and t.args[0].startswith(_MODEL))
            for t in walk(when)
        )

    def _share(self, form: str, number: Operand, ranks: Operand) -> Share | None:
        noun, width = self._noun(number), self._width(ranks)
        if noun is None or width is None:
            return None
        reason, way_out = _FORMS[form]
        counted = f"the number of the model's {noun}"
        return Share(
            f"{_dashed(noun)}-{form}",
            reason.format(noun=noun, ranks=f"{width.text} ranks"),
            f"{width.choose} {way_out.format(number=counted)}.",
            width.dests,
        )

    def _width(self, operand: Operand) -> _Width | None:
        """The flags whose quotient an operand is; no width may be below one."""
        dests: list[str] = []
        operand = _at_least_one(operand)
        while isinstance(operand, Expr) and operand.op == "floordiv":
            operand, divisor = operand.args
            divisor = _at_least_one(divisor)
            if not isinstance(divisor, Expr) or divisor.op != "ref":
                return None
            dests.insert(0, divisor.args[0])
        if not isinstance(operand, Expr) or operand.op != "ref":
            return None
        dests.insert(0, operand.args[0])
        spelled = tuple(s for dest in dests if (s := self._spelling(dest)))
        return _Width(tuple(dests), spelled) if len(spelled) == len(dests) else None

    def _noun(self, operand: Operand) -> str | None:
        """What a number of the model counts, whichever part of its configuration holds it."""
        if not isinstance(operand, Expr):
            return None
        if operand.op == "if":
            then, other = map(self._noun, operand.args[1:])
            return then if then == other else None
        if operand.op in ("attr", "getattr"):
            return self._book.counts.get(operand.args[1])
        return self._noun(operand.args[0]) if operand.op == "item" else None


_SHARED, _COPIED, _EACH = "shared-evenly", "copied-evenly", "for-every-rank"
_FORMS = {
    _SHARED: (
        "The model's {noun} are shared out evenly over {ranks}, and their number is not a multiple"
        " of that.",
        "divides {number}",
    ),
    _COPIED: (
        "The model has fewer {noun} than {ranks}, so each is copied to several; the number of ranks"
        " is not a multiple of theirs.",
        "is a multiple of {number}, or divides it",
    ),
    _EACH: ("The model has fewer {noun} than {ranks} to hold them.", "is not above {number}"),
}
"""Reason, and how a way out goes on after "choose ... so that it", by what is asked."""
_MODEL = "built_model"
"""The named result that says which class is built."""


def _at_least_one(operand: Operand) -> Operand:
    if isinstance(operand, Expr) and operand.op == "call" and operand.args[:2] == ("max", 1):
        (inner,) = operand.args[2:]
        return _at_least_one(inner)
    return operand


def _says_fewer(part: Operand, number: Operand) -> bool:
    """Whether a condition says that a number is below something."""
    if not isinstance(part, Expr):
        return False
    inner = part.args[0] if part.op == "not" else part
    below = "ge" if part.op == "not" else "lt"
    return isinstance(inner, Expr) and inner.op == below and inner.args[0] is number


def _dashed(text: str) -> str:
    return text.lower().replace(" ", "-")
