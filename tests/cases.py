"""Tables of cases that are too long for a test's file, kept as YAML beside it.

The tables of `test_x.py` are in `test_x.yaml`, each under a name; comments there say why a row is
there. A table is a list of rows (arguments in the order of the test's), or a mapping.
"""

from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

Kind = TypeVar("Kind")


def cases(test: str, table: str) -> Any:
    """Return a table by its name; `test` is the path of the test's file."""
    return _tables(Path(test).with_suffix(".yaml"))[table]


@cache
def _tables(path: Path) -> dict[str, Any]:
    text = path.read_text("utf-8")
    tables: dict[str, Any]
    try:
        tables = yaml.load(text, yaml.CSafeLoader)
    except yaml.YAMLError:  # the C loader is 25 times as fast, but rejects lone surrogates
        tables = yaml.safe_load(text)
    return tables


def some(value: Kind | None) -> Kind:
    """Return the value, which must not be None."""
    assert value is not None
    return value
