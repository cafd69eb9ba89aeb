"""Kept ballots: what is read back, and what is damaged or of a newer Tiebreak."""

import json
from typing import Any

import pytest

from tests.cases import cases
from tests.data_classes import can_be_changed, data_classes
from tests.ranking_logs.builders import item, match
from tiebreak import scorers
from tiebreak.scorers.ballots import (
    VERSION,
    PointScore,
    Refinement,
    ballots_text,
    newer_version,
    restore_ballots,
)
from tiebreak.scorers.ranking import score_ballots

BALLOTS = item("q", [match("a", "b", 0.5)])


def stored(**parts: Any) -> str:
    return json.dumps({**BALLOTS.model_dump(mode="json"), **parts})


def test_what_is_kept_has_a_version() -> None:
    assert json.loads(ballots_text(BALLOTS))["version"] == VERSION
    assert restore_ballots(ballots_text(BALLOTS)) == restore_ballots(stored()) == BALLOTS


def test_a_text_without_what_is_as_its_default() -> None:
    kept = json.loads(ballots_text(BALLOTS))
    assert kept["matches"][0]["margin"] == 0.5
    assert not {"calls", "skipped", "placed_by"} & kept.keys()
    assert len(ballots_text(BALLOTS)) < 0.6 * len(stored())
    undecided = BALLOTS.model_copy(update={"complete": False, "stratified": True, "version": 3})
    assert restore_ballots(ballots_text(undecided)) == undecided


def test_constants_of_a_new_item_are_kept() -> None:
    new = Refinement(round=1, slot=0, item_id="C5", description="It adds.")
    kept = new.model_dump(mode="json")
    assert (kept.pop("scoring"), kept.pop("source")) == ("five_level", "adversarial")
    assert restore_ballots(stored(refinements=[kept])).refinements == (new,)


def test_unknown_fields_are_ignored() -> None:
    one = {**json.loads(stored())["matches"][0], "mood": "good"}
    assert restore_ballots(stored(weather="fine", matches=[one])) == BALLOTS


def test_a_newer_version_is_named() -> None:
    newer = stored(version=VERSION + 1, placed_by="lottery")
    assert newer_version(newer) == VERSION + 1
    with pytest.raises(ValueError, match="newer Tiebreak") as caught:
        restore_ballots(newer)
    assert str(caught.value) == (
        f"its ballots were written by a newer Tiebreak (ballots version {VERSION + 1}; this one "
        f"reads {VERSION}): upgrade"
    )
    score = score_ballots(newer, ["a", "b"])
    assert score.reason == "no_ballots"
    assert "written by a newer Tiebreak" in (score.explanation or "")


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (None, "its sample holds no ballots"),
        (stored(matches=[{"round": "x"}]), r"its ballots cannot be read \(matches\.0\."),
        (stored(placed_by="lottery"), r"its ballots cannot be read \(placed_by: "),
        (stored(version="x"), r"its ballots cannot be read \(version: "),
        ([], r"its ballots cannot be read \(JSON input should be"),
        ({"version": 4}, r"its ballots cannot be read \(JSON input should be"),
        (stored()[:-9], r"its ballots cannot be read \(Invalid JSON: EOF"),
        ("", r"its ballots cannot be read \(Invalid JSON: EOF"),
        ("[]", r"its ballots cannot be read \(Input should be an object"),
    ],
)
def test_what_is_wrong_with_damaged_ballots(damaged: object, message: str) -> None:
    assert newer_version(damaged) is None
    with pytest.raises(ValueError, match=message):
        restore_ballots(damaged)


def test_of_several_mistakes_the_first_is_named() -> None:
    damaged = stored(seed="x", matches=[{"round": "y"}], complete="perhaps")
    with pytest.raises(ValueError, match=r"^its ballots cannot be read \(seed: Input should be"):
        restore_ballots(damaged)


def points(judge: str, score: float | None) -> PointScore:
    why = None if score is not None else f"{judge} is silent"
    return PointScore(candidate="a", judge=judge, score=score, unscored=why)


@pytest.mark.parametrize(
    ("scores", "quorum", "mean", "unscored"),
    cases(__file__, "jury"),
)
def test_points_of_a_jury(
    scores: tuple[float | None, ...], quorum: int, mean: float | None, unscored: str | None
) -> None:
    parts = [points(f"j{number}", score) for number, score in enumerate(scores)]
    found = PointScore.of_jury(parts, quorum)
    assert found == PointScore(candidate="a", score=mean, unscored=unscored, parts=tuple(parts))
    assert PointScore.of_jury(parts[:1], quorum) == parts[0]


# What judging keeps cannot be changed: what was recorded stays as it was recorded.


def test_what_is_kept_cannot_be_changed() -> None:
    found = data_classes(scorers)
    assert len(found) > 40
    changing = {name for name, one in found.items() if can_be_changed(one)}
    # What is at work, and two schemas of replies in the form of Inspect's own.
    assert changing == {"budget.Spent", "session.Meeting", "replies.ListSchema", "replies._Schema"}


def test_what_a_log_holds_by_the_million_takes_little_memory() -> None:
    slotted = {name for name, one in data_classes(scorers).items() if "__slots__" in vars(one)}
    assert {f"ballots.{name}" for name in ("Call", "Vote", "Verdict", "Match")} <= slotted
