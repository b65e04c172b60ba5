"""Terms as Python source: the inner half of compiling a program.

Nothing gets into the source but names made here, literals written by ``repr`` from plain values and
calls of the operations in :mod:`kvsolve.packs.operations`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from kvsolve.model.expression import Expr, children, crashes_by_itself, is_constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kvsolve.model.expression import Operand

__all__ = ["TermWriter", "below", "harmless", "reads_facts_only", "uses"]

_INLINE = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "in": "in",
    "not_in": "not in",
    "add": "+",
    "sub": "-",
    "floordiv": "//",
    "truediv": "/",
    "bitor": "|",
    "bitand": "&",
    "bitxor": "^",
    "rshift": ">>",
}


class TermWriter:
    """Writes terms as Python source; a term used often gets a variable.

    A shared term is computed before the statement that first needs it. Where that crashes, the
    crash waits until the value is used, so that nothing crashes which upstream would not evaluate.

    A term that reads facts only keeps its value in ``C``, from run to run of one context.

    Attributes:
        before: Statements that must stand before the one being written.
        given: Source of terms that are computed elsewhere.
        risks: How often what was written reads a value that may not be known.
        closed: Functions for terms that read facts only; their number is the length of ``C``.
    """

    def __init__(self, shared: Mapping[Expr, int], slot: Callable[[str, int, bool], str]) -> None:
        self.shared = shared
        self.slot = slot
        self.before: list[str] = []
        self.made: dict[Expr, tuple[str, bool]] = {}
        self.risks = 0
        self.given: dict[Expr, Callable[[bool], str]] = {}
        self.closed: list[str] = []
        self.kept: dict[Expr, str] = {}
        self.bound = 0
        self.count = 0

    def text(self, operand: Operand, *, used: bool = False) -> str:
        """Source of an operand's value, bracketed so that it can stand anywhere.

        Args:
            operand: What to write.
            used: The value goes into a comparison or a test, which a value that is not known
                refuses by itself.
        """
        if not isinstance(operand, Expr):
            return self.literal(operand)
        if operand.op == "ref":
            name, version = operand.args
            return self.slot(name, version, used)
        if operand.op != "fact" and reads_facts_only(operand):
            return self.keep(operand, used)
        if operand in self.given:
            return self.given[operand](used)
        if self.bound or self.shared.get(operand, 0) < 2:
            if used and operand.op == "if":
                return self.choice(*operand.args, used=True)
            return self.term(operand)
        found = self.made.get(operand)
        if found is None:
            found = self.made[operand] = self.share(operand)
        source, risky = found
        self.risks += risky
        return source

    def keep(self, operand: Expr, used: bool) -> str:
        """Give a term that reads facts only its place in ``C``; the source that reads it."""
        found = self.kept.get(operand)
        if found is None:
            body = self.term(operand)
            number = len(self.closed)
            self.closed.append(f"def c{number}(F, C):\n v = C[{number}] = {body}\n return v\n")
            found = f"(C[{number}] if C[{number}] is not unset else c{number}(F, C))"
            self.kept[operand] = found
        return found

    def share(self, operand: Expr) -> tuple[str, bool]:
        """Give a term a variable; the source that reads it, and whether that may raise."""
        body, risky = self.risked(operand)
        self.count += 1
        name = f"t{self.count}"
        if not risky:
            self.before.append(f"{name} = {body}")
            return name, False
        self.before.append(
            f"try: {name} = {body}\nexcept Exception as e: {name} = unset; e{name} = e"
        )
        return f"({name} if {name} is not unset else again(e{name}))", True

    def risked(self, operand: Expr) -> tuple[str, bool]:
        """Source of a term, computed where it stands, and whether that may raise."""
        before = self.risks
        body = self.term(operand)
        return body, self.risks > before or not harmless(operand)

    def statements(self) -> Iterator[str]:
        """What has to stand before the statement just written, and forget it."""
        yield from self.before
        self.before.clear()

    def test(self, operand: Operand) -> str:
        """Source of an operand where only its truth matters."""
        if isinstance(operand, Expr) and operand.op in ("and", "or"):
            if reads_facts_only(operand) or operand in self.given:
                return self.text(operand)
            if not self.bound and self.shared.get(operand, 0) >= 2:
                return self.text(operand)
            return "(" + f" {operand.op} ".join(self.test(a) for a in operand.args) + ")"
        return self.text(operand, used=True)

    def literal(self, value: Any) -> str:
        """Source of a constant, or of a tuple that may hold terms.

        Raises:
            TypeError: It is no constant of the entry language.
        """
        if (isinstance(value, float) and value != value) or value in (float("inf"), float("-inf")):
            return f"float({str(value)!r})"
        if isinstance(value, frozenset):
            return f"frozenset({self.literal(tuple(sorted(value, key=repr)))})"
        if isinstance(value, tuple):
            return "(" + "".join(f"{self.text(v)}, " for v in value) + ")"
        if value is None or isinstance(value, (bool, int, float, str, bytes)):
            return repr(value)
        raise TypeError(f"{value!r} is no constant of the entry language")

    def term(self, e: Expr) -> str:
        """Source of a term, computed where it stands.

        Raises:
            TypeError: The operation has no code.
        """
        method: Callable[..., str] | None = getattr(self, f"_{e.op}", None)
        if method is not None:
            return method(*e.args)
        if e.op in ("eq", "ne") and any(_is_sequence(a) for a in e.args):
            return f"{e.op}({self.text(e.args[0])}, {self.text(e.args[1])})"
        if e.op == "add":
            return f"add({self.text(e.args[0])}, {self.text(e.args[1])})"
        if e.op in _INLINE:
            a, b = e.args
            # What is wrong with the left operand is told before anything that the right one does.
            quiet = is_constant(b) or (isinstance(b, Expr) and b.op == "ref")
            left, right = self.text(a, used=quiet), self.text(b, used=True)
            return f"({left} {_INLINE[e.op]} {right})"
        if e.op in ("mul", "mod", "pow", "lshift", "item"):
            return f"{e.op}({self.text(e.args[0])}, {self.text(e.args[1])})"
        raise TypeError(f"no code for the operation {e.op}")

    def arguments(self, operands: Iterable[Operand]) -> str:
        """Source of operands, separated by commas."""
        return ", ".join(self.text(o) for o in operands)

    def _fact(self, name: str) -> str:
        return f"F[{name!r}]"

    def _env(self, name: str, default: Operand) -> str:
        return f"F['environ'].get({name!r}, {self.text(default)})"

    def _env_is_set(self, name: str) -> str:
        return f"({name!r} in F['environ'])"

    def _helper(self, name: str, *arguments: Operand) -> str:
        return f"F[{'helper:' + name!r}]({self.arguments(arguments)})"

    def _var(self, number: int) -> str:
        return f"v{number}"

    def _opaque(self, label: str, *_: Operand) -> str:
        return f"unknown({label!r})"

    def _crash(self, exception: str) -> str:
        return f"crash({exception!r})"

    def _and(self, *operands: Operand) -> str:
        inner = " and ".join(self.test(o) for o in operands)
        return f"(True if {inner} else False)"

    def _or(self, *operands: Operand) -> str:
        inner = " or ".join(self.test(o) for o in operands)
        return f"(True if {inner} else False)"

    def _not(self, operand: Operand) -> str:
        return f"(not {self.test(operand)})"

    def _if(self, test: Operand, then: Operand, other: Operand) -> str:
        return self.choice(test, then, other, used=False)

    def choice(self, test: Operand, then: Operand, other: Operand, *, used: bool) -> str:
        """Source of a conditional."""
        yes, no = self.text(then, used=used), self.text(other, used=used)
        return f"({yes} if {self.test(test)} else {no})"

    def _is(self, a: Operand, b: Operand) -> str:
        if b is None or isinstance(b, bool):
            return f"({self.text(a)} is {b!r})"
        return f"same({self.text(a)}, {self.text(b)})"

    def _is_not(self, a: Operand, b: Operand) -> str:
        if b is None or isinstance(b, bool):
            return f"({self.text(a)} is not {b!r})"
        return f"(not same({self.text(a)}, {self.text(b)}))"

    def _neg(self, operand: Operand) -> str:
        return f"(-{self.text(operand)})"

    def _attr(self, operand: Operand, name: str) -> str:
        return f"attr({self.text(operand)}, {name!r})"

    def _getattr(self, operand: Operand, name: str, default: Operand) -> str:
        value = self.text(operand)
        return f"(attr({value}, {name!r}) if hasattr({value}, {name!r}) else {self.text(default)})"

    def _hasattr(self, operand: Operand, name: str) -> str:
        return f"hasattr({self.text(operand)}, {name!r})"

    def _isinstance(self, operand: Operand, *names: str) -> str:
        return f"isinstance({self.text(operand)}, {', '.join(map(repr, names))})"

    def _call(self, name: str, *arguments: Operand) -> str:
        if name == "bool":
            return f"(True if {self.test(arguments[0])} else False)"
        return f"call({name!r}, {self.arguments(arguments)})"

    def _method(self, operand: Operand, name: str, *arguments: Operand) -> str:
        return f"method({self.arguments((operand,))}, {name!r}, {self.arguments(arguments)})"

    def _slice(self, operand: Operand, low: Operand, high: Operand) -> str:
        return f"op['slice']({self.arguments((operand, low, high))})"

    def _tuple(self, *operands: Operand) -> str:
        return self.literal(operands)

    def _pick(self, *operands: Operand) -> str:
        pairs = zip(operands[::2], operands[1::2], strict=True)
        return "[" + ", ".join(self.present(c, self.text(v)) for c, v in pairs) + "]"

    def present(self, condition: Operand, text: str) -> str:
        """Source of an item of a list that is in it where a condition holds."""
        return text if condition is True else f"*(({text},) if {self.test(condition)} else ())"

    def _table(self, *operands: Operand) -> str:
        rows = zip(operands[::3], operands[1::3], operands[2::3], strict=True)
        parts = []
        for key, condition, value in rows:
            entry = f"{self.text(key)}: {self.text(value)}"
            parts.append(
                entry
                if condition is True
                else f"**({{{entry}}} if {self.test(condition)} else {{}})"
            )
        return "{" + ", ".join(parts) + "}"

    def _any(self, number: int, iterable: Operand, body: Operand) -> str:
        self.bound += 1
        text = f"any({self.text(body)} for v{number} in {self.text(iterable)})"
        self.bound -= 1
        return text

    def _collect(
        self, kind: str, number: int, iterable: Operand, condition: Operand, element: Operand
    ) -> str:
        self.bound += 1
        tail = "" if condition is True else f" if {self.test(condition)}"
        inner = f"{self.text(element)} for v{number} in {self.text(iterable)}{tail}"
        self.bound -= 1
        return f"frozenset({inner})" if kind == "set" else f"[{inner}]"


_safe: dict[Expr, bool] = {}
_OPTIONAL = "draft."
"""Root of the facts that most contexts lack: looked up where they are needed, not early."""


def harmless(operand: Operand) -> bool:
    """Whether a term can be computed early: it cannot crash as long as its facts are there."""
    if not isinstance(operand, Expr):
        return True
    found = _safe.get(operand)
    if found is None:
        found = (operand.op == "fact" and not operand.args[0].startswith(_OPTIONAL)) or (
            not crashes_by_itself(operand) and all(harmless(c) for c in children(operand))
        )
        _safe[operand] = found
    return found


_closed: dict[Expr, bool] = {}


def reads_facts_only(operand: Operand) -> bool:
    """Whether a term's value is the same for every configuration in a context."""
    if not isinstance(operand, Expr):
        return True
    found = _closed.get(operand)
    if found is None:
        found = operand.op not in ("ref", "var", "opaque", "crash", "any", "collect") and all(
            reads_facts_only(c) for c in below(operand)
        )
        _closed[operand] = found
    return found


def _is_sequence(operand: Operand) -> bool:
    """Whether an operand may be a list or a tuple by its form; a plain slot is taken not to be."""
    if isinstance(operand, Expr):
        return operand.op in ("call", "tuple", "pick", "collect", "slice", "add", "if", "item")
    return isinstance(operand, tuple)


def uses(operands: Iterable[Operand]) -> Counter[Expr]:
    """How often each term worth a variable is used, counted over distinct parents."""
    count: Counter[Expr] = Counter()
    stack = [o for o in operands if isinstance(o, Expr)]
    seen: set[Expr] = set()
    while stack:
        term = stack.pop()
        if _worth_sharing(term):
            count[term] += 1
        if term not in seen:
            seen.add(term)
            stack.extend(below(term))
    return count


def below(term: Expr) -> Iterator[Expr]:
    """The terms right below a term, those in a tuple included."""
    for child in children(term):
        if isinstance(child, Expr):
            yield child
        elif isinstance(child, tuple) and not is_constant(child):
            yield from (c for c in child if isinstance(c, Expr))


def _worth_sharing(term: Expr) -> bool:
    return term.op not in ("ref", "fact", "var", "opaque", "crash", "not") and not (
        term.op in ("is", "is_not", "eq", "ne")
        and isinstance(term.args[0], Expr)
        and term.args[0].op == "ref"
        and not isinstance(term.args[1], Expr)
    )
