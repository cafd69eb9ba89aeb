"""From what a user asks for to a plan: `plan_judging`, the planning side of `estimate_cost`."""

import shlex
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from tiebreak.candidates import CandidatePool, identical_groups, load_candidates
from tiebreak.estimate import EstimateError
from tiebreak.estimate.cost import estimate_cost
from tiebreak.estimate.estimate import TIES
from tiebreak.estimate.evidence import (
    Evidence,
    by_schedule,
    evidence_of,
    find_evidence,
    native_evidence,
)
from tiebreak.estimate.figures import ProtocolEstimate
from tiebreak.estimate.plan import (
    Goal,
    Noise,
    Option,
    Plan,
    Rate,
    choose,
    half_width,
    noise_of,
    powers,
    rests_on,
)
from tiebreak.paths import Paths, path_list
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.schedule import n_rounds
from tiebreak.words import count

_LOADING = ("mode", "native", "filter", "rename", "names", "same_settings")


def plan_judging(
    candidates: Paths, goal: Goal, *, judge: str | None, from_log: str | None = None, **how: Any
) -> Plan:
    """What to run for a budget, or for a precision. No model is called.

    Args:
        candidates: Inspect logs, lm-eval outputs and pools as files, and folders; ranking logs of
            this judge in the folders are used.
        goal: dollars, calls or precision.
        judge: the model that judges, in Inspect's notation.
        from_log: a ranking log of this judge that lies elsewhere.
        how: as `estimate_cost` takes it.

    Raises:
        EstimateError: no judge, several benchmarks, or the budget is too small; and as
            `estimate_cost` does.
        CandidateError: the candidates cannot be loaded or aligned.
        RankingLogError: `from_log` is not a ranking log.
        PrerequisiteError: the pool or the rubric does not fit.
    """
    if judge is None:
        raise EstimateError("A plan is for a judge: add --judge MODEL, such as openai/gpt-5.")
    loading = {name: how.pop(name) for name in _LOADING if name in how}
    pool = load_candidates(candidates, **loading)
    if len(pool.benchmarks) > 1:
        raise EstimateError(
            f"A plan is for one benchmark, and these candidates hold {len(pool.benchmarks)}: "
            f"{', '.join(pool.benchmarks)}. Give the logs of one at a time."
        )
    n_models, n_pool = len(pool.models), len(pool.items)
    found = find_evidence(candidates, pool, judge)
    if from_log is not None:
        parts = [part for log in read_ranking_logs([from_log]) for part in log.parts()]
        found += [one for part in parts if (one := evidence_of(part)) is not None]
    seen, identical = by_schedule(found), _identical(pool)
    noise = noise_of(identical, TIES.likely, seen)
    rates = _rates(pool, judge, from_log, how)
    chosen, why = choose(goal, n_models, n_pool, rates, noise, found)
    # The largest log of this judge knows most about differences; without one, native scores.
    gaps = max(found, key=lambda one: one.n_items, default=native_evidence(pool))
    gaps = gaps if gaps is not None and gaps.models == pool.models else None
    options = tuple(_option(one, rates, noise, found, gaps) for one in chosen)
    return Plan(
        benchmark=pool.benchmarks[0],
        models=pool.models,
        n_items=n_pool,
        judge=judge,
        goal=goal,
        options=options,
        why=why,
        rests_on=tuple(rests_on(seen, gaps, identical)),
        command=_command(candidates, options[0], n_pool, judge, how | loading),
    )


def _identical(pool: CandidatePool) -> float:
    """The share of the pairs of answers that are identical."""
    n = len(pool.models)
    same = [
        sum(len(group) * (len(group) - 1) for group in identical_groups(row)) for _, row in pool
    ]
    return sum(same) / (len(same) * n * (n - 1))


def _rates(
    pool: CandidatePool, judge: str, from_log: str | None, how: Mapping[str, Any]
) -> list[Rate]:
    """What an item costs with 1, 2, … rounds: in between the first and all in equal steps."""
    most = n_rounds(len(pool.models))
    labels = dict.fromkeys(f"round_robin:rounds={rounds}" for rounds in (1, most))
    found = estimate_cost(pool, list(labels), judge=judge, from_log=from_log, **how)
    first, last = found.protocols[0], found.protocols[-1]
    return [
        Rate(
            _between(first.calls.likely, last.calls.likely, rounds, most) / found.n_items,
            _dollars(first, last, rounds, most, found.n_items),
        )
        for rounds in range(1, most + 1)
    ]


def _between(first: float, last: float, rounds: int, most: int) -> float:
    return first if most == 1 else first + (last - first) * (rounds - 1) / (most - 1)


def _dollars(
    first: ProtocolEstimate, last: ProtocolEstimate, rounds: int, most: int, n_items: int
) -> float | None:
    if first.cost is None or last.cost is None:
        return None
    return _between(first.cost.likely, last.cost.likely, rounds, most) / n_items


def _option(
    chosen: tuple[str, int, float],
    rates: Sequence[Rate],
    noise: Noise,
    found: Sequence[Evidence],
    gaps: Evidence | None,
) -> Option:
    label, n_items, calls = chosen
    name, _, rounds = label.partition(":rounds=")
    if rounds:
        own = noise.of_item(int(rounds))
        dollars = rates[int(rounds) - 1].dollars
        price = None if dollars is None else n_items * dollars
    else:
        own = next(one.noise for one in found if one.protocol == name)
        first = rates[0]
        price = None if first.dollars is None else calls * first.dollars / first.calls
    pairs = powers(gaps, own, n_items)
    return Option(label, n_items, calls, price, half_width(own, n_items), pairs)


def _command(
    candidates: Paths, option: Option, n_pool: int, judge: str, how: Mapping[str, Any]
) -> str:
    """What to type. A part of the items is drawn by lot: a benchmark may be in order of subject."""
    name, _, rounds = option.label.partition(":rounds=")
    paths: list[str | PathLike[str]] = list(path_list(candidates))
    words = ["inspect", "eval", f"tiebreak/{name}"]
    words += ["-T", f"candidates={','.join(map(str, paths))}"]
    words += ["-T", f"rounds={rounds}"] if rounds else []
    words += ["-T", "mode=intersect"] if how.get("mode") == "intersect" else []
    words += ["-T", "same_settings=true"] if how.get("same_settings") else []
    for argument in ("task_type", "rubric"):
        words += ["-T", f"{argument}={how[argument]}"] if how.get(argument) else []
    words += ["-T", f"seed={how['seed']}"] if how.get("seed") else []
    if option.n_items < n_pool:
        words += ["--limit", str(option.n_items), "--sample-shuffle", str(how.get("seed") or 0)]
    return shlex.join([*words, "--model-role", f"judge={judge}"])


def command_in_batches(plan: Plan) -> str:
    """The same with every call in a batch."""
    return f"{plan.command} --batch"


def size(plan: Plan) -> str:
    """Models and items in words."""
    return f"{count(len(plan.models), 'model')} · {count(plan.n_items, 'item')}"
