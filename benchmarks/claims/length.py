"""The gain of the longer answer, and how often a board is called sensitive to length.

There are eight near-ties; half of the variance of an answer's length is common to all answers of
its model. Within items length and quality correlate by 0 to .5, and of two equal answers the judge
prefers the one that is a standard deviation longer in 50 to 70% of matches. At 50% it is blind to
length. If longer answers are better, a blind judge lets them win, and ballots cannot tell this from
a preference. That is no fault, so no judge is doubted for it (`judges`, `trust`). "Sensitive" means
that claims of the board would not be made at equal length, whatever the cause.

Shown:
    what the longer answer gains, and whether the board is sensitive to it: `rank`, page, card
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.claims import Claim, in_tests, runs, share
from benchmarks.claims.worlds import FAIR, judged, length_loving, near_ties, ranking_log
from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.judge.biases import ALARM, length_of
from tiebreak.analysis.verdict import at_equal_length
from tiebreak.rankers.pairwise_tests import separation

PROTOCOLS = {"seal": "close", "full_pairwise": "never"}
N, ITEMS = 8, 100
FULL = 100


def claims(scale: float) -> Iterator[Claim]:
    """Shares of boards with a gain and of sensitive boards, by protocol, correlation and judge."""
    cells = [*product(PROTOCOLS, (0.0, 0.2, 0.35, 0.5), (0.5, 0.6, 0.7))]
    for protocol, better, likes in cells[::7] if in_tests(scale) else cells:
        rng = np.random.default_rng((41, round(100 * better), round(100 * likes)))
        n, gains, sensitive = runs(FULL, scale, least=6), 0, 0
        for _ in range(n):
            gain, changes = _board(rng, protocol, better, likes)
            gains += gain
            sensitive += changes
        setting = f"{likes:.0%} for 1 sd of length, correlation {better:g}, {protocol}"
        blind = (0.0, ALARM) if likes == 0.5 and not better else None
        clear = (0.9, 1.0) if likes == 0.7 else None
        yield share("length: a gain is found", setting, gains, n, blind or clear)
        yield share("length: board is sensitive", setting, sensitive, n, blind or clear)


def _board(
    rng: np.random.Generator, protocol: str, better: float, likes: float
) -> tuple[bool, bool]:
    """Whether the longer answer gains on a board, and whether the board is sensitive to it."""
    items = judged(
        rng,
        near_ties(N, 0.2),
        ITEMS,
        FAIR if likes == 0.5 else length_loving(likes),
        protocol=protocol,
        swap=PROTOCOLS[protocol],  # type: ignore[arg-type]
        longer_is_better=better,
    )
    length = length_of(items)
    if not length.bound:
        return False, False
    table = ItemTable.of(ranking_log(items).ranked)
    order = np.argsort(-table.borda.mean(axis=0)).tolist()
    changes = at_equal_length(table, items, separation(table.borda, order), length)
    return True, bool(changes.lost) or changes.leader is not None
