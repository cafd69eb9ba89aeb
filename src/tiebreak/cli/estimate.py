"""The verb `estimate`: the cost of judging, before anything is paid."""

from dataclasses import dataclass
from typing import Literal

import click

from tiebreak.cli._families import (
    MODES,
    CandidateOptions,
    form_or_csv_options,
    price_option,
    prices_option,
)
from tiebreak.cli._options import Count, File, Model, Name, family, option, rest, verb
from tiebreak.cli._shared import show
from tiebreak.scorers.catalogue import PROTOCOLS, REFERENCE

_OF_GOAL = ("budget", "calls", "precision")
_OF_PACE = ("connections", "seconds", "calls_per_minute")
_OF_COST = ("meta_judge", "peers", "reviewers", "saturated_only")
"""Options of a cost estimate that a plan does not take."""


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """Options of an estimate or a plan."""

    protocols: str = option(
        "Protocols, such as round_robin:rounds=2,swiss:rounds=3 or FILE.py@NAME: "
        f"{', '.join(PROTOCOLS)}; all stands for those with one judge.",
        "--protocol",
        default=f"round_robin,seal,{REFERENCE}",
        metavar="NAME[:SETTING=VALUE,…][,NAME…]",
    )
    budget: float | None = option(
        "Plan: what to run for so much money, and what it will show.",
        type=click.FloatRange(0, min_open=True),
        metavar="DOLLARS",
    )
    calls: Count | None = option("Plan: what to run for so many calls.", metavar="N")
    precision: float | None = option(
        "Plan: what it takes for scores within ±H (95%).",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="H",
    )
    judge: Model | None = option("Model that judges; peer_review asks none.")
    meta_judge: Model | None = option("Model that refines.  [default: the judge]")
    peers: str | None = option(
        "Models that review each other in peer_review, two or more.", metavar="MODEL[,MODEL…]"
    )
    prices: tuple[str, ...] = prices_option
    price_file: str | None = price_option
    reasoning_tokens: int | None = option(
        "Hidden tokens that a call is billed on top of its reply.  [default: unknown; a plan says "
        "what 0 to 1,000 cost]",
        type=click.IntRange(0),
        metavar="N",
    )
    from_log: str | None = option(
        "An earlier ranking log of this judge, for its tokens and close calls.  "
        "[default: those in the PATHS]",
        metavar="LOG",
    )
    connections: Count = option(
        "Calls side by side; Inspect goes up to 100 unless a provider refuses so many.",
        default=100,
        metavar="N",
    )
    seconds: float = option(
        None,
        "--seconds-per-call",
        default=10.0,
        type=click.FloatRange(0, min_open=True),
        metavar="S",
    )
    calls_per_minute: float | None = option(type=click.FloatRange(0, min_open=True), metavar="R")
    sample: Count = option("Count prompts on about so many items.", default=32, metavar="N")
    task_type: Name | None = option("As -T task_type of the judging tasks.")
    rubric: File | None = option("As -T rubric.")
    reviewers: str | None = option("As -T reviewers of peer_review.", metavar="MAPPING")
    saturated_only: bool = option("As -T saturated_only=true.")
    merge_identical: bool = option(
        "As -T merge_identical=false.",
        "--merge-identical/--no-merge-identical",
        default=True,
        show_default=False,
    )
    seed: int = option("As -T seed.", default=0)


@verb()
def estimate(
    paths: tuple[File, ...],
    *,
    asked: _Asked = family(_Asked),
    # Instead of `loading`'s mode: "union" is possible here, because stars grade answers one by one.
    mode: Literal["strict", "intersect", "union"] = option(
        f"{MODES} union: keep all, for stars.", default="strict"
    ),
    loading: CandidateOptions = family(CandidateOptions, "mode"),
    form: str | None = form_or_csv_options,
) -> None:
    """Say what judging would cost: calls, tokens, money and hours. No model is asked.

    With --budget, --calls or --precision it makes a plan: what to run, how exact it will be, which
    models it will probably tell apart, and the command.

    PATHS are Inspect logs, lm-eval outputs, Parquet pools and files of answers.

    \b
    Examples:
      tiebreak estimate logs/ --judge openai/gpt-5 --price 1.25,10 --budget 20
      tiebreak estimate logs/ --judge openai/gpt-5 --precision 0.05
      tiebreak estimate logs/ --judge openai/gpt-5 --price 1.25,10
      tiebreak estimate logs/ --protocol all --judge anthropic/claude-sonnet-4-5 --from-log pilot/
      tiebreak estimate logs/ --protocol swiss:rounds=3,swap=never --judge openai/gpt-5 --json
      tiebreak estimate logs/ --protocol peer_review --peers openai/gpt-5,google/gemini-2.5-pro
    """
    from tiebreak.study.estimate import sheet
    from tiebreak.study.estimate.cost import estimate_cost
    from tiebreak.study.estimate.estimate import Throughput

    goals = (asked.budget, asked.calls, asked.precision)
    if sum(goal is not None for goal in goals) > 1:
        raise click.UsageError("--budget, --calls and --precision: give one of them")
    both = rest(asked, "protocols", *_OF_GOAL, *_OF_PACE) | vars(loading)
    if any(goal is not None for goal in goals):
        if mode == "union":
            raise click.UsageError("--mode union: a plan is for matches, where all answer an item")
        from tiebreak.study.estimate import plan_sheet
        from tiebreak.study.estimate.plan import Goal, plan_judging

        planned = {name: value for name, value in both.items() if name not in _OF_COST}
        show(form, plan_judging(paths, Goal(*goals), **planned), plan_sheet)
        return
    pace = Throughput(asked.connections, asked.seconds, asked.calls_per_minute)
    show(form, estimate_cost(paths, asked.protocols, pace=pace, **both), sheet)
