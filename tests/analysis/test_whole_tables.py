"""Whole findings about pools, labels and tables, figure by figure; see `test_whole_stars`."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.analysis.stars import starred
from tests.analysis.test_diagnosis import pool_of
from tests.analysis.whole import told
from tests.expected import check
from tests.ranking_logs.builders import all_pairs, write_log
from tiebreak.analysis.calibration import calibrate
from tiebreak.analysis.consensus import elect
from tiebreak.analysis.contests import (
    contest_report,
    drawn_scores,
    tier_report,
    with_csd,
    with_kemeny,
)
from tiebreak.analysis.diagnosis import diagnose
from tiebreak.candidates import ItemKey
from tiebreak.fair.analysis.contamination import Replayed, contamination_of
from tiebreak.rankers.contests.expected_wins import CsdOptions
from tiebreak.tables import Round, Rounds, ScoreTable
from tiebreak.tables.benchmark_ballots import score_ballots
from tiebreak.tables.human import HumanLabel, HumanLabels, answer_digests
from tiebreak.tables.pool_scores import ItemScores

NAN = math.nan
FEW: CsdOptions = {"iterations": 40, "seed": 3}

SCORES = np.array(
    [
        [0.91, 0.62, 0.50, 0.40],
        [0.90, 0.55, 0.52, 0.10],
        [0.88, 0.60, 0.30, 0.35],
        [0.70, 0.58, 0.45, 0.35],
        [0.60, 0.35, 0.44, 0.20],
    ]
)
ERRORS = np.array([0.02, 0.03, 0.04, 0.05]) * np.ones((5, 1))
TABLE = ScoreTable(tuple("abcde"), ("m", "n", "o", "p"), SCORES, errors=ERRORS)


def diagnosed() -> Any:
    """Two epochs of some questions, answers that are the same, and scores that are not there."""
    random, rows = Random(4), {}
    for k in range(16):
        for epoch in (1, 2)[: 1 + (k % 4 == 0)]:
            solved = {m: float(random.random() < p) for m, p in zip("abcd", (1, 0.6, 0.5, 0.1))}  # noqa: B905
            texts = {m: "right" if solved[m] else random.choice("xy") for m in "abcd"}
            if k % 5 == 1:
                texts["a"] = "another right one"
            if k == 7:
                solved["d"] = NAN
            rows[ItemKey("gsm8k", f"q{k}", epoch)] = {m: (texts[m], solved[m]) for m in "abcd"}
    for k in range(6):
        rows[ItemKey("mmlu", f"q{k}")] = {m: (f"{m}{k % 2}", 1.0 - (m == "b")) for m in "abc"}
    return diagnose(pool_of(rows), level=0.9, power=0.7)


def stars_labelled(folder: Path) -> Any:
    """Two judges, two rounds, up to three raters, subjects; some labels are of nothing."""
    random = Random(9)
    truth = {(k, m): random.choices(range(4), (1, 1, 2, 4))[0] for k in range(18) for m in "abc"}

    def off(stars: int, rate: float) -> int:
        return min(3, max(0, stars + random.choice((-1, 1)))) if random.random() < rate else stars

    for number, (judge, rate) in enumerate([("j/one", 0.2), ("j/two", 0.6)], start=1):
        items = [
            starred(
                f"q{k}",
                {m: off(truth[k, m], rate) if (k, number) != (3, 2) else None for m in "abc"},
                judge=judge,
                subject=("law", "art", "")[k % 3],
                cluster=f"c{k // 2}",
            )
            for k in range(18)
        ]
        write_log(folder / f"{number}.eval", items, task_id=f"T{number}", eval_id=f"E{number}")
    labels = [
        HumanLabel(0, f"q{k}", (m,), off(stars, 0.3), rater=rater, round=("1", "2")[k % 2])
        for (k, m), stars in truth.items()
        for rater in ("ann", "ben", "eve")[: 1 + k % 3]
        if m != "c" or k < 12
    ]
    strangers = [HumanLabel(0, "q1", ("x",), 2), HumanLabel(0, "none", ("a",), 2)]
    people = HumanLabels("stars.csv", "stars", tuple(labels + strangers), ("a note",))
    found = calibrate(folder, people, level=0.9)
    kept = (
        one for one in found.cells if not one.subject or (one.subject == "law" and not one.round)
    )
    return replace(found, cells=tuple(kept))


def preferences(folder: Path) -> Any:
    """Which of two is better, by two protocols of one judge."""
    random = Random(2)
    for number, protocol in enumerate(("full_pairwise", "round_robin"), start=1):
        orders = ["".join(random.sample("abc", 3)) for _ in range(10)]
        items = [all_pairs(f"q{k}", one, protocol=protocol) for k, one in enumerate(orders)]
        write_log(folder / f"{number}.eval", items, task_id=f"T{number}", eval_id=f"E{number}")
    pairs = [("a", "b"), ("c", "b"), ("a", "c")]
    labels = [
        HumanLabel(0, f"q{k}", pair, random.choice((0, 0, 1, 2, 2)), digests=("", ""))
        for k in range(10)
        for pair in pairs
    ]
    return calibrate(folder, HumanLabels("pairs.csv", "preferences", tuple(labels)), level=0.9)


def recalled() -> Any:
    """Questions of which several were made of one; of two baselines a model lacks one."""
    random, found = Random(1), list[Replayed]()
    for model, sets in (("m", ("old", "new", "ours")), ("k", ("old", "ours", "private"))):
        for name in sets:
            rate = 0.6 if name == "old" else 0.1
            values = tuple(int(random.random() < rate) for _ in range(30))
            clusters = tuple(f"c{k // 3}" for k in range(30))
            found.append(Replayed(model, name, "word", values, clusters, len(found) % 3))
    found.append(Replayed("m", "none", "word", (), (), 2))
    return contamination_of(found, baselines=["private", "ours"], level=0.9, notes=["read"])


def contest() -> Any:
    played = [("first", ("m", "n"), (0, 1)), ("second", ("o",), (2,)), ("third", ("p",), (3,))]
    rounds = Rounds(tuple(Round(*one) for one in played), source="rounds.csv")
    report = contest_report(
        TABLE,
        rounds,
        eliminate=(0, 1, 2),
        spoil=["b=p:best", "a=m,o"],
        performance_tiers=2,
        options=FEW,
    )
    return replace(with_kemeny(report), table=None)


def contest_of_eight() -> Any:
    """Models enough for tiers, in one order of eliminations; a round in which all tie."""
    scores = np.column_stack([np.arange(9.0, 0, -1), [9, 8, 7, 5, 5, 4, 3, 1, 1], np.ones(9)])
    table = ScoreTable(tuple("abcdefghi"), ("x", "y", "z"), scores)
    report = contest_report(table, eliminate={0: 1, 1: 4, 2: 0}, options={"iterations": 30})
    return {"report": replace(report, table=None), "warnings": report.warnings}


def tiers() -> Any:
    random = np.random.default_rng(5)
    answers = (random.random((24, 4)) < [0.95, 0.85, 0.7, 0.6]).astype(float)
    items = ItemScores("gsm8k", tuple("abcd"), answers)
    report = tier_report(items, 5, eliminate=(0, 1), options=FEW)
    return {"report": replace(report, table=None), "warnings": report.warnings}


def elections() -> Any:
    holes = SCORES.copy()
    holes[2, 1] = NAN
    table = ScoreTable(TABLE.models, TABLE.benchmarks, holes)
    methods = ("borda", "kendall", "kemeny_young", "copeland")
    whole = elect(score_ballots(TABLE), methods, per_item=True)
    some = elect(score_ballots(table, drop_unranked=True), methods, time_limit=60.0)
    return {"whole": with_csd(whole, TABLE, FEW), "some": with_csd(some, table, FEW)}


def true_scores() -> Any:
    """Two draws; also of a benchmark with one score, and of one with none."""
    scores = np.column_stack(
        [SCORES[:, 0], 100 * SCORES[:, 1], [NAN, 0.3, NAN, NAN, NAN], [NAN] * 5]
    )
    scores[3, 0] = NAN
    errors = np.column_stack([ERRORS[:, 0], 100 * ERRORS[:, 3], np.full(5, 0.1), np.full(5, 0.1)])
    return {
        "draws": drawn_scores(scores, errors, draws=2, seed=4),
        "moments": {
            name: [
                float(part)
                for part in figure(drawn_scores(SCORES, ERRORS, draws=50, seed=7), axis=(0, 1))
            ]
            for name, figure in (("mean", np.mean), ("sd", np.std), ("largest", np.max))
        },
        "few": drawn_scores(SCORES[:2, :2], ERRORS[:2, :2], draws=3, seed=1),
    }


CASES: dict[str, Callable[[Path], Any]] = {
    "diagnosis": lambda folder: diagnosed(),
    "calibration_stars": stars_labelled,
    "calibration_pairs": preferences,
    "contamination": lambda folder: recalled(),
    "contest": lambda folder: contest(),
    "contest_of_eight": lambda folder: contest_of_eight(),
    "contest_tiers": lambda folder: tiers(),
    "elections": lambda folder: elections(),
    "true_scores": lambda folder: true_scores(),
}


@pytest.mark.parametrize("name", CASES)
def test_every_figure(name: str, tmp_path: Path) -> None:
    check(__file__, f"{name}.txt", told(CASES[name](tmp_path), tmp_path))


def test_answers_are_known_by_their_digest() -> None:
    assert (
        answer_digests("4")[0] == "4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a"
    )
