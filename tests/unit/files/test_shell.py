from __future__ import annotations

import pytest

from kvsolve.files.found import Document, FileError, FoundCommand
from kvsolve.files.read import read_document


def found(text: str, told: dict[str, str] | None = None) -> list[FoundCommand]:
    items = read_document(Document("a.sh", text), told or {}, sure=False)
    assert not any(isinstance(item, FileError) for item in items), items
    return [item for item in items if isinstance(item, FoundCommand)]


def options(text: str, told: dict[str, str] | None = None) -> list[str]:
    """The words behind ``sglang serve m`` of the only command."""
    (command,) = found(text, told)
    words = list(command.words)
    return words[words.index("m") + 1 :]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("TP=8\nsglang serve m --tp $TP", ["--tp", "8"]),
        ("TP=8\nTP=4\nsglang serve m --tp $TP", ["--tp", "4"]),
        ("sglang serve m --tp ${TP:-8}", ["--tp", "8"]),
        ("TP=\nsglang serve m --tp ${TP:-8}", ["--tp", "8"]),
        ("TP=2\nsglang serve m --tp ${TP:-8}", ["--tp", "2"]),
        (': "${TP:=8}"\nsglang serve m --tp $TP', ["--tp", "8"]),
        ("N=4\nsglang serve m --tp $((N * 2)) --x $((16384*4))", ["--tp", "8", "--x", "65536"]),
        ("A='--tp 8'\nsglang serve m $A", ["--tp", "8"]),
        ("A='--tp 8'\nsglang serve m \"$A\"", ["--tp 8"]),
        ("A=\nsglang serve m $A --x", ["--x"]),
        ("A=(--tp 8)\nA+=(--x 'a b')\nsglang serve m \"${A[@]}\"", ["--tp", "8", "--x", "a b"]),
        ("A=--tp\nA+=' 8'\nsglang serve m $A", ["--tp", "8"]),
        ("export A=1 B=2\nsglang serve m --tp $A --dp $B", ["--tp", "1", "--dp", "2"]),
        ("A=(1 2)\nsglang serve m --bs ${A[*]} --tp ${A[1]}", ["--bs", "1", "2", "--tp", "2"]),
        ("A=x\nsglang serve m ${A:+--tp 8}", ["--tp", "8"]),
        ("sglang serve m --x $'a\\tb' --y a\\ b", ["--x", "a\tb", "--y", "a b"]),
        ("sglang serve m \\\n  --tp 8 \\\r\n  --x # no", ["--tp", "8", "--x"]),
        ("f() { sglang serve m --tp $1; }; sglang serve m --tp 2; f 3", None),
        ("if true; then sglang serve m --tp 8; fi", ["--tp", "8"]),
        ("case $1 in a) TP=1;; esac\nTP=2\nsglang serve m --tp $TP", ["--tp", "2"]),
        ("TP=8\ncase $1 in --tp) TP=$2;; esac\nsglang serve m --tp $TP", ["--tp", "8"]),
        ("if [ $X ]; then TP=2; else TP=2; fi\nsglang serve m --tp $TP", ["--tp", "2"]),
        ("TP=8\n[ -z $X ] && exit 1\nsglang serve m --tp $TP", ["--tp", "8"]),
        ("if [ -z $X ]; then TP=1; exit 1; fi\nTP=4; sglang serve m --tp $TP", ["--tp", "4"]),
        ("TP=8\n(TP=4)\nsglang serve m --tp $TP", ["--tp", "8"]),
        ("(cd /a && exec sglang serve m --tp 8) 2>&1 | tee log", ["--tp", "8"]),
        ("nohup sglang serve m --tp 8 &> log &", ["--tp", "8"]),
        ("CMD='sglang serve m --tp 8'\neval \"$CMD\"", ["--tp", "8"]),
        ("CMD='sglang serve m --tp 8'\n$CMD --x", ["--tp", "8", "--x"]),
        ("ssh host 'sglang serve m --tp 8'", ["--tp", "8"]),
        ("docker run --name Llama x/sglang:1 sglang serve m --tp 8", ["--tp", "8"]),
        ("tmux send-keys -t a \"sglang serve m --tp 8\" C-m", ["--tp", "8"]),
    ],
)  # fmt: skip
def test_what_the_text_tells(text: str, words: list[str] | None) -> None:
    if words is None:
        assert len(found(text)) == 2
    else:
        assert options(text) == words
        assert not found(text)[0].unresolved


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sglang serve m --tp $TP", "$TP is not set in this file"),
        ("sglang serve m --tp $(nproc)", "the shell computes it"),
        ("sglang serve m --tp `nproc`", "the shell computes it"),
        ("sglang serve m --tp $1", "the script is given it"),
        ("sglang serve m $@", "the script is given it"),
        ("TP=$(nproc)\nsglang serve m --tp $TP", "the shell computes it"),
        ("read TP\nsglang serve m --tp $TP", "read sets it"),
        ("TP=8\nsource a.sh\nsglang serve m --tp $TP", "a file read in may change it"),
        ("if [ $X ]; then TP=2; fi\nsglang serve m --tp $TP", "it is set under a condition"),
        ("TP=8\n[ $X ] && TP=4\nsglang serve m --tp $TP", "it is set under a condition"),
        ("A=()\nif [ $X ]; then A+=(--y); fi\nsglang serve m \"${A[@]}\"",
         "it is set under a condition"),
        ("for TP in 1 2; do sglang serve m --tp $TP; done", "it changes in a loop"),
        ("f() { TP=4; }\nTP=8\nf\nsglang serve m --tp $TP", "the function f sets it"),
        ("f() { sglang serve m --tp $TP; }\nTP=8\nf\nTP=4\nf", "it is set several times"),
        ("sglang serve m --x {a,b}", "the shell expands its braces"),
        ("sglang serve m --x *.json", "the shell looks for files that match it"),
        ("sglang serve m --x <your-path>", "it is a placeholder to fill in"),
        ("sglang serve m --tp 2 ...", "it is left out"),
        ("A=abc\nsglang serve m --x ${A%c}", "the shell computes it"),
        ("sglang serve m --tp $((N * 2))", "it is computed from what is not known"),
        ("sglang serve m ${A:+--x}", "it depends on $A, which is not set in this file"),
    ],
)  # fmt: skip
def test_what_it_does_not_tell_is_not_guessed(text: str, reason: str) -> None:
    (command,) = found(text)
    assert [unresolved.reason for unresolved in command.unresolved] == [reason]


@pytest.mark.parametrize(
    "text",
    [
        "echo sglang serve m",
        "# sglang serve m",
        "pkill -f 'python -m sglang.launch_server'",
        "python -m sglang_router.launch_router --worker-urls a",
        "python -m sglang.bench_serving --backend sglang",
        "pip install sglang",
        "echo 'run python -m sglang.launch_server --model-path m'",
        "cat <<END\nnothing\nEND\n",
    ],
)
def test_what_starts_no_server_is_no_command(text: str) -> None:
    assert not found(text)


def test_the_user_tells_what_the_text_does_not() -> None:
    assert options("sglang serve m --tp $TP", {"TP": "4"}) == ["--tp", "4"]


def test_environment_reaches_the_command() -> None:
    (command,) = found("export A=1\nB=2 C=$X sglang serve m")
    assert command.env == {"A": "1", "B": "2"}
    assert command.unknown_env == {"C": "$X is not set in this file"}


def test_a_line_is_read_where_the_text_around_it_is_none() -> None:
    text = "Don't\nsglang serve m \\\n --tp 8\nisn't it\nand 'open"
    assert options(text) == ["--tp", "8"]


def test_a_text_that_is_no_shell_is_told_with_its_line() -> None:
    (error,) = read_document(Document("a.sh", "ls\nsglang serve 'm"))
    assert isinstance(error, FileError)
    assert (error.line, error.file) == (2, "a.sh")


@pytest.mark.parametrize("text", ["(" * 400, "$(" * 400, "${a:-" * 400, "if " * 400, "{ " * 400])
def test_nesting_is_bounded(text: str) -> None:
    items = read_document(Document("a.sh", text + "sglang serve m"), sure=False)
    assert all(isinstance(item, (FileError, FoundCommand)) for item in items)
