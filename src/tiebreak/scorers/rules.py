"""The rules by which the ballots of an item become its ranking, in one table: `RULES`.

    elimination       champion, runner-up, then each elimination round, the latest first; within a
                      round by accumulated principle margin, then by seed (SEAL, §2.3)
    elimination_tied  the same, but candidates eliminated in the same round are tied
    least_squares     strengths that best fit the results of all matches, and a little the seeding
    win_rate          mean result of a candidate's matches, ½ for a tie
    points            the same in an item; over items not ranks are averaged but results, those of a
                      pair first, then over a model's opponents (`tiebreak.rankers.matches`)
    insertion         the order that the protocol arrived at
    grades            grades given by a judge
    stars             stars given by a judge, 0 to 3; over items not ranks are averaged but stars
    listing           the order given by a judge
    consensus         all reviewers' rankings merged by the aggregator that the run asked for
    native            the benchmark's own score

`placed_by` of an item's ballots names one; `RULES[ballots.placed_by]` says what it asks of judges,
how reports describe unscored calls and ties, and how it ranks. Some rules can also rank ballots
that name another rule (`ANEW`). To keep help texts fast, this module loads no NumPy or pydantic.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from tiebreak.scorers.bracket import rounds

if TYPE_CHECKING:
    from tiebreak.scorers.ballots import ItemBallots, Rule


@dataclass(frozen=True)
class PlacementRule:
    """The meaning of one rule of placement; its function is in `tiebreak.scorers.placement`.

    `asks` is the kind of call whose replies decide: matches of two candidates, points for one, or a
    list of all; None if native scores decide. `noun` names such a call, singular and plural;
    `unscored` completes a sentence about calls without a usable reply, and `tied` one about even
    matches. `reviewed` is True if several reviewers are asked instead of one judge, `knockout` if
    the loser of a match is out, `results_only` if only results of matches count, neither seeding
    nor rounds, and `judges_one` if an answer is judged even without another to compare it with.

    For a rule that can rank ballots which name another rule, `fits` tells whether it can rank given
    ballots of matches, and `needs` describes ballots that fit.
    """

    asks: Literal["match", "score", "list"] | None = None
    noun: tuple[str, str] = ("", "")
    unscored: str = ""
    tied: str = ""
    reviewed: bool = False
    knockout: bool = False
    results_only: bool = False
    judges_one: bool = False
    fits: "Callable[[ItemBallots], bool] | None" = None
    needs: str = ""

    @property
    def by_matches(self) -> bool:
        """Whether candidates meet in matches."""
        return self.asks == "match"

    @property
    def asks_judge(self) -> bool:
        """Whether a judge is asked, not several reviewers."""
        return self.asks is not None and not self.reviewed

    @property
    def by_grades(self) -> bool:
        """Whether each candidate is graded on its own."""
        return self.asks == "score"


def fitting(items: "Iterable[ItemBallots]") -> "tuple[Rule, ...]":
    """The rules that can rank all of the given items; all rules if there are no items."""
    left = tuple(RULES)
    for item in items:
        left = tuple(rule for rule in left if fits(rule, item))
    return left


def fits(rule: "Rule", ballots: "ItemBallots") -> bool:
    """Whether a rule can rank the ballots of an item: the ballots name it, or it fits them."""
    if ballots.placed_by == rule:
        return True
    able = RULES[rule].fits
    if able is None or not RULES[ballots.placed_by].by_matches:
        return False
    return len(ballots.groups) == 1 or able(ballots)


def _all_pairs_met(ballots: "ItemBallots") -> bool:
    """Whether every pair of answers met, so that results did not decide the pairings."""
    met = {frozenset((match.high, match.low)) for match in ballots.matches}
    return len(met) == math.comb(len(ballots.groups), 2)


def _bracket(ballots: "ItemBallots") -> bool:
    """Whether all but one lost exactly one match, in as few rounds as a bracket takes."""
    n, matches = len(ballots.groups), ballots.matches
    out_in = {match.loser: match.round for match in matches}
    played = {(match.round, name) for match in matches for name in (match.high, match.low)}
    return (
        len(matches) == len(out_in) == n - 1
        and len(played) == 2 * len(matches)  # nobody plays twice in a round
        and all(number <= out_in.get(name, number) for number, name in played)
        and len({match.round for match in matches}) == rounds(n)
    )


_matches = partial(PlacementRule, asks="match", noun=("match", "matches"))
_knockout = partial(
    _matches,
    unscored="have no verdict, and there the seeding decided",
    tied="the better seed went on: the ranking shows the seeding more than the judging",
    knockout=True,
)
_results = partial(
    _matches,
    unscored="have no verdict and are left out",
    tied="such a match says nothing about who is better, and many ranks rest on few others",
)
_ALL_PAIRS = "items in which all pairs of answers met"

RULES: "Final[Mapping[Rule, PlacementRule]]" = {
    "elimination": _knockout(
        fits=lambda item: set(item.seeds) == set(item.representatives) and _bracket(item),
        needs="brackets with seeds",
    ),
    "elimination_tied": _knockout(
        fits=lambda item: RULES[item.placed_by].knockout or _bracket(item),
        needs="brackets",
    ),
    "least_squares": _results(fits=lambda ballots: True, needs="matches"),
    "win_rate": _results(results_only=True, fits=_all_pairs_met, needs=_ALL_PAIRS),
    "insertion": _matches(
        unscored="have no verdict, and there the newcomer was put behind the other",
        tied="the two share their place: the ranking tells few answers apart",
    ),
    "points": _results(results_only=True, fits=_all_pairs_met, needs=_ALL_PAIRS),
    "grades": PlacementRule(
        "score", ("answer", "answers"), "have no points, and so no rank in their item"
    ),
    "stars": PlacementRule(
        "score",
        ("answer", "answers"),
        "have no stars, and so do not count in their item",
        judges_one=True,
    ),
    "listing": PlacementRule(
        "list",
        ("ranking call", "ranking calls"),
        "gave no ranking, and their items have none",
    ),
    "consensus": PlacementRule(
        "list",
        ("review", "reviews"),
        "rank no answer, and the other reviewers decide alone",
        reviewed=True,
    ),
    "native": PlacementRule(),
}

ANEW: "Final[tuple[Rule, ...]]" = tuple(rule for rule in RULES if RULES[rule].fits)
"""The rules that can rank ballots which name another rule, if they fit (`rank --place`)."""
