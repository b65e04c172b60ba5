"""``kvsolve rules``, ``flags`` and ``profiles``: what is known."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kvsolve.cli.answering import emit
from kvsolve.errors import KvsolveError
from kvsolve.outputs.listing import listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kvsolve.inputs.gpu import GpuProfile
    from kvsolve.model.flag import Flag
    from kvsolve.packs.catalog import EntryInfo
    from kvsolve.packs.pack import Pack

app = typer.Typer()
Format = Annotated[
    Literal["text", "json", "jsonl", "markdown", "csv"],
    typer.Option("--format", help="How to print the answer."),
]
Release = Annotated[
    str | None,
    typer.Option(
        "--sglang", metavar="RELEASE", help="SGLang release; the newest one known if none."
    ),
]


def _pack(wanted: str | None) -> Pack:
    from kvsolve.packs.pack import load_pack, newest

    return load_pack(wanted or newest())


@app.command("flags")
def flags(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[FLAG]...", help="Just these flags.")
    ] = None,
    sglang: Release = None,
    format: Format = "text",
) -> int:
    """List the command-line options of a release."""
    from kvsolve.answers.asking import dest_of

    pack = _pack(sglang)
    wanted = {dest_of(pack.flags, name) for name in names or ()}
    rows = [_flag(f, pack) for f in pack.flags if not wanted or f.dest in wanted]
    columns = ("flag", "also", "takes", "default", "modelled", "remarks")
    emit(listing("flags", rows, columns, format, {"sglang": pack.release}))
    return 0


def _flag(flag: Flag, pack: Pack) -> dict[str, Any]:
    from kvsolve.model.flag import UNSET

    remarks = [word for word in ("required", "deprecated", "hidden") if getattr(flag, word)]
    if flag.new_flag:
        remarks.append(f"use {flag.new_flag}")
    return {
        "flag": flag.name,
        "dest": flag.dest,
        "also": list(flag.spellings[1:]),
        "takes": _takes(flag),
        "choices": None if flag.choices is None else list(flag.choices),
        "nargs": flag.nargs,
        "default": None if flag.default is UNSET else flag.default,
        "modelled": flag.dest in pack.modelled,
        "remarks": remarks,
    }


def _takes(flag: Flag) -> str:
    if not flag.takes_value:
        return "nothing"
    if flag.choices:
        return " | ".join(str(choice) for choice in flag.choices)
    return flag.type + ("..." if flag.nargs in ("*", "+") else "")


@app.command("profiles")
def profiles(
    kind: Annotated[
        str | None, typer.Argument(metavar="[gpu|model|known]", help="Only one kind.")
    ] = None,
    format: Format = "text",
) -> int:
    """List GPU profiles, model profiles and the models known by name."""
    kinds: Mapping[str, tuple[Any, Sequence[str]]] = {
        "gpu": (_gpus, ("name", "kind", "device", "capability", "memory_mib")),
        "model": (_models, ("name", "family", "about")),
        "known": (_known, ("name", "approximate")),
    }
    if kind is not None and kind not in kinds:
        raise KvsolveError(f"profiles takes gpu, model or known, not {kind}")
    chosen = [kind] if kind else ["gpu", "model"]
    if format in ("json", "jsonl"):
        every = [row for name in chosen for row in kinds[name][0]()]
        emit(listing("profiles", every, (), format))
        return 0
    parts = [listing(name, kinds[name][0](), kinds[name][1], format) for name in chosen]
    emit("\n".join(parts))
    return 0


def _gpus() -> Iterator[dict[str, Any]]:
    from kvsolve.inputs.gpu import gpu_profiles

    for profile in gpu_profiles().values():
        yield {"profile": "gpu", **_gpu(profile)}


def _gpu(profile: GpuProfile) -> dict[str, Any]:
    row = {f.name: getattr(profile, f.name) for f in fields(profile)}
    if profile.capability is not None:
        row["capability"] = ".".join(str(part) for part in profile.capability)
    return row


def _models() -> Iterator[dict[str, Any]]:
    from kvsolve.inputs.models import model_profiles

    for p in model_profiles().values():
        yield {"profile": "model", "name": p.name, "family": p.family, "about": p.about}


def _known() -> Iterator[dict[str, Any]]:
    from kvsolve.inputs.models import known_models

    for name, approximate in known_models():
        yield {"profile": "known", "name": name, "approximate": approximate}


@app.command("rules")
def rules(
    sglang: Release = None,
    flag: Annotated[
        list[str] | None,
        typer.Option(
            "--flag", metavar="FLAG", help="Only entries that read this flag; repeatable."
        ),
    ] = None,
    kind: Annotated[
        Literal["refuse", "set", "crash", "report"] | None,
        typer.Option("--kind", help="Only refusals, rewrites, unmeant breaks or reports."),
    ] = None,
    curated: Annotated[
        bool, typer.Option("--curated", help="Only entries with a text written by hand.")
    ] = False,
    format: Format = "text",
) -> int:
    """List the entries of a release: what it refuses, rewrites, and is reported to get wrong."""
    from kvsolve.answers.asking import dest_of

    pack = _pack(sglang)
    wanted = {dest_of(pack.flags, name) for name in flag or ()}
    rows = [
        _rule(entry)
        for entry in pack.catalog.all()
        if (kind is None or entry.kind == kind)
        and (not curated or entry.curated)
        and wanted <= set(entry.flags)
    ]
    columns = ("code", "kind", "stage", "slug", "message")
    emit(listing("rules", rows, columns, format, {"sglang": pack.release}))
    return 0


def _rule(entry: EntryInfo) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(entry), "ground": entry.ground.to_dict()}
