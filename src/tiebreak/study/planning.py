"""Plans of a study's judging and their price, before anything is paid.

Each protocol has a place for each source of answers. The rounds and items of a round robin with a
budget are planned (`estimate.plan`). Models added later are judged as newcomers, on the same items;
with a larger budget the place is planned again, and replies already paid for come from the cache.
"""

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from inspect_ai.model import ModelCost, ModelInfo, set_model_info

from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey
from tiebreak.prices import Price, read_price
from tiebreak.report.sheet import Sheet
from tiebreak.study import StudyError
from tiebreak.study.design import Protocol, Study
from tiebreak.study.estimate import plan_sheet
from tiebreak.study.estimate.cost import estimate_cost
from tiebreak.study.estimate.estimate import Estimate
from tiebreak.study.estimate.plan import FEWEST, Goal, plan_judging, rates
from tiebreak.study.estimate.prices import known_prices, model_info
from tiebreak.study.folder import Judging, StudyFolder
from tiebreak.study.tasks import option_words
from tiebreak.text import all_of, count

_PLANNED: Final = "round_robin"
_TO_ESTIMATE: Final = (
    *("task_type", "rubric", "saturated_only", "merge_identical"),
    *("mode", "same_settings"),
)


@dataclass(frozen=True)
class Source:
    """Answers that a study judges together: the paths of all of them, and the pool.

    `logs` has the log of each model, empty if the user gave the answers. `paid` is their cost in
    dollars, and `drawn` whether their items were drawn at random. `chosen` has the sample ids of
    the items that can be judged, empty for all.
    """

    study: Study
    name: str
    paths: tuple[str, ...]
    pool: CandidatePool
    logs: Mapping[str, str] = field(default_factory=dict)
    paid: float = 0.0
    drawn: bool = False
    chosen: tuple[str, ...] = ()

    def of(self, models: Sequence[str]) -> tuple[str, ...]:
        """The paths of the answers of these models."""
        if not self.logs or {*models} == {*self.pool.models}:
            return self.paths
        return tuple(sorted({self.logs[model] for model in models}))


@dataclass(frozen=True)
class Planned:
    """The planned judging at one place: runs that make one board, and what to show before paying.

    That is `price`, which `commands` print as well, or the estimate of the protocol `estimated`;
    neither if everything was confirmed before.
    """

    runs: tuple[Judging, ...]
    price: tuple[Sheet, ...] = ()
    commands: tuple[str, ...] = ()
    estimated: Protocol | None = None


def register_prices(study: Study) -> dict[str, Price]:
    """Register the prices of all models with Inspect, so that a budget in dollars can be kept.

    Raises:
        StudyError: there is a budget in dollars, and a model has no price.
        EstimateError: the file of prices cannot be read, or a price is for no model that is asked.
    """
    asked = list(dict.fromkeys(model.model for model in study.everyone))
    known = known_prices(asked, study.prices, study.price_file)
    if study.budget is not None and (unknown := [name for name in asked if name not in known]):
        raise StudyError(
            f"No price of {unknown[0]} is known, so a budget in dollars cannot be kept: add "
            f"--price {unknown[0]}=IN,OUT (dollars per million tokens), or give --calls N instead "
            "of --budget, which limits judging alone."
        )
    for model, price in known.items():
        # A `Price` has no cache prices; Inspect's budget counts cached tokens in full.
        cached = {"input_cache_write": price.input, "input_cache_read": price.input}
        cost = ModelCost(input=price.input, output=price.output, **cached)
        info = model_info(model) or ModelInfo()
        set_model_info(model, info.model_copy(update={"cost": cost}))
    return known


def place_of(source: str, protocol: Protocol) -> str:
    """The folder of a protocol's judging in `ranking/`."""
    words = [protocol.label, *(f"{name}={value}" for name, value in protocol.args.items())]
    return f"{source}/{re.sub(r'[^A-Za-z0-9=.-]+', '_', '-'.join(words))}"


def require_judging(study: Study, sources: int) -> None:
    """Refuse judging that is impossible as asked, before any answer is paid for.

    Raises:
        StudyError: the budget cannot pay one round on the fewest items that tell models apart.
        PrerequisiteError: the rubric or the reviewers do not fit.
    """
    models = [model.shown for model in study.models]
    n_items = min(FEWEST, study.limit or FEWEST)
    # Made-up items have hardly any text, so the estimate is a lower bound.
    keys = [ItemKey("any", str(number)) for number in range(n_items)]
    pool = CandidatePool(
        tuple(Item(key, key.item_id, "?", "") for key in keys),
        {key: {model: Candidate(key, model, model) for model in models} for key in keys},
    )
    for protocol in study.protocols:
        rows = [row.protocols[0] for row in estimates(study, [protocol], pool)]
        runs = sources * len(study.protocols)
        calls = sum(row.calls.low for row in rows) * runs
        cost = sum(row.cost.low for row in rows if row.cost) * runs
        least = f"one round of {protocol.label} on {count(n_items, 'item')}"
        if runs > 1:
            least += f" in each of {runs} judgings"
        if study.calls is not None and study.calls < calls:
            raise StudyError(
                f"{count(study.calls, 'call')} are too few: {least} takes {calls:,.0f}."
            )
        if study.budget is not None and study.budget < cost:
            raise StudyError(
                f"A budget of ${study.budget:,.4g} is too small: {least} takes ${cost:,.4g} or "
                "more."
            )


def estimates(study: Study, protocols: Sequence[Protocol], pool: CandidatePool) -> list[Estimate]:
    """Estimates of what protocols would ask on a pool, one for each judge."""
    labels = [protocol.label for protocol in protocols]
    return [estimate_cost(pool, labels, **how) for how in _by_judge(study, protocols)]


def estimate_commands(
    study: Study, protocols: Sequence[Protocol], paths: Sequence[str], goal: Goal | None = None
) -> tuple[str, ...]:
    """Commands that show the cost of protocols for each judge, or with a goal a plan."""
    commands = []
    for how in _by_judge(study, protocols):
        labels = None if goal else ",".join(protocol.label for protocol in protocols)
        options = {
            "protocol": labels,
            "budget": goal and goal.dollars,
            "calls": goal and goal.calls,
            **how,
            "seed": study.seed or None,
        }
        prices = [("price", price) for price in options.pop("prices")]
        named = ("model_cost_config", options.pop("price_file"))
        words = option_words([*options.items(), *prices, named])
        commands.append(shlex.join(["tiebreak", "estimate", *paths, *words]))
    return tuple(commands)


def _by_judge(study: Study, protocols: Sequence[Protocol]) -> Iterator[dict[str, Any]]:
    """Arguments of `estimate_cost` for each judge, besides the answers and the protocols."""
    peers = [peer.model for peer in study.peers if any(p.rule.reviewed for p in protocols)]
    reviewers = [p.args["reviewers"] for p in protocols if "reviewers" in p.args]
    for judge in study.judges if any(p.rule.asks_judge for p in protocols) else (None,):
        meta = study.meta_judge if judge else None
        asked = [choice.model if choice else None for choice in (judge, meta)]
        yield {
            "judge": asked[0],
            "meta_judge": asked[1],
            "peers": peers or None,
            "reviewers": reviewers[0] if reviewers else None,
            **{name: study.judging[name] for name in _TO_ESTIMATE if name in study.judging},
            "prices": [
                text for text in study.prices if read_price(text)[0] in (None, *asked, *peers)
            ],
            "price_file": study.price_file,
            "seed": study.seed,
        }


def item_rate(
    study: Study, protocols: Sequence[Protocol], pool: CandidatePool
) -> tuple[float, ...]:
    """The cost of one item in one round of protocols by all judges: the parts of a `Rate`.

    Dollars are NaN without a price.
    """
    estimated = (estimates(study, [protocol], pool) for protocol in protocols)
    columns = zip(*(rates(row)[0] for rows in estimated for row in rows), strict=True)
    return tuple(sum(math.nan if part is None else part for part in parts) for parts in columns)


def left_of(study: Study, paid: float) -> float:
    """The rest of a benchmark's equal part of the budget, in dollars, after `paid` is spent.

    Infinite without a budget in dollars.
    """
    return (study.budget or math.inf) / max(len(study.benchmarks), 1) - paid


def share_of(study: Study, paid: float) -> float:
    """The limit of each judging of a benchmark whose answers cost `paid` dollars.

    In dollars, or in calls if the study limits these; infinite without a limit.

    Raises:
        StudyError: the budget is spent.
    """
    left = left_of(study, paid)
    if left <= 0:
        raise StudyError(
            f"The budget is spent on answers (${paid:,.4g} of ${paid + left:,.4g}): give a larger "
            "one to judge them."
        )
    if study.calls is not None:
        return study.calls // (max(len(study.benchmarks), 1) * len(study.protocols))
    return left / len(study.protocols)


def plan(source: Source, protocol: Protocol, folder: StudyFolder) -> Planned:
    """Plan the judging at one place; confirmed runs stay unless models or the budget change.

    Raises:
        EstimateError: the budget is too small.
        StudyError: the rest of the budget is too small.
    """
    study, share = source.study, share_of(source.study, source.paid)
    place = place_of(source.name, protocol)
    kept = [run for run in folder.plans() if run.place == place]
    models = source.pool.models_of(source.pool.benchmarks[0])
    before = {*kept[-1].models} if kept else set()
    new = tuple(model for model in models if model not in before)
    variant = protocol.variant
    may_join = variant.protocol.name == _PLANNED and not variant.settings.get("baseline")
    more = bool(kept) and raised(study, kept[0], share)
    left = _left(study, place, share, folder) if not kept or new or more else math.inf
    if not kept or before - {*models} or (new and not (may_join and kept[0].log)):
        return _apart(_first(source, protocol, models, share, left), kept)
    runs = list(kept)
    if new:
        joined = {"candidates": source.of(models), "models": models, "newcomers": new, "log": None}
        runs.append(kept[0].model_copy(update=joined))
    if more:
        return _apart(_replanned(source, protocol, runs, share, left), kept)
    if not new:
        return Planned(tuple(runs))
    joining = _joining(source, _limited(study, runs[-1], share, left))
    return replace(joining, runs=(*runs[:-1], *joining.runs))


def _apart(planned: Planned, kept: Sequence[Judging]) -> Planned:
    """The plan with a new folder for its logs if its place was planned before."""
    attempt = {"attempt": kept[-1].attempt + 1 if kept else 0}
    return replace(planned, runs=tuple(run.model_copy(update=attempt) for run in planned.runs))


def _replanned(
    source: Source, protocol: Protocol, runs: Sequence[Judging], share: float, left: float
) -> Planned:
    """The runs of a place with a larger budget, divided in proportion to their matches."""
    base, *later = runs
    matches = [max(1, len(base.models) // 2), *(len(run.newcomers) for run in later)]  # per round
    parts = [number / sum(matches) for number in matches]
    part = parts[0]
    planned = _first(source, protocol, base.models, share * part, left * part)
    first = planned.runs[0].model_copy(update={"share": share})
    same = {"label": first.label, "n_items": first.n_items, "rounds": None, "log": None}
    joined = [
        _limited(source.study, run.model_copy(update=same), share, left * part)
        for run, part in zip(later, parts[1:], strict=True)
    ]
    return replace(planned, runs=(first, *joined))


def _first(
    source: Source, protocol: Protocol, models: Sequence[str], share: float, left: float
) -> Planned:
    """The first judging of a place, in which all models are new, and its price."""
    study = source.study
    paths = source.of(models)
    run = Judging(
        place=place_of(source.name, protocol),
        label=protocol.label,
        args={**study.judging, **protocol.args},
        candidates=paths,
        models=tuple(models),
        drawn=source.drawn,
        sample_ids=source.chosen,
    )
    run = _limited(study, run, share, left)
    # `plan_judging` plans for one judge, one benchmark and all items.
    alone = len(study.judges) == 1 and len(source.pool.benchmarks) == 1
    if protocol.label == _PLANNED and alone and share < math.inf and not source.chosen:
        [how] = _by_judge(study, [protocol])
        given = {name: run.args[name] for name in _TO_ESTIMATE if name in run.args}
        goal = Goal(calls=math.floor(share)) if study.calls is not None else Goal(share)
        # Matches of a round robin ask no meta-judge.
        chosen = plan_judging(paths, goal, **(how | given | {"meta_judge": None}))
        option = chosen.options[0]
        n_items = option.n_items if option.n_items < chosen.n_items else None
        run = run.model_copy(update={"label": option.label, "n_items": n_items})
        commands = estimate_commands(study, [protocol], paths, goal)
        return Planned((run,), tuple(plan_sheet.sheets_of(chosen)), commands)
    return Planned((run,), estimated=protocol)


def _joining(source: Source, run: Judging) -> Planned:
    """The matches of newcomers, as many as the rest of the budget buys.

    If it is too small for all, rounds are dropped first, then items.

    Raises:
        StudyError: it buys too few items.
    """
    study = source.study
    n_pool = len(run.sample_ids) or run.n_items or len(source.pool)
    wanted = run.rounds_to_join
    left = min(run.limits.values(), default=math.inf)
    for rounds in range(wanted, 0, -1):
        calls, cost, most = item_rate(study, _joined(run, rounds), source.pool)
        takes = calls if study.calls is not None else most
        n_items = math.floor(min(n_pool, left / takes if takes > 0 else math.inf))
        if n_items == n_pool:
            break
    newcomers = all_of(run.newcomers)
    if n_items < min(FEWEST, n_pool):
        rest = f"{left:,} calls" if study.calls is not None else f"${left:,.2f}"
        raise StudyError(
            f"{run.place}: matches of {newcomers} take {_asked(calls * n_pool, cost * n_pool)}, "
            f"and {rest} are left of the budget. On fewer than {FEWEST} items no two models can be "
            "told apart: give a larger one."
        )
    sentence = f"Only matches of {newcomers} are judged: {_asked(calls * n_items, cost * n_items)}."
    if rounds < wanted:
        sentence += f" The budget is enough for {rounds} of {count(wanted, 'round')}."
        run = run.model_copy(update={"rounds": rounds})
    if n_items < n_pool:
        sentence += f" The budget is enough for {n_items:,} of {count(n_pool, 'item')}, and the "
        sentence += "board will be of these."
        few = {"sample_ids": run.sample_ids[:n_items]} if run.sample_ids else {"n_items": n_items}
        run = run.model_copy(update=few)
    title = f"{source.name} · {count(len(run.newcomers), 'newcomer')}"
    commands = estimate_commands(study, _joined(run, rounds), source.paths)
    return Planned((run,), (Sheet(title, verdict=sentence),), commands)


def _joined(run: Judging, rounds: int) -> list[Protocol]:
    label = f"{_PLANNED}:rounds={rounds},newcomers="
    return [Protocol(label=label + model) for model in run.newcomers]


def _asked(calls: float, dollars: float) -> str:
    return f"about {calls:,.0f} calls" + ("" if math.isnan(dollars) else f", ${dollars:,.2f}")


def raised(study: Study, run: Judging, share: float) -> bool:
    """Whether the limit is larger than when a judging was confirmed, or in another unit."""
    other = ("max_calls" in run.limits) != (study.calls is not None)
    return share > run.share or (other and run.share < math.inf)


def _left(study: Study, place: str, share: float, folder: StudyFolder) -> float:
    """The unspent part of `share` at a place; raises StudyError if it is spent."""
    calls, cost = folder.paid(place)
    left = share - (cost if study.calls is None else calls)
    if left <= 0:
        before = paid_before(folder, {place})
        raise StudyError(f"The budget of {place} is spent{before}: give a larger one to go on.")
    return left


def paid_before(folder: StudyFolder, places: set[str]) -> str:
    """Calls and dollars paid for judging at some places, in parentheses; "" for none."""
    calls, cost = map(sum, zip(*map(folder.paid, places), strict=True))
    paid = count(calls, "call") + (f", ${cost:,.2f}" if cost else "")
    return f" (paid before: {paid})" if calls else ""


def _limited(study: Study, run: Judging, share: float, left: float) -> Judging:
    limits = {"max_cost": left} if study.calls is None else {"max_calls": math.floor(left)}
    return run.model_copy(update={"share": share, "limits": limits if left < math.inf else {}})
