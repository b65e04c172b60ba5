"""Values of flags that no entry spells out: lists, JSON values and texts with a form of their own.

Each value is the tokens behind the flag. They are tried besides the flag's choices, the numbers
that entries compare with and what the sampler draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["VALUES"]

BUCKETS = (
    *("default", "other", "tse", "custom", "default 1"),
    *("tse 1 2 3", "tse 1 x 3", "tse 1 1 3", "tse 1 2 0", "tse 0 2 3"),
    *("custom 1 2", "custom x", "custom 1 1", "custom -1 2"),
)
DEVICES = (
    *("mlx5_0", " ", ",", "mlx5_0,mlx5_1", "{}", "[1]"),
    *('{"0": "mlx5_0"}', '{"0": 1}', '{"0": ","}', '{"x": "mlx5_0"}'),
)
SAMPLING = (
    '{"temperature": 0.5}',
    '{"temperature": -1}',
    '{"temperature": "hot"}',
    '{"top_p": 2}',
    '{"top_p": 0}',
    '{"top_k": 0}',
    '{"top_k": -2}',
    '{"min_p": 2}',
    '{"frequency_penalty": 3}',
    '{"presence_penalty": 3}',
    '{"repetition_penalty": 3}',
    '{"min_new_tokens": -1}',
    '{"max_new_tokens": -1}',
    '{"min_new_tokens": 5, "max_new_tokens": 2}',
    '{"min_new_tokens": 500}',
    '{"logit_bias": {"x": 1}}',
    '{"logit_bias": {"999999999": 1}}',
    '{"json_schema": "{}", "regex": "a"}',
    '{"regex": "a", "ebnf": "b"}',
    '{"json_schema": "{}", "ebnf": "b"}',
    '{"n": 0}',
    '{"unknown": 1}',
    '{"stop": ["a", 1]}',
    '{"stop": ["a"]}',
    '{"stop_regex": "["}',
    '{"stop_regex": ["a"]}',
    '{"stop_token_ids": ["a"]}',
    '{"sampling_seed": "a"}',
    "[1]",
)

A_FILE = "@model:llama-mha/config.json"

VALUES: Mapping[str, Sequence[str]] = {
    "--prompt-tokens-buckets": BUCKETS,
    "--generation-tokens-buckets": BUCKETS,
    "--mooncake-ib-device": DEVICES,
    "--disaggregation-ib-device": DEVICES,
    "--allowed-media-domains": ("example.org", ".", "https://example.org", " "),
    "--mm-process-config": (
        *('{"image": 1}', '{"video": 1}', '{"audio": 1}', "[1]", '{"image": {}}'),
    ),
    "--limit-mm-data-per-request": ('{"other": 1}', '{"image": 1}', "[1]"),
    "--preferred-sampling-params": SAMPLING,
    "--lora-paths": (
        *("name=there", "there", "a=there a=other", "a=there b=other"),
        *('{"lora_name":"a"}', '{"lora_name":"a","lora_path":"there"}', "1"),
    ),
    "--watermark-config": (
        *("{}", "[1]", '{"other": 1}', '{"key": 1}', '{"key": ""}', '{"key": "xyz"}'),
        *('{"key": "ab"}', '{"key": "ab", "context_window": 0}', '{"key": "ab", "key_b": "xyz"}'),
        *('{"key": "ab", "default_enabled": 1}', '{"key": "ab", "max_probability": 2}'),
        *('{"key": "ab", "mixing_probability": 2}', '{"key": "ab", "enforce_all": "x"}'),
        *('{"enforce_all": true}', '{"default_enabled": true}', '{"max_probability": -1}'),
        *('{"mixing_probability": -1}', '{"context_window": 0}', '{"context_window": "a"}'),
        *('{"enforce_all": 1}', '{"key_b": "ab"}', '{"key": "0123456789abcdef0123"}'),
    ),
    "--sidecar": ("smg", " "),
    "--sidecar-args": ('["--x"]', "[1]", "{}"),
    "--api-key": ("secret",),
    "--admin-api-key": ("secret",),
    "--grpc-port": ("40000", "70000"),
    "--ssl-keyfile": ("there", A_FILE),
    "--ssl-certfile": ("there", A_FILE),
    "--ssl-ca-certs": ("there", A_FILE),
    "--ssl-keyfile-password": ("secret",),
    "--unified-cache-external-linker-config": (
        *("[1]", "{}", '{"other": 1}', '{"linker_extra_config": 1}'),
        *('{"linker_extra_config": {}}', '{"linker_name": "a"}', '{"module_path": "a"}'),
    ),
    "--radix-eviction-policy-config": (
        *('{"threshold": -1}', '{"next_prompt_estimate": -1}', '{"threshold": 1}', "[1]"),
    ),
    "--default-chat-template-kwargs": ("[1]", "{}"),
    "--init-expert-location": ("trivial", "there.json", "{}"),
    "--tokenizer-metrics-allowed-custom-labels": ("team",),
    "--tokenizer-metrics-custom-labels-header": ("x-labels", ""),
    "--load-publish-endpoint": ("tcp://*:5557", "off", "auto", "nonsense"),
    "--kv-events-config": (
        *('{"publisher": "null"}', '{"publisher": "zmq", "endpoint": "tcp://*:5557"}'),
        *("{}", '{"publisher": "zmq", "endpoint": "tcp://127.0.0.1:65535"}', "nonsense"),
    ),
    "--forward-hooks": ('[{"name": "a"}]', "[]", "{}"),
    "--speculative-algorithm": ("UNO", "FROZEN_KV_MTP", "CUSTOM"),
    "--uno-lora-path": ("there", "@model:llama-mha"),
    "--dllm-algorithm": (
        *("LowConfidence", "JointThreshold", "Gemma4Renoise", "HierarchyBlock", "Other"),
    ),
    "--dllm-algorithm-config": ("there.yaml", A_FILE),
    "--speculative-adaptive-config": ("there.json", A_FILE),
    "--speculative-ngram-external-corpus-path": ("there",),
    "--speculative-draft-model-revision": ("main",),
    "--remote-instance-weight-loader-seed-instance-ip": ("127.0.0.1",),
    "--remote-instance-weight-loader-seed-instance-service-port": ("5000",),
    "--remote-instance-weight-loader-send-weights-group-ports": ("[5001]",),
    "--debug-tensor-dump-output-folder": ("there",),
    "--msprobe-dump-config": ("there",),
    "--custom-weight-loader": ("a.b",),
    "--model-loader-extra-config": ("{}", "[1]", "nonsense"),
    "--revision": ("main",),
    "--tokenizer-path": ("there",),
    "--dtype": ("auto", "half", "float16", "bfloat16", "float", "float32", "nonsense"),
    "--cuda-graph-config": (
        *("{}", '{"decode": {"backend": "disabled"}}', '{"prefill": {"backend": "breakable"}}'),
        *('{"prefill": {"backend": "full"}}', '{"prefill": {"backend": "tc_piecewise"}}'),
        *('{"prefill": {"backend": "disabled"}}', '{"prefill": {"backend": "nonsense"}}'),
        *('{"decode": {"backend": "nonsense"}}', '{"other": {}}', '{"decode": {"other": 1}}'),
        *(
            '{"decode": {"max_bs": 64}}',
            '{"decode": {"bs": [1, 2]}}',
            '{"prefill": {"max_bs": 64}}',
        ),
        *('{"prefill": {"bs": [4, 8]}}', "[1]", '{"decode": 1}', '{"decode": {"bs": []}}'),
        *('{"prefill": {"backend": "full", "max_seq_len": 64}}', '{"prefill": {"bs": []}}'),
    ),
}
