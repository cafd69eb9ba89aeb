"""Algorithm 1 without chance: the distribution over all states, in fractions, for tiny cases.

Written from the paper and without a line of the package: groups, pairings, coins, byes and
eliminations are enumerated one by one.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb

Wins = Sequence[Sequence[Sequence[float]]]
State = tuple[int | None, ...]  # score of each model, None when it is eliminated
Scores = tuple[int, ...]


def pairings(members: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
    """Every set of matches with at most one bye, each equally likely."""
    if len(members) < 2:
        yield []
        return
    first, rest = members[0], members[1:]
    if len(members) % 2:
        yield from pairings(rest)  # the first has the bye
    for place, other in enumerate(rest):
        for others in pairings(rest[:place] + rest[place + 1 :]):
            yield [(first, other), *others]


def round_results(
    active: tuple[int, ...], scores: Scores, wins: Wins, k: int
) -> dict[Scores, Fraction]:
    """Scores after round k, and their probabilities."""
    groups = [
        tuple(m for m in active if scores[m] == score) for score in {scores[m] for m in active}
    ]
    results: dict[Scores, Fraction] = defaultdict(Fraction)
    every = [list(pairings(group)) for group in groups]
    for chosen in product(*every):
        chance = Fraction(1)
        for options in every:
            chance /= len(options)
        matches = [match for pairs in chosen for match in pairs]
        for outcome in product((0, 1), repeat=len(matches)):
            likely, after = chance, list(scores)
            for (i, j), first_wins in zip(matches, outcome, strict=True):
                won = Fraction(wins[i][j][k])
                likely *= won if first_wins else 1 - won
                after[i if first_wins else j] += 1
            if likely:
                results[tuple(after)] += likely
    return results


def eliminations(
    active: tuple[int, ...], scores: Scores, most: int
) -> dict[tuple[int, ...], Fraction]:
    """Active models after the elimination, and their probabilities."""
    lowest = min(scores[m] for m in active)
    group = [m for m in active if scores[m] == lowest]
    count = min(most, len(group))
    chance = Fraction(1, comb(len(group), count))
    return {tuple(m for m in active if m not in out): chance for out in combinations(group, count)}


def expected_wins(wins: Wins, eliminate: Sequence[int]) -> list[Fraction]:
    """E[S] of every model."""
    n_models = len(wins)
    everybody = tuple(range(n_models))
    states = {(everybody, (0,) * n_models): Fraction(1)}
    for k, most in enumerate(eliminate):
        following: dict[tuple[tuple[int, ...], Scores], Fraction] = defaultdict(Fraction)
        for (active, scores), chance in states.items():
            if len(active) < 2:
                following[active, scores] += chance
                continue
            for after, likely in round_results(active, scores, wins, k).items():
                for left, kept in eliminations(active, after, most).items():
                    following[left, after] += chance * likely * kept
        states = dict(following)
    return [
        sum((chance * scores[m] for (_, scores), chance in states.items()), Fraction(0))
        for m in everybody
    ]
