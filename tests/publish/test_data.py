"""What is published is made once: no step changes what another one has made."""

from tests.data_classes import can_be_changed, data_classes
from tiebreak import publish


def test_what_is_made_cannot_be_changed() -> None:
    found = data_classes(publish)
    assert len(found) > 10
    assert {name for name, one in found.items() if can_be_changed(one)} == {"hub._Publication"}


def test_runs_contests_and_datasets_are_themselves_and_equal_no_other() -> None:
    """They hold arrays, or what is at the Hub now, which no equality of fields compares."""
    found = data_classes(publish)
    for name in ("runs.Run", "contests.Contest", "hub.Snapshot"):
        assert vars(found[name]).get("__eq__") is None, name
