"""From the ballots of one item to the ranking of its candidates, by the rule that the ballots name.

Each of `RULES` has a function here. Ranks are ranks of models, 1 = best; models with identical
answers share the mean of the ranks that they occupy together. A candidate without any scored ballot
has no rank in the item.

The correctness guard: in a stratified item, answers verified to have failed rank below those that
passed, whatever the judge said, and lose every match against them. Points and stars, which a judge
gives on an absolute scale, are not changed.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tiebreak.errors import TiebreakError
from tiebreak.rankers import RankingError, aggregate_items, mean_ranks
from tiebreak.rankers.massey import implied_wins
from tiebreak.rankers.matches import Matches, pair_points
from tiebreak.rankers.profile import FloatArray
from tiebreak.scorers.ballots import ItemBallots, Listing, Match, PointScore, Rule
from tiebreak.scorers.match import votes_apart
from tiebreak.scorers.rules import RULES


@dataclass(frozen=True)
class Placement:
    """Ranking of one item.

    `ranks` maps every ranked model to its mean rank (1 = best), and `borda` to its score in the
    item, in [0, 1]: (N − rank) / (N − 1), or under the rule `points` its mean result, under `stars`
    a third of its stars. `margins` maps every model to its mean principle margin per scored match,
    in [-1, 1], NaN without one.
    """

    ranks: Mapping[str, float]
    borda: Mapping[str, float]
    margins: Mapping[str, float]

    @property
    def order(self) -> tuple[tuple[str, ...], ...]:
        """Groups of tied models, best first."""
        return tuple(map(tuple, tied_groups({model: -rank for model, rank in self.ranks.items()})))


def place(ballots: ItemBallots, rule: Rule | None = None) -> Placement:
    """Rank the candidates of one item, by the rule that its ballots name or by another that fits.

    Raises:
        NotPlacedError: the item was skipped, judging was cut short, or the ballots rank fewer than
            two candidates (under `stars`: none).
    """
    if ballots.skipped:
        after, of = ballots.skipped.after, ballots.skipped.of
        raise NotPlacedError(f"skipped: the ranking was decided after {after} of {of} items")
    if not ballots.complete:
        raise NotPlacedError("judging was cut short")
    name = rule or ballots.placed_by
    if RULES[name].asks and not RULES[name].judges_one and len(ballots.groups) == 1:
        ranks: Mapping[str, float] = mean_ranks(ballots.groups)
    else:
        ranks = _RANKS[name](ballots)
    ranks = guarded(ballots, ranks)
    margins = {name: _mean(values) for name, values in own_margins(ballots.matches).items()}
    own_scale = {"points": mean_points, "stars": star_scores}.get(name)
    borda = own_scale(ballots) if own_scale else _borda(ranks)
    return Placement(
        ranks=ranks,
        borda=borda,
        margins={m: margins.get(group[0], math.nan) for group in ballots.groups for m in group},
    )


def board_scores(
    ballots: Sequence[ItemBallots], placements: Sequence[Placement], models: Sequence[str]
) -> FloatArray:
    """A table of items × models whose column means are the Borda scores of a leaderboard.

    Under the rule `points` results are first averaged by pair over all items (`pair_points`), so a
    cell does not depend on its item alone; under all other rules it does. `placements` are the
    rankings of the ballots, in the same order.

    Returns:
        Shape (items, models), NaN where a model has no rank.
    """
    if any(item.placed_by == "points" for item in ballots):
        return _points(ballots, models)
    cells = [[placement.borda.get(model, math.nan) for model in models] for placement in placements]
    return np.array(cells, np.float64).reshape(len(placements), len(models))


def _borda(ranks: Mapping[str, float]) -> dict[str, float]:
    """The share of the other candidates that each one beats; empty if there is only one."""
    n = len(ranks)
    return {model: (n - rank) / (n - 1) for model, rank in ranks.items()} if n > 1 else {}


def points_table(
    judged: Matches | None,
    items: Sequence[ItemBallots],
    models: Sequence[str],
    *,
    regress: bool = True,
) -> FloatArray:
    """`pair_points` of the judged matches of some items: shape (items, models).

    Items are numbered in the given order. Results that need no judge are added: `without_judge`.
    """
    column = {model: number for number, model in enumerate(models)}
    present = np.zeros((len(items), len(column)), dtype=np.bool_)
    known: list[tuple[int, int, float, int]] = []
    for row, item in enumerate(items):
        present[row, [column[model] for model in item.models]] = True
        without = without_judge(item)
        known += ((column[a], column[b], result, row) for (a, b), result in without.items())
    baselines = {item.baseline for item in items}
    against = column[baselines.pop()] if len(baselines) == 1 and "" not in baselines else None
    settled = _matches(known, len(models), len(items))
    return pair_points(judged, settled, present, against=against, regress=regress)


def judged_results(ballots: ItemBallots) -> Iterator[tuple[str, str, float]]:
    """The `results` of an item that needed a judge."""
    without = without_judge(ballots)
    for first, other, result in results(ballots):
        if (first, other) not in without and (other, first) not in without:
            yield first, other, result


def _points(items: Sequence[ItemBallots], models: Sequence[str]) -> FloatArray:
    column = {model: number for number, model in enumerate(models)}
    judged = [
        (column[first], column[other], result, row)
        for row, item in enumerate(items)
        for first, other, result in judged_results(item)
    ]
    matches = _matches(judged, len(models), len(items))
    if matches is not None and any(item.by_people for item in items):
        matches = matches.averaged()
    return points_table(matches, items, models)


def _matches(
    results: Sequence[tuple[int, int, float, int]], n_models: int, n_items: int
) -> Matches | None:
    if not results:
        return None
    first, other, result, item_of = zip(*results, strict=True)
    return Matches.of(first, other, result, item_of, n_models, n_items)


Groups = list[list[str]]
"""Representatives, best first; those in a group are tied."""

SEEDING_WEIGHT: Final = 0.1
"""Weight of a better seed relative to a match, in least squares. After Swiss rounds many candidates
are level, and only the seeding separates them. In simulation 0.1 agreed better with all pairs than
0.3; compared with no weight it gained if seeds were good, and lost a little if they were noise."""

# Rounding errors must neither break nor make a tie.
_DECIMALS = 9


class NotPlacedError(TiebreakError, ValueError):
    """The ballots of an item do not give a ranking; the message says why."""


def tied_groups(scores: Mapping[str, float]) -> Groups:
    """Names with equal scores, the highest first."""
    rounded = {name: round(score, _DECIMALS) for name, score in scores.items()}
    groups = groupby(sorted(rounded, key=lambda name: -rounded[name]), key=rounded.__getitem__)
    return [list(names) for _, names in groups]


def own_margins(matches: Iterable[Match]) -> dict[str, list[float]]:
    """Principle margins of every candidate in its scored matches, in [-1, 1]; none, no entry."""
    margins: dict[str, list[float]] = {}
    for match in matches:
        if match.margin is not None:
            margins.setdefault(match.high, []).append(match.margin)
            margins.setdefault(match.low, []).append(-match.margin)
    return margins


def results(ballots: ItemBallots) -> list[tuple[str, str, float]]:
    """All results of an item between models, as (first, other, result of the first: 1, ½ or 0).

    A match counts for every pair of models that gave the two answers, and models with identical
    answers are tied. Matches without a verdict are left out, and so are pairs outside the
    protocol's schedule, if it has one: identical answers, which need no match, would count too
    often. Each vote of a person is a result. In a stratified item an answer that passed beats one
    that failed, whatever a judge said.
    """
    members = {group[0]: group for group in ballots.groups}
    pairs = [
        (first, other, result)
        for played in ballots.matches
        for match in (votes_apart(played) if ballots.by_people else (played,))
        if (result := match.result) is not None
        for first in members[match.high]
        for other in members[match.low]
    ]
    pairs += [(*pair, 0.5) for group in ballots.groups for pair in combinations(group, 2)]
    if ballots.scheduled:
        met = {frozenset(pair) for pair in ballots.scheduled}
        pairs = [result for result in pairs if frozenset(result[:2]) in met]
    if not ballots.stratified:
        return pairs
    return [
        (first, other, result if (known := verified(ballots, first, other)) is None else known)
        for first, other, result in pairs
    ]


def mean_results(ballots: ItemBallots) -> dict[str, float]:
    """Mean result of every model over its opponents in the item; no entry without an opponent."""
    by_model = _results_of(ballots)
    if ballots.baseline in by_model:
        by_model[ballots.baseline] = [(ballots.baseline, 0.5)]  # against itself
    return {
        name: _mean([result for _, result in results]) for name, results in sorted(by_model.items())
    }


def mean_points(ballots: ItemBallots) -> dict[str, float]:
    """Mean results that include all verified results, even of answers that did not meet.

    A model's judged results stand for all opponents without a verified one (½ if it met none).
    """
    means = mean_results(ballots)
    if not ballots.stratified or ballots.baseline:
        return means
    for name, results in _results_of(ballots).items():
        against = [verified(ballots, name, other) for other in ballots.models if other != name]
        known = [result for result in against if result is not None]
        if known:
            judged = [r for other, r in results if verified(ballots, name, other) is None]
            rest = (len(against) - len(known)) * (_mean(judged) if judged else 0.5)
            means[name] = (math.fsum(known) + rest) / len(against)
    return means


def verified(ballots: ItemBallots, model: str, other: str) -> float | None:
    """Result of `model` against `other` as far as it is verified: 1 if only `model` passed, else 0.

    None if both passed, both failed, or the log does not say.
    """
    first, second = ballots.passed.get(model), ballots.passed.get(other)
    return None if first is None or second is None or first == second else float(first)


def without_judge(ballots: ItemBallots) -> dict[tuple[str, str], float]:
    """Results that need no judge, by pair of models, for the first of the pair.

    Identical answers are tied, and in a stratified item the verified results are known.
    """
    known = {pair: 0.5 for group in ballots.groups for pair in combinations(group, 2)}
    if ballots.stratified:
        for won in (model for model, passed in ballots.passed.items() if passed):
            for lost in (model for model, passed in ballots.passed.items() if not passed):
                known.pop((lost, won), None)
                known[won, lost] = 1.0
    return known


def guarded(ballots: ItemBallots, ranks: Mapping[str, float]) -> Mapping[str, float]:
    """Ranks with failed answers moved below all that passed, in a stratified item.

    The order among passed and among failed answers stays. A model whose status is unknown keeps the
    number of models with known status before it.
    """
    passed = {name: ballots.passed[name] for name in ranks if name in ballots.passed}
    if not ballots.stratified or len(set(passed.values())) < 2:
        return ranks
    groups = [
        [name for name in tied if passed.get(name) is kind]
        for kind in (True, False)
        for tied in tied_groups({name: -rank for name, rank in ranks.items()})
    ]
    known = mean_ranks([group for group in groups if group])
    place = {name: (known[name], rank) for name, rank in ranks.items() if name in known}
    for name in ranks.keys() - known.keys():
        before = [(ranks[other] < ranks[name]) + (ranks[other] <= ranks[name]) for other in known]
        place[name] = (sum(before) / 2 + 0.5, ranks[name])
    order = sorted(place, key=place.__getitem__)
    return mean_ranks([list(tied) for _, tied in groupby(order, key=place.__getitem__)])


def _results_of(ballots: ItemBallots) -> dict[str, list[tuple[str, float]]]:
    by_model: dict[str, list[tuple[str, float]]] = {}
    for first, other, result in results(ballots):
        by_model.setdefault(first, []).append((other, result))
        by_model.setdefault(other, []).append((first, 1 - result))
    return by_model


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def review_ranks(ballots: ItemBallots, models: Sequence[str]) -> NDArray[np.float64]:
    """Rank of each model in each review, shape (reviewers, models).

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


def _of_answers(
    order: Callable[[ItemBallots], Groups],
) -> Callable[[ItemBallots], dict[str, float]]:
    """Turn an order of representatives into ranks of all models: identical answers tie."""

    def ranks(ballots: ItemBallots) -> dict[str, float]:
        groups = order(ballots)
        if sum(map(len, groups)) < 2:
            # Only a user's own protocol gets here, with a rule that does not fit it.
            raise NotPlacedError(f"{ballots.placed_by} ranks fewer than two candidates")
        members = {group[0]: group for group in ballots.groups}
        return mean_ranks([[model for rep in tied for model in members[rep]] for tied in groups])

    return ranks


@_of_answers
def elimination(ballots: ItemBallots) -> Groups:
    """Order by the round of elimination, latest first, then by the sum of margins, then by seed."""
    _require_verdict(ballots)
    out_in = _elimination_rounds(ballots)
    # Rounded, so that equal sums are equal in whatever order their margins were added.
    margins = {
        name: round(math.fsum(margins), _DECIMALS)
        for name, margins in own_margins(ballots.matches).items()
    }
    seed = {rep: position for position, rep in enumerate(ballots.seeds)}

    def key(rep: str) -> tuple[float, float, int]:
        # Without a scored match there is no evidence of strength, so the candidate ranks last among
        # those of its round.
        return -out_in[rep], -margins.get(rep, -math.inf), seed[rep]

    return [[rep] for rep in sorted(ballots.seeds, key=key)]


@_of_answers
def elimination_tied(ballots: ItemBallots) -> Groups:
    """Order by the round of elimination, latest first; candidates of the same round are tied."""
    _require_verdict(ballots)
    return tied_groups(_elimination_rounds(ballots))


@_of_answers
def least_squares(ballots: ItemBallots) -> Groups:
    """Order by least squares over the results, the results they imply, and the seeding's tiers."""
    judged = _judged(ballots)
    n = len(judged)
    column = {rep: number for number, rep in enumerate(judged)}
    wins = np.zeros((n, n))
    for match in ballots.matches:
        if (result := match.result) is not None:
            high, low = column[match.high], column[match.low]
            wins[high, low] += result
            wins[low, high] += 1 - result
    wins += implied_wins(wins)
    tiers = ballots.tiering.tiers if ballots.tiering else {}
    tier = np.array([tiers.get(rep, 0) for rep in judged])
    # A weak comparison by tiers for every pair also connects candidates that never met.
    better = np.sign(tier[None, :] - tier[:, None])
    games = wins + wins.T + SEEDING_WEIGHT * (1 - np.eye(n))
    margin = (wins - wins.T + SEEDING_WEIGHT * better).sum(axis=1)
    # The normal equations are singular; the added constant 1 makes them solvable with mean 0.
    strengths = np.linalg.solve(np.diag(games.sum(axis=1)) - games + 1, margin)
    return tied_groups(dict(zip(judged, strengths.tolist(), strict=True)))


@_of_answers
def win_rate(ballots: ItemBallots) -> Groups:
    """Order by mean result; a match without a verdict is left out."""
    results: dict[str, list[float]] = {rep: [] for rep in _judged(ballots)}
    for match in ballots.matches:
        if (result := match.result) is not None:
            results[match.high].append(result)
            results[match.low].append(1 - result)
    return tied_groups({rep: _mean(values) for rep, values in results.items()})


@_of_answers
def insertion(ballots: ItemBallots) -> Groups:
    """The order that the protocol arrived at, without candidates that have no verdict."""
    judged = _judged(ballots)
    groups = [[rep for rep in tied if rep in judged] for tied in ballots.order]
    return [group for group in groups if group]


def points(ballots: ItemBallots) -> dict[str, float]:
    """Rank by mean result over opponents, model by model."""
    scores = mean_points(ballots)
    if len(scores) < 2:
        _require_verdict(ballots)
        raise NotPlacedError("fewer than two models have a result")
    return mean_ranks(tied_groups(scores))


@_of_answers
def grades(ballots: ItemBallots) -> Groups:
    """Order by the points of each answer."""
    scores = {score.candidate: score.score for score in ballots.scores if score.score is not None}
    if len(scores) < 2:
        raise NotPlacedError(
            f"fewer than two candidates have points ({_unscored_reason(ballots.scores)})"
        )
    return tied_groups(scores)


def stars(ballots: ItemBallots) -> dict[str, float]:
    """Rank by the stars of each answer; a single answer is enough."""
    scores = star_scores(ballots)
    if not scores:
        raise NotPlacedError(f"no answer has stars ({_unscored_reason(ballots.scores)})")
    return mean_ranks(tied_groups(scores))


def star_scores(ballots: ItemBallots) -> dict[str, float]:
    """A third of the stars of every model's answer, in [0, 1]; no entry if unscored."""
    members = {group[0]: group for group in ballots.groups}
    given = {score.candidate: score.score for score in ballots.scores}
    return {
        model: score
        for leader, score in given.items()
        if score is not None
        for model in members[leader]
    }


@_of_answers
def listing(ballots: ItemBallots) -> Groups:
    """The order of the only listing."""
    if len(ballots.listings) != 1:
        raise NotPlacedError(f"there are {len(ballots.listings)} ranking calls, where one decides")
    [listing] = ballots.listings
    if listing.unscored:
        raise NotPlacedError(f"the ranking call gave no usable reply ({listing.unscored})")
    return [list(group) for group in listing.groups]


def consensus(ballots: ItemBallots) -> dict[str, float]:
    """Rank by the aggregator, 1 = best; undefined ranks are left out."""
    reviews = review_ranks(ballots, ballots.models)
    try:
        ranks = aggregate_items(reviews[None], ballots.aggregator)[0].tolist()
    except RankingError as error:  # e.g. too many candidates to prove an order optimal
        raise NotPlacedError(f"{ballots.aggregator} finds no ranking: {error}") from error
    if all(map(math.isnan, ranks)):
        raise NotPlacedError(
            f"{ballots.aggregator} can use no review ({_unscored_reason(ballots.listings)})"
        )
    named = zip(ballots.models, ranks, strict=True)
    return {model: rank for model, rank in named if not math.isnan(rank)}


def native(ballots: ItemBallots) -> dict[str, float]:
    """Rank by native score, model by model."""
    scores = {model: score for model, score in ballots.native.items() if score is not None}
    if len(scores) < 2:
        raise NotPlacedError("fewer than two candidates have a native score")
    return mean_ranks(tied_groups(scores))


def _unscored_reason(asked: Iterable[PointScore | Listing]) -> str:
    return next((ballot.unscored for ballot in asked if ballot.unscored), "no call")


def _elimination_rounds(ballots: ItemBallots) -> dict[str, float]:
    """The round in which each representative was eliminated; infinite for the champion."""
    lost = {match.loser: match.round for match in ballots.matches}
    return {rep: lost.get(rep, math.inf) for rep in ballots.representatives}


def _judged(ballots: ItemBallots) -> list[str]:
    _require_verdict(ballots)
    seen = {name for m in ballots.matches if m.result is not None for name in (m.high, m.low)}
    return [rep for rep in ballots.representatives if rep in seen]


def _require_verdict(ballots: ItemBallots) -> None:
    if all(match.unscored for match in ballots.matches):
        # Otherwise the seeds alone would decide.
        reason = ballots.matches[0].unscored if ballots.matches else "no match was played"
        raise NotPlacedError(f"no match has a verdict ({reason})")


_RANKS: Final[Mapping[Rule, Callable[[ItemBallots], Mapping[str, float]]]] = {
    "elimination": elimination,
    "elimination_tied": elimination_tied,
    "least_squares": least_squares,
    "win_rate": win_rate,
    "insertion": insertion,
    "points": points,
    "grades": grades,
    "stars": stars,
    "listing": listing,
    "consensus": consensus,
    "native": native,
}
"""The function for each of `RULES`."""
