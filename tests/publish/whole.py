"""Whole outputs, beside the tests that compare them."""

from pathlib import Path
from typing import Any

EXPECTED = Path(__file__).with_name("expected")


def expected(name: str) -> str:
    """What is to come out, to the letter."""
    return (EXPECTED / name).read_text("utf-8")


def rounded(value: Any) -> Any:
    """The same data with six digits of every number that is not whole."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
