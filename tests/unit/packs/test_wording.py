from __future__ import annotations

import pytest

from kvsolve.model.program import Let, Place, Program, Refuse, Set
from kvsolve.model.syntax import parse
from kvsolve.packs.phrase_book import PhraseBook, listed
from kvsolve.packs.wording import Wording

FLAGS = (
    "page_size",
    "tp_size",
    "dp_size",
    "attention_backend",
    "prefill_attention_backend",
    "enable_mixed_chunk",
    "kv_cache_dtype",
    "is_embedding",
    "enable_lora",
    "speculative_algorithm",
    "model_path",
    "chunked_prefill_size",
)
BOOK = PhraseBook.from_data(
    {
        "holds": {"gpu.is_cuda": ["on NVIDIA GPUs", "off NVIDIA GPUs"]},
        "values": {"model.attention_arch": "the model's attention kind"},
        "premises": ["model_path != 'dummy'"],
    }
)
PLACE = Place("server_args.py", "ServerArgs._handle", 1)


def spelling(dest: str) -> str | None:
    return f"--{dest.replace('_', '-')}" if dest in FLAGS else None


def wording(*lets: Let) -> Wording:
    return Wording(Program("0.5.23", lets), spelling, BOOK)


def reason(when: str, *lets: Let) -> str:
    versions = {let.name: 1 for let in lets}
    return wording(*lets).reason(Refuse("ValueError", parse(when, versions), PLACE))


def remedy(when: str) -> str | None:
    return wording().remedy(Refuse("ValueError", parse(when), PLACE))


def rewrite(name: str, value: str, when: str) -> str:
    return wording().reason(Set(name, parse(value), parse(when), PLACE, "declare"))


@pytest.mark.parametrize(
    ("when", "said"),
    [
        (
            "enable_mixed_chunk and attention_backend == 'flashmla' and gpu.is_cuda",
            "--enable-mixed-chunk with --attention-backend flashmla is refused on NVIDIA GPUs.",
        ),
        ("not is_embedding and enable_lora", "--enable-lora is refused without --is-embedding."),
        (
            "kv_cache_dtype not in ('auto', 'bf16') and gpu.is_cuda is False",
            "--kv-cache-dtype other than auto or bf16 is refused off NVIDIA GPUs.",
        ),
        (
            "tp_size % dp_size != 0",
            "Refused when --tp-size is not divisible by --dp-size.",
        ),
        ("page_size is None and enable_lora", "--enable-lora is refused without --page-size."),
        ("page_size > 64", "--page-size above 64 is refused."),
        (
            "model.attention_arch == 'AttentionArch.MLA' and enable_lora",
            "--enable-lora is refused when the model's attention kind is MLA.",
        ),
        (
            "attention_backend.lower() == 'fa3'",
            "--attention-backend fa3 is refused.",
        ),
        (
            "(prefill_attention_backend if prefill_attention_backend"
            " else attention_backend) == 'fa4'",
            "Refused when --prefill-attention-backend (where unset, --attention-backend) is fa4.",
        ),
    ],
)
def test_common_guards_in_plain_words(when, said):
    assert reason(when) == said


def test_a_named_result_is_worded_by_what_it_says():
    let = Let("big_page", parse("page_size > 64"))
    assert reason("big_page and enable_lora", let) == (
        "--page-size above 64 with --enable-lora is refused."
    )


MANY_PAGES = "len([v0 for v0 in page_size if v0 > 1]) > 2"


def test_what_has_no_short_wording_is_told_by_what_it_is_about():
    said = reason(f"enable_lora and {MANY_PAGES}")
    assert said == "--enable-lora is refused, depending on --page-size."
    said = reason(f"enable_lora and page_size and {MANY_PAGES}")
    assert said.endswith("is refused, for some values of --page-size.")
    assert reason(MANY_PAGES) == "Refused by a check over --page-size."


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("packages.flash_attn", "Refused with flash_attn installed."),
        ("enable_lora and not packages.yaml", "--enable-lora is refused without yaml installed."),
        (
            "enable_lora and helper('is_object_storage_uri', model_path)",
            "--enable-lora is refused when --model-path is an object storage URI.",
        ),
        (
            "enable_lora and (page_size > 64 or gpu.x is None)",
            "--enable-lora is refused when --page-size is above 64 or the GPU's x is not known.",
        ),
    ],
)
def test_tests_are_worded_by_what_they_find_out(when, said):
    assert reason(when) == said


def test_a_named_value_beats_another_choice_of_the_same_flag():
    said = remedy("kv_cache_dtype != 'bf16' and kv_cache_dtype == 'nvfp4' and enable_lora")
    assert said == "Set --kv-cache-dtype to bf16, or drop --enable-lora."


def test_premises_are_left_out():
    assert reason("model_path != 'dummy' and enable_lora") == "--enable-lora is refused."


def test_an_equality_makes_inequalities_beside_it_superfluous():
    when = "speculative_algorithm != 'EAGLE' and speculative_algorithm == 'NGRAM'"
    assert reason(when) == "--speculative-algorithm NGRAM is refused."


def test_several_values_of_one_flag_are_listed_once():
    when = "speculative_algorithm in ('EAGLE', 'EAGLE3') or speculative_algorithm == 'NGRAM'"
    assert reason(when) == "--speculative-algorithm EAGLE, EAGLE3 or NGRAM is refused."
    when = "attention_backend != 'fa3' and enable_lora and attention_backend not in ('fa4', 'fa5')"
    assert reason(when) == (
        "--attention-backend other than fa3, fa4 or fa5 with --enable-lora is refused."
    )


def test_a_conditional_that_is_logic_reads_as_logic():
    when = "enable_lora if enable_mixed_chunk else False"
    assert reason(when) == "--enable-mixed-chunk with --enable-lora is refused."


def test_no_sentence_shows_the_entry_language():
    said = reason("any(v0 == page_size for v0 in config.sizes) and getattr(config, 'x', None)")
    assert not any(sign in said for sign in ("==", "getattr", "v0", " None"))


def test_a_long_guard_is_cut_and_counted():
    said = reason(" and ".join(f"{flag} == 'x'" for flag in FLAGS))
    assert said.count(" x") == 6
    assert said.endswith(
        f"depending on --page-size, --tp-size, --dp-size and {len(FLAGS) - 9} others."
    )


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (
            ("page_size", "64", "attention_backend == 'flashmla'"),
            "With --attention-backend flashmla, SGLang sets --page-size to 64.",
        ),
        (
            ("enable_mixed_chunk", "False", "gpu.is_cuda"),
            "SGLang turns --enable-mixed-chunk off on NVIDIA GPUs.",
        ),
        (("dp_size", "None", "enable_lora"), "With --enable-lora, SGLang unsets --dp-size."),
        (
            ("page_size", "64 if gpu.is_cuda else 1", "enable_lora"),
            "With --enable-lora, SGLang sets --page-size to 64 or 1.",
        ),
        (
            ("tp_size", "dp_size", "enable_lora"),
            "With --enable-lora, SGLang sets --tp-size to the value of --dp-size.",
        ),
        (
            ("inner_switch", "True", "enable_lora"),
            "With --enable-lora, SGLang turns the internal setting inner_switch on.",
        ),
        (
            ("page_size", "64", "page_size is None and gpu.is_cuda"),
            "SGLang sets --page-size, left unset, to 64 on NVIDIA GPUs.",
        ),
        (
            ("kv_cache_dtype", "'bf16'", "kv_cache_dtype == 'auto' and enable_lora"),
            "With --enable-lora, SGLang changes --kv-cache-dtype from auto to bf16.",
        ),
        (
            ("tp_size", "1", "tp_size > 8"),
            "With --tp-size above 8, SGLang sets --tp-size to 1.",
        ),
        (
            ("chunked_prefill_size", "chunked_prefill_size // dp_size", "enable_lora"),
            "With --enable-lora, SGLang sets --chunked-prefill-size to "
            "--chunked-prefill-size / --dp-size.",
        ),
        (
            ("chunked_prefill_size", "chunked_prefill_size // 2", "enable_lora"),
            "With --enable-lora, SGLang divides --chunked-prefill-size by 2.",
        ),
        (
            ("speculative_algorithm", "speculative_algorithm.upper()", "speculative_algorithm"),
            "SGLang reads --speculative-algorithm in upper case.",
        ),
        (
            ("page_size", MANY_PAGES, "enable_lora"),
            "With --enable-lora, SGLang works --page-size out.",
        ),
    ],
)
def test_rewrites_in_plain_words(write, said):
    assert rewrite(*write) == said


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("enable_lora and not is_embedding", "Add --is-embedding, or drop --enable-lora."),
        ("page_size not in (32, 64)", "Set --page-size to 32 or 64."),
        ("page_size > 64", "Set --page-size to at most 64."),
        ("kv_cache_dtype == 'mxfp8'", "Choose another --kv-cache-dtype than mxfp8."),
        ("tp_size % dp_size != 0", None),
        ("gpu.is_cuda", None),
    ],
)
def test_a_remedy_follows_from_the_guard(when, said):
    assert remedy(when) == said


def test_a_value_that_was_rewritten_gives_no_remedy():
    when = parse("page_size > 64", {"page_size": 1})
    assert wording().remedy(Refuse("ValueError", when, PLACE)) is None


def test_flags_read_directly_come_before_those_behind_a_result():
    let = Let("big_page", parse("page_size > 64"))
    when = parse("enable_lora and big_page", {"big_page": 1})
    assert wording(let).flags(when) == ("enable_lora", "page_size")


def test_every_view_of_a_flag_is_the_flag():
    when = parse("raw.page_size > 1 and given.tp_size is not None")
    assert set(wording().flags(when)) == {"page_size", "tp_size"}


def test_lists_are_cut():
    assert listed(list("abcdef")) == "a, b, c or 3 others"
