"""Conditions of the entry language in plain words, one condition at a time.

A phrase has a role, so that a sentence can be put together from several: ``flag`` ("--page-size
64"), ``without`` ("--page-size"), ``where`` ("on NVIDIA GPUs") or ``clause`` ("--tp-size is not
divisible by --dp-size"). What has no short wording raises :class:`UnphrasedError`; the sentence
then names what it is about instead of showing code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, is_constant, same
from kvsolve.packs.logic_words import as_logic, members
from kvsolve.packs.phrase_book import Phrase, PhraseBook, UnphrasedError, listed, shown_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["Phraser"]

_NUMBER = re.compile(r"_\d+$")
_ORDER = {"lt": "below", "le": "at most", "gt": "above", "ge": "at least"}
_COUNTER = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
_COUNTER |= {"in": "not_in", "not_in": "in", "is": "is_not", "is_not": "is"}
_MIRROR = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "floordiv": "/", "truediv": "/", "mod": "modulo"}
_TRANSPARENT = frozenset({"lower", "upper", "strip", "lstrip", "rstrip"})
_CASTS = frozenset({"int", "str", "bool", "float", "list", "tuple", "set", "frozenset", "sorted"})
_SMALL = 5
_MOST_LISTED = 4


class Phraser:
    """Words conditions of one program.

    Args:
        results: (name, version) -> definition of each named result.
        spelling: Flag by dest -> its ``--kebab`` spelling, None for what is no flag.
        book: Wordings of the pack.
    """

    def __init__(
        self,
        results: Mapping[tuple[str, int], Operand],
        spelling: Callable[[str], str | None],
        book: PhraseBook,
    ) -> None:
        self.results = results
        self.spelling = spelling
        self.book = book

    def flag(self, operand: Operand) -> str | None:
        """Spelling of the flag that an operand reads, through casts and ``lower()``."""
        if not isinstance(operand, Expr):
            return None
        if operand.op == "ref":
            name = operand.args[0].removeprefix("raw.").removeprefix("given.")
            return None if operand.args in self.results else self.spelling(name)
        if operand.op == "method" and operand.args[1] in _TRANSPARENT:
            return self.flag(operand.args[0])
        if operand.op == "call" and operand.args[0] in _CASTS and len(operand.args) == 2:
            return self.flag(operand.args[1])
        return None

    def condition(self, operand: Operand, holds: bool = True, depth: int = 0) -> Phrase:
        """The phrase of a condition that holds, or fails.

        Raises:
            UnphrasedError: It has no short wording.
        """
        if not isinstance(operand, Expr) or depth > _SMALL:
            raise UnphrasedError
        operand = as_logic(operand)
        if operand.op == "not":
            return self.condition(operand.args[0], not holds, depth)
        if operand.op == "call" and operand.args[0] == "bool" and isinstance(operand.args[1], Expr):
            return self.condition(operand.args[1], holds, depth)
        if operand.op in ("and", "or"):
            return self._combined(operand, holds, depth)
        if operand.op in _COUNTER:
            op = operand.op if holds else _COUNTER[operand.op]
            return self._comparison(op, operand.args[0], operand.args[1])
        if operand.op in ("env", "env_is_set"):
            name = f"the environment variable {operand.args[0]}"
            return Phrase("clause", f"{name} is {'' if holds else 'not '}set")
        flag = self.flag(operand)
        if flag is not None:
            given = operand.op == "ref" and operand.args[0].startswith("given.")
            return Phrase(
                "flag" if holds else "without", f"{flag} given" if given and holds else flag
            )
        return self._named(operand, holds, depth)

    def _named(self, operand: Expr, holds: bool, depth: int) -> Phrase:
        """A fact, a named result or a test by its wording in the book, else by what it says."""
        if operand.op in ("fact", "ref", "helper"):
            name = operand.args[0]
            if (pair := self.book.held(name)) is not None:
                return Phrase("where", pair[0 if holds else 1])
            definition = self.results.get(operand.args[:2]) if operand.op == "ref" else None
            if isinstance(definition, Expr) and _atoms(definition) <= _SMALL:
                return self.condition(definition, holds, depth + 1)
        if operand.op == "method":
            return self._text_test(operand, holds)
        if operand.op == "any":
            raise UnphrasedError
        if (told := self._plain_test(operand, holds)) is not None:
            return told
        return Phrase("clause", f"{self.value(operand)} is {'' if holds else 'not '}set")

    def _plain_test(self, operand: Expr, holds: bool) -> Phrase | None:
        """An installed package, or a test that is called after what it finds out."""
        name = str(operand.args[0]).rpartition(":")[2]
        root, _, package = name.partition(".")
        if operand.op == "fact" and root == "packages":
            return Phrase("where", f"{'with' if holds else 'without'} {package} installed")
        words = _words(_NUMBER.sub("", name))
        if operand.op != "helper" or not words.startswith(("is ", "has ", "supports ")):
            return None
        verb, _, rest = words.partition(" ")
        subject = self.value(operand.args[1]) if len(operand.args) > 1 else "the launch"
        rest = rest.replace("uri", "URI").replace("url", "URL")
        if verb == "is" and rest.rpartition(" ")[2] in ("URI", "URL", "path", "model"):
            rest = f"{'an' if rest[0] in 'aeiou' else 'a'} {rest}"
        refused = {"is": "is not", "has": "has no", "supports": "does not support"}[verb]
        return Phrase("clause", f"{subject} {verb if holds else refused} {rest}")

    def _text_test(self, operand: Expr, holds: bool) -> Phrase:
        """``startswith`` and ``endswith``."""
        verb = {"startswith": "starting", "endswith": "ending"}.get(operand.args[1])
        if verb is None or not is_constant(operand.args[2]):
            raise UnphrasedError
        what = operand.args[2]
        ends = listed([shown_value(v) for v in (what if isinstance(what, tuple) else (what,))])
        negation = "" if holds else "not "
        flag = self.flag(operand.args[0])
        if flag is not None:
            return Phrase("flag", f"{flag} {negation}{verb} with {ends}")
        plain = "starts" if verb == "starting" else "ends"
        text = f"{self.value(operand.args[0])} {plain} with {ends}"
        return Phrase("clause", text if holds else f"not {text}")

    def _combined(self, operand: Expr, holds: bool, depth: int) -> Phrase:
        """A conjunction or disjunction of few conditions."""
        both = (operand.op == "and") is holds
        parts = [self.condition(a, holds, depth + 1) for a in operand.args]
        if len(parts) > _MOST_LISTED:
            raise UnphrasedError
        return _joined(parts, both)

    def _comparison(self, op: str, a: Operand, b: Operand) -> Phrase:
        """A comparison, worded around the flag or fact on its left."""
        if not isinstance(a, Expr) and isinstance(b, Expr) and op not in ("in", "not_in"):
            a, b, op = b, a, _MIRROR.get(op, op)
        if not isinstance(a, Expr):
            return self._membership(op, a, b)
        if is_constant(b):
            divided = self._divisibility(op, a, b)
            return divided or self._against_constant(op, a, b)
        if op in ("in", "not_in"):
            return self._membership(op, a, b)
        words = {
            "eq": "equal to",
            "ne": "different from",
            "is": "equal to",
            "is_not": "different from",
        }
        relation = words.get(op) or _ORDER[op]
        return Phrase("clause", f"{self.value(a)} is {relation} {self.value(b)}")

    def _membership(self, op: str, a: Operand, b: Operand) -> Phrase:
        if op not in ("in", "not_in"):
            raise UnphrasedError
        item = shown_value(a) if is_constant(a) else self.value(a)
        verb = "holds" if op == "in" else "does not hold"
        return Phrase("clause", f"{self.value(b)} {verb} {item}")

    def _divisibility(self, op: str, a: Expr, b: Operand) -> Phrase | None:
        """``x % y != 0`` in words."""
        if a.op != "mod" or b != 0 or op not in ("eq", "ne", "gt"):
            return None
        left, right = a.args
        if op == "eq":
            return Phrase("clause", f"{self.value(left)} is divisible by {self.value(right)}")
        return Phrase("clause", f"{self.value(left)} is not divisible by {self.value(right)}")

    def _against_constant(self, op: str, a: Expr, b: Operand) -> Phrase:
        flag = self.flag(a)
        if flag is not None:
            return _flag_against(flag, op, b, a.op == "ref" and a.args[0].startswith("given."))
        if b is None or isinstance(b, bool):
            return self._switched(op, a, b)
        if a.op == "if" and not same(a.args[0], a.args[1]):
            raise UnphrasedError  # "x or y is z" would say something else
        name = self.value(a)
        if name.startswith("--") and " " not in name:
            return _flag_against(name, op, b, given=False)
        if op in ("in", "not_in"):
            values = [shown_value(v) for v in members(b)]
            return Phrase("clause", f"{name} is {'not ' if op == 'not_in' else ''}{listed(values)}")
        if op in ("eq", "is"):
            return Phrase("clause", f"{name} is {shown_value(b)}")
        if op in ("ne", "is_not"):
            return Phrase("clause", f"{name} is not {shown_value(b)}")
        return Phrase("clause", f"{name} is {_ORDER[op]} {shown_value(b)}")

    def _switched(self, op: str, a: Expr, b: Operand) -> Phrase:
        """A comparison of something other than a flag with None, True or False."""
        same = op in ("eq", "is")
        if b is None:
            name = self.value(a)
            if name.startswith("--"):
                return _flag_against(name, op, None, given=False)
            return Phrase("clause", f"{name} is {'not ' if same else ''}known")
        return self.condition(a, same is bool(b), 1)

    def value(self, operand: Operand, depth: int = 0) -> str:
        """A noun phrase for a value.

        Raises:
            UnphrasedError: There is none that is short.
        """
        if is_constant(operand):
            return shown_value(operand)
        if not isinstance(operand, Expr) or depth > 3:
            raise UnphrasedError
        flag = self.flag(operand)
        if flag is not None:
            return flag
        args = operand.args
        if operand.op in _ARITHMETIC:
            left, right = self.value(args[0], depth + 1), self.value(args[1], depth + 1)
            return f"{left} {_ARITHMETIC[operand.op]} {right}"
        if operand.op in ("fact", "ref", "helper"):
            return self._named_value(operand)
        if operand.op in ("attr", "getattr"):
            return self._attribute(operand)
        if operand.op == "item" and is_constant(args[1]):
            return self.value(args[0], depth + 1)
        if operand.op == "method" and args[1] in _TRANSPARENT:
            return self.value(args[0], depth + 1)
        if operand.op == "method" and args[1] == "get" and isinstance(args[2], str):
            return f"the key {args[2]} of {self.value(args[0], depth + 1)}"
        if operand.op == "call":
            return self._called(args[0], args[1:], depth)
        if operand.op == "env":
            return f"the environment variable {args[0]}"
        if operand.op == "or":
            return self.value(args[0], depth + 1)
        if operand.op == "if":
            return self._one_of(operand, depth)
        raise UnphrasedError

    def _one_of(self, operand: Expr, depth: int) -> str:
        """The values that a conditional can give, two at most."""
        test, then, other = operand.args
        first, second = self.value(then, depth + 1), self.value(other, depth + 1)
        if same(test, then):
            return f"{first} (where unset, {second})"
        return listed(list(dict.fromkeys([*first.split(" or "), *second.split(" or ")])))

    def _called(self, name: str, arguments: tuple[Operand, ...], depth: int) -> str:
        if name == "len":
            return f"the number of items of {self.value(arguments[0], depth + 1)}"
        if name in ("min", "max") and len(arguments) == 2:
            parts = [self.value(a, depth + 1) for a in arguments]
            return f"the {'smaller' if name == 'min' else 'larger'} of {parts[0]} and {parts[1]}"
        if name in _CASTS and len(arguments) == 1:
            return self.value(arguments[0], depth + 1)
        raise UnphrasedError

    def _named_value(self, operand: Expr) -> str:
        name = operand.args[0]
        if (known := self.book.value(name)) is not None:
            return known
        root, _, rest = name.partition(".")
        if operand.op == "fact" and rest:
            return f"the environment variable {rest}" if root == "env" else _owned(root, rest)
        if operand.op == "fact":
            return "the model's configuration"
        if operand.op == "helper" or self.results.get(operand.args) is None:
            return f"the {_words(_NUMBER.sub('', name.rpartition(':')[2]))}"
        return self._result(operand)

    def _result(self, operand: Expr) -> str:
        """A named result by what it is, where that is short."""
        definition = self.results[operand.args]
        if isinstance(definition, Expr) and definition.op in ("attr", "getattr", "fact", "helper"):
            return self.value(definition, 2)
        if self.flag(definition) is not None:
            return self.value(definition)
        raise UnphrasedError

    def _attribute(self, operand: Expr) -> str:
        """An attribute of the model's configuration."""
        name = operand.args[1]
        return self.book.value(name) or f"the model's {_words(name)}"


def _owned(root: str, rest: str) -> str:
    owner = {"model": "the model's", "gpu": "the GPU's", "host": "the host's"}
    owner |= {"draft": "the draft model's", "packages": "the installed"}
    return f"{owner.get(root, 'the')} {_words(rest)}"


def _words(name: str) -> str:
    return name.replace("_", " ").replace(".", " ").strip()


def _atoms(operand: Expr) -> int:
    if operand.op in ("and", "or", "not"):
        return sum(_atoms(a) for a in operand.args if isinstance(a, Expr))
    return 1


def _flag_against(flag: str, op: str, value: Operand, given: bool) -> Phrase:
    """A flag compared with a constant."""
    same = op in ("eq", "is")
    if value is None:
        return (
            Phrase("without", flag) if same else Phrase("flag", f"{flag} given" if given else flag)
        )
    if isinstance(value, bool) and op in ("eq", "ne", "is", "is_not"):
        return Phrase("flag", flag) if same is value else Phrase("without", flag)
    if op in ("in", "not_in"):
        return _flag_among(flag, op == "in", members(value))
    if same:
        return Phrase("flag", f"{flag} {shown_value(value)}")
    if op in ("ne", "is_not"):
        return Phrase("flag", f"{flag} other than {shown_value(value)}")
    return Phrase("flag", f"{flag} {_ORDER[op]} {shown_value(value)}")


def _flag_among(flag: str, inside: bool, values: list[Any]) -> Phrase:
    named = [shown_value(v) for v in values if v is not None]
    unset = len(named) < len(values)
    if inside:
        return Phrase("flag", f"{flag} {listed([*named, *(['unset'] if unset else [])])}")
    return Phrase("flag", f"{flag} other than {listed(named)}") if named else Phrase("flag", flag)


def _joined(parts: list[Phrase], both: bool) -> Phrase:
    """Several phrases as one; mixed roles become a clause."""
    roles = {p.role for p in parts}
    word = "and" if both else "or"
    if roles == {"where"} or roles == {"clause"}:
        return Phrase(roles.pop(), listed([p.text for p in parts], word))
    if roles == {"without"}:
        return Phrase("without", listed([p.text for p in parts], "or" if both else "and"))
    if roles == {"flag"}:
        return Phrase("flag", (" with " if both else " or ").join(p.text for p in parts))
    return Phrase("clause", f" {word} ".join(_as_clause(p) for p in parts))


def _as_clause(phrase: Phrase) -> str:
    if phrase.role == "flag":
        flag, _, rest = phrase.text.partition(" ")
        compared = rest.startswith(("at ", "above ", "below ", "other ", "starting ", "not "))
        return f"{flag} is {rest}" if compared else f"{phrase.text} is used"
    if phrase.role == "without":
        return f"{phrase.text} is unset"
    return f"it runs {phrase.text}" if phrase.role == "where" else phrase.text
