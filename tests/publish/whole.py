"""Whole outputs, beside the tests that compare them."""

from typing import Any


def rounded(value: Any) -> Any:
    """The same data with six digits of every number that is not whole."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
