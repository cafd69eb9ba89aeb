"""What a panel of reviewers is worth: the part of a peer review that is about the reviewers."""

import math
from collections.abc import Iterator
from typing import Any

from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.peers.worth import PanelWorth, ReviewRecord, largest_shift
from tiebreak.rankers.dependence import EffectiveVotes
from tiebreak.report.cells import (
    UNDEFINED,
    Cell,
    decimal,
    integer,
    number,
    rank,
    share,
    share_bounds,
    signed_interval,
    span,
    words,
)
from tiebreak.report.json import json_ready, only
from tiebreak.report.sheet import Section, Table, interval_heading, model_names, names, numbers
from tiebreak.words import count

# So many reviewers' agreements with each other fit side by side.
MATRIX_UP_TO = 8

LEGEND_REVIEWERS = (
    "τ: agreement with the others. Far: pairs that the others' consensus orders the other way "
    "round; 50% by chance. Without it: most places by which a model moves, and who is first then"
)
LEGEND_ERRORS = (
    "Of the pairs of answers with different native scores, the share that is put the wrong way "
    "round (a tie: half). Where a majority errs as often as its members, these err alike"
)
LEGEND_REVIEWS = (
    "Unscored: without a usable reply. Partial: does not place all answers shown. Left out: "
    "answers not shown, in so many reviews, because they did not fit its context. Place τ: of rank "
    "with place of presentation; 0 without bias"
)


def panel_sections(worth: PanelWorth, level: float) -> Iterator[Section]:
    """How each one's ballots go with the others', who agrees with whom, and how each one works."""
    matrix = 2 < len(worth.reviewers) <= MATRIX_UP_TO
    lines = list(_panel_lines(worth))
    table = _agreements(worth, level)
    yield Section.of(table, legend=[LEGEND_REVIEWERS], lines=[] if matrix else lines)
    if matrix:
        yield Section.of(_matrix(worth), lines=lines)
    if not math.isnan(worth.errors.each.value):
        yield Section.of(_errors(worth, level), legend=[LEGEND_ERRORS])
    yield Section.of(_reviews(worth, level), legend=[LEGEND_REVIEWS])


def _agreements(worth: PanelWorth, level: float) -> Table:
    columns = numbers(
        "τ", interval_heading(level), "Far", interval_heading(level), "Moves", "First"
    )
    first = {None: UNDEFINED, True: "other", False: "same"}
    rows = [
        (
            *(
                words(one.reviewer.name),
                number(one.agreement.value, 2),
                span(one.agreement),
            ),
            *(
                share(one.distance.value),
                share_bounds(one.distance.lower, one.distance.upper),
            ),
            rank(None if one.shift is None else abs(one.shift)),
            words(first[one.first_changes]),
        )
        for one in worth.reviewers
    ]
    return Table.of((model_names("Reviewer"), *columns), rows, "Reviewers")


def _matrix(worth: PanelWorth) -> Table:
    """Kendall's τ-b of every two reviewers; numbers stand for the names in the columns."""
    who = [f"{place} {one.reviewer.name}" for place, one in enumerate(worth.reviewers, start=1)]
    columns = (names("τ of two"), *numbers(*(name.split()[0] for name in who)))
    rows = [
        (
            words(name),
            *(
                Cell("") if row == other else number(tau, 2)
                for other, tau in enumerate(worth.agreement.tau[row].tolist())
            ),
        )
        for row, name in enumerate(who)
    ]
    return Table.of(columns, rows, "Agreement of every two reviewers")


def _panel_lines(worth: PanelWorth) -> Iterator[str]:
    """The whole panel in a few figures, and who matters most."""
    figures = {
        "Agreement of two reviewers, mean Kendall τ-b": worth.agreement.panel,
        "Krippendorff's α of the ranks": worth.alpha,
        "Kendall's W, mean over items": worth.concordance.mean,
    }
    for name, figure in figures.items():
        if math.isnan(figure.value):
            yield f"{name}: {UNDEFINED} ({figure.reason})"
        else:
            remark = f"; {figure.reason}" if figure.reason else ""
            span = signed_interval(figure.lower, figure.upper)
            yield f"{name}: {decimal(figure.value, 2)} ({span}{remark})"
    yield _votes(worth.votes)
    most = largest_shift(worth.reviewers)
    if most is None:
        yield "No model moves when a reviewer is left out"
    else:
        shift = most.shift or 0
        yield (
            f"Without {most.reviewer.name}, {most.moved} {'falls' if shift > 0 else 'rises'} by "
            f"{count(abs(shift), 'place')}; no reviewer matters more (consensus by "
            f"{worth.without.method})"
        )


def _votes(votes: EffectiveVotes) -> str:
    """What ballots allow, and what native scores add."""
    if votes.undefined:
        return f"Independent votes: {UNDEFINED} ({votes.undefined})"
    said = f"Independent votes: between {decimal(votes.at_least, 1)} and {votes.n_reviewers}"
    if math.isnan(votes.estimate):
        return (
            f"{said}. Ballots alone cannot tell: reviewers may agree because they see the truth, "
            f"or because they err alike (no estimate: {votes.reason})"
        )
    return (
        f"{said}, about {decimal(votes.estimate, 1)} as far as native scores are the truth "
        f"({count(votes.n_mixed, 'item')}). That is approximate: an error that all share cannot be "
        "seen, and many independent votes are understated"
    )


def _errors(worth: PanelWorth, level: float) -> Table:
    """How often each reviewer, all together, and a majority put wrong before right."""
    found = [
        *((one.reviewer.name, one.errors) for one in worth.reviewers),
        ("all of them", worth.errors.each),
        ("their majority", worth.errors.majority),
    ]
    columns = numbers("Wrong", interval_heading(level), "Items")
    rows = [
        (
            *(words(name), share(one.value), share_bounds(one.lower, one.upper)),
            integer(one.n_items),
        )
        for name, one in found
    ]
    return Table.of((model_names("Reviewer"), *columns), rows, "Wrong before right")


def _reviews(worth: PanelWorth, level: float) -> Table:
    """How each reviewer works: how often in vain, and whether it goes by the order shown."""
    columns = numbers(
        "Reviews", "Unscored", "Partial", "Left out", "Place τ", interval_heading(level)
    )
    rows = [
        (
            words(f"{one.reviewer.name}{'' if one.reviewer.candidate else ' (panel)'}"),
            integer(one.replies.n_questions if one.replies else 0),
            share(one.replies.unscored_rate if one.replies else math.nan),
            integer(one.n_partial),
            Cell(f"{one.n_left_out:,} in {one.n_cut:,}" if one.n_cut else "0", one.n_left_out),
            number(one.presentation.tau.value, 2, tone="bad" if one.presentation.bound else ""),
            span(one.presentation.tau),
        )
        for one in worth.reviewers
    ]
    return Table.of((model_names("Reviewer"), *columns), rows, "Reviews")


def panel_data(panel: Panel, worth: PanelWorth) -> dict[str, Any]:
    """The panel, as `peers.data_of` has it."""
    return {
        "reviewers": [
            _reviewer(panel, worth, number, one) for number, one in enumerate(worth.reviewers)
        ],
        "agreement": worth.agreement.panel,
        "tau": worth.agreement.tau,
        "tau_n_items": worth.agreement.n_items,
        "alpha": worth.alpha,
        "kendall_w": worth.concordance.mean,
        "votes": worth.votes,
        "errors": worth.errors.each,
        "majority_errors": worth.errors.majority,
        "without_method": worth.without.method,
    }


def _reviewer(panel: Panel, worth: PanelWorth, number: int, one: ReviewRecord) -> dict[str, Any]:
    replies = json_ready(one.replies)
    if replies is not None:
        del replies["model"]  # It is the reviewer's name.
    without = worth.without.mean_ranks_without[number].tolist()
    return {
        **one.reviewer.model_dump(),
        "replies": replies,
        **only(
            one, "reason", "n_partial", "n_cut", "n_left_out", "agreement", "distance", "errors"
        ),
        **only(one, "shift", "moved", "first_changes"),
        "kendall_without": worth.without.kendall[number],
        "mean_ranks_without": dict(zip(panel.models, without, strict=True)),
        "presentation": one.presentation,
    }
