"""What the real validators say to the published commands: ``python -m conformance.public_cases``.

``tests/cases/public.jsonl`` holds launch commands that people published. This asks the releases
about each of them, on models whose config.json is written from the table of well-known models, and
prints where an expectation of the file differs; ``--write`` puts the releases' answers there.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.inputs.models import find_model

from .batches import run_jobs
from .cases import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .comparison import Outcome

__all__ = ["PUBLIC", "expectation", "read_public"]

PUBLIC = CASES / "public.jsonl"
MODEL_OPTIONS = ("--model-path", "--model")
DRAFT = "--speculative-draft-model-path"
Case = dict[str, Any]


def read_public() -> list[Case]:
    """The published commands with what each release says to them."""
    return [json.loads(line) for line in PUBLIC.read_text(encoding="utf-8").splitlines()]


def expectation(outcome: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any] | None:
    """What kvsolve has to say, from what the release said.

    Args:
        outcome: The release's answer.
        shown: Effective values that the case is about; only their names are used.

    Returns:
        Verdict, first refusal and stage; None where the machine without a GPU cannot tell.
    """
    status, stage = outcome["status"], outcome["stage"]
    if status == "harness-error":
        return None
    if status == "parse-error":
        return {"verdict": "invalid", "stage": "parse", "first": "parse"}
    if status == "rejected" and (stage == "args" or outcome["deliberate"]):
        if outcome.get("missing_package") or not outcome["where"]:
            return None
        return {"verdict": "invalid", "stage": stage, "first": outcome["where"]["symbol"]}
    resolved = outcome.get("resolved", {})
    values = {name: resolved[name] for name in shown if name in resolved}
    # A crash past the arguments that nobody meant may be the faked hardware's.
    known: dict[str, Any] = {"verdict": "valid", "stage": "args"}
    return known | ({"effective": values} if values else {})


def jobs_of(cases: list[Case], models: Path) -> Iterator[Outcome]:
    """The cases as jobs of the oracle; config.json files are written below ``models``."""
    for case in cases:
        model, argv = _without_model(case["argv"], models)
        yield {
            "id": f"{case['id']}-{case['sglang']}",
            "platform": case["gpu"],
            "model": model,
            "argv": argv,
            "env": case.get("env", {}),
            "judged_to": case.get("stage", "attention"),
        }


def _without_model(argv: list[str], models: Path) -> tuple[str, list[str]]:
    """The model's directory, and the tokens without it; a draft is replaced by its directory."""
    rest, model, tokens = [], "", iter(argv)
    for token in tokens:
        option, _, value = token.partition("=")
        if option in MODEL_OPTIONS:
            model = _directory(value or next(tokens), models)
        elif option == DRAFT:
            rest += [DRAFT, _directory(value or next(tokens), models)]
        else:
            rest.append(token)
    return model, rest


def _directory(name: str, models: Path) -> str:
    files = find_model(name)
    assert files is not None, f"{name} is not in the table of well-known models"
    folder = models / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(files.config), encoding="utf-8")
    if files.quantization:
        text = json.dumps(files.quantization)
        (folder / "hf_quant_config.json").write_text(text, encoding="utf-8")
    return str(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask the releases about the published commands.")
    parser.add_argument("--write", action="store_true", help="put their answers into the file")
    parser.add_argument("--case", nargs="+", help="only these ids")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    cases = read_public()
    asked = [case for case in cases if not options.case or case["id"] in options.case]
    with tempfile.TemporaryDirectory() as models:
        for release in sorted({case["sglang"] for case in asked}):
            own = [case for case in asked if case["sglang"] == release]
            jobs = list(jobs_of(own, Path(models)))
            for case, outcome in zip(own, run_jobs(release, jobs, options.workers), strict=True):
                _compare(case, outcome)
    if options.write:
        text = "".join(json.dumps(case) + "\n" for case in cases)
        PUBLIC.write_text(text, encoding="utf-8")


def _compare(case: Case, outcome: Outcome) -> None:
    before = case.get("expect")
    said = expectation(outcome, (before or {}).get("effective", {}))
    if said != before:
        told = {name: outcome.get(name) for name in ("status", "type", "message", "where")}
        print(f"{outcome['id']}: {before} -> {said} {told}", flush=True)
        case["expect"] = said


if __name__ == "__main__":
    main()
