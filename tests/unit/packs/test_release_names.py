from __future__ import annotations

import pytest

from kvsolve.packs.pack import UnknownReleaseError, newest, releases, resolve_release


@pytest.mark.parametrize(
    "wanted",
    [
        "0.5.18",
        " v0.5.18 ",
        "0.5.18.post1",
        "v0.5.18-cu126",
        "lmsysorg/sglang:v0.5.18-cu129",
        "lmsysorg/sglang:v0.5.18.post1-cu129-amd64",
        "registry.example:5000/sglang:v0.5.18-rocm700-mi30x@sha256:00ff",
    ],
)
def test_a_release_is_read_as_users_and_images_write_it(wanted: str) -> None:
    assert resolve_release(wanted) == "0.5.18"


@pytest.mark.parametrize("wanted", ["v0.5.18-rc1", "0.5.18-banana", "sglang:latest", "", "x:"])
def test_what_names_no_release_is_told_as_it_was_written(wanted: str) -> None:
    with pytest.raises(UnknownReleaseError, match=f"no pack for SGLang {wanted}; the nearest"):
        resolve_release(wanted)


@pytest.mark.parametrize("wanted", ["0.5.99", "0.6", "v1.0.0-cu129"])
def test_a_release_yet_to_come_is_answered_with_the_newest_first(wanted: str) -> None:
    last, before = newest(), releases()[-2]
    with pytest.raises(UnknownReleaseError, match=f"releases are {last}, {before}, "):
        resolve_release(wanted)


@pytest.mark.parametrize("wanted", ["0.5.1", "v0.4.9.post2"])
def test_a_release_before_all_is_answered_with_the_oldest_first(wanted: str) -> None:
    oldest, after = releases()[:2]
    with pytest.raises(UnknownReleaseError, match=f"releases are {oldest}, {after}, "):
        resolve_release(wanted)
