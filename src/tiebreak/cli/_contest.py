"""The contest of `tiebreak csd`, for every verb that shows one."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from tiebreak.cli._shared import renamed

if TYPE_CHECKING:
    from tiebreak.analysis.contests import ContestReport
    from tiebreak.rankers.contests.expected_wins import CsdOptions


def read_contest(
    scores: Sequence[str],
    options: "CsdOptions",
    *,
    rounds_file: str | None = None,
    eliminate: str | None = None,
    spoil: str | None = None,
    metric: str | None = None,
    filter_name: str | None = None,
    rename: Iterable[str] = (),
) -> "ContestReport":
    """The contest over score tables; the arguments are the options of `tiebreak csd`.

    Raises:
        TableError: a table or the rounds file cannot be read.
        RankingError: there is no such contest.
        MissingPackageError: a package for parallel work is not installed.
        BadParameter: `eliminate` is not a list of whole numbers.
    """
    from tiebreak.analysis.contests import contest_report
    from tiebreak.tables import read_rounds, read_scores

    table = read_scores(
        scores, metric=metric, filter=filter_name, rename=dict(map(renamed, rename))
    )
    rounds = read_rounds(rounds_file, table.benchmarks) if rounds_file else None
    return contest_report(
        table, rounds, eliminate=_eliminations(eliminate), spoil=spoil, options=options
    )


def _eliminations(option: str | None) -> tuple[int, ...] | None:
    try:
        return None if option is None else tuple(int(part) for part in option.split(","))
    except ValueError as error:
        raise click.BadParameter(
            f"{option!r} is not a list of whole numbers such as 0,1,2", param_hint="--eliminate"
        ) from error
