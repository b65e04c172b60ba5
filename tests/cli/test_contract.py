from __future__ import annotations

import json
import shlex
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING, Any

import pytest

import kvsolve
from tests.cli.running import EXAMPLE, H100, LLAMA, PLAIN, assert_one_sentence, run

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
RESULT = {
    "source", "argv", "sglang", "sglang_from", "facts", "judged_to", "verdict", "findings",
    "effective", "provenance", "not_modelled", "profiles",
}  # fmt: skip
FINDING = {
    "code", "slug", "kind", "severity", "stage", "raises", "flags", "message", "remedy",
    "after_first", "ground", "location",
}  # fmt: skip
EDIT = {"op", "flag", "from", "value", "cost", "also"}
CONTEXT = {"sglang": "0.5.18", "gpu": "h100"}


def result(capsys: Capture, *command: str, options: tuple[str, ...] = H100) -> dict[str, Any]:
    answer = run(capsys, "check", *options, "--format", "json", "--", *command).json
    assert set(answer) == {"version", "tool", "tool_version", "results", "errors"}
    assert (answer["version"], answer["tool"]) == (1, "kvsolve")
    assert answer["tool_version"] == kvsolve.__version__
    (only,) = answer["results"]
    return dict(only)


def test_a_check(capsys: Capture) -> None:
    answer = result(capsys, *EXAMPLE)
    assert set(answer) >= RESULT
    assert answer["argv"] == list(EXAMPLE[3:])
    assert answer["verdict"] == "invalid"
    assert set(answer["facts"]) == {"gpu", "gpus", "model", "model_from"}
    for finding in answer["findings"]:
        assert set(finding) >= FINDING
        assert finding["ground"] is None or set(finding["ground"]) >= {"file", "symbol", "sglang"}
        if finding["kind"] == "rewrite":
            assert {"before", "after"} <= set(finding)
    assert set(answer["provenance"]) == set(answer["effective"])
    assert answer["effective"]["is_embedding"] is True
    assert answer["provenance"]["is_embedding"] == "user"


def test_the_example_is_told_whole(capsys: Capture) -> None:
    """The dtype under prefill-only, chunked prefill, radix cache, and the GPU: all in one run."""
    errors = [f for f in result(capsys, *EXAMPLE)["findings"] if f["severity"] == "error"]
    assert [f["after_first"] for f in errors] == [False] + [True] * (len(errors) - 1)
    at_args = [f for f in errors if f["stage"] == "args"]
    dests = [flag for f in at_args for flag in f["flags"]]
    assert {"--kv-cache-dtype", "--chunked-prefill-size", "--disable-radix-cache"} <= set(dests)
    assert "Blackwell" in " ".join(f["message"] for f in at_args)
    assert all(f["ground"]["file"] and f["ground"]["symbol"] for f in at_args)


def test_json_lines_hold_the_results_of_the_envelope(capsys: Capture) -> None:
    (line,) = run(capsys, "check", *H100, "--format", "jsonl", "--", *EXAMPLE).lines
    assert line == result(capsys, *EXAMPLE)


def test_a_fix(capsys: Capture) -> None:
    ran = run(capsys, "fix", *H100, "--format", "json", "--", *EXAMPLE)
    (answer,) = ran.json["results"]
    assert set(answer) >= RESULT | {"repairs", "conflict"}
    assert answer["conflict"] is None
    assert len(answer["repairs"]) == 3
    for repair in answer["repairs"]:
        assert set(repair) >= {"cost", "optimal", "bound", "domain", "edits", "removes", "argv"}
        assert all(set(edit) == EDIT for edit in repair["edits"])
        assert repair["cost"] == sum(edit["cost"] for edit in repair["edits"])
        assert result(capsys, *repair["argv"])["verdict"] == "valid"
    costs = [repair["cost"] for repair in answer["repairs"]]
    assert costs == sorted(costs)
    assert answer["repairs"][0]["optimal"]


def test_a_fix_that_keeps_and_one_that_drops_the_feature(capsys: Capture) -> None:
    (answer,) = run(capsys, "fix", *H100, "--format", "json", "--", *EXAMPLE).json["results"]
    kept = ["--prefill-only-disable-kv-cache" in r["argv"] for r in answer["repairs"]]
    assert {True, False} == set(kept)


def test_the_command_of_a_fix_can_be_pasted(capsys: Capture) -> None:
    ran = run(capsys, "fix", *H100, "--command-only", "--", *EXAMPLE)
    tokens = shlex.split(ran.out.replace("\\\n", " "))
    assert tokens[:3] == ["python", "-m", "sglang.launch_server"]
    assert run(capsys, "check", *H100, "--", *tokens).code == 0


def test_a_fix_keeps_what_it_is_told_to(capsys: Capture) -> None:
    command = (*PLAIN, "--kv-cache-dtype", "nvfp4")
    ran = run(capsys, "fix", *H100, "--format", "json", "--keep", "kv-cache-dtype", "--", *command)
    (answer,) = ran.json["results"]
    assert answer["repairs"] == []
    conflict = answer["conflict"]
    assert set(conflict) >= {"pins", "facts", "codes"}
    assert conflict["pins"] == [{"flag": "--kv-cache-dtype", "value": "nvfp4"}]
    assert conflict["codes"]
    same = run(
        capsys, "conflict", *H100, "--format", "json", "--keep", "kv-cache-dtype", "--", *command
    )
    assert same.code == 1
    assert same.json["conflict"] == conflict


def test_options(capsys: Capture) -> None:
    args = ("options", *H100, "--format", "json", "kv-cache-dtype", "--", *PLAIN)
    answer = run(capsys, *args).json
    (flag,) = answer["flags"]
    assert set(flag) >= {"flag", "given", "values"}
    assert flag["flag"] == "--kv-cache-dtype"
    values = {value["value"]: value for value in flag["values"]}
    assert all(set(value) >= {"value", "ok", "codes", "edits"} for value in flag["values"])
    assert values["fp8_e4m3"]["ok"] is True
    assert values["nvfp4"]["ok"] is False
    assert values["nvfp4"]["codes"]
    assert "Blackwell" in run(capsys, "options", *H100, "kv-cache-dtype", "--", *PLAIN).out


def test_count_and_list_agree(capsys: Capture) -> None:
    scope = ("--vary", "kv-cache-dtype", "--vary", "page-size=1,64")
    answer = run(capsys, "count", *H100, "--format", "json", *scope, "--", *PLAIN).json
    assert set(answer) >= {"count", "exact", "lower", "upper", "over"}
    assert answer["exact"] is True
    assert answer["over"] == "representatives"
    lines = run(capsys, "list", *H100, "--format", "jsonl", *scope, "--", *PLAIN).lines
    assert answer["count"] == answer["lower"] == answer["upper"] == str(len(lines))
    assert all(set(line) == {"argv", "assignment"} for line in lines)
    assert all(set(line["assignment"]) == {"kv_cache_dtype", "page_size"} for line in lines)
    first = run(capsys, "list", *H100, "--format", "jsonl", "-n", "2", *scope, "--", *PLAIN).lines
    assert first == lines[:2]
    for line in lines:
        assert run(capsys, "check", *H100, "--", *line["argv"]).code == 0


def test_a_matrix_in_every_format(capsys: Capture) -> None:
    axes = ("--rows", "kv-cache-dtype=auto,nvfp4", "--cols", "gpu=h100,b200")
    args = ("matrix", "--sglang", "0.5.18", "--given", f"model-path={LLAMA}", *axes)
    ran = run(capsys, *args, "--format", "json", "--allow-unknown")
    answer = ran.json
    assert ran.code == 0
    assert set(answer) >= {"rows", "cols", "context", "cells"}
    assert answer["rows"] == {"name": "kv_cache_dtype", "values": ["auto", "nvfp4"]}
    assert len(answer["cells"]) == 4
    states = {(c["row"], c["col"]): c["state"] for c in answer["cells"]}
    assert states["nvfp4", "h100"] == "no"
    assert states["auto", "h100"] in ("yes", "with")
    for style in ("text", "markdown", "csv", "html", "latex", "jsonl"):
        out = run(capsys, *args, "--format", style, "--allow-unknown").out
        assert "nvfp4" in out
        assert "h100" in out


def test_a_matrix_judges_values_that_no_entry_names(capsys: Capture) -> None:
    axes = ("--rows", "page_size=48,unset", "--cols", "served_model_name=a,unset")
    ran = run(capsys, "matrix", *H100, *axes, "--format", "json", "--", *PLAIN)
    states = {(cell["row"], cell["col"]): cell["state"] for cell in ran.json["cells"]}
    assert ran.code == 0
    assert states == {
        (48, "a"): "with", (48, None): "with", (None, "a"): "yes", (None, None): "yes",
    }  # fmt: skip
    tokens = ("--page-size", "48", "--served-model-name", "a")
    assert run(capsys, "check", *H100, "--", *PLAIN, *tokens).code == 1


def test_options_show_no_secret(capsys: Capture) -> None:
    for style in ("text", "json", "csv", "markdown"):
        command = (*PLAIN, "--api-key", "s3cr3t")
        ran = run(capsys, "options", *H100, "api-key", "--format", style, "--", *command)
        assert ran.code == 0
        assert "s3cr3t" not in ran.out + ran.err
        assert "***" in ran.out


def test_flags_may_be_abbreviated_as_in_a_launch_command(capsys: Capture) -> None:
    long, short = (
        run(capsys, "list", *H100, "--vary", f"{name}=1,2,3", "--", *PLAIN)
        for name in ("tp-size", "tensor-parallel-s")
    )
    assert long.code == 0
    assert short.out == long.out


def test_a_value_named_twice_is_counted_once(capsys: Capture) -> None:
    assert run(capsys, "count", *H100, "--vary", "page_size=1,1", "--", *PLAIN).out == "1\n"


def test_a_value_that_is_not_known_is_no_rewrite(capsys: Capture) -> None:
    draft = ("--speculative-algorithm", "EAGLE", "--speculative-draft-model-path", "no/such")
    ran = run(capsys, "check", "--sglang", "0.5.23", "--gpu", "h100", "--", *PLAIN, *draft)
    assert ran.code == 2
    assert "EAGLE ->" not in ran.out


def test_a_matrix_asks_for_what_it_needs(capsys: Capture) -> None:
    ran = run(
        capsys, "matrix", "--sglang", "0.5.18", "--rows", "kv-cache-dtype", "--cols", "page-size"
    )
    assert ran.code == 2
    assert "--gpu" in ran.err


def test_batch(tmp_path: Path, capsys: Capture) -> None:
    lines = [
        {"id": "a", "argv": list(EXAMPLE), **CONTEXT},
        {"id": 2, "argv": ["--model-path", "x"], "family": "llama-mha", "gpu": "b200", "gpus": 4},
    ]
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    ran = run(capsys, "batch", "--sglang", "0.5.18", str(file))
    assert ran.code == 0
    first, second = ran.lines
    assert first == {"id": "a", **result(capsys, *EXAMPLE)}
    assert second["facts"]["gpus"] == 4
    fixed, untouched = run(capsys, "batch", "--fix", "--sglang", "0.5.18", str(file)).lines
    added = {"repairs", "conflict", "bound", "gave_up", "instead", "elsewhere"}
    assert {k: v for k, v in fixed.items() if k not in added} == first
    assert fixed["repairs"]
    assert untouched["repairs"] == []


def test_what_is_known(capsys: Capture) -> None:
    rules = run(capsys, "rules", "--sglang", "0.5.18", "--format", "json").json["rules"]
    codes = [rule["code"] for rule in rules]
    assert codes == sorted(set(codes))
    flags = run(capsys, "flags", "--sglang", "0.5.18", "--format", "json").json["flags"]
    assert len(flags) == 488
    gpus = run(capsys, "profiles", "gpu", "--format", "jsonl").lines
    assert {"h100", "b200", "mi300x"} <= {gpu["name"] for gpu in gpus}
    (entry,) = run(capsys, "explain", "--format", "json", codes[10]).json["entries"]
    assert entry["code"] == codes[10]
    assert entry["message"]


def test_every_code_told_can_be_explained(capsys: Capture) -> None:
    answer = result(capsys, *EXAMPLE)
    for code in {f["code"] for f in answer["findings"]}:
        assert run(capsys, "explain", "--sglang", "0.5.18", code).code == 0


@pytest.mark.parametrize("style", ["text", "json", "jsonl", "markdown"])
@pytest.mark.parametrize("verb", ["check", "fix"])
def test_no_secret_leaves_any_format(verb: str, style: str, capsys: Capture) -> None:
    secrets = ["sk-live-4242", "admin-5151", "hf_6262", "pw-7373"]
    command = (
        f"HF_TOKEN={secrets[2]}", *EXAMPLE, "--api-key", secrets[0],
        f"--admin-api-key={secrets[1]}", "--hf-token", secrets[2],
    )  # fmt: skip
    ran = run(
        capsys, verb, *H100, "--env", f"DB_PASSWORD={secrets[3]}", "--format", style, "--", *command
    )
    assert ran.out
    for secret in secrets:
        assert secret not in ran.out + ran.err
    assert "***" in ran.out or style in ("text",)


def test_what_will_really_run_hides_secrets_too(capsys: Capture) -> None:
    ran = run(capsys, "check", *H100, "--effective", "--", *PLAIN, "--api-key", "sk-live-4242")
    assert "sk-live-4242" not in ran.out
    assert "--api-key ***" in ran.out


def test_what_will_really_run_is_not_rewritten_again(capsys: Capture) -> None:
    shared = ("--tp-size", "2", "--dp-size", "2", "--enable-dp-attention")
    for typed in ((), ("--chunked-prefill-size", "8192")):
        first = result(capsys, *PLAIN, *shared, *typed)["effective"]
        once = run(capsys, "check", *H100, "--effective", "--", *PLAIN, *shared, *typed)
        tokens = shlex.split(once.out.replace("\\\n", " "), comments=True)
        again = result(capsys, *tokens)["effective"]
        for dest in ("chunked_prefill_size", "schedule_conservativeness"):
            assert again[dest] == first[dest]


def test_what_will_really_run_is_accepted_and_stays_so(capsys: Capture) -> None:
    once = run(capsys, "check", *H100, "--effective", "--", *PLAIN, "--page-size", "64")
    tokens = shlex.split(once.out.replace("\\\n", " "), comments=True)
    again = result(capsys, *tokens)
    assert again["verdict"] == "valid"
    assert again["effective"]["page_size"] == 64


# The Python API gives the same answers


def test_the_api_is_the_command_line(capsys: Capture) -> None:
    assert kvsolve.check(EXAMPLE, **CONTEXT).to_dict() == result(capsys, *EXAMPLE)
    (answer,) = run(capsys, "fix", *H100, "--format", "json", "--", *EXAMPLE).json["results"]
    fix = kvsolve.repair(" ".join(EXAMPLE), **CONTEXT)
    assert json.loads(json.dumps(fix.to_dict())) == answer
    scope = {"kv_cache_dtype": None, "page-size": [1, 64]}
    number = kvsolve.count(PLAIN, scope, **CONTEXT)
    assert number == sum(1 for _ in kvsolve.iter_configs(PLAIN, scope, **CONTEXT))
    told = kvsolve.options(PLAIN, "kv-cache-dtype", **CONTEXT).to_dict()
    assert told["flags"][0]["flag"] == "--kv-cache-dtype"
    matrix = kvsolve.matrix(
        PLAIN, "kv-cache-dtype", "gpu", row_values=["auto"], col_values=["h100"], **CONTEXT
    )
    assert len(matrix.cells) == 1


def test_the_api_hides_secrets() -> None:
    answer = kvsolve.check([*PLAIN, "--api-key", "sk-live-4242"], **CONTEXT)
    assert "sk-live-4242" not in json.dumps(answer.to_dict())


def test_names_of_the_api_are_there_and_no_others() -> None:
    assert all(getattr(kvsolve, name) is not None for name in kvsolve.__all__)
    with pytest.raises(AttributeError):
        kvsolve.no_such_name  # noqa: B018


def test_a_graph_in_every_format(capsys: Capture) -> None:
    args = ("graph", *H100, "--flag", "prefill-only-disable-kv-cache")
    answer = run(capsys, *args, "--format", "json", "--", *PLAIN).json
    nodes = {node["id"]: node for node in answer["nodes"]}
    assert answer["hubs"][0]["dest"] in nodes
    assert all(edge["entry"] in nodes and edge["flag"] in nodes for edge in answer["edges"])
    assert any(len(group["dests"]) > 1 for group in answer["communities"])
    drawn = ElementTree.fromstring(run(capsys, *args, "--format", "graphml", "--", *PLAIN).out)
    assert len(list(drawn.iter("{http://graphml.graphdrawing.org/xmlns}node"))) == len(nodes)
    dot = run(capsys, *args, "--format", "dot", "--", *PLAIN).out
    assert dot.count(" -- ") == len(answer["edges"])
    assert "prefill_only_disable_kv_cache" in run(capsys, *args, "--", *PLAIN).out


def test_a_graph_needs_a_context_and_a_flag_that_is_read(capsys: Capture) -> None:
    assert_one_sentence(run(capsys, "graph", "--sglang", "0.5.18"), "--gpu")
    assert_one_sentence(run(capsys, "graph", *H100, "--flag", "host", "--", *PLAIN), "host")


OLD = ("--sglang", "0.5.16", "--stage", "args", "--gpu", "h100", "--family", "llama-mha")


def test_a_pack_is_linted_in_a_context(capsys: Capture) -> None:
    args = ("packs", "lint", *OLD, "--only", "entries", "--only", "remedies")
    answer = run(capsys, *args, "--format", "json").json
    kinds = {remark["kind"] for remark in answer["remarks"]}
    assert {"never-fires", "shadowed", "implied"} <= kinds
    assert not kinds & {"dead-value", "core-value"}
    for remark in answer["remarks"]:
        if remark["kind"] == "contradictory-remedy":
            checked = run(capsys, "check", *OLD[:6], "--format", "json", "--", *remark["witness"])
            codes = {f["code"] for f in checked.json["results"][0]["findings"]}
            assert remark["code"] in codes
            assert remark["codes"]


def test_lint_takes_no_topic_that_it_does_not_know(capsys: Capture) -> None:
    assert_one_sentence(run(capsys, "packs", "lint", *OLD, "--only", "prose"), "prose", "remedies")


def test_every_pair_of_some_flags(capsys: Capture) -> None:
    flags = "kv-cache-dtype,is-embedding,prefill-only-disable-kv-cache,enable-http2"
    args = ("matrix", "--full", *OLD, "--flag", flags)
    answer = run(capsys, *args, "--format", "json").json
    assert answer["complete"]
    assert {flag["flag"] for flag in answer["flags"]} == {f"--{f}" for f in flags.split(",")}
    states = {(v["dest"], v["value"]): v for v in answer["values"]}
    assert states["kv_cache_dtype", "nvfp4"]["state"] == "no"
    assert states["kv_cache_dtype", "nvfp4"]["codes"] == ["KV1141"]
    assert states["prefill_only_disable_kv_cache", True]["state"] == "with"
    clashing = {
        (pair["row"]["dest"], a, pair["col"]["dest"], b)
        for pair in answer["pairs"]
        for a in pair["row"]["values"]
        for b in pair["col"]["values"]
    }
    assert ("is_embedding", False, "prefill_only_disable_kv_cache", True) in clashing
    assert set(answer["reasons"]) >= {code for pair in answer["pairs"] for code in pair["codes"]}
    assert "nvfp4" in run(capsys, *args, "--format", "html").out


def test_the_full_matrix_has_no_axes(capsys: Capture) -> None:
    assert_one_sentence(run(capsys, "matrix", "--full", *OLD, "--rows", "page-size"), "--rows")
    assert_one_sentence(run(capsys, "matrix", *OLD, "--rows", "page-size"), "--cols")
    assert_one_sentence(run(capsys, "matrix", *OLD, "--every"), "--full")


def test_profiles_can_vary_like_flags(capsys: Capture) -> None:
    where = ("--sglang", "0.5.18", "--vary", "gpu=h100,a100", "--vary", "kv-cache-dtype=auto,nvfp4")
    lines = run(capsys, "list", *where, "--format", "jsonl", "--", *PLAIN).lines
    alone = [
        {"gpu": gpu, **line["assignment"]}
        for gpu in ("h100", "a100")
        for line in run(
            capsys, "list", "--sglang", "0.5.18", "--gpu", gpu, *where[4:], "--format", "jsonl",
            "--", *PLAIN,
        ).lines
    ]  # fmt: skip
    assert [line["assignment"] for line in lines] == alone
    answer = run(capsys, "count", *where, "--format", "json", "--", *PLAIN).json
    assert answer["count"] == str(len(lines))
    assert sum(int(c["count"]) for c in answer["contexts"]) == len(lines)
    assert answer["facts"]["gpu"] is None
    bad = run(capsys, "list", "--vary", "gpu=h1000", "--", *PLAIN)
    assert_one_sentence(bad, "h1000")
