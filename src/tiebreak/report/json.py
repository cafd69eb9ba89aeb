"""Findings as data that `json.dumps(…, allow_nan=False)` accepts.

The keys are the fields of the dataclasses; what each means is said there. Undefined is null.
"""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any

from tiebreak.reason import Reason


def document(format: str, version: int, **content: Any) -> dict[str, Any]:
    """A document with its format and version.

    The version is raised when a key is renamed, removed or changes its meaning; new keys do not
    raise it.
    """
    return {"format": format, "version": version, **json_ready(content)}


def json_ready(value: Any) -> Any:
    """The same data in types of JSON: objects, lists, texts, numbers, true, false and null.

    Args:
        value: dataclasses, named tuples, pydantic models, mappings and arrays, nested at will.
            Reasons become their sentences, numbers that are not finite None, keys of mappings
            texts, dates YYYY-MM-DD.
    """
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Reason):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return {key: json_ready(getattr(value, key)) for key in keys_of(value)}
    if hasattr(value, "_asdict"):
        return json_ready(value._asdict())
    if hasattr(value, "model_dump"):
        return json_ready(value.model_dump())
    if hasattr(value, "tolist"):  # of NumPy: an array, or one number of it
        return json_ready(value.tolist())
    if isinstance(value, Mapping):
        return {key: json_ready(item) for key, item in value.items()}
    return [json_ready(item) for item in value]


def keys_of(kind: Any) -> list[str]:
    """The keys of a dataclass or of one of its kind: its fields; of a `Standing` what it names."""
    value = getattr(kind, "NAME", "value")
    return [value if field.name == "value" else field.name for field in fields(kind)]


def only(value: Any, *names: str) -> dict[str, Any]:
    """These attributes of an object, by name."""
    return {name: getattr(value, name) for name in names}


def flat(value: Any, *names: str) -> dict[str, Any]:
    """These attributes as columns of CSV, an estimate with its interval as three of them."""
    cells: dict[str, Any] = {}
    for name, part in only(value, *names).items():
        cells |= in_columns(name, part) if is_dataclass(part) else {name: json_ready(part)}
    return cells


def in_columns(name: str, figure: Any) -> dict[str, float | None]:
    """A figure with its interval as three columns of CSV: empty ones without a figure."""
    ends = {name: "value", f"{name}_lower": "lower", f"{name}_upper": "upper"}
    return {column: json_ready(getattr(figure, end, None)) for column, end in ends.items()}
