"""Codes of what SGLang's own command-line parser refuses; the same in every release."""

from __future__ import annotations

from kvsolve.model.noun import dataclass

__all__ = ["PARSE_CODES", "ParseCode"]


@dataclass(frozen=True, slots=True)
class ParseCode:
    """One kind of parse finding.

    Attributes:
        code: As in ``KV0001``.
        slug: Stable short name.
        reason: What the parser does, for an explanation of the code.
        remedy: The way out in general.
        raises: What upstream raises; its parser ends the process.
        file, symbol: Where.
    """

    code: str
    slug: str
    reason: str
    remedy: str
    raises: str = "SystemExit"
    file: str = "server_args.py"
    symbol: str = "prepare_server_args"


PARSE_CODES: dict[str, ParseCode] = {
    "unknown": ParseCode(
        "KV0001",
        "unknown-flag",
        "The release has no such flag, and its parser stops at flags that it does not know.",
        "Correct the spelling, or drop the flag.",
    ),
    "ambiguous": ParseCode(
        "KV0002",
        "ambiguous-flag",
        "The parser completes abbreviated flags, and this one is the start of several.",
        "Spell the flag out.",
    ),
    "stray": ParseCode(
        "KV0003",
        "stray-value",
        "A value stands where no flag takes it.",
        "Drop the value, or put the flag before it.",
    ),
    "missing-value": ParseCode(
        "KV0004", "missing-value", "The flag takes a value, and none follows.", "Give the value."
    ),
    "unwanted-value": ParseCode(
        "KV0005",
        "unwanted-value",
        "The flag is a switch and takes no value.",
        "Write the switch alone.",
    ),
    "bad-value": ParseCode(
        "KV0006",
        "bad-value",
        "The value is not of the kind that the flag reads.",
        "Correct the value.",
    ),
    "bad-choice": ParseCode(
        "KV0007",
        "bad-choice",
        "The flag takes one of a fixed set of values in this release.",
        "Choose one of the values that the release knows.",
    ),
    "retired": ParseCode(
        "KV0008",
        "retired-flag",
        "The release still recognises the flag only to refuse it.",
        "Use what stands in its place.",
    ),
    "missing-flag": ParseCode(
        "KV0009",
        "missing-flag",
        "The parser requires a flag that the command does not give.",
        "Add the flag.",
    ),
    "help": ParseCode(
        "KV0010",
        "asks-for-help",
        "The command asks for help, so SGLang prints it and starts nothing.",
        "Drop the flag.",
    ),
    "config-file": ParseCode(
        "KV0011",
        "config-file-refused",
        "SGLang cannot take up the file that --config names.",
        "Correct the file, or give its flags on the command line.",
    ),
    "bad-level": ParseCode(
        "KV0012",
        "unknown-log-level",
        "The log level is looked up by name, and Python's logging has none of this name.",
        "Use debug, info, warning or error.",
        "AttributeError",
    ),
    "config-ignored": ParseCode(
        "KV0013",
        "config-file-ignored",
        "Only the bare --config token followed by the file's name is looked for; --config=FILE is "
        "parsed and then forgotten, without a word.",
        "Write --config FILE.",
    ),
    "bad-overrides": ParseCode(
        "KV0014",
        "overrides-are-no-object",
        "The overrides of the model's configuration are read as JSON, and have to be an object.",
        "Write a JSON object, as in '{\"num_hidden_layers\": 2}'.",
        "JSONDecodeError",
        "configs/model_config.py",
        "ModelConfig.__init__",
    ),
}
"""Kind of problem, as the parser of commands names it -> its code."""
