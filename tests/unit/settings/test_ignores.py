from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kvsolve.settings.ignores import Ignore, ignores_in

SHELL = """#!/bin/sh
# kvsolve: ignore[KV1035] the chart patches this in
# another word

exec python -m sglang.launch_server \\
  --model-path m
python -m sglang.launch_server --model-path m  # kvsolve: ignore[KV1, some-slug]: known
"""


def told(text: str) -> list[tuple[str, tuple[str, ...], str, int, int]]:
    return [(i.by, i.codes, i.reason, i.first, i.last) for i in ignores_in(text)]


def test_a_comment_holds_for_its_line_or_the_next_command() -> None:
    assert told(SHELL) == [
        ("comment", ("KV1035",), "the chart patches this in", 2, 5),
        ("comment", ("KV1", "some-slug"), "known", 7, 7),
    ]


def test_comments_of_other_languages() -> None:
    assert told("<!-- kvsolve: ignore[KV1] an example -->\n```\nsglang serve m\n```") == [
        ("comment", ("KV1",), "an example", 1, 2)
    ]
    assert told('  "--tp", "2",  // kvsolve: ignore[KV1] why')[0][1:3] == (("KV1",), "why")


def test_mistakes() -> None:
    mistakes = [
        ignore.mistake
        for ignore in ignores_in(
            "# kvsolve: ignore[KV1]\n# kvsolve: ignore reason\n# kvsolve: ignore[] x\n"
        )
    ]
    assert mistakes[0] == "the suppression of KV1 gives no reason"
    assert all("names its codes" in mistake for mistake in mistakes[1:])


MANIFEST = """apiVersion: v1
metadata:
  annotations:
    kvsolve.dev/ignore: "KV7 of another document"
---
metadata:
  annotations:
    kvsolve.dev/ignore: |
      KV1035, KV1037 the operator rewrites the dtype
      some-slug: known
    kvsolve.dev/ignore.KV1038: 'set by hand'
    kvsolve.dev/ignored: no
spec: {}
---
kind: List
"""


def test_an_annotation_holds_for_its_document() -> None:
    assert told(MANIFEST) == [
        ("annotation", ("KV7",), "of another document", 1, 4),
        ("annotation", ("KV1035", "KV1037"), "the operator rewrites the dtype", 6, 13),
        ("annotation", ("some-slug",), "known", 6, 13),
        ("annotation", ("KV1038",), "set by hand", 6, 13),
    ]


def test_a_text_that_mentions_kvsolve_is_no_suppression() -> None:
    assert ignores_in("# run kvsolve: it ignores[KV1] nothing\nkvsolve check\n") == ()


LINES = st.lists(
    st.sampled_from([
        "# kvsolve: ignore[KV1] why", "x  # kvsolve: ignore[KV2, b] why", "", "  ", "---", "# c",
        "kvsolve.dev/ignore: KV3 why", "  kvsolve.dev/ignore: |", "    KV4 why", "command --x",
        "kvsolve.dev/ignore:", "# kvsolve: ignore", "// kvsolve: ignore[",
        "\x85 # kvsolve: ignore]",
    ])
)  # fmt: skip


@given(LINES)
def test_every_suppression_has_its_place_inside_the_text(lines: list[str]) -> None:
    for ignore in ignores_in("\n".join(lines)):
        assert isinstance(ignore, Ignore)
        assert 1 <= ignore.first <= ignore.line <= len(lines)
        assert ignore.line <= ignore.last <= len(lines)
        assert 1 <= ignore.column <= len(lines[ignore.line - 1])
        assert bool(ignore.mistake) == (not ignore.codes or not ignore.reason)


def test_yaml_comments_are_no_part_of_a_reason() -> None:
    for value in ('"KV1 why"', "'KV1 why'", "KV1 why"):
        assert told(f"kvsolve.dev/ignore: {value}  # and more")[0][1:3] == (("KV1",), "why")
    assert told("kvsolve.dev/ignore: KV1 as in a#b")[0][2] == "as in a#b"
