"""Findings as data that `json.dumps(…, allow_nan=False)` accepts.

The keys are the fields of the dataclasses, which document their meaning. Undefined is null.
"""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any

from tiebreak.reason import Reason


def document(format: str, version: int, **content: Any) -> dict[str, Any]:
    """A document with its format and version.

    Raise the version when a key is renamed, removed or changes its meaning, not for new keys.
    """
    return {"format": format, "version": version, **json_ready(content)}


def json_ready(value: Any) -> Any:
    """Convert data to types of JSON: objects, lists, texts, numbers, true, false and null.

    Args:
        value: dataclasses, named tuples, pydantic models, mappings and arrays, nested to any depth.
            Reasons become their sentences, numbers that are not finite become None, and dates
            become YYYY-MM-DD. Keys of mappings are kept.
    """
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None  # np.float64 is a float, too
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
    if hasattr(value, "tolist"):  # a NumPy array or scalar
        return json_ready(value.tolist())
    if isinstance(value, Mapping):
        return {key: json_ready(item) for key, item in value.items()}
    return [json_ready(item) for item in value]


def keys_of(kind: Any) -> list[str]:
    """Keys for a dataclass or an instance: its fields; `value` of a `Standing` by its `NAME`."""
    value = getattr(kind, "NAME", "value")
    return [value if field.name == "value" else field.name for field in fields(kind)]


def only(value: Any, *names: str) -> dict[str, Any]:
    """The named attributes of an object, by name."""
    return {name: getattr(value, name) for name in names}


def flat(value: Any, *names: str) -> dict[str, Any]:
    """The named attributes as columns of CSV; an estimate with its interval takes three."""
    cells: dict[str, Any] = {}
    for name, part in only(value, *names).items():
        cells |= in_columns(name, part) if is_dataclass(part) else {name: json_ready(part)}
    return cells


def in_columns(name: str, figure: Any) -> dict[str, float | None]:
    """An estimate as three columns of CSV: NAME, NAME_lower, NAME_upper; empty if it is None."""
    ends = {name: "value", f"{name}_lower": "lower", f"{name}_upper": "upper"}
    return {column: json_ready(getattr(figure, end, None)) for column, end in ends.items()}
