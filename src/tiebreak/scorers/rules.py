"""The rules by which the ballots of an item become its ranking, in one table: `RULES`.

    elimination       champion, runner-up, then each elimination round, the latest first; within a
                      round by accumulated principle margin, then by seed (SEAL, §2.3)
    elimination_tied  the same, but all who went out in a round are tied
    least_squares     strengths that fit the results of all matches best, and the seeding a little
    win_rate          mean result of a candidate's matches, ½ for a tie
    points            the same in an item; over items not ranks are averaged but results, those of a
                      pair first, then over a model's opponents (`tiebreak.rankers.matches`)
    insertion         the order that the protocol arrived at
    grades            grades given by a judge
    stars             stars given by a judge, 0 to 3; over items not ranks are averaged but stars
    listing           the order given by a judge
    consensus         one ranking out of all reviewers', by the aggregator that the run asked for
    native            the benchmark's own score

A ballot's `placed_by` names one; `RULES[ballots.placed_by]` says what it asks of judges, the words
for what stays unscored or tied, and how it ranks. Some rules can rank ballots that name another
(`ANEW`). Importing this loads neither NumPy nor pydantic, so that a help text need not wait.
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
    """What one rule of placement means.

    `tiebreak.scorers.placement` has its function. `asks` is the kind of the calls whose replies
    decide: matches of two candidates, points for one, or a list of all; None where native
    scores decide. `noun` is what such a call is called, one and several; `unscored` what follows
    where one has no usable reply, and `tied` what an even match does. `reviewed` is whether several
    reviewers are asked instead of one judge; `knockout` whether the loser of a match is out;
    `results_only` whether nothing but the results of matches counts, neither seeding nor rounds;
    `judges_one` whether an answer is judged that no other one is compared with.

    A rule that can rank ballots which name another says with `fits` whether it can rank these of
    matches, and with `needs` what those are called.
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
        """Whether a judge is asked, and not several reviewers."""
        return self.asks is not None and not self.reviewed

    @property
    def by_grades(self) -> bool:
        """Whether each candidate is graded on its own."""
        return self.asks == "score"


def fitting(items: "Iterable[ItemBallots]") -> "tuple[Rule, ...]":
    """The rules that can rank every one of some items; all of them where there is none."""
    left = tuple(RULES)
    for item in items:
        left = tuple(rule for rule in left if fits(rule, item))
    return left


def fits(rule: "Rule", ballots: "ItemBallots") -> bool:
    """Whether a rule can rank the ballots of an item: they name it, or it fits them."""
    if ballots.placed_by == rule:
        return True
    able = RULES[rule].fits
    if able is None or not RULES[ballots.placed_by].by_matches:
        return False
    return len(ballots.groups) == 1 or able(ballots)


def _all_pairs_met(ballots: "ItemBallots") -> bool:
    """Whether results had no say in who met whom."""
    met = {frozenset((match.high, match.low)) for match in ballots.matches}
    return len(met) == math.comb(len(ballots.groups), 2)


def _bracket(ballots: "ItemBallots") -> bool:
    """Whether all but one went out in a match, in as few rounds as that takes."""
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
"""The rules that can rank ballots which name another, where they fit (`rank --place`)."""
