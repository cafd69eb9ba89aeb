"""Boards, contests and reviews to draw, without any log; names plain and hostile."""

import dataclasses
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.analysis.alignment.panels import panel
from tests.analysis.peers.builders import LETTERS, reviewer
from tests.analysis.stars import starred
from tiebreak.analysis.calibration import Calibration, calibration_of
from tiebreak.analysis.contests import ContestReport, contest_report
from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.analysis.peers.panel import panel_worth
from tiebreak.analysis.peers.review import PeerReview, peer_ranking
from tiebreak.analysis.peers.self_preference import self_preference
from tiebreak.analysis.receipt import receipt_of
from tiebreak.analysis.stability import RepeatedRun, StabilityReport, SubsampledLog
from tiebreak.analysis.star_table import StarTable, scored
from tiebreak.analysis.stars import StarBoard
from tiebreak.analysis.stars import star_board as board_of
from tiebreak.analysis.verdict import BoardVerdict
from tiebreak.fair.analysis.star_samples import OrderKept, StarOrders
from tiebreak.fair.analysis.star_stability import CauseRow, DatedScore, ErrorCauses, StarCourse
from tiebreak.rankers import Resampling, peer_views
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.stability import RunStability, Stability
from tiebreak.ranking_logs import JudgedItem, RankingLog
from tiebreak.tables import HumanLabels, ScoreTable
from tiebreak.tables.human import HumanLabel

NAN = float("nan")
NOTHING: Any = None

HOSTILE = (
    "p_1 $x$ <&>~^\x1b[31m",
    "</title><script>alert(1)</script>",
    "\u202egpj.evil",
    "x" * 100 + "y" * 100,
    "模型模型模型模型模型模型模型模型模型模型模型模型模型模型",
    '$\\frac{1}{0$ #1b1f24 style="fill: #1b1f24"',
    "",
    "a\nb\tc",
    "W" * 47,
    "]]> --> &amp; a_b~c^d",
)


def row(
    rank: int | None, model: str, borda: float, half: float = NAN, **fields: Any
) -> LeaderboardRow:
    """A row whose interval is `borda` ± `half`, and whose ranks go one up and one down."""
    sure = half != half or rank is None
    usual: dict[str, Any] = {
        **dict.fromkeys((field.name for field in dataclasses.fields(LeaderboardRow)), NAN),
        **{"rank": rank, "model": model, "value": borda, "wins": 0, "losses": 0, "ties": 0},
        "lower": borda - half,
        "upper": borda + half,
        "rank_lower": None if sure or rank is None else max(1, rank - 1),
        "rank_upper": None if sure or rank is None else rank + 1,
        "native_n": 0,
    }
    return LeaderboardRow(**usual | fields)


def tiers_of(rows: Sequence[LeaderboardRow]) -> tuple[tuple[str, ...], ...]:
    """Every model with the next one, so that tiers overlap."""
    models = [row.model for row in rows if row.rank is not None]
    return tuple(pairwise(models))


def board(
    rows: Sequence[LeaderboardRow], benchmark: str = "gsm8k", protocol: str = "seal"
) -> Leaderboard:
    verdict = BoardVerdict(NOTHING, tiers_of(rows), NOTHING)
    return Leaderboard(
        benchmark=benchmark, protocol=protocol, verdict=verdict, log="logs/1.eval", eval_id="E1",
        created="", status="success", judges=("j/judge",), placed_by="elimination", n_items=120,
        unranked=(), rows=tuple(rows), pairs=(), first_by_rule={}, views=(), control=None,
        spread=NAN, native_spread=NAN, level=0.95, draws=10, seed=0,
        jury=(),
        canaries=None,
        raters=None,
        judge=NOTHING, receipt=NOTHING, settled=None, settings_differ={},
        warnings=(), notes=(),
    )  # fmt: skip


def random_board(names: Sequence[str], seed: int = 0, *, natives: int = 3) -> Leaderboard:
    """Scores from the first name to the last; native scores take few values."""
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.uniform(0.15, 0.85, len(names)))[::-1]
    native = 0.9 + 0.01 * rng.integers(natives, size=len(names))
    return board(
        [
            row(k + 1, name, float(score), 0.05, native=float(own), native_n=120)
            for k, (name, score, own) in enumerate(zip(names, scores, native, strict=True))
        ]
    )


def contest(
    names: Sequence[str], seed: int = 0, n_benchmarks: int = 6, **arguments: Any
) -> ContestReport:
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.8, 0.4, len(names))[:, None]
    scores = np.clip(skill + rng.normal(0, 0.08, (len(names), n_benchmarks)), 0, 1).round(3)
    benchmarks = tuple(f"bench{k}" for k in range(n_benchmarks))
    usual: dict[str, Any] = {"options": {"iterations": 1000, "seed": 1}}
    table = ScoreTable(tuple(names), benchmarks, scores)
    return contest_report(table, **usual | arguments)


def review(
    ranks: NDArray[np.float64],
    *,
    models: Sequence[str] = LETTERS,
    own: Sequence[int | None] | None = None,
    draws: int = 50,
) -> PeerReview:
    """A review from ranks of shape (items, reviewers, N); reviewer k is model k, or none."""
    made, how = panel(ranks, models=models), Resampling(0.95, draws, 0)
    if own is not None:
        names = [f"X{k}" if column is None else models[column] for k, column in enumerate(own)]
        reviewers = tuple(reviewer(name, models) for name in names)
        made = replace(made, own=tuple(own), reviewers=reviewers)
    views = peer_views(made.ranks, made.own, method="borda")
    return PeerReview(
        panel=made, n_rows=len(made.items), n_identical=0, n_unusable=0,
        ranking=peer_ranking(made, ["borda"], views.inclusive, how),
        views=self_preference(made, views, how), worth=panel_worth(made, how),
        receipt=receipt_of(()), warnings=(), notes=(),
    )  # fmt: skip


def opinions(
    n_items: int, n_reviewers: int, n: int, *, seed: int = 0, own: float = 0.8
) -> NDArray[np.float64]:
    """Ranks of shape (items, reviewers, N), models from best to worst, who favour themselves."""
    rng = np.random.default_rng(seed)
    answers = -0.4 * np.arange(n) + rng.normal(size=(n_items, 1, n))
    seen = answers + rng.normal(size=(n_items, n_reviewers, n))
    for k in range(min(n_reviewers, n)):
        seen[:, k, k] += own
    return (np.argsort(np.argsort(-seen, axis=-1), axis=-1) + 1).astype(np.float64)


def stability_report(names: Sequence[str], seed: int = 0) -> StabilityReport:
    rng = np.random.default_rng(seed)
    subsampled = []
    for name in names:
        rhos = (1 - rng.gamma(2, 0.05, 30)).round(3)
        found = Stability(rhos, float(rhos.mean()), float(rhos.min()), 0.83, 60, 120)
        subsampled.append(SubsampledLog("gsm8k", name, "1.eval", 0.5, 8, found))
    pairs = np.array([0.95, 0.9, 1.0])
    runs = RunStability(pairs, float(pairs.mean()), 0.9, 2.5, 3, 3)
    return StabilityReport(
        tuple(subsampled), (RepeatedRun("gsm8k", "seal", ("1", "2", "3"), 120, 8, runs),), 30, ()
    )


def calibration(judges: Sequence[str]) -> Calibration:
    """A jury whose judges agree with two people less and less, in two rounds."""
    judges = [name for name in judges if name]  # without a name it is the log's one judge
    rng = np.random.default_rng(len(judges))
    truth = rng.choice(4, 60, p=[0.1, 0.1, 0.2, 0.6])
    items = []
    for k, stars in enumerate(truth.tolist()):
        given = {
            name: {"m": stars if rng.random() < 0.95 - 0.4 * n / len(judges) else 2}
            for n, name in enumerate(judges)
        }
        items.append(JudgedItem(f"q{k}", 1, starred(f"q{k}", given)))
    log = RankingLog(
        path="1.eval", files=("1.eval",), task="stars", eval_id="E", task_id="T", created="",
        status="success", protocol="stars", benchmark="fair", run="", shard=None, arguments={},
        planned=(), n_expected=60, samples=tuple(items),
    )  # fmt: skip
    labels = [
        HumanLabel(k, f"q{k}", ("m",), stars if who else min(3, stars + k % 2),
                   rater=str(who), round=f"{k % 2 + 1}")
        for k, stars in enumerate(truth.tolist())
        for who in range(2)
    ]  # fmt: skip
    return calibration_of([log], HumanLabels("stars $x$.csv", "stars", tuple(labels)))


def star_board(names: Sequence[str], seed: int = 0, n_items: int = 40) -> StarBoard:
    """Models from best to worst, which have the subjects' names, too."""
    rng = np.random.default_rng(seed)
    chance = np.linspace(0.95, 0.6, len(names))
    scores = rng.binomial(3, chance, (n_items, len(names))) / 3
    rows = tuple(f"q{k}" for k in range(n_items))
    table = StarTable(
        models=tuple(names), scores=scores, asked=np.ones(scores.shape, dtype=np.bool_),
        native=np.full(scores.shape, NAN), item_ids=rows, clusters=rows,
        subjects=tuple(names[k % len(names)] for k in range(n_items)), targets=("",) * n_items,
        items=(), logs=("1.eval",), notes=(),
    )  # fmt: skip
    return board_of("fair", table, scored(table), None, Resampling(draws=10))


def star_orders(names: Sequence[str]) -> StarOrders:
    """Four curves; the first name is the benchmark's, with the second in it."""
    curves = {
        way: tuple(
            OrderKept(10 * 4**k, 1 - 0.5**k / (2 + n), 0.9 - 0.5**k / 2, 1.0, 0.01, 0)
            for k in range(4)
        )
        for n, way in enumerate(("mean stars", "win rate", "Bradley–Terry", "Elo"))
    }
    return StarOrders(f"{names[0]} {names[1]}", len(names), 1000, curves, 30, 0)


def star_course(names: Sequence[str]) -> StarCourse:
    """A model every three months, in two series."""
    rows = tuple(
        DatedScore(
            *(name, "XY"[k % 2], date(2023 + k // 4, 1 + 3 * (k % 4), 1)),
            Estimate(60 + 3 * (k % 9), 57 + 3 * (k % 9), 62 + 3 * (k % 9), 100),
        )
        for k, name in enumerate(names)
    )
    return StarCourse(names[0], rows, 0.95, ())


def error_causes(names: Sequence[str]) -> ErrorCauses:
    """Causes that go by the names, and one row of all."""
    share = 1 / len(names)
    shares = tuple(Estimate(share, share / 2, min(1.0, share * 2), 40) for _ in names)
    return ErrorCauses("c.csv", tuple(names), (CauseRow("", 40, 50, shares),), (), 0.95, ())
