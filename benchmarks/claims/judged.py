"""A judge's board against people's order: bounds of the pairs decided alike, models placed higher.

People's order is the true order of the models. The judge reads answers with an error of its own. It
is fair, or likes one model more than people do ("a favourite": the sixth of eight, which it places
between the second and the third), or sees no difference between models ("blind"; people's order is
then arbitrary). Not simulated: errors of people's votes, because their ranking counts as exact.

Shown:
    pairs decided as people do, models placed higher or lower than by people: `align`, page
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.claims import Claim, in_tests, mean, runs, share
from benchmarks.claims.agreement import MODELS, SD, read
from benchmarks.claims.worlds import Array, near_ties
from tiebreak.analysis.judged import board_order

NAMES = [f"m{number}" for number in range(MODELS)]
FAVOURITE = 5
FALSE = (0.0, 0.05)
HOLDS = (0.95, 1.0)


def claims(scale: float) -> Iterator[Claim]:
    """Coverage and width of the bounds, false claims, and power to find the favourite."""
    settings = [
        (judge, apart, n_items)
        for judge in ("fair", "favourite")
        for apart in (0.06, 0.15, 0.44)
        for n_items in (20, 50, 162)
    ]
    blind = [("blind", 0.0, n_items) for n_items in (20, 50, 162)]
    for number, (judge, apart, n_items) in enumerate([*settings, *blind]):
        if in_tests(scale) and n_items != 50:
            continue
        yield from beside(scale, number, judge, apart, n_items)


def beside(scale: float, number: int, judge: str, apart: float, n_items: int) -> Iterator[Claim]:
    """Claims about boards of one judge."""
    rng, n = np.random.default_rng((7, number)), runs(400, scale)
    people = np.arange(1.0, MODELS + 1)
    theta = SD * near_ties(MODELS, apart) if judge != "blind" else np.zeros(MODELS)
    if judge == "favourite":
        theta[FAVOURITE] = (theta[1] + theta[2]) / 2
    true = alike(theta, people)
    highest, lowest = true_ranks(theta)
    held, false, found, widths, values = 0, 0, 0, [], []
    for _ in range(n):
        answers = rng.standard_normal((n_items, MODELS))
        board = board_order(read(rng, answers, theta, answers > np.inf), people, NAMES)
        held += board.same.lower - 1e-9 <= true <= board.same.upper + 1e-9
        widths.append(board.same.upper - board.same.lower)
        values.append(board.same.value)
        higher = [NAMES.index(name) for name in board.higher]
        lower = [NAMES.index(name) for name in board.lower]
        # For models that are truly tied to the judge, any rank of their group counts as true.
        false += any(lowest[k] >= people[k] for k in higher) or any(
            highest[k] <= people[k] for k in lower
        )
        found += FAVOURITE in higher
    setting = f"{judge} judge, {MODELS} models {apart} apart, {n_items} items"
    if judge != "blind":
        yield share(
            "align: bounds of the pairs decided alike hold the true share", setting, held, n, HOLDS
        )
        yield mean("… their width", setting, widths)
        yield mean(f"… the share itself (true: {true:.2f})", setting, values)
    yield share(
        "align: any model wrongly said to be placed higher or lower", setting, false, n, FALSE
    )
    if judge == "favourite":
        yield share("align: power: the favourite is said to be placed higher", setting, found, n)


def alike(theta: Array, people: Array) -> float:
    """Share of pairs that the judge decides as people do, on endless items."""
    a, b = np.triu_indices(MODELS, k=1)
    return float(np.mean((theta[b] - theta[a]) * (people[b] - people[a]) < 0))


def true_ranks(theta: Array) -> tuple[Array, Array]:
    """Best and worst true rank of each model by the judge, shape (N,) each; they differ in ties."""
    above = np.sum(theta[:, None] > theta, axis=0)
    return 1.0 + above, np.sum(theta[:, None] >= theta, axis=0).astype(float)
