"""Laws of terms and programs: text round trip, and five ways of running that must agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kvsolve.model.expression import Crash, Expr, Operand, Unknown, raw, substitute, walk
from kvsolve.model.program import Let, Program, Refuse, Step, load_program
from kvsolve.model.syntax import parse, render
from kvsolve.packs.abreast import Abreast
from kvsolve.packs.compile import FactTable, compile_predicate, compile_program, initial_slots
from kvsolve.packs.evaluate import Interpreter, Trace, interpret
from kvsolve.packs.units import compile_units
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


def viewed(program: Program) -> Program:
    """The same program reading two flags as the command gave them: as typed, and as the field."""
    memo: dict[Expr, Operand] = {}
    views = {"dp": "given.dp", "radix": "raw.radix"}

    def leaf(term: Expr) -> Operand:
        first = term.op == "ref" and term.args[1] == 0
        return raw("ref", views.get(term.args[0], term.args[0]), 0) if first else term

    def step(old: Step) -> Step:
        when = substitute(old.when, leaf, memo)
        if isinstance(old, Refuse):
            return replace(old, when=when)
        return replace(old, when=when, value=substitute(old.value, leaf, memo))

    return replace(program, steps=tuple(step(s) for s in program.steps))


def told(trace: Trace) -> str:
    """All that a trace says; the order of final values is nobody's concern."""
    return repr((trace.refusals, trace.writes, trace.failures, sorted(trace.values.items())))


typed = st.sets(st.sampled_from(FLAGS))


@settings(max_examples=500)
@given(
    programs().map(viewed),
    st.tuples(slots(), typed),
    st.lists(st.tuples(slots(), typed), min_size=1, max_size=3),
    facts(),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_a_run_from_a_baseline_gives_the_interpreted_trace(
    program: Program,
    base: tuple[dict[str, Any], set[str]],
    others: list[tuple[dict[str, Any], set[str]]],
    known: dict[str, Any],
    limits: tuple[int, int],
) -> None:
    largest, dear = limits
    baseline = compile_units(program, largest=largest, dear=dear).baseline(*base, FactTable(known))
    full = interpret(program, initial_slots(*base), known)
    if baseline is None:
        assert full.failures or in_doubt(program, known)
        return
    assert told(baseline.trace) == told(full)
    for values, given_ in others:
        full = interpret(program, initial_slots(values, given_), known)
        found = baseline.attempt(values, given_)
        if found is None:
            assert full.failures or in_doubt(program, known)
        else:
            assert told(found) == told(full)
        assert told(baseline.exact(values, given_, program)) == told(full)


@settings(max_examples=500)
@given(
    programs().map(viewed),
    st.tuples(slots(), typed),
    st.lists(st.tuples(slots(), typed), min_size=1, max_size=3),
    facts(),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_a_run_from_a_doubtful_baseline_gives_the_interpreted_trace(
    program: Program,
    base: tuple[dict[str, Any], set[str]],
    others: list[tuple[dict[str, Any], set[str]]],
    known: dict[str, Any],
    limits: tuple[int, int],
) -> None:
    largest, dear = limits
    units = compile_units(program, largest=largest, dear=dear)
    baseline = units.doubtful_baseline(*base, FactTable(known), program)
    full = interpret(program, initial_slots(*base), known)
    assert (baseline is None) == any(f.reason != "unknown" for f in full.failures)
    if baseline is None:
        return
    assert told(baseline.trace) == told(full)
    for values, given_ in others:
        full = interpret(program, initial_slots(values, given_), known)
        found = baseline.attempt(values, given_)
        assert found is None or told(found) == told(full)
        assert told(baseline.exact(values, given_, program)) == told(full)


@settings(max_examples=500)
@given(
    programs().map(viewed),
    st.tuples(slots(), typed),
    st.lists(st.tuples(slots(), typed), min_size=1, max_size=4),
    st.lists(facts(), min_size=2, max_size=4),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_runs_abreast_give_the_interpreted_trace_of_each_context(
    program: Program,
    base: tuple[dict[str, Any], set[str]],
    others: list[tuple[dict[str, Any], set[str]]],
    contexts: list[dict[str, Any]],
    limits: tuple[int, int],
) -> None:
    largest, dear = limits
    units = compile_units(program, largest=largest, dear=dear)
    abreast = Abreast(units, program, *base, [FactTable(known) for known in contexts])
    # The second time round, what was interpreted is remembered.
    for values, given_ in [base, *others, *others]:
        traces = list(abreast.traces(values, given_))
        assert len(traces) == len(contexts)
        for known, found in zip(contexts, traces, strict=True):
            full = interpret(program, initial_slots(values, given_), known)
            if found is not None:
                assert told(found) == told(full)


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
        # A named result that only repeats another one in doubt is folded away, doubt and all.
        named = {n for n, step in enumerate(program.steps) if isinstance(step, Let)}
        failures = [(residual.origin[f.step], f.reason, f.detail) for f in short.failures]
        expected = [(f.step, f.reason, f.detail) for f in full.failures]
        assert [f for f in failures if f[0] not in named] == [
            f for f in expected if f[0] not in named
        ]
        assert [residual.origin[s] for s in short.refusals] == full.refusals
        writes = [w._replace(step=residual.origin[w.step]) for w in short.writes]
        assert repr(writes) == repr(full.writes)
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
