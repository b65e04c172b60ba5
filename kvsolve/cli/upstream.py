"""``kvsolve upstream``: for maintainers, who read releases into packs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kvsolve.cli.answering import emit
from kvsolve.cli.known import Format  # noqa: TC001 - Typer evaluates the annotation
from kvsolve.errors import KvsolveError

app = typer.Typer(
    help="For maintainers: read a release's source, never importing it, into packs.",
    no_args_is_help=True,
)
Source = Annotated[
    Path,
    typer.Argument(
        metavar="WHEEL-or-DIR", help="A wheel of SGLang, unpacked or not, or a checkout."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Where to write; stdout if none."),
]


@app.command("flags")
def flags(source: Source, out: Out = None) -> int:
    """Write the flag table of a release."""
    from kvsolve.upstream.flags import read_flags
    from kvsolve.upstream.source import SourceTree

    _require(source)
    table = read_flags(SourceTree.open(source))
    _write(out, table.dumps("kvsolve upstream flags"))
    print(f"SGLang {table.release}: {len(table)} options", file=sys.stderr)
    return 0


@app.command("extract")
def extract(source: Source, out: Out = None) -> int:
    """Write the program of a release: what its argument resolution does, step by step."""
    from kvsolve.upstream.extract import read_source

    _require(source)
    program = read_source(source).program
    _write(out, program.dump())
    print(
        f"SGLang {program.release}: {len(program.steps)} steps, {len(program.gaps)} gaps",
        file=sys.stderr,
    )
    return 0


@app.command("inventory")
def inventory(
    source: Source,
    stage: Annotated[
        list[str] | None,
        typer.Option(
            "--stage", metavar="STAGE", help="args, load, pool, attention or request; repeatable."
        ),
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Keep the figures beside the packs.")
    ] = False,
    format: Format = "text",
) -> int:
    """List every raise and assert that a launch can reach, by stage, and what became of it.

    Takes about a minute; --stage args alone is done in seconds.
    """
    from dataclasses import asdict

    from kvsolve.outputs.listing import listing
    from kvsolve.packs.files import constraints_directory
    from kvsolve.upstream.reach import figures
    from kvsolve.upstream.reach.inventory import take

    _require(source)
    stages = frozenset(stage or figures.STAGES)
    if strange := sorted(stages - set(figures.STAGES)):
        raise KvsolveError(f"--stage takes {', '.join(figures.STAGES)}, not {strange[0]}")
    if record and stages != frozenset(figures.STAGES):
        raise KvsolveError("--record wants all stages")
    found = take(source, beyond=stages != {"args"})
    if record:
        root = constraints_directory() / "sglang"
        figures.record(root, found.release, figures.by_stage(found.places))
    rows: list[dict[str, Any]] = [asdict(row) for row in found.places if row.stage in stages]
    columns = ("stage", "status", "file", "line", "symbol", "code", "flags", "reason")
    about = {
        "sglang": found.release,
        "statements": found.statements,
        "stages": figures.by_stage(found.places),
        "unmapped": found.unmapped,
    }
    emit(listing("places", rows, columns, format, about))
    return 0


@app.command("drift")
def drift(
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW", help="A wheel, a directory, pypi:VERSION, or a known release."
        ),
    ],
    against: Annotated[
        str,
        typer.Option(
            metavar="OLD", help="The same of the older release; the newest known one if left out."
        ),
    ] = "",
    format: Annotated[str, typer.Option(help="text, json or markdown.")] = "text",
) -> int:
    """Compare two releases: options, refusals and rewrites that came, went or changed.

    Example: kvsolve upstream drift pypi:0.5.23 --against 0.5.22 --format markdown
    """
    from kvsolve.outputs.envelope import head, json_text
    from kvsolve.upstream.drift import report
    from kvsolve.upstream.drift.sides import open_side, predecessor

    if format not in ("text", "json", "markdown"):
        raise KvsolveError(f"drift is written as text, json or markdown, not as {format}")
    newer = open_side(new)
    found = report.compare(open_side(against or predecessor(newer.release)), newer)
    if format == "json":
        emit(json_text({**head(), **report.plain(found)}))
    else:
        emit(report.text(found) if format == "text" else report.markdown(found))
    return 0


@app.command("codes")
def codes(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 where codes.toml is stale.")
    ] = False,
) -> int:
    """Give codes to what the programs hold and the registry lacks; none is ever renumbered."""
    from kvsolve.packs.files import constraints_directory
    from kvsolve.upstream.codes import write_codes

    same = write_codes(constraints_directory() / "sglang", check)
    print("codes.toml is up to date" if same else "codes.toml was stale", file=sys.stderr)
    return 1 if check and not same else 0


@app.command("words")
def words(source: Source) -> int:
    """Hash a release's messages behind the entries past argument resolution."""
    from kvsolve.packs.files import constraints_directory
    from kvsolve.upstream.late_words import write_late_words
    from kvsolve.upstream.source import SourceTree

    _require(source)
    path = write_late_words(SourceTree.open(source), constraints_directory() / "sglang")
    print(f"{path.name} written", file=sys.stderr)
    return 0


def _require(source: Path) -> None:
    if not source.exists():
        raise KvsolveError(f"{source}: no such file or directory")


def _write(out: Path | None, text: str) -> None:
    if out is None:
        emit(text)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise KvsolveError(f"{out}: cannot be written: {error.strerror}") from None
