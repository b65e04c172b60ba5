"""Reading past argument resolution: the constructors of models, on a made-up release."""

from __future__ import annotations

import pytest

from kvsolve.model.expression import Expr, raw
from kvsolve.model.fact import ConfigObject
from kvsolve.model.program import Refuse
from kvsolve.model.syntax import parse, render
from kvsolve.upstream.reader.safety import plain, safe_guard

PIPELINE = """
def run_resolution_pipeline(server_args):
    if server_args.page_size is None:
        declare_resolution(server_args, "x", page_size=1)
"""
MORE = {
    "srt/mem_cache/kv_cache_configurator.py": "",
    "srt/runtime_context.py": """
        def get_parallel(): return state
        def get_schedule(): return bags
    """,
    "srt/layers/linear.py": """
        class Linear:
            def __init__(self, size):
                raise ValueError("never entered")
    """,
    "srt/models/fine.py": """
        from torch import nn
        from sglang.srt.runtime_context import get_parallel, get_schedule
        from sglang.srt.layers.linear import Linear

        class Attention(nn.Module):
            def __init__(self, config, heads):
                super().__init__()
                parallel = get_parallel()
                width = parallel.tp_size // parallel.attn_dp_size // parallel.attn_cp_size
                assert heads % parallel.attn_tp_size == 0
                self.proj = Linear(heads)
                assert self.proj.size
                for layer in range(config.num_layers):
                    if get_schedule().page_size == 3:
                        raise ValueError("page")
                if config.kind != "plain":
                    raise ValueError("a matter of the model alone")

        class FineForCausalLM(nn.Module):
            def __init__(self, config, quant_config=None):
                self.layers = Attention(config, config.num_heads)

        class DerivedForCausalLM(FineForCausalLM):
            def __init__(self, config, quant_config=None):
                super().__init__(config, quant_config)
                for item in anything():
                    if item:
                        return
                assert get_parallel().pp_size == 1

        EntryClass = [FineForCausalLM, DerivedForCausalLM]
    """,
}
FIELDS = {
    "page_size": None,
    "tp_size": 1,
    "pp_size": 1,
    "dp_size": 1,
    "enable_dp_attention": False,
    "attn_cp_size": 1,
    "model_impl": "auto",
    "device": "cuda",
}


@pytest.fixture
def release(read):
    return read(PIPELINE, MORE, **FIELDS)


def facts(name="FineForCausalLM", **config):
    return {"config": ConfigObject({"architectures": [name], **config})}


def test_refusals_of_a_model_follow_the_final_flags(release):
    plain_model = facts(num_heads=8, num_layers=2, kind="plain")
    assert release.outcome(plain_model, tp_size=8) == "ok"
    assert release.outcome(plain_model, tp_size=3) == "AssertionError"
    assert release.outcome(plain_model, tp_size=6, dp_size=3, enable_dp_attention=True) == "ok"
    assert release.outcome(plain_model, page_size=3) == "ValueError"
    assert release.outcome(facts("Other", num_heads=8), tp_size=3) == "ok"
    assert release.outcome(plain_model, tp_size=3, model_impl="transformers") == "ok"


def test_what_a_configuration_lacks_refuses_nothing(release):
    assert release.outcome(facts(num_layers=2), tp_size=3) == "ok"
    assert release.outcome(facts(num_heads=None, num_layers=0), tp_size=3, page_size=3) == "ok"
    assert release.outcome({"config": ConfigObject({})}, tp_size=3) == "ok"


def test_one_statement_of_several_models_is_one_step_with_one_key(release):
    late = [s for s in release.of(Refuse) if s.stage == "load"]
    heads = next(s for s in late if s.raises == "AssertionError")
    built = "built_model in ('DerivedForCausalLM', 'FineForCausalLM')"
    assert built in render(heads.when, {"built_model": 1})
    assert all(step.place.symbol == "Attention.__init__" and step.key for step in late)


def test_what_became_of_each_statement(release):
    told = {
        line: kind for (file, line), (kind, _) in release.reading.beyond.items() if "fine" in file
    }
    lines = MORE["srt/models/fine.py"].splitlines()
    at = {text: number for number, row in enumerate(lines, 1) for text in [row.strip()]}
    assert told[at["assert heads % parallel.attn_tp_size == 0"]] == "exact"
    assert told.get(at["assert self.proj.size"]) != "exact"
    assert told[at['raise ValueError("a matter of the model alone")']] == "model"
    # A loop over something unknown may have left the function before.
    assert told[at["assert get_parallel().pp_size == 1"]] == "opaque"


def test_a_release_without_later_stages_is_read_up_to_resolution(read):
    more = {name: text for name, text in MORE.items() if "configurator" not in name}
    release = read(PIPELINE, more, **FIELDS)
    assert not release.reading.beyond
    assert all(step.stage == "args" for step in release.of(Refuse))


class _Run:
    """A run that knows of nothing that it is never None."""

    def may_be_none(self, operand):
        return True


@pytest.mark.parametrize(
    ("guard", "safe"),
    [
        ("config.a % max(1, b) != 0", "hasattr(config, 'a') and config.a is not None"),
        ("5 % config.a != 0", "hasattr(config, 'a') and config.a != 0"),
        ("config.a[0] == 1", "config.a is not None and len(config.a) >= 1"),
        ("config.a['b'] == 1", "config.a is not None and 'b' in config.a"),
        ("config.a[b] == 1", None),
        ("int(config.a) == 1", "hasattr(config, 'a') and isinstance(config.a, 'int')"),
        (
            "any(config.a[v1] == 1 for v1 in range(config.n))",
            "hasattr(config, 'a') and config.n is not None",
        ),
        ("any(config.a[v1] == b for v1 in range(config.n))", None),
        ("config.a.b == 1", "hasattr(config, 'a') and hasattr(config.a, 'b')"),
        ("config.a > 1", "hasattr(config, 'a') and config.a is not None"),
    ],
)
def test_a_safe_guard_asks_first_what_it_needs(guard, safe):
    term = parse(guard, {"b": 0})
    found = safe_guard(_Run(), term)
    if safe is None:
        assert found is None
        return
    text = render(found, {"b": 0})
    assert text.endswith(guard) or "any(" in guard
    assert all(part in text for part in safe.split(" and "))


def test_a_width_divides_as_one_at_least():
    found = safe_guard(_Run(), parse("config.a % (b // c) == 1", {"b": 0, "c": 0}))
    assert "config.a % max(1, b // max(1, c)) == 1" in render(found, {"b": 0, "c": 0})


def test_a_plain_guard_speaks_of_objects_and_of_loops_that_are_entered():
    config = raw("fact", "config")
    loop = raw("call", "range", raw("attr", config, "layers"))
    is_dict = raw("isinstance", config, "dict")
    guard = raw("and", loop, raw("not", is_dict), raw("attr", config, "a"))
    found = plain(guard)
    assert isinstance(found, Expr)
    assert render(found, {}) == "config.layers > 0 and config.a"
