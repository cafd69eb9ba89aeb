"""The verdict of a leaderboard: who leads, who cannot be told apart, and is the judge reliable?

The verdict is based on the tests of pairs (`rankers.pairwise_tests.separation`), never on whether
intervals overlap.

Equal length: if the longer of two answers wins more often between the same two models, either the
judge prefers length or longer answers are better; ballots cannot tell which. They can tell whether
it matters for the board. So the effect of length is subtracted from every model's score in each
item, and the pairs are tested again. The effect is the slope of scores on length within models,
over items: score = model + slope · x, where x is the mean of (a − b) / (a + b) over the lengths b
of the other answers, as in `--control length`. Quality that comes with length is subtracted, too.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.judge.biases import Length
from tiebreak.analysis.standing import mean
from tiebreak.analysis.strengths import StrengthView
from tiebreak.analysis.trust import Trust, length_gain
from tiebreak.rankers.pairwise_tests import (
    Pair,
    Separation,
    item_means,
    items_needed,
    paired_p,
    separation,
)
from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots, Rule

_VIEWS = {"least_squares": Reason("least_squares"), "bradley_terry": Reason("bradley_terry")}


@dataclass(frozen=True, slots=True)
class EqualLength:
    """Changes of a board at equal length, if longer or shorter answers win more often (`length`).

    Of the `n_apart` pairs told apart, those in `lost`, (better, worse), do not hold at equal
    length: their order is reversed, or the p-value of the pair alone is above 1 − level. `leader`
    has the highest score at equal length; None if that model is in the board's top tier.
    """

    length: Length
    n_apart: int
    lost: tuple[tuple[str, str], ...]
    leader: str | None


@dataclass(frozen=True, slots=True)
class BoardVerdict:
    """The conclusion of a leaderboard, shown before any table.

    `sentence` is a reason of several `statements`; the last is the sentence of `trust`, on the
    judge. `tiers` are the longest runs of models, in the order of the board, in which no two are
    told apart: tiers may overlap, and a model that is told apart from all others is a tier of its
    own. `equal_length` says what changes at equal length, None if longer answers gain nothing.
    """

    sentence: Reason
    tiers: tuple[tuple[str, ...], ...]
    trust: Trust
    equal_length: EqualLength | None = None


def model_pairs(tests: Separation, models: Sequence[str]) -> tuple[Pair[str], ...]:
    """The tested pairs with names for columns, in the order of the board; scores in [0, 1]."""
    return tuple(
        Pair(
            above=models[pair.above],
            below=models[pair.below],
            n_items=pair.n_items,
            difference=float(np.clip(pair.difference, -1, 1)),
            p=pair.p,
            p_adjusted=pair.p_adjusted,
            apart=pair.apart,
            untested=pair.untested,
        )
        for pair in tests.pairs
    )


def board_verdict(
    tests: Separation,
    models: Sequence[str],
    native: FloatArray,
    items: ArrayLike | None = None,
    *,
    views: Sequence[StrengthView] = (),
    firsts: Mapping[Rule, Sequence[str]] = MappingProxyType({}),
    decided: Reason | None = None,
    judged: bool = True,
    trust: Trust,
    equal_length: EqualLength | None = None,
    n_items: int = 0,
) -> BoardVerdict:
    """The verdict of a board from `tests` of all pairs of the scores that it ranks by.

    `native` holds native scores, shape (rows, N), NaN = absent, and `items` the item of each row.
    `firsts` has the first models by other rules of placement; `decided` is the decision of a
    sequential test, if there was one; `judged` is False if native scores alone ranked the models.
    `n_items` is the number of items of the board; 0 takes that of the pair with most items.
    """
    statements = [
        *order_reasons(tests, models, n_items),
        _rare_failures(tests),
        decided,
        *_other_firsts(tests, models, firsts, views),
        _native(tests, models, native, items) if judged else None,
        *(_at_equal_length(equal_length) if equal_length is not None else ()),
        trust.sentence,
    ]
    return BoardVerdict(
        Reason("verdict", statements=[*filter(None, statements)]),
        tuple(tuple(models[tests.order[place]] for place in group) for group in tests.groups),
        trust,
        equal_length,
    )


def order_reasons(tests: Separation, models: Sequence[str], n_items: int = 0) -> Iterator[Reason]:
    """Which model is first, ahead of which others, and which models cannot be told apart."""
    names = [models[column] for column in tests.order]
    if len(names) < 2:
        yield Reason("alone", model=names[0]) if names else Reason("nothing_ranked")
        return
    n_items = n_items or _n_items(tests)
    if not any(pair.apart for pair in tests.pairs):
        yield _none_apart(tests, names, n_items)
        return
    first, later = tests.order[0], tests.order[1:]
    rivals = [pair for pair in tests.pairs if pair.above == first]
    behind = {pair.below: pair for pair in rivals if pair.apart and pair.difference > 0}
    open_ = [models[column] for column in later if column not in behind]
    largest = max((pair.p_adjusted for pair in behind.values()), default=1.0)
    if not open_:
        if len(later) > 1:
            yield Reason("first_of_all", model=names[0], p=largest)
        else:
            yield Reason("first_of_two", model=names[0], second=names[1], p=largest)
        yield from _others_apart(tests, names, n_items)
        return
    ahead = [models[column] for column in later if column in behind]
    top = names[: tests.groups[0].stop]
    beyond = [model for model in open_ if model not in top]
    clauses = [Reason("ahead_of", models=ahead, p=largest)] if ahead else []
    clauses += [Reason("not_ahead_of", models=beyond)] if beyond else []
    if len(top) == 1:
        yield Reason("leads", model=names[0], clauses=clauses, n_items=n_items)
    else:
        yield Reason("lead_together", models=top, n_items=n_items)
        if clauses:
            yield Reason("first_is", model=names[0], clauses=clauses)
    yield _tiers(tests)


def _none_apart(tests: Separation, names: Sequence[str], n_items: int) -> Reason:
    most, needed = _n_items(tests), items_needed(level=tests.level)
    two = len(names) == 2
    if most < needed:
        if two:
            return Reason("few_items_for_two", n=most, models=names, least=needed)
        return Reason("few_items_for_any", n=most, least=needed)
    if all(pair.p == 1 for pair in tests.pairs if pair.n_items):
        if two:
            return Reason("two_equal", models=names)
        return Reason("all_equal", n_models=len(names))
    if two:
        return Reason("two_not_apart", models=names, n_items=n_items)
    return Reason("none_apart", n_models=len(names), n_items=n_items)


def _rare_failures(tests: Separation) -> Reason | None:
    """The number of pairs that are untested because failures are too rare in so few items."""
    n_pairs = sum(pair.untested == "rare failures" for pair in tests.pairs)
    return Reason("rare_failures", n=n_pairs, n_items=_n_items(tests)) if n_pairs else None


def _others_apart(tests: Separation, names: Sequence[str], n_items: int) -> Iterator[Reason]:
    groups = [group for group in tests.groups if len(group) > 1]
    if len(names) < 3:
        return
    if not groups:
        yield Reason("all_apart", n_models=len(names), n_items=n_items)
    elif len(groups) == 1:
        alike = [names[place] for place in groups[0]]
        yield Reason(
            "rest_not_apart" if len(alike) == len(names) - 1 else "not_apart",
            models=alike,
            n_items=n_items,
        )
    else:
        yield _tiers(tests)


def _tiers(tests: Separation) -> Reason:
    overlap = any(tier.stop > following.start for tier, following in pairwise(tests.groups))
    return Reason(
        "overlapping_tiers" if overlap else "tiers",
        n_models=len(tests.order),
        n_tiers=len(tests.groups),
    )


def _other_firsts(
    tests: Separation,
    models: Sequence[str],
    firsts: Mapping[Rule, Sequence[str]],
    views: Sequence[StrengthView],
) -> Iterator[Reason]:
    """Other first models by other rules of placement, or by strengths over all matches."""
    first = models[tests.order[0]] if tests.order else ""
    rules: dict[str, list[str]] = {}
    for rule, leads in firsts.items():
        if first and first not in leads:
            rules.setdefault(leads[0], []).append(rule)
    methods: dict[str, list[Reason]] = {}
    for view in views:
        leads = [row.model for row in view.rows if row.rank == 1]
        if first and leads and first not in leads:
            methods.setdefault(leads[0], []).append(_VIEWS[view.method])
    for model, by_rule in rules.items():
        yield Reason("placed_first", model=model, rules=by_rule, rule=by_rule[0])
    for model, by_view in methods.items():
        yield Reason("first_by_matches", model=model, views=by_view)


def _native(
    tests: Separation, models: Sequence[str], scores: FloatArray, items: ArrayLike | None
) -> Reason | None:
    """A contradiction between native scores and the board, or None."""
    means = [mean(column) for column in scores.T]
    known = [column for column in tests.order if not math.isnan(means[column])]
    if len(known) < 2:
        return None
    by_native = sorted(known, key=lambda column: -means[column])
    native = separation(scores, by_native, items=items, level=tests.level)
    ours = set(tests.apart)
    against = [(over, under) for over, under in native.apart if (under, over) in ours]
    if against:
        over, under = against[0]
        return Reason(
            "native_against_judging",
            above=models[under],
            below=models[over],
            score=means[under],
            against=means[over],
            more=Reason("pairs_in_all", n=len(against)) if len(against) > 1 else "",
        )
    first, best = tests.order[0], by_native[0]
    # A larger mean within 1e-9 is a rounding error.
    if not math.isnan(means[first]) and means[best] > means[first] + 1e-9:
        return Reason(
            "first_by_native",
            model=models[best],
            score=means[best],
            first=models[first],
            against=means[first],
        )
    return None


def _at_equal_length(changes: EqualLength) -> Iterator[Reason]:
    yield Reason(
        "longer_may_be_better" if changes.length.gain.value > 0 else "shorter_may_be_better",
        gain=length_gain(changes.length.gain),
    )
    lost = Reason("pairs_lost", n=len(changes.lost), of=changes.n_apart) if changes.lost else None
    leader = Reason("highest_score", model=changes.leader) if changes.leader else None
    if lost or leader:
        yield Reason("sensitive_to_length", changes=[*filter(None, [lost, leader])])
    else:
        yield Reason("same_at_equal_length")


def _n_items(tests: Separation) -> int:
    return max(pair.n_items for pair in tests.pairs)


def at_equal_length(
    table: ItemTable, items: Sequence[ItemBallots], tests: Separation, length: Length
) -> EqualLength:
    """Test the board again at equal length.

    `items` are the ballots of the table's rows, `tests` the board's tests of all pairs.
    """
    adjusted = _less_length(table.borda, _longer(items, table.models))
    scores = item_means(adjusted, table.items)
    lost = []
    for better, worse in tests.apart:
        leads = scores[:, better] - scores[:, worse]
        if not (np.nanmean(leads) > 0 and paired_p(leads) <= 1 - tests.level):
            lost.append((table.models[better], table.models[worse]))
    leader = max(tests.order, key=lambda column: float(np.nanmean(scores[:, column])))
    top = tests.order[: tests.groups[0].stop]
    return EqualLength(
        length, len(tests.apart), tuple(lost), None if leader in top else table.models[leader]
    )


def _longer(items: Sequence[ItemBallots], models: Sequence[str]) -> FloatArray:
    """How much longer each answer is than the others to its item, in [-1, 1]; NaN if unknown."""
    table = np.full((len(items), len(models)), np.nan)
    for row, item in zip(table, items, strict=True):
        lengths = {
            model: item.lengths[group[0]]
            for group in item.groups
            if group[0] in item.lengths
            for model in group
        }
        known = [column for column, model in enumerate(models) if model in lengths]
        length = np.array([lengths[models[column]] for column in known], dtype=np.float64)
        more = np.nan_to_num(ratio(length[:, None] - length, length[:, None] + length))
        row[known] = more.sum(axis=1) / max(len(known) - 1, 1)
    return table


def _less_length(scores: FloatArray, longer: FloatArray) -> FloatArray:
    """Scores minus the effect of length, shape (rows, N); unchanged if the length is unknown."""
    known = ~np.isnan(scores) & ~np.isnan(longer)
    y, x = (
        np.where(known, values - ratio(np.sum(values, axis=0, where=known), known.sum(axis=0)), 0)
        for values in (scores, longer)
    )
    spread = float(np.sum(x * x))
    slope = float(np.sum(x * y)) / spread if spread > 0 else 0.0
    return scores - slope * np.nan_to_num(longer)
