"""The section that compares the judges of a jury, or the people who voted."""

import math

from tiebreak.analysis.judge.figures import Juror
from tiebreak.analysis.judge.raters import Raters
from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.analysis.stars import StarBoard
from tiebreak.report.cells import integer, number, share, share_estimate, words
from tiebreak.report.sheet import Column, Section, Table, interval_heading, model_names, numbers
from tiebreak.text import count


def jury_section(board: Leaderboard | StarBoard) -> Section:
    """A table with a row for each judge of a jury, or rater; their bills are in the receipt."""
    raters, in_pairs = board.raters, isinstance(board, Leaderboard)
    interval = Column(interval_heading(board.level), left=True)
    columns = [*[Column("First won"), interval] * in_pairs, Column("Agrees"), interval]
    rows = []
    for juror in board.jury:
        position = juror.figures.position
        first = share_estimate(position.rate)
        row = [*first * in_pairs, *share_estimate(juror.agreement)]
        if raters:
            row = [integer(_asked(juror)), number(raters.seconds[juror.name], 1), *row]
        else:
            row.append(share(_unusable(juror)))
        rows.append((words(juror.name), *row))
    noun, verdicts, title = "judge", "verdicts", "The jury"
    if raters:
        noun, verdicts, title = "rater", "votes", "The raters"
        columns = [*numbers("Votes", "Seconds"), *columns]
    else:
        columns.append(Column("No reply"))
    table = Table.of((model_names(noun.capitalize()), *columns), rows, title)
    legend = (
        (f"First won: {verdicts} for the answer shown first (unbiased: 50%). " * in_pairs)
        + (
            "Agrees: pairs of "
            f"answers in the order in which most of the other {noun}s put them (a coin: 50%)"
        )
        + ". Seconds: the median that a vote took" * (raters is not None)
    )
    lines = [_agreement_line(raters, in_pairs=in_pairs)] if raters else []
    return Section.of(table, legend=[legend] if rows else [], lines=lines)


def _agreement_line(raters: Raters, *, in_pairs: bool) -> str:
    if not raters.n_shared:
        return f"Whether raters agree cannot be told: {raters.alpha.reason}"
    figures = [
        f"{name} {of.value:.2f} ({of.lower:.2f} to {of.upper:.2f})"
        if not math.isnan(of.lower)
        else f"{name} {of.value:.2f} ({of.reason})"
        for name, of in (("Krippendorff's α", raters.alpha), ("Cohen's κ", raters.kappa))
    ]
    noun, done = ("pair", "compared") if in_pairs else ("answer", "gave stars")
    on = f"on {count(raters.n_shared, noun)} that several {done}"
    return f"Raters among themselves, {on}: {', '.join(figures)}"


def _asked(juror: Juror) -> int:
    return sum(reply.n_questions for reply in juror.figures.replies)


def _unusable(juror: Juror) -> float:
    asked = _asked(juror)
    missing = sum(reply.n_unscored for reply in juror.figures.replies)
    return missing / asked if asked else math.nan
