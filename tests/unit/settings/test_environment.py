from __future__ import annotations

import pytest

from kvsolve.errors import KvsolveError
from kvsolve.settings.environment import environment_values, variables


def test_each_option_has_a_variable() -> None:
    env = {
        "KVSOLVE_GPU": "h100",
        "KVSOLVE_GPUS": "4",
        "KVSOLVE_ALLOW_UNKNOWN": "0",
        "KVSOLVE_EXIT_ZERO": "yes",
        "KVSOLVE_LIMIT_S": "1.5",
        "KVSOLVE_MODEL_CONFIG": "some/where",
        "KVSOLVE_ENV": "A=1 B=2",
        "KVSOLVE_FORMAT": "json",
        "KVSOLVE_BASELINE": "known.json",
        "KVSOLVE_SGLANG": "",
        "HOME": "/",
    }
    assert environment_values(env) == {
        "gpu": "h100",
        "gpus": 4,
        "allow_unknown": False,
        "exit_zero": True,
        "limit_s": 1.5,
        "model_config": "some/where",
        "env": ("A=1", "B=2"),
        "format": "json",
        "baseline": "known.json",
    }


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("KVSOLVE_GPUS", "x", "KVSOLVE_GPUS is a whole number, not 'x'"),
        ("KVSOLVE_GPUS", "0", "at least 1"),
        ("KVSOLVE_LIMIT_S", "nan", "at least 0"),
        ("KVSOLVE_FAIL_ON", "fatal", "one of error, warning, note"),
        ("KVSOLVE_ALLOW_UNKNOWN", "maybe", "true or false"),
        ("KVSOLVE_FORMAT", "xml", "one of text, concise"),
        ("KVSOLVE_GPUU", "h100", "did you mean KVSOLVE_GPU?"),
    ],
)
def test_what_cannot_be_used_is_told(name: str, text: str, words: str) -> None:
    with pytest.raises(KvsolveError) as caught:
        environment_values({name: text})
    assert words in str(caught.value)


def test_the_variables_of_others_are_left_alone() -> None:
    names = ("KVSOLVE_DEBUG", "KVSOLVE_CACHE_DIR", "KVSOLVE_RUNNER_TOKEN", "KVSOLVE_VERSION")
    assert environment_values(dict.fromkeys(names, "x")) == {}
    assert set(variables()) >= {"KVSOLVE_GPU", "KVSOLVE_SETTINGS", "KVSOLVE_BASELINE"}
