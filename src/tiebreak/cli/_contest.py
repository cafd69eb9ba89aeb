"""A contest over many benchmarks, for `csd`, `report`, `publish`: its options, its run."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli._shared import Command, numbers

if TYPE_CHECKING:
    from tiebreak.analysis.contests import ContestReport
    from tiebreak.rankers.contests.expected_wins import CsdOptions
    from tiebreak.tables import ScoreTable

_OPTIONS = (
    click.option(
        "--rounds",
        type=click.Path(),
        metavar="FILE",
        help="YAML list: one entry per round, a benchmark, a list of them, or a mapping with "
        "benchmarks, name, eliminate, weight. [default: every benchmark is a round]",
    ),
    click.option(
        "--order",
        metavar="FILE|A,B,…",
        help="The benchmarks in the order of play, which is the method's weighting: names with "
        "commas between them, or a file with one a line. One that is not named is not played. "
        "[default: a table's columns from left to right; of logs and pools, alphabetical]",
    ),
    click.option(
        "--eliminate",
        callback=numbers(int, "whole numbers such as 0,1,2"),
        metavar="T[,T…]",
        help="Models that go out after each round; several values show what elimination costs. "
        "With M models and K rounds the largest that makes sense is M / (2·(K − 1)), rounded down: "
        "beyond, more than the weaker half goes out. [default: that of the rounds file, else 0]",
    ),
    click.option(
        "--missing",
        type=click.Choice(["error", "available", "worst"]),
        default="error",
        show_default=True,
        help="A missing score: an error, left out of the round's mean, or (a whole round) the "
        "worst.",
    ),
    click.option(
        "--spoil",
        multiple=True,
        metavar="MODEL=BENCHMARK[,…][:SCORE]",
        help="Also show what other scores there would do to this model's rank, here and in the "
        "plain mean: 0, as of a failed run, or a SCORE in the benchmark's own units, or :best, the "
        "best of any model there. Repeatable.",
    ),
    click.option(
        "--performance-tiers",
        type=click.IntRange(1),
        metavar="N",
        help="Tiers of models by natural breaks of expected wins: a description, no test. "
        "[default: 4, of 8 models or more]",
    ),
)
_NAMES = ("rounds", "order", "eliminate", "missing", "spoil", "performance_tiers")


def contest_options(command: Command) -> Command:
    """The options that say what a contest is like: one `setup`, for `play`."""
    return _with_setup(command, _OPTIONS)


def played_options(command: Command) -> Command:
    """The same without --spoil, which is no part of the contest itself."""
    options = zip(_NAMES, _OPTIONS, strict=True)
    return _with_setup(command, [option for name, option in options if name != "spoil"])


def _with_setup(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    @wraps(command)
    def with_setup(*args: Any, **others: Any) -> Any:
        setup = {name: others.pop(name, ()) for name in _NAMES}
        if setup["rounds"] and setup["order"]:
            raise click.UsageError("Give --rounds, whose order counts, or --order.")
        return command(*args, setup=setup, **others)

    decorated: Command = with_setup
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def given_of(setup: dict[str, Any]) -> list[str]:
    """The options that were given."""
    return [f"--{name.replace('_', '-')}" for name in setup if setup[name] and name != "missing"]


def play(
    table: "ScoreTable",
    setup: dict[str, Any],
    options: "CsdOptions",
    say: Callable[[str], None] | None = None,
) -> "ContestReport":
    """The contest over a table of scores; `say` is told what is being done.

    Raises:
        TableError, RankingError, MissingPackageError: as `contest_report` and the readers.
    """
    from tiebreak.analysis.contests import contest_report
    from tiebreak.tables import read_order, read_rounds

    rounds = None
    if setup["rounds"]:
        rounds = read_rounds(setup["rounds"], table.benchmarks)
    elif setup["order"]:
        rounds = read_order(setup["order"], table.benchmarks)
    return contest_report(
        table,
        rounds,
        eliminate=setup["eliminate"],
        spoil=setup["spoil"],
        performance_tiers=setup["performance_tiers"],
        options={**options, "missing": setup["missing"]},
        progress=say,
    )
