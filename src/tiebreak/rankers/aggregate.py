"""All the methods that merge many rankings into one, by name (Peer review, appendix D)."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.consensus import Consensus
from tiebreak.rankers.errors import (
    EmptyProfileError,
    InfiniteRankError,
    ShapeError,
    UnknownMethodError,
)
from tiebreak.rankers.profile import FloatArray, Profile, as_profile
from tiebreak.rankers.voting.average import average
from tiebreak.rankers.voting.borda import borda
from tiebreak.rankers.voting.copeland import copeland
from tiebreak.rankers.voting.dodgson import dodgson
from tiebreak.rankers.voting.irv import irv
from tiebreak.rankers.voting.kendall import kemeny_consensus, kendall
from tiebreak.rankers.voting.spearman import spearman


def _kemeny_young(profile: Profile) -> Consensus:
    return kemeny_consensus(profile, "kemeny_young")


Method = Literal[
    "average", "borda", "copeland", "dodgson", "irv", "kemeny_young", "kendall", "spearman"
]
METHODS: Mapping[str, Callable[[Profile], Consensus]] = MappingProxyType(
    {
        "average": average,
        "borda": borda,
        "copeland": copeland,
        "dodgson": dodgson,
        "irv": irv,
        "kemeny_young": _kemeny_young,
        "kendall": kendall,
        "spearman": spearman,
    }
)


def aggregate(profile: Profile | ArrayLike, method: str = "kemeny_young") -> Consensus:
    """One ranking out of many, by any of `METHODS`, each with its documented defaults.

    Kemeny–Young and Kendall give orders without ties: where several are optimal, the
    lexicographically smallest in columns, so that earlier columns come first. What else is optimal
    is in the result of `kemeny_young`.

    Args:
        profile: a Profile, or ranks of shape (ballots, N), lower is better, NaN = not ranked.
        method: a name in `METHODS`.

    Raises:
        UnknownMethodError: there is no such method.
        RankingError: what the method cannot read; its docstring says.
        UnprovenOrderError: no exact answer could be proven (Kemeny–Young, Kendall, Dodgson).
    """
    _check_method(method)
    return METHODS[method](as_profile(profile))


def aggregate_items(ranks: ArrayLike, method: str = "kemeny_young") -> FloatArray:
    """Consensus ranks of many items, each with ballots of its own (Peer review, §3.3).

    Their mean over items, `mean_rank`, is the macro-level ranking (§4.1). A ballot that ranks fewer
    than two candidates compares nothing and is left out.

    Kemeny–Young and Kendall often have several optimal orders, and the first of them by columns
    would favour the models that stand first. So the rank here is the mean of the ranks in two
    optimal orders: the lexicographically smallest in columns, and the one that is smallest when the
    columns are read backwards. Where the optimum is unique, that is its rank.

    Args:
        ranks: shape (items, ballots, N), lower is better, equal = tied, NaN = not ranked. A
            reviewer who failed on an item has a row of NaN, an absent answer a column of NaN.
        method: a name in `METHODS`.

    Returns:
        Shape (items, N), 1 = best. NaN where no ballot of the item compares the candidate with
        another one, and in an item without any ballot that the method reads (Kendall reads only
        ballots that rank all candidates of the item).

    Raises:
        ShapeError: `ranks` is not three-dimensional, or has no ballots or no candidates.
        InfiniteRankError: a rank is infinite.
        UnknownMethodError: there is no such method.
        UnprovenOrderError: no exact answer could be proven (Kemeny–Young, Kendall, Dodgson).
    """
    _check_method(method)
    table = comparing(items_table(ranks))
    if method == "kemeny_young":
        return _kemeny_items(table)
    if method == "kendall":
        ranked = ~np.isnan(table)
        complete = np.all(ranked | ~ranked.any(axis=1, keepdims=True), axis=2, keepdims=True)
        return _kemeny_items(np.where(complete, table, np.nan))
    return np.array([_of_item(item, method) for item in table]).reshape(len(table), table.shape[2])


def mean_rank(ranks: ArrayLike, axis: int = 0) -> FloatArray:
    """Mean of the ranks that are defined along an axis, by default over items; NaN if none is."""
    table = np.asarray(ranks, dtype=np.float64)
    defined = np.sum(~np.isnan(table), axis=axis)
    means: FloatArray = np.full(defined.shape, np.nan)
    np.divide(np.nansum(table, axis=axis), defined, out=means, where=defined > 0)
    return means


def items_table(ranks: ArrayLike) -> FloatArray:
    """The ranks as an array of shape (items, ballots, N).

    Raises:
        ShapeError: not three-dimensional, or there are no ballots or no candidates.
        InfiniteRankError: a rank is infinite.
    """
    table = np.asarray(ranks, dtype=np.float64)
    if table.ndim != 3 or 0 in table.shape[1:]:
        raise ShapeError(f"ranks must have shape (items, ballots, candidates), got {table.shape}")
    if np.isinf(table).any():
        item, ballot, column = np.argwhere(np.isinf(table))[0]
        raise InfiniteRankError(
            f"ballot {ballot} of item {item} gives candidate {column} an infinite rank; NaN says "
            "'not ranked'"
        )
    return table


def comparing(table: FloatArray) -> FloatArray:
    """The ballots that rank at least two candidates; the others become NaN."""
    ranked = np.sum(~np.isnan(table), axis=-1, keepdims=True)
    return np.where(ranked > 1, table, np.nan)


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise UnknownMethodError(f"no method {method!r}; there are {', '.join(METHODS)}")


def _kemeny_items(table: FloatArray) -> FloatArray:
    from tiebreak.rankers.kemeny.batch import kemeny_young_batch

    both = kemeny_young_batch(np.concatenate([table, table[:, :, ::-1]])).ranks
    forwards, backwards = np.split(both, 2)
    return (forwards + backwards[:, ::-1]) / 2


def _of_item(ballots: FloatArray, method: str) -> FloatArray:
    ranks = np.full(ballots.shape[1], np.nan)
    present = ~np.isnan(ballots).all(axis=0)
    # An item without anything that the method reads has no consensus; the others keep theirs.
    with suppress(EmptyProfileError):
        ranks[present] = METHODS[method](Profile.from_ranks(ballots[:, present])).ranks
    return ranks
