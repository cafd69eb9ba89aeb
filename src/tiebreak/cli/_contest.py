"""Options of a contest over many benchmarks, and its run, for `csd`, `report` and `publish`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from tiebreak.cli._families import numbers
from tiebreak.cli._options import Count, File, Name, family, option

if TYPE_CHECKING:
    from tiebreak.analysis.contests import ContestReport
    from tiebreak.rankers.contests.expected_wins import CsdOptions
    from tiebreak.tables.inputs import ReadingOptions


@dataclass(frozen=True, kw_only=True)
class Contest:
    """The options of a contest, one per field."""

    rounds: str | None = option(
        "YAML list: one entry per round, a benchmark, a list of them, or a mapping with "
        "benchmarks, name, eliminate, weight. [default: every benchmark is a round]",
        type=click.Path(),
        metavar="FILE",
    )
    order: File | None = option(
        "The benchmarks in the order of play, which weights them: names separated by commas, "
        "or a file with one a line. Benchmarks that are not named are not played. "
        "[default: a table's columns from left to right; of logs and pools, alphabetical]",
        metavar="FILE|A,B,…",
    )
    eliminate: tuple[int, ...] | None = option(
        "Models that go out after each round; several values show what elimination costs. "
        "With M models and K rounds the largest that makes sense is M / (2·(K − 1)), rounded down: "
        "beyond, more than the weaker half goes out. [default: that of the rounds file, else 0]",
        callback=numbers(int, "whole numbers such as 0,1,2"),
        metavar="T[,T…]",
    )
    missing: Literal["error", "available", "worst"] = option(
        "A missing score: an error, left out of the round's mean, or (a whole round) the worst.",
        default="error",
    )
    spoil: tuple[str, ...] = option(
        "Also show what other scores there would do to this model's rank, here and in the "
        "plain mean: 0, as of a failed run, or a SCORE in the benchmark's own units, or :best, the "
        "best of any model there. Repeatable.",
        metavar="MODEL=BENCHMARK[,…][:SCORE]",
    )
    performance_tiers: Count | None = option(
        "Tiers of models by natural breaks of expected wins: a description, no test. "
        "[default: 4, of 8 models or more]",
        metavar="N",
    )
    tiers: int | None = option(
        "A contest within one benchmark, from the items of a pool or of logs: rounds are K "
        "bands (10 in the paper) of the items' mean success rate over the models, from easy to "
        "hard.",
        type=click.IntRange(2),
        metavar="K",
    )
    benchmark: Name | None = option(
        "With --tiers: which benchmark's items, where there are several."
    )

    def __post_init__(self) -> None:
        if self.rounds and self.order:
            raise click.UsageError("Give --rounds, whose order counts, or --order.")
        if self.benchmark and not self.tiers:
            raise click.UsageError("--benchmark goes with --tiers; --order chooses benchmarks.")
        options = {"rounds": self.rounds, "order": self.order, "spoil": self.spoil}
        of_benchmarks = [f"--{name}" for name, value in options.items() if value]
        of_benchmarks += ["--missing"] if self.missing != "error" else []
        if of_benchmarks and self.tiers:
            raise click.UsageError(
                f"{', '.join(of_benchmarks)}: for rounds of benchmarks; with --tiers the items are "
                "rounds."
            )

    def given(self, reading: Mapping[str, object]) -> list[str]:
        """The options of the contest and of `reading` its scores that were given."""
        options = {**vars(self), "missing": None, **reading}
        return [f"--{name.replace('_', '-')}" for name, value in options.items() if value]


contest_options: Contest = family(Contest)
"""All options of a contest, for `play`."""

played_options: Contest = family(Contest, "spoil", "tiers", "benchmark")
"""The same without tiers of one benchmark, and without --spoil, which only shows changes."""


def play(
    scores: Sequence[str], reading: "ReadingOptions", contest: Contest, options: "CsdOptions"
) -> "ContestReport":
    """Read scores from files and folders, and return the contest over them.

    `reading` are arguments of `read_scores`, `options` those of `csd`; `contest` is the value of
    `contest_options`.

    Raises:
        TableError, RankingError, MissingPackageError: as `contest_report` and the readers.
    """
    from tiebreak.analysis.contests import contest_report, tier_report
    from tiebreak.tables import read_order, read_rounds, read_scores

    played: dict[str, Any] = {
        "eliminate": contest.eliminate,
        "performance_tiers": contest.performance_tiers,
    }
    if contest.tiers:
        from tiebreak.tables.pool_scores import read_item_scores

        if reading.get("stderr"):
            raise click.UsageError(
                "--stderr: for scores of benchmarks; items bring their own errors."
            )
        items = read_item_scores(
            scores,
            benchmark=contest.benchmark,
            metric=reading["metric"],
            filter=reading["filter"],
            rename=reading["rename"],
        )
        return tier_report(items, contest.tiers, options=options, **played)
    table = read_scores(scores, **reading)
    rounds = None
    if contest.rounds:
        rounds = read_rounds(contest.rounds, table.benchmarks)
    elif contest.order:
        rounds = read_order(contest.order, table.benchmarks)
    return contest_report(
        table,
        rounds,
        spoil=contest.spoil,
        options={**options, "missing": contest.missing},
        **played,
    )
