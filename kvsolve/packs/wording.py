"""Reasons and remedies for entries without a curated text, generated from their guards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.model.expression import Expr, Operand, is_constant, walk
from kvsolve.model.program import Let, Need, Program, Refuse, Set
from kvsolve.packs.code_units import plain_text
from kvsolve.packs.logic_words import conjuncts, exclusions_joined, without_implied
from kvsolve.packs.phrase_book import Phrase, PhraseBook, UnphrasedError, listed, shown_value
from kvsolve.packs.phrases import Phraser
from kvsolve.packs.rewriting import Rewrite
from kvsolve.packs.sentences import circumstances, most_telling, together, without_repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kvsolve.model.program import Step

__all__ = ["Wording"]

_MOST_FLAGS = 8
_DEPTH = 3
_MOST_WAYS = 3
_UNNAMED = "the rest of the launch"
_ROOTS = {
    "model": "the model",
    "draft": "the draft model",
    "gpu": "the GPU",
    "host": "the host",
    "packages": "the installed packages",
}


class Wording:
    """Words the steps of one program.

    Args:
        program: The program.
        spelling: Flag by dest -> its ``--kebab`` spelling, None for what is no flag.
        book: Wordings of facts and named results.
    """

    def __init__(
        self,
        program: Program,
        spelling: Callable[[str], str | None],
        book: PhraseBook | None = None,
    ) -> None:
        self.book = book or PhraseBook()
        self.spelling = spelling
        self.results = dict(_results(program))
        self.phraser = Phraser(self.results, spelling, self.book)

    def reason(self, step: Refuse | Set) -> str:
        """One sentence that says when the step happens and, for a rewrite, what it does."""
        if isinstance(step, Refuse):
            return self._refusal(step)
        return self._rewrite(step)

    def crash(self, function: str, dests: tuple[str, ...] = ()) -> str:
        """One sentence for a break in a function, with the flags that the code reads there."""
        flags = [spelled for dest in dests if (spelled := self.spelling(dest))]
        reads = f" while it reads {listed(flags, 'and')}" if flags else ""
        return (
            f"SGLang does not refuse this on purpose: its code breaks in {function}{reads}, on "
            "values that it does not expect, often on a flag left unset."
        )

    def broken(self, step: Step) -> tuple[str, str] | None:
        """Reason and remedy of a step that only breaks, where the pack words what breaks it."""
        value = step.value if isinstance(step, Need) else None
        if not isinstance(value, Expr) or value.op != "crash":
            return None
        named = (str(t.args[0]) for t in walk(step.when) if t.op in ("fact", "ref"))
        return next((told for name in named if (told := self.book.broken(name))), None)

    def flags(self, operand: Operand) -> tuple[str, ...]:
        """Dests of the flags that take part in a condition: read directly first, then through
        named results, at most a few."""
        found: dict[str, None] = {}
        layer: list[Operand] = self._telling(operand)
        seen: set[tuple[str, int]] = set()
        for _ in range(_DEPTH):
            below: list[Operand] = []
            for term in walk(*layer):
                if term.op != "ref":
                    continue
                if term.args in self.results and term.args not in seen:
                    seen.add(term.args)
                    below.append(self.results[term.args])
                name = term.args[0].removeprefix("raw.").removeprefix("given.")
                if term.args not in self.results and self.spelling(name):
                    found[name] = None
            if found and len(found) >= 2:
                break
            layer = below
        return tuple(found)[:_MOST_FLAGS]

    def remedy(self, step: Refuse) -> str | None:
        """A way out that follows from the guard alone, or None.

        Only values that nothing has rewritten before the refusal count: changing those makes one
        of its conditions false for certain.
        """
        ways = [w for c in reversed(conjuncts(step.when)) if (w := self._way_out(c))]
        drops = [w for w in ways if w.startswith("drop")]
        others = _one_a_flag([w for w in ways if not w.startswith("drop")])
        chosen = list(dict.fromkeys([*others[:2], *drops]))[:_MOST_WAYS]
        if not chosen:
            return None
        text = ", or ".join(chosen)
        return f"{text[0].upper()}{text[1:]}."

    def _refusal(self, step: Refuse) -> str:
        phrases, further = self._phrases(step.when)
        head = together([p.text for p in phrases if p.role == "flag"])
        tail = circumstances(phrases, further)
        if head:
            return f"{head} is refused{tail}."
        if not phrases and further:
            return f"Refused by a check over {listed(further, 'and')}."
        return f"Refused{tail or ' always'}."

    def _rewrite(self, step: Set) -> str:
        dest = step.name.removeprefix("raw.")
        flag = self.spelling(dest) or f"the internal setting {dest}"
        phrases, further = self._phrases(step.when)
        made = Rewrite(self.phraser, flag, step.value, phrases)
        read = [spelled for d in self.flags(step.value) if (spelled := self.spelling(d))]
        used = [p.text for p in made.others if p.role == "flag"]
        front = f"With {listed(used, 'and', 10)}, " if used else ""
        return f"{front}SGLang {made.does(read)}{circumstances(made.others, further)}."

    def _phrases(self, when: Operand) -> tuple[list[Phrase], list[str]]:
        """Phrases of the conjuncts, in order, and what the others are about."""
        found: dict[Phrase, None] = {}
        further: list[Operand] = []
        for part in without_implied(self._telling(when)):
            try:
                found[self.phraser.condition(part)] = None
            except UnphrasedError:
                further.append(part)
        distinct = without_repeats(list(found))
        kept = most_telling(distinct)
        left = [p.text.split()[0] for p in distinct if p not in kept and p.text.startswith("--")]
        subjects = dict.fromkeys([*left, *self._subjects(further)])
        if not subjects and (further or len(kept) < len(distinct)):
            subjects = {_UNNAMED: None}
        return kept, list(subjects)

    def _subjects(self, parts: list[Operand]) -> Iterator[str]:
        """The flags, facts and variables that conditions are about."""
        for part in parts:
            yield from (s for dest in self.flags(part) if (s := self.spelling(dest)))
        roots: dict[str, None] = {}
        layer, seen = list(parts), set()
        for _ in range(_DEPTH):
            below: list[Operand] = []
            for term in walk(*layer):
                if term.op == "fact":
                    roots[term.args[0].partition(".")[0]] = None
                elif term.op in ("env", "env_is_set"):
                    yield f"the environment variable {term.args[0]}"
                elif term.op == "ref" and term.args in self.results and term.args not in seen:
                    seen.add(term.args)
                    below.append(self.results[term.args])
            layer = below
        yield from (_ROOTS[root] for root in roots if root in _ROOTS)

    def _telling(self, when: Operand) -> list[Operand]:
        telling = [part for part in conjuncts(when) if not self._is_premise(part)]
        return list(exclusions_joined(telling))

    def _is_premise(self, part: Operand) -> bool:
        if not isinstance(part, Expr):
            return True
        return plain_text(part) in self.book.premises

    def _way_out(self, part: Operand) -> str | None:
        """How to make one condition false by one edit."""
        if not isinstance(part, Expr):
            return None
        positive = part.op != "not"
        term = part if positive else part.args[0]
        if flag := self._untouched(term):
            return f"drop {flag}" if positive else f"add {flag}"
        if len(term.args) != 2 or not positive or not is_constant(term.args[1]):
            return None
        flag, value = self._untouched(term.args[0]), term.args[1]
        return _edit(term.op, flag, value) if flag else None

    def _untouched(self, term: Operand) -> str | None:
        if not isinstance(term, Expr) or term.op != "ref" or term.args[1] != 0:
            return None
        return self.phraser.flag(term)


def _results(program: Program) -> Iterator[tuple[tuple[str, int], Operand]]:
    """Each named result at each version."""
    versions: dict[str, int] = {}
    for step in program.steps:
        if isinstance(step, (Let, Set)):
            version = versions[step.name] = versions.get(step.name, 0) + 1
            if isinstance(step, Let):
                yield (step.name, version), step.value


def _one_a_flag(ways: list[str]) -> list[str]:
    """Ways out without a choice of another value where a value is named."""
    named = {w.split()[1] for w in ways if not w.startswith("choose")}
    return [w for w in ways if not (w.startswith("choose") and w.split()[2] in named)]


def _edit(op: str, flag: str, value: Operand) -> str | None:
    if value is None:
        return {"is": f"give {flag}", "is_not": f"drop {flag}"}.get(op)
    if isinstance(value, bool):
        on = (op in ("eq", "is")) is value
        return f"drop {flag}" if on else f"add {flag}"
    values = sorted(value, key=str) if isinstance(value, frozenset) else value
    many = (
        [shown_value(v) for v in values if v is not None]
        if isinstance(values, tuple | list)
        else []
    )
    if op in ("in", "not_in"):
        known = isinstance(values, tuple | list) and many and len(many) <= _MOST_WAYS + 1
        if not known:
            return None
        other = f"choose another {flag} than {listed(many)}"
        return other if op == "in" else f"set {flag} to {listed(many)}"
    shown = shown_value(value)
    return {
        "eq": f"choose another {flag} than {shown}",
        "ne": f"set {flag} to {shown}",
        "gt": f"set {flag} to at most {shown}",
        "ge": f"set {flag} below {shown}",
        "lt": f"set {flag} to at least {shown}",
        "le": f"set {flag} above {shown}",
    }.get(op)
