from __future__ import annotations

import marshal
import re
import shutil
import tomllib

import pytest

from kvsolve.model.program import Let, Need, Place, Program, Refuse, Set
from kvsolve.model.syntax import parse
from kvsolve.packs.catalog import Catalog
from kvsolve.packs.cataloguing import load_catalog
from kvsolve.packs.code_assignment import update_registry
from kvsolve.packs.files import constraints_directory
from kvsolve.packs.messages import hash_message
from kvsolve.packs.registry import dump_registry, load_registry
from kvsolve.packs.texts import TextError, read_texts, text_for

RELEASE = "0.5.18"
ROOT = constraints_directory() / "sglang"
PLACE = Place("server_args.py", "ServerArgs._handle_page", 12)
MESSAGE = "pages larger than a chunk are not read by this backend"
PROGRAM = Program(
    RELEASE,
    (
        Let("big", parse("page_size > 64")),
        Refuse(
            "ValueError",
            parse("big and attention_backend == 'flashmla'", {"big": 1}),
            PLACE,
            "k1",
            hash_message([MESSAGE]),
        ),
        Set("page_size", 64, parse("attention_backend == 'flashmla'"), PLACE, "declare", "k2"),
        Need(parse("tp_size // dp_size"), True, PLACE),
    ),
)
TEXT = """
[[text]]
code = "KV1001"
slug = "flashmla-small-pages"
reason = "flashmla reads pages of 64 tokens."
remedy = "Set --page-size to 64."
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "flags").mkdir()
    shutil.copy(ROOT / "flags" / f"{RELEASE}.json", tmp_path / "flags")
    registry = dump_registry(update_registry([PROGRAM]))
    (tmp_path / "codes.toml").write_text(registry, encoding="utf-8")
    return tmp_path


def curated(root, text: str = TEXT, name: str = "31-page-size.toml") -> None:
    (root / name).write_text(text, encoding="utf-8")


def test_a_step_without_a_text_is_told_from_its_guard(root):
    entry = load_catalog(RELEASE, PROGRAM, root).entry(1)
    assert entry.code == "KV1001"
    assert entry.slug == "handle-page-1001"
    assert entry.message == "--page-size above 64 with --attention-backend flashmla is refused."
    assert set(entry.flags) == {"page_size", "attention_backend"}
    assert entry.ground.to_dict() == {
        "file": "server_args.py",
        "symbol": "ServerArgs._handle_page",
        "sglang": "==0.5.18",
        "line": 12,
        "checked": "source",
    }
    assert not entry.curated


def test_a_text_takes_the_place_of_the_generated_one(root):
    curated(root)
    entry = load_catalog(RELEASE, PROGRAM, root).entry(1)
    assert (entry.slug, entry.curated) == ("flashmla-small-pages", True)
    assert entry.message == "flashmla reads pages of 64 tokens."
    assert entry.remedy == "Set --page-size to 64."


def test_a_text_for_a_range_of_releases_wins_there(root):
    narrow = TEXT.replace("reason =", 'sglang = ">=0.5.18"\nreason =').replace("64 tokens", "64")
    curated(root, TEXT + narrow)
    texts = read_texts([root / "31-page-size.toml"])
    assert text_for(texts, "KV1001", "0.5.18").reason == "flashmla reads pages of 64."
    assert text_for(texts, "KV1001", "0.5.17").reason == "flashmla reads pages of 64 tokens."


def test_a_rewrite_names_its_flag_first(root):
    entry = load_catalog(RELEASE, PROGRAM, root).entry(2)
    assert (entry.code, entry.kind, entry.dest) == ("KV4001", "set", "page_size")
    assert entry.flags == ("page_size", "attention_backend")
    assert entry.message == "With --attention-backend flashmla, SGLang sets --page-size to 64."


def test_a_break_has_an_entry_of_the_function(root):
    entry = load_catalog(RELEASE, PROGRAM, root).crash(3)
    assert (entry.code, entry.slug, entry.crash) == ("KV3001", "breaks-in-handle-page", True)


def test_the_catalog_survives_marshalling(root):
    catalog = load_catalog(RELEASE, PROGRAM, root)
    plain = marshal.loads(marshal.dumps(catalog.to_plain()))
    again = Catalog.from_plain(plain, [b"", *catalog.blocks()], 1)
    assert list(again.all()) == list(catalog.all())
    assert again.entry(1) == catalog.entry(1)


def test_entries_are_found_by_code_and_by_slug(root):
    catalog = load_catalog(RELEASE, PROGRAM, root)
    assert catalog.by_code("kv4001") == catalog.by_code("sets-page-size-4001")
    assert catalog.by_code("KV1999") is None


def test_a_pasted_message_finds_its_entry(root):
    catalog = load_catalog(RELEASE, PROGRAM, root)
    assert [m.code for m in catalog.find(f"ValueError: {MESSAGE}!")] == ["KV1001"]


def test_a_program_newer_than_the_registry_gets_provisional_codes(root):
    newer = Program(
        RELEASE, (*PROGRAM.steps, Refuse("ValueError", parse("tp_size < 1"), PLACE, "n"))
    )
    catalog = load_catalog(RELEASE, newer, root)
    assert catalog.entry(1).code == "KV1001"
    assert catalog.entry(4).code == "KV1002"


def test_what_the_real_validator_confirmed_says_so(root):
    (root / "checked.toml").write_text('validator = ["KV1001"]\n', encoding="utf-8")
    catalog = load_catalog(RELEASE, PROGRAM, root)
    assert catalog.entry(1).ground.checked == "validator"
    assert catalog.entry(2).ground.checked == "source"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TEXT.replace('slug = "flashmla-small-pages"\n', ""), "line 2: a text needs `slug`"),
        (TEXT.replace("flashmla-small-pages", "Small Pages"), "is no slug"),
        (TEXT.replace("64 tokens.", "64 tokens"), "the reason ends in a full stop"),
        (TEXT + "colour = 1\n", "unknown field `colour`"),
        (TEXT + TEXT, "line 8, KV1001: the code has a text already"),
        (TEXT + TEXT.replace("KV1001", "KV1002"), "belongs to KV1001"),
        ("[[text]\n", "31-page-size.toml"),
    ],
)
def test_a_malformed_text_is_told_with_its_place(root, text, told):
    curated(root, text)
    with pytest.raises(TextError, match=re.escape(told)):
        read_texts([root / "31-page-size.toml"])


# ------------------------------------------------------------------ the shipped texts


@pytest.fixture(scope="module")
def shipped():
    return read_texts(sorted(ROOT.glob("[1-6][0-9]-*.toml")))


@pytest.fixture(scope="module")
def registry():
    return load_registry(tomllib.loads((ROOT / "codes.toml").read_text(encoding="utf-8")))


def test_every_shipped_text_belongs_to_a_registered_code(shipped, registry):
    assert not set(shipped) - set(registry.codes)


def test_every_flag_named_in_a_text_exists_where_the_entry_does(shipped, registry):
    known = {
        release: set(
            re.findall(r'"(--[a-z0-9-]+)"', (ROOT / "flags" / f"{release}.json").read_text("utf-8"))
        )
        for release in registry.releases
    }
    wrong = [
        (code, flag, release)
        for code in shipped
        for release in registry.codes[code].releases(registry.releases)
        if (text := text_for(shipped, code, release)) is not None
        for flag in re.findall(r"--[a-z][a-z0-9-]+", f"{text.reason} {text.remedy or ''}")
        if flag not in known[release]
    ]
    assert wrong == []
