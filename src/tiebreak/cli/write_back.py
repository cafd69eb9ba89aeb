"""The verb `write-back`: write ranks into each model's own Inspect log."""

from tiebreak.cli._families import json_option, rename_option
from tiebreak.cli._options import File, option, verb
from tiebreak.cli._shared import echo_json


@verb("write-back", metavar="RANKING_LOG...")
def write_back(
    ranking_logs: tuple[File, ...],
    *,
    into: tuple[File, ...] = option(
        "The models' own Inspect logs: a file or a folder. Repeatable.",
        metavar="LOGS",
        required=True,
    ),
    rename: dict[str, str] = rename_option(
        "Read benchmark OLD of these logs under the name NEW, as the ranking has it. Repeatable."
    ),
    dry_run: bool = option("Say what would be written, and write nothing."),
    as_json: bool = json_option,
) -> None:
    """Put ranks into the models' own Inspect logs, as scores. Inspect's tools show them.

    Every ranked sample gets a score (e.g. tiebreak_seal) with its rank and its Borda score; the log
    gets the mean, its standard error and the model's place. Native scores do not change, and a
    second run changes nothing.

    \b
    Examples:
      tiebreak write-back logs/2026-11-21_seal.eval --into logs/ --dry-run
      tiebreak write-back logs/ --into logs/
    """
    from rich.console import Console

    from tiebreak.publish.write_back import write_back_ranks
    from tiebreak.publish.write_back.run import data_of, sheets_of
    from tiebreak.report import terminal

    outcome = write_back_ranks(ranking_logs, into, rename=rename, dry_run=dry_run)
    if as_json:
        echo_json(data_of(outcome))
    else:
        terminal.show(sheets_of(outcome), Console(highlight=False, soft_wrap=True))
