import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.claims.worlds import FAIR, judged, near_ties
from tests.analysis.peers.builders import identical, reviews
from tests.analysis.stars import starred
from tests.cases import cases
from tests.ranking_logs.builders import (
    all_pairs,
    bracket,
    by_native,
    call,
    graded,
    item,
    listed,
    match,
    sample,
    write_log,
    write_shards,
)
from tiebreak.analysis.leaderboard import (
    Leaderboard,
    first_by_rule,
    leaderboards,
)
from tiebreak.analysis.stars import star_report
from tiebreak.candidates import PROTOCOL_KEY
from tiebreak.candidates.settings import Different, Settings, different
from tiebreak.cli.verbs import main
from tiebreak.rankers import Resampling
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots


def board(folder: Path, *items: ItemBallots) -> Leaderboard:
    [only] = leaderboards([write_log(folder / "r.eval", items)], how=Resampling(draws=200))
    return only


@pytest.mark.slow
def test_a_leaderboard_by_hand(tmp_path: Path) -> None:
    # Borda (3 - rank) / 2. q1: a 1, b .5, c 0. q2: a 1, c .5, b 0. q3: b 1, a .5, c 0.
    result = board(
        tmp_path,
        bracket("q1", "a", "b", "c", native={"a": 1.0, "b": 1.0, "c": 0.0}),
        bracket("q2", "a", "c", "b", native={"a": 1.0, "b": 0.0, "c": None}),
        bracket("q3", "b", "a", "c", native={"a": 0.0, "b": 1.0, "c": None}),
    )
    assert (result.benchmark, result.protocol, result.n_items) == ("gsm8k", "seal", 3)
    # Champion twice (one match each), then second: a beats c by 0.4 and loses to b by 0.2.
    assert [
        (row.rank, row.model, row.native_n, row.wins, row.losses, row.ties) for row in result.rows
    ] == [(1, "a", 3, 3, 1, 0), (2, "b", 3, 2, 2, 0), (3, "c", 1, 1, 3, 0)]
    assert [row.borda for row in result.rows] == pytest.approx([2.5 / 3, 1.5 / 3, 0.5 / 3])
    assert [row.native for row in result.rows] == pytest.approx([2 / 3, 2 / 3, 0])
    # a: q1 0.2, q2 0.2, q3 (0.4 - 0.2) / 2 = 0.1, so 0.5 / 3. c: q1 -0.4, q2 0.1, q3 -0.4.
    assert [row.margin for row in result.rows[::2]] == pytest.approx([0.5 / 3, -0.7 / 3])
    # Gaps of Borda 1/3, 1/3, 2/3; of native 0, 2/3, 2/3.
    assert (result.spread, result.native_spread) == pytest.approx((4 / 9, 4 / 9))
    assert result.resolution_gain == pytest.approx(1)
    assert all(row.lower <= row.borda <= row.upper for row in result.rows)
    assert sum(row.first_share for row in result.rows) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(("second", "rank_of_b"), [(-0.2, 2), (-0.6, 1)])
def test_equal_scores_go_by_margin_and_then_share_the_rank(
    tmp_path: Path, second: float, rank_of_b: int
) -> None:
    """Each model is once first and once last, so both have ½."""
    groups = (("a",), ("b",))
    items = [item(f"q{m}", [match("a", "b", m)], groups=groups) for m in (0.6, second)]
    result = board(tmp_path, *items)
    assert [(row.rank, row.model, row.borda) for row in result.rows] == [
        (1, "a", 0.5),
        (rank_of_b, "b", 0.5),
    ]


def test_ties_and_unscored_matches_are_told_apart(tmp_path: Path) -> None:
    # a: beats d, tie with b (a goes on). c: its match with b has no verdict.
    matches = [match("a", "d", 0.3), match("b", "c", None), match("a", "b", 0.0, round=2)]
    result = board(tmp_path, item("q1", matches, groups=(("a",), ("b",), ("c",), ("d",))))
    counts = {row.model: (row.wins, row.losses, row.ties, row.unscored_rate) for row in result.rows}
    assert counts == {
        "a": (1, 0, 1, 0.0),
        "b": (0, 0, 1, 0.5),
        "c": (0, 0, 0, 1.0),
        "d": (0, 1, 0, 0.0),
    }
    assert any("1 of 3 matches (33%)" in text for text in map(str, result.warnings))


def test_identical_answers_share_rank_and_matches(tmp_path: Path) -> None:
    # {a, b} beat c: ranks 1.5, 1.5, 3, so Borda (3 - 1.5) / 2 = 0.75 and 0.
    result = board(tmp_path, item("q1", [match("a", "c", 0.4)], groups=(("a", "b"), ("c",))))
    rows = [(row.model, row.rank, row.borda, row.wins, row.margin) for row in result.rows]
    assert rows == [("a", 1, 0.75, 1, 0.4), ("b", 1, 0.75, 1, 0.4), ("c", 3, 0.0, 0, -0.4)]


def test_all_answers_identical_costs_nothing_and_decides_nothing(tmp_path: Path) -> None:
    result = board(tmp_path, *(item(f"q{n}", groups=(("a", "b"),)) for n in range(2)))
    assert {
        (row.rank, row.borda, row.wins, row.losses, row.ties) for row in result.rows
    } == {(1, 0.5, 0, 0, 0)}  # fmt: skip
    row = result.rows[0]
    assert (result.receipt.n_items_without_call, result.judges) == (2, ())
    assert all(map(math.isnan, (row.unscored_rate, row.margin, result.judge.position.rate.value)))


def test_one_item_gives_no_interval_and_says_so(tmp_path: Path) -> None:
    """Epochs of an item are one cluster."""
    samples = [
        sample(bracket("q1", "a", "b", "c")).model_copy(update={"epoch": epoch})
        for epoch in (1, 2, 3)
    ]
    for kept in (samples[:1], samples):
        [result] = leaderboards([write_log(tmp_path / f"{len(kept)}.eval", kept)])
        row = result.rows[0]
        assert math.isnan(row.lower)
        assert (row.rank, row.rank_lower, row.rank_upper) == (1, None, None)
        assert (result.n_items, len(result.notes)) == (len(kept), 1)
        assert Reason("one_item_no_intervals") in result.notes


def test_native_scores_ask_nobody(tmp_path: Path) -> None:
    same = by_native("q2", {"a": 1.0, "b": 1.0, "c": 1.0}, groups=(("a", "b", "c"),))
    result = board(tmp_path, by_native("q1", {"a": 1.0, "b": 0.0, "c": None}), same)
    assert {row.model: row.borda for row in result.rows} == {"a": 0.75, "b": 0.25, "c": 0.5}
    assert (result.receipt.n_items_without_call, result.judges, result.warnings) == (0, (), ())


def test_points_by_hand(tmp_path: Path) -> None:
    # q1: a > b > c. q2: c has no points, so a and b alone are ranked: b 1, a 0. q3: one answer
    # with points is no ranking, but its points count.
    points = [(0.9, 0.5, 0.1), (0.2, 0.4, None), (0.4, None, None)]
    asked = [call("score")] * 3
    items = [
        graded(f"q{k}", dict(zip("abc", row, strict=True)), calls=asked)
        for k, row in enumerate(points)
    ]
    result = board(tmp_path, *items)
    assert (result.placed_by, result.n_items, result.views) == ("grades", 2, ())
    rows = {row.model: (row.borda, row.points, row.unscored_rate) for row in result.rows}
    assert rows["a"] == pytest.approx((0.5, 0.5, 0))
    assert rows["b"] == pytest.approx((0.75, 0.45, 1 / 3))
    assert rows["c"] == pytest.approx((0.0, 0.1, 2 / 3))
    assert "3 of 9 answers (33%) have no points" in str(result.warnings[0])
    assert (result.judge.replies[0].n_questions, result.judge.replies[0].n_unscored) == (9, 3)


def test_a_list_without_a_reply_ranks_nothing(tmp_path: Path) -> None:
    asked = {"calls": [call("list"), call("seed", model="s/other")]}
    items = listed("q1", [["b"], ["a", "c"]], **asked), listed("q2", None, **asked)
    result = board(tmp_path, *items)
    assert (result.placed_by, result.n_items, result.judges) == ("listing", 1, ("j/judge",))
    assert {row.model: row.borda for row in result.rows} == {"b": 1.0, "a": 0.25, "c": 0.25}
    assert np.isnan([result.rows[0].points, result.rows[0].unscored_rate]).all()
    assert "1 of 2 ranking calls (50%)" in str(result.warnings[0])


def test_a_peer_review_in_which_nobody_was_asked(tmp_path: Path) -> None:
    result = board(tmp_path, *(identical(f"q{n}", "abc") for n in range(2)))
    assert {row.borda for row in result.rows} == {0.5}
    assert not any("presentation" in warning for warning in map(str, result.warnings))


def test_reviewers_that_go_by_place_are_all_named(tmp_path: Path) -> None:
    """b as it was shown the answers, c against it, a by their worth: the quick way to see it."""
    items = []
    for n in range(12):
        drawn = ["".join(Random(f"{n}{name}").sample("abc", 3)) for name in "bc"]
        # c once not quite against it.
        turned = drawn[1][::-1] if n else drawn[1][1] + drawn[1][2] + drawn[1][0]
        ballots = {"a": "abc", "b": drawn[0], "c": turned}
        items.append(reviews(f"q{n}", ballots, shown={"b": drawn[0], "c": drawn[1]}))
    found = board(tmp_path, *items)
    said = ["b ranks in the order of presentation", "c ranks against the order shown"]
    assert list(map(str, found.trust.reasons)) == said
    assert tuple(warning["fault"] for warning in found.warnings[:2]) == found.trust.reasons


# --- Whom other rules put first, against boards placed by these rules.


HOW = Resampling(draws=100)
OTHERS = {"elimination_tied", "least_squares"}


def placed(item_id: str, order: str) -> ItemBallots:
    """A bracket of four that the paper's rule places so: the fourth lost more clearly."""
    first, second, third, fourth = tuple(order)
    played = [
        match(first, fourth, 0.5),
        match(second, third, 0.1),
        match(first, second, 0.2, round=2),
    ]
    return item(item_id, played, groups=[(name,) for name in "abcd"])


# In thirds of an item: a has 3 + 3 + 1 + 1 = 8, b has 2 + 2 + 3 + 0 = 7. With third and fourth
# tied (half a third each) a has 3 + 3 + ½ + ½ = 7, b has 2 + 2 + 3 + ½ = 7½.
SWAPPED = [placed(f"q{n}", order) for n, order in enumerate(("abcd", "abcd", "bdac", "dcab"))]


def test_another_first_model_by_hand(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", SWAPPED)
    [board] = leaderboards(log, how=HOW)
    assert {row.model: row.borda * 12 for row in board.rows[:2]} == pytest.approx({"a": 8, "b": 7})
    # Least squares puts who lost to the champion above who lost to the second: b has 2 + 2 + 3 + 1.
    assert board.first_by_rule == {"elimination_tied": ("b",), "least_squares": ("b",)}
    said = "Placed by elimination_tied or least_squares, b is first "
    assert said in str(board.verdict.sentence)
    shown = CliRunner().invoke(main, ["rank", str(log), "--draws", "100"]).output
    assert said in f"{' '.join(shown.split())} "
    [found] = leaderboards(log, how=HOW, rule="elimination_tied")
    twelfths = {row.model: row.borda * 12 for row in found.rows[:2]}
    assert twelfths == pytest.approx({"b": 7.5, "a": 7})
    assert "Placed by elimination, a is first" in str(found.verdict.sentence)


def test_nothing_is_said_where_the_rules_agree_or_there_is_no_bracket(tmp_path: Path) -> None:
    agreed = write_log(tmp_path / "agreed.eval", [placed(f"q{n}", "abcd") for n in range(4)])
    [board] = leaderboards(agreed, how=HOW)
    assert board.first_by_rule == dict.fromkeys(OTHERS, ("a",))
    assert "Placed by" not in str(board.verdict.sentence)
    for items in ([all_pairs("q", "abc")], [graded("q", {"a": 1, "b": 0})], []):
        assert first_by_rule(items) == {}


def test_items_that_a_rule_cannot_rank_are_left_out() -> None:
    silent = item("q9", groups=[["a"], ["b"], ["c", "d"]])
    assert first_by_rule([silent]) == {}
    assert first_by_rule([*SWAPPED, silent])["least_squares"] == ("b",)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_it_is_the_first_of_the_board_by_that_rule(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    items = judged(rng, near_ties(n), 15, FAIR, swap="sample", ties=0.3)
    log = write_log(tmp_path / "log.eval", items)
    [board] = leaderboards(log, how=HOW)
    assert set(board.first_by_rule) >= OTHERS
    for rule, leads in board.first_by_rule.items():
        [other] = leaderboards(log, how=HOW, rule=rule)
        assert leads == tuple(row.model for row in other.rows if row.rank == 1)
        says = any(f"{by} {rule}" in str(board.verdict.sentence) for by in ("Placed by", "or"))
        assert says == (board.rows[0].model not in leads)
        # A board by another rule looks back at the one that its ballots name.
        assert "elimination" in other.first_by_rule
        assert rule not in other.first_by_rule


# --- Settings in which models were asked differently, from ranking logs to boards.


INSPECT = {"harness": "inspect", "solver": "generate()", "temperature": "0.0"}
KNOWN = cases(__file__, "settings")


@pytest.mark.parametrize(("known", "differ"), KNOWN.values(), ids=KNOWN)
def test_settings_that_differ(known: Settings, differ: Different) -> None:
    assert different(known) == differ


TWO = {"a": INSPECT, "b": INSPECT, "c": INSPECT | {"temperature": "1.0"}}
DIFFER = {"temperature": {"0.0": ["a", "b"], "1.0": ["c"]}}


def said(settings: Any) -> dict[str, Any]:
    return {PROTOCOL_KEY: "seal", "candidate_settings": settings}


def test_a_board_has_those_of_its_benchmark(tmp_path: Path) -> None:
    items = [bracket("q1", "a", "b", "c", benchmark=name) for name in ("gsm8k", "mmlu", "law")]
    metadata = said({"gsm8k": TWO, "mmlu": {"a": INSPECT, "b": INSPECT, "c": INSPECT}})
    boards = leaderboards([write_log(tmp_path / "r.eval", items, metadata=metadata)])
    found = {board.benchmark: board.settings_differ for board in boards}
    assert found == {"gsm8k": DIFFER, "mmlu": {}, "law": {}}


@pytest.mark.parametrize(
    "settings",
    [None, [], "x", {"gsm8k": []}, {"gsm8k": {"a": "x"}}, {"gsm8k": {"a": {"x": {}}, "b": {}}}],
)
def test_a_log_that_says_it_otherwise_says_nothing(tmp_path: Path, settings: Any) -> None:
    path = write_log(tmp_path / "r.eval", [bracket("q1", "a", "b", "c")], metadata=said(settings))
    [board] = leaderboards([path])
    assert (board.settings_differ, board.n_items) == ({}, 1)


def test_shards_have_those_of_their_run(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log, write_eval_log

    for path in write_shards(tmp_path, [[bracket(f"q{n}", "a", "b", "c")] for n in range(2)]):
        log = read_eval_log(str(path))
        log.eval.metadata = {**(log.eval.metadata or {}), "candidate_settings": {"gsm8k": TWO}}
        write_eval_log(log, str(path))
    [board] = leaderboards([tmp_path])
    assert (board.settings_differ, board.n_items) == (DIFFER, 2)


def test_a_star_board_has_those_of_all_its_logs(tmp_path: Path) -> None:
    for name, models in {"1": "ab", "2": "bc"}.items():
        settings = {model: TWO[model] for model in models}
        items = [starred(f"q{k}", dict.fromkeys(models, k % 4), benchmark="fair") for k in range(3)]
        write_log(
            tmp_path / f"{name}.eval",
            items,
            metadata={PROTOCOL_KEY: "stars", "candidate_settings": {"fair": settings}},
            task_id=name,
        )
    [board] = star_report([tmp_path]).boards
    assert board.settings_differ == DIFFER
