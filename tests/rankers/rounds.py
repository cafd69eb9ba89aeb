"""Matches for whatever fits strengths to them."""

from typing import Any

Match = tuple[int, int, float, int]
"""Two models, 1, ½ or 0 for the first one, and the item."""

# Everybody once beats and once loses to somebody else, in three items.
ROUND: list[Match] = [(0, 1, 1, 0), (1, 2, 1, 0), (2, 0, 1, 1), (0, 1, 1, 1), (1, 2, 0.5, 2)]


def columns(matches: list[Match], n_models: int | None = None) -> dict[str, Any]:
    """The arguments that all methods take."""
    first, second, result, items = zip(*matches, strict=True)
    return {
        "first": first,
        "second": second,
        "result": result,
        "items": items,
        "n_models": n_models or max(*first, *second) + 1,
    }
