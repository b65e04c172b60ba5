"""Answers for commands that differ only in what their release never looks at.

The commands of a tree are often the same but for a port, an address or a served name, which no
check depends on. Whatever can change an answer is in the key; a command with a value of which that
is not plain has none, and is judged by itself.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import compress
from operator import is_not
from typing import TYPE_CHECKING, Any

from kvsolve.packs.compile import Unknowable

if TYPE_CHECKING:
    from kvsolve.model.finding import CheckResult
    from kvsolve.packs.pack import Pack
    from kvsolve.session import Question

__all__ = ["Alike"]

_KEPT = 512
"""Answers kept; one takes some fifty kilobytes."""
_PLAIN = (str, int, float, bool, type(None))


class Alike:
    """The answers of a run, for the commands that come after.

    It is for one run: the files that a command names are looked at once.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[Any, CheckResult] = OrderedDict()
        self._blind: dict[str, frozenset[str]] = {}

    def key(self, question: Question) -> Any:
        """What the answer depends on; None where that cannot be told."""
        blind = self._blind.get(question.pack.release)
        if blind is None:
            blind = self._blind[question.pack.release] = _blind(question.pack)
        values, initial = question.config.values, question.pack.flags.initial
        if list(values) != list(initial):
            return None
        try:
            differ = compress(values, map(is_not, values.values(), initial.values()))
            told = tuple((name, _plain(values[name])) for name in differ if name not in blind)
            given = tuple(question.config.given.items())
            key = (question.spread.key, question.sglang_from, told, given, question.problems)
            hash(key)
        except TypeError:
            return None
        return key

    def find(self, key: Any) -> CheckResult | None:
        """The answer that was kept for a key."""
        found = self._answers.get(key)
        if found is not None:
            self._answers.move_to_end(key)
        return found

    def keep(self, key: Any, answer: CheckResult) -> None:
        """Keep an answer; the one that was not asked for the longest goes."""
        if key is not None:
            self._answers[key] = answer
            if len(self._answers) > _KEPT:
                self._answers.popitem(last=False)


def _blind(pack: Pack) -> frozenset[str]:
    """The flags whose values no answer depends on."""
    told: frozenset[str] = pack.catalog.reported()
    return frozenset(pack.flags.fields) - pack.modelled - pack.unread - told


def _plain(value: Any) -> Any:
    """A value as part of a key, ``True`` and ``1`` apart.

    Raises:
        TypeError: It is something that only its own identity tells from another.
    """
    if isinstance(value, _PLAIN):
        return type(value), value
    if isinstance(value, (list, tuple)):
        return type(value), tuple(map(_plain, value))
    if isinstance(value, dict):
        return dict, tuple((_plain(name), _plain(item)) for name, item in value.items())
    if type(value) is Unknowable:
        return Unknowable, value.label
    raise TypeError(type(value))
