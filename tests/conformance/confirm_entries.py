"""Write down which entries the real validators confirmed: ``constraints/sglang/checked.toml``.

A refusal is confirmed when it is the recorded outcome of some job, at the same function, and a
static check of the job says the same; a rewrite, when both give the flag the same value and the
check says that the entry gave it. The cases of ``tests/cases/args.jsonl.gz`` that a validator bore
out (``conformance.find_witnesses``) count too. Run it after recording anew::

    python -m conformance.confirm_entries
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kvsolve.packs.files import constraints_directory

from .cases import read_cases
from .comparison import compare, load_exclusions
from .kvsolve_subject import Kvsolve, as_answer, request_of
from .oracle.home import RELEASES
from .sampling import flag_table
from .verdict_file import read_verdicts, recorded_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kvsolve.model.finding import CheckResult

    from .comparison import Comparison

__all__ = ["confirmed_codes", "main"]


def confirmed_codes(release: str) -> Iterator[str]:
    """Codes of the entries that the recorded outcomes of a release bear out."""
    path = recorded_path(release)
    if not path.exists():
        return
    subject, exclusions = Kvsolve(), load_exclusions()
    _, outcomes = read_verdicts(path, flag_table(release).fields)
    for outcome in outcomes:
        if exclusions.reason_to_skip(release, outcome):
            continue
        result = subject.session.check(request_of(release, outcome, outcome["judged_to"]))
        answer = as_answer(result)
        compared = compare(outcome, answer, exclusions)
        if compared.place and answer.code:
            yield answer.code
        if compared.values:
            yield from _rewrites(outcome["resolved"], result, compared)


def _rewrites(
    resolved: Mapping[str, Any], result: CheckResult, compared: Comparison
) -> Iterator[str]:
    """Codes of the rewrites whose value the release has too."""
    for dest, code in result.provenance.items():
        if code.startswith("KV") and dest in resolved and dest not in compared.differing:
            yield code


def main() -> None:
    """Write the list."""
    recorded = {code for release in RELEASES for code in confirmed_codes(release)}
    cases = [case for case in read_cases() if case.get("stage") == "args"]
    found = sorted(recorded | {case["code"] for case in cases if "checked" not in case})
    lines = [
        "# Written by `python -m conformance.confirm_entries`: entries whose refusal or value the",
        "# real validator of some release gave in a recorded run or in a case of its own.",
        "validator = [",
        *(f'  "{code}",' for code in found),
        "]",
    ]
    path = constraints_directory() / "sglang" / "checked.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(found)} entries confirmed")


if __name__ == "__main__":
    main()
