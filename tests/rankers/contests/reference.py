"""Algorithm 1 as a plain Python loop: the second method."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random

Wins = Sequence[Sequence[Sequence[float]]]


def contest(wins: Wins, eliminate: int | Sequence[int], rng: Random) -> list[int]:
    """Final scores of one contest; wins[i][j][k] is W."""
    n_models, n_rounds = len(wins), len(wins[0][0])
    removed = [eliminate] * n_rounds if isinstance(eliminate, int) else eliminate
    active = list(range(n_models))
    scores = [0] * n_models
    for k in range(n_rounds):
        groups = defaultdict(list)
        for model in active:
            groups[scores[model]].append(model)
        pairs: list[tuple[int, int]] = []
        for group in groups.values():
            rng.shuffle(group)
            pairs.extend(zip(group[::2], group[1::2], strict=False))  # the odd one has the bye
        for first, second in pairs:
            won = wins[first][second][k]
            if won == 0.5:
                won = rng.randrange(2)
            scores[first if won else second] += 1
        lowest = min(scores[model] for model in active)
        weakest = [model for model in active if scores[model] == lowest]
        out = rng.sample(weakest, min(removed[k], len(weakest)))
        active = [model for model in active if model not in out]
        if len(active) < 2:
            break
    return scores
