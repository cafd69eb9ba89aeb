"""Findings as text, to the last digit: their own repr is short, and NaN differs from itself."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any


def whole(findings: Iterable[Any]) -> str:
    return repr([asdict(one) for one in findings])
