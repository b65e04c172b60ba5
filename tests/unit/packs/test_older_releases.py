"""Releases that were read later than the first eight: each loads, and says what its source says."""

from __future__ import annotations

import pytest

from kvsolve.errors import KvsolveError
from kvsolve.inputs.config_classes import class_table
from kvsolve.inputs.environment import environment_table
from kvsolve.inputs.model_facts import architectures
from kvsolve.model.finding import Verdict
from kvsolve.packs.figures import figures_of
from kvsolve.packs.late import confirmed
from kvsolve.packs.pack import releases, resolve_release
from kvsolve.packs.release_order import release_order
from kvsolve.packs.status import compared_releases, release_status
from kvsolve.session import Request, Session

OLDER = [release for release in releases() if release_order(release) < (0, 5, 16, 0)]
MODEL = ("--model-path", "meta-llama/Llama-3.1-8B-Instruct")
SESSION = Session()


def check(release: str, *flags: str, **more: str):
    return SESSION.check(
        Request([*MODEL, *flags], sglang=release, gpu="h100", family="llama-mha", **more)
    )


def test_every_release_from_0_5_6_on_is_known_in_order():
    assert OLDER[0] == "0.5.6"
    assert len(OLDER) == 17
    assert list(releases()) == sorted(releases(), key=release_order)
    assert OLDER.index("0.5.9") < OLDER.index("0.5.10") < OLDER.index("0.5.10.post1")


@pytest.mark.parametrize("release", OLDER)
def test_a_plain_command_starts(release):
    result = check(release)
    # Releases that were only read ask something that no fact is named for.
    unsure = release_status(release) == "read" and result.verdict is Verdict.UNKNOWN
    assert result.verdict is Verdict.VALID or unsure
    assert result.judged_to == "args"
    assert result.sglang == release


@pytest.mark.parametrize("release", OLDER)
def test_every_release_refuses_what_its_source_asserts(release):
    # check_server_args asserts that tensor and pipeline ranks fill the nodes evenly.
    result = check(release, "--tp-size", "3", "--nnodes", "2")
    assert result.verdict is Verdict.INVALID
    assert any(f.stage == "args" and "--nnodes" in f.flags for f in result.errors)


@pytest.mark.parametrize("release", OLDER)
def test_no_older_release_is_valid_past_the_stage_that_is_read(release):
    result = check(release, stage="attention")
    assert result.verdict is Verdict.UNKNOWN
    assert "past stage args" in " ".join(result.unknown)


@pytest.mark.parametrize("release", OLDER)
def test_a_release_has_all_its_tables(release):
    assert architectures(release)["release"] == release
    assert class_table(release).knows("llama")
    assert environment_table(release)["variables"]


def test_a_status_is_told_in_every_answer():
    read = [release for release in OLDER if release_status(release) == "read"]
    for release in read[:1]:
        assert check(release).to_dict()["pack"] == {"status": "read"}
        assert figures_of(release)["status"] == "read"
    assert check("0.5.23").to_dict()["pack"] == {"status": "compared"}
    compared = {*compared_releases(), *compared_releases(to_args=True)}
    assert compared <= set(releases())


def test_a_model_that_came_after_the_release_is_never_valid():
    request = Request(["--model-path", "moonshotai/Kimi-K3"], sglang="0.5.9", gpu="b200", gpus=8)
    result = SESSION.check(request)
    assert result.verdict is not Verdict.VALID


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("0.5.12.post1", "0.5.12.post1"),
        ("v0.5.12.post1-cu129", "0.5.12.post1"),
        ("0.5.12.post7", "0.5.12.post1"),
        ("0.5.11.post1", "0.5.11"),
        ("lmsysorg/sglang:v0.5.6.post2", "0.5.6.post2"),
    ],
)
def test_a_post_release_is_itself_and_an_unknown_one_the_nearest_before(wanted, found):
    assert resolve_release(wanted) == found


def test_a_range_may_name_a_post_release():
    assert confirmed("0.5.15.post1", ">=0.5.15.post1,<0.5.16")
    assert not confirmed("0.5.15", ">=0.5.15.post1,<0.5.16")
    assert confirmed("0.5.18.post3", "<=0.5.18")
    assert confirmed("0.5.15.post1", ["0.5.15.post1"])


def test_what_no_release_is_stays_refused():
    with pytest.raises(KvsolveError, match=r"0\.5\.5"):
        check("0.5.5.post3")
