from __future__ import annotations

import pytest

from kvsolve.files.found import Document, FoundCommand
from kvsolve.files.read import read_document


def found(text: str) -> list[FoundCommand]:
    items = read_document(Document("a.py", text), sure=False)
    return [item for item in items if isinstance(item, FoundCommand)]


@pytest.mark.parametrize(
    "text",
    [
        "import sglang as sgl\ne = sgl.Engine(model_path='m', tp_size=2, enable_metrics=True,\n"
        "               page_size=None, disable_radix_cache=False, log_level=level)\n",
        "ARGS = {'model_path': 'm', 'tp_size': 2, 'enable_metrics': True, 'page_size': None,\n"
        "        'disable_radix_cache': False, 'log_level': level}\n",
    ],
)
def test_options_by_name(text: str) -> None:
    (command,) = found(text)
    assert command.words == (
        "--model-path", "m", "--tp-size", "2", "--enable-metrics", "--log-level", "level",
    )  # fmt: skip
    assert [u.reason for u in command.unresolved] == ["the program computes it"]
    places = [text[token.start : token.end] for token in command.tokens]
    assert [place.strip("'") for place in places] == [
        "model_path", "m", "tp_size", "2", "enable_metrics", "log_level", "level",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "x = {'model_path': 'm', 'name': 1, 'other': 2}",
        "x = {'tp_size': 2, 'page_size': 1}",
        "x = {'model': 'm', 'tensor_parallel_size': 2, 'gpu_memory_utilization': 0.9}",
        "load(model_path='m', tp_size=2)",
        '"""python -m sglang.launch_server --model-path m"""',
    ],
)
def test_what_is_no_server(text: str) -> None:
    assert not found(text)


def test_a_list_that_grows_is_told() -> None:
    text = "cmd = ['sglang', 'serve', 'm', *more]\nif x:\n    cmd += ['--y']\n"
    (command,) = found(text)
    reasons = [u.reason for u in command.unresolved]
    assert reasons == ["the program computes it", "the program changes cmd later"]


def test_a_text_with_fields() -> None:
    (command,) = found("run(f'sglang serve {model} --tp {2 * n} --x {{}}')")
    assert command.words == ("sglang", "serve", "{model}", "--tp", "{2 * n}", "--x", "{}")
    assert [t.text for t in command.tokens if t.unknown] == ["{model}", "{2 * n}"]


def test_what_is_no_python_says_where() -> None:
    (error,) = read_document(Document("a.py", "x = (\n"))
    assert "it is no Python" in str(error)
