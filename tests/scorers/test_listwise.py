"""One call that ranks all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scorers.judges import NotingJudge, contest_of, judged, ladder, names
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.questions import ListQuestion


@settings(deadline=None, max_examples=50)
@given(st.permutations(range(6)), st.integers(0, 9))
def test_labels_are_turned_back_into_names(order: list[int], seed: int) -> None:
    quality = {name: float(level) for name, level in zip(names(6), order, strict=True)}
    judge = NotingJudge(quality)
    ballots = judged("listwise", planted_contest(quality, seed=seed), judge)
    best_first = sorted(quality, key=lambda name: -quality[name])
    assert place(ballots).order == tuple((name,) for name in best_first)
    [question] = judge.asked
    assert isinstance(question, ListQuestion)
    assert list(question.labelled) == [f"R{i}" for i in range(1, 7)]
    assert sorted(question.labelled.values()) == names(6)


def test_labels_differ_from_item_to_item() -> None:
    seen = set()
    for item in range(20):
        judge = NotingJudge(ladder(4))
        judged("listwise", contest_of(4, item_id=str(item)), judge)
        [question] = judge.asked
        assert isinstance(question, ListQuestion)
        seen.add(tuple(question.labelled.values()))
    assert len(seen) > 10  # of 24


def test_responses_that_share_a_place_are_tied() -> None:
    class Tying(NotingJudge):
        def _says(self, question):  # type: ignore[no-untyped-def]
            place = {"m00": 2, "m01": 5, "m02": 2, "m03": 1, "m04": 5}
            return {"places": {label: place[name] for label, name in question.labelled.items()}}

    ballots = judged("listwise", contest_of(5), Tying(ladder(5)))
    # Only the order of the numbers counts: 1, then 2 twice, then 5 twice.
    assert place(ballots).order == (("m03",), ("m00", "m02"), ("m01", "m04"))
    assert place(ballots).ranks == {"m03": 1, "m00": 2.5, "m02": 2.5, "m01": 4.5, "m04": 4.5}


def test_an_unscored_call_is_repeated_once_and_then_no_ranking() -> None:
    judge = NotingJudge(ladder(3), silent=lambda question: True)
    ballots = judged("listwise", contest_of(3), judge)
    assert [(c.attempt, c.repair, c.depth) for c in ballots.calls] == [
        (0, False, 0),
        (0, True, 1),
        (1, False, 2),
        (1, True, 3),
    ]
    with pytest.raises(NotPlacedError, match=r"ranking call gave no usable reply \(silent\)"):
        place(ballots)
