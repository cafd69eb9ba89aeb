"""What `tiebreak csd` prints: the contest, failure sensitivity, a spoilt score."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.cases import cases
from tests.rankers.contests import exact
from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis import contests
from tiebreak.analysis.contests import ContestReport, contest_report, drawn_scores, tier_report
from tiebreak.progress import Activity, watch
from tiebreak.rankers import csd, item_intervals, natural_breaks, perturb, win_rates
from tiebreak.rankers.contests.expected_wins import CsdOptions
from tiebreak.rankers.errors import MissingScoreError, RankingError
from tiebreak.rankers.profile import FloatArray
from tiebreak.reason import Reason
from tiebreak.report.figures.contests import wins_figure
from tiebreak.report.sheets.contest import data_of, sheets_of
from tiebreak.tables import Round, Rounds, ScoreTable, TableError, read_order
from tiebreak.tables.pool_scores import ItemScores

MODELS = ("ada", "ben", "cleo", "dan")
BENCHMARKS = ("maths", "code", "law")
SCORES = np.array([[9.0, 8, 1], [7, 9, 8], [5, 6, 7], [1, 2, 3]])
TABLE = ScoreTable(MODELS, BENCHMARKS, SCORES)


def report(*, notes: tuple[str, ...] = (), **arguments: object) -> ContestReport:
    options = {"iterations": 2000, "seed": 3}
    table = ScoreTable(MODELS, BENCHMARKS, SCORES, notes=notes)
    return contest_report(table, options=options, **arguments)  # type: ignore[arg-type]


def printed(contest: ContestReport) -> str:
    return show(sheets_of(contest))


def test_several_changes_each_on_its_own() -> None:
    contest = report(spoil=["dan=maths,law:best", "ben=code", "ben=law:2.5"], eliminate=(1, 2))
    changes: list[tuple[int, tuple[int, ...], list[float]]]
    changes = [(3, (0, 2), [9.0, 8.0]), (1, (1,), [0.0]), (1, (2,), [2.5])]
    for found, (model, benchmarks, values) in zip(contest.spoilt, changes, strict=True):
        alone = perturb(SCORES, model, benchmarks, values, eliminate=1, iterations=2000, seed=3)
        np.testing.assert_array_equal(found.after.expected_wins, alone.after.expected_wins)
        np.testing.assert_array_equal(found.before.expected_wins, contest.result.expected_wins)
        assert found.values == alone.values
    assert [one["values"] for one in data_of(contest)["perturbations"]] == [[9, 8], [0], [2.5]]
    assert contest.spoilt[0].mean_ranks == (4, 2)  # dan: 9, 2 and 8
    with pytest.raises(TableError, match="'law' is in no round"):
        report(spoil="ben=law", rounds=[(0,), (1,)])


def test_tiers_of_models() -> None:
    few = report()
    assert few.tiers is None  # four models are no four tiers
    assert "Tier" not in printed(few)
    two = report(performance_tiers=2)
    assert two.tiers is not None
    np.testing.assert_array_equal(two.tiers, natural_breaks(two.result.expected_wins, 2))
    rows = data_of(two)["contest"]["rows"]
    assert [row["tier"] for row in rows] == sorted(two.tiers.tolist())
    assert "natural breaks of E[wins] into 2" in " ".join(printed(two).split())
    [table] = [section.table for section in sheets_of(two)[0].sections if section.table]
    assert table.rules == (int(np.sum(two.tiers == 1)),)
    with pytest.raises(RankingError, match="cannot be put into 5 tiers"):
        report(performance_tiers=5)
    # Eight that all tie are no four tiers, whatever the coins say.
    for scores, tiers in ((np.arange(24.0).reshape(8, 3), {1, 2, 3, 4}), (np.ones((8, 3)), set())):
        table_of_eight = ScoreTable(tuple("abcdefgh"), BENCHMARKS, scores)
        found = contest_report(table_of_eight, options={"iterations": 200})
        assert {*(() if found.tiers is None else found.tiers.tolist())} == tiers


def test_too_few_contests_for_an_interval_are_explained() -> None:
    contest = contest_report(TABLE, options={"iterations": 1})
    assert "No interval: one contest" in printed(contest)
    assert round_trip(data_of(contest))["contest"]["rows"][0]["standard_error"] is None
    # Rounds in which all models tie are named.
    easy = ScoreTable(MODELS, (*BENCHMARKS, "easy"), np.column_stack([SCORES, np.ones(4)]))
    assert str(contest_report(easy, options={"iterations": 9}).notes[-1]).endswith("on: easy")


MISSING = cases(__file__, "missing scores")


@pytest.mark.parametrize(("rounds", "missing", "words"), MISSING)
def test_missing_scores_are_named(rounds: Any, missing: Any, words: str | None) -> None:
    scores = SCORES.copy()
    scores[1, 2] = np.nan
    table = ScoreTable(MODELS, BENCHMARKS, scores, notes=("why it is not there",))
    options: CsdOptions = {"iterations": 100, "missing": missing}
    if words is None:
        contest = contest_report(table, rounds=rounds, options=options)
        assert np.isfinite(contest.result.expected_wins).all()
        return
    with pytest.raises(MissingScoreError, match=rf"{words}[^\n]*\n  - why it is not there$"):
        contest_report(table, rounds=rounds, options=options)


def test_one_model_and_one_benchmark() -> None:
    one = ScoreTable(("ada",), BENCHMARKS, SCORES[:1])
    with pytest.raises(RankingError, match="'ada' is the only model"):
        contest_report(one)
    # The best of five wins if it meets anyone, which it does in four of five contests.
    single = ScoreTable(tuple("abcde"), ("maths",), np.arange(5.0)[:, None])
    found = contest_report(single, options={"iterations": 20_000})
    np.testing.assert_allclose(found.result.expected_wins, np.arange(5) / 5, atol=0.02)
    text = " ".join(printed(found).split())
    assert "chance to win a match against a random other model" in text
    assert "Order:" not in text


def test_rounds_of_a_file_bring_their_weights_eliminations_and_notes() -> None:
    first = Round("first", ("law",), (2,), eliminate=1, weight=2.0)
    last = Round("last", ("maths", "code"), (0, 1), eliminate=0, weight=1.0)
    rounds = Rounds((first, last), "rounds.yaml", notes=("a remark on the rounds",))
    table = ScoreTable(MODELS, BENCHMARKS, SCORES, notes=("a remark on the table",))
    options: CsdOptions = {"iterations": 500, "seed": 3}
    found = contest_report(table, rounds, options=options)
    weights = (2.0, 1.0)
    expected = csd(SCORES, [(2,), (0, 1)], [1, 0], weights=weights, iterations=500, seed=3)
    np.testing.assert_array_equal(found.result.expected_wins, expected.expected_wins)
    assert found.rounds == (("law",), ("maths", "code"))
    assert (found.weights, found.sensitivity) == (weights, None)
    assert found.notes == ("a remark on the table", "a remark on the rounds")
    # What is asked for goes before what the file says.
    assert contest_report(table, rounds, eliminate=(0, 1), options=options).sensitivity is not None


def test_where_the_order_comes_from_is_said() -> None:
    order = read_order("law, maths", BENCHMARKS)
    ways: dict[str, tuple[tuple[str, ...], Any]] = {
        "columns": (("scores.csv", "errors.csv"), None),
        "names": (("logs/a.eval", "errors.csv"), None),
        "order": (("logs/a.eval",), order),
        "rounds": (("scores.csv",), Rounds((Round("law", ("law",), (2,)),), "rounds.yaml")),
        "given": (("scores.csv",), [(1,)]),
        "weights": (("scores.csv",), None),
    }
    for way, (sources, rounds) in ways.items():
        table = ScoreTable(MODELS, BENCHMARKS, SCORES, sources)
        options: CsdOptions = {"iterations": 100}
        if way == "weights":
            options["weights"] = (1.0, 2.0, 1.0)
        contest = contest_report(table, rounds, options=options)
        assert data_of(contest)["order_from"] == way
        text = " ".join(printed(contest).split())
        assert ("with --order or --rounds" in text) == (way in ("columns", "names"))
        assert ("alphabetical" in text) == (way == "names")
        assert ("law → maths" in text) == (way == "order")
        assert ("drawn by weight" in text) == (way == "weights")


def test_an_error_that_is_missing_is_named() -> None:
    errors = np.full(SCORES.shape, 0.5)
    errors[1, 2] = np.nan
    table = ScoreTable(MODELS, BENCHMARKS, SCORES, errors=errors)
    contest = contest_report(table, options={"iterations": 200})
    assert contest.items is None
    assert "Now 1 score has no standard error, such as 'ben' on 'law'" in printed(contest)
    assert contest_report(table, [(0,), (1,)], options={"iterations": 200}).items is not None


@pytest.mark.parametrize(
    ("eliminate", "words"),
    [
        ((0, 1), None),  # 2 of 4 go out before the last of 3 rounds
        ((0, 1, 2), "4 of 4 models out"),
        ({0: 0, 1: 2, 2: 4}, None),
        ({0: 1, 1: 2, 2: 0}, "3 of 4 models out"),
    ],
)
def test_too_much_elimination_is_warned_of(eliminate: Any, words: str | None) -> None:
    contest = report(eliminate=eliminate)
    assert contest.largest_eliminate == 1
    said = [*map(str, contest.warnings)]
    assert len(said) == (words is not None)
    assert all(words and words in text and "cannot is 1)" in text for text in said)
    assert data_of(contest)["warnings"] == said
    if contest.sensitivity is not None:
        assert "goes down to" in " ".join(printed(contest).split())


def test_contests_are_counted() -> None:
    errors = np.full(SCORES.shape, 0.5)
    table, seen = ScoreTable(MODELS, BENCHMARKS, SCORES, errors=errors), list[Activity | None]()
    with watch(seen.append):
        contest_report(table, eliminate=(0, 1), options={"iterations": 70_000})
    steps = [one for one in seen if one is not None]
    said = [str(step.description) for step in steps]
    assert said == ["playing contests", "playing with the scores of other items"]
    assert all(step.done == step.total for step in steps)
    assert (steps[0].total or 0) > 3


def placed(*overlapping: int) -> Any:
    """Eight models in pairs far apart, but for pairs whose ranks overlap with the next pair's."""
    wins = np.array([9.0, 8.9, 7.0, 6.9, 5.0, 4.9, 3.0, 2.9])
    upper = np.array([2, 2, 4, 4, 6, 6, 8, 8])
    for pair in overlapping:
        upper[2 * pair] += 1
    return SimpleNamespace(
        expected_wins=wins, rank_lower=np.array([1, 1, 3, 3, 5, 5, 7, 7]), rank_upper=upper
    )


@pytest.mark.parametrize("overlapping", [0, 1, 2])
def test_tiers_are_only_where_every_break_is_beyond_the_simulations_error(overlapping: int) -> None:
    assert contests._tiers(placed(), None).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]  # type: ignore[union-attr]
    assert contests._tiers(placed(overlapping), None) is None
    # Who asks for tiers gets them.
    assert contests._tiers(placed(overlapping), 2) is not None


# --- A contest within one benchmark: tiers of items are its rounds.


FOUR = ("ada", "ben", "cleo", "dan")
FEW: CsdOptions = {"iterations": 20_000}
# Success rates 1, 1, ¾, ¾, ½, ¼: three of four bands, the hardest holds ½ … no item is all wrong.
ANSWERS = np.array(
    [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 1], [0, 1, 0, 0.0]]
)


def contest(answers: FloatArray = ANSWERS, tiers: int = 4, **arguments: object) -> ContestReport:
    items = ItemScores("gsm8k", FOUR, answers, ("a remark",))
    return tier_report(items, tiers, **{"options": FEW} | arguments)  # type: ignore[arg-type]


def said(report: ContestReport) -> str:
    return " ".join(show(sheets_of(report)).split())


@pytest.mark.parametrize("eliminate", [0, 1])
def test_against_all_contests_of_the_tiers(eliminate: int) -> None:
    found = contest(eliminate=(eliminate,))
    assert found.rounds == (("0.75–1",), ("0.5–0.75",), ("0.25–0.5",), ("0–0.25",))
    # By hand: the mean score of each model in the tiers, from easy to hard.
    tiers = np.array([[1, 1, 1, 0], [1, 1, 0, 1], [1, 1, 0, 0], [1, 0, 1, 0]])
    truth = [float(v) for v in exact.expected_wins(win_rates(tiers).tolist(), (eliminate,) * 4)]
    assert np.all(
        np.abs(found.result.expected_wins - truth) < 4.5 * found.result.standard_error + 1e-6
    )


def test_what_is_said_of_the_tiers() -> None:
    found = contest()
    text = said(found)
    for words in (
        "4 models · gsm8k in 4 tiers of difficulty · T = 0",
        "0.75–1 → 0.5–0.75 → 0.25–0.5 → 0–0.25 Order: from easy to hard",
        "0.75–1 2 1.000–1.000 0.5–0.75 2 0.000–1.000",
        "each model's own moves an item by 1/4 of the scale",
        "a coin toss, on: 0.75–1",
    ):
        assert words in text
    data = round_trip(data_of(found))
    assert (data["benchmark"], data["order_from"]) == ("gsm8k", "difficulty")
    assert [row["n_items"] for row in data["difficulty"]] == [2, 2, 1, 1]
    assert (data["empty_tiers"], data["notes"][0]) == ([], "a remark")
    drawing = wins_figure(found)
    assert drawing is not None
    assert drawing.title.startswith("CSD, gsm8k in 4 tiers of difficulty")


def test_tiers_without_an_item_are_named() -> None:
    found = contest(tiers=10)
    assert "Without an item, so no round: 0.8–0.9, 0.6–0.7, 0.5–0.6" in said(found)
    assert data_of(found)["empty_tiers"][0] == "0.8–0.9"
    assert found.rounds[1] == ("0.7–0.8",)


def test_a_saturated_benchmark_is_warned_of() -> None:
    assert contest().warnings == ()
    many = np.concatenate([ANSWERS, np.ones((8, 4))])
    [warning] = contest(many).warnings
    assert warning == Reason("crowded_tier", n=10, of=14, tier="0.75–1", n_rounds=3, rest=4)
    one = contest(np.ones((5, 4)))
    assert one.warnings == ()
    assert "One round: the order is that of the scores" in said(one)
    assert "All models tie" in said(one)


def test_scores_beyond_success_rates_are_refused() -> None:
    with pytest.raises(RankingError, match="between 0 and 1"):
        contest(ANSWERS * 3)


# --- Tables of true scores: in worlds of known truth, and what they must not depend on.


RNG = np.random.default_rng(8)


@pytest.mark.slow
def test_posterior_is_calibrated() -> None:
    """The true scores look like one more draw, in benchmarks of any scale and noise."""
    held, spreads = [], []
    spread = np.array([0.02, 5.0, 0.1, 0.004])
    for seed in range(60):
        rng = np.random.default_rng((1, seed))
        common = rng.normal(size=(10, 1))
        truth = spread * (0.6 * common + 0.8 * rng.normal(size=(10, 4)))
        errors = spread * [0.5, 1.0, 2.0, 0.1] * rng.uniform(0.7, 1.3, size=(10, 4))
        drawn = drawn_scores(truth + errors * rng.normal(size=(10, 4)), errors, seed=seed)
        # The mean of a benchmark is no matter of ranks.
        drawn, truth = drawn - drawn.mean(axis=1, keepdims=True), truth - truth.mean(axis=0)
        lower, upper = np.quantile(drawn, [0.05, 0.95], axis=0)
        held.append((lower <= truth) & (truth <= upper))
        spreads.append(drawn.var(axis=(0, 1)) / spread**2)
    shares = np.mean(held, axis=(0, 1))
    assert np.all((shares > 0.8) & (shares < 0.97)), shares
    # Noise on top of noise would give 1.5, 3, 9 and 1.02.
    assert np.all(np.mean(spreads, axis=0) < [1.3, 1.6, 2.5, 1.3])


def test_scales_do_not_matter_and_holes_stay() -> None:
    scores = RNG.normal(size=(7, 3))
    scores[2, 1] = np.nan
    errors, units = np.full((7, 3), 0.5), np.array([1.0, 100.0, 0.01])
    one = drawn_scores(scores, errors, draws=50, seed=3)
    other = drawn_scores(scores * units, errors * units, draws=50, seed=3)
    np.testing.assert_allclose(other, one * units, rtol=1e-6)
    np.testing.assert_array_equal(np.isnan(one), np.broadcast_to(np.isnan(scores), one.shape))
    # Exact scores stay as they are.
    exact = RNG.integers(0, 3, size=(6, 4)).astype(float)
    drawn = drawn_scores(exact, np.zeros_like(exact), draws=20)
    np.testing.assert_allclose(drawn, np.broadcast_to(exact, drawn.shape), atol=1e-13)


def test_bad_errors() -> None:
    for bad in (-1.0, np.inf, np.nan):
        errors = np.full((3, 2), 0.1)
        errors[1, 1] = bad
        with pytest.raises(RankingError, match="finite and 0 or more"):
            drawn_scores(np.eye(3)[:, :2], errors)
    with pytest.raises(RankingError, match="shape"):
        drawn_scores(np.eye(3), errors)


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "items"), [(0.01, 50), (0.04, 400)])
def test_intervals_hold_the_truth(spread: float, items: int) -> None:
    held, joint = [], []
    for seed in range(25):
        rng = np.random.default_rng((2, seed, items))
        truth = 0.7 + spread * (rng.normal(size=(8, 1)) + rng.normal(size=(8, 10)))
        errors = np.full(truth.shape, np.sqrt(0.21 / items))
        scores = truth + errors * rng.normal(size=truth.shape)
        found = item_intervals(drawn_scores(scores, errors, seed=seed), seed=seed)
        wins = csd(truth, iterations=2000).expected_wins
        held.append(np.mean((found.lower <= wins) & (wins <= found.upper)))
        place = 1 + np.sum(wins[None] > wins[:, None] + 0.03, axis=1)
        joint.append(np.all((found.rank_lower <= place) & (place <= found.rank_upper)))
    assert 0.87 < np.mean(held) < 0.99
    assert np.mean(joint) > 0.8


@pytest.mark.parametrize("far", [1.0, 40.0])
def test_what_benchmarks_share_is_found_however_large_its_likelihood(far: float) -> None:
    """Of 400 models what sets them apart is the same on all benchmarks, or another on each."""
    rng = np.random.default_rng(3)
    same = far * np.repeat(rng.standard_normal((400, 1)), 4, axis=1)
    other = far * rng.standard_normal((400, 4))
    noise, signal = np.full(4, 1e-4 * far**2), np.full((50, 4), far**2)
    for apart, bounds in ((same, (0.9, 1.0)), (other, (0.0, 0.1))):
        found = contests._shared(apart, np.ones(apart.shape, bool), noise, signal, rng)
        assert found.shape == (50,)
        assert bounds[0] <= found.min() <= found.max() <= bounds[1]
