"""The verdict of a diagnosis: is a benchmark saturated, could judging help, in plain words."""

import math
from dataclasses import dataclass
from typing import Literal

from tiebreak.rankers.pairwise_tests import items_needed
from tiebreak.words import count

Kind = Literal[
    "one_model",
    "identical",
    "no_native",
    "too_few_items",
    "saturated",
    "partly_saturated",
    "not_saturated",
]
Judging = Literal["cannot_help", "could_help", "not_needed"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict rests on.

    Attributes:
        n_models: Models that answered; `n_scored` of them have a native score.
        n_rows: Items as judges would see them, each epoch on its own.
        n_identical: Of these, items to which all models gave the same answer.
        n_open: Of these, items with two different answers whose native scores are equal or missing:
            the most in which judging can add to the native scores.
        n_unscored: Of these, items for which some model has no native score.
        n_items: Items behind the native comparison, epochs averaged (the most of any pair).
        all_equal: All native scores of an item are equal, in every item.
        n_pairs: Pairs of models with native scores of common items; `n_apart` are told apart.
        top: Size of the first group of models that are not told apart.
        largest: Largest difference of two models' mean native scores, NaN without a pair.
        detectable: Median over pairs of the difference that the items detect, NaN if undefined.
        unseen: See `saturation.Saturation`; always defined where `all_equal`.
        points: Native scores lie in [0, 1], so differences can be told in percentage points.
        level: Confidence level.
    """

    n_models: int
    n_scored: int
    n_rows: int
    n_identical: int
    n_open: int
    n_unscored: int
    n_items: int
    all_equal: bool
    n_pairs: int
    n_apart: int
    top: int
    largest: float
    detectable: float
    unseen: float
    points: bool
    level: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether native scores tell the models apart, whether judging could, and both in words."""

    kind: Kind
    judging: Judging
    text: str


def verdict(evidence: Evidence) -> Verdict:
    """What the evidence comes to.

    `kind` is the first that holds: `one_model`; `identical` (all answers to every item are);
    `no_native` (no two models have native scores of one item); `not_saturated` (all pairs of models
    are told apart) or `partly_saturated` (some are); `too_few_items` (none could be, whatever the
    scores); `saturated`. `judging` is `cannot_help` where answers with the same native score are
    the same, `not_needed` where native scores tell all models apart.
    """
    kind = _kind(evidence)
    judging, advice = _judging(evidence, kind)
    return Verdict(kind, judging, " ".join(filter(None, [_finding(evidence, kind), advice])))


def _kind(evidence: Evidence) -> Kind:
    if evidence.n_models < 2:
        return "one_model"
    if evidence.n_identical == evidence.n_rows:
        return "identical"
    if not evidence.n_pairs:
        return "no_native"
    if evidence.n_apart == evidence.n_pairs:
        return "not_saturated"
    if evidence.n_apart:
        return "partly_saturated"
    few = evidence.n_items < items_needed(evidence.n_pairs, evidence.level)
    return "too_few_items" if few else "saturated"


def _finding(evidence: Evidence, kind: Kind) -> str:
    """The sentence about native scores."""
    two = evidence.n_scored == 2
    some = " that have them" if evidence.n_scored < evidence.n_models else ""
    models = f"{evidence.n_scored} models{some}"
    if kind == "one_model":
        return "One model only: there is nothing to compare."
    if kind == "no_native":
        return "No native scores: nobody knows whether the benchmark is saturated."
    if kind == "too_few_items":
        needed = items_needed(evidence.n_pairs, evidence.level)
        return (
            f"Too few items: native scores of {count(evidence.n_items, 'item')} cannot tell "
            f"{'two models' if two else f'any two of {models}'} apart, whatever they are; it takes "
            f"at least {needed}."
        )
    if kind == "saturated":
        none = f"do not tell the {models}" if two else f"tell no two of the {models}"
        return f"Saturated: native scores {none} apart ({_size(evidence)})."
    if kind == "partly_saturated":
        top = f"but no two of the top {evidence.top}"
        return (
            f"Partly saturated: of {models}, native scores tell {evidence.n_apart} of "
            f"{evidence.n_pairs} pairs apart, {top if evidence.top > 1 else 'also the first two'} "
            f"({_size(evidence)})."
        )
    if kind == "not_saturated":
        every = "the" if two else "all"
        return f"Not saturated: native scores tell {every} {models} apart ({_size(evidence)})."
    return ""


def _size(evidence: Evidence) -> str:
    """The difference that is there, against the one that would show."""
    items = count(evidence.n_items, "item")
    if evidence.all_equal:
        if not evidence.points:
            return f"they are equal in all {items}"
        most = _amount(evidence.unseen, evidence)
        return (
            f"they are equal in all {items}; at {evidence.level * 100:g}% confidence two models' "
            f"true means differ by at most {most}"
        )
    largest = "the difference" if evidence.n_pairs == 1 else "the largest difference"
    there = f"{largest} is {_amount(evidence.largest, evidence)}"
    if math.isnan(evidence.detectable):
        return there
    return f"{there}; {items} show about {_amount(evidence.detectable, evidence)} or more"


def _judging(evidence: Evidence, kind: Kind) -> tuple[Judging, str]:
    """Whether judging could help, and the sentence that says so."""
    rows = count(evidence.n_rows, "item")
    if kind == "one_model":
        return "cannot_help", ""
    if kind == "identical":
        return "cannot_help", f"Judging cannot help: all answers are identical in all {rows}."
    if kind == "not_saturated":
        return "not_needed", "Judging is not needed to tell them apart."
    if not evidence.n_open:
        same = "answers with the same native score are identical"
        return "cannot_help", f"Judging cannot help: {same} in all {rows}."
    where = f"Judging could help in at most {evidence.n_open:,} of {rows}"
    if kind == "no_native":
        return "could_help", f"{where}: those where answers differ."
    none = ", or none" if evidence.n_unscored else ""
    return "could_help", f"{where}: those where different answers have the same native score{none}."


def _amount(value: float, evidence: Evidence) -> str:
    if not evidence.points:
        return f"{value:.3g}"
    return "less than 0.1 points" if 0 < value < 0.0005 else f"{100 * value:.1f} points"
