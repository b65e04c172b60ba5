"""The standard library's parser over the options that a command names.

Building a parser with all of a release's 500 options takes longer than everything else a check
does. An option that no token selects cannot change what the parser answers, so only the selected
ones are added; tests hold this to the full parser.
"""

from __future__ import annotations

import argparse
import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from kvsolve.inputs.value_types import converter, lora_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kvsolve.inputs.tokens import Occurrence
    from kvsolve.model.flag import Flag, FlagTable, Value

__all__ = ["CrashError", "OptionReader", "RefusedError", "RetiredError", "option_reader"]

RefusedError = argparse.ArgumentError
"""The parser refuses an option's values."""


class RetiredError(Exception):
    """The parser stops at this option and points to another one."""


class CrashError(Exception):
    """The release's parser ends in a traceback at this option."""


class _KeepConst(argparse.Action):
    """Keep a fixed value, whatever was typed."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        setattr(namespace, self.dest, self.const)


class _Ignore(argparse.Action):
    """Leave everything as it is."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        pass


class _Refuse(argparse.Action):
    """Stop."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        raise RetiredError


class _LoraPaths(argparse.Action):
    """Keep adapters, those in braces as objects."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        try:
            setattr(namespace, self.dest, lora_paths(values or []))
        except (ValueError, TypeError) as error:
            raise CrashError(str(error)) from error


_ACTIONS: Mapping[str, Any] = {
    "alias": "store",
    "boolean": argparse.BooleanOptionalAction,
    "const": _KeepConst,
    "ignore": _Ignore,
    "refuse": _Refuse,
    "lora_paths": _LoraPaths,
}


class _NoHelp(argparse.HelpFormatter):
    """Formats nothing: argparse makes a formatter for each option, just to look at its metavar."""

    def __init__(self) -> None:
        pass

    def _format_args(self, action: Any, default_metavar: str) -> str:
        return default_metavar

    def _expand_help(self, action: Any) -> str:
        return ""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise RefusedError(None, message)

    def _get_formatter(self, *_: Any) -> _NoHelp:
        return _NoHelp()


def _empty_parser() -> _Parser:
    return _Parser(prog="", add_help=False, allow_abbrev=False, exit_on_error=False)


class OptionReader:
    """Reads the options of one release under one setting of the environment."""

    def __init__(self, true_variables: frozenset[str]) -> None:
        self._true = true_variables
        self._workshop = _empty_parser()
        self._actions: dict[str, argparse.Action] = {}

    def read(self, occurrences: Iterable[Occurrence]) -> dict[str, Value]:
        """The values that some options of a command set, later ones winning.

        Raises:
            RefusedError: A value is not of its option's type or not one of its choices.
            RetiredError: One of the options is retired.
            CrashError: Upstream would crash on one of them.
        """
        tokens: list[str] = []
        actions: dict[str, argparse.Action] = {}
        known = self._actions
        for occurrence in occurrences:
            action = known.get(occurrence.flag.name) or self.action(occurrence.flag)
            for spelling in action.option_strings:
                actions[spelling] = action
            tokens += _tokens(occurrence)
        # A fresh parser costs 70 microseconds, a copy with other options 5.
        parser = copy.copy(self._workshop)
        parser._actions = list(dict.fromkeys(actions.values()))
        parser._option_string_actions = actions
        return vars(parser.parse_known_args(tokens)[0])

    def action(self, flag: Flag) -> argparse.Action:
        """The flag as the standard library has it, under its canonical spelling."""
        action = self._actions.get(flag.name)
        if action is None:
            action = self._workshop.add_argument(flag.name, **_arguments(flag, self.choices(flag)))
            self._actions[flag.name] = action
        return action

    def choices(self, flag: Flag) -> tuple[Value, ...] | None:
        """What the flag allows in this environment."""
        if flag.choices is None:
            return None
        more = (values for variable, values in flag.choices_by_env if variable in self._true)
        return sum(more, flag.choices)


def _tokens(occurrence: Occurrence) -> list[str]:
    """The occurrence spelled so that every Python reads it the same way."""
    flag, values = occurrence.flag, occurrence.values
    if flag.action == "boolean":
        return ["--no-" + flag.name[2:] if occurrence.spelling[:5] == "--no-" else flag.name]
    if not values:
        return [flag.name]
    if len(values) == 1 and (flag.nargs in (None, "?") or occurrence.attached):
        return [f"{flag.name}={values[0]}"]
    return [flag.name, *values]


def _arguments(flag: Flag, choices: tuple[Value, ...] | None) -> dict[str, Any]:
    made: dict[str, Any] = {"dest": flag.dest, "default": argparse.SUPPRESS}
    made["action"] = _ACTIONS.get(flag.action, flag.action)
    if flag.action in ("store_true", "boolean"):
        return made
    made["nargs"] = flag.nargs
    if flag.type not in ("", "str"):
        made["type"] = converter(flag.type, flag.type_facts)
    if choices is not None:
        made["choices"] = choices
    if flag.const is not None:
        made["const"] = flag.const
    return made


@lru_cache(maxsize=64)
def option_reader(table: FlagTable, true_variables: frozenset[str]) -> OptionReader:
    """The reader of a table, made once for each set of true environment variables."""
    return OptionReader(true_variables)
