"""About the judge: position, flips, length, cycles, unusable replies; strengths at equal length."""

import math
from collections.abc import Iterable, Iterator, Mapping

from tiebreak.analysis.judge.biases import Flips, Length, Position
from tiebreak.analysis.judge.canaries import Canaries
from tiebreak.analysis.judge.figures import Correctness, Juror
from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.analysis.strengths import ControlView, Covariate, StrengthRow
from tiebreak.analysis.trust import length_gain, position_gain
from tiebreak.report.cells import (
    UNDEFINED,
    Cell,
    number,
    percents,
    rank,
    share,
    share_bounds,
    span,
    words,
)
from tiebreak.report.sheet import Column, Section, Table, interval_heading, model_names
from tiebreak.words import count, percent

_ASKED = {
    "all": "all of them",
    "close": "those that were close, where flips are to be expected",
    "sample": "a sample drawn by lot",
}


def judge_lines(board: Leaderboard) -> Iterator[str]:
    """What there is to know of the judge. Where nothing was compared there is no order to go by."""
    judge = board.judge
    if board.rule.by_matches:
        yield _position_line(judge.position)
        yield _flips_line(judge.flips)
        yield _length_line(judge.length)
        if judge.cycles.n_triples:
            share = judge.cycles.share
            yield (
                f"Cycles (A beats B, B beats C, C beats A): {percent(share.value)} of "
                f"{count(judge.cycles.n_triples, 'triple')} "
                f"({_rates(share.lower, share.upper)}a coin makes 25%)"
            )
    elif board.rule.asks == "list" and judge.position.n:
        yield _place_line(judge.position, "reviews" if board.rule.reviewed else "lists")
    if judge.correctness.n:
        yield _correctness_line(judge.correctness)
    if board.canaries is not None and board.canaries.n:
        yield canaries_line(board.canaries)
    for one in judge.replies:
        questions = count(one.n_questions, "question")
        yield (
            f"No usable reply from {one.model}: {one.n_unscored:,} of {questions} "
            f"({percent(one.unscored_rate)}, {percents(one.lower, one.upper)})"
        )


def jury_section(board: Leaderboard) -> Section:
    """The judges of a jury, side by side; their bills are in the receipt."""
    rows = [
        (
            words(one.name),
            share(one.figures.position.rate),
            share_bounds(one.figures.position.lower, one.figures.position.upper),
            share(one.agreement.value),
            share_bounds(one.agreement.lower, one.agreement.upper),
            share(_unusable(one)),
        )
        for one in board.jury
    ]
    interval = Column(interval_heading(board.level), left=True)
    columns = (model_names("Judge"), Column("First won"), interval, Column("Agrees"), interval)
    table = Table.of((*columns, Column("No reply")), rows, "The jury")
    legend = [
        "First won: verdicts for the answer shown first (unbiased: 50%). Agrees: pairs of answers "
        "in the order in which the other judges' mean puts them (a coin: 50%)"
    ]
    return Section.of(table, legend=legend if rows else [])


def _unusable(juror: Juror) -> float:
    asked = sum(one.n_questions for one in juror.figures.replies)
    missing = sum(one.n_unscored for one in juror.figures.replies)
    return missing / asked if asked else math.nan


def _position_line(position: Position) -> str:
    if not position.n:
        return f"First answer won: {UNDEFINED} (no verdict preferred a side)"
    return (
        f"First answer won: {percent(position.rate)} of {count(position.n, 'first verdict')} "
        f"({percents(position.lower, position.upper)}; unbiased: 50%), so "
        f"{position_gain(position)}. Sides take turns: that favours no model on average, it "
        "adds noise"
    )


def _place_line(position: Position, many: str) -> str:
    return (
        f"Ranked as shown: {percent(position.rate)} of pairs of answers in {position.n:,} {many} "
        f"({_rates(position.lower, position.upper)}unbiased: 50%)"
    )


def _flips_line(flips: Flips) -> str:
    if not flips.n:
        return f"Flips when the order is swapped: {UNDEFINED} (no match was judged in both orders)"
    line = (
        f"Flips when the order is swapped: {percent(flips.rate)} of "
        f"{count(flips.n, 'match', 'matches')} judged in both orders "
        f"({percents(flips.lower, flips.upper)}), {_ASKED[flips.asked]}"
    )
    if flips.n_flipped:
        line += f"; {flips.both_first:,} for the first answer, {flips.both_second:,} for the second"
    if not math.isnan(flips.expected):
        line += f". Noise alone would flip {percent(flips.expected)}; a coin, 50%"
    return line


def _length_line(length: Length) -> str:
    if length.reason is not None:
        return f"Longer answer: {UNDEFINED} ({length.reason})"
    gain = length_gain(length)
    return (
        f"{gain[0].upper()}{gain[1:]}, by {count(length.n_matches, 'match', 'matches')} in "
        f"{count(length.n_items, 'item')}; longer answers may be better"
    )


def _correctness_line(found: Correctness) -> str:
    share = found.share
    bounds = "" if math.isnan(share.lower) else f", {percents(share.lower, share.upper)}"
    line = (
        "Against the native score: of an answer that passed (1) and one that failed (0) the one "
        f"that failed was preferred in {found.n_against:,} of {count(found.n, 'pair')} "
        f"({percent(share.value)}{bounds})"
    )
    if found.n_tied:
        line += f", neither in {found.n_tied:,}"
    if found.n_guarded:
        return f"{line}; in {count(found.n_guarded, 'item')} the guard places the passed ones first"
    return f"{line}; judging alone ranks them"


def canaries_line(found: Canaries) -> str:
    """What planted answers showed, in a sentence."""
    won, plain = (sum(getattr(one, name) for one in found.kinds) for name in ("won", "won_plain"))
    bounds = ""
    if not math.isnan(found.lower):
        bounds = f", {round(100 * found.lower)} to {round(100 * found.upper)}"
    line = (
        f"Planted answers that talk to the judge: preferred to an ordinary one in {won:,} of "
        f"{count(found.n, 'pair')}, and in {plain:,} without the attack, so that an attack gains "
        f"{count(round(100 * found.gain), 'point')}{bounds}"
    )
    return f"{line}; {found.n_unscored:,} without a verdict" if found.n_unscored else line


def _rates(lower: float, upper: float) -> str:
    return "" if math.isnan(lower) else f"{percents(lower, upper)}; "


_CONTROLLED = {"length": "At equal length", "style": "At equal style"}
_TWICE = {
    "length": "twice as long",
    "headings": "with twice as many headings",
    "lists": "with twice as many list entries",
    "bold": "with twice as much in bold",
}


def control_section(found: ControlView) -> Section:
    """Both views by the order of the controlled one, and what each difference does."""
    views = (found.uncontrolled, found.controlled)
    by_model = [{row.model: row for row in view.rows} for view in views]
    order = [row.model for row in (found.controlled.rows or found.uncontrolled.rows)]
    columns = strength_columns(
        ("Bradley–Terry", _CONTROLLED[found.control]), found.controlled.level
    )
    rows = [(words(model), *strength_cells(by_model, model)) for model in order]
    table = Table.of((model_names(), *columns), rows, f"Control for {found.control}")
    return Section.of(table if rows else None, legend=_legend(found), lines=_lines(found))


def strength_columns(titles: Iterable[str], level: float) -> Iterator[Column]:
    """Strength, interval and rank by each of some views."""
    for title in titles:
        yield Column(title, short=title.replace("–", "–\n"))
        yield Column(interval_heading(level), left=True)
        yield Column("Rank", short="#")


def strength_cells(views: Iterable[Mapping[str, StrengthRow]], model: str) -> Iterator[Cell]:
    """What stands in these columns, out of the rows of each view by model."""
    for rows in views:
        row = rows.get(model)
        if row is None:
            yield from [Cell(UNDEFINED)] * 3
        else:
            yield from (number(row.value, 2), span(row), rank(row.rank))


def _legend(found: ControlView) -> Iterator[str]:
    if found.controlled.rows:
        yield (
            f"Control for {found.control}: Bradley–Terry with the difference between two answers, "
            f"{count(found.controlled.n_results, 'result')}, {found.controlled.draws:,} draws over "
            "items (95% intervals held the truth in 90–95% of simulated logs). It decides nothing; "
            "where better answers are longer it takes that from them"
        )


def _lines(found: ControlView) -> Iterator[str]:
    """What the differences do, and why there is something that is not shown."""
    shown = found.covariates if found.controlled.rows else ()
    yield from (_effect(one) for one in shown if one.n_differ)
    if same := [one.name for one in shown if not one.n_differ]:
        yield f"Answers that met do not differ in {', '.join(same)}"
    if found.controlled.reason:
        yield f"Control for {found.control}: {found.controlled.reason}"
    if found.n_left_out and found.controlled.n_results:
        yield (
            f"{count(found.n_left_out, 'result')} left out of both: the log does not say how their "
            "answers look"
        )


def _effect(one: Covariate) -> str:
    won, lower, upper = one.twice
    within = "" if math.isnan(lower) else f" ({percents(lower, upper)})"
    return (
        f"Of two answers by equal models the one {_TWICE[one.name]} wins {percent(won)}{within}; "
        f"they differ in {count(one.n_differ, 'result')}"
    )
