"""Files and texts beside a config.json that facts are read from."""

from __future__ import annotations

import json

import pytest

from kvsolve.inputs.fact_functions import ip_address
from kvsolve.inputs.facts import context_facts
from kvsolve.inputs.models import resolve_model
from kvsolve.inputs.side_files import kv_events, local_json, local_yaml
from kvsolve.model.expression import Crash, Unknown
from tests.conformance.oracle.model_configs import MODELS_DIRECTORY


def facts(model: str, release: str = "0.5.23"):  # type: ignore[no-untyped-def]
    return context_facts(release, None, resolve_model(str(MODELS_DIRECTORY / model)).files)


def test_a_decision_head_makes_a_whole_model_of_a_backbone() -> None:
    found = facts("qwen3.5-decision")
    assert found["model.decision_config"]["attention_mode"] == "noncausal_full_attention"
    assert found["config"].get("architectures") == ["Qwen3_5ForConditionalGeneration"]


@pytest.mark.parametrize("what", ["format", "mode", "pooling"])
def test_a_decision_head_that_is_refused_changes_nothing(what: str) -> None:
    assert facts(f"qwen3.5-decision-{what}")["config"].get("architectures") == ["Qwen3_5Model"]


def test_older_releases_do_not_look_for_decision_heads() -> None:
    assert facts("qwen3.5-decision", "0.5.21")["model.decision_config"] is None


def test_a_joint_head_is_found() -> None:
    assert facts("qwen3.5-joint")["model.joint_head_config"] == {"hidden_size": 2048}


def test_mixers_of_minicpm_sala_tell_its_kinds_of_attention() -> None:
    told = {
        name: (config.get("has_minicpm_sparse_attention"), config.get("has_lightning_layers"))
        for name in ("", "-sparse", "-lightning")
        for config in [facts(f"minicpm-sala{name}")["config"]]
    }
    assert told == {"": (False, False), "-sparse": (True, False), "-lightning": (False, True)}


def test_glm5_next_holds_its_index_at_the_top_too() -> None:
    assert facts("glm5-next")["config"].get("index_topk") == 2048


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Example.ORG", "example.org"), ("1.2.3.4", "1.2.3.4"), ("::1", "::1"), ("bücher.de", None)],
)
def test_a_media_domain_is_an_address_or_a_name_in_lower_case(text: str, expected: object) -> None:
    assert ip_address(text) == (expected or "xn--bcher-kva.de")


@pytest.mark.parametrize("text", ["a:80", "a..b"])
def test_what_is_no_host_breaks(text: str) -> None:
    with pytest.raises(Crash):
        ip_address(text)


def test_events_have_their_defaults() -> None:
    assert kv_events("{}").get("publisher") == "null"
    assert kv_events('{"publisher": "zmq"}').get("endpoint") == "tcp://*:5557"
    for wrong in ("[]", "{"):
        with pytest.raises(Crash):
            kv_events(wrong)
    with pytest.raises(Unknown):
        kv_events('{"publisher": 1}')


def test_local_files_are_read_or_break(tmp_path) -> None:  # type: ignore[no-untyped-def]
    good, bad = tmp_path / "a.json", tmp_path / "b.json"
    good.write_text(json.dumps([1]))
    bad.write_text("{")
    assert local_json(good) == local_yaml(good) == [1]
    for reader in (local_json, local_yaml):
        with pytest.raises(Crash):
            reader(bad)
        with pytest.raises(Crash):
            reader(tmp_path / "none")
