"""What the tests of peer review share: panels of reviewers, and what they say."""

from typing import Any

from tests.scorers.judges import NotingJudge, judged, ladder, names
from tiebreak.scorers.ballots import ItemBallots, Listing, Reviewer
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Judge


def peers(n: int, outsiders: int = 0) -> tuple[Reviewer, ...]:
    """The first n candidates as reviewers, and some outsiders."""
    inside = [Reviewer(name=name, model=f"acme/{name}", candidate=name) for name in names(n)]
    outside = [Reviewer(name=f"other/{i}", model=f"other/{i}") for i in range(outsiders)]
    return (*inside, *outside)


def panel(n: int, outsiders: int = 0, **more: Any) -> NotingJudge:
    return NotingJudge(ladder(n), reviewers=peers(n, outsiders), **more)


def review(contest: Contest, judge: Judge, **given: Any) -> ItemBallots:
    return judged("peer_review", contest, judge, **given)


def by_reviewer(ballots: ItemBallots) -> dict[str, Listing]:
    found = {one.reviewer: one for one in ballots.listings}
    assert len(found) == len(ballots.listings)
    return found


def orders(ballots: ItemBallots) -> dict[str, tuple[str, ...]]:
    return {name: one.shown for name, one in by_reviewer(ballots).items()}
