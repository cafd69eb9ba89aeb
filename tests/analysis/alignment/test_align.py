"""Alignment with people, against pandas, SciPy and numbers worked out by hand."""

import math
from dataclasses import asdict, astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from tests.analysis.alignment.panels import NAN, noisy, panel, people
from tests.analysis.peers.builders import read_panels, reviews
from tests.cases import cases
from tests.ranking_logs.builders import listed, write_log
from tests.tables.builders import write
from tiebreak.analysis.alignment import (
    BenchmarkAlignment,
    Correlation,
    Rater,
    _methods,
    align,
    align_panels,
    consensus_method,
    match_names,
)
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.peers.review import peer_report
from tiebreak.rankers import AGGREGATORS, Resampling, aggregate_items, bootstrap_items
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.reason import Reason
from tiebreak.tables import TableError, read_human_ranking
from tiebreak.tables.human import HumanRanking

FloatArray = NDArray[np.float64]


def one(
    of: Panel, human: HumanRanking, *, draws: int = 20, methods: tuple[str, ...] = ("borda",)
) -> BenchmarkAlignment:
    [found] = align_panels([of], human, methods=methods, how=Resampling(draws=draws)).benchmarks
    return found


def rater(found: BenchmarkAlignment, name: str) -> Rater:
    [it] = [each for each in found.raters if each.name == name]
    return it


def gaps(table: FloatArray, seed: int) -> FloatArray:
    """The same ballots, some of them tied, partial or missing."""
    rng = np.random.default_rng(seed)
    table = np.ceil(table / rng.choice([1, 2, 9], p=[0.6, 0.3, 0.1], size=(*table.shape[:2], 1)))
    table[rng.random(table.shape) < 0.2] = NAN
    table[rng.random(table.shape[:2]) < 0.1] = NAN
    return table


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_item_by_item_as_scipy_and_pandas_do(seed: int) -> None:
    table = gaps(noisy(8, 4, 6, seed=seed), seed)
    human = (
        people("cabfed")
        if seed % 2
        else HumanRanking("h", {"": dict(zip("abcde", [1, 2, 2, 4, 9], strict=False))})
    )
    columns = [k for k, model in enumerate("abcdef") if model in human.of("")]
    said = np.array([human.of("")["abcdef"[k]] for k in columns])
    found = one(panel(table), human, methods=tuple(AGGREGATORS))
    sources = {name: table[:, k] for k, name in enumerate("abcd")}
    sources |= {method: aggregate_items(table, method) for method in AGGREGATORS}
    for name, ranks in sources.items():
        them = rater(found, name)
        expected: list[list[float]] = [[], []]
        for row in ranks[:, columns]:
            both = ~np.isnan(row)
            x, y = stats.rankdata(row[both]), stats.rankdata(said[both])
            defined = both.sum() > 1 and len(set(x)) > 1 and len(set(y)) > 1
            expected[0].append(stats.pearsonr(x, y).statistic if defined else NAN)
            expected[1].append(stats.kendalltau(x, y).statistic if defined else NAN)
        for figure, values in zip((them.pearson, them.kendall), expected, strict=True):
            np.testing.assert_allclose(figure.values, values, atol=1e-12)
            check_summary(figure, pd.Series(values))


def check_summary(figure: Correlation, values: "pd.Series[float]") -> None:
    described = values.describe()
    assert (figure.n_rows, figure.n_undefined) == (values.count(), values.isna().sum())
    ours = (
        *(figure.n_rows, figure.mean.value, figure.sd, figure.minimum),
        *(figure.lower_quartile, figure.median, figure.upper_quartile, figure.maximum),
    )
    np.testing.assert_allclose(ours, described.to_numpy(), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_over_all_items_as_scipy_does(seed: int) -> None:
    table = noisy(30, 3, 5, seed=seed, apart=0.2)
    found = one(panel(table), people("badce"), methods=("kemeny_young", "average"))
    sources = {name: table[:, k] for k, name in enumerate("abc")}
    sources |= {m: aggregate_items(table, m) for m in ("kemeny_young", "average")}
    said = [2, 1, 4, 3, 5]
    for name, ranks in sources.items():
        means, them = ranks.mean(axis=0), rater(found, name)
        assert them.pearson.macro.value == pytest.approx(stats.pearsonr(means, said).statistic)
        assert them.kendall.macro.value == pytest.approx(stats.kendalltau(means, said).statistic)


def test_partial_ballots_over_all_items() -> None:
    table = gaps(noisy(40, 2, 6, seed=1), 1)
    frame = pd.DataFrame(table[:, 0])
    ranks = frame.rank(axis=1)
    n = ranks.count(axis=1)
    means = (ranks.mul(7 / (n + 1), axis=0))[n > 1].mean().to_numpy()
    a = rater(one(panel(table), people()), "a")
    assert a.pearson.macro.value == pytest.approx(stats.pearsonr(means, range(6)).statistic)


def test_intervals_of_means_are_those_of_the_bootstrap() -> None:
    table = gaps(noisy(30, 3, 5, seed=4), 4)
    [found] = align_panels(
        [panel(table)], people(), methods=["irv"], how=Resampling(level=0.9, draws=300, seed=7)
    ).benchmarks
    values = np.stack([each.kendall.values for each in found.raters if each.kind != "native"], 1)
    expected = bootstrap_items(values, how=Resampling(level=0.9, draws=300, seed=7))
    means = [each.kendall.mean for each in found.raters if each.kind != "native"]
    # The draws are the same where the items are kept one by one.
    np.testing.assert_allclose([each.value for each in means], expected.mean)
    np.testing.assert_allclose([each.lower for each in means], expected.lower, atol=0.05)
    np.testing.assert_allclose([each.upper for each in means], expected.upper, atol=0.05)


@pytest.mark.slow
def test_macro_intervals_by_brute_force() -> None:
    table = noisy(12, 2, 5, seed=5, apart=0.3)
    found = rater(one(panel(table), people(), draws=1000), "b").pearson.macro
    rng = np.random.default_rng(8)
    said = np.arange(5)
    means = [table[rng.integers(12, size=12), 1].mean(axis=0) for _ in range(2000)]
    drawn = [np.corrcoef(row, said)[0, 1] for row in means]
    lower, upper = np.quantile(drawn, [0.025, 0.975])
    # At least as wide as the percentile interval, which is too narrow.
    assert found.lower < lower + 0.02
    assert found.upper > upper - 0.02
    assert found.upper - found.lower < 2 * (upper - lower)


@pytest.mark.slow
def test_the_macro_interval_holds_full_agreement_behind_noise() -> None:
    hit = 0
    for seed in range(40):
        a = rater(one(panel(noisy(60, 1, 6, seed=seed, apart=0.25)), people(), draws=200), "a")
        hit += a.kendall.macro.lower <= 1 <= a.kendall.macro.upper
    # As a binomial of 40 with 95%: 34 or more in 99.7% of all cases.
    assert hit >= 34


def test_epochs_are_one_item() -> None:
    table = noisy(15, 3, 5, seed=6)
    twice = panel(np.repeat(table, 2, axis=0), items=[k for k in range(15) for _ in "12"])
    once, both = one(panel(table), people()), one(twice, people())
    assert (once.n_items, both.n_items, len(both.item_ids)) == (15, 15, 30)
    for first, second in zip(once.raters, both.raters, strict=True):
        assert second.pearson.n_rows == 2 * first.pearson.n_rows
        for x, y in (
            (first.pearson.mean, second.pearson.mean),
            (first.pearson.macro, second.pearson.macro),
        ):
            np.testing.assert_allclose([x.value, x.lower, x.upper], [y.value, y.lower, y.upper])
            assert x.n_items == y.n_items


def test_one_item_has_no_interval() -> None:
    a = rater(one(panel([[[1, 2, 3]]]), people()), "a")
    assert math.isnan(a.pearson.sd)
    for figure in (a.pearson.mean, a.pearson.macro):
        assert figure.value == pytest.approx(1)
        assert np.isnan([figure.lower, figure.upper]).all()
        assert figure.reason == Reason("one_item")


def test_the_native_score() -> None:
    # Row 1 ranks a before b and c, who are level, against a, c, b; row 2 ties a and b, row 3 all.
    native = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    it = rater(one(panel(noisy(3, 1, 3, seed=0), native=native), people("acb")), "native score")
    # 1, 2.5, 2.5 with 1, 3, 2; 1.5, 1.5, 3 with the same.
    np.testing.assert_allclose(it.pearson.values, [1.5 / math.sqrt(3), 0, NAN], atol=1e-12)
    assert (it.kind, it.pearson.n_undefined) == ("native", 1)
    # Over all items scores keep their distances: means 0.9, 0.8, 0.1 are no ranks.
    apart = np.tile([0.9, 0.8, 0.1], (4, 1))
    it = rater(one(panel(noisy(4, 1, 3, seed=0), native=apart), people("abc")), "native score")
    expected = stats.pearsonr([-0.9, -0.8, -0.1], [1, 2, 3]).statistic
    assert it.pearson.macro.value == pytest.approx(expected)
    assert it.pearson.mean.value == pytest.approx(1)


def test_no_native_score() -> None:
    found = one(panel(noisy(3, 1, 3, seed=0), native=np.full((3, 3), NAN)), people())
    assert "native" not in {each.kind for each in found.raters}
    assert Reason("no_native_scores") in found.notes
    tied = rater(one(panel(noisy(3, 1, 3, seed=0)), people()), "native score")
    assert math.isnan(tied.pearson.macro.value)
    assert tied.pearson.macro.reason == Reason("rater_ties_all")
    assert tied.pearson.mean.reason == Reason("rater_ties_each_item")


def test_models_that_people_did_not_rank_are_taken_out() -> None:
    # With c between them a rater of a, b, d still agrees fully.
    found = one(panel([[[1, 2, 3, 4]], [[1, 2, 3, 4]]]), people("abdz"))
    assert (found.models, found.human_ranks, found.n_candidates) == (("a", "b", "d"), (1, 2, 3), 4)
    assert rater(found, "a").pearson.macro.value == pytest.approx(1)
    assert found.notes[:2] == (
        Reason("unranked_by_people", models=["c"]),
        Reason("no_candidates", models=["z"]),
    )
    # Aggregators count whole ballots: only then is a model taken out.
    table = noisy(20, 3, 4, seed=2)
    whole = aggregate_items(table, "copeland")[:, [0, 1, 3]]
    expected = [stats.spearmanr(row, [1, 2, 3]).statistic for row in whole]
    copeland = rater(one(panel(table), people("abdz"), methods=("copeland",)), "copeland")
    np.testing.assert_allclose(copeland.pearson.values, expected, atol=1e-12)


def test_scores_count_by_their_order() -> None:
    by_score = HumanRanking("h", {"": {"a": -1400.0, "b": -1399.0, "c": -7.0, "d": 3.0}})
    table = panel(noisy(10, 2, 4, seed=0))
    for x, y in zip(one(table, people()).raters, one(table, by_score).raters, strict=True):
        np.testing.assert_equal(astuple(x.pearson.macro), astuple(y.pearson.macro))
        np.testing.assert_array_equal(x.kendall.values, y.kendall.values)


def test_a_benchmark_without_people_is_left_out() -> None:
    rows = [[[1, 2, 3]], [[1, 2, 3]]]
    panels = [panel(rows, benchmark=name) for name in ("gsm8k", "law", "mmlu", "bfcl", "mbpp")]
    human = people("", gsm8k="abc", law="cba", mmlu="ab", mbpp="xyz", ifeval="abc")
    found = align_panels(panels, human, methods=["borda"], how=Resampling(draws=10))
    # Each has its own people.
    macros = {each.benchmark: rater(each, "a").pearson.macro.value for each in found.benchmarks}
    assert macros == pytest.approx({"gsm8k": 1, "law": -1})
    mmlu, bfcl, mbpp, unused = found.notes
    assert "mmlu: arena.csv ranks 2 candidates out of 3" in str(mmlu)
    assert "The candidates are a, b, c; the file has no model for this" in str(bfcl)
    assert "the file has x, y, z for this" in str(mbpp)
    assert unused == Reason("no_board", benchmarks=["ifeval"], source="arena.csv")


def test_nothing_to_compare() -> None:
    tied = HumanRanking("h", {"": dict.fromkeys("abc", 1.0)})
    three = panel([[[1, 2, 3]]])
    fits_two = panel([[[1, 2, 3]]], models=["x/m", "y/m", "a"])
    could_be = "'m' in the human ranking could be 'x/m' or 'y/m'"
    for panels, human, words in (
        ([three], people("ab"), "ranks 2 candidates"),
        ([three], tied, "ties all 3 candidates"),
        ([], people(), "no board"),
        ([fits_two], people("m", gsm8k=""), could_be),
    ):
        with pytest.raises(AnalysisError, match=words):
            align_panels(panels, human)


def test_raters_that_say_nothing() -> None:
    table = noisy(6, 3, 4, seed=0)
    table[:, 1] = NAN
    # Whoever is shown two of four answers gives no complete ballot.
    table[:, 0, 2:] = table[:, 2, :2] = NAN
    found = one(panel(table, degree=2), people("abcd"), methods=("kendall", "kemeny_young"))
    views = [
        (note["view"], *note["models"])
        for note in found.notes
        if isinstance(note, Reason) and note.kind == "no_view_of"
    ]
    assert views == [*(("SR", "b"), ("SR", "d"), ("PR", *"ac"), ("SIA", *"abcd"), ("SFA", *"abcd"))]
    assert [*map(str, found.notes[-2:])] == [
        "b has no usable review",
        "kendall finds no ballot that it can read",
    ]
    for name in ("b", "kendall"):
        figure = rater(found, name).kendall
        assert (figure.n_rows, figure.n_undefined) == (0, 6)
        numbers = (figure.mean.value, figure.sd, figure.minimum, figure.median, figure.macro.value)
        assert all(map(math.isnan, numbers))
    assert rater(found, "kemeny_young").kendall.n_rows == 6


def test_identical_answers_throughout() -> None:
    native = [[1, 0, 0], [1, 1, 0]]
    for methods in (None, ["borda"]):
        nobody = panel(np.empty((2, 0, 3)), native=native)
        [found] = align_panels(
            [nobody], people("abc"), methods=methods, how=Resampling(draws=10)
        ).benchmarks
        assert [each.name for each in found.raters] == ["native score"]
        assert Reason("no_reviewer_called") in found.notes


def test_an_aggregator_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(ranks: FloatArray, method: str) -> FloatArray:
        if method == "dodgson":
            raise UnprovenOrderError("no order in time")
        return aggregate_items(ranks, method)

    monkeypatch.setattr("tiebreak.analysis.alignment.aggregate_items", fails)
    found = one(panel(noisy(4, 3, 5, seed=0)), people(), methods=("dodgson", "borda"))
    assert [each.name for each in found.raters if each.kind == "aggregator"] == ["borda"]
    assert Reason("no_result", name="dodgson", error="no order in time") in found.notes


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(3, 6))
def test_turned_round_people_turn_the_signs(seed: int, n_items: int, n: int) -> None:
    table = gaps(noisy(n_items, 2, n, seed=seed), seed)
    names = "abcdef"[:n]
    both = [one(panel(table), people(order), draws=5) for order in (names, names[::-1])]
    for x, y in zip(both[0].raters, both[1].raters, strict=True):
        np.testing.assert_allclose(x.pearson.values, -y.pearson.values, atol=1e-12)
        np.testing.assert_allclose(x.kendall.macro.value, -y.kendall.macro.value, atol=1e-12)
        defined = x.kendall.values[~np.isnan(x.kendall.values)]
        assert np.all(np.abs(defined) <= 1 + 1e-12)


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.permutations(range(5)))
def test_names_do_not_matter(seed: int, order: list[int]) -> None:
    """The same ballots with the models in another order give the same numbers."""
    table = gaps(noisy(4, 3, 5, seed=seed), seed)
    plain = one(panel(table), people("abcde"), draws=5)
    moved = "".join("abcde"[order.index(k)] for k in range(5))
    turned = replace(panel(table[:, :, order]), own=tuple(order.index(k) for k in range(3)))
    other = one(turned, people(moved), draws=5)
    for x, y in zip(plain.raters, other.raters, strict=True):
        np.testing.assert_allclose(x.pearson.values, y.pearson.values, atol=1e-12)
        np.testing.assert_allclose(x.pearson.macro.value, y.pearson.macro.value, atol=1e-12)


# --- Alignment from files: ranking logs or their report, and a CSV file by people.


HOW = Resampling(level=0.9, draws=50, seed=2)


@pytest.mark.slow
def test_files_and_what_is_read_of_them_say_the_same(tmp_path: Path) -> None:
    panel = [reviews(f"q{k}", {"a": "abcd", "b": "badc", "x": "dcba"}) for k in range(3)]
    log = write_log(tmp_path / "peers.eval", panel)
    human = write(tmp_path / "arena.csv", "model,rank\na,1\nb,2\nc,3\nd,4\n")
    people = read_human_ranking(human)
    expected = align_panels(read_panels([log]), people, methods=["borda"], how=HOW)
    found = [
        align([str(log)], str(human), methods=["borda"], how=HOW),
        align([tmp_path], people, methods=["borda"], how=HOW),
        align(peer_report([log], how=HOW), human, methods=["borda"], how=HOW),
    ]
    for one in found:
        np.testing.assert_equal(asdict(one), asdict(expected))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    log = write_log(tmp_path / "seal.eval", [listed("q1", None)])
    human = write(tmp_path / "arena.csv", "model,rank\na,1\nb,2\nc,3\n")
    with pytest.raises(TableError, match="does not exist"):
        align([log], tmp_path / "nothing.csv")
    with pytest.raises(AnalysisError, match="no item could be ranked"):
        align([log], human)


# --- Which aggregators are asked where nobody names one.


def of_size(n_items: int, n: int) -> Any:
    return panel(np.tile(np.arange(1.0, n + 1), (n_items, 1, 1)), models="abcdefghijkl")


@pytest.mark.parametrize(("n_items", "n"), [(60, 10), (166, 6)])
def test_dodgson_where_it_is_quick(n_items: int, n: int) -> None:
    assert _methods(of_size(n_items, n), None) == (sorted(AGGREGATORS), [])


@pytest.mark.parametrize(("n_items", "n"), [(61, 10), (167, 6)])
def test_without_dodgson_where_it_is_slow(n_items: int, n: int) -> None:
    assert _methods(of_size(n_items, n), None) == (
        [name for name in sorted(AGGREGATORS) if name != "dodgson"],
        [Reason("slow_dodgson", n_items=n_items, n_models=n)],
    )
    assert _methods(of_size(n_items, n), ["dodgson"]) == (["dodgson"], [])


def test_the_first_method_makes_the_views() -> None:
    methods: list[list[str] | None] = [None, [], ["borda", "average"]]
    assert [consensus_method(one) for one in methods] == ["kemeny_young", "kemeny_young", "borda"]


# --- Who is who: names in a human ranking and names of candidates.


MATCHES = cases(__file__, "names")


@pytest.mark.parametrize(("names", "models", "found"), MATCHES.values(), ids=MATCHES)
def test_matches(names: list[str], models: list[str], found: dict[str, str]) -> None:
    assert match_names(names, models) == found
    # The other way round the same pairs fit.
    assert match_names(models, names) == {name: model for model, name in found.items()}


def test_a_name_that_fits_two_models() -> None:
    with pytest.raises(AnalysisError, match="'gpt-5' in the human ranking could be 'a/gpt-5'"):
        match_names(["gpt-5"], ["a/gpt-5", "b/gpt-5"])


def test_a_model_that_fits_two_names() -> None:
    with pytest.raises(AnalysisError, match="'a/gpt-5' and 'b/gpt-5' could both be 'gpt-5'"):
        match_names(["a/gpt-5", "b/gpt-5"], ["gpt-5"])


PATHS = st.lists(st.sampled_from(["x", "y", "m"]), min_size=1, max_size=2).map("/".join)


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(PATHS, unique=True), st.lists(PATHS, unique=True))
def test_by_definition(names: list[str], models: list[str]) -> None:
    try:
        found = match_names(names, models)
    except AnalysisError:
        return
    assert len(set(found.values())) == len(found)
    for model in models:
        if model in names:
            assert found[model] == model
        elif model in found:
            short, long = sorted((model, found[model]), key=len)
            assert long.split("/")[1:] == [short]
