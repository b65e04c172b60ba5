from __future__ import annotations

import json

import pytest

from kvsolve.outputs.redact import HIDDEN, Redactor, is_secret_name


@pytest.mark.parametrize(
    "name",
    ["--api-key", "--admin-api-key", "--hf-token", "--api-kye", "--apikey", "HF_TOKEN",
     "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "ssl_keyfile_password",
     "admin_api_key"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["--max-total-tokens", "--tokenizer-path", "--ssl-keyfile", "--model-path", "--page-size",
     "--prompt-tokens-buckets", "speculative_num_draft_tokens", "key", "PATH", "", "--"],
)  # fmt: skip
def test_names_of_no_secret(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["--api-key", "abcdef"], ["--api-key", HIDDEN]),
        (["--api-key=abcdef"], [f"--api-key={HIDDEN}"]),
        (["--api-key", "ab"], ["--api-key", HIDDEN]),
        (["--api-key"], ["--api-key"]),
        (["--api-key", "--tp", "8"], ["--api-key", "--tp", "8"]),
        (["--hf-token", "abcdef", "--note", "xabcdefx"],
         ["--hf-token", HIDDEN, "--note", f"x{HIDDEN}x"]),
        (["--url", "redis://me:pw123@host/0"], ["--url", f"redis://me:{HIDDEN}@host/0"]),
    ],
)  # fmt: skip
def test_a_command_without_its_secrets(argv: list[str], shown: list[str]) -> None:
    assert list(Redactor(argv).argv(argv)) == shown


def test_secrets_of_the_environment_and_of_json_values_are_hidden_everywhere() -> None:
    config = json.dumps({"bucket": "b", "auth": {"secret_access_key": "s3cr3t-value"}})
    hide = Redactor(["--model-loader-extra-config", config], {"HF_TOKEN": "hf_abcdef", "A": "ok"})
    assert hide.text("hf_abcdef s3cr3t-value ok") == f"{HIDDEN} {HIDDEN} ok"
    assert "s3cr3t" not in hide.argv(["--x", config])[1]
    assert hide.value({"secret_access_key": "other", "n": [1, "hf_abcdef"]}) == {
        "secret_access_key": HIDDEN,
        "n": [1, HIDDEN],
    }


def test_a_secret_is_not_hidden_by_hiding_ordinary_words() -> None:
    hide = Redactor(["--api-key", "1"])
    assert hide.text("page size 1") == "page size 1"
    assert hide.value("1", "api_key") == HIDDEN
    assert hide.value(None, "api_key") is None
