"""Stability of stars: variance over rounds, scores elsewhere, causes of errors, fewer questions.

Worlds are those of `stars`. Rounds are tables with new questions, in which nothing else changes.

Shown:
    variance of relative scores over rounds beside the one that chance gives; that of
        independent samples; ρ and τ with scores elsewhere; shares of causes of errors; the
        order that fewer questions keep: `stability --sizes`, `--against`, `--causes`, `--elo`
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.claims import Claim, Range, in_tests, mean, runs
from benchmarks.claims.stars import HOLDS, NEAR, PAPER, World, table_of
from benchmarks.claims.worlds import Generator
from tiebreak.analysis.star_table import StarTable, scored
from tiebreak.fair.analysis.star_samples import RoundScores, star_orders
from tiebreak.fair.analysis.star_stability import elsewhere, error_causes
from tiebreak.rankers.linked import expected_variance, relative_influence, variance_at
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.tables.human import CAUSES, CauseLabels, HumanLabel
from tiebreak.tables.scores import ScoreTable

AT_LEAST: Range = (0.93, 1.0)
# Mean relative scores of table 9 of LLMEval-Fair.
TABLE_9 = (100.0, 97.4, 93.26, 90.19, 85.57)


def claims(scale: float) -> Iterator[Claim]:
    """Coverage of every interval; also ρ between orders on fewer questions and on all."""
    yield from _rounds(scale)
    yield from _independent(runs(400, scale))
    yield from _elsewhere(scale)
    yield from _causes(scale)
    if not in_tests(scale):
        yield from _orders(runs(12, scale, least=2))
        yield from _table_9(runs(40, scale))


def _rounds(scale: float) -> Iterator[Claim]:
    """Variance over rounds, compared with the expected variance."""
    cells = [
        (World(NEAR, 1000), 3, 400),
        (World(NEAR, 200), 2, 1000),
        (World(NEAR, 200), 3, 1000),
        (World(NEAR, 200), 5, 600),
        (World(NEAR, 300, siblings=3), 3, 600),
        (World(NEAR, 300, "linked"), 3, 600),
    ]
    for number, (world, n_rounds, full) in enumerate(cells[1:3] if in_tests(scale) else cells):
        rng, n = np.random.default_rng((81, number)), runs(full, scale)
        within, ratios = [], []
        for _ in range(n):
            tables = [table_of(rng, world) for _ in range(n_rounds)]
            rounds = RoundScores.of(*joined(tables), 0)
            columns = range(1, len(NEAR))
            rows = [rounds.of_model(k, "", 0.95, whole=100.0, sizes=()) for k in columns]
            spans = [(row.expected, row.variance) for row in rows]
            within.append([span.lower <= found <= span.upper for span, found in spans])
            ratios.append([found / span.value for span, found in spans])
        setting = f"{n_rounds} rounds, {world.setting}"
        figure = "stability, stars: variance over rounds within what chance gives in 95%"
        yield mean(figure, setting, np.mean(within, axis=1), HOLDS)
        figure = "stability, stars: variance over rounds by the expected one"
        yield mean(figure, setting, np.mean(ratios, axis=1), (0.97, 1.03))


def _independent(n: int) -> Iterator[Claim]:
    """Variance of independent samples of 200 questions, as estimated from a pool of 1,000."""
    rng = np.random.default_rng(82)
    stated = []
    for _ in range(n):
        found = scored(table_of(rng, World(NEAR, 1000)))
        moves = relative_influence(found.score, found.influence, 0)[:, -1]
        stated.append(float(variance_at(np.sum(moves**2) * 1000 / 999, 1000, 200)))
    small = [scored(table_of(rng, World(NEAR, 200))).score for _ in range(20 * n)]
    truth = np.var([one[-1] / one[0] for one in small], ddof=1)
    figure = "stability, stars: variance of independent samples, by the true one"
    setting = "samples of 200, told from 1,000 questions; 4 models"
    # The true variance is estimated, too, from 20 samples for each run, so it has an error.
    off = float(np.sqrt(2 / len(small)))
    yield mean(figure, setting, np.array(stated) / truth, (0.97 - 2 * off, 1.03 + 2 * off))


def _elsewhere(scale: float) -> Iterator[Claim]:
    """Intervals of ρ and τ between scores by stars and fixed scores on another benchmark."""
    names = tuple(map(str, range(8)))
    spread = (93.0, 91.5, 90.0, 88.0, 86.0, 83.0, 80.0, 76.0)
    cells = [
        (spread, (0, 1, 2, 3, 4, 5, 6, 7), 200),
        (spread, (2, 0, 1, 5, 3, 7, 4, 6), 200),
        (spread, (2, 0, 1, 5, 3, 7, 4, 6), 1000),
        (tuple(91 - 0.3 * k for k in range(8)), (2, 0, 1, 5, 3, 7, 4, 6), 1000),
    ]
    for number, (scores, order, n_items) in enumerate(cells[1:2] if in_tests(scale) else cells):
        rng, n = np.random.default_rng((83, number)), runs(300, scale)
        theirs = -np.array(order, dtype=np.float64)
        others = ScoreTable(names, ("other",), theirs[:, None])
        [truth] = elsewhere({"fair": sure(names, scores)}, others, how=Resampling(draws=1))
        held = []
        for _ in range(n):
            table = table_of(rng, World(scores, n_items))
            [one] = elsewhere({"fair": table}, others, how=Resampling(draws=300))
            assert one.agreement is not None
            assert truth.agreement is not None
            pairs = [
                (one.agreement.spearman, truth.agreement.spearman.value),
                (one.agreement.kendall, truth.agreement.kendall.value),
            ]
            held.append([found.lower - 1e-9 <= true <= found.upper + 1e-9 for found, true in pairs])
        gap = "nearly tied" if scores is not spread else "17 points apart"
        assert truth.agreement is not None
        setting = (
            f"true ρ {truth.agreement.spearman.value:.2f}, 8 models {gap}, {n_items:,} questions"
        )
        claimed = AT_LEAST if scores is spread else None
        for name, column in (("ρ", 0), ("τ", 1)):
            figure = f"stability, stars: 95% interval of {name} with scores elsewhere"
            yield mean(figure, setting, [float(one[column]) for one in held], claimed)


def sure(names: Sequence[str], scores: Sequence[float]) -> StarTable:
    """A table of two items whose means are exactly these scores."""
    table = table_of(np.random.default_rng(0), World(tuple(scores), 2))
    return replace(table, models=tuple(names), scores=np.tile(np.array(scores) / 100, (2, 1)))


def _causes(scale: float) -> Iterator[Claim]:
    """Intervals of the shares of causes; answers to one question tend to have the same cause."""
    shares = np.array([0.5, 0.25, 0.15, 0.07, 0.03])
    cells = [(40, 4, 0.5), (200, 4, 0.5), (40, 1, 0.0), (200, 8, 0.8)]
    for number, (n_items, n_models, same) in enumerate(cells[:1] if in_tests(scale) else cells):
        rng, n = np.random.default_rng((84, number)), runs(500, scale)
        world = World(tuple(90.0 for _ in range(n_models)), n_items)
        table = table_of(np.random.default_rng(0), world)
        held = []
        for _ in range(n):
            found = error_causes(drawn_causes(rng, table, shares, same), {"fair": table})
            truth = dict(zip(CAUSES, shares, strict=True))
            every = zip(found.causes, found.rows[-1].shares, strict=True)
            held.append(np.mean([one.lower <= truth[name] <= one.upper for name, one in every]))
        setting = (
            f"{n_items} questions, {n_models} answers each, of which {same:.0%} err as the "
            "question does"
        )
        figure = "stability, stars: 95% interval of a cause's share"
        yield mean(figure, setting, held, (0.93, 0.985))


def drawn_causes(rng: Generator, table: StarTable, shares: np.ndarray, same: float) -> CauseLabels:
    """Draw a cause for each answer: with probability `same` that of its question, else its own."""
    labels = []
    for item in table.item_ids:
        common, copies = rng.choice(5, p=shares), rng.random(len(table.models)) < same
        for model, copied in zip(table.models, copies, strict=True):
            cause = int(common if copied else rng.choice(5, p=shares))
            labels.append(HumanLabel(0, item, (model,), cause))
    return CauseLabels("planted", tuple(labels), CAUSES)


def _orders(n: int) -> Iterator[Claim]:
    """ρ between the orders on a tenth of 1,000 questions and on all, by ranking method."""
    rng = np.random.default_rng(85)
    found = [star_orders("fair", table_of(rng, World(PAPER, 1000)), n_draws=5) for _ in range(n)]
    for way in found[0].curves:
        points = [one.curves[way][2].mean for one in found]
        figure = f"stability, stars: ρ of the order with that on all questions, by {way}"
        yield mean(figure, "100 of 1,000 questions, the 17 scores of table 1", points)


def _table_9(n: int) -> Iterator[Claim]:
    """Variance in table 9 by sampling error alone: 3 rounds of 1,000 questions, 2,000 and 4,000."""
    world = World(tuple(PAPER[0] * share / 100 for share in TABLE_9), 1000)
    rng = np.random.default_rng(86)
    stated = []
    for _ in range(n):
        found = scored(table_of(rng, world))
        moves = relative_influence(found.score, found.influence, 0)
        one = 100**2 * np.sum(moves**2, axis=0) * 1000 / 999
        stated.append([expected_variance(np.diag([v, v, v, v / 2, v / 4])) for v in one[1:]])
    for k, share in enumerate(TABLE_9[1:]):
        setting = f"table 9, a relative score of {share:g}, paired"
        own = [row[k] for row in stated]
        yield mean("stability, stars: expected variance", setting, [one.value for one in own])
        upper = "stability, stars: what it stays below in 97.5% by chance"
        yield mean(upper, setting, [one.upper for one in own])


def joined(tables: Sequence[StarTable]) -> tuple[Sequence[StarTable], StarTable]:
    """Give the questions of each table names of their own; returns the tables, and all in one."""
    own = [
        replace(
            table,
            clusters=tuple(f"{number}-{one}" for one in table.clusters),
            item_ids=tuple(f"{number}-{one}" for one in table.item_ids),
        )
        for number, table in enumerate(tables)
    ]
    whole = replace(
        own[0],
        scores=np.concatenate([table.scores for table in own]),
        asked=np.concatenate([table.asked for table in own]),
        clusters=tuple(one for table in own for one in table.clusters),
        item_ids=tuple(one for table in own for one in table.item_ids),
    )
    return own, whole
