"""One command-line option of a release, and the table of all of them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import fields
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kvsolve.errors import KvsolveError
from kvsolve.model.noun import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["UNSET", "Flag", "FlagTable", "Value"]

Value = Any
"""A JSON value: None, bool, int, float, str, list or dict."""


class _Unset:
    """The default of a flag that leaves its field alone when it is not given."""

    def __repr__(self) -> str:
        return "UNSET"

    def __reduce__(self) -> str:
        return "UNSET"


UNSET = _Unset()
FORMAT = 1

ACTIONS = frozenset({
    "store",       # keep the value
    "alias",       # an old spelling: keep the value under the name of the new one
    "store_true",  # a switch
    "boolean",     # --x and --no-x
    "const",       # keep `const`, whatever was typed
    "ignore",      # accepted for old times' sake, without effect
    "refuse",      # retired: the parser stops with a pointer to what replaced it
    "lora_paths",  # a list of NAME=PATH, PATH or JSON objects
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Flag:
    """One option as its release's parser declares it.

    Attributes:
        dest: Name under which the value is kept, normally a field of the server arguments.
        spellings: Every option string, the first one canonical.
        action: One of ``ACTIONS``.
        type: Name of the value type (see ``kvsolve.inputs.value_types``); "" for a switch.
        type_facts: What the value type must know of the release, if anything.
        nargs: How many values follow: None (one), ``"?"``, ``"*"``, ``"+"`` or a count.
        choices: Allowed values, or None.
        default: Value when the flag is not given, or ``UNSET``.
        const: Value of a ``"?"`` flag without a value and of a ``const`` flag.
        required: The parser refuses a command without it.
        deprecated: The release warns that the flag goes away.
        hidden: Left out of the release's own help.
        new_flag: What the release says to use instead, "" when it says nothing.
        choices_by_env: Further choices while an environment variable is true.
    """

    dest: str
    spellings: tuple[str, ...]
    action: str = "store"
    type: str = ""
    type_facts: Value = None
    nargs: str | int | None = None
    choices: tuple[Value, ...] | None = None
    default: Value = None
    const: Value = None
    required: bool = False
    deprecated: bool = False
    hidden: bool = False
    new_flag: str = ""
    choices_by_env: tuple[tuple[str, tuple[Value, ...]], ...] = ()

    @property
    def name(self) -> str:
        """The canonical spelling, for example ``--kv-cache-dtype``."""
        return self.spellings[0]

    @property
    def takes_value(self) -> bool:
        """Tell whether something may follow the flag on a command line."""
        return self.nargs != 0

    def to_plain(self) -> tuple[Any, ...]:
        """The flag as nested tuples of marshal-able values, in field order."""
        row = [getattr(self, name) for name in _COLUMNS]
        row[_DEFAULT] = () if self.default is UNSET else (self.default,)
        return tuple(row)

    @classmethod
    def from_plain(cls, row: tuple[Any, ...]) -> Flag:
        """The inverse of :meth:`to_plain`."""
        default = row[_DEFAULT]
        value = default[0] if default else UNSET
        return cls(*(*row[:_DEFAULT], value, *row[_DEFAULT + 1 :]))


_COLUMNS = tuple(f.name for f in fields(Flag))
_DEFAULT = _COLUMNS.index("default")


class FlagTable:
    """Every option of one release, and every field of its server arguments.

    Attributes:
        release: For example ``0.5.18``.
        flags: All options without ``--help``, sorted by canonical spelling.
        fields: Field of the server arguments -> its default, fields without an option included. A
            field is set from the parsed command when some flag's ``dest`` has its name.
        launcher: What happens around the parser. ``config_keys``: whether a ``--config`` file names
            options by ``"dest"`` or by ``"spellings"``, or that its reader knows none (``"none"``);
            ``config_mappings``: ``"text"`` where a mapping of a file becomes Python's text of it
            instead of JSON; ``noticed``: field -> option, fields that
            say whether the option stands literally in the command; ``log_level``: the value that
            must name a logging level.
    """

    __slots__ = (
        "_by_dest",
        "_by_spelling",
        "_defaults",
        "_initial",
        "_places",
        "_required",
        "_rows",
        "_sorted",
        "fields",
        "launcher",
        "release",
    )

    def __init__(
        self,
        release: str,
        flags: Iterable[Flag],
        fields: Mapping[str, Value],
        launcher: Mapping[str, Value],
    ) -> None:
        rows = [flag.to_plain() for flag in sorted(flags, key=lambda flag: flag.spellings)]
        self._fill(release, tuple(rows), dict(fields), dict(launcher))

    def _fill(
        self,
        release: str,
        rows: tuple[tuple[Any, ...], ...],
        fields: dict[str, Value],
        launcher: dict[str, Value],
    ) -> None:
        self.release, self.fields, self._rows = release, fields, rows
        self.launcher = launcher
        self._by_spelling: dict[str, Flag | int] = {
            spelling: at for at, row in enumerate(rows) for spelling in row[1]
        }
        self._by_dest: dict[str, tuple[Flag, ...]] = {}
        self._places: dict[str, list[str]] | None = None
        self._defaults: dict[str, Value] | None = None
        self._initial: dict[str, Value] | None = None
        self._sorted: list[str] | None = None
        self._required: tuple[str, ...] | None = None

    @property
    def flags(self) -> tuple[Flag, ...]:
        """All options, sorted by canonical spelling."""
        return tuple(self.by_spelling(row[1][0]) for row in self._rows)

    @property
    def spellings(self) -> Mapping[str, object]:
        """Every option string of the release, as the keys of a mapping."""
        return self._by_spelling

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Flag]:
        return iter(self.flags)

    def __contains__(self, spelling: str) -> bool:
        return spelling in self._by_spelling

    def by_spelling(self, spelling: str) -> Flag:
        """The flag that an exact option string selects.

        Raises:
            KeyError: No flag has this spelling.
        """
        # Flags are made when they are first asked for: a command names few of the 500.
        found = self._by_spelling[spelling]
        if isinstance(found, int):
            flag = Flag.from_plain(self._rows[found])
            for other in flag.spellings:
                self._by_spelling[other] = flag
            return flag
        return found

    def find(self, spelling: str) -> Flag | None:
        """The flag that an exact option string selects, or None."""
        found = self._by_spelling.get(spelling)
        if isinstance(found, int):
            return self.by_spelling(spelling)
        return found

    def beginning_with(self, prefix: str) -> tuple[str, ...]:
        """Every option string that starts with a prefix, in sorted order."""
        if self._sorted is None:
            self._sorted = sorted(self._by_spelling)
        start = bisect_left(self._sorted, prefix)
        return tuple(takewhile(lambda s: s.startswith(prefix), islice(self._sorted, start, None)))

    def by_dest(self, dest: str) -> tuple[Flag, ...]:
        """The flags that write a name, the one to recommend first; empty when there is none."""
        found = self._by_dest.get(dest)
        if found is None:
            if self._places is None:
                self._places = {}
                for row in self._rows:
                    self._places.setdefault(row[0], []).append(row[1][0])
            group = [self.by_spelling(spelling) for spelling in self._places.get(dest, ())]
            found = tuple(sorted(group, key=lambda f: (f.deprecated, f.hidden, f.spellings)))
            self._by_dest[dest] = found
        return found

    def flag(self, dest: str) -> Flag:
        """The flag to recommend for a name.

        Raises:
            KeyError: No flag writes it.
        """
        found = self.by_dest(dest)
        if not found:
            raise KeyError(dest)
        return found[0]

    @property
    def defaults(self) -> Mapping[str, Value]:
        """What an empty command parses to: name -> default, for every flag."""
        if self._defaults is None:
            found: dict[str, tuple[bool, Value]] = {}
            for row in self._rows:
                default, late = row[_DEFAULT], row[_DEPRECATED]
                if default and (row[0] not in found or found[row[0]][0] > late):
                    found[row[0]] = (late, default[0])
            self._defaults = {name: value for name, (_, value) in found.items()}
        return self._defaults

    @property
    def initial(self) -> Mapping[str, Value]:
        """Every field with the value that an empty command leaves it with.

        Whoever makes a configuration starts from these very objects, so that what a command leaves
        alone is found by identity.
        """
        if self._initial is None:
            defaults = self.defaults
            self._initial = {name: defaults.get(name, own) for name, own in self.fields.items()}
        return self._initial

    @property
    def required(self) -> tuple[str, ...]:
        """Canonical spellings of the flags without which no command is accepted."""
        if self._required is None:
            self._required = tuple(row[1][0] for row in self._rows if row[_REQUIRED])
        return self._required

    @property
    def choice_variables(self) -> frozenset[str]:
        """Environment variables on which some flag's choices depend."""
        return frozenset(name for row in self._rows for name, _ in row[_BY_ENV])

    def to_plain(self) -> tuple[Any, ...]:
        """The table as nested tuples and dicts of marshal-able values."""
        return (FORMAT, self.release, self._rows, self.fields, self.launcher)

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> FlagTable:
        """The inverse of :meth:`to_plain`; makes no flag yet."""
        _, release, rows, fields, launcher = plain
        table = cls.__new__(cls)
        table._fill(release, rows, fields, launcher)
        return table

    def dumps(self, command: str) -> str:
        """The table as JSON text, one flag a line.

        Args:
            command: The command that writes the file, kept in its header.
        """
        from kvsolve.model.flag_text import write_table

        return write_table(self, command)

    def dump(self, path: str | Path, command: str) -> None:
        """Write :meth:`dumps` to a file."""
        Path(path).write_text(self.dumps(command), encoding="utf-8", newline="\n")

    @classmethod
    def loads(cls, text: str, where: str = "the flag table") -> FlagTable:
        """Read a table back.

        Raises:
            KvsolveError: The text is no flag table.
        """
        from kvsolve.model.flag_text import read_table

        return read_table(text, where)

    @classmethod
    def load(cls, path: str | Path) -> FlagTable:
        """Read a table from a file.

        Raises:
            KvsolveError: The file cannot be read or is no flag table.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise KvsolveError(f"{path} cannot be read: {error}.") from error
        return cls.loads(text, str(path))


_REQUIRED = _COLUMNS.index("required")
_BY_ENV = _COLUMNS.index("choices_by_env")
_DEPRECATED = _COLUMNS.index("deprecated")
