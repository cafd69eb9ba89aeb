"""Star boards: absolute, relative and subject scores, differences, and who is told apart.

Worlds are drawn as tables of stars. An answer has as many stars as there are thresholds below its
quality, which is a sum of the model, the subject, the difficulty of the question (the same for all
models, and similar for variants of one question) and chance. Two models' stars in one item then
correlate by .3. Questions take turns over ten subjects, as in a sample by subject.

Shown:
    scores by stars: absolute, relative (`--reference`, to the best) and by subject,
        differences, pairwise tests and ranks; paired, linked and unlinked: `rank`, page
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from unittest.mock import patch

import numpy as np
from scipy.special import ndtr

from benchmarks.claims import Claim, Range, in_tests, mean, runs, share
from benchmarks.claims.worlds import Array, Generator
from tiebreak.analysis.star_table import Design, StarTable, scored
from tiebreak.analysis.stars import StarBoard, star_board
from tiebreak.rankers import pairwise_tests
from tiebreak.rankers.linked import LinkedScores, linked_scores
from tiebreak.rankers.uncertainty import Resampling

HOLDS: Range = (0.93, 0.97)
AT_MOST: Range = (0, 0.05)
HOW = Resampling(draws=300)
# A model that scores 91 of 100 gets no star for 3% of its answers, one for 4% and two for 10%.
THRESHOLDS = np.array([-1.88, -1.476, -0.954]) + 1.4366
SUBJECTS = np.linspace(-0.4, 0.4, 10)
QUESTION, VARIANT = 0.3, 0.2
ANCHORS = 0.2
# Table 1 of LLMEval-Fair, 0 to 100.
PAPER = (
    *(93.67, 91.23, 91.07, 91.00, 90.36, 90.32, 89.62, 88.30, 87.90, 87.57, 87.45, 86.38),
    *(85.27, 85.24, 83.74, 82.51, 78.80),
)
CEILING = (99.0, 98.0, 97.0, 95.0)
NEAR = (92.0, 91.0, 90.5, 88.0)


@dataclass(frozen=True)
class World:
    """Parameters of a table: true scores of the models (0 to 100), items of each, design.

    A question has `siblings` variants as items, and the share `unscored` of the answers no stars.
    """

    scores: tuple[float, ...]
    n: int
    design: Design = "paired"
    siblings: int = 1
    unscored: float = 0.0

    @property
    def setting(self) -> str:
        """The parameters in words, without the scores."""
        more = f", {self.siblings} variants of each question" if self.siblings > 1 else ""
        lost = f", {self.unscored:.0%} unscored" if self.unscored else ""
        return f"{self.design}, {len(self.scores)} models, {self.n:,} items each{more}{lost}"


CELLS = (
    World(NEAR, 100),
    World(NEAR, 1000),
    World(NEAR, 100, "linked"),
    World(NEAR, 1000, "linked"),
    World(NEAR, 100, "unlinked"),
    World(NEAR, 1000, "unlinked"),
    World(NEAR, 300, siblings=3),
    World(NEAR, 300, "linked", siblings=3),
    World(NEAR, 100, unscored=0.05),
    World(NEAR, 300, "linked", unscored=0.05),
)


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of every interval, equal models, the gain of linking, and the paper's table."""
    for number, world in enumerate(CELLS[:: 6 if in_tests(scale) else 1]):
        with patch.object(pairwise_tests, "_FLIPS", 19):
            yield from _intervals(world, number, runs(140, scale))
    yield from _ceiling(runs(200, scale, least=100))
    yield from _equal(scale)
    yield from _designs(runs(800, scale, least=200))
    if not in_tests(scale):
        yield from _paper(runs(40, scale))


def _intervals(world: World, number: int, n: int) -> Iterator[Claim]:
    """Coverage of scores, relative scores, subjects and differences."""
    rng, truth = np.random.default_rng((71, number)), np.array(world.scores)
    found = [board_of(rng, world, reference="0") for _ in range(n)]
    best = [board_of(rng, world) for _ in range(n)]
    by_subject = 10 * subject_means(world.scores)
    rows = [{int(row.model): row for row in board.rows} for board in found]
    held = [[own[k].lower <= t <= own[k].upper for k, t in enumerate(truth)] for own in rows]
    yield mean("rank, stars: 95% interval of a score", world.setting, _means(held), HOLDS)
    parts = [
        [
            one.lower <= true <= one.upper
            for k in own
            for one, true in zip(own[k].subjects, by_subject[k], strict=True)
        ]
        for own in rows
    ]
    # With ten items of a subject, most of which have all stars, intervals are wider than needed.
    few = world.n < 1000
    held_by = (0.93, 1.0) if few else HOLDS
    yield mean("rank, stars: 95% interval of a subject", world.setting, _means(parts), held_by)
    gaps = [
        [p.lower <= truth[int(p.above)] - truth[int(p.below)] <= p.upper for p in board.pairs]
        for board in found
    ]
    yield mean("rank, stars: 95% interval of a difference", world.setting, _means(gaps), HOLDS)
    named = [
        [own[k].relative.lower <= 100 * truth[k] / truth[0] <= own[k].relative.upper]
        for own in rows
        for k in range(1, len(truth))
    ]
    figure = "rank, stars: 95% interval of a relative score"
    yield mean(f"{figure}, --reference", world.setting, _means(named), HOLDS)
    against = [
        [
            row.relative.lower - 1e-9
            <= 100 * truth[int(row.model)] / truth.max()
            <= row.relative.upper + 1e-9
            for row in board.rows
        ]
        for board in best
    ]
    yield mean(f"{figure}, to the best", world.setting, _means(against), (0.93, 1.0))


def _ceiling(n: int) -> Iterator[Claim]:
    """Coverage near the ceiling, where few items differ: scores, and scores relative to a model."""
    rng, truth = np.random.default_rng(76), np.array(CEILING)
    for n_items in (50, 100, 200):
        with patch.object(pairwise_tests, "_FLIPS", 19):
            boards = [board_of(rng, World(CEILING, n_items), reference="0") for _ in range(n)]
        rows = [row for board in boards for row in board.rows]
        own = [(row.lower, row.upper, truth[int(row.model)]) for row in rows]
        named = [
            (row.relative.lower, row.relative.upper, 100 * truth[int(row.model)] / truth[0])
            for row in rows
            if row.model != "0"
        ]
        setting = f"paired, true scores 99, 98, 97 and 95, {n_items} items"
        for figure, bounds in (("a score", own), ("a relative score, --reference", named)):
            held = [low <= true <= high for low, high, true in bounds]
            values = np.reshape(held, (n, -1)).mean(axis=1)
            yield mean(f"rank, stars: 95% interval of {figure}", setting, values, (0.93, 1.0))


def _equal(scale: float) -> Iterator[Claim]:
    """Share of boards of equal models in which any two are told apart; their relative scores."""
    designs: tuple[Design, ...] = ("paired", "linked", "unlinked")
    cells = [
        World((90.0,) * models, n, design)
        for n in (100, 1000)
        for models in (2, 8, 17)
        for design in designs
    ]
    pooled = {design: [0, 0] for design in designs}
    for number, world in enumerate(cells[:6:4] if in_tests(scale) else cells):
        full = 200 if world.n < 1000 else 100 if len(world.scores) < 17 else 40
        rng, n = np.random.default_rng((72, number)), runs(full, scale)
        with patch.object(pairwise_tests, "_FLIPS", 199):
            boards = [board_of(rng, world) for _ in range(n)]
        false = sum(any(pair.apart for pair in board.pairs) for board in boards)
        setting = world.setting.replace("models", "equal models")
        yield share("rank, stars: two equal models told apart", setting, false, n)
        pooled[world.design][0] += false
        pooled[world.design][1] += n
        if world.design == "paired" and world.n == 100:
            own = [np.mean([row.relative.value for row in board.rows[1:]]) for board in boards]
            yield mean("rank, stars: relative score to the best, truly 100", setting, own)
            held = [[row.relative.upper >= 100 for row in board.rows] for board in boards]
            figure = "rank, stars: 95% interval of a relative score, to the best"
            yield mean(figure, setting, _means(held), (0.93, 1.0))
    for design, (false, n) in pooled.items():
        if n:
            setting = f"{design}, 2 to 17 models, 100 and 1,000 items each, pooled"
            yield share("rank, stars: two equal models told apart", setting, false, n, AT_MOST)


def _designs(n: int) -> Iterator[Claim]:
    """Standard errors at 1,000 items and a score of 91, by design: the gain of shared items."""
    designs: tuple[Design, ...] = ("paired", "linked", "unlinked")
    for number, design in enumerate(designs):
        world = World((91.0, 91.0), 1000, design)
        rng = np.random.default_rng((73, number))
        tables = [table_of(rng, world) for _ in range(n)]
        found = [scored(table) for table in tables]
        stated = [_apart(one) for one in found]
        off = [100 * float(one.score[0] - one.score[1]) for one in found]
        setting = f"{design}, score 91, 1,000 items each"
        own = [100 * float(one.error[0]) for one in found]
        yield mean("rank, stars: standard error of a score, points", setting, own)
        yield mean("rank, stars: standard error of a difference, points", setting, stated)
        held = sum(abs(gap) <= 1.96 * error for gap, error in zip(off, stated, strict=True))
        figure = "rank, stars: a difference within 1.96 standard errors"
        yield share(figure, setting, held, n, HOLDS)
        if design == "linked":
            others = {
                "by plain means": [linked_scores(one.scores, link=False) for one in tables],
                "by shared items alone": [linked_scores(one.scores[:200]) for one in tables],
            }
            for name, estimates in others.items():
                errors = [_apart(one) for one in estimates]
                figure = f"rank, stars: standard error of a difference {name}, points"
                yield mean(figure, setting, errors)


def _apart(found: LinkedScores) -> float:
    """The stated standard error of the difference of two scores, in points."""
    spread = found.covariance
    return 100 * float(np.sqrt(spread[0, 0] + spread[1, 1] - 2 * spread[0, 1]))


def _paper(n: int) -> Iterator[Claim]:
    """Pairs told apart at 1,000 items if table 1 of the paper is the truth."""
    designs: tuple[Design, ...] = ("paired", "linked", "unlinked")
    for number, design in enumerate(designs):
        world, rng = World(PAPER, 1000, design), np.random.default_rng((75, number))
        near, every = [], []
        with patch.object(pairwise_tests, "_FLIPS", 199):
            for _ in range(n):
                pairs = board_of(rng, world).pairs
                apart = [{int(p.above), int(p.below)} for p in pairs if p.apart]
                near.append(sum(pair <= {1, 2, 3, 4, 5} for pair in apart))
                every.append(len(apart))
        setting = f"{design}, the 17 scores of table 1, 1,000 items each"
        yield mean("rank, stars: pairs told apart of the 10 of ranks 2 to 6", setting, near)
        yield mean("rank, stars: pairs told apart of all 136", setting, every)


def _means(held: Sequence[Sequence[bool]]) -> list[float]:
    return [float(np.mean(one)) for one in held]


def board_of(rng: Generator, world: World, *, reference: str | None = None) -> StarBoard:
    """Draw a table of a world, and return its star board."""
    table = table_of(rng, world)
    return star_board("planted", table, scored(table), reference, HOW)


def table_of(rng: Generator, world: World) -> StarTable:
    """Draw the stars of a world's models, which are named by their number."""
    n, n_models = world.n, len(world.scores)
    shared = {"paired": n, "linked": round(ANCHORS * n), "unlinked": 0}[world.design]
    rows = shared + n_models * (n - shared)
    asked = np.zeros((rows, n_models), dtype=np.bool_)
    asked[:shared] = True
    fresh = np.arange(shared, rows)
    asked[fresh, (fresh - shared) // (n - shared or 1)] = True
    # Shared variants of a question follow each other; fresh ones are each for a different model.
    question = np.arange(rows)
    question[:shared] //= world.siblings
    part = (fresh - shared) % (n - shared or 1)
    owner = (fresh - shared) // (n - shared or 1)
    question[shared:] = rows + part + (n - shared) * (owner // world.siblings)
    subject = question % len(SUBJECTS)
    hard = np.sqrt(QUESTION) * rng.standard_normal(2 * rows + n)[question]
    hard += np.sqrt(VARIANT) * rng.standard_normal(rows)
    chance = np.sqrt(1 - QUESTION - VARIANT) * rng.standard_normal((rows, n_models))
    good = np.array(levels(world.scores)) + SUBJECTS[subject, None] + hard[:, None] + chance
    scores = (good[..., None] > THRESHOLDS).mean(axis=-1)
    lost = rng.random((rows, n_models)) < world.unscored
    return StarTable(
        models=tuple(map(str, range(n_models))),
        scores=np.where(asked & ~lost, scores, np.nan),
        asked=asked,
        native=np.full((rows, n_models), np.nan),
        item_ids=tuple(map(str, range(rows))),
        clusters=tuple(f"{one:06}" for one in question),
        subjects=tuple(f"s{one}" for one in subject),
        targets=("",) * rows,
        items=(),
        logs=(),
        notes=(),
    )


@cache
def levels(scores: tuple[float, ...]) -> tuple[float, ...]:
    """Qualities of models with these expected scores (0 to 100), by bisection."""
    low, high = np.full(len(scores), -8.0), np.full(len(scores), 8.0)
    for _ in range(60):
        middle = (low + high) / 2
        above = _expected(middle).mean(axis=1) > np.array(scores) / 100
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return tuple(low.tolist())


def subject_means(scores: tuple[float, ...]) -> Array:
    """Expected scores by subject, shape (N, 10), in [0, 1]."""
    return _expected(np.array(levels(scores)))


def _expected(level: Array) -> Array:
    found: Array = ndtr(level[:, None, None] + SUBJECTS[:, None] - THRESHOLDS).mean(axis=-1)
    return found
