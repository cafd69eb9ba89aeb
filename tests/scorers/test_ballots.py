"""Kept ballots: what an older and a newer Tiebreak wrote."""

from typing import Any

import pytest

from tests.ranking_logs.builders import item, match
from tiebreak.scorers.ballots import (
    VERSION,
    ItemBallots,
    Refinement,
    newer_version,
    restore_ballots,
)
from tiebreak.scorers.ranking import score_ballots

BALLOTS = item("q", [match("a", "b", 0.5)])


def stored(**parts: Any) -> dict[str, Any]:
    return {**BALLOTS.model_dump(mode="json"), **parts}


def test_what_is_kept_has_a_version() -> None:
    assert stored()["version"] == VERSION
    assert restore_ballots(stored()) == BALLOTS


def test_ballots_without_a_version_are_those_of_the_first() -> None:
    old = stored()
    del old["version"]
    assert restore_ballots(old) == BALLOTS.model_copy(update={"version": 1})


def test_points_were_the_name_of_grades_in_the_first_version() -> None:
    old = stored(placed_by="points", version=1)
    assert restore_ballots(old).placed_by == "grades"
    assert restore_ballots(stored(placed_by="points")).placed_by == "points"


def test_what_was_settled_before_was_about_the_items_of_the_run() -> None:
    skipped = restore_ballots(stored(skipped={"after": 3, "of": 10, "error": 0.05})).skipped
    assert skipped is not None
    assert skipped.settle_for == "these"


def test_constants_of_a_new_item_are_kept_and_older_logs_lack_them() -> None:
    new = Refinement(round=1, slot=0, item_id="C5", description="It adds.")
    kept = new.model_dump(mode="json")
    assert (kept.pop("scoring"), kept.pop("source")) == ("five_level", "adversarial")
    assert restore_ballots(stored(refinements=[kept])).refinements == (new,)


def test_unknown_fields_are_ignored() -> None:
    one = {**stored()["matches"][0], "mood": "good"}
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
        ([], "its ballots cannot be read"),
    ],
)
def test_what_is_wrong_with_damaged_ballots(damaged: object, message: str) -> None:
    assert newer_version(damaged) is None
    with pytest.raises(ValueError, match=message):
        restore_ballots(damaged)


def test_ballots_that_are_made_are_of_this_version() -> None:
    assert ItemBallots.model_fields["version"].default == VERSION
