"""What an earlier log says: means, shares and repairs, by hand."""

from typing import Any

import pytest

from tests.scorers.tournament import planted_contest
from tiebreak.scorers.ballots import Call, ItemBallots, Match, Verdict
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.experience import experience_of
from tiebreak.study.estimate.totals import Range


def item(**parts: Any) -> ItemBallots:
    empty = planted_contest({"a": 1, "b": 2}).ballots("seal", "elimination")
    return empty.model_copy(update=parts)


def call(tokens_in: int, tokens_out: int, kind: str = "match", **more: Any) -> Call:
    given = {"kind": kind, "role": "judge", "model": "j", **more}
    return Call(input_tokens=tokens_in, output_tokens=tokens_out, **given)


def match(*margins: tuple[float, float] | None) -> Match:
    verdicts = tuple(
        Verdict(first="a", margin=pair[0], checklist_margin=pair[1])
        if pair
        else Verdict(first="a", unscored="no")
        for pair in margins
    )
    return Match(
        round=1, slot=0, high="a", low="b", verdicts=verdicts, winner="a", decided_by="tie"
    )


def test_tokens_of_a_question() -> None:
    known = experience_of([item(calls=(call(100, 10),)), item(calls=(call(300, 10),))])
    # Mean 200; sd √((100² + 100²) / 1) = 141.4, standard error 100: ± 2 · 100.
    tokens_in, tokens_out = known.tokens["match"]
    assert tokens_in == pytest.approx(Range(0, 200, 400))
    assert tokens_out == pytest.approx(Range(10, 10, 10))
    assert (known.models, known.n_calls, known.repairs) == (("j",), 2, 0)


def test_calls_of_an_item_are_alike() -> None:
    """Four calls of two items tell no more than one of each."""
    known = experience_of([item(calls=[call(n, 10)] * 4) for n in (100, 300)])
    assert known.tokens["match"][0] == pytest.approx(Range(0, 200, 400))
    matches = [[match((margin, 0.0))] * 4 for margin in (0.5, 0.1)]
    known = experience_of([item(calls=(call(1, 1),), matches=own) for own in matches])
    assert known.close is not None
    assert (known.close.low, known.close.high) == (0, 1)


def test_repairs_belong_to_their_question() -> None:
    calls = (call(100, 10), call(150, 10, repair=True), call(100, 10, attempt=1), call(50, 10))
    known = experience_of([item(calls=calls)])
    # 400 tokens and four calls for two questions.
    assert known.tokens["match"][0].likely == pytest.approx(200)
    assert known.tokens["match"][1].likely == pytest.approx(20)
    assert known.repairs == 1


def test_a_kind_that_was_asked_once_says_too_little() -> None:
    calls = (call(1, 1), call(1, 1), call(9, 9, "seed"))
    assert set(experience_of([item(calls=calls)]).tokens) == {"match"}


def test_reviewers_are_told_apart_by_model() -> None:
    """And from the judge, whose ranking calls are of the same kind."""
    asked = {"role": "peers", "kind": "list"}
    calls = (
        *(call(n, 1, model="x", reviewer="a", **asked) for n in (10, 30)),
        call(40, 5, model="x", reviewer="a", repair=True, **asked),
        *(call(n, 7, model="x", reviewer="a (2)", **asked) for n in (50, 70)),
        *(call(1000, 9, model="y", reviewer="y", **asked) for _ in range(2)),
        call(1, 1, model="once", reviewer="once", **asked),
        *(call(5, 3, "list") for _ in range(2)),
    )
    known = experience_of([item(calls=calls)])
    assert known.tokens.keys() == {"list"}
    assert known.tokens["list"][0] == (5, 5, 5)
    # Four questions to x took (10 + 30 + 40 + 50 + 70) / 4 tokens in, (1 + 1 + 5 + 7 + 7) / 4 out.
    assert known.reviews.keys() == {"x", "y"}
    assert [tokens.likely for tokens in known.reviews["x"]] == pytest.approx([50, 21 / 4])
    assert known.reviews["y"] == ((1000, 1000, 1000), (9, 9, 9))


def test_close_and_even_verdicts() -> None:
    clear, close, even, decided = (0.25, 0.0), (-0.249, 0.0), (0.0, 0.0), (0.0, 0.1)
    matches = (match(clear, close), match(even), match(decided, None))
    known = experience_of([item(calls=(call(1, 1),), matches=matches)])
    assert known.close is not None
    assert known.tie is not None
    # 3 of 4 verdicts: (3 + 2) / 8 ± 2 · √(5/8 · 3/8 / 8), which goes beyond 1 and not below 0.28.
    half = 2 * (5 / 8 * 3 / 8 / 8) ** 0.5
    assert known.close == pytest.approx(Range(5 / 8 - half, 3 / 4, min(1, 5 / 8 + half)))
    assert known.tie.likely == 1 / 4


def test_nothing_to_learn() -> None:
    with pytest.raises(EstimateError, match="It holds no call"):
        experience_of([item()])
    known = experience_of([item(calls=(call(1, 1, "list"),))])
    assert (known.close, known.tie) == (None, None)
