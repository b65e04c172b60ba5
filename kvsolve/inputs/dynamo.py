"""The options that Dynamo's SGLang worker takes for itself.

``python -m dynamo.sglang`` parses its own options and leaves the rest to SGLang's parser. Names as
in ai-dynamo/dynamo, ``dynamo/sglang/backend_args.py`` and
``dynamo/common/configuration/groups/runtime_args.py``, of releases 0.4 to 1.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["sglang_places"]

_VALUED = frozenset({
    "afd-attention-ratio", "afd-ffn-endpoint", "afd-microbatch-size", "afd-sync-timeout-ms",
    "custom-jinja-template", "disagg-config", "disagg-config-key", "discovery-backend",
    "dump-config-to", "dyn-default-thinking-mode", "dyn-endpoint-types", "dyn-reasoning-parser",
    "dyn-structural-tag-schema", "dyn-structural-tag-scope", "dyn-tool-call-parser", "endpoint",
    "endpoint-types", "engine-request-limit", "event-plane", "frontend-decoding",
    "health-check-payload", "kv-state-endpoint", "media-output-fs-url", "media-output-http-url",
    "migration-limit", "multimodal-embedding-cache-capacity-gb", "namespace",
    "nats-tls-ca-cert-path", "nats-tls-client-cert-path", "nats-tls-client-key-path",
    "request-plane", "response-plane", "store-kv", "tcp-tls-ca-cert-path", "tcp-tls-cert-path",
    "tcp-tls-client-ca-cert-path", "tcp-tls-client-cert-path", "tcp-tls-client-key-path",
    "tcp-tls-handshake-timeout", "tcp-tls-key-path", "tcp-tls-server-name",
})  # fmt: skip
_SWITCHES = frozenset({
    "durable-kv-events", "dyn-enable-structural-tag", "embedding-worker", "enable-local-indexer",
    "enable-multimodal-worker", "enable-rl", "exclude-tools-when-tool-choice-none", "fpm-trace",
    "image-diffusion-worker", "multimodal-embedding-cache-publisher", "multimodal-encode-worker",
    "multimodal-processor", "multimodal-worker", "nats-tls-insecure", "tcp-tls-insecure",
    "use-kv-events", "use-sglang-tokenizer", "video-generation-worker",
})  # fmt: skip
_MANY = frozenset({"connector", "dyn-structural-tag", "output-modalities"})


def sglang_places(argv: Sequence[str]) -> tuple[int, ...]:
    """Positions of the tokens that SGLang's parser gets to see.

    >>> sglang_places(["--endpoint", "dyn://a.b.c", "--tp", "2"])
    (2, 3)
    """
    return tuple(_left(argv))


def _left(argv: Sequence[str]) -> Iterator[int]:
    at = 0
    while at < len(argv):
        name, equals, _ = argv[at].partition("=")
        bare = name[2:].removeprefix("no-") if name.startswith("--") else ""
        width = 0
        if bare in _SWITCHES:
            width = 1
        elif bare in _VALUED:
            width = 1 if equals else 2
        elif bare in _MANY:
            width = 1
            while not equals and at + width < len(argv) and argv[at + width][:1] != "-":
                width += 1
        if not width:
            yield at
        at += width or 1
