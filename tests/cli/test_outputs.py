from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from kvsolve.outputs.envelope import envelope, json_line, json_text
from kvsolve.outputs.markdown import check_markdown, repairs_markdown
from kvsolve.outputs.matrix import matrix_csv, matrix_markdown, matrix_text
from kvsolve.outputs.matrix_html import matrices_html
from kvsolve.outputs.matrix_latex import matrix_latex
from kvsolve.outputs.paint import PLAIN, Paint, paint_for
from kvsolve.outputs.redact import HIDDEN, Redactor
from kvsolve.outputs.repair_text import conflict_text, paste, repairs_text
from kvsolve.outputs.tables import csv_table
from kvsolve.outputs.text import check_text, headline
from kvsolve.outputs.words import quote, wrap
from tests.cli import samples
from tests.cli.samples import ARGV, PROGRAM, SECRET

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

HIDE = Redactor(ARGV)


@pytest.mark.parametrize("name", ["EVERYTHING", "CLEAN", "OPEN"])
def test_an_answer_reads_like_this(name: str, snapshot: SnapshotAssertion) -> None:
    assert check_text(getattr(samples, name), width=80) == snapshot


def test_notes_are_counted_and_told_on_request(snapshot: SnapshotAssertion) -> None:
    short = check_text(samples.EVERYTHING)
    assert "1 default replaced" in short
    assert "KV0405" not in short
    assert check_text(samples.EVERYTHING, notes=True) == snapshot


def test_only_the_first_refusal_is_where_sglang_stops() -> None:
    text = check_text(samples.result(samples.FIRST, samples.LATER))
    assert text.count("SGLang stops here") == 1
    assert "KV0101] prefill-only-needs-auto-dtype" in text.partition("SGLang stops here")[0]


def test_repairs_read_like_this(snapshot: SnapshotAssertion) -> None:
    repairs = [HIDE.repair(r) for r in (samples.BEST, samples.OTHER)]
    assert repairs_text(repairs, HIDE.argv(ARGV), PROGRAM, width=80) == snapshot


def test_a_conflict_reads_like_this(snapshot: SnapshotAssertion) -> None:
    assert conflict_text(HIDE.conflict(samples.CONFLICT), width=80) == snapshot


def test_markdown_reads_like_this(snapshot: SnapshotAssertion) -> None:
    assert check_markdown(HIDE.result(samples.EVERYTHING), PROGRAM) == snapshot
    assert repairs_markdown([HIDE.repair(samples.BEST)], HIDE.argv(ARGV), PROGRAM) == snapshot


def test_no_text_says_that_a_configuration_works() -> None:
    for result in (samples.CLEAN, samples.EVERYTHING, samples.OPEN):
        words = check_text(result).lower()
        assert "works" not in words
        assert "will run fine" not in words
    assert "nothing known" in headline(samples.CLEAN)


@pytest.mark.parametrize("width", [40, 80])
def test_sentences_keep_to_the_width(width: int) -> None:
    text = check_text(samples.result(samples.FIRST), width=width)
    sentences = [line for line in text.splitlines() if line.startswith("  ")][:-1]
    assert sentences
    assert all(len(line) <= width for line in sentences if "server_args" not in line)


def test_wrapping_loses_no_word() -> None:
    words = "one two three four five"
    assert wrap(words, 9, "  ").split() == words.split()


# Colour


def test_colour_only_where_a_terminal_wants_it() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert paint_for(Terminal(), {}).enabled
    assert not paint_for(Terminal(), {"NO_COLOR": "1"}).enabled
    assert not paint_for(Terminal(), {"TERM": "dumb"}).enabled
    assert not paint_for(io.StringIO(), {}).enabled


def test_colour_changes_no_word() -> None:
    import re

    painted = check_text(samples.EVERYTHING, Paint(True))
    assert painted != check_text(samples.EVERYTHING, PLAIN)
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == check_text(samples.EVERYTHING, PLAIN)


# JSON


def test_the_envelope_has_the_keys_of_the_contract() -> None:
    data = json.loads(json_text(envelope([samples.EVERYTHING.to_dict()])))
    assert set(data) == {"version", "tool", "tool_version", "results", "errors"}
    assert data["version"] == 1
    assert data["tool"] == "kvsolve"
    assert {
        "source", "argv", "sglang", "sglang_from", "facts", "judged_to", "verdict", "findings",
        "effective", "provenance", "not_modelled", "profiles",
    } <= set(data["results"][0])  # fmt: skip
    for finding in data["results"][0]["findings"]:
        assert {
            "code", "slug", "kind", "severity", "stage", "raises", "flags", "message", "remedy",
            "after_first", "ground", "location",
        } <= set(finding)  # fmt: skip


def test_a_json_line_is_one_line() -> None:
    line = json_line(samples.EVERYTHING.to_dict())
    assert line.count("\n") == 1
    assert json.loads(line) == json.loads(json_text(samples.EVERYTHING.to_dict()))


# Matrices


def test_a_matrix_reads_like_this(snapshot: SnapshotAssertion) -> None:
    assert matrix_text(samples.MATRIX, samples.REASONS) == snapshot
    assert matrix_markdown(samples.MATRIX, samples.REASONS) == snapshot


def test_each_reason_is_told_once() -> None:
    text = matrix_text(samples.MATRIX, samples.REASONS)
    assert text.count("Needs <Blackwell> | later.") == 1
    assert "no 2,3" in text


def test_matrix_csv_has_a_line_a_cell() -> None:
    rows = list(csv.DictReader(io.StringIO(matrix_csv(samples.MATRIX, samples.REASONS))))
    assert [(r["row"], r["col"], r["state"]) for r in rows] == [
        ("auto", "unset", "yes"), ("auto", "fa3", "with"),
        ("nvfp4", "unset", "no"), ("nvfp4", "fa3", "no"),
    ]  # fmt: skip
    assert rows[1]["edits"] == "--page-size 1; drop --x"
    assert rows[3]["codes"] == "KV0202 KV0101"


def test_a_wide_matrix_goes_on_below() -> None:
    text = matrix_text(samples.MATRIX, samples.REASONS, 50)
    lines = [line for line in text.splitlines() if line.startswith(("kv_cache_dtype \\", "auto"))]
    assert [line.split()[-1] for line in lines] == ["unset", "yes", "fa3", "1"]
    assert matrix_text(samples.MATRIX, samples.REASONS, 200).count("kv_cache_dtype \\") == 1


def test_matrix_latex_is_closed_and_escaped(snapshot: SnapshotAssertion) -> None:
    text = matrix_latex(samples.MATRIX, samples.REASONS)
    assert text == snapshot
    opened = re.findall(r"\\begin{(\w+)}", text)
    assert sorted(opened) == sorted(re.findall(r"\\end{(\w+)}", text))
    assert "kv_cache" not in text.replace("kv\\_cache", "")


def test_csv_runs_no_formula() -> None:
    assert csv_table(["a"], [["=1+1"], ["-1"]]).splitlines() == ["a", "'=1+1", "-1"]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)
        self.links += [v for k, v in attrs if k == "href" and v]
        self.ids += [v for k, v in attrs if k == "id" and v]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_matrix_html_is_whole_and_stands_alone() -> None:
    text = matrices_html([samples.MATRIX, samples.MATRIX], samples.REASONS)
    page = _Page()
    page.feed(text)
    assert not page.open
    assert "script" not in page.tags
    assert page.tags.count("td") == 8
    assert {link.removeprefix("#") for link in page.links} == set(page.ids)
    assert "&lt;Blackwell&gt;" in text


# Shell


@pytest.mark.parametrize(
    ("token", "quoted"),
    [
        ("--page-size", "--page-size"),
        ("a b", "'a b'"),
        ("it's", "'it'\"'\"'s'"),
        ('{"a": 1}', "'{\"a\": 1}'"),
        ("*.json", "'*.json'"),
        ("", "''"),
        ("$HOME", "'$HOME'"),
    ],
)
def test_tokens_are_quoted_for_a_shell(token: str, quoted: str) -> None:
    import shlex

    assert quote(token) == quoted
    assert shlex.split(quoted) == [token]


def test_a_pasted_command_is_the_same_command() -> None:
    argv = ("--model-path", "a b", "--schedule-conservativeness", "-1.5", "--x", "it's")
    show = 'for token in "$@"; do printf "%s\\0" "$token"; done'
    script = f"set -- {paste(argv, PROGRAM)}{show}"
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert shell.stdout.split("\0")[:-1] == [*PROGRAM, *argv]


# Secrets


def test_no_renderer_shows_a_secret() -> None:
    leaky = samples.result(
        samples.FIRST,
        samples.REWRITTEN.__class__(
            **{
                **{f: getattr(samples.REWRITTEN, f) for f in samples.REWRITTEN.__slots__},
                "message": f"keeps {SECRET}",
                "before": SECRET,
                "dest": "admin_api_key",
            }
        ),
    )
    hidden = HIDE.result(leaky)
    repair = HIDE.repair(samples.BEST)
    outputs = [
        check_text(hidden, notes=True),
        check_markdown(hidden, PROGRAM),
        json_text(envelope([hidden.to_dict()])),
        json_line(hidden.to_dict()),
        repairs_text([repair], HIDE.argv(ARGV), PROGRAM),
        repairs_markdown([repair], HIDE.argv(ARGV), PROGRAM),
        json_line(repair.to_dict()),
        conflict_text(HIDE.conflict(samples.CONFLICT)),
        paste(HIDE.argv(ARGV), PROGRAM),
    ]
    assert SECRET in check_text(leaky, notes=True)
    for text in outputs:
        assert SECRET not in text
    assert all(HIDDEN in text for text in (outputs[0], outputs[1], outputs[8]))
