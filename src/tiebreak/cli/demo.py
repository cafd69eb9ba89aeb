"""The verb `demo`: the whole way with a small local model."""

from pathlib import Path
from typing import Literal

import click

from tiebreak.cli._options import Count, Folder, Model, option, verb


@verb()
def demo(
    out: Folder = option(
        "Folder for the logs; every run gets a folder of its own in it.",
        default=Path("tiebreak-demo"),
    ),
    protocol: Literal["round_robin", "seal", "peer_review"] = option(
        "A judge in a round robin or in SEAL's bracket, or the candidates as reviewers.",
        default="round_robin",
    ),
    judge: Model = option(
        "The judge, in Inspect's notation, such as openai/gpt-5; in peer review a reviewer from "
        "outside, or several with commas.",
        default="tiebreak-local/smollm2-135m",
    ),
    limit: Count | None = option(
        "Items of each benchmark that are answered, of the 10 that ship. [default: all]",
        metavar="N",
    ),
    judged: Count | None = option(
        "Items of each benchmark that are judged. [default: what fits into five minutes: all 10 "
        "by round_robin, 2 by seal, 6 in a peer review]",
        metavar="N",
    ),
    seed: int = option("Seed of every draw.", default=0),
    recorded: bool = option("Ask nothing: show, in seconds, logs of the small model that ship."),
) -> None:
    """Go the whole way with a small model on this machine. Answers, judges, ranks; no key needed.

    It takes less than five minutes on two cores. With --recorded it takes seconds and asks no
    model, and leaves logs on which to try every other command.

    \b
    Examples:
      tiebreak demo
      tiebreak demo --protocol seal
      tiebreak demo --protocol peer_review
      tiebreak demo --judge openai/gpt-5
      tiebreak demo --recorded
    """
    from tiebreak.demo.local.server import LOCAL
    from tiebreak.demo.run import run_demo
    from tiebreak.demo.screen import show_recorded

    if recorded:
        if limit or judged or seed or judge != LOCAL:
            raise click.UsageError("--recorded: takes --protocol and --out only")
        show_recorded(out, protocol=protocol)
        return
    # No sheet is printed here, because the demo prints its steps itself.
    run_demo(out, protocol=protocol, judge=judge, limit=limit, judged=judged, seed=seed)
