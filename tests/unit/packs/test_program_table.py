"""A program kept as plain values."""

import marshal

import pytest

from kvsolve.model.expression import Expr
from kvsolve.packs.files import read_cached, write_cached
from kvsolve.packs.pack import load_pack, newest, read_full_program
from kvsolve.packs.program_table import program_to_plain, read_plain_program


@pytest.fixture(scope="module")
def program():
    return read_full_program(newest())


def alike(a: object, b: object) -> bool:
    return a is b if isinstance(a, Expr) else type(a) is type(b) and a == b


def test_a_program_comes_back_whole(program) -> None:
    back = read_plain_program(marshal.loads(marshal.dumps(program_to_plain(program))))
    assert back == program
    for mine, theirs in zip(back.steps, program.steps, strict=True):
        assert alike(mine.when, theirs.when)
        assert alike(getattr(mine, "value", None), getattr(theirs, "value", None))


def test_loading_a_pack_keeps_its_terms(program, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("KVSOLVE_CACHE_DIR", str(tmp_path))
    load_pack.cache_clear()
    try:
        pack = load_pack(newest())
        assert read_plain_program(marshal.loads(read_cached(f"{newest()}.program", pack._key)))
        assert pack.program == program
        vars(pack).pop("program")
        write_cached(f"{newest()}.program", "another key", b"nothing of use")
        assert pack.program == program
    finally:
        load_pack.cache_clear()
