import pickle
import re

import pytest

from tiebreak.candidates import CandidateError, Note
from tiebreak.candidates.errors import MAX_LISTED, hints, raise_problems


def test_a_long_list_is_cut_in_the_message_only() -> None:
    problems = [Note("hole", "gsm8k", f"item {i}") for i in range(MAX_LISTED + 5)]
    with pytest.raises(CandidateError, match="and 5 more") as caught:
        raise_problems(problems)
    assert len(caught.value.notes) == MAX_LISTED + 5
    assert caught.value.kind == "hole"


def test_errors_survive_pickling() -> None:
    error = CandidateError.of("hole", "gsm8k", "item 'q1'")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is CandidateError
    assert str(copy) == str(error)
    assert copy.kind == "hole"


def test_hints_are_those_of_the_problems_and_not_of_their_context() -> None:
    problem, context = Note("rename", "rename", "x"), Note("hole", "gsm8k", "y")
    error = CandidateError([problem], [context])
    assert error.hints == (hints()["rename"],)
    assert error.notes == (problem, context)


def test_options_are_those_that_the_message_names() -> None:
    """In hints, and in notes on what was chosen."""
    for kind, hint in hints().items():
        error = CandidateError.of(kind, "a.eval", "what is wrong")
        assert set(error.options) == set(re.findall(r"--(?:metric|filter|rename|name)\b", hint))
        assert "{" not in str(error)
    settings = CandidateError.of("settings_differ", "a.eval", "what is wrong")
    assert "Leave out -T same_settings" in settings.message({"same_settings": "-T same_settings"})
    metric, filters = Note("native_choice", "a", "'x'"), Note("filter_choice", "a", "'y'")
    problem = Note("hole", "gsm8k", "item 'q1'")
    assert CandidateError([problem], [metric, filters]).options == ["--filter", "--metric"]
    assert CandidateError([problem], [Note("native_choice", "a", "no native scores")]).options == []
