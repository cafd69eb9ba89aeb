"""The verb `bank review`: people read drafts, in a spreadsheet."""

from dataclasses import asdict
from pathlib import Path

import click

from tiebreak.cli._shared import bank_option, echo_json, verb
from tiebreak.text import count


@verb()
@bank_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="CSV",
    help="Write the questions to a new file. It holds their keys.",
)
@click.option(
    "--in",
    "given",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="CSV",
    help="Take over what was decided in that file: all of it or nothing.",
)
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(["draft", "approved", "rejected"]),
    default=("draft",),
    show_default=True,
    help="With --out: questions of this status. Repeatable.",
)
@click.option(
    "--reviewer", default="", show_default=False, metavar="NAME", help="With --in: who decided."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of sentences.")
def review(
    url: str,
    out: Path | None,
    given: Path | None,
    statuses: tuple[str, ...],
    reviewer: str,
    as_json: bool,
) -> None:
    """Have people read questions before they are asked. Drafts go out as CSV, decisions come in.

    \b
    1. --out writes the drafts.
    2. In any spreadsheet, set status to approved or rejected. The text of the
       question, its answer and its hint may be edited. Rows and columns that
       nobody needs may go, but uuid, digest and status.
    3. --in takes the decisions over, and keeps each change with its time and
       reviewer.

    Rows that changed in the bank meanwhile are refused and named; then nothing is taken over. An
    apostrophe in front of a cell keeps the spreadsheet from running or changing it.

    \b
    Examples:
      tiebreak bank review --bank fair.db --out drafts.csv
      tiebreak bank review --bank fair.db --in drafts.csv --reviewer "A. Reader"
      tiebreak bank review --bank fair.db --out all.csv --status approved --status rejected
    """
    if (out is None) == (given is None):
        raise click.UsageError("Give one of --out and --in.")
    from tiebreak.fair.bank.review import read_review, write_review
    from tiebreak.fair.bank.schema import open_bank

    engine = open_bank(url)
    if out is not None:
        n = write_review(engine, out, statuses)  # type: ignore[arg-type]
        if as_json:
            echo_json({"file": str(out) if n else None, "questions": n})
        elif n:
            click.echo(f"{out}: {count(n, 'question')}, with their keys.")
        else:
            click.echo(f"No question is {' or '.join(statuses)}; no file was written.")
    elif given is not None:
        done = read_review(engine, given, reviewer)
        counts = {
            "approved": done.n_to("approved"),
            "rejected": done.n_to("rejected"),
            "draft_again": done.n_to("draft"),
            "edited": done.n_edited,
            "unchanged": done.n_unchanged,
        }
        if as_json:
            echo_json({**asdict(done), **counts})
        else:
            listed = [f"{n:,} {name.replace('_', ' ')}" for name, n in counts.items() if n]
            click.echo(f"{count(done.n_rows, 'row')}: {', '.join(listed)}.")
