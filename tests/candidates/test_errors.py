import pickle

import pytest

from tiebreak.candidates import CandidateError, HolesError, LogStatusError, UnreadableLogError
from tiebreak.candidates.errors import MAX_LISTED, STAGES, raise_problems


def test_the_earliest_stage_names_the_error_and_all_problems_are_listed() -> None:
    problems = [
        HolesError.problem("gsm8k", "item 'q1' has no answer by b"),
        LogStatusError.problem("b.eval", "status is 'error'"),
        UnreadableLogError.problem("a.eval", "cannot be read"),
    ]
    with pytest.raises(UnreadableLogError) as caught:
        raise_problems(problems)
    message = str(caught.value)
    assert "3 problems" in message
    for words in ("a.eval: cannot be read", "b.eval: status", "gsm8k: item 'q1'", "eval-retry"):
        assert words in message
    assert [note.kind for note in caught.value.notes] == ["unreadable_log", "log_status", "hole"]


def test_a_long_list_is_cut_in_the_message_only() -> None:
    problems = [HolesError.problem("gsm8k", f"item {i}") for i in range(MAX_LISTED + 5)]
    with pytest.raises(HolesError, match="and 5 more") as caught:
        raise_problems(problems)
    assert len(caught.value.notes) == MAX_LISTED + 5


def test_no_problem_no_error() -> None:
    raise_problems([])


def test_errors_survive_pickling() -> None:
    error = HolesError.of("gsm8k", "item 'q1'")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is HolesError
    assert str(copy) == str(error)


def test_every_kind_of_error_has_its_own_stage_kind_and_hint() -> None:
    assert set(STAGES) == set(CandidateError.__subclasses__())
    assert len({error.kind for error in STAGES}) == len(STAGES)
    assert all(error.hint for error in STAGES)
