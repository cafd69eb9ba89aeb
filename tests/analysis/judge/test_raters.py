"""Raters among themselves: α and κ against sums over all pairs of votes."""

from collections import defaultdict
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from tests.analysis.stars import starred as of_jury
from tests.ranking_logs.builders import item
from tiebreak.analysis.judge.raters import raters_of
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots, Match, Verdict

NAMES = ("ann", "ben", "cleo")


def voted(number: int, votes: dict[str, int]) -> ItemBallots:
    """An item in which raters said who of a and b is better: 1, 0 or −1 for a."""
    verdicts = tuple(
        Verdict(first="a" if k % 2 else "b", judge=name, margin=float(vote if k % 2 else -vote))
        for k, (name, vote) in enumerate(votes.items())
    )
    played = Match(
        round=0, slot=0, high="a", low="b", verdicts=verdicts, winner="a", decided_by="votes"
    )
    return item(f"q{number}", [played], groups=("a", "b"), protocol="votes").model_copy(
        update={"placed_by": "points"}
    )


def starred(number: int, stars: dict[str, int]) -> ItemBallots:
    """An item in which raters gave stars to the answer of a."""
    return of_jury(f"q{number}", {name: {"a": n} for name, n in stars.items()})


def planted(n: int, seed: int) -> list[dict[str, int]]:
    rng = np.random.default_rng(seed)
    votes = []
    for _ in range(n):
        truth = int(rng.choice([-1, 0, 1], p=[0.3, 0.2, 0.5]))
        seen = rng.permutation(3)[: int(rng.integers(1, 4))]
        votes.append(
            {NAMES[k]: truth if rng.random() < 0.7 else int(rng.integers(-1, 2)) for k in seen}
        )
    return votes


@pytest.mark.parametrize("seed", range(3))
def test_agreement_is_that_of_all_pairs_of_votes(seed: int) -> None:
    votes = planted(60, seed)
    items = [voted(number, of_item) for number, of_item in enumerate(votes)]
    found = raters_of(items, dict.fromkeys(NAMES, 1.0))
    shared = [list(of_item.values()) for of_item in votes if len(of_item) > 1]
    assert found.n_shared == len(shared)
    # Krippendorff: each pair counts in both orientations, since either may be called the first.
    values = [sign * vote for of_item in shared for vote in of_item for sign in (1, -1)]
    weights = [1 / (len(of_item) - 1) for of_item in shared for _ in permutations(of_item, 2)]
    observed = np.average(
        [(x - y) ** 2 for of_item in shared for x, y in permutations(of_item, 2)], weights=weights
    )
    chance = np.mean([(x - y) ** 2 for x, y in permutations(values, 2)])
    assert found.alpha.value == pytest.approx(1 - observed / chance)
    table: dict[tuple[int, int], float] = defaultdict(float)
    for of_item in shared:
        n = len(of_item) * (len(of_item) - 1)
        for x, y in permutations(of_item, 2):
            table[x, y] += 1 / n
            table[-x, -y] += 1 / n
    total = sum(table.values())
    agreed = sum(table[k, k] for k in (-1, 0, 1)) / total
    margin = {k: sum(table[k, m] for m in (-1, 0, 1)) / total for k in (-1, 0, 1)}
    by_chance = sum(share**2 for share in margin.values())
    assert found.kappa.value == pytest.approx((agreed - by_chance) / (1 - by_chance))
    for figure in (found.alpha, found.kappa):
        assert figure.lower < figure.value < figure.upper


@pytest.mark.parametrize("seed", range(3))
def test_agreement_on_stars_is_that_of_all_pairs_of_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = []
    for _ in range(40):
        first, names = int(rng.integers(0, 4)), NAMES[: int(rng.integers(1, 4))]
        stars = [min(3, first * (not k) + int(rng.integers(0, 2))) for k in range(len(names))]
        given.append(dict(zip(names, stars, strict=True)))
    items = [starred(number, stars) for number, stars in enumerate(given)]
    raters = raters_of(items, dict.fromkeys(NAMES, 1.0))
    shared = [list(stars.values()) for stars in given if len(stars) > 1]
    assert raters.n_shared == len(shared)
    pairs = [(x, y, len(g) - 1) for g in shared for x, y in permutations(g, 2)]
    apart = np.average([(x - y) ** 2 for x, y, _ in pairs], weights=[1 / n for *_, n in pairs])
    values = [stars for of_answer in shared for stars in of_answer]
    chance = np.mean([(x - y) ** 2 for x, y in permutations(values, 2)])
    assert raters.alpha.value == pytest.approx(1 - apart / chance)
    table = np.zeros((4, 4))
    for of_answer in shared:
        for x, y in permutations(of_answer, 2):
            table[x, y] += 1 / (len(of_answer) * (len(of_answer) - 1))
    table /= table.sum()
    by_chance = float(table.sum(axis=0) @ table.sum(axis=1))
    assert raters.kappa.value == pytest.approx((np.trace(table) - by_chance) / (1 - by_chance))


def test_who_is_first_does_not_matter() -> None:
    items = [voted(number, of_item) for number, of_item in enumerate(planted(40, 7))]
    turned = [
        item.model_copy(
            update={"matches": (replace(item.matches[0], high="b", low="a", winner="b"),)}
        )
        for item in items
    ]
    seconds = dict.fromkeys(NAMES, 1.0)
    alpha, of_turned = (raters_of(given, seconds).alpha.value for given in (items, turned))
    assert of_turned == pytest.approx(alpha)


def test_nobody_shares_a_pair() -> None:
    seconds = {"ann": 1.0, "ben": 2.0}
    found = raters_of([voted(1, {"ann": 1}), voted(2, {"ben": 0})], seconds)
    assert (found.n_shared, found.alpha.reason) == (0, Reason("no_pair_of_two_raters"))
    assert np.isnan(found.kappa.value)
    # Stars that are all the same say nothing.
    found = raters_of([starred(n, {"ann": 3, "ben": 3}) for n in range(9)], seconds)
    assert (found.n_shared, found.alpha.reason) == (9, Reason("one_label"))
    assert np.isnan(found.alpha.value)
