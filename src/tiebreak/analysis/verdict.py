"""The verdict of a leaderboard: who is first, who cannot be told apart, and may it be believed?

All of it rests on the tests of pairs (`rankers.pairwise_tests.separation`), never on whether
intervals overlap.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.analysis.equal_length import EqualLength
from tiebreak.analysis.standing import mean
from tiebreak.analysis.strengths import StrengthView
from tiebreak.analysis.trust import Trust, length_gain
from tiebreak.rankers.pairwise_tests import Pair, Separation, Untested, items_needed, separation
from tiebreak.rankers.profile import FloatArray
from tiebreak.scorers.ballots import Rule
from tiebreak.text import count, p_value

# More models than this are counted, not named.
_FEW = 4
_VIEWS = {"least_squares": "least squares", "bradley_terry": "Bradley–Terry"}


@dataclass(frozen=True, slots=True)
class BoardVerdict:
    """What a leaderboard says, before any table.

    `sentence` is plain English, some sentences long. `tiers` are the longest runs of models, in the
    order of the board, in which no two are told apart: tiers may overlap, and a model that is told
    apart from all others is a tier of its own. `trust` is about the judge. `equal_length` says what
    changes at equal length, where the longer answer gains; else it is None.
    """

    sentence: str
    tiers: tuple[tuple[str, ...], ...]
    trust: Trust
    equal_length: EqualLength | None = None


@dataclass(frozen=True, slots=True)
class ModelPair:
    """A test of two models, `above` before `below` on the board (see `rankers` `Pair`).

    `difference` is that of their mean scores over the `n_items` items that rank both, `p` the
    two-sided p-value of this pair alone, `p_adjusted` holds for all pairs of the board together.
    `apart` is whether it is at most 1 − level; None where `untested` says why there is no test.
    """

    above: str
    below: str
    n_items: int
    difference: float
    p: float
    p_adjusted: float
    apart: bool | None
    untested: Untested | None


def model_pairs(tests: Separation, models: Sequence[str]) -> tuple[ModelPair, ...]:
    """The pairs of some tests of scores in [0, 1], by name and in the order of the board."""
    return tuple(
        ModelPair(
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
    decided: str = "",
    judged: bool = True,
    trust: Trust,
    equal_length: EqualLength | None = None,
) -> BoardVerdict:
    """The verdict of a board, by the tests of all pairs of what it ranks by, in its order.

    `native` are native scores, shape (rows, N), NaN = absent, and `items` the item of each row.
    `firsts` are whom other rules of placement put first; `decided` is what a sequential test
    decided, as a sentence, or ""; `judged` is whether anything but the native score ranked the
    models.
    """
    sentences = [
        order_sentence(tests, models),
        _rare_failures(tests),
        decided,
        _placed(tests, models, firsts),
        _views(tests, models, views),
    ]
    if judged:
        sentences.append(_native(tests, models, native, items))
    if equal_length is not None:
        sentences.append(_at_equal_length(equal_length))
    return BoardVerdict(
        " ".join(filter(None, [*sentences, trust.sentence])),
        tuple(tuple(models[tests.order[place]] for place in group) for group in tests.groups),
        trust,
        equal_length,
    )


def order_sentence(tests: Separation, models: Sequence[str]) -> str:
    """Who is first, against whom that holds, and which models cannot be told apart."""
    names = [models[column] for column in tests.order]
    if len(names) < 2:
        return (
            f"There is nothing to compare: {names[0]} alone is ranked."
            if names
            else ("No item could be ranked.")
        )
    if not any(pair.apart for pair in tests.pairs):
        return _nothing(tests, names)
    first, others = tests.order[0], tests.order[1:]
    behind = {pair.below: pair for pair in tests.pairs if pair.above == first and _ahead(pair)}
    items = f"these {_items(tests)}"
    open_ = [models[column] for column in others if column not in behind]
    largest = p_value(max((pair.p_adjusted for pair in behind.values()), default=1), at_most=True)
    if not open_:
        each = " against each other model" if len(others) > 1 else f" against {names[1]}"
        rest = _rest(tests, names, f"on {items}")
        return " ".join(filter(None, [f"{names[0]} is first ({largest}{each}).", rest]))
    ahead = [models[column] for column in others if column in behind]
    top = names[: tests.groups[0].stop]
    beyond = [model for model in open_ if model not in top]
    clauses = [f"ahead of {_listed(ahead)} ({largest})"] if ahead else []
    clauses += [f"not told apart from {_listed(beyond)}"] if beyond else []
    if len(top) == 1:
        return f"{names[0]} leads: {', '.join(clauses)} on {items}. {_tiers(tests)}"
    leading = _listed(top) if len(top) <= _FEW else f"The first {len(top)} models"
    sentences = [f"{leading} lead, in the order of their scores; {items} do not tell them apart."]
    if clauses:
        sentences.append(f"{names[0]} is {', '.join(clauses)}.")
    return " ".join([*sentences, _tiers(tests)])


def _nothing(tests: Separation, names: Sequence[str]) -> str:
    """No two models are told apart, and why."""
    n_items = max(pair.n_items for pair in tests.pairs)
    two = f"{names[0]} and {names[1]}"
    none = "the order below is not a ranking"
    needed = items_needed(level=tests.level)
    if n_items < needed:
        any_two = two if len(names) == 2 else "any two models"
        return (
            f"Too few items: {n_items} cannot tell {any_two} apart, it takes at least {needed}; "
            f"{none}."
        )
    which = two if len(names) == 2 else f"No two of the {len(names)} models"
    can = "cannot" if len(names) == 2 else "can"
    if all(pair.p == 1 for pair in tests.pairs if pair.n_items):
        return f"{which} {can} be told apart: their mean scores are equal; {none}."
    return f"{which} {can} be told apart on these {_items(tests)}: {none}."


def _rare_failures(tests: Separation) -> str:
    """For how many pairs the items are too few, though they would tell them apart."""
    n_pairs = sum(pair.untested == "rare failures" for pair in tests.pairs)
    which = f"Too few items to test {count(n_pairs, 'pair')}: a failure too rare to show in"
    return f"{which} {_items(tests)} could turn the lead round." if n_pairs else ""


def _rest(tests: Separation, names: Sequence[str], items: str) -> str:
    """Which of the models behind the first are told apart."""
    groups = [group for group in tests.groups if len(group) > 1]
    if len(names) < 3:
        return ""
    if not groups:
        return f"All {len(names)} models are told apart {items}."
    if len(groups) == 1:
        alike = [names[place] for place in groups[0]]
        rest = len(alike) == len(names) - 1 and len(alike) > _FEW
        who = f"The other {len(alike)}" if rest else _listed(alike)
        return f"{who} cannot be told apart {items}."
    return _tiers(tests)


def _tiers(tests: Separation) -> str:
    overlap = any(one.stop > two.start for one, two in pairwise(tests.groups))
    overlapping = "overlapping " if overlap else ""
    return f"The {len(tests.order)} models form {len(tests.groups)} {overlapping}tiers."


def _placed(tests: Separation, models: Sequence[str], firsts: Mapping[Rule, Sequence[str]]) -> str:
    """Where other rules of placement name another first model."""
    others: dict[str, list[str]] = {}
    for rule, leads in firsts.items():
        if tests.order and models[tests.order[0]] not in leads:
            others.setdefault(leads[0], []).append(rule)
    return " ".join(
        f"Placed by {' or '.join(by)}, {model} stands first (rank --place {by[0]})."
        for model, by in others.items()
    )


def _views(tests: Separation, models: Sequence[str], views: Sequence[StrengthView]) -> str:
    """Where the second views name another first model."""
    if not tests.order:
        return ""
    others: dict[str, list[str]] = {}
    for view in views:
        leads = [row.model for row in view.rows if row.rank == 1]
        if leads and models[tests.order[0]] not in leads:
            others.setdefault(leads[0], []).append(_VIEWS[view.method])
    return " ".join(
        f"By all matches at once ({' and '.join(by)}) {model} is first."
        for model, by in others.items()
    )


def _native(
    tests: Separation, models: Sequence[str], scores: FloatArray, items: ArrayLike | None
) -> str:
    """Where native scores say something else."""
    means = [mean(column) for column in scores.T]
    known = [column for column in tests.order if not math.isnan(means[column])]
    if len(known) < 2:
        return ""
    by_native = sorted(known, key=lambda column: -means[column])
    native = separation(scores, by_native, items=items, level=tests.level)
    ours = set(tests.apart)
    against = [(over, under) for over, under in native.apart if (under, over) in ours]
    if against:
        over, under = against[0]
        more = f", as of {len(against)} pairs in all" if len(against) > 1 else ""
        return (
            f"Judging puts {models[under]} above {models[over]}, native scores say the "
            f"opposite ({means[under]:.3f} against {means[over]:.3f}){more}."
        )
    first, best = tests.order[0], by_native[0]
    if not math.isnan(means[first]) and means[best] > means[first] + 1e-9:
        return (
            f"By native score {models[best]} is first "
            f"({means[best]:.3f}; {models[first]}: {means[first]:.3f})."
        )
    return ""


def _at_equal_length(changes: EqualLength) -> str:
    """What the longer answer gains, and what the board would say without it."""
    answer = "longer" if changes.length.gain > 0 else "shorter"
    gain = f"{length_gain(changes.length).capitalize()}; {answer} answers may be better."
    if not changes.sensitive:
        return f"{gain} At equal length nothing changes that is said here."
    lost = f"{len(changes.lost)} of {count(changes.n_apart, 'pair')} told apart " + (
        "does not hold" if len(changes.lost) == 1 else "do not hold"
    )
    leads = f"{changes.leader} has the highest score" if changes.leader else ""
    what = " and ".join(filter(None, [lost if changes.lost else "", leads]))
    return (
        f"{gain} At equal length {what}: this board is sensitive to length (rank --control length)."
    )


def _ahead(pair: Pair) -> bool:
    return pair.apart is True and pair.difference > 0


def _items(tests: Separation) -> str:
    return count(max(pair.n_items for pair in tests.pairs), "item")


def _listed(names: Sequence[str]) -> str:
    """a; a and b; a, b and c; 7 models."""
    if len(names) > _FEW:
        return f"{len(names)} models"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
