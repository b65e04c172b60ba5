from __future__ import annotations

from collections import Counter

from kvsolve.packs.messages import MOST_RUNS, Candidate, hash_message, hash_pasted, rank, words_of

PAGE = "the page size must be a multiple of the chunk of this model"
CHUNK = "chunked prefill is refused with this kind of a cache"


def candidate(code: str, text: str, symbol: str = "check_page", raises: str = "ValueError"):
    return Candidate(
        code,
        frozenset(hash_message([text])),
        frozenset({symbol}),
        frozenset({"server_args.py"}),
        frozenset({raises}),
    )


def found(text: str, *candidates: Candidate) -> list[str]:
    rarity = Counter(run for c in candidates for run in c.words)
    return [match.code for match in rank(text, candidates, rarity)]


def test_no_word_of_a_message_is_stored():
    assert all(len(run) == 8 and int(run, 16) >= 0 for run in hash_message([PAGE]))


def test_a_pasted_message_holds_the_runs_of_the_stored_one():
    pasted = f"ValueError: {PAGE.upper()}: got 48"
    assert set(hash_message([PAGE])) <= hash_pasted(pasted)


def test_a_placeholder_ends_a_run():
    parts = ["page size ", " is not a multiple of the chunk"]
    assert set(hash_message(parts)) <= hash_pasted("page size 48 is not a multiple of the chunk")
    assert not set(hash_message(["page size is not"])) & set(hash_message(parts))


def test_short_messages_are_kept_whole():
    assert hash_message(["Unknown backend "]) == hash_message(["unknown  BACKEND."])
    assert set(hash_message(["Unknown backend "])) <= hash_pasted(
        "RuntimeError: Unknown backend fa9"
    )


def test_a_long_message_keeps_a_bounded_stable_choice():
    text = " ".join(f"word{n}" for n in range(200))
    assert len(hash_message([text])) == MOST_RUNS
    assert hash_message([text]) == hash_message([text])


def test_flags_and_their_words_are_the_same_words():
    assert words_of("--page-size 64") == ["page", "size", "64"]


def test_the_entry_with_the_message_comes_first():
    entries = candidate("KV1001", PAGE), candidate("KV1002", CHUNK)
    assert found(f"...\nValueError: {CHUNK}.", *entries)[0] == "KV1002"


def test_a_cut_message_is_found():
    entries = candidate("KV1001", PAGE), candidate("KV1002", CHUNK)
    assert found(PAGE[:45], *entries) == ["KV1001"]


def test_words_that_many_entries_share_count_less():
    common = "is not supported with this backend"
    entries = [candidate(f"KV10{n:02}", f"feature{n} {common}") for n in range(9)]
    entries.append(candidate("KV1100", f"{common} because page heads differ in width here"))
    assert found("because page heads differ in width", *entries)[0] == "KV1100"


def test_a_short_message_inside_a_long_one_does_not_win():
    entries = candidate("KV1001", "is not supported for"), candidate("KV1002", f"{PAGE} is not it")
    assert found(f"{PAGE} is not it, is not supported for this", *entries)[0] == "KV1002"


def test_the_innermost_frame_decides_between_equal_messages():
    entries = candidate("KV1001", PAGE, "check_page"), candidate("KV1002", PAGE, "check_chunk")
    text = (
        'File "/x/sglang/srt/server_args.py", line 1, in check_page\n'
        'File "/x/sglang/srt/server_args.py", line 9, in check_chunk\n'
        f"ValueError: {PAGE}"
    )
    assert found(text, *entries)[0] == "KV1002"


def test_the_exception_decides_between_equal_messages():
    entries = (
        candidate("KV1001", PAGE, raises="AssertionError"),
        candidate("KV1002", PAGE, raises="ValueError"),
    )
    assert found(f"ValueError: {PAGE}", *entries)[0] == "KV1002"


def test_other_text_finds_nothing():
    assert found("CUDA out of memory", candidate("KV1001", PAGE)) == []
