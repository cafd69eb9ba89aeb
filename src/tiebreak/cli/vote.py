"""The verb `vote`: serve a page where people vote on answers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from tiebreak.cli._families import CandidateOptions
from tiebreak.cli._options import File, Port, family, option, verb
from tiebreak.extras import to_install


@verb()
def vote(
    logs: tuple[File, ...],
    *,
    out: Path = option("The file of votes; one that is there goes on.", default=Path("votes.db")),
    goal: File | None = option(
        "How many votes are wanted; or a judge's logs (with --stars, of one that gave stars): as "
        "many as decide between the two models in front, if the judge is about right.",
        metavar="N|RANKING_LOGS",
    ),
    stars: bool = option("Rate one answer, beside the key, with 0 to 3 stars."),
    only_open: tuple[File, ...] = option(
        "Ask only pairs that the board of these logs leaves open. Repeatable.",
        metavar="RANKING_LOGS",
    ),
    shared: int = option(
        "One question in so many goes to all raters, so that agreement can be measured; 0: none.",
        default=5,
        type=click.IntRange(0),
    ),
    seed: int = option("Seed of the items' order, pairs and sides.", default=0),
    host: str = option("Address to listen on.", default="127.0.0.1"),
    port: Port = option("Port; 0 takes a free one.", default=0),
    loading: CandidateOptions = family(CandidateOptions),
) -> None:
    """Open a page where people vote on answers, until Ctrl-C. Nobody sees which model is which.

    LOGS are logs and pools of candidates, as `tiebreak candidates` reads them. The page shows two
    answers to an item side by side, or with --stars one answer and the key. Items come in random
    order, pairs take turns so that each meets equally often, and identical answers are never shown.
    Each vote is saved before the next question comes. Several people can vote at a time, each under
    a name.

    The address contains a secret: everybody who has it may vote. With another --host than this
    machine nothing is encrypted.

    \b
    Examples:
      tiebreak vote examples/study --out votes.db
      tiebreak vote logs/ --out logs.db --goal 120
      tiebreak vote logs/ --out goal.db --goal logs/
      tiebreak vote logs/ --out stars.db --stars
      tiebreak vote logs/ --out open.db --only-open logs/
    """
    if stars and only_open:
        raise click.UsageError("--only-open is about pairs: leave it or --stars out")
    stated = int(goal) if goal is not None and goal.isascii() and goal.isdigit() else None
    if stated == 0:
        raise click.BadParameter("give 1 vote or more", param_hint="--goal")
    try:
        from tiebreak.people.page import serve
    except ModuleNotFoundError as error:
        name = (error.name or "tiebreak").partition(".")[0]
        if name == "tiebreak":
            raise
        raise click.ClickException(f"The page needs {name}: {to_install('people')}.") from error

    import tiebreak
    from tiebreak.candidates import load_candidates
    from tiebreak.people.turns import items_of, votes_on
    from tiebreak.ranking_logs.votes_file import VotesKind, VotesMeta, utc_now

    kind: VotesKind = "stars" if stars else "matches"
    items = items_of(load_candidates(logs, **vars(loading)), kind, seed)
    models = {item.ballots.benchmark: item.ballots.models for item in items}
    decides = goal is not None and stated is None
    if goal is not None and stated is None:
        stated = _votes_to_decide(goal, Counter(item.ballots.benchmark for item in items), stars)
    meta = VotesMeta(
        kind=kind,
        seed=seed,
        created=utc_now(),
        sources=logs,
        goal=stated,
        decides=decides,
        schedule="open" if only_open else "balanced",
        shared_every=shared,
        open=_open_pairs(only_open, models) if only_open else None,
        tiebreak_version=tiebreak.__version__,
    )
    with votes_on(out, items, meta) as file:
        end = f"Votes are kept in {out}. Ctrl-C ends the page."
        try:
            serve(file, host, port, lambda address: click.echo(f"Vote at {address}\n{end}"))
        except OSError as error:
            raise click.ClickException(
                f"The page cannot be served on {host}, port {port} ({error.strerror or error}): "
                "give another --host or --port."
            ) from error


def _votes_to_decide(logs: str, n_items: Counter[str], stars: bool) -> int:
    """Number of votes that decide between the leading models, on `n_items` by benchmark."""
    from tiebreak.analysis.anchored import votes_to_decide

    boards = votes_to_decide(logs, stars=stars)
    needed = [board for board in boards if board.benchmark in n_items]
    if not needed:
        kind = "stars" if stars else "pairs"
        raise click.ClickException(
            f"{logs} ranks none of these models' benchmarks by {kind}: give a number with --goal."
        )
    for board in needed:
        first, second = board.two
        if math.isinf(board.n_votes):
            raise click.ClickException(
                f"No number of votes on the items of {board.benchmark} decides between {first} "
                f"and {second} if people say what the judge says: it takes more items. Give a "
                "number with --goal, or leave it out."
            )
    votes = max(b.n_votes * n_items.total() / n_items[b.benchmark] for b in needed)
    noun = "answers with stars" if stars else "votes"
    alike = "give the stars that the judge gives" if stars else "prefer what the judge prefers"
    click.echo(
        f"{math.ceil(votes):,} {noun} decide between "
        + " and between ".join(" and ".join(board.two) for board in needed)
        + f" in 4 of 5 cases, if people {alike}. Left out: that people may differ from it, and "
        "that several of them are asked the same (--shared)."
    )
    return math.ceil(votes)


def _open_pairs(
    logs: Sequence[str], models: Mapping[str, Sequence[str]]
) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """The pairs of models that the boards of these logs do not tell apart, by benchmark."""
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
