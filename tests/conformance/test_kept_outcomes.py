"""Kept outcomes are asked once and come back the same."""

from __future__ import annotations

from .kept_outcomes import KeptOutcomes


def test_a_job_is_asked_once(tmp_path):
    asked = []

    def ask(jobs):
        asked.extend(jobs)
        return [{"id": job["id"], "status": "ok", "resolved": {"n": job["argv"]}} for job in jobs]

    jobs = [{"id": str(n), "argv": [str(n)], "platform": "h100", "model": "m"} for n in range(3)]
    path = tmp_path / "kept" / "outcomes.jsonl.gz"
    first = KeptOutcomes(path).answers(jobs[:2], ask)
    again = KeptOutcomes(path).answers([*jobs, {**jobs[0], "id": "other"}], ask)
    assert [job["id"] for job in asked] == ["0", "1", "2"]
    assert again[:2] == first
    assert again[3] == first[0]


def test_another_platform_is_another_job(tmp_path):
    def ask(jobs):
        return [{"status": job["platform"]} for job in jobs]

    kept = KeptOutcomes(tmp_path / "outcomes.jsonl.gz")
    jobs = [{"argv": [], "platform": name, "model": "m"} for name in ("h100", "b200")]
    assert [outcome["status"] for outcome in kept.answers(jobs, ask)] == ["h100", "b200"]
