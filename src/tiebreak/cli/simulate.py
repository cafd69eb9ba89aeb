"""The verb `simulate`: compare protocols on planted models, before anything is paid."""

from dataclasses import dataclass
from typing import Literal

import click

from tiebreak.cli._families import form_options, numbers
from tiebreak.cli._options import Count, Share, family, option, rest, verb
from tiebreak.cli._shared import show
from tiebreak.scorers.catalogue import STANDARD


@dataclass(frozen=True, kw_only=True)
class _World:
    """Options of the planted models, the planted judge, and the number of pools."""

    models: int = option(default=8, type=click.IntRange(2), metavar="N")
    spread: float = option(
        "Standard deviation of the models' qualities; that of a model's answers is 1.", default=0.2
    )
    qualities: tuple[float, ...] | None = option(
        "Quality of every model, instead of --models and --spread.",
        callback=numbers(float, "numbers such as 0.3,0.2,0"),
        metavar="Q[,Q…]",
    )
    items: tuple[int, ...] = option(
        "Numbers of items.",
        default="50,100,200",
        callback=numbers(int, "whole numbers such as 50,100"),
        metavar="N[,N…]",
    )
    repeats: Count = option("Pools of each size.", default=10)
    protocols: tuple[str, ...] = option(
        "A protocol, such as swiss:rounds=3; may be given again.  "
        f"[default: {', '.join(STANDARD)}]",
        "--protocol",
        metavar="NAME[:SETTING=VALUE,…]",
    )
    swap: Literal["always", "close", "sample", "never"] | None = option(
        "When pairs are asked in both orders. [default: as each protocol does]"
    )
    ties: float = option(
        "Share of answers that repeat another model's (0.5: every answer has a twin).",
        default=0.0,
        type=click.FloatRange(0, 1, max_open=True),
    )
    pass_rate: float = option(
        "Share of answers that pass the benchmark's own check.",
        default=0.97,
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
    )
    resolution: float = option("Least visible gap.", default=0.0)
    noise: float = option("Error on a pair.", default=0.5)
    fresh: bool = option("Draw the error on a pair anew for every call.")
    position_bias: float = option(default=0.0)
    verbosity_bias: float = option(default=0.0)
    reading_noise: float = option(
        "Error on each answer in a call about all answers.", "--seeding-noise", default=1.0
    )
    list_taste: float = option(
        "How much a call about all answers favours a model, alike in all items (sd over models).",
        default=0.0,
    )
    grading_noise: float = option("Error on an answer that is graded on its own.", default=1.0)
    malformed: Share = option("Share of replies that are of no use.", default=0.0)
    target: float = option(
        "ρ with the truth from which the order counts as found …",
        default=0.9,
        type=click.FloatRange(-1, 1),
    )
    confidence: float = option(
        "… and in which share of the pools it must.",
        default=0.9,
        type=click.FloatRange(0, 1, min_open=True),
    )
    seed: int = option(default=0, type=click.IntRange(0))
    jobs: Count | None = option("Worker processes. [default: all cores]", metavar="N")


@verb()
def simulate(world: _World = family(_World), form: str | None = form_options) -> None:
    """Say how many items it takes to separate models. You describe them; protocols are compared.

    All protocols judge the same planted answers, with the same code that judges real ones; no model
    is asked. Noise, bias and resolution are in units of the spread of a model's answers.

    \b
    Examples:
      tiebreak simulate
      tiebreak simulate --qualities 0.3,0.2,0 --items 100,400 --position-bias 0.3
      tiebreak simulate --protocol seal --protocol swiss:rounds=4 --ties 0.5 --json
    """
    from tiebreak.demo.lab.simulate import simulate as study_of

    study = study_of(
        world.qualities or world.models,
        world.items,
        protocols=world.protocols or STANDARD,
        **rest(world, "models", "qualities", "items", "protocols"),
    )
    show(form, study)
