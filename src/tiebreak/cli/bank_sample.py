"""The verb `bank sample`: questions for people who ask elsewhere."""

import click

from tiebreak.cli._shared import FILES, bank_option, plain_errors


@click.command()
@bank_option
@click.option("--k", type=click.IntRange(1), default=1000, show_default=True, help="Questions.")
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

    from tiebreak.bank.errors import BankError
    from tiebreak.bank.export import hand_out, write_questions
    from tiebreak.bank.sampling import Share, draw, entries, linked
    from tiebreak.bank.schema import open_bank
    from tiebreak.words import count

    if (anchors is None) != (session is None):
        raise click.UsageError("--anchors and --session go together")
    if institution is not None and anchors is not None:
        raise click.UsageError("--institution draws what is unseen: anchors are seen by all")
    if Path(out).exists():
        raise click.UsageError(f"{out} is there already: give --out another name")
    how = cast("Share", share)
    with plain_errors(BankError):
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
