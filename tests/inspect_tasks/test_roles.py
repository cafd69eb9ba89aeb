"""Which reviewer is which candidate, and who judges."""

import sys
from collections.abc import Sequence
from contextvars import Context
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.model import get_model

from tests.cases import cases
from tiebreak.inspect_tasks.roles import Roles, judges, match_reviewers, peers, require_roles
from tiebreak.prerequisite import PrerequisiteError, show_message_only

CANDIDATES = ("gpt-5", "anthropic/claude", "lab/o3")


@pytest.mark.parametrize(
    ("models", "given_", "candidates"),
    cases(__file__, "match"),
)
def test_match(models: list[str], given_: Any, candidates: list[str | None]) -> None:
    found = match_reviewers(models, CANDIDATES, given_)
    assert [one.model for one in found] == models
    assert [one.candidate for one in found] == candidates
    assert [one.name for one in found if one.candidate] == [c for c in candidates if c]
    assert len({one.name for one in found}) == len(models)


def test_an_exact_name_is_not_ambiguous() -> None:
    candidates = ("gpt-5", "openai/gpt-5", "azure/openai/gpt-5")
    [found] = match_reviewers(["openai/gpt-5"], candidates)
    assert found.candidate == "openai/gpt-5"


def test_a_candidate_whose_name_is_a_number() -> None:
    """YAML makes a number of it on the command line."""
    given_: Any = [2026]
    [found] = match_reviewers(["a/x"], ("2026", "2027"), given_)
    assert found.candidate == "2026"
    given_ = {"a/x": 2027}
    [found] = match_reviewers(["a/x"], ("2026", "2027"), given_)
    assert found.candidate == "2027"


def test_reviewers_that_are_no_candidates_are_called_by_their_models() -> None:
    found = match_reviewers(["a/x", "b/y", "a/x", "a/x"], CANDIDATES)
    assert [one.name for one in found] == ["a/x", "b/y", "a/x (2)", "a/x (3)"]
    assert {one.candidate for one in found} == {None}


def test_a_name_belongs_to_the_candidate_first() -> None:
    """Two models, one of them called like the candidate that the other one is."""
    found = match_reviewers(["gpt-5", "a/x"], CANDIDATES, [None, "gpt-5"])
    assert [(one.name, one.candidate) for one in found] == [("gpt-5 (2)", None), ("gpt-5", "gpt-5")]


@pytest.mark.parametrize(
    ("models", "given_", "words"),
    cases(__file__, "no_match"),
)
def test_no_match(models: list[str], given_: Any, words: list[str]) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        match_reviewers(models, CANDIDATES, given_)
    for word in words:
        assert word in str(caught.value.message)


def test_ambiguous_names() -> None:
    candidates = ("a/gpt-5", "b/gpt-5")
    with pytest.raises(PrerequisiteError) as caught:
        match_reviewers(["gpt-5"], candidates)
    assert "gpt-5 could be a/gpt-5 or b/gpt-5" in str(caught.value.message)
    assert "-T reviewers=" in str(caught.value.message)
    # What it says helps.
    for given_ in ({"gpt-5": "b/gpt-5"}, ["b/gpt-5"]):
        [found] = match_reviewers(["gpt-5"], candidates, given_)
        assert found.candidate == "b/gpt-5"


NAMES = st.sampled_from(["a", "b", "c", "x/a", "y/a", "x/b", "x/y/c"])


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(NAMES, min_size=1, max_size=5), st.lists(NAMES, min_size=1, max_size=5, unique=True)
)
def test_matching_by_name(models: list[str], candidates: list[str]) -> None:
    """By a second method: names fit where the shorter one's parts are the last of the longer's."""

    def fit(one: str, other: str) -> bool:
        shorter, longer = sorted((one.split("/"), other.split("/")), key=len)
        return longer[len(longer) - len(shorter) :] == shorter

    options = [[m] if m in candidates else [c for c in candidates if fit(m, c)] for m in models]
    known = [o[0] for o in options if o]
    if any(len(o) > 1 for o in options) or len(set(known)) < len(known):
        with pytest.raises(PrerequisiteError, match="-T reviewers="):
            match_reviewers(models, candidates)
        return
    found = match_reviewers(models, candidates)
    assert [one.candidate for one in found] == [o[0] if o else None for o in options]
    assert len({one.name for one in found}) == len(models)


def test_outside_of_an_eval_there_are_no_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INSPECT_EVAL_MODEL", raising=False)
    # An eval in this process leaves its model behind in its context: this one is new.
    outside = Context()
    for find in (peers(), judges):
        with pytest.raises(ValueError, match="No model"):
            outside.run(find, CANDIDATES)
        # A task that is built in Python gets its roles later.
        outside.run(require_roles, find, CANDIDATES, priced=True)


@pytest.mark.parametrize(
    ("name", "shows"),
    cases(__file__, "shown_names"),
)
def test_a_judge_whose_name_inspect_cannot_show_is_refused(name: str, shows: bool) -> None:
    """Its displays would fail at it when the first calls are paid for."""

    def find(candidates: Sequence[str]) -> Roles:
        return Roles({"judge": get_model(name)})

    if shows:
        assert require_roles(find, CANDIDATES, priced=False) is not None
        return
    with pytest.raises(PrerequisiteError, match="serve the model under another name"):
        require_roles(find, CANDIDATES, priced=False)


def test_an_error_that_nobody_catches_is_said_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    others: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: others.append(error))
    said = "No [/] such 'peers=[a, b]':\nx\x1b[31m"
    with pytest.raises(PrerequisiteError) as caught, show_message_only():
        raise PrerequisiteError(said)
    assert str(caught.value) == said
    assert capsys.readouterr() == ("", "")
    sys.excepthook(PrerequisiteError, caught.value, None)
    assert capsys.readouterr() == ("", "\nNo [/] such 'peers=[a, b]':\nx\\x1b[31m\n\n")
    another = PrerequisiteError("of another task")
    sys.excepthook(PrerequisiteError, another, None)
    assert others == [another]
