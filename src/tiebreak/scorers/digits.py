"""Sample values rounded to three digits, for Inspect's lists, together with their exact digits.

Nothing is computed from the rounded values: leaderboards read ballots, metrics `exact`.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

EXACT_KEY: Final = "exact"
"""Score metadata: unrounded values of an item, in the order of the sorted names.

A single text, present only if rounding changes a digit.
"""


def three_digits(value: float) -> float:
    """Round to the three decimals that fit Inspect's lists."""
    return round(value, 3)


def rounded(
    values: Mapping[str, float], metadata: Mapping[str, Any]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Values rounded to three digits, and metadata with the exact digits if any were lost."""
    shown = {name: three_digits(number) for name, number in values.items()}
    if all(number == shown[name] or math.isnan(number) for name, number in values.items()):
        return shown, dict(metadata)
    digits = " ".join(repr(float(values[name])) for name in sorted(values))
    return shown, {**metadata, EXACT_KEY: digits}


def exact(value: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> dict[str, float]:
    """The values of a score with all digits; anything that is not a number is NaN."""
    numbers = {name: x if isinstance(x, int | float) else math.nan for name, x in value.items()}
    text = (metadata or {}).get(EXACT_KEY)
    if not isinstance(text, str):
        return numbers
    digits = dict(zip(sorted(value), map(float, text.split()), strict=False))
    # If an item was judged in several epochs, Inspect merges the values but not these digits.
    same = len(digits) == len(numbers) and all(
        three_digits(number) == numbers[name] or (math.isnan(number) and math.isnan(numbers[name]))
        for name, number in digits.items()
    )
    return digits if same else numbers
