"""The verb `demo`: the whole way with a small local model."""

from pathlib import Path
from typing import Any

import click

from tiebreak.cli._shared import verb


@verb()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("tiebreak-demo"),
    help="Folder for the logs; every run gets a folder of its own in it.",
)
@click.option(
    "--protocol",
    type=click.Choice(["round_robin", "seal", "peer_review"]),
    default="round_robin",
    help="A judge in a round robin or in SEAL's bracket, or the candidates as reviewers.",
)
@click.option(
    "--judge",
    default="tiebreak-local/smollm2-135m",
    metavar="MODEL",
    help="The judge, in Inspect's notation, such as openai/gpt-5; in peer review a reviewer from "
    "outside, or several with commas.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Items of each benchmark that are answered, of the 10 that ship. [default: all]",
)
@click.option(
    "--judged",
    type=click.IntRange(1),
    metavar="N",
    help="Items of each benchmark that are judged. [default: what fits into five minutes: all 10 "
    "by round_robin, 2 by seal, 6 in a peer review]",
)
@click.option("--seed", type=int, default=0, help="Seed of every draw.")
@click.option(
    "--recorded",
    is_flag=True,
    help="Ask nothing: show, in seconds, logs of the small model that ship.",
)
def demo(
    out: Path,
    recorded: bool,
    **asked: Any,  # arguments of run_demo
) -> None:
    """Go the whole way with a small model on this machine. Answers, judges, ranks; no key needed.

    It takes less than five minutes on two cores. With --recorded it takes seconds, and no model:
    it leaves logs to try every other command on.

    \b
    Examples:
      tiebreak demo
      tiebreak demo --protocol seal
      tiebreak demo --protocol peer_review
      tiebreak demo --judge openai/gpt-5
      tiebreak demo --recorded
    """
    from tiebreak.demo.run import LOCAL, run_demo
    from tiebreak.demo.screen import show_recorded

    if recorded:
        if asked["limit"] or asked["judged"] or asked["seed"] or asked["judge"] != LOCAL:
            raise click.UsageError("--recorded: takes --protocol and --out only")
        show_recorded(out, protocol=asked["protocol"])
        return
    # The demo shows by itself how far it is.
    run_demo(out, **asked)
