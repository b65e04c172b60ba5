"""The MCP server, spoken to by the protocol's own client."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from kvsolve.mcp.server import server
from tests.cli.running import EXAMPLE, LLAMA

COMMAND = " ".join(EXAMPLE)
H100: dict[str, Any] = {"sglang": "0.5.18", "gpu": "h100"}


async def _call(target: Any, tool: str, arguments: dict[str, Any]) -> Any:
    async with Client(target) as client:
        return await client.call_tool(tool, arguments)


def call(tool: str, **arguments: Any) -> Any:
    """The structured answer of a tool."""
    result = anyio.run(_call, server(), tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


def refused(tool: str, **arguments: Any) -> str:
    """What the tool says is wrong with its input."""
    result = anyio.run(_call, server(), tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


async def _tools(target: Any) -> Any:
    async with Client(target) as client:
        return (await client.list_tools()).tools


def test_the_tools_say_that_they_only_read() -> None:
    tools = {tool.name: tool for tool in anyio.run(_tools, server())}
    assert set(tools) == {"check", "fix", "options", "explain", "matrix"}
    for tool in tools.values():
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.destructive_hint is False
        assert tool.description
        properties = tool.input_schema["properties"]
        assert all(p.get("description") for p in properties.values()), tool.name


def test_check() -> None:
    answer = call("check", command=COMMAND, **H100)
    assert answer["verdict"] == "invalid"
    assert "KV1035" in [finding["code"] for finding in answer["findings"]]
    assert "effective" not in answer
    full = call("check", command=COMMAND, full=True, **H100)
    assert full["effective"]["is_embedding"] is True


MANIFEST = f"""
kind: Pod
spec:
  containers:
  - image: lmsysorg/sglang:v0.5.18
    command: [sglang, serve, {LLAMA}]
    args: [--kv-cache-dtype, nvfp4]
  - image: lmsysorg/sglang:v0.5.18
    command: [sglang, serve, {LLAMA}]
"""


def test_check_takes_the_text_of_a_file() -> None:
    answer = call("check", command=MANIFEST, file_name="pod.yaml", gpu="h100", env={"A": "1"})
    assert [result["verdict"] for result in answer["results"]] == ["invalid", "valid"]
    assert answer["results"][0]["sglang"] == "0.5.18"
    place = answer["results"][0]["findings"][0]["location"]
    assert (place["file"], place["line"]) == ("pod.yaml", 7)
    empty = call("check", command="kind: List\n", file_name="pod.yaml")
    assert empty["results"] == []
    assert "no SGLang launch command" in empty["errors"][0]["message"]


def test_fix_gives_a_command_that_passes() -> None:
    answer = call("fix", command=COMMAND, top=2, **H100)
    assert len(answer["repairs"]) == 2
    for repair in answer["repairs"]:
        again = call("check", command=repair["command"], **H100)
        assert again["verdict"] == "valid"


def test_fix_that_keeps_too_much_tells_the_conflict() -> None:
    answer = call(
        "fix",
        command=f"--model-path {LLAMA} --kv-cache-dtype nvfp4",
        keep=["kv-cache-dtype"],
        **H100,
    )
    assert answer["repairs"] == []
    assert answer["conflict"]["codes"]


def test_options_come_with_their_reasons() -> None:
    answer = call("options", command=f"--model-path {LLAMA}", flags=["kv-cache-dtype"], **H100)
    (flag,) = answer["flags"]
    values = {value["value"]: value for value in flag["values"]}
    assert values["nvfp4"]["ok"] is False
    assert set(values["nvfp4"]["codes"]) <= set(answer["reasons"])


def test_explain_takes_a_code_or_a_pasted_error() -> None:
    (entry,) = call("explain", about="KV1035", sglang="0.5.18")["entries"]
    assert entry["slug"] == "disable-kv-cache-without-fp4"
    assert "no entry" in refused("explain", about="KV0000", sglang="0.5.18")
    assert "no entry" in refused("explain", about="the cat sat on the mat", sglang="0.5.18")


def test_matrix() -> None:
    answer = call(
        "matrix",
        command=f"--model-path {LLAMA}",
        rows="kv-cache-dtype",
        row_values=["auto", "nvfp4"],
        cols="gpu",
        col_values=["h100", "b200"],
        sglang="0.5.18",
    )
    states = {(c["row"], c["col"]): c["state"] for c in answer["cells"]}
    assert states["auto", "h100"] == "yes"
    assert states["nvfp4", "h100"] == "no"
    assert all(code in answer["reasons"] for c in answer["cells"] for code in c["codes"])


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("check", {"command": "--model-path m", "gpu": "h1000"}, "h1000"),
        ("check", {"command": "--model-path m", "sglang": "9.9"}, "9.9"),
        ("check", {"command": "ls -l"}, ""),
        ("check", {"command": "--model-path 'm"}, "no shell text"),
        ("check", {"command": "m", "family": "a", "config_json": "b"}, "give one"),
        ("fix", {"command": "--model-path m --page-size 3", "gpu": "b200"}, "--model-config"),
        ("matrix", {"command": "--model-path m", "rows": "kv-cache-dtip", "cols": "gpu"}, "kv-"),
        ("check", {"command": "m", "stage": "never"}, "stage"),
    ],
)
def test_bad_input_is_one_sentence(tool: str, arguments: dict[str, Any], words: str) -> None:
    text = refused(tool, **arguments)
    assert words in text
    assert "Traceback" not in text


def test_secrets_stay_hidden() -> None:
    answer = call(
        "check", command=f"--model-path {LLAMA} --api-key sk-live-4242", full=True, **H100
    )
    assert "sk-live-4242" not in str(answer)


def test_the_verb_serves_stdin_and_stdout() -> None:
    program = "from kvsolve.cli.main import run; run()"
    target = StdioServerParameters(command=sys.executable, args=["-c", program, "mcp"])
    result = anyio.run(partial(_call, target, "check", {"command": COMMAND, **H100}))
    assert result.structured_content["verdict"] == "invalid"
