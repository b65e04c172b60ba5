"""The text form of expressions: what it allows, and that nothing else gets through."""

from __future__ import annotations

import pytest

from kvsolve.model.expression import raw
from kvsolve.model.syntax import ExpressionError, parse, render


@pytest.mark.parametrize(
    "text",
    [
        "page_size in (32, 64) and not gpu.is_hip",
        "prefill_attention_backend if prefill_attention_backend is not None else attention_backend",
        "getattr(config, 'index_topk', None) is not None",
        "any(v1 == 'x' or v1 > 3 for v1 in lora_paths)",
        "[v1.lower() for v1 in lora_paths if v1 != '']",
        "config.text_config.rope_scaling['type'][1:]",
        "helper('context_length', config.text_config) // tp_size ** 3",
        "env.SGLANG_X and environ('HOME') is None or is_set('A')",
        "packages.version.triton == '3.6.0'",
        "-tp_size % 3 >= 1",
        "page_size is True",
    ],
)
def test_round_trip(text: str) -> None:
    assert render(parse(text)) == text


def test_a_plain_name_means_its_current_version() -> None:
    assert parse("page_size", {"page_size": 3}) is raw("ref", "page_size", 3)
    assert parse("page_size@1", {"page_size": 3}) is raw("ref", "page_size", 1)
    assert render(raw("ref", "page_size", 1), {"page_size": 3}) == "(page_size@1)"


def test_raw_and_given_views_are_slots_of_their_own() -> None:
    assert parse("raw.page_size") is raw("ref", "raw.page_size", 0)
    assert parse("given.page_size") is raw("ref", "given.page_size", 0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("__import__('os').system('x')", "the method `system` is not on the list"),
        ("open('/etc/passwd')", "the function `open` is not on the list"),
        ("(lambda: 1)()", "only named functions"),
        ("lambda: 1", "Lambda is not part"),
        ("f'{x}'", "JoinedStr is not part"),
        ("x if", "is not an expression"),
        ("a := 1", "is not an expression"),
        ("print(x, file=y)", "positional"),
        ("x.format(1)", "the method `format` is not on the list"),
        ("[a for a in b for c in d]", "one `for`"),
        ("x @ y", "selects a version"),
        ("config.__class__", "does not begin with an underscore"),
        ("~x", "minus sign"),
        ("1j", "no meaning"),
    ],
)
def test_what_is_not_in_the_language_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ExpressionError, match=why.replace("(", r"\(")):
        parse(text)


def test_deep_nesting_is_refused_not_crashed_on() -> None:
    with pytest.raises(ExpressionError):
        parse("(" * 5000 + "x" + ")" * 5000)
    with pytest.raises(ExpressionError):
        parse("not " * 5000 + "x")
