"""The verbs `bank export` and `bank sample`: sessions as pools of candidates; questions."""

from typing import TYPE_CHECKING

import click

from tiebreak.cli._shared import FILES, bank_option, verb

if TYPE_CHECKING:
    from tiebreak.fair.bank.question import Status


@verb()
@click.argument("sessions", nargs=-1, metavar="[SESSION...]")
@bank_option
@click.option(
    "--out",
    type=FILES,
    metavar="FILE|FOLDER",
    help="The pool (.parquet) of one session, or a folder for SESSION.parquet of each. "
    "[default: this folder]",
)
@click.option(
    "--partial", is_flag=True, help="Take sessions that are not answered to the end, as they are."
)
@click.option(
    "--questions",
    is_flag=True,
    help="Instead of sessions the bank's questions with their keys, as FILE.jsonl, .parquet or "
    ".csv, which `bank import` reads again.",
)
@click.option(
    "--status",
    type=click.Choice(["draft", "approved", "rejected"]),
    help="Only questions with this status.",
)
def export(
    sessions: tuple[str, ...],
    url: str,
    out: str | None,
    partial: bool,
    questions: bool,
    status: "Status | None",
) -> None:
    """Make a pool of a session's answers, with the keys to grade them. Or write the questions.

    Every session has questions of its own, so each is a pool of its own, and is judged in a log of
    its own; `tiebreak rank` joins these. A session that is not answered to the end is an error
    that names what is missing.

    \b
    Examples:
      tiebreak bank export 3f2a… --out gpt-5.parquet
      tiebreak bank export 3f2a… 77c1… --out pools/
      tiebreak bank export --questions --out questions.jsonl
      inspect eval tiebreak/stars -T candidates=gpt-5.parquet --model-role judge=openai/gpt-5
    """
    from pathlib import Path

    from tiebreak.candidates.parquet import write_parquet
    from tiebreak.fair.bank.export import export_questions, pool_of
    from tiebreak.fair.bank.schema import open_bank
    from tiebreak.text import count, visible

    if questions == bool(sessions) or (status and not questions):
        raise click.UsageError("Give sessions, or --questions, which --status goes with.")
    if questions:
        if out is None:
            raise click.UsageError("--questions needs --out FILE.")
        n = export_questions(open_bank(url), out, status)
        click.echo(f"{out}: {count(n, 'question')}")
        return
    target = Path(out or ".")
    is_file = target.suffix == ".parquet"
    if is_file and len(sessions) > 1:
        raise click.UsageError(
            "sessions have different questions, so each is a pool of its own: give --out a folder"
        )
    engine = open_bank(url)
    pools = {session: pool_of(engine, session, partial=partial) for session in sessions}
    for session, pool in pools.items():
        file = write_parquet(pool, target if is_file else target / f"{session}.parquet")
        click.echo(f"{file}: {count(len(pool), 'answer')} of {visible(pool.models[0])}")
        for note in pool.notes:
            click.echo(visible(str(note)))


@verb()
@bank_option
@click.option(
    "--k", type=click.IntRange(1), default=1000, show_default=True, help="How many questions."
)
@click.option("--seed", default="0", show_default=True, help="Names the draw.")
@click.option(
    "--anchors",
    type=click.FloatRange(0, 1),
    help="Share that the seed alone decides; --session decides the rest.",
)
@click.option("--session", metavar="NAME", help="Name of the session; needs --anchors.")
@click.option("--balanced", is_flag=True, help="Make true and false right equally often.")
@click.option(
    "--share",
    type=click.Choice(["equal", "proportional"]),
    default="equal",
    show_default=True,
    help="As many of each category, or as the bank has them.",
)
@click.option(
    "--institution",
    metavar="NAME",
    help="Draw only what it was never given, by a server or by this verb, and keep in the bank "
    "that it has this now.",
)
@click.option("--with-keys", is_flag=True, help="Write the keys and what explains them, too.")
@click.option(
    "--out",
    required=True,
    type=FILES,
    metavar="FILE.jsonl",
    help="File to write; not one that is there.",
)
def sample(
    url: str,
    k: int,
    seed: str,
    anchors: float | None,
    session: str | None,
    balanced: bool,
    share: str,
    institution: str | None,
    with_keys: bool,
    out: str,
) -> None:
    """Draw questions as `inspect eval tiebreak/fair` does. They are written as JSON lines.

    \b
    Examples:
      tiebreak bank sample --k 100 --seed 2026 --out questions.jsonl
      tiebreak bank sample --k 100 --anchors 0.2 --session lab-a --out lab-a.jsonl
      tiebreak bank sample --k 100 --institution lab-a --with-keys --out keys.jsonl
    """
    from pathlib import Path
    from typing import cast

    from tiebreak.fair.bank.export import hand_out, write_questions
    from tiebreak.fair.bank.sampling import Share, draw, entries, linked
    from tiebreak.fair.bank.schema import open_bank
    from tiebreak.text import count

    if (anchors is None) != (session is None):
        raise click.UsageError("--anchors and --session go together")
    if institution is not None and anchors is not None:
        raise click.UsageError("--institution draws what is unseen: anchors are seen by all")
    if Path(out).exists():
        raise click.UsageError(f"{out} is there already: give --out another name")
    how = cast("Share", share)
    engine = open_bank(url)
    if institution is not None:
        uuids = hand_out(engine, k, seed, institution, balanced=balanced, share=how)
    elif anchors is None or session is None:
        uuids = draw(entries(engine), k, seed, balanced=balanced, share=how)
    else:
        bank = entries(engine)
        uuids = linked(bank, k, seed, session, anchors=anchors, balanced=balanced, share=how)
    write_questions(engine, uuids, Path(out), with_keys=with_keys)
    click.echo(f"{out}: {count(k, 'question')}{' with their keys' if with_keys else ''}")
