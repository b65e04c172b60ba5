"""What is told of many configurations is what is told of each by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kvsolve.answers import telling
from kvsolve.answers.telling import Telling
from kvsolve.model.context import Config
from kvsolve.outputs.redact import Redactor
from kvsolve.packs.pack import load_pack
from kvsolve.solve.repair import command_tokens

COMMAND = ("--model-path", "m", "--api-key", "very-secret", "--served-model-name", "very-secret-1")
VALUES = {
    "api_key": ["very-secret", "another secret", None],
    "served_model_name": ["very-secret-1", "plain", ""],
    "page_size": [1, 16, True],
    "tp_size": [1, 8],
    "enable_mixed_chunk": [True],
    "cuda_graph_bs_decode": [[1, 2], [True, 2], (1,), []],
    "json_model_override_args": ['{"token": "very-secret"}', "{}"],
}


@st.composite
def configurations(draw):
    flags = load_pack("0.5.23").flags
    chosen = draw(st.lists(st.sampled_from(sorted(VALUES)), unique=True))
    values = {**flags.initial, **{d: draw(st.sampled_from(VALUES[d])) for d in chosen}}
    return Config(values, {d: flags.flag(d).name for d in chosen})


@given(st.lists(configurations(), max_size=8), st.sampled_from([2, 10_000]))
def test_a_list_tells_what_each_configuration_tells_by_itself(configs, kept):
    flags, hide = load_pack("0.5.23").flags, Redactor(COMMAND)
    before, telling._KEPT = telling._KEPT, kept
    try:
        told = Telling(hide, flags)
        for config in configs:
            assert told.argv(config) == hide.argv(command_tokens(config, flags))
            for dest in VALUES:
                shown = told.value(dest, config.values[dest])
                assert repr(shown) == repr(hide.value(config.values[dest], dest))
    finally:
        telling._KEPT = before
