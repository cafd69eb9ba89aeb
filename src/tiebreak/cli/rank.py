"""The verb `rank`: leaderboards of ranking logs."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Literal

import click

from tiebreak.cli import _families
from tiebreak.cli._options import File, Model, family, option, verb
from tiebreak.cli._shared import labels_of, refuse_given, show
from tiebreak.text import split_names

if TYPE_CHECKING:
    from tiebreak.rankers import Resampling
    from tiebreak.scorers.ballots import Rule


@dataclass(frozen=True, kw_only=True)
class _Views:
    """Options of a board of logs: arguments of `rank_logs`."""

    closure: bool = option(
        "Least squares also over what an item's results imply: a beat b, b beat c, so a beats c."
    )
    control: Literal["length", "style"] | None = option(
        "Also show strengths at equal length, or at equal length, headings, lists and bold."
    )
    by: Literal["category"] | None = option(
        "Add a board for each category of the items, side by side."
    )
    prices: tuple[str, ...] = _families.prices_option
    rule: "Rule | None" = _families.place_option(
        "Place models by another rule that fits the protocol. No model is asked."
    )
    reference: Model | None = option(
        "Of answers judged by stars: whose score relative scores refer to. [default: the best]"
    )


# Options that are refused for files of matches.
_OF_LOGS = {"attempts", "draws", "pair", "people", *(field.name for field in fields(_Views))}


@verb()
def rank(
    logs: tuple[File, ...],
    *,
    form: str | None = _families.form_or_csv_options,
    how: "Resampling" = _families.bootstrap_options,
    views: _Views = family(_Views),
    attempts: Literal["best", "all"] = option(
        "Of a run that was started several times: the log that came furthest, or every one.",
        default="best",
    ),
    pair: str | None = option(
        "Only these two models, chosen beforehand: difference, interval, p.", metavar="A,B"
    ),
    people: File | None = option(
        "People's votes or stars on some items: what they would say of all of them."
    ),
    skip_faulty: bool = _families.skip_faulty_option,
) -> None:
    """Print the leaderboard, the judge's reliability and the bill.

    Brackets (seal, flat_bracket) can be placed by elimination (losers of a round by margin, as in
    the paper), elimination_tied (all losers of a round tied) or least_squares (all results of an
    item); other matches by least_squares, and if all pairs met also by points and win_rate.

    Answers judged by stars: all these logs of a benchmark are one board, with absolute, relative
    and subject scores; it says whether the models answered the same questions. CSV has its rows if
    no other log is given.

    With --people the board estimates what people would say: the judge's scores, corrected by the
    answers that people judged, too. FILE is read as `tiebreak calibrate` reads it.

    A file of matches instead of logs (CSV, JSON lines, JSON or Parquet with model_a, model_b and
    winner, as arenas have them; AlpacaEval's annotations; arena-hard's judgments) gives a board by
    Bradley–Terry and least squares.

    A votes file gives a board by people: its raters take the judge's place.

    A run that was killed and started again has several logs: the one that came furthest counts,
    and a note names the others.

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

    board: object
    if matches := [path for path in logs if may_hold_matches(path)]:
        _require_matches_alone(logs, matches)
        from tiebreak.analysis.votes import vote_board

        read = partial(vote_board, level=how.level, seed=how.seed, skip_faulty=skip_faulty)
        board = [*map(read, logs)]
    elif pair is None and people is None:
        if skip_faulty:
            raise click.UsageError("--skip-faulty goes with --people, or with a file of matches")
        from tiebreak.analysis.ranking import rank_logs

        board = rank_logs(logs, how=how, attempts=attempts, **vars(views))
    elif any(vars(views).values()) or None not in (pair, people):
        name, other = ("--pair", "--people") if people is None else ("--people", "--pair")
        raise click.UsageError(
            f"{name} takes no --by, --closure, --control, {other}, --place, --price and --reference"
        )
    elif (labels := labels_of(people, skip_faulty=skip_faulty)) is not None:
        from tiebreak.analysis.anchored import anchored_boards

        board = anchored_boards(logs, labels, level=how.level)
    else:
        from tiebreak.analysis.pair import compare_pair

        names = split_names(pair or "")
        if len(names) != 2 or not all(names):
            raise click.BadParameter("two models with a comma between them", param_hint="--pair")
        board = compare_pair(logs, *names, level=how.level)
    show(form, board)


def _require_matches_alone(paths: Sequence[str], matches: Sequence[str]) -> None:
    """Raise a usage error for logs beside files of matches, and for options of logs alone."""
    if logs := [path for path in paths if path not in matches]:
        raise click.UsageError(
            f"{logs[0]} is not a file of matches, and {matches[0]} is one: rank them separately, "
            "or give it as --people"
        )
    refuse_given(_OF_LOGS, f"is for ranking logs, and {matches[0]} is a file of matches")
