"""Pairwise counts: how many ballots put one candidate before another."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.profile import IntArray, Profile, as_profile

MOST_COMPARED = 10_000
"""The most candidates of which all pairs are counted: 800 MB of counts."""


def preference_counts(profile: Profile | ArrayLike) -> IntArray:
    """P[i, j] = number of ballots that rank i strictly before j.

    A tie adds to neither side, and so does a pair of which the ballot leaves one out.

    Returns:
        Shape (N, N), zero diagonal, P[i, j] + P[j, i] ≤ ballots.

    Raises:
        RankingError: as `Profile.from_ranks`; more than `MOST_COMPARED` candidates.
    """
    ballots = as_profile(profile)
    ballots.require_at_most(MOST_COMPARED, "pairs are counted of")
    ranks = ballots.ranks
    return np.stack([np.sum(column[:, None] < ranks, axis=0) for column in ranks.T]).astype(
        np.int64
    )


def margins(profile: Profile | ArrayLike) -> IntArray:
    """D = P − Pᵀ: D[i, j] > 0 when more ballots put i before j than j before i."""
    counts = preference_counts(profile)
    return counts - counts.T


@dataclass(frozen=True, slots=True)
class Majorities:
    """Who beats all others, and in which groups majorities go round.

    `condorcet_winner` beats every other candidate. A cycle is a strongly connected component, of at
    least two candidates, of the graph of strict majorities: within it every candidate beats every
    other over some chain. Columns, ascending.
    """

    condorcet_winner: int | None
    cycles: tuple[tuple[int, ...], ...]


def majorities(margin: IntArray) -> Majorities:
    """Condorcet winner and majority cycles.

    Args:
        margin: shape (N, N), antisymmetric, as `margins` returns it.
    """
    beats = margin > 0
    winners = np.flatnonzero(beats.sum(axis=1) == len(margin) - 1)
    label = components(beats)
    groups = [tuple(np.flatnonzero(label == name).tolist()) for name in np.unique(label)]
    cycles = sorted(group for group in groups if len(group) > 1)
    return Majorities(int(winners[0]) if winners.size else None, tuple(cycles))


def components(edges: NDArray[np.bool_]) -> IntArray:
    """The first node of the strong component of each node of a directed graph, shape (N,).

    Args:
        edges: shape (N, N). For few nodes, SciPy's checks of it alone would take longer.
    """
    reach = edges | np.eye(len(edges), dtype=np.bool_)
    for _ in range(len(edges).bit_length()):  # each time twice as far
        steps = reach.astype(np.float32)
        reach = steps @ steps > 0
    first: IntArray = (reach & reach.T).argmax(axis=1)
    return first
