"""Write down which entries the real validators confirmed: ``constraints/sglang/checked.toml``.

An entry is confirmed when the recorded outcome of some job is its refusal (same function, same
exception) and a static check of the job says the same. Run it after recording anew::

    python -m conformance.confirm_entries
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kvsolve.packs.files import constraints_directory

from .comparison import compare, load_exclusions
from .kvsolve_subject import Kvsolve
from .oracle.home import RELEASES
from .sampling import flag_table
from .verdict_file import read_verdicts, recorded_path

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["confirmed_codes", "main"]


def confirmed_codes(release: str) -> Iterator[str]:
    """Codes of the entries that the recorded outcomes of a release bear out."""
    path = recorded_path(release)
    if not path.exists():
        return
    subject, exclusions = Kvsolve(), load_exclusions()
    _, outcomes = read_verdicts(path, flag_table(release).fields)
    for outcome in outcomes:
        if outcome["status"] != "rejected" or exclusions.reason_to_skip(release, outcome):
            continue
        answer = subject.answer(release, outcome, outcome["judged_to"])
        if answer.code and compare(outcome, answer, exclusions).place:
            yield answer.code


def main() -> None:
    """Write the list."""
    found = sorted({code for release in RELEASES for code in confirmed_codes(release)})
    lines = [
        "# Written by `python -m conformance.confirm_entries`: entries whose refusal the real",
        "# validator of some release gave in a recorded run, at the place that the entry names.",
        "validator = [",
        *(f'  "{code}",' for code in found),
        "]",
    ]
    path = constraints_directory() / "sglang" / "checked.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(found)} entries confirmed")


if __name__ == "__main__":
    main()
