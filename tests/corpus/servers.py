"""The servers that the corpus starts: sound ones, and ones with a fault each."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FAULTY", "SERVERS", "SOUND", "Server"]


class Server(NamedTuple):
    """One launch of a server.

    Attributes:
        name: What the corpus calls it.
        options: The words behind the program.
        env: Environment to set.
        release: Of its image.
        faulty: Some release refuses it on an H100.
    """

    name: str
    options: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    release: str = "0.5.18"
    faulty: bool = False

    @property
    def pairs(self) -> list[tuple[str, ...]]:
        """The options, each with its values."""
        found: list[list[str]] = []
        for word in self.options:
            if word.startswith("--") or not found:
                found.append([word])
            else:
                found[-1].append(word)
        return [tuple(option) for option in found]


LLAMA = ("--model-path", "meta-llama/Llama-3.1-8B-Instruct")
SOUND = (
    Server("plain", (*LLAMA, "--host", "0.0.0.0", "--port", "30000", "--tp-size", "2")),
    Server(
        "tuned",
        (
            *LLAMA, "--tp=4", "--mem-fraction-static=0.85", "--chunked-prefill-size=8192",
            "--enable-metrics", "--attention-backend=fa3",
        ),
        (("SGLANG_TORCH_PROFILER_DIR", "/tmp/traces"),),
        "0.5.21",
    ),
    Server(
        "overrides",
        (
            *LLAMA, "--json-model-override-args", '{"max_position_embeddings": 8192}',
            "--served-model-name", "my llama", "--trust-remote-code", "--port", "8000",
        ),
        (("HF_HOME", "/models/hf cache"),),
        "0.5.23",
    ),
)  # fmt: skip
FAULTY = (
    Server(
        "no-kv",
        (*LLAMA, "--is-embedding", "--prefill-only-disable-kv-cache", "--kv-cache-dtype", "nvfp4"),
        faulty=True,
    ),
    Server(
        "misspelt",
        (*LLAMA, "--tp-size", "2", "--kv-cache-dtyep", "fp8_e4m3", "--enable-metrics"),
        release="0.5.20",
        faulty=True,
    ),
    Server(
        "removed",
        (*LLAMA, "--mem-fraction-static", "0.8", "--cuda-graph-max-bs", "64", "--port", "30001"),
        release="0.5.23",
        faulty=True,
    ),
)
SERVERS = (*SOUND, *FAULTY)
