"""The judges of a jury, one by one: agreement by brute force, what is said of each, and turns."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.claims.juries import judged
from benchmarks.claims.worlds import FAIR, planted_item, position_bound, ranking_log
from tiebreak.analysis.judge.figures import judge_figures, jurors_of
from tiebreak.analysis.leaderboard import board_of
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason
from tiebreak.report.sheets.leaderboard import board_sheet, data_of
from tiebreak.scorers.ballots import ItemBallots, PointScore, Verdict
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import settle

HOW = Resampling(draws=50)
BOUND = position_bound(0.9)
PAIRWISE = {"protocol": "full_pairwise", "placed_by": "win_rate"}


def log_of(*traits: object, n_items: int = 20) -> list[ItemBallots]:
    rng = np.random.default_rng(5)
    return judged(rng, traits, 0.0, n_items, "sample")  # type: ignore[arg-type]


def test_agreement_is_that_of_pairs_counted_one_by_one() -> None:
    items = log_of(FAIR, FAIR, BOUND)
    same = total = 0
    for match in (match for item in items for match in item.matches):
        margins: dict[str, list[float]] = {"a": [], "b": [], "c": []}
        for v in match.verdicts:
            assert v.margin is not None
            margins[v.judge].append(v.margin if v.first == match.high else -v.margin)
        a, b, c = (np.sign(sum(own)) for own in margins.values())
        if c and a + b:
            same, total = same + (c * (a + b) > 0), total + 1
    found = jurors_of(items, how=HOW)
    assert [one.name for one in found] == ["a", "b", "c"]
    assert found[2].agreement.value == pytest.approx(same / total)
    assert found[0].agreement.lower < found[0].agreement.value < found[0].agreement.upper
    alone = judge_figures(log_of(FAIR), how=HOW)
    assert jurors_of(log_of(FAIR), how=HOW)[0].figures.corrected(1).position.n == alone.position.n


def test_a_coin_that_is_always_sure_counts_no_more_than_others() -> None:
    """a and b agree in nine matches of ten; c, at full confidence, is right in every second one."""
    played = []
    for slot in range(40):
        margins = {"a": 0.2, "b": 0.2 if slot % 10 else -0.2, "c": 1.0 if slot % 2 else -1.0}
        verdicts = [Verdict(first="m1", judge=j, margin=margin) for j, margin in margins.items()]
        played.append(settle(Pairing(1, slot, "m1", "m2"), verdicts))
    a, b, c = jurors_of([planted_item(0, ("m1", "m2"), matches=tuple(played), **PAIRWISE)], how=HOW)
    # Where b and c agree, a agrees with both, but in the four of which b is wrong, and c with it.
    assert a.agreement.value == pytest.approx(20 / 24)
    assert b.agreement.value == 1.0
    assert c.agreement.value == pytest.approx(20 / 36)


def test_the_board_says_who_is_doubtful() -> None:
    board = board_of(ranking_log(log_of(FAIR, FAIR, BOUND)), how=HOW)
    said = str(board.trust.sentence)
    assert board.trust.state == "doubtful"
    assert said.startswith("The jury is doubtful on this board: together, the answer shown first")
    assert "; a, b fine; c: the answer shown first won " in said
    assert str(board.warnings[0]).startswith(said)
    assert "--model-role 'judge=[" in str(board.warnings[0])
    tables = [section.table for section in board_sheet(board).sections if section.table]
    [shown] = [table for table in tables if table.caption == "The jury"]
    [data] = data_of([board])["leaderboards"]
    assert [row[0].text for row in shown.rows] == [one["name"] for one in data["jury"]]
    assert {"value", "lower", "upper"} <= data["jury"][0]["agreement"].keys()

    fair = board_of(ranking_log(log_of(FAIR, FAIR, FAIR)), how=HOW)
    assert (fair.trust.state, fair.warnings) == ("fine", ())
    assert str(fair.trust.sentence) == "The jury on this board: a, b, c fine."
    few = board_of(ranking_log(log_of(FAIR, FAIR, n_items=3)), how=HOW)
    assert few.trust.state == "unknown"
    assert "a, b: too few verdicts (" in str(few.trust.sentence)


def test_judges_that_take_turns_have_no_others_beside_them() -> None:
    items: list[ItemBallots] = []
    for item in log_of(FAIR, FAIR):
        matches = [
            replace(m, verdicts=tuple(v for v in m.verdicts if v.judge == "ab"[slot % 2]))
            for slot, m in enumerate(item.matches)
        ]
        if not items:
            # One that fails is replaced: it is named, with nothing usable.
            gone = Verdict(first=matches[0].high, judge="c", unscored="error: no provider")
            matches[0] = replace(matches[0], discarded=(gone,))
        items.append(item.model_copy(update={"matches": tuple(matches)}))
    a, b, c = jurors_of(items, how=HOW)
    assert a.agreement.reason == b.agreement.reason == Reason("no_match_of_others")
    assert math.isnan(a.agreement_p)
    both = judge_figures(items, how=HOW)
    assert a.figures.position.n + b.figures.position.n == both.position.n
    assert c.figures.position.n == 0
    [reply] = c.figures.replies
    assert (reply.model, reply.n_questions, reply.n_unscored) == ("c", 1, 1)
    board = board_of(ranking_log(items), how=HOW)
    assert "c: no usable reply to 1 of 1 question" in str(board.trust.sentence)


def test_grades_agree_where_they_put_two_answers_in_the_same_order_by_hand() -> None:
    # Signs of the pairs 01, 02, 12: a − − −, b 0 − −, c + + −.
    given = {"a": (0.1, 0.5, 0.9), "b": (0.2, 0.2, 0.8), "c": (0.9, 0.5, 0.7)}

    def agreements(given: Mapping[str, tuple[float, ...]]) -> list[float]:
        scores = []
        for n in range(3):
            grades = [
                PointScore(candidate=f"m{n}", judge=judge, score=own[n])
                for judge, own in given.items()
            ]
            scores.append(PointScore.of_jury(grades, 2))
        [item] = log_of(FAIR, n_items=1)
        graded = item.model_copy(update={"matches": (), "scores": tuple(scores)})
        return [juror.agreement.value for juror in jurors_of([graded], how=HOW)]

    # a: c against it, b and c split, both with it. b: even, a and c split, both with it.
    assert agreements(given) == pytest.approx([1 / 2, 1, 1 / 3])
    given["c"] = (0.9, 0.5, 0.3)  # whatever b says, a and c are split
    assert agreements(given) == pytest.approx([0, math.nan, 0], nan_ok=True)
