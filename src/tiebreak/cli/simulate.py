"""The verb `simulate`: protocols on planted models, before anything is paid."""

from typing import Any

import click

from tiebreak.cli._shared import form_options, numbers, show, verb
from tiebreak.scorers.catalogue import STANDARD


@verb()
@click.option("--models", type=click.IntRange(2), default=8, metavar="N")
@click.option(
    "--spread",
    type=float,
    default=0.2,
    help="Standard deviation of the models' qualities; that of a model's answers is 1.",
)
@click.option(
    "--qualities",
    callback=numbers(float, "numbers such as 0.3,0.2,0"),
    metavar="Q[,Q…]",
    help="Quality of every model, instead of --models and --spread.",
)
@click.option(
    "--items",
    callback=numbers(int, "whole numbers such as 50,100"),
    default="50,100,200",
    metavar="N[,N…]",
    help="Numbers of items.",
)
@click.option("--repeats", type=click.IntRange(1), default=10, help="Pools of each size.")
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME[:SETTING=VALUE,…]",
    help="A protocol, such as swiss:rounds=3; may be given again.  "
    f"[default: {', '.join(STANDARD)}]",
)
@click.option(
    "--swap",
    type=click.Choice(["always", "close", "sample", "never"]),
    help="When pairs are asked in both orders. [default: as each protocol does]",
)
@click.option(
    "--ties",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    help="Share of answers that repeat another model's (0.5: every answer has a twin).",
)
@click.option(
    "--pass-rate",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.97,
    help="Share of answers that pass the benchmark's own check.",
)
@click.option("--resolution", type=float, default=0.0, help="Least visible gap.")
@click.option("--noise", type=float, default=0.5, help="Error on a pair.")
@click.option("--fresh", is_flag=True, help="Draw the error on a pair anew for every call.")
@click.option("--position-bias", type=float, default=0.0)
@click.option("--verbosity-bias", type=float, default=0.0)
@click.option(
    "--seeding-noise",
    "reading_noise",
    type=float,
    default=1.0,
    help="Error on each answer in a call about all answers.",
)
@click.option(
    "--list-taste",
    type=float,
    default=0.0,
    help="How much a call about all answers favours a model, alike in all items (sd over models).",
)
@click.option(
    "--grading-noise", type=float, default=1.0, help="Error on an answer that is graded on its own."
)
@click.option(
    "--malformed",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Share of replies that are of no use.",
)
@click.option(
    "--target",
    type=click.FloatRange(-1, 1),
    default=0.9,
    help="ρ with the truth from which the order counts as found …",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    help="… and in which share of the pools it must.",
)
@click.option("--seed", type=click.IntRange(0), default=0)
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Worker processes. [default: all cores]"
)
@form_options("json")
def simulate(
    models: int,
    qualities: tuple[float, ...] | None,
    items: tuple[int, ...],
    protocols: tuple[str, ...],
    form: str | None,
    **world: Any,  # arguments of the study
) -> None:
    """Say how many items it takes to separate models. You describe them; protocols are compared.

    All protocols judge the same planted answers, in the code that judges real ones; no model is
    asked. Noise, bias and resolution are in units of the spread of a model's answers.

    \b
    Examples:
      tiebreak simulate
      tiebreak simulate --qualities 0.3,0.2,0 --items 100,400 --position-bias 0.3
      tiebreak simulate --protocol seal --protocol swiss:rounds=4 --ties 0.5 --json
    """
    from tiebreak.demo.lab.simulate import simulate as study_of

    study = study_of(qualities or models, items, protocols=protocols or STANDARD, **world)
    show(form, study)
