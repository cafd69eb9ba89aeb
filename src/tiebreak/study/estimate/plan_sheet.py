"""A plan as a sheet, and as data."""

from collections.abc import Iterator
from typing import Any

from tiebreak.report.cells import UNDEFINED, Cell, integer, number, words
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import Column, Section, Sheet, Table, names
from tiebreak.study.estimate.plan import FEWEST, HIDDEN, LEVEL, Option, PairPower, Plan
from tiebreak.study.estimate.sheet import how_counted, judges_and_prices, money, notes, title
from tiebreak.text import count, listed

LISTED = 6
"""Largest number of pairs of models that the sheet names."""


def sheets_of(plan: Plan) -> list[Sheet]:
    """A sheet with the recommended option, all options side by side, and the command."""
    first = plan.options[0]
    commands = ["Run it:", f"  {plan.command}"]
    if "close" not in plan.command:
        commands += ["In batches, at half the price and within a day:", f"  {plan.command} --batch"]
    return [
        Sheet(
            title(plan.estimate),
            tuple(judges_and_prices(plan.estimate.judges)),
            _verdict(plan, first),
            sections=(
                Section.of(_table(plan), lines=[f"{plan.why}."]),
                Section.of(lines=list(_pairs(first))),
                Section.of(lines=commands),
                Section.of(legend=_assumptions(plan)),
            ),
            notes=tuple(_notes(plan)),
        )
    ]


_ABOUT = (
    "Half-width: of a score's 95% interval, for a judge as noisy as said above; in simulation 1.02 "
    "to 1.07 of that of the run, 1.25 for several rounds where only one was seen. Calls and "
    "dollars are the likely ones of an estimate without --budget, which gives their ranges"
)


def _assumptions(plan: Plan) -> list[str]:
    return [*plan.rests_on, _ABOUT, *how_counted(plan.estimate)]


def _notes(plan: Plan) -> Iterator[str]:
    holds = ", where a budget holds at the upper end" if plan.goal.dollars is not None else ""
    return notes(plan.estimate, f"are 0 to {HIDDEN:,} a call in these dollars{holds}")


def _verdict(plan: Plan, option: Option) -> str:
    all_items = "all" if option.n_items == plan.n_items else f"{option.n_items:,} of the"
    sentence = f"For {plan.goal.sentence}: {option.label} on {all_items} {plan.n_items:,} items"
    missed = plan.goal.precision is not None and option.half_width > plan.goal.precision
    if missed:
        return (
            f"{sentence} reaches ±{option.half_width:.3f}; no protocol gets within "
            f"±{plan.goal.precision:g} on these items. Add items."
        )
    asked = count(round(option.calls), "call")
    if option.dollars is not None:
        asked += f", {_dollars(option.dollars, option.dollars_most).text}"
    return f"{sentence}, {asked}, scores within ±{option.half_width:.3f}."


def _table(plan: Plan) -> Table:
    columns = (
        names("Protocol", 13),
        Column("Items"),
        Column("Calls"),
        Column("Half-width", short="Half-\nwidth"),
        Column("Pairs told apart", short="Pairs\napart"),
        Column("Direct"),
        Column("In batches"),
    )
    rows = [
        (
            words(option.label),
            integer(option.n_items),
            integer(round(option.calls)),
            number(option.half_width),
            words(f"{len(option.apart)} of {len(option.pairs)}" if option.pairs else UNDEFINED),
            _dollars(option.dollars, option.dollars_most),
            _dollars(option.batch, option.batch_most),
        )
        for option in plan.options
    ]
    return Table.of(columns, rows, "What the budget buys")


def _dollars(least: float | None, most: float | None) -> Cell:
    """An amount, or a range if hidden tokens may add to it."""
    if least is None or most is None:
        return Cell(UNDEFINED)
    amounts = dict.fromkeys(map(money, (least, most)))
    return Cell("–".join(amounts).replace("–$", "–"), least)


def _pairs(option: Option) -> Iterator[str]:
    if not option.pairs:
        why = (
            f"fewer than {FEWEST} items" if option.n_items < FEWEST else "nothing is known of them"
        )
        yield f"Which models will be told apart cannot be said: {why}."
        return
    if not option.apart:
        best = option.pairs[0]
        yield (
            f"It will probably tell no two models apart (at {LEVEL:.0%}, over all pairs); the most "
            f"likely are {_named(best)}."
        )
        return
    yield f"Probably told apart: {listed(list(map(_named, option.apart)), most=LISTED)}."


def _named(pair: PairPower) -> str:
    return f"{pair.first} from {pair.second} ({pair.power:.0%})"


def data_of(plan: Plan) -> dict[str, Any]:
    """The fields of `Plan` under "tiebreak/plan", version 1."""
    data: dict[str, Any] = json_ready(plan)
    del data["estimate"]
    for fields, option in zip(data["options"], plan.options, strict=True):
        fields |= only(option, "batch", "batch_most", "apart")
    more = {"assumptions": _assumptions(plan), "notes": [*_notes(plan)]}
    return document("tiebreak/plan", 1, **data, **more)


def rows_of(plan: Plan) -> list[dict[str, Any]]:
    """One row of CSV per option, with the number of pairs instead of the pairs."""
    figures = ("label", "n_items", "calls", "half_width")
    prices = ("dollars", "dollars_most", "batch", "batch_most")
    return [
        {**only(option, *figures, *prices), "pairs": len(option.pairs), "apart": len(option.apart)}
        for option in plan.options
    ]
