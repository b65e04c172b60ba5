"""From a file's name and text to its launch commands: which reader takes which text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from kvsolve.files.assembly import command_of_launch, notes_for, shared_locked
from kvsolve.files.found import Document, FileError, FoundCommand, Layout
from kvsolve.files.strand import whole
from kvsolve.files.templates import is_template, without_templates
from kvsolve.files.unknown import Unknowns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kvsolve.files.strand import Strand

__all__ = ["SUFFIXES", "form_of", "read_document"]

SUFFIXES = {
    ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".ipynb": "notebook", ".py": "python",
    ".md": "markdown", ".mdx": "markdown", ".markdown": "markdown", ".sh": "shell",
    ".bash": "shell", ".zsh": "shell", ".slurm": "shell", ".sbatch": "shell", ".job": "shell",
    ".dockerfile": "dockerfile", ".envrc": "shell",
}  # fmt: skip
"""Form of a file by the end of its name."""
_TEMPLATES = (".j2", ".jinja", ".jinja2", ".tpl", ".tmpl", ".gotmpl", ".template", ".in")
_DOCKER = re.compile(r"^(?:Dockerfile|Containerfile)(?:[.\-_].*)?$", re.IGNORECASE)
_UNREAD = {
    ".toml": "TOML", ".js": "JavaScript", ".jsx": "JavaScript", ".ts": "TypeScript",
    ".tsx": "TypeScript", ".go": "Go", ".rs": "Rust", ".html": "HTML", ".rst": "reStructuredText",
}  # fmt: skip
_SHELL_FENCES = (
    "", "bash", "sh", "shell", "console", "zsh", "shell-session", "shellsession", "ksh",
    "terminal", "command", "cmd",
)  # fmt: skip
_FENCES = {"yaml": "yaml", "yml": "yaml", "json": "json", "python": "python", "py": "python",
           "dockerfile": "dockerfile", "docker": "dockerfile"}  # fmt: skip
_MANIFEST = re.compile(r"(?:---|[\w.-]+:)(?:\s|$)|- ")

Item = FoundCommand | FileError


def form_of(path: str, text: str) -> str:
    """Which reader a file is for: by its name, else by what it looks like.

    Raises:
        FileError: It is of a kind that is not read.
    """
    name = PurePath(path).name
    for ending in _TEMPLATES:
        name = name.removesuffix(ending)
    if _DOCKER.match(name):
        return "dockerfile"
    suffix = PurePath(name).suffix.lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if suffix in _UNREAD:
        reason = f"{_UNREAD[suffix]} files are not read; give the command behind `--`"
        raise FileError(reason, path)
    return _looks_like(text)


def _looks_like(text: str) -> str:
    head = text.lstrip("\ufeff \t\r\n")
    if head.startswith("#!"):
        return "python" if "python" in head.partition("\n")[0] else "shell"
    if head[:1] in "[{":
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return "shell"
        return "json"
    if re.match(r"(?:#[^\n]*\n|ARG [^\n]*\n|\s)*FROM \S+", head):
        return "dockerfile"
    first = next((r for r in head.splitlines() if r.strip() and not r.startswith("#")), "")
    return "yaml" if _MANIFEST.match(first) else "shell"


def read_document(
    document: Document,
    told: Mapping[str, str] | None = None,
    *,
    sure: bool = True,
    form: str | None = None,
) -> list[Item]:
    """The launch commands of a file, in its order, and what is wrong with it.

    Args:
        document: The file.
        told: Values that the user gives for variables that the file does not set.
        sure: The user names this file; of one that a walk met, options alone say too little.
        form: A reader's name, where the file's own name does not decide.

    Returns:
        Commands; a :class:`FileError` for what cannot be read. Neither if there is no command.
    """
    reader = _Reader(document, told or {}, sure)
    try:
        chosen = form or form_of(document.path, document.text)
        return list(reader.read(chosen, whole(document.text)))
    except FileError as error:
        return [error]
    except RecursionError:
        return [FileError("it is nested too deeply", document.path)]


class _Reader:
    def __init__(self, document: Document, told: Mapping[str, str], sure: bool) -> None:
        self.document, self.told, self.sure = document, told, sure
        self.unknowns = Unknowns()

    def read(self, form: str, strand: Strand) -> Iterator[Item]:
        readers: dict[str, Callable[[Strand], Iterator[Item]]] = {
            "yaml": self.yaml, "json": self.json, "notebook": self.notebook, "python": self.python,
            "markdown": self.markdown, "dockerfile": self.dockerfile, "shell": self.shell,
        }  # fmt: skip
        return readers[form](strand)

    def yaml(self, strand: Strand) -> Iterator[Item]:
        from kvsolve.files.yaml_file import read_yaml_text

        yield from read_yaml_text(
            self.document, self.unknowns, self.told, strand=strand, sure=self.sure
        )

    def json(self, strand: Strand) -> Iterator[Item]:
        from kvsolve.files.json_text import json_strand

        yield from self.yaml(json_strand(strand))

    def notebook(self, strand: Strand) -> Iterator[Item]:
        from kvsolve.files.json_text import json_strand
        from kvsolve.files.notebook import cells
        from kvsolve.files.yaml_nodes import YamlTextError

        try:
            for kind, text in cells(json_strand(strand)):
                yield from self._part(kind, text)
        except YamlTextError as error:
            raise FileError(f"it is no notebook: {error}", self.document.path) from None

    def _part(self, form: str, strand: Strand) -> Iterator[FoundCommand]:
        """The commands of a cell or of a fenced block.

        What a document shows is often a piece only, which no reader can take; it is no fault then.
        """
        try:
            for item in self.read(form, strand):
                if isinstance(item, FoundCommand):
                    yield item
        except FileError:
            return

    def python(self, strand: Strand) -> Iterator[Item]:
        from kvsolve.files.python_file import read_python

        yield from read_python(self.document, strand, self.unknowns, self.told)

    def markdown(self, strand: Strand) -> Iterator[Item]:
        from kvsolve.files.launches import names_server
        from kvsolve.files.markdown import fences

        for fence in fences(strand):
            form = "shell" if fence.language in _SHELL_FENCES else _FENCES.get(fence.language)
            if form is not None and names_server(fence.strand.text):
                yield from self._part(form, fence.strand)

    def dockerfile(self, strand: Strand) -> Iterator[Item]:
        from kvsolve.files.dockerfile import read_dockerfile

        yield from read_dockerfile(self.document, strand, self.unknowns, self.told)

    def shell(self, strand: Strand) -> Iterator[Item]:
        from kvsolve.files.shell import ShellTextError, launches_in

        directives: tuple[int, ...] = ()
        if is_template(strand.text):
            strand, directives = without_templates(strand, self.unknowns)
        try:
            launches = launches_in(strand, self.unknowns, self.told)
        except ShellTextError as error:
            place = strand.at[min(error.index, len(strand) - 1)] if len(strand) else 0
            line = self.document.location(place).line
            raise FileError(f"it is no shell text: {error}", self.document.path, line) from None
        found = [command_of_launch(each, self.document, self.unknowns) for each in launches]
        if not found and self.sure:
            found = list(self._options(strand))
        for command in shared_locked(found):
            yield _inside(command, directives)

    def _options(self, strand: Strand) -> Iterator[FoundCommand]:
        """A text that is nothing but the options of a server."""
        from kvsolve.files.assembly import token_of
        from kvsolve.files.shell_text import parse_shell
        from kvsolve.files.shell_tree import Simple
        from kvsolve.files.shell_values import Values

        nodes = parse_shell(strand)
        if len(nodes) != 1 or not isinstance(nodes[0], Simple) or not nodes[0].words:
            return
        if not (nodes[0].words[0].plain or "").startswith("-"):
            return
        values = Values(self.unknowns, self.told)
        fields = [field for word in nodes[0].words for field in values.fields(word, strand)]
        tokens = tuple(token_of(f, Layout("shell", 0), self.unknowns) for f in fields)
        yield FoundCommand(tokens, "shell", self.document.location(tokens[0].start))


def _inside(command: FoundCommand, directives: tuple[int, ...]) -> FoundCommand:
    places = [t.start for t in command.tokens]
    inside = [d for d in directives if min(places) < d < max(places)]
    if not inside:
        return command
    notes = notes_for(inside[:3], "a template decides what stands here", "{{ ... }}")
    return replace(command, notes=(*command.notes, *notes))
