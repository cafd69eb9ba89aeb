"""The verb `rank`: leaderboards of ranking logs."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli import _shared
from tiebreak.cli._shared import FILES, show, verb
from tiebreak.text import split_names

if TYPE_CHECKING:
    from tiebreak.rankers import Resampling
    from tiebreak.ranking_logs import Attempts

_OF_LOGS = frozenset(
    {"attempts", "closure", "control", "draws", "pair", "people", "prices", "reference", "rule"}
)


@verb()
@click.argument("logs", type=FILES, nargs=-1, required=True)
@_shared.form_options("json", "csv")
@_shared.bootstrap_options
@click.option(
    "--closure",
    is_flag=True,
    help="Least squares also over what an item's results imply: a beat b, b beat c, so a beats c.",
)
@click.option(
    "--control",
    type=click.Choice(["length", "style"]),
    help="Also show strengths at equal length, or at equal length, headings, lists and bold.",
)
@click.option(
    "--by",
    type=click.Choice(["category"]),
    help="Add a board for each category of the items, side by side.",
)
@_shared.prices_option
@_shared.place_option("Place models by another rule that fits the protocol. No model is asked.")
@click.option(
    "--reference",
    metavar="MODEL",
    help="Of answers judged by stars: whose score relative scores refer to. [default: the best]",
)
@click.option(
    "--attempts",
    type=click.Choice(["best", "all"]),
    default="best",
    help="Of a run that was started several times: the log that came furthest, or every one.",
)
@click.option(
    "--pair",
    metavar="A,B",
    help="Only these two models, chosen beforehand: difference, interval, p.",
)
@click.option(
    "--people",
    type=FILES,
    metavar="FILE",
    help="People's votes or stars on some items: what they would say of all of them.",
)
@_shared.skip_faulty_option
def rank(
    logs: tuple[str, ...],
    form: str | None,
    how: "Resampling",
    attempts: "Attempts",
    pair: str | None,
    people: str | None,
    skip_faulty: bool,
    **views: Any,  # arguments of rank_logs
) -> None:
    """Print the leaderboard, the judge's reliability and the bill.

    Brackets (seal, flat_bracket) can be placed by elimination (losers of a round by margin, as in
    the paper), elimination_tied (all losers of a round tied) and least_squares (all results of an
    item); other matches by least_squares, and where all pairs met by points and win_rate.

    Answers judged by stars: all such logs of a benchmark are one board, with absolute, relative and
    subject scores; it says whether the models answered the same questions. CSV has its rows
    where no other log is given.

    With --people the board says what people would say: the judge's scores, corrected where people
    judged, too. FILE is read as `tiebreak calibrate` reads it.

    A file of matches instead of logs (CSV, JSON lines, JSON or Parquet with model_a, model_b and
    winner, as arenas have them; AlpacaEval's annotations; arena-hard's judgments) is a board by
    Bradley–Terry and least squares.

    A votes file is a board of people: its raters stand in the judge's place.

    A run that was killed and started again has several logs: the one that came furthest is its
    board, and a note counts the others.

    \b
    Examples:
      tiebreak rank logs/
      tiebreak rank logs/2026-11-21_seal.eval --csv > leaderboard.csv
      tiebreak rank logs/ --price 1.25,10
      tiebreak rank logs/ --pair openai/gpt-5,anthropic/claude
      tiebreak rank logs/ --people votes.csv
      tiebreak rank mail-ranking/ --by category
      tiebreak rank votes.db
      tiebreak rank logs/2026-11-21_seal.eval --place least_squares
      tiebreak rank stars/ --reference openai/gpt-5
      tiebreak rank battles.parquet
    """
    from tiebreak.tables.matches import may_hold_matches

    if matches := [path for path in logs if may_hold_matches(path)]:
        _require_matches_alone(logs, matches)
        from tiebreak.analysis.votes import vote_board

        read = partial(vote_board, level=how.level, seed=how.seed, skip_faulty=skip_faulty)
        show(form, [*map(read, logs)])
        return
    if (pair is not None or people is not None) and (
        any(views.values()) or None not in (pair, people)
    ):
        name, other = ("--pair", "--people") if people is None else ("--people", "--pair")
        raise click.UsageError(
            f"{name} takes no --by, --closure, --control, {other}, --place, --price and --reference"
        )
    if skip_faulty and people is None:
        raise click.UsageError("--skip-faulty goes with --people, or with a file of matches")
    labels = _shared.labels_of(people, skip_faulty=skip_faulty)
    if pair is not None:
        from tiebreak.analysis.pair import compare_pair

        names = split_names(pair)
        if len(names) != 2 or not all(names):
            raise click.BadParameter("two models with a comma between them", param_hint="--pair")
        show(form, compare_pair(logs, *names, level=how.level))
    elif labels is not None:
        from tiebreak.analysis.anchored import anchored_boards

        show(form, anchored_boards(logs, labels, level=how.level))
    else:
        from tiebreak.analysis.ranking import rank_logs

        show(form, rank_logs(logs, how=how, attempts=attempts, **views))


def _require_matches_alone(paths: Sequence[str], matches: Sequence[str]) -> None:
    """Refuse logs beside files of matches, and options that only logs can have."""
    if logs := [path for path in paths if path not in matches]:
        raise click.UsageError(
            f"{logs[0]} is not a file of matches, and {matches[0]} is one: rank them separately, "
            "or give it as --people"
        )
    _shared.refuse_given(_OF_LOGS, f"is for ranking logs, and {matches[0]} is a file of matches")
