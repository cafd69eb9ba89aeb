"""What judging keeps cannot be changed: what was recorded stays as it was recorded."""

from tests.data_classes import can_be_changed, data_classes
from tiebreak import scorers


def test_what_is_kept_cannot_be_changed() -> None:
    found = data_classes(scorers)
    assert len(found) > 40
    changing = {name for name, one in found.items() if can_be_changed(one)}
    # What is at work, and two schemas of replies in the form of Inspect's own.
    assert changing == {"budget.Spent", "session.Meeting", "replies.ListSchema", "replies._Schema"}


def test_what_a_log_holds_by_the_million_takes_little_memory() -> None:
    slotted = {name for name, one in data_classes(scorers).items() if "__slots__" in vars(one)}
    assert {f"ballots.{name}" for name in ("Call", "Vote", "Verdict", "Match")} <= slotted
