"""How far other items would move expected wins: many tables of scores, each played in contests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.rankers.contests.engine import BLOCK, CHUNK, draw_block, out_flag, schedule, states_of
from tiebreak.rankers.contests.expected_wins import ROUNDING, CsdOptions, prepare
from tiebreak.rankers.contests.rounds import Rounds, round_means, strengths
from tiebreak.rankers.contests.study import Study, engine, spread
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.profile import FloatArray, IntArray

# Contests that each table is played in: beside the spread of tables their noise is small.
CONTESTS = 2 * CHUNK
# Results of pairs in all tables of a block: at most so many bytes.
_PAIRS = 200_000_000


@dataclass(frozen=True, eq=False, slots=True)
class ItemIntervals:
    """What expected wins and ranks would be with the true scores; arrays of shape (M,).

    `lower` and `upper`: for each model on its own, expected wins from 0 to K. `rank_lower` (the
    better) and `rank_upper` hold for all models together: a rank is at least one more than the
    number of models that are surely ahead, and at most M less those surely behind, as a test of all
    pairs at `level` says. docs/statistics.md has their simulated coverage; where nearly tied models
    stand beside far weaker ones, 88% of the intervals hold. Other benchmarks are not in them.
    """

    lower: FloatArray
    upper: FloatArray
    rank_lower: FloatArray
    rank_upper: FloatArray
    draws: int
    contests: int
    level: float


def item_intervals(
    tables: ArrayLike,
    rounds: Rounds | None = None,
    eliminate: int | Sequence[int] = 0,
    **options: Unpack[CsdOptions],
) -> ItemIntervals:
    """Intervals of expected wins and of ranks over items.

    Args:
        tables: shape (draws, M, B), tables of what the true scores may be, as from
            `tiebreak.analysis.contests.drawn_scores`. Scores with noise added to them would not
            do: in these, nearly tied models are further apart than in truth.
        rounds: as in `csd`.
        eliminate: as in `csd`.
        options: the other arguments of `csd`; `iterations` and those on speed do not matter.

    Raises:
        RankingError: as `csd`, or there are not several tables.
    """
    [wins] = drawn_wins(tables, rounds, [eliminate], **options)
    return intervals_of(wins, options.get("level", 0.95))


def intervals_of(wins: FloatArray, level: float) -> ItemIntervals:
    """Intervals out of the wins with each drawn table, shape (draws, M)."""
    lower, upper = np.quantile(wins, [(1 - level) / 2, (1 + level) / 2], axis=0)
    best, worst = _joint_ranks(wins, level)
    return ItemIntervals(lower, upper, best, worst, len(wins), CONTESTS, level)


def drawn_wins(
    tables: ArrayLike,
    rounds: Rounds | None,
    eliminate: Sequence[int | Sequence[int]],
    **options: Unpack[CsdOptions],
) -> list[FloatArray]:
    """Mean wins in the contests of each table, shape (draws, M), for each of `eliminate`.

    All of `eliminate` share the random numbers of their contests.
    """
    drawn = np.asarray(tables, dtype=np.float64)
    if drawn.ndim != 3 or len(drawn) < 2:
        raise RankingError(f"tables must have shape (draws, models, benchmarks), got {drawn.shape}")
    missing = options.get("missing", "error")
    contests = len(drawn) * CONTESTS
    plain: CsdOptions = {**options, "iterations": contests, "control_variate": False}
    studies = [prepare(drawn[0], rounds, each, **plain) for each in eliminate]
    means = np.concatenate([round_means(table, rounds, missing) for table in drawn], axis=1)
    strength = strengths(means).reshape(len(drawn), -1, len(means))
    at_once = max(1, min(BLOCK // CONTESTS, _PAIRS // (strength[0].size * len(means))))
    parts = [strength[low : low + at_once] for low in range(0, len(drawn), at_once)]
    tasks = [(study, number, own) for study in studies for number, own in enumerate(parts)]
    work = strength.size * CONTESTS * len(studies)
    what = "playing with the scores of other items"
    wins = np.concatenate(spread(_wins, tasks, work, options.get("n_jobs"), what))
    return list(wins.reshape(len(studies), *strength[:, 0].shape))


def _wins(study: Study, number: int, strength: IntArray) -> FloatArray:
    """Mean wins of each table, shape (tables, M), in a block; `strength` is (tables, K, M)."""
    n_tables, n_rounds, n_models = strength.shape
    contests, eliminate = n_tables * CONTESTS, study.eliminate
    draw = draw_block((number, 3), study.seed, contests, n_models, eliminate, study.weights)
    # Rounds of all tables one after another; a contest plays those of its table.
    table = np.arange(contests)[:, None] // CONTESTS * n_rounds
    order = np.arange(n_rounds) if draw.orders is None else draw.orders
    played = strength[:, :, draw.numbering].reshape(-1, n_models)
    places = engine(study.compiled)[0](draw.words, played, eliminate, table + order)
    score = schedule(n_models, eliminate)[-1].score[None] & (out_flag(n_rounds) - 1)
    states = states_of(places, score)[0].reshape(n_tables, CONTESTS, n_models)
    wins = np.empty((n_tables, n_models))
    wins[:, draw.numbering] = states.mean(axis=1)
    return wins


def _joint_ranks(wins: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Ranks that pairs leave open of which one is surely ahead, all pairs at once.

    Surely means by more, in units of the difference's own spread, than differences stray from
    their means in `level` of the draws, the one that strays most; then again among the pairs that
    are left, until none is sure (step-down: Romano & Wolf, JASA 100, 2005). So equal models are
    told apart in no more than 1 − `level` of all boards, however many they are.
    """
    n_models = wins.shape[1]
    one, other = np.triu_indices(n_models, 1)
    mean = wins.mean(axis=0)[one] - wins.mean(axis=0)[other]
    # Draw by draw: of a thousand models all differences of all draws are gigabytes.
    squares = np.zeros(len(mean))
    for own in wins:
        squares += (own[one] - own[other] - mean) ** 2
    scale = np.sqrt(squares / len(wins))
    apart = np.abs(mean) > ROUNDING
    sure = apart & (scale <= ROUNDING)
    left = np.flatnonzero(scale > ROUNDING)
    while left.size:
        i, j, centre, unit = one[left], other[left], mean[left], scale[left]
        strayed = [np.max(np.abs(own[i] - own[j] - centre) / unit) for own in wins]
        new = np.abs(centre) / unit > np.quantile(strayed, level)
        if not new.any():
            break
        sure[left[new]] = True
        left = left[~new]
    better, worse = np.where(mean > 0, one, other)[sure], np.where(mean > 0, other, one)[sure]
    lower = 1.0 + np.bincount(worse, minlength=n_models)
    upper = float(n_models) - np.bincount(better, minlength=n_models)
    return np.asarray(lower), np.asarray(upper)
