"""Profiles of ballots over the same candidates, and pairwise preference counts.

A profile is a float array of ranks, shape (ballots, N): a row is a ballot, a column a candidate,
rank 1 is the best, equal ranks are a tie, NaN is "not ranked" (no information, not the last place).
Only the order within a ballot counts, so "1, 2, 2, 4", "1, 2, 2, 3" and "10, 25, 25, 90" are the
same ballot, stored as mean ranks "1, 2.5, 2.5, 4". A batch is an array of shape (questions,
ballots, N).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.rankers.errors import RankingError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Profile:
    """Ballots over named candidates.

    `ranks` has shape (ballots, N) and is read-only; each row holds the mean ranks 1 … n of the n
    candidates that the ballot ranks, NaN for the others. Every row ranks at least one candidate,
    and every candidate is ranked in at least one row. `names` are the N candidates, by column.
    """

    ranks: FloatArray
    names: tuple[str, ...]

    @property
    def n_ballots(self) -> int:
        """Number of ballots."""
        return int(self.ranks.shape[0])

    @property
    def n_candidates(self) -> int:
        """Number of candidates, N."""
        return int(self.ranks.shape[1])

    def require_at_most(self, most: int, clause: str) -> None:
        """Refuse more candidates than a method can handle: its time or memory grows with N² or N³.

        Raises:
            RankingError: there are more than `most`; `clause` begins the message.
        """
        if self.n_candidates > most:
            raise RankingError(
                f"{clause} at most {most:,} candidates, and there are {self.n_candidates:,}; give "
                "fewer, or rank them by borda or average, which take any number"
            )

    @classmethod
    def from_ranks(
        cls, ranks: ArrayLike, names: Sequence[str] | None = None, *, ties: bool = True
    ) -> "Profile":
        """Make a profile from a table of ranks.

        Args:
            ranks: shape (ballots, N), lower is better, equal = tied, NaN = not ranked. Ballots
                that rank no candidate are left out.
            names: the candidates; by default "0", "1", …
            ties: whether equal ranks within a ballot are allowed.

        Raises:
            RankingError: not two-dimensional, or not one name per column; no ballot, no candidate
                or no rank at all; a rank is infinite; a ballot has equal ranks and `ties` is False;
                a name occurs twice; a candidate is ranked by no ballot.
        """
        checked, labels = _checked(ranks, names)
        table = within_ballots(checked)
        if not ties:
            _refuse_ties(table, labels)
        table.setflags(write=False)
        return cls(table, labels)

    @classmethod
    def from_scores(cls, scores: ArrayLike, names: Sequence[str] | None = None) -> "Profile":
        """Make a profile from a score table; each row (an item, benchmark or judge) is a ballot.

        Args:
            scores: shape (ballots, N), higher is better, equal = tied, NaN = not ranked.
            names: the candidates; by default "0", "1", …

        Raises:
            RankingError: as `from_ranks`.
        """
        return cls.from_ranks(-np.asarray(scores, dtype=np.float64), names)

    @classmethod
    def from_orderings(
        cls,
        orderings: Iterable[Sequence[str | Collection[str]]],
        names: Sequence[str] | None = None,
    ) -> "Profile":
        """Make a profile from orderings of names, best first.

        Args:
            orderings: one ordering per ballot; an entry is a name, or a set, list or tuple of tied
                names. Names missing from an ordering are not ranked by that ballot.
            names: the candidates; by default the names that occur, in order of first occurrence.

        Raises:
            RankingError: an ordering holds a name that is not among `names`; a name occurs twice in
                one ordering, or among `names`; as `from_ranks`.
        """
        ballots = [
            [(entry,) if isinstance(entry, str) else tuple(entry) for entry in ordering]
            for ordering in orderings
        ]
        occurring = chain.from_iterable(chain.from_iterable(ballots))
        labels = tuple(dict.fromkeys(occurring)) if names is None else _labels(names, len(names))
        column = {name: index for index, name in enumerate(labels)}
        table = np.full((len(ballots), len(labels)), np.nan)
        for number, ballot in enumerate(ballots):
            for place, group in enumerate(ballot):
                for name in group:
                    if name not in column:
                        raise RankingError(
                            f"ballot {number} ranks {name!r}, which is none of {', '.join(labels)}"
                        )
                    if not np.isnan(table[number, column[name]]):
                        raise RankingError(f"ballot {number} ranks {name!r} twice")
                    table[number, column[name]] = place
        return cls.from_ranks(table, labels)

    @classmethod
    def from_pairwise(
        cls, outcomes: Iterable[tuple[str, str, float]], names: Sequence[str] | None = None
    ) -> "Profile":
        """Make a profile in which every match is a ballot over two candidates.

        Args:
            outcomes: (first, second, result): 1 if the first won, 0 if the second won, ½ for a tie.
                The caller leaves out matches without a verdict: they are not ties.
            names: the candidates; by default the names that occur, in order of first occurrence.

        Raises:
            RankingError: a result is not 1, ½ or 0; a candidate meets itself; as
                `from_orderings`.
        """
        orderings: list[Sequence[str | Collection[str]]] = []
        for first, second, result in outcomes:
            if first == second:
                raise RankingError(f"{first!r} meets itself")
            if result not in (0, 0.5, 1):
                raise RankingError(f"{first!r} against {second!r}: {result} is not 0, ½ or 1")
            if result == 0.5:
                orderings.append([(first, second)])
            else:
                orderings.append([first, second] if result == 1 else [second, first])
        return cls.from_orderings(orderings, names)


def as_profile(profile: Profile | ArrayLike) -> Profile:
    """Return `profile` itself, or make one from an array of ranks by `Profile.from_ranks`."""
    return profile if isinstance(profile, Profile) else Profile.from_ranks(profile)


def as_ballots(profile: Profile | ArrayLike) -> Profile:
    """Like `as_profile`, but keep an array's ranks as given, for methods that only compare them."""
    return profile if isinstance(profile, Profile) else Profile(*_checked(profile, None))


def ratio(above: ArrayLike, below: ArrayLike) -> FloatArray:
    """`above` / `below`, elementwise; NaN where `below` is 0 or negative."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    shape = np.broadcast_shapes(above.shape, below.shape)
    quotients: FloatArray = np.divide(above, below, out=np.full(shape, np.nan), where=below > 0)
    return quotients


def within_ballots(ranks: FloatArray) -> FloatArray:
    """Mean ranks 1 … n of the n ranked candidates in each ballot.

    Args:
        ranks: shape (…, N), lower is better, equal = tied, NaN = not ranked.

    Returns:
        The same shape; NaN where the rank is NaN.
    """
    if not ranks.size:
        return ranks.copy()
    n = ranks.shape[-1]
    # argsort puts NaN last, and NaN equals nothing, so it does not change the ranks before it.
    order = np.argsort(ranks.reshape(-1, n), axis=1)
    order += np.arange(0, ranks.size, n)[:, None]
    ordered = ranks.take(order)
    begins = np.ones(ranks.size + 1, dtype=np.bool_)
    begins[:-1].reshape(order.shape)[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    bounds = np.flatnonzero(begins)
    starts, sizes = bounds[:-1], bounds[1:] - bounds[:-1]
    places = np.empty(ranks.size)
    places[order.ravel()] = np.repeat(starts % n + (sizes + 1) / 2, sizes)
    return np.where(np.isnan(ranks), np.nan, places.reshape(ranks.shape))


def _checked(ranks: ArrayLike, names: Sequence[str] | None) -> tuple[FloatArray, tuple[str, ...]]:
    """The non-empty ballots and the candidates' names; raise if they do not form a profile."""
    table = np.asarray(ranks, dtype=np.float64)
    if table.ndim != 2:
        raise RankingError(f"ranks must have shape (ballots, candidates), got {table.shape}")
    labels = _labels(names, table.shape[1])
    ranked = np.isfinite(table)
    if ranked.size and ranked.all():
        return table, labels
    if np.isinf(table).any():
        ballot, column = np.argwhere(np.isinf(table))[0]
        raise RankingError(
            f"ballot {ballot} gives {labels[column]!r} an infinite rank; NaN says 'not ranked'"
        )
    if not ranked.any():
        raise RankingError("no ballot ranks a candidate")
    unseen = np.flatnonzero(~ranked.any(axis=0))
    if unseen.size:
        raise RankingError(
            f"no ballot ranks {', '.join(repr(labels[i]) for i in unseen)}; leave these "
            "columns out, or give a ballot that ranks them"
        )
    return table[ranked.any(axis=1)], labels


def _labels(names: Sequence[str] | None, n_candidates: int) -> tuple[str, ...]:
    labels = tuple(map(str, range(n_candidates))) if names is None else tuple(names)
    if not labels:
        raise RankingError("there are no candidates")
    if len(labels) != n_candidates:
        raise RankingError(f"{len(labels)} names for {n_candidates} candidates")
    if len(set(labels)) < len(labels):
        twice = {name for name, times in Counter(labels).items() if times > 1}
        raise RankingError(f"names that occur twice: {', '.join(sorted(twice))}")
    return labels


def _refuse_ties(table: FloatArray, labels: tuple[str, ...]) -> None:
    for number, ballot in enumerate(table):
        ranks, counts = np.unique(ballot[~np.isnan(ballot)], return_counts=True)
        if np.any(counts > 1):
            tied = np.flatnonzero(ballot == ranks[counts > 1][0])
            raise RankingError(
                f"ballot {number} gives one rank to {', '.join(repr(labels[i]) for i in tied)}, "
                "and ties are not allowed here"
            )


_CELLS = 2**20  # comparisons (ballots × pairs) per block
MOST_COMPARED = 10_000
"""Largest number of candidates for pairwise counts: 800 MB of counts."""


def preference_counts(profile: Profile | ArrayLike) -> IntArray:
    """P[i, j] = number of ballots that rank i strictly before j.

    A ballot that ties the pair, or does not rank both, adds to neither side.

    Returns:
        Shape (N, N), zero diagonal, P[i, j] + P[j, i] ≤ ballots.

    Raises:
        RankingError: as `Profile.from_ranks`; more than `MOST_COMPARED` candidates.
    """
    ballots = as_ballots(profile)
    ballots.require_at_most(MOST_COMPARED, "pairs are counted of")
    ranks = ballots.ranks
    width = max(1, _CELLS // ranks.size)
    counts = np.empty((ranks.shape[1],) * 2, dtype=np.int64)
    for at in range(0, len(counts), width):
        block = slice(at, at + width)
        np.add.reduce(ranks[:, block, None] < ranks[:, None], axis=0, out=counts[block])
    return counts


def margins(profile: Profile | ArrayLike) -> IntArray:
    """D = P − Pᵀ: D[i, j] > 0 if more ballots put i before j than j before i."""
    counts = preference_counts(profile)
    return counts - counts.T


def majorities(margin: IntArray) -> tuple[int | None, tuple[tuple[int, ...], ...]]:
    """The Condorcet winner's column, or None, and the majority cycles.

    A cycle is a strongly connected component of at least two candidates in the graph of strict
    majorities: within it chains of majorities lead from every candidate to every other. Columns
    ascend.

    Args:
        margin: shape (N, N), antisymmetric, as `margins` returns it.
    """
    beats = margin > 0
    wins = beats.sum(axis=1).tolist()
    winner = wins.index(len(margin) - 1) if len(margin) - 1 in wins else None
    groups: dict[int, list[int]] = {}
    for column, first in enumerate(components(beats).tolist()):
        groups.setdefault(first, []).append(column)
    cycles = tuple(tuple(group) for group in groups.values() if len(group) > 1)
    return winner, cycles


def components(edges: NDArray[np.bool_]) -> IntArray:
    """Lowest node in each node's strongly connected component of a directed graph, shape (N,).

    Args:
        edges: shape (N, N). Not by SciPy: for few nodes its input checks alone take longer.
    """
    reach = edges.astype(np.float32)
    reach.flat[:: len(edges) + 1] = 1
    for _ in range((len(edges) - 2).bit_length()):  # squaring doubles the paths
        reach = np.minimum(reach @ reach, 1)
    first: IntArray = (reach * reach.T).argmax(axis=1)
    return first
