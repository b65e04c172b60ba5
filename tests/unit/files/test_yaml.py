from __future__ import annotations

import pytest

from kvsolve.files.found import Document, FileError, FoundCommand, SkippedError
from kvsolve.files.hints import gpu_of_label
from kvsolve.files.read import read_document
from kvsolve.files.strand import whole
from kvsolve.files.walk import documents
from kvsolve.files.yaml_nodes import SCALAR, Node, YamlTextError, yaml_documents
from kvsolve.files.yaml_scalars import scalar_strand


def found(text: str, name: str = "a.yaml", *, sure: bool = False) -> list[FoundCommand]:
    items = read_document(Document(name, text), sure=sure)
    assert not any(isinstance(item, FileError) for item in items), items
    return [item for item in items if isinstance(item, FoundCommand)]


def scalars(node: Node) -> list[Node]:
    inner = [*node.items, *(part for pair in node.pairs for part in pair)]
    return [node] if node.kind == SCALAR else [s for part in inner for s in scalars(part)]


@pytest.mark.parametrize(
    "text",
    [
        "plain text",
        "a: plain\n   over\n\n   lines",
        "'single ''quoted'' over\n\n  lines'",
        '"double \\"quoted\\" \\\n   joined \\t \\u00e9 \\x41 over\n  lines\\n"',
        "|\n  literal\n   deeper\n\n  end\n",
        "|-\n  stripped\n\n",
        "|+\n  kept\n\n",
        "a: |2\n    two deeper\n   one\n",
        ">\n  folded\n  lines\n\n  paragraph\n   deeper\n   still\n  back\n",
        ">-\n  a\n\n\n  b\n",
        "- &anchor !!str tagged\n- *anchor",
        "|\r\n  a\r\n  b\r\n",
        "? key\n: value",
    ],
)
def test_a_scalar_is_written_where_it_says(text: str) -> None:
    source = whole(text)
    (root,) = yaml_documents(text)
    for node in scalars(root):
        strand = scalar_strand(node, source)
        assert strand.mapped
        assert strand.text == node.value
        escaped = '"' in text or "''" in text
        for at, place in enumerate(strand.at):
            same = text[place] == strand.text[at]
            assert same or escaped or (strand.text[at] in " \n" and text[place] in "\r\n")


@pytest.mark.parametrize("text", ["a: [", "a: *b", "[" * 400, "- a\n b: c", "a: 'x"])
def test_what_is_no_yaml_says_where(text: str) -> None:
    with pytest.raises(YamlTextError) as error:
        list(yaml_documents(text))
    assert 0 <= error.value.index <= len(text)


def test_documents_before_the_fault_are_read() -> None:
    text = "args: [sglang, serve, m]\n---\na: *nothing\n"
    command, error = read_document(Document("a.yaml", text), sure=False)
    assert isinstance(command, FoundCommand)
    assert isinstance(error, FileError)
    assert error.line == 3


def test_aliases_are_not_copied() -> None:
    rows = ["a0: &a0 [sglang, serve, m]"]
    rows += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 60)]
    command, problem = read_document(Document("a.yaml", "\n".join(rows)), sure=False)
    assert isinstance(command, FoundCommand)
    assert "its aliases stand for more than 1,000,000 values" in str(problem)


def test_a_value_of_aliases_is_bounded() -> None:
    rows = ["model-path: m", "tp-size: 2", "hisparse-config:", "  a0: &a0 [1]"]
    rows += [f"  a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 40)]
    command, problem = read_document(Document("a.yaml", "\n".join(rows)))
    assert isinstance(command, FoundCommand)
    assert [u.reason for u in command.unresolved] == ["it is too large, or holds itself"]
    assert "its aliases stand for more than 1,000,000 values" in str(problem)


def test_a_value_that_holds_itself_is_unknown() -> None:
    text = "model-path: m\ntp-size: 2\nhisparse-config: &a {x: *a}\n"
    (command,) = found(text, sure=True)
    assert [u.reason for u in command.unresolved] == ["it is too large, or holds itself"]


def test_merged_services_share_their_words() -> None:
    text = (
        "x-a: &a\n  image: x\n  command: [sglang, serve, m, --tp, '2']\n"
        "services:\n  one: {<<: *a, environment: {A: '1'}}\n"
        "  two: {<<: *a, environment: {A: '2'}}\n"
    )
    one, two = found(text)
    assert (one.env, two.env) == ({"A": "1"}, {"A": "2"})
    assert {token.locked for token in one.tokens} == {"several commands share it"}


def test_a_merge_that_holds_itself_ends() -> None:
    assert found("a: &a\n  <<: *a\n  args: [sglang, serve, m]\n")


def test_variables_of_a_container() -> None:
    text = """\
env:
- {name: A, value: "8"}
- {name: B, value: $(A)1}
- {name: C, valueFrom: {secretKeyRef: {name: x, key: y}}}
args: [sglang, serve, m, --tp, $(A), --dp, $(B), --x, $(C), --y, $(D), --z, $$(A)]
"""
    (command,) = found(text)
    assert command.words[3:] == (
        "--tp", "8", "--dp", "81", "--x", "$(C)", "--y", "$(D)", "--z", "$(A)",
    )  # fmt: skip
    assert [u.reason for u in command.unresolved] == [
        "the cluster sets $C (valueFrom)",
        "$D is not set in this file",
    ]
    assert command.env == {"A": "8", "B": "81"}


def test_a_script_sees_the_variables_of_its_container() -> None:
    text = (
        'env: [{name: A, value: "8"}]\ncommand: [sh, -c]\n'
        "args: ['sglang serve m --tp $A --dp $(A) --x $(nproc)']\n"
    )
    (command,) = found(text)
    assert command.words[3:] == ("--tp", "8", "--dp", "8", "--x", "$(nproc)")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("command: [python3, -m, vllm.entrypoints.api_server]", 0),
        ("args: [--model-path, m]", 0),
        ("image: x/sglang:1\nargs: [--model-path, m]", 1),
        ("run: |\n  echo a\n  sglang serve m\n", 1),
        ("steps: ['sglang serve m', 'sglang serve n']", 2),
        ("description: Runs sglang serve for you.", 0),
        ("sglang_config: {prefill: {model-path: m}, decode: {model-path: m}}", 2),
        ("a: {model-path: m, tp-size: 2, page-size: 1}", 1),
        ("dp: {max_running_requests: 24, chunked_prefill_size: 64 * TP, page_size: 1}", 0),
        ("vllm: {tensor-parallel-size: 2, kv-cache-dtype: fp8, served-model-name: x}", 0),
        ("a: {tensor-parallel-size: 2, kv-cache-dtype: fp8, max-model-len: 8}", 0),
        ("model-path: m\nresources: {cpu: 1}\nreplicas: 2\nname: x\n", 0),
    ],
)
def test_what_is_a_command(text: str, count: int) -> None:
    assert len(found(text)) == count


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("a-b: true", ["--a-b", "true"]),
        ("enable-metrics: true", ["--enable-metrics"]),
        ("enable-metrics: false", []),
        ("page-size: null", ["--page-size", "None"]),
        ("cuda-graph-bs: [1, 2]", ["--cuda-graph-bs", "1", "2"]),
        ("hisparse-config: {top_k: 2}", ["--hisparse-config", '{"top_k": 2}']),
        ("port: 0x10", ["--port", "16"]),
        ("host: 'on'", ["--host", "on"]),
        ("host: on", ["--host", "true"]),
    ],
)
def test_options_as_the_release_reads_them(rows: str, words: list[str]) -> None:
    (command,) = found(f"model-path: m\ntp-size: 2\nkv-cache-dtype: auto\n{rows}\n", sure=True)
    assert list(command.words) == [
        "--model-path", "m", "--tp-size", "2", "--kv-cache-dtype", "auto", *words,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "profile"),
    [
        ("NVIDIA-H100-80GB-HBM3", "h100"),
        ("nvidia-h100-mega-80gb", "h100"),
        ("NVIDIA-H200", "h200"),
        ("NVIDIA-H20", "h20"),
        ("NVIDIA-GB200", "gb200"),
        ("nvidia-b200", "b200"),
        ("NVIDIA-A100-SXM4-80GB", "a100"),
        ("NVIDIA-A100-PCIE-40GB", None),
        ("nvidia-l4", "l4"),
        ("NVIDIA-L40S", "l40s"),
        ("NVIDIA-L40", None),
        ("Tesla-T4", "t4"),
        ("AMD_Instinct_MI300X_OAM", "mi300x"),
        ("p5.48xlarge", "h100"),
        ("p5en.48xlarge", "h200"),
        ("g6e.12xlarge", "l40s"),
        ("g6.xlarge", "l4"),
        ("a3-highgpu-8g", "h100"),
        ("BM.GPU.H100.8", "h100"),
        ("m5.large", None),
    ],
)
def test_products_and_machines(label: str, profile: str | None) -> None:
    assert gpu_of_label(label) == profile


def test_a_line_of_a_template_inside_a_command_is_a_remark() -> None:
    text = (
        "args:\n  - sglang\n  - serve\n  - m\n  {{- if .Values.x }}\n  - --x\n  {{- end }}\n"
        "  - --tp={{ .Values.tp }}\n"
    )
    (command,) = found(text)
    reasons = [u.reason for u in command.unresolved]
    assert reasons == ["a template fills it in", *["a template decides what stands here"] * 2]


def test_walks(tmp_path: object) -> None:
    from pathlib import Path

    root = Path(str(tmp_path))
    for name in ("a.yaml", "b/c.sh", "b/.hidden/d.sh", "node_modules/e.sh", "out/f.sh", "g.txt",
                 "keep/h.sh", "keep/i.sh", "Dockerfile", "run", "values.yaml.j2"):  # fmt: skip
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\nsglang serve m\n")
    (root / "other.sh").write_text("ls\n")
    (root / ".gitignore").write_text("# none\n/out/\nkeep/*\n!keep/h.sh\n")
    (root / "b" / "loop").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    met = list(documents([str(root)]))
    names = [Path(m.document.path).relative_to(root).as_posix()
             for m in met if not isinstance(m, FileError)]  # fmt: skip
    assert names == ["Dockerfile", "a.yaml", "run", "values.yaml.j2", "b/c.sh", "keep/h.sh"]
    told = [str(m).replace(str(root), "") for m in met if isinstance(m, FileError)]
    assert told == [
        "/self: leads nowhere: Too many levels of symbolic links",
        "/b/loop: is a link to a folder that is read anyway",
    ]
    assert all(isinstance(m, SkippedError) for m in met if isinstance(m, FileError))


def test_options_of_a_config_map_come_before_those_of_the_command() -> None:
    text = """\
data:
  prefill.yaml: |
    model-path: m
    tp-size: 2
    enable-metrics: true
  decode.yaml: |
    model-path: m
    tp-size: 4
    page-size: 1
---
command: [python3, -m, dynamo.sglang]
args: [--config, /config/prefill.yaml, --tp-size, "8"]
"""
    decode, server = found(text)
    assert (decode.name, decode.form) == ("decode.yaml", "options")
    assert server.words[3:] == (
        "--model-path", "m", "--tp-size", "2", "--enable-metrics", "--tp-size", "8",
    )  # fmt: skip
    lines = [text.count("\n", 0, token.start) + 1 for token in server.tokens]
    assert lines == [11, 11, 11, 3, 3, 4, 4, 5, 12, 12]


def test_a_recipe_spreads_a_worker_over_nodes() -> None:
    text = """\
resources: {gpu_type: gb200, gpus_per_node: 4, prefill_nodes: 4, prefill_workers: 2}
backend:
  sglang_config:
    prefill: {tp-size: 8, page-size: [1, 64], cuda-graph-bs-decode: [1, 2]}
"""
    (command,) = found(text)
    assert (command.gpu, command.gpus) == ("gb200", 4)
    assert command.words == (
        "--tp-size", "8", "--page-size", "[1, 64]", "--cuda-graph-bs-decode", "1", "2",
        "--nnodes", "2", "--dist-init-addr", "HOST:PORT",
    )  # fmt: skip
    assert [u.reason for u in command.unresolved] == [
        "the recipe tries several values",
        "the recipe's launcher adds it",
    ]


def test_an_entry_of_a_catalogue_of_models_is_no_server() -> None:
    entry = "models:\n  - name: scout\n    model_path: meta/scout\n    quantization: bf16\n"
    assert found(entry) == []
    assert len(found(entry.replace("quantization: bf16", "tp_size: 8"))) == 1
