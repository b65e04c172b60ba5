"""Laws of terms and programs: text round trip, and four ways of running that must agree."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from kvsolve.model.expression import Crash, Expr, Operand, Unknown, walk
from kvsolve.model.program import Program, load_program
from kvsolve.model.syntax import parse, render
from kvsolve.packs.compile import FactTable, compile_predicate, compile_program
from kvsolve.packs.evaluate import Interpreter, interpret
from kvsolve.solve.specialise import inline, specialise
from tests.property.terms import FLAGS, facts, programs, slots, terms


def outcome(operand: Operand, values: dict[str, Any], known: dict[str, Any]) -> tuple[str, Any]:
    run = Interpreter({(n, 0): v for n, v in values.items()}, known)
    try:
        return "value", run.value(operand)
    except Crash:
        return "crash", None
    except Unknown as missing:
        return "unknown", missing.args[0]


def in_doubt(program: Program, known: dict[str, Any]) -> bool:
    """Whether anything in a program is not known; only then may a run ask for the interpreter."""
    operands = [o for s in program.steps for o in (s.when, getattr(s, "value", None))]
    return any(
        t.op == "opaque" or (t.op == "fact" and t.args[0] not in known) for t in walk(*operands)
    )


@given(terms())
def test_parsing_a_rendered_term_gives_the_term(term: Operand) -> None:
    back = parse(render(term))
    assert back is term if isinstance(term, Expr) else back == term


@given(programs())
def test_loading_a_dumped_program_gives_the_program(program: Program) -> None:
    assert load_program(program.dump().splitlines()) == program


@given(terms(), slots(), facts())
def test_a_compiled_predicate_gives_the_interpreted_value(
    term: Operand, values: dict[str, Any], known: dict[str, Any]
) -> None:
    kind, expected = outcome(term, values, known)
    if kind != "value":
        return
    try:
        found = compile_predicate(term)(values, FactTable(known))
    except Unknown:
        assert any(t.op in ("opaque", "fact") for t in walk(term))
        return
    assert type(found) is type(expected)
    assert found == expected


@settings(max_examples=300)
@given(programs(), slots(), facts())
def test_a_compiled_program_gives_the_interpreted_trace(
    program: Program, values: dict[str, Any], known: dict[str, Any]
) -> None:
    full = interpret(program, values, known)
    fast = compile_program(program).attempt(values, (), FactTable(known))
    if fast is None:
        assert full.failures or in_doubt(program, known)
    else:
        assert repr(fast) == repr(full)


@settings(max_examples=300)
@given(programs(), slots(), facts())
def test_a_specialised_program_gives_the_same_trace(
    program: Program, values: dict[str, Any], known: dict[str, Any]
) -> None:
    full = interpret(program, values, known)
    residual = specialise(program, known, {FLAGS[0]: values[FLAGS[0]]})
    short = compile_program(residual.program).attempt(values, (), FactTable(known))
    if short is None:
        assert full.failures or in_doubt(program, known)
    else:
        failures = [(residual.origin[f.step], f.reason, f.detail) for f in short.failures]
        assert failures == [(f.step, f.reason, f.detail) for f in full.failures]
        assert [residual.origin[s] for s in short.refusals] == full.refusals
        writes = [(residual.origin[w.step], w.before, w.after) for w in short.writes]
        assert repr(writes) == repr([(w.step, w.before, w.after) for w in full.writes])
        final = {**values, **residual.constants, **short.values}
        for name, value in full.values.items():
            if name in FLAGS:
                assert repr(final[name]) == repr(value)


@settings(max_examples=300)
@given(programs(), slots(), facts())
def test_an_inlined_constraint_holds_where_the_program_refuses(
    program: Program, values: dict[str, Any], known: dict[str, Any]
) -> None:
    full = interpret(program, values, known)
    if any(f.reason == "unknown" for f in full.failures):
        return
    broken = set()
    for constraint in inline(program, known).constraints:
        kind, value = outcome(constraint.broken, values, known)
        assert kind == "value" or constraint.may_crash
        if kind == "crash" or value:
            broken.add(constraint.step)
    crashes = {f.step for f in full.failures}
    assert (broken & crashes != set()) == (crashes != set())
    if not crashes:
        assert sorted(broken) == full.refusals
