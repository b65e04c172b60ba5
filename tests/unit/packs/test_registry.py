from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from kvsolve.model.program import Place, Program, Refuse, Set
from kvsolve.model.syntax import parse
from kvsolve.packs.code_assignment import update_registry
from kvsolve.packs.code_units import atoms_of
from kvsolve.packs.messages import hash_message
from kvsolve.packs.registry import Registry, RegistryError, dump_registry, load_registry

PAGE = "page_size > 1 and attention_backend == 'flashmla'"
CHUNK = "chunked_prefill_size > 0 and page_size > 1 and chunked_prefill_size % page_size != 0"


def refuse(when: str, key: str, symbol: str = "ServerArgs._handle_page", line: int = 10, **more):
    message = more.pop("message", None)
    words = hash_message([message]) if message else ()
    place = Place(more.pop("file", "server_args.py"), symbol, line)
    return Refuse(more.pop("raises", "ValueError"), parse(when), place, key, words)


def rewrite(name: str, value: str, when: str, key: str, symbol: str = "_handle_page"):
    place = Place("server_args.py", symbol, 20)
    return Set(name, parse(value), parse(when), place, "declare", key)


def program(release: str, *steps) -> Program:
    return Program(release, tuple(steps))


def codes_by_key(registry: Registry, release: str) -> dict[str, str]:
    return {key: code for (_, key), code in registry.index(release).items()}


def test_refusals_and_rewrites_get_codes_of_their_own_range():
    one = program("0.5.16", refuse(PAGE, "a"), rewrite("page_size", "64", "gpu.is_cuda", "b"))
    registry = update_registry([one])
    assert codes_by_key(registry, "0.5.16") == {"a": "KV1001", "b": "KV4001"}
    assert registry.crashes() == {"handle_page": "KV3001"}


def test_the_same_fingerprint_keeps_its_code_when_the_order_changes():
    one = program("0.5.16", refuse(PAGE, "a"), refuse(CHUNK, "b", line=30))
    two = program("0.5.17", refuse(CHUNK, "b", line=3), refuse(PAGE, "a", line=9))
    registry = update_registry([one, two])
    assert codes_by_key(registry, "0.5.17") == codes_by_key(registry, "0.5.16")


def test_a_changed_guard_keeps_its_code():
    one = program("0.5.16", refuse(PAGE, "a"), refuse(CHUNK, "b", line=30))
    changed = refuse(f"{PAGE} and not gpu.is_hip", "c")
    registry = update_registry([one, program("0.5.17", changed, refuse(CHUNK, "b", line=31))])
    assert codes_by_key(registry, "0.5.17") == {"c": "KV1001", "b": "KV1002"}
    assert dict(registry.codes["KV1001"].keys) == {"a": ("0.5.16",), "c": ("0.5.17",)}


def test_a_method_that_became_a_function_keeps_its_codes():
    moved = refuse(f"{PAGE} and tp_size > 1", "z", symbol="handle_page", file="arg_groups/page.py")
    registry = update_registry([program("0.5.18", refuse(PAGE, "a")), program("0.5.19", moved)])
    assert codes_by_key(registry, "0.5.19") == {"z": "KV1001"}
    assert registry.codes["KV1001"].symbol == "handle_page"


def test_a_message_that_moves_to_another_function_takes_its_code_along():
    text = "pages of several tokens are refused with this backend here"
    one = program("0.5.18", refuse(PAGE, "a", message=text))
    two = program("0.5.19", refuse(PAGE, "b", symbol="check_pages", message=text))
    assert codes_by_key(update_registry([one, two]), "0.5.19") == {"b": "KV1001"}


def test_another_refusal_of_the_same_function_gets_a_new_code():
    one = program("0.5.16", refuse(PAGE, "a"))
    two = program("0.5.17", refuse("dcp_size > 1 and enable_lmcache", "b", line=50))
    assert codes_by_key(update_registry([one, two]), "0.5.17") == {"b": "KV1002"}


def test_another_exception_is_another_entry():
    one = program("0.5.16", refuse(PAGE, "a"))
    two = program("0.5.17", refuse(PAGE, "b", raises="AssertionError"))
    assert codes_by_key(update_registry([one, two]), "0.5.17") == {"b": "KV1002"}


def test_inlinings_of_one_statement_share_a_code():
    first = refuse("tp_size > 1 and page_size > 1 and enable_lmcache", "a")
    second = refuse("dp_size > 1 and page_size > 1 and enable_lmcache", "b")
    registry = update_registry([program("0.5.16", first, second)])
    assert set(codes_by_key(registry, "0.5.16").values()) == {"KV1001"}


def test_inlinings_at_several_points_of_the_pipeline_share_a_code():
    first = refuse("enable_lora and tp_size > 1 and quant_3 == 'fp8'", "a")
    second = refuse("gpu.is_hip and not is_embedding and quant_7 == 'fp8'", "b")
    registry = update_registry([program("0.5.16", first, second)])
    assert set(codes_by_key(registry, "0.5.16").values()) == {"KV1001"}


def test_a_loop_over_flags_gives_each_flag_a_code():
    first, second = refuse("tp_size < 1", "a"), refuse("dp_size < 1", "b")
    registry = update_registry([program("0.5.16", first, second)])
    assert codes_by_key(registry, "0.5.16") == {"a": "KV1001", "b": "KV1002"}


def test_a_new_release_never_renumbers():
    old = update_registry([program("0.5.16", refuse(PAGE, "a"))])
    newer = program("0.5.17", refuse(CHUNK, "n", symbol="first"), refuse(PAGE, "a"))
    registry = update_registry([program("0.5.16", refuse(PAGE, "a")), newer], old)
    assert codes_by_key(registry, "0.5.17") == {"a": "KV1001", "n": "KV1002"}


def test_a_rerun_changes_nothing():
    programs = [
        program("0.5.16", refuse(PAGE, "a"), rewrite("page_size", "64", "gpu.is_cuda", "s")),
        program("0.5.17", refuse(f"{PAGE} and tp_size > 1", "c"), refuse(CHUNK, "b", line=7)),
    ]
    text = dump_registry(update_registry(programs))
    again = load_registry(tomllib.loads(text))
    assert dump_registry(update_registry(programs, again)) == text


def test_the_file_gives_the_registry_back():
    programs = [
        program(f"0.5.{n}", refuse(PAGE, "a" if n != 18 else "b")) for n in (16, 17, 18, 19)
    ]
    registry = update_registry(programs)
    text = dump_registry(registry)
    assert load_registry(tomllib.loads(text)) == registry
    assert '"0.5.16..0.5.17 0.5.19"' in text


def test_a_release_read_again_keeps_its_codes_though_every_guard_is_worded_anew():
    first = [refuse(PAGE, "a"), refuse(CHUNK, "b", line=30), refuse("tp_size < 1", "c", line=31)]
    old = update_registry([program("0.5.16", *first)])
    again = [refuse("tp_size <= 0", "f", line=31), refuse("big", "d"), refuse("odd", "e", line=30)]
    registry = update_registry([program("0.5.16", *again)], old)
    assert codes_by_key(registry, "0.5.16") == {"d": "KV1001", "e": "KV1002", "f": "KV1003"}
    assert load_registry(tomllib.loads(dump_registry(registry))) == registry


def test_raw_and_resolved_writes_of_one_place_share_a_code():
    both = (
        rewrite("page_size", "64", "gpu.is_cuda", "a"),
        rewrite("raw.page_size", "64", "gpu.is_cuda", "b"),
    )
    registry = update_registry([program("0.5.16", *both)])
    assert set(codes_by_key(registry, "0.5.16").values()) == {"KV4001"}


def test_atoms_do_not_depend_on_versions_or_order():
    versions = {"page_size": 2}
    a = atoms_of(parse("tp_size > 1 and not (page_size == 64 or gpu.is_hip)"))
    b = atoms_of(parse("(page_size == 64 or gpu.is_hip) and tp_size > 1", versions))
    assert a == b == {"tp_size > 1", "page_size == 64", "gpu.is_hip"}


@pytest.mark.parametrize(
    "text",
    [
        "codes = 1",
        'releases = ["0.5.16"]\n[crashes]\n[KV1001]\nsymbol = "f"\nraises = "E"\n',
        'releases = ["0.5.16"]\n[crashes]\n[KV1]\nsymbol = "f"\nraises = "E"\nkeys = {}\n',
        'releases = []\n[crashes]\n[KV1001]\nsymbol = "f"\nraises = "E"\nkeys = { a = "0.5.16" }\n',
    ],
)
def test_a_malformed_registry_is_told(text):
    with pytest.raises(RegistryError, match=r"codes\.toml"):
        load_registry(tomllib.loads(text))


def test_steps_without_a_fingerprint_are_left_out():
    assert not codes_by_key(
        update_registry([program("0.5.16", replace(refuse(PAGE, "a"), key=""))]), "0.5.16"
    )


def test_an_older_release_takes_the_codes_of_what_continues_it():
    newer = program("0.5.16", refuse(PAGE, "a"), refuse(CHUNK, "b", line=30))
    old = update_registry([newer])
    before = refuse(f"{PAGE} and tp_size > 1", "c")
    oldest = [refuse(f"{PAGE} and tp_size > 1 and dp_size > 1", "d"), refuse("gone", "e", "left")]
    older = [program("0.5.15", *oldest), program("0.5.15.post1", before)]
    registry = update_registry([*older, newer], old)
    assert codes_by_key(registry, "0.5.15.post1") == {"c": "KV1001"}
    assert codes_by_key(registry, "0.5.15") == {"d": "KV1001", "e": "KV1003"}
    assert codes_by_key(registry, "0.5.16") == codes_by_key(old, "0.5.16")
    assert registry.releases == ("0.5.15", "0.5.15.post1", "0.5.16")
    assert registry.codes["KV1001"].asks == old.codes["KV1001"].asks, "the newest reading's"


def test_giving_codes_again_with_older_releases_changes_nothing():
    newer = program("0.5.16", refuse(PAGE, "a"))
    older = program("0.5.9", refuse(f"{PAGE} and tp_size > 1", "c"), refuse("gone", "e", "left"))
    text = dump_registry(update_registry([older, newer], update_registry([newer])))
    again = load_registry(tomllib.loads(text))
    assert dump_registry(update_registry([older, newer], again)) == text
