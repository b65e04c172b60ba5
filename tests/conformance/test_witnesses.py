"""The parts of the search for cases that need no release."""

from __future__ import annotations

from itertools import islice

import pytest

from kvsolve.packs.pack import load_pack, releases

from .cases import bears_out, read_file, write_file
from .entry_probe import Probe
from .oracle.gpu_profiles import GPU_PROFILES
from .oracle.model_configs import DRAFTS, MODELS, RARE_MODELS
from .witness_cases import Statements, case_of, pair_of, stands
from .witness_search import Explorer, Setting
from .witness_seeds import read_seeds, sprout
from .witness_settings import DRAFTED, settings
from .witness_values import VALUES

REFUSED = {"status": "rejected", "where": {"file": "a.py", "symbol": "f", "line": 7}}


def test_settings_name_machines_and_models_that_there_are_and_none_twice():
    found = list(settings())
    assert len(set(found)) == len(found)
    assert {setting.platform for setting in found} <= set(GPU_PROFILES)
    assert {setting.model for setting in found} == {*MODELS, *RARE_MODELS}
    assert {draft for draft, _ in DRAFTED} <= {*DRAFTS, *RARE_MODELS}


def test_values_are_of_flags_that_some_release_has():
    tables = [load_pack(release).flags for release in releases()]
    assert [name for name in VALUES if not any(name in table for table in tables)] == []


@pytest.mark.parametrize(
    ("case", "outcome", "expected"),
    [
        ({"kind": "breaks", "where": ["a.py", "f"]}, REFUSED, True),
        ({"kind": "breaks", "where": ["a.py", "g"]}, REFUSED, False),
        ({"kind": "breaks", "where": ["a.py", "f"]}, {"status": "ok", "resolved": {}}, False),
        ({"kind": "keeps"}, {"status": "ok", "resolved": {}}, True),
        ({"kind": "keeps"}, REFUSED, False),
        (
            {"kind": "keeps", "dest": "size", "unlike": 64},
            {"status": "ok", "resolved": {"size": 64}},
            False,
        ),
        (
            {"kind": "keeps", "dest": "size", "unlike": 64},
            {"status": "ok", "resolved": {"size": 1}},
            True,
        ),
        (
            {"kind": "breaks", "dest": "size", "after": 64},
            {"status": "ok", "resolved": {"size": 64}},
            True,
        ),
        (
            {"kind": "breaks", "dest": "plan", "inside": ["a", "b"], "after": 1},
            {"status": "ok", "resolved": {"plan": {"a": {"b": 2}}}},
            False,
        ),
    ],
)
def test_a_release_bears_a_case_out_or_not(case, outcome, expected):
    assert bears_out(case, outcome) is expected


def test_cases_come_back_from_their_file(tmp_path):
    path = tmp_path / "cases.jsonl.gz"
    cases = [{"code": "KV2", "sglang": "r", "kind": k} for k in ("keeps", "breaks")]
    write_file(path, cases)
    assert read_file(path) == cases[::-1]


def test_a_statement_covers_its_lines_up_to_the_next_one():
    statements = Statements(releases()[-1])
    file, lines = next((f, n) for f, n in statements.lines.items() if len(n) > 1)
    here = statements.codes[file, lines[0]]
    assert statements.at({"file": file, "line": lines[0]}) == here
    assert statements.at({"file": file, "line": lines[1] - 1}) == here
    assert statements.at({"file": file, "line": lines[0] - 1}) == set()
    assert statements.at({"file": "nowhere.py", "line": 1}) == set()


def test_an_entry_gets_a_pair_that_stands():
    probe = Probe("0.5.18")
    refusal = next(
        code
        for code, steps in probe.entries.items()
        if any(entry.ground.symbol.endswith("_handle_ssl_validation") for _, entry in steps)
    )
    wanted = {refusal: [number for number, _ in probe.entries[refusal]]}
    explorer = Explorer(probe, wanted)
    [attempt] = explorer.visit(Setting("h100", "llama-mha"))
    assert attempt.result == "pair"
    assert not explorer.wanted
    pair = {"breaks": attempt.breaks, "keeps": attempt.keeps}
    for kind, job in pair.items():
        case = case_of(probe, refusal, kind, job, probe.look(job))
        assert stands(case, probe.look(job))
    assert len(list(islice(explorer.visit(Setting("h100", "llama-mha")), 1))) == 0


def test_seeds_name_entries_machines_and_models_that_there_are():
    seeds = list(read_seeds())
    assert seeds
    assert {seed.setting.platform for seed in seeds} <= set(GPU_PROFILES)
    assert {seed.setting.model for seed in seeds} <= {*MODELS, *RARE_MODELS}
    probes = {release: Probe(release) for release in {seed.release for seed in seeds}}
    assert [seed.code for seed in seeds if seed.code not in probes[seed.release].entries] == []


def test_a_seed_tells_its_variables_and_devices(tmp_path):
    path = tmp_path / "seeds.txt"
    path.write_text("# told\nKV1! 0.5.23 h100 llama-mha A=b devices=m0,m1 -- --x 'a b'\n")
    [seed] = read_seeds(path)
    assert (seed.code, seed.whole, seed.devices) == ("KV1", True, ("m0", "m1"))
    assert seed.job["env"] == {"A": "b"}
    assert seed.job["argv"] == ["--x", "a b"]


def test_a_pair_grows_from_a_seed():
    probe = Probe("0.5.23")
    seed = next(seed for seed in read_seeds() if seed.code == "KV1042")
    breaks, keeps = sprout(probe, seed)
    broken, kept = pair_of(probe, seed.code, breaks, keeps)
    assert stands(broken, probe.look(breaks))
    assert stands(kept, probe.look(keeps))
