"""The verb `vote`: a page where people say which answers are better."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tiebreak.cli._shared import FILES, loading_options, verb
from tiebreak.extras import to_install


@verb()
@click.argument("logs", type=FILES, nargs=-1, required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="votes.db",
    help="The file of votes; one that is there goes on.",
)
@click.option("--goal", type=click.IntRange(1), metavar="N", help="How many votes are wanted.")
@click.option("--stars", is_flag=True, help="Rate one answer, beside the key, with 0 to 3 stars.")
@click.option(
    "--only-open",
    multiple=True,
    type=FILES,
    metavar="RANKING_LOGS",
    help="Ask only pairs that the board of these logs leaves open. Repeatable.",
)
@click.option(
    "--shared",
    type=click.IntRange(0),
    default=5,
    help="One of so many questions is put to all raters, so that agreement can be measured; 0: "
    "none.",
)
@click.option("--seed", type=int, default=0, help="Seed of the items' order, pairs and sides.")
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 takes a free one.")
@loading_options()
def vote(
    logs: tuple[str, ...],
    out: Path,
    goal: int | None,
    stars: bool,
    only_open: tuple[str, ...],
    shared: int,
    seed: int,
    host: str,
    port: int,
    loading: dict[str, Any],
) -> None:
    """Open a page where people vote on answers, until Ctrl-C. Nobody sees which model is which.

    LOGS are logs and pools of candidates, as `tiebreak candidates` reads them. Two answers to an
    item stand side by side, or with --stars one and the key. Items come in an order drawn by lot,
    pairs take turns so that each meets equally often, and identical answers are never shown. Each
    vote is kept before the next question comes. Several people vote at a time, each under a name.

    The address holds a secret: whoever has it may vote. On another --host than this machine nothing
    is encrypted.

    \b
    Examples:
      tiebreak vote examples/study --out votes.db
      tiebreak vote logs/ --out logs.db --goal 120
      tiebreak vote logs/ --out stars.db --stars
      tiebreak vote logs/ --out open.db --only-open logs/
    """
    if stars and only_open:
        raise click.UsageError("--only-open is about pairs: leave it or --stars out")
    try:
        from tiebreak.people.page import serve
    except ModuleNotFoundError as error:
        name = (error.name or "tiebreak").partition(".")[0]
        if name == "tiebreak":
            raise
        raise click.ClickException(f"The page needs {name}: {to_install('people')}.") from error

    import tiebreak
    from tiebreak.candidates import load_candidates
    from tiebreak.people.items import items_of, votes_on
    from tiebreak.ranking_logs.votes_file import VotesKind, VotesMeta, utc_now

    kind: VotesKind = "stars" if stars else "matches"
    items = items_of(load_candidates(logs, **loading), kind, seed)
    models = {item.ballots.benchmark: item.ballots.models for item in items}
    meta = VotesMeta(
        kind=kind,
        seed=seed,
        created=utc_now(),
        sources=logs,
        goal=goal,
        schedule="open" if only_open else "balanced",
        shared_every=shared,
        open=_open_pairs(only_open, models) if only_open else None,
        tiebreak_version=tiebreak.__version__,
    )
    with votes_on(out, items, meta) as file:
        end = f"Votes are kept in {out}. Ctrl-C ends the page."
        serve(file, host, port, lambda address: click.echo(f"Vote at {address}\n{end}"))


def _open_pairs(
    logs: Sequence[str], models: Mapping[str, Sequence[str]]
) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """By benchmark the pairs of its models that a board leaves open."""
    from tiebreak.analysis.ranking import rank_logs

    pairs: dict[str, dict[tuple[str, str], None]] = {}
    for board in rank_logs(logs).boards:
        answered = {*models.get(board.benchmark, ())}
        for pair in board.pairs:
            if pair.apart is not True and answered >= {pair.above, pair.below}:
                pairs.setdefault(board.benchmark, {})[pair.above, pair.below] = None
    if not pairs:
        raise click.ClickException(
            "The boards leave no pair of these models open: leave out --only-open."
        )
    return {benchmark: tuple(left) for benchmark, left in pairs.items()}
