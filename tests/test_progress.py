"""What is being done is seen by whoever watches, and by nobody else."""

import os
from collections.abc import Iterator

import pytest

from tiebreak.progress import Activity, doing, tracked, watch, watched

Seen = list[tuple[str, int, int | None] | None]


@pytest.fixture
def seen() -> Iterator[Seen]:
    found: Seen = []

    def see(now: Activity | None) -> None:
        found.append(None if now is None else (str(now.description), now.done, now.total))

    with watch(see):
        yield found


def test_parts_are_counted_and_pass_as_they_are(seen: Seen) -> None:
    with doing("ranking", 9) as activity:
        assert list(tracked("abc", "reading")) == ["a", "b", "c"]
        activity.done = 5
        assert list(tracked(iter("ab"), "drawing", 2)) == ["a", "b"]
    assert seen == [
        *(("ranking", 0, 9), ("reading", 0, 3), ("ranking", 0, 9)),
        *(("drawing", 0, 2), ("ranking", 5, 9), None),
    ]


def test_batches_count_as_what_they_hold() -> None:
    held: list[Activity | None] = []
    with watch(held.append):
        parts = tracked(iter(["abc", "de"]), "reading", 5, size=len)
        assert next(parts) == "abc"
        [activity] = held
        assert activity is not None
        assert activity.done == 0
        assert next(parts) == "de"
        assert activity.done == 3
        assert list(parts) == []
    assert (activity.done, held[-1]) == (5, None)


def test_what_breaks_off_is_no_longer_done(seen: Seen) -> None:
    def work() -> None:
        with doing("ranking"):
            for _ in tracked([1, 2], "reading"):
                raise ValueError("no log")

    with pytest.raises(ValueError, match="no log"):
        work()
    assert seen[:2] == [("ranking", 0, None), ("reading", 0, 2)]
    assert seen[-1] is None


def test_nobody_watches_in_python_in_a_fork_and_where_it_is_switched_off(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert watched()
    with watch(None):
        assert not watched()
        assert list(tracked([1], "reading")) == [1]
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert list(tracked([1], "reading")) == [1]
    assert seen == []
