"""Random regular bipartite expanders that assign candidates to reviewers in sparse review.

Each reviewer ranks `degree` of the N candidates, each candidate is ranked equally often, and the
graph is well connected, so that few comparisons still order all candidates (Peer review, §4.2 and
appendix A: six models, each of which ranks three others).

    counts per candidate → one random graph with these counts → drawn again until it is an expander
"""

import math
import random
from collections.abc import Sequence
from itertools import islice

import numpy as np

from tiebreak.rankers.errors import RankingError, ReviewGraphError

# Limits of the search: random graphs drawn, and connected graphs among them to examine. Of graphs
# with few edges only a tenth is connected, and possibly none is an expander.
DRAWS = 500
CONNECTED = 20

Graph = tuple[tuple[int, ...], ...]


def review_graph(
    n_candidates: int, degree: int, own: Sequence[int | None], rng: random.Random
) -> Graph:
    """Draw a graph of reviewers and candidates that is regular, connected and an expander.

    Candidates are connected when a reviewer ranks both. An expander is a connected graph whose R ×
    N biadjacency matrix has a second singular value of at most √(d − 1) + √(d′ − 1), where d is
    `degree` and d′ = R·d / N: nearly all large random regular graphs come arbitrarily close to that
    bound, and few stay far below it (G. Brito, I. Dumitriu, K. D. Harris 2022, "Spectral gap in
    random bipartite biregular graphs and applications", Combinatorics, Probability and Computing
    31(2), doi:10.1017/S0963548321000249). If none of 20 connected graphs is an expander, the one
    with the smallest second singular value is taken; this happens if R reviewers barely link N
    candidates, as 29 reviewers of two each link 30.

    Each candidate gets ⌊d′⌋ or ⌈d′⌉ reviews, with one exception: a candidate that more than R − d′
    reviewers have as their own gets one review from each of the others, and its missing reviews are
    spread evenly over the other candidates. No other counts are more even.

    Args:
        n_candidates: N, number of candidates.
        degree: d, candidates that each reviewer ranks.
        own: for each of the R reviewers the column of its own answers, which it is never shown;
            None if the reviewer is not a candidate.
        rng: random generator; the same state gives the same graph on any machine.

    Returns:
        For each reviewer the columns that it ranks, ascending, `degree` of them.

    Raises:
        RankingError: no reviewers; an entry of `own` is not a column.
        ReviewGraphError: `degree` is below two, or more than can be shown to a reviewer, or too
            small for the graph to be connected.
    """
    _check(n_candidates, degree, own)
    bound = math.sqrt(degree - 1) + math.sqrt(len(own) * degree / n_candidates - 1)
    graphs = (_draw(n_candidates, degree, own, rng) for _ in range(DRAWS))
    connected = (graph for graph in graphs if is_connected(graph, n_candidates))
    best, smallest = None, math.inf
    for graph in islice(connected, CONNECTED):
        second = second_singular_value(graph, n_candidates)
        if second <= bound:
            return graph
        if second < smallest:
            best, smallest = graph, second
    if best is None:
        raise ReviewGraphError(
            f"no connected graph in {DRAWS} draws for {len(own)} reviewers of {degree} out of "
            f"{n_candidates} candidates; take a larger degree, or more reviewers"
        )
    return best


def is_connected(graph: Graph, n_candidates: int) -> bool:
    """Whether all candidates are connected; two are linked if a reviewer ranks both."""
    reached, before = set(graph[0]), 0
    while len(reached) > before:
        before = len(reached)
        for columns in graph:
            if not reached.isdisjoint(columns):
                reached.update(columns)
    return len(reached) == n_candidates


def second_singular_value(graph: Graph, n_candidates: int) -> float:
    """Second singular value of the reviewers × candidates 0/1 matrix; 0 for one row or column."""
    matrix = np.zeros((len(graph), n_candidates))
    for row, columns in zip(matrix, graph, strict=True):
        row[list(columns)] = 1
    values = np.linalg.svd(matrix, compute_uv=False)
    # Rounded so that every machine puts a value at the bound on the same side of it.
    return round(float(values[1]), 9) if len(values) > 1 else 0.0


def _draw(n_candidates: int, degree: int, own: Sequence[int | None], rng: random.Random) -> Graph:
    """Draw a random graph, reviewer by reviewer, without ever reaching a dead end.

    A candidate that still needs k reviews, with m reviewers left who may see it, is drawn with
    weight k / (m − k), so that all graphs are about equally likely (Y. Chen, P. Diaconis, S. P.
    Holmes, J. S. Liu 2005, "Sequential Monte Carlo Methods for Statistical Analysis of Tables",
    JASA 100, doi:10.1198/016214504000001303). With k = m it must be taken. As long as k ≤ m for all
    candidates, and the sum of k is `degree` times the number of reviewers left, the graph can be
    completed: the reviewers left can take no more reviews of any set of candidates than it needs
    (Gale–Ryser with one hole per row).
    """
    viewers = [sum(column != own_column for own_column in own) for column in range(n_candidates)]
    owed = _counts(viewers, len(own) * degree, rng)
    graph: list[tuple[int, ...]] = [()] * len(own)
    for reviewer in rng.sample(range(len(own)), len(own)):
        # Exponential clocks: the first `degree` to ring are a weighted sample without replacement.
        clocks = []
        for column in range(n_candidates):
            if column != own[reviewer] and owed[column]:
                spare = (viewers[column] - owed[column]) / owed[column]
                clocks.append((-math.log(1 - rng.random()) * spare, column))
            viewers[column] -= column != own[reviewer]
        columns = sorted(column for _, column in sorted(clocks)[:degree])
        for column in columns:
            owed[column] -= 1
        graph[reviewer] = tuple(columns)
    return tuple(graph)


def _counts(most: Sequence[int], total: int, rng: random.Random) -> list[int]:
    """Review counts per candidate: sum `total`, each at most its `most`, as even as possible."""
    counts = [0] * len(most)
    while left := total - sum(counts):
        below = [column for column, count in enumerate(counts) if count < most[column]]
        for column in below if len(below) <= left else rng.sample(below, left):
            counts[column] += 1
    return counts


def check_own(own: Sequence[int | None], n_candidates: int) -> None:
    """Raise RankingError if an entry of `own` is not a column."""
    for reviewer, column in enumerate(own):
        if column is not None and not 0 <= column < n_candidates:
            raise RankingError(
                f"reviewer {reviewer} is given as candidate {column}, but the columns are 0 to "
                f"{n_candidates - 1}; None stands for a reviewer that is not a candidate"
            )


def _check(n_candidates: int, degree: int, own: Sequence[int | None]) -> None:
    if not own:
        raise RankingError("there is no reviewer; own takes one entry per reviewer")
    check_own(own, n_candidates)
    shown = n_candidates - any(column is not None for column in own)
    if shown < 2:
        raise ReviewGraphError(
            f"sparse review takes two candidates to compare beside the reviewer's own, and there "
            f"are {n_candidates} in all; let reviewers rank all answers instead"
        )
    if not 2 <= degree <= shown:
        raise ReviewGraphError(
            f"degree must be 2 to {shown}, what a reviewer may be shown of {n_candidates} "
            f"candidates, got {degree}"
        )
    for column in range(n_candidates):
        if all(column == own_column for own_column in own):
            raise ReviewGraphError(
                f"candidate {column} is every reviewer's own, so that no one may review it; add a "
                "reviewer that is another candidate or none"
            )
    # The first reviewer links `degree` candidates, each further one at most degree − 1 new ones.
    needed = 1 + math.ceil((n_candidates - 1) / len(own))
    if degree < needed:
        raise ReviewGraphError(
            f"{len(own)} reviewers of {degree} cannot link {n_candidates} candidates; it takes a "
            f"degree of at least {needed}"
        )
