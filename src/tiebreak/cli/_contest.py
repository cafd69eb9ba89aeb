"""A contest over many benchmarks, for `csd`, `report`, `publish`: its options, its run."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli._shared import FILES, Command, numbers

if TYPE_CHECKING:
    from tiebreak.analysis.contests import ContestReport
    from tiebreak.rankers.contests.expected_wins import CsdOptions

_OPTIONS = {
    "rounds": click.option(
        "--rounds",
        type=click.Path(),
        metavar="FILE",
        help="YAML list: one entry per round, a benchmark, a list of them, or a mapping with "
        "benchmarks, name, eliminate, weight. [default: every benchmark is a round]",
    ),
    "order": click.option(
        "--order",
        type=FILES,
        metavar="FILE|A,B,…",
        help="The benchmarks in the order of play, which is the method's weighting: names with "
        "commas between them, or a file with one a line. One that is not named is not played. "
        "[default: a table's columns from left to right; of logs and pools, alphabetical]",
    ),
    "eliminate": click.option(
        "--eliminate",
        callback=numbers(int, "whole numbers such as 0,1,2"),
        metavar="T[,T…]",
        help="Models that go out after each round; several values show what elimination costs. "
        "With M models and K rounds the largest that makes sense is M / (2·(K − 1)), rounded down: "
        "beyond, more than the weaker half goes out. [default: that of the rounds file, else 0]",
    ),
    "missing": click.option(
        "--missing",
        type=click.Choice(["error", "available", "worst"]),
        default="error",
        show_default=True,
        help="A missing score: an error, left out of the round's mean, or (a whole round) the "
        "worst.",
    ),
    "spoil": click.option(
        "--spoil",
        multiple=True,
        metavar="MODEL=BENCHMARK[,…][:SCORE]",
        help="Also show what other scores there would do to this model's rank, here and in the "
        "plain mean: 0, as of a failed run, or a SCORE in the benchmark's own units, or :best, the "
        "best of any model there. Repeatable.",
    ),
    "performance_tiers": click.option(
        "--performance-tiers",
        type=click.IntRange(1),
        metavar="N",
        help="Tiers of models by natural breaks of expected wins: a description, no test. "
        "[default: 4, of 8 models or more]",
    ),
    "tiers": click.option(
        "--tiers",
        type=click.IntRange(2),
        metavar="K",
        help="A contest within one benchmark, from the items of a pool or of logs: rounds are K "
        "bands (10 in the paper) of the items' mean success rate over the models, from easy to "
        "hard.",
    ),
    "benchmark": click.option(
        "--benchmark",
        metavar="NAME",
        help="With --tiers: which benchmark's items, where there are several.",
    ),
}
# What has no sense where the rounds are made of items.
_NOT_WITH_TIERS = ("rounds", "order", "spoil")


def contest_options(command: Command) -> Command:
    """The options that say what a contest is like: one `setup`, for `play`."""
    return _with_setup(command, list(_OPTIONS.values()))


def played_options(command: Command) -> Command:
    """The same of a contest over many benchmarks, without --spoil, which is no part of it."""
    left_out = ("spoil", "tiers", "benchmark")
    return _with_setup(command, [_OPTIONS[name] for name in _OPTIONS if name not in left_out])


def _with_setup(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    @wraps(command)
    def with_setup(*args: Any, **others: Any) -> Any:
        setup = {name: others.pop(name, ()) for name in _OPTIONS}
        if setup["rounds"] and setup["order"]:
            raise click.UsageError("Give --rounds, whose order counts, or --order.")
        if setup["benchmark"] and not setup["tiers"]:
            raise click.UsageError("--benchmark goes with --tiers; --order chooses benchmarks.")
        beside = [f"--{name}" for name in _NOT_WITH_TIERS if setup[name]]
        beside += ["--missing"] if setup["missing"] in ("available", "worst") else []
        if beside and setup["tiers"]:
            raise click.UsageError(
                f"{', '.join(beside)}: for rounds of benchmarks; with --tiers the items are rounds."
            )
        return command(*args, setup=setup, **others)

    decorated: Command = with_setup
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def given_of(setup: dict[str, Any]) -> list[str]:
    """The options that were given."""
    return [f"--{name.replace('_', '-')}" for name in setup if setup[name] and name != "missing"]


def play(
    scores: Sequence[str], reading: Mapping[str, Any], setup: dict[str, Any], options: Any
) -> "ContestReport":
    """The contest over scores that are read first, from files and folders.

    `reading` are arguments of `read_scores`, `options` those of `csd`; `setup` is what
    `contest_options` gives.

    Raises:
        TableError, RankingError, MissingPackageError: as `contest_report` and the readers.
    """
    from tiebreak.analysis.contests import contest_report
    from tiebreak.tables import read_order, read_rounds, read_scores

    if setup["tiers"]:
        return _play_items(scores, reading, setup, options)
    table = read_scores(scores, **reading)
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
        options=options | {"missing": setup["missing"]},
    )


def _play_items(
    scores: Sequence[str], reading: Mapping[str, Any], setup: dict[str, Any], options: "CsdOptions"
) -> "ContestReport":
    """The contest whose rounds are tiers of the items of one benchmark; see `play`."""
    from tiebreak.analysis.contests import tier_report
    from tiebreak.tables.pool_scores import read_item_scores

    if reading.get("stderr"):
        raise click.UsageError("--stderr: for scores of benchmarks; items bring their own errors.")
    how = {name: given for name, given in reading.items() if name != "stderr"}
    items = read_item_scores(scores, benchmark=setup["benchmark"], **how)
    return tier_report(
        items,
        setup["tiers"],
        eliminate=setup["eliminate"],
        performance_tiers=setup["performance_tiers"],
        options=options,
    )
