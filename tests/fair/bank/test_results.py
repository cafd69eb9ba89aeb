"""Results of sessions: from the right log alone, and nothing about single questions."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from tests.cases import cases
from tests.fair.bank.builders import run
from tests.fair.bank.judged import answered_session, judged_log
from tiebreak.analysis.stars import star_report
from tiebreak.fair.bank import results
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.results import LEAST, SubjectResult, publishable, result_of
from tiebreak.fair.bank.sessions import TokenHolder
from tiebreak.report.json import json_ready

OWNER = TokenHolder("lab", "u", "t")


@pytest.mark.slow
def test_results_are_those_of_the_star_board(bank: Engine, tmp_path: Path) -> None:
    session = answered_session(bank, "a", 60)
    log = judged_log(bank, session, tmp_path / "a.eval", lambda k: None if k == 7 else k % 4)
    found = result_of(bank, session, log)
    [board] = star_report(log).boards
    [row] = board.rows
    assert (found.score, found.lower, found.upper) == (row.value, row.lower, row.upper)
    assert (found.n_items, found.n_unscored, found.model, found.benchmark) == (60, 1, "m", "fair")
    assert found.constant_score == board.constant_score
    scores = dict(zip(board.subjects, row.subjects, strict=True))
    assert found.subjects
    for one in found.subjects:
        assert (one.score, one.lower) == (scores[one.subject].value, scores[one.subject].lower)
        assert one.n_items >= LEAST
    assert sum(one.n_items for one in found.subjects) in {59, *range(60 - LEAST)}


@pytest.mark.slow
def test_a_log_of_other_sessions_beside_is_passed_over(bank: Engine, tmp_path: Path) -> None:
    one, other = answered_session(bank, "a"), answered_session(bank, "b", 20, model="n")
    judged_log(bank, one, tmp_path / "logs" / "a.eval", lambda k: 3)
    judged_log(bank, other, tmp_path / "logs" / "b.eval", lambda k: 0)
    assert result_of(bank, one, tmp_path / "logs").score == 100
    assert result_of(bank, other, tmp_path / "logs").score == 0


@pytest.mark.slow
@pytest.mark.parametrize(("change", "says"), cases(__file__, "another log is refused"))
def test_another_log_is_refused(
    bank: Engine, tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    session = answered_session(bank, "a")
    log = judged_log(bank, session, tmp_path / "a.eval", **change)
    with pytest.raises(BankError, match=says):
        result_of(bank, session, log)


@pytest.mark.slow
def test_a_session_that_is_open_has_no_results(bank: Engine, tmp_path: Path) -> None:
    session = answered_session(bank, "a", state="open")
    log = judged_log(bank, session, tmp_path / "a.eval")
    with pytest.raises(BankError, match="once it is complete or closed"):
        result_of(bank, session, log)
    with pytest.raises(BankError, match="no such session"):
        result_of(bank, "0" * 32, log)


@pytest.mark.slow
def test_one_verdict_counts_for_all_who_answered_the_same(bank: Engine, tmp_path: Path) -> None:
    session = answered_session(bank, "a")
    log = judged_log(bank, session, tmp_path / "a.eval", lambda k: k % 3, leader="another")
    found = result_of(bank, session, log)
    assert (found.model, found.n_items) == ("m", 40)
    assert found.score == pytest.approx(100 * sum(k % 3 for k in range(40)) / 120)


@given(st.lists(st.integers(1, 12), max_size=6))
def test_no_subject_tells_about_few_answers(sizes: list[int]) -> None:
    subjects = [SubjectResult(str(k), 5.0, None, None, n) for k, n in enumerate(sizes)]
    shown = publishable(subjects)
    assert all(one.n_items >= LEAST for one in shown)
    hidden = sum(sizes) - sum(one.n_items for one in shown)
    # What is left out is nothing, all, or too much to be told from the rest.
    assert hidden == 0 or hidden >= LEAST or not shown
    assert [one for one in subjects if one in shown] == list(shown)


@pytest.mark.slow
def test_release_hold_and_withdraw(bank: Engine, tmp_path: Path) -> None:
    session = answered_session(bank, "a")
    log = str(judged_log(bank, session, tmp_path / "a.eval"))
    assert "no results of this session yet" in run(tmp_path, "release", session).output
    held = run(tmp_path, "release", session, "--log", log, "--hold")
    assert "m scores 50.00 of 100 (95% interval" in held.output
    assert "Sciences       5.20        3.7–6.7        25" in held.output
    with pytest.raises(BankError, match="not released"):
        results.released(bank, session, OWNER)
    assert "are released" in run(tmp_path, "release", session).output
    seen = results.released(bank, session, OWNER)
    assert json.loads(json.dumps(seen)) == seen == json_ready(result_of(bank, session, log))
    assert set(seen) == {
        *("session", "benchmark", "model", "score", "lower", "upper", "level"),
        *("n_items", "n_unscored", "constant_score", "subjects", "judges"),
    }
    assert "are withdrawn" in run(tmp_path, "release", session, "--withdraw").output
    with pytest.raises(BankError, match="not released"):
        results.released(bank, session, OWNER)
    data = json.loads(run(tmp_path, "release", session, "--log", log, "--json").output)
    assert data == {"format": "tiebreak/bank-results", "version": 1, **seen}
    assert results.released(bank, session, OWNER) == seen
    wrong = run(tmp_path, "release", session, "--log", log, "--withdraw")
    assert wrong.exit_code == 2
