"""Rank arithmetic: arrays in, arrays and frozen dataclasses out; no files, no models, no calls.

Conventions. `ranks` and `scores` are float arrays of shape (items, N), one column per model. Rank 1
is the best, equal ranks are ties (tied models share the mean of the ranks that they take up), NaN
marks a model that is absent from an item. Scores are better when higher.
"""

from tiebreak.rankers.borda import normalized_borda, spread
from tiebreak.rankers.proportion import Proportion, wilson
from tiebreak.rankers.ranks import competition_ranks, mean_ranks
from tiebreak.rankers.uncertainty import ItemBootstrap, bootstrap_items

__all__ = [
    "ItemBootstrap",
    "Proportion",
    "bootstrap_items",
    "competition_ranks",
    "mean_ranks",
    "normalized_borda",
    "spread",
    "wilson",
]
