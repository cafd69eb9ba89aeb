"""The verb `demo`: the whole way with a small local model."""

from pathlib import Path

import click

from tiebreak.cli._shared import plain_errors


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("tiebreak-demo"),
    show_default=True,
    help="Folder for the logs; every run gets a folder of its own in it.",
)
@click.option(
    "--judge",
    default="tiebreak-local/smollm2-135m",
    show_default=True,
    metavar="MODEL",
    help="The judge, in Inspect's notation, such as openai/gpt-5.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Items of each benchmark that are answered.",
)
@click.option(
    "--judged",
    type=click.IntRange(1),
    metavar="N",
    help="Items of each benchmark that are judged. [default: few enough for six minutes]",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of every draw.")
def demo(out: Path, judge: str, limit: int | None, judged: int | None, seed: int) -> None:
    """Go the whole way with a small local model: answer, judge with SEAL, rank. No key needed.

    \b
    Examples:
      tiebreak demo
      tiebreak demo --judge openai/gpt-5 --judged 8
    """
    from tiebreak.demo import JUDGED, DemoError, run_demo
    from tiebreak.prerequisite import PrerequisiteError

    with plain_errors(DemoError, PrerequisiteError):
        run_demo(out, judge=judge, limit=limit, judged=judged or JUDGED, seed=seed, say=click.echo)
