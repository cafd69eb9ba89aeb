"""The verb `estimate`: what judging would cost, before anything is paid."""

from typing import Any

import click

from tiebreak.cli import _shared
from tiebreak.cli._shared import FILES, show, verb
from tiebreak.scorers.catalogue import PROTOCOLS, REFERENCE


@verb()
@click.argument("paths", type=FILES, nargs=-1, required=True)
@click.option(
    "--protocol",
    "protocols",
    default=f"round_robin,seal,{REFERENCE}",
    metavar="NAME[:SETTING=VALUE,…][,NAME…]",
    help="Protocols, such as round_robin:rounds=2,swiss:rounds=3 or FILE.py@NAME: "
    f"{', '.join(PROTOCOLS)}; all stands for those with one judge.",
)
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    metavar="DOLLARS",
    help="Plan: what to run for so much money, and what it will show.",
)
@click.option(
    "--calls", type=click.IntRange(1), metavar="N", help="Plan: what to run for so many calls."
)
@click.option(
    "--precision",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="H",
    help="Plan: what it takes for scores within ±H (95%).",
)
@click.option("--judge", metavar="MODEL", help="Model that judges; peer_review asks none.")
@click.option("--meta-judge", metavar="MODEL", help="Model that refines.  [default: the judge]")
@click.option(
    "--peers",
    metavar="MODEL[,MODEL…]",
    help="Models that review each other in peer_review, two or more.",
)
@_shared.prices_option
@_shared.price_option
@click.option(
    "--reasoning-tokens",
    type=click.IntRange(0),
    metavar="N",
    help="Hidden tokens that a call is billed on top of its reply.  [default: unknown; a plan says "
    "what 0 to 1,000 cost]",
)
@click.option(
    "--from-log",
    metavar="LOG",
    help="An earlier ranking log of this judge, for its tokens and close calls.  "
    "[default: those in the PATHS]",
)
@click.option(
    "--connections",
    type=click.IntRange(1),
    default=100,
    metavar="N",
    help="Calls side by side; Inspect goes up to 100 unless a provider refuses so many.",
)
@click.option(
    "--seconds-per-call",
    "seconds",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    metavar="S",
)
@click.option("--calls-per-minute", type=click.FloatRange(0, min_open=True), metavar="R")
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=32,
    metavar="N",
    help="Count prompts on about so many items.",
)
@click.option("--task-type", metavar="NAME", help="As -T task_type of the judging tasks.")
@click.option("--rubric", type=FILES, metavar="FILE", help="As -T rubric.")
@click.option("--reviewers", metavar="MAPPING", help="As -T reviewers of peer_review.")
@click.option("--saturated-only", is_flag=True, help="As -T saturated_only=true.")
@click.option(
    "--merge-identical/--no-merge-identical",
    default=True,
    show_default=False,
    help="As -T merge_identical=false.",
)
@click.option("--seed", type=int, default=0, help="As -T seed.")
@_shared.loading_options(("strict", "intersect", "union"))
@_shared.form_options("json", "csv")
def estimate(
    paths: tuple[str, ...],
    protocols: str,
    budget: float | None,
    calls: int | None,
    precision: float | None,
    meta_judge: str | None,
    peers: str | None,
    connections: int,
    seconds: float,
    calls_per_minute: float | None,
    reviewers: str | None,
    saturated_only: bool,
    loading: dict[str, Any],
    form: str | None,
    **asked: Any,  # what estimate_cost and plan_judging both take
) -> None:
    """Say what judging would cost: calls, tokens, money and hours. No model is asked.

    With --budget, --calls or --precision: what to run, how exact it will be, which models it will
    probably tell apart, and the command.

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
    from tiebreak.study.estimate.estimate import Pace

    if sum(goal is not None for goal in (budget, calls, precision)) > 1:
        raise click.UsageError("--budget, --calls and --precision: give one of them")
    if budget is not None or calls is not None or precision is not None:
        if loading["mode"] == "union":
            raise click.UsageError("--mode union: a plan is for matches, where all answer an item")
        from tiebreak.study.estimate import plan_sheet
        from tiebreak.study.estimate.plan import Goal, plan_judging

        goal = Goal(budget, calls, precision)
        show(form, plan_judging(paths, goal, **asked, **loading), plan_sheet)
        return
    cost = estimate_cost(
        paths,
        protocols,
        meta_judge=meta_judge,
        peers=peers,
        pace=Pace(connections, seconds, calls_per_minute),
        reviewers=reviewers,
        saturated_only=saturated_only,
        **asked,
        **loading,
    )
    show(form, cost, sheet)
