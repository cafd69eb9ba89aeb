"""The verb `write-back`: ranks into each model's own Inspect log."""

import click

from tiebreak.cli._shared import FILES, echo_json, rename_option, verb


@verb("write-back")
@click.argument("ranking_logs", type=FILES, nargs=-1, required=True, metavar="RANKING_LOG...")
@click.option(
    "--into",
    multiple=True,
    required=True,
    type=FILES,
    metavar="LOGS",
    help="The models' own Inspect logs: a file or a folder. Repeatable.",
)
@rename_option(
    "Read benchmark OLD of these logs under the name NEW, as the ranking has it. Repeatable."
)
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
def write_back(
    ranking_logs: tuple[str, ...],
    into: tuple[str, ...],
    rename: dict[str, str],
    dry_run: bool,
    as_json: bool,
) -> None:
    """Put ranks into the models' own Inspect logs, as scores. Inspect's tools show them.

    Every ranked sample gets a score such as tiebreak_seal with its rank and its Borda score; the
    log gets the mean, its standard error and the model's place. Native scores stay as they are,
    and a second run changes nothing.

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
