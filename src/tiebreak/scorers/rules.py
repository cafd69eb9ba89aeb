"""The rules by which the ballots of an item become its ranking, in one table: `RULES`.

    elimination    champion, runner-up, then each elimination round, the latest first; within a
                   round by accumulated principle margin, then by seed (SEAL, §2.3)
    least_squares  strengths that fit the results of all matches best, and the seeding a little
    win_rate       mean result of a candidate's matches, ½ for a tie
    points         the same in an item; over items not ranks are averaged but results, those of a
                   pair first, then over a model's opponents (`tiebreak.rankers.points`)
    insertion      the order that the protocol arrived at
    grades         grades given by a judge
    listing        the order given by a judge
    consensus      one ranking out of all reviewers', by the aggregator that the run asked for
    native         the benchmark's own score

A ballot's `placed_by` names one; `RULES[ballots.placed_by]` says what it asks of judges, the words
for what stays unscored or tied, and how it ranks.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers import RankingError, aggregate_items, mean_ranks
from tiebreak.rankers.massey import implied_wins
from tiebreak.scorers.ballots import ItemBallots, Match, Rule

Groups = list[list[str]]
"""Representatives, best first; those of a group are tied."""

SEEDING_WEIGHT: Final = 0.1
"""What a better seed is worth beside a match, in least squares. Swiss rounds leave many candidates
level that the seeding tells apart. Of 0.1 and 0.3, 0.1 agreed better with all pairs in simulation;
against no weight it gained where the seeding was sharp, and lost a little where it was noise."""


_DECIMALS = 9


class NotPlacedError(ValueError):
    """The ballots of an item do not give a ranking; the message says why."""


@dataclass(frozen=True)
class PlacementRule:
    """What one rule of placement means.

    `asks` is the kind of the calls whose replies decide: matches of two candidates, points for
    one, or a list of all; None where native scores decide. `noun` is what such a call is called,
    one and several; `unscored` what follows where one has no usable reply, and `tied` what an even
    match does. `reviewed` is whether several reviewers are asked instead of one judge; `knockout`
    whether the loser of a match is out; `results_only` whether nothing but the results of matches
    counts, neither seeding nor rounds. `ranks` gives every ranked model's rank, 1 = best, or
    raises a NotPlacedError. `fits` is whether it can rank ballots that name another rule.
    """

    ranks: Callable[[ItemBallots], Mapping[str, float]]
    asks: Literal["match", "score", "list"] | None = None
    noun: tuple[str, str] = ("", "")
    unscored: str = ""
    tied: str = ""
    reviewed: bool = False
    knockout: bool = False
    results_only: bool = False
    fits: Callable[[ItemBallots], bool] = lambda ballots: False

    @property
    def by_matches(self) -> bool:
        """Whether candidates meet in matches."""
        return self.asks == "match"

    @property
    def by_grades(self) -> bool:
        """Whether each candidate is graded on its own."""
        return self.asks == "score"


def tied_groups(scores: Mapping[str, float]) -> Groups:
    """Names with equal scores, the highest first."""
    rounded = {name: round(score, _DECIMALS) for name, score in scores.items()}
    groups = groupby(sorted(rounded, key=lambda name: -rounded[name]), key=rounded.__getitem__)
    return [list(names) for _, names in groups]


def own_margins(matches: Iterable[Match]) -> dict[str, list[float]]:
    """Principle margins of every candidate in its scored matches, in [-1, 1]; none, no entry."""
    own: dict[str, list[float]] = {}
    for match in matches:
        if match.margin is not None:
            own.setdefault(match.high, []).append(match.margin)
            own.setdefault(match.low, []).append(-match.margin)
    return own


def results(ballots: ItemBallots) -> list[tuple[str, str, float]]:
    """All results of an item between models: (one, other, 1 / ½ / 0 for the one).

    A match counts for every model that gave the answer, and models with identical answers are tied.
    Matches without a verdict are left out, as are pairs that a protocol with a schedule of its own
    did not let meet: else identical answers, which take no match, would count too often.
    """
    members = {group[0]: group for group in ballots.groups}
    found = [
        (one, other, match.result)
        for match in ballots.matches
        if match.result is not None
        for one in members[match.high]
        for other in members[match.low]
    ]
    found += [(*pair, 0.5) for group in ballots.groups for pair in combinations(group, 2)]
    if not ballots.scheduled:
        return found
    met = {frozenset(pair) for pair in ballots.scheduled}
    return [result for result in found if frozenset(result[:2]) in met]


def mean_results(ballots: ItemBallots) -> dict[str, float]:
    """Mean result of every model over its opponents in the item; none, no entry."""
    own: dict[str, list[float]] = {}
    for one, other, result in results(ballots):
        own.setdefault(one, []).append(result)
        own.setdefault(other, []).append(1 - result)
    if ballots.baseline in own:
        own[ballots.baseline] = [0.5]  # what it would get against itself
    return {name: math.fsum(found) / len(found) for name, found in sorted(own.items())}


def review_ranks(ballots: ItemBallots, models: Sequence[str]) -> NDArray[np.float64]:
    """What each reviewer says about each model, shape (reviewers, models).

    Lower is better, equal is tied, NaN is not ranked. Identical answers share their place.
    """
    row = {reviewer.name: number for number, reviewer in enumerate(ballots.reviewers)}
    column = {model: number for number, model in enumerate(models)}
    members = {group[0]: group for group in ballots.groups}
    ranks = np.full((len(row), len(column)), np.nan)
    for listing in ballots.listings:
        for place, tied in enumerate(listing.groups, start=1):
            for model in (model for rep in tied for model in members[rep]):
                ranks[row[listing.reviewer], column[model]] = place
    return ranks


def _elimination(ballots: ItemBallots) -> Groups:
    _require_verdict(ballots)
    out_in = {match.loser: match.round for match in ballots.matches}
    # Rounded: equal sums are equal, in whatever order their margins came.
    margins = {
        name: round(math.fsum(own), _DECIMALS) for name, own in own_margins(ballots.matches).items()
    }
    seed = {rep: position for position, rep in enumerate(ballots.seeds)}

    def key(rep: str) -> tuple[float, float, int]:
        # The champion never went out. Without a scored match there is no evidence of strength:
        # such a candidate comes last among those of its round.
        return -out_in.get(rep, math.inf), -margins.get(rep, -math.inf), seed[rep]

    return [[rep] for rep in sorted(ballots.seeds, key=key)]


def _least_squares(ballots: ItemBallots) -> Groups:
    """Least squares over the results, what they imply, and the tiers of the seeding."""
    judged = _judged(ballots)
    n = len(judged)
    column = {rep: number for number, rep in enumerate(judged)}
    wins = np.zeros((n, n))
    for match in ballots.matches:
        if match.result is not None:
            high, low = column[match.high], column[match.low]
            wins[high, low] += match.result
            wins[low, high] += 1 - match.result
    wins += implied_wins(wins)
    tiers = ballots.tiering.tiers if ballots.tiering else {}
    tier = np.array([tiers.get(rep, 0) for rep in judged])
    # Every pair has one weak comparison by tiers; it also connects those that never met.
    better = np.sign(tier[None, :] - tier[:, None])
    games = wins + wins.T + SEEDING_WEIGHT * (1 - np.eye(n))
    margin = (wins - wins.T + SEEDING_WEIGHT * better).sum(axis=1)
    # The normal equations, and one more that puts the mean at 0.
    strengths = np.linalg.solve(np.diag(games.sum(axis=1)) - games + 1, margin)
    return tied_groups(dict(zip(judged, strengths.tolist(), strict=True)))


def _win_rate(ballots: ItemBallots) -> Groups:
    results: dict[str, list[float]] = {rep: [] for rep in _judged(ballots)}
    for match in ballots.matches:
        if match.result is not None:
            results[match.high].append(match.result)
            results[match.low].append(1 - match.result)
    return tied_groups({rep: math.fsum(own) / len(own) for rep, own in results.items()})


def _insertion(ballots: ItemBallots) -> Groups:
    judged = _judged(ballots)
    groups = [[rep for rep in tied if rep in judged] for tied in ballots.order]
    return [group for group in groups if group]


def _points(ballots: ItemBallots) -> dict[str, float]:
    scores = mean_results(ballots)
    if len(scores) < 2:
        _require_verdict(ballots)
        raise NotPlacedError("fewer than two models have a result")
    return mean_ranks(tied_groups(scores))


def _grades(ballots: ItemBallots) -> Groups:
    scores = {one.candidate: one.score for one in ballots.scores if one.score is not None}
    if len(scores) < 2:
        reasons = [one.unscored for one in ballots.scores if one.unscored] or ["no call"]
        raise NotPlacedError(f"fewer than two candidates have points ({reasons[0]})")
    return tied_groups(scores)


def _listing(ballots: ItemBallots) -> Groups:
    if len(ballots.listings) != 1:
        raise NotPlacedError(f"there are {len(ballots.listings)} ranking calls, where one decides")
    [listing] = ballots.listings
    if listing.unscored:
        raise NotPlacedError(f"the ranking call gave no usable reply ({listing.unscored})")
    return [list(group) for group in listing.groups]


def _consensus(ballots: ItemBallots) -> dict[str, float]:
    """Ranks by the aggregator, 1 = best; those that are undefined are left out."""
    reviews = review_ranks(ballots, ballots.models)
    try:
        ranks = aggregate_items(reviews[None], ballots.aggregator)[0].tolist()
    except RankingError as error:  # of many candidates no order could be proven to be the best
        raise NotPlacedError(f"{ballots.aggregator} finds no ranking: {error}") from error
    if all(map(math.isnan, ranks)):
        reasons = [one.unscored for one in ballots.listings if one.unscored] or ["no call"]
        raise NotPlacedError(f"{ballots.aggregator} can use no review ({reasons[0]})")
    named = zip(ballots.models, ranks, strict=True)
    return {model: rank for model, rank in named if not math.isnan(rank)}


def _native(ballots: ItemBallots) -> dict[str, float]:
    scores = {model: score for model, score in ballots.native.items() if score is not None}
    if len(scores) < 2:
        raise NotPlacedError("fewer than two candidates have a native score")
    return mean_ranks(tied_groups(scores))


def _judged(ballots: ItemBallots) -> list[str]:
    """Representatives with at least one scored match."""
    _require_verdict(ballots)
    seen = {name for m in ballots.matches if m.result is not None for name in (m.high, m.low)}
    return [rep for rep in ballots.representatives if rep in seen]


def _all_pairs_met(ballots: ItemBallots) -> bool:
    """Whether results had no say in who met whom."""
    met = {frozenset((match.high, match.low)) for match in ballots.matches}
    return len(met) == math.comb(len(ballots.groups), 2)


def _require_verdict(ballots: ItemBallots) -> None:
    if all(match.unscored for match in ballots.matches):
        # Seeds alone would decide everything.
        reason = ballots.matches[0].unscored if ballots.matches else "no match was played"
        raise NotPlacedError(f"no match has a verdict ({reason})")


def _of_answers(
    order: Callable[[ItemBallots], Groups],
) -> Callable[[ItemBallots], dict[str, float]]:
    """Ranks of all models by an order of representatives: models with identical answers tie."""

    def ranks(ballots: ItemBallots) -> dict[str, float]:
        groups = order(ballots)
        if sum(map(len, groups)) < 2:
            # Only a protocol of the user's own gets here, with a rule that does not fit it.
            raise NotPlacedError(f"{ballots.placed_by} ranks fewer than two candidates")
        members = {group[0]: group for group in ballots.groups}
        return mean_ranks([[model for rep in tied for model in members[rep]] for tied in groups])

    return ranks


_MATCH, _LEFT_OUT = ("match", "matches"), "have no verdict and are left out"
_EVEN_HANDED = "such a match says nothing about who is better, and many ranks rest on few others"

RULES: Final[Mapping[Rule, PlacementRule]] = {
    "elimination": PlacementRule(
        _of_answers(_elimination),
        "match",
        _MATCH,
        "have no verdict, and there the seeding decided",
        "the better seed went on: the ranking shows the seeding more than the judging",
        knockout=True,
    ),
    "least_squares": PlacementRule(
        _of_answers(_least_squares), "match", _MATCH, _LEFT_OUT, _EVEN_HANDED
    ),
    "win_rate": PlacementRule(
        _of_answers(_win_rate),
        "match",
        _MATCH,
        _LEFT_OUT,
        _EVEN_HANDED,
        results_only=True,
        fits=_all_pairs_met,
    ),
    "insertion": PlacementRule(
        _of_answers(_insertion),
        "match",
        _MATCH,
        "have no verdict, and there the newcomer was put behind the other",
        "the two share their place: the ranking tells few answers apart",
    ),
    "points": PlacementRule(
        _points, "match", _MATCH, _LEFT_OUT, _EVEN_HANDED, results_only=True, fits=_all_pairs_met
    ),
    "grades": PlacementRule(
        _of_answers(_grades),
        "score",
        ("answer", "answers"),
        "have no points, and so no rank in their item",
    ),
    "listing": PlacementRule(
        _of_answers(_listing),
        "list",
        ("ranking call", "ranking calls"),
        "gave no ranking, and their items have none",
    ),
    "consensus": PlacementRule(
        _consensus,
        "list",
        ("review", "reviews"),
        "rank no answer, and the other reviewers decide alone",
        reviewed=True,
    ),
    "native": PlacementRule(_native),
}
