"""Missing answers, by Inspect's `eval_set`; answers in the folder are used.

Models answer a benchmark side by side. A model with its own name or settings has its own run,
because these are the same for a whole run. A model that still fails after retries is left out.

The cost of an item is the mean over the items answered so far, first over the first few items of
each model. Prices are the user's; if one is unknown, dollars are NaN, and a note says so.
"""

import math
import re
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from inspect_ai.log import (
    EvalLog,
    ProvenanceData,
    invalidate_samples,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
    write_eval_log,
)
from inspect_ai.model import CachePolicy
from inspect_ai.util import cost_limit

from tiebreak.candidates import load_candidates
from tiebreak.paths import local_path
from tiebreak.prices import Price
from tiebreak.report import terminal
from tiebreak.report.cells import dollars as dollars_cell
from tiebreak.report.cells import integer, money, number, words
from tiebreak.report.sheet import Section, Sheet, Table, model_names, numbers
from tiebreak.study import StudyError
from tiebreak.study.design import Benchmark, ModelChoice, Study
from tiebreak.study.estimate.experience import mean_range
from tiebreak.study.estimate.plan import FEWEST
from tiebreak.study.estimate.totals import Range
from tiebreak.study.folder import Judging, StudyFolder
from tiebreak.study.planning import item_rate, left_of, place_of
from tiebreak.study.tasks import TaskRun, drawn
from tiebreak.text import all_of, count

_AN_ERROR: Final = re.compile(r"[\w.]+: ")


def say(text: str) -> None:
    """Print a line to standard error; standard output is for the verdict."""
    print(text, file=sys.stderr, flush=True)


class Answers(NamedTuple):
    """The logs of a benchmark by model, and the reasons for models left out."""

    logs: Mapping[str, str]
    left_out: Mapping[str, str]


FIRST: Final = FEWEST
"""Items answered to measure the cost of one: with fewer no two models can be told apart."""

GROWTH: Final = 4
"""Largest factor by which the number of items grows before the cost of one is measured again."""


@dataclass(frozen=True)
class Bill:
    """The cost of a model's answers to a benchmark: tokens and US dollars per item.

    All epochs of an item count, all models that its task asks, and cached replies as if they had
    been paid for again. Dollars are NaN if models are `unpriced`, or if the number of tokens is
    unknown.
    """

    model: str
    n_items: int
    tokens_in: float
    tokens_out: float
    cost: Range
    unpriced: tuple[str, ...]

    @property
    def paid(self) -> float:
        """Dollars of all answers, including cached ones as if they had been paid for again."""
        return self.cost.likely * self.n_items

    @property
    def uncounted(self) -> bool:
        """Whether the model's provider reports no tokens."""
        return math.isnan(self.tokens_in)

    @property
    def known(self) -> bool:
        """Whether the cost in dollars is known."""
        return not math.isnan(self.cost.likely)

    def more(self, n_items: int) -> float:
        """Likely dollars still to pay until `n_items` are answered."""
        return self.cost.likely * max(0, n_items - self.n_items)


Billing = Callable[[str, str], Bill]
"""Gives the bill of the answers in a log, from the model's name and the log's path."""


def bill_of(prices: Mapping[str, Price], model: str, path: str) -> Bill:
    """The bill of the answers in a log; `prices` are by model."""
    summaries = read_eval_log_sample_summaries(path)
    paid = [(sample.id, sample.model_usage) for sample in summaries if sample.model_usage]
    if not paid:  # all came from the cache, so Inspect counted no usage
        log = read_eval_log(path)
        replies = [(sample.id, sample.output.usage) for sample in log.samples or ()]
        paid = [(sample_id, {log.eval.model: usage}) for sample_id, usage in replies if usage]
    items: dict[int | str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    unpriced: set[str] = set()
    for sample_id, usages in paid:
        for name, usage in usages.items():
            cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
            tokens = (usage.input_tokens + cached, usage.output_tokens)
            cost = prices[name].cost(*tokens) if name in prices else math.nan
            unpriced |= {name} - prices.keys()
            items[sample_id] = [*map(sum, zip(items[sample_id], (*tokens, cost), strict=True))]
    columns = [*zip(*items.values(), strict=True)] or 3 * [(math.nan,)]
    tokens_in, tokens_out, mean = map(fmean, columns)
    costs = [*enumerate(columns[2])]
    single = len(costs) < 2 or math.isnan(mean)
    return Bill(
        model=model,
        n_items=len({sample.id for sample in summaries}),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=Range(mean, mean, mean) if single else mean_range(costs),
        unpriced=tuple(sorted(unpriced)),
    )


def items_within(left: float, bills: Sequence[Bill], judging: float, n_pool: int) -> int:
    """The number of items that the `left` dollars buy, with `judging` dollars to judge each.

    It includes items already answered; further answers are priced at the high end of their range.
    """

    def total(n_items: int) -> float:
        more = sum(bill.cost.high * max(0, n_items - bill.n_items) for bill in bills)
        return more + judging * n_items

    return bisect_right(range(n_pool + 1), left, key=total) - 1


def require_known(bills: Sequence[Bill]) -> None:
    """Refuse a budget in dollars if the cost of answers is unknown.

    Raises:
        StudyError: a price is missing, or a provider reports no tokens.
    """
    if unknown := [*_unknown(bills)]:
        raise StudyError(
            f"{'. '.join(unknown)}. So a budget in dollars cannot be kept: say what is missing, or "
            "give --calls N, which limits judging alone."
        )


@dataclass(frozen=True)
class Answering:
    """Answering one benchmark of a study, as far as the budget allows."""

    study: Study
    benchmark: Benchmark
    folder: StudyFolder
    bill: Billing

    @property
    def place(self) -> Path:
        """The folder of the answers."""
        return self.folder.path / "answers" / self.benchmark.name

    def answered(self) -> dict[str, str]:
        """The newest successful log of each model, by the name under which it is shown."""
        logs: dict[str, str] = {}
        for info in list_eval_logs(str(self.place)):
            log = read_eval_log(info, header_only=True)
            name = (log.eval.metadata or {}).get("candidate", log.eval.model)
            if log.status == "success" and not log.invalidated:
                path = local_path(info.name).resolve().relative_to(self.place.resolve())
                logs.setdefault(name, str(self.place / path))
        return {
            model.shown: logs[model.shown] for model in self.study.models if model.shown in logs
        }

    def paid(self) -> float:
        """Dollars that all answers have cost; 0 without a budget in dollars."""
        if self.study.budget is None:
            return 0.0
        return sum(bill.paid for bill in self._bills(self.answered()))

    def drawn(self) -> bool:
        """Whether all existing answers are to randomly drawn items.

        Then further answers are drawn, too: in that order items keep their positions and matches.
        """
        logs = [read_eval_log(path, header_only=True) for path in self.answered().values()]
        return bool(logs) and all(log.eval.config.sample_shuffle for log in logs)

    def commands(self, n_items: int | None) -> list[str]:
        """The commands that make the same answers, to `n_items` or to all."""
        return [run.command("eval-set") for _, run in self._runs(n_items)]

    def answer(
        self,
        n_items: int | None = None,
        models: Sequence[ModelChoice] | None = None,
        dollars: float = math.inf,
    ) -> Answers:
        """Let models answer the items that they have not answered, up to `n_items` or all.

        At most `dollars` are paid, as far as prices are registered. Answers that Inspect stopped at
        this limit are asked again by the next run, which can have a larger one.

        Raises:
            StudyError: no such task, or the dollars are spent.
        """
        logs: dict[str, str] = {}
        left_out: dict[str, str] = {}
        for alike, run in self._runs(n_items, models):
            with cost_limit(dollars if dollars < math.inf else None) as limit:
                finished = run.finish(cache=CachePolicy(expiry=None))
            spent, dollars = limit.usage >= dollars, max(0.0, dollars - limit.usage)
            for log in finished:
                name = alike[0].name or str(log.eval.model)
                if log.status == "success":
                    logs[name] = f"{run.log_dir}/{Path(log.location).name}"
                    if spent:
                        self._refuse_stopped(name, logs[name])
                else:
                    left_out[name] = _reason(log)
        return Answers(logs, left_out)

    def _runs(
        self, n_items: int | None, models: Sequence[ModelChoice] | None = None
    ) -> Iterator[tuple[Sequence[ModelChoice], TaskRun]]:
        """The runs in which models answer; models with the same settings share a run."""
        study = self.study
        items: dict[str, Any] = {"limit": n_items or study.limit}
        if study.limit is None and (n_items is not None or self.drawn()):
            items = drawn(study.seed, n_items)
        for alike in _asked_together(study.models if models is None else models):
            first = alike[0]
            options = {
                # In the form that the printed command gives them, so that it finds these logs.
                "model": [model.model for model in alike],
                "model_args": first.args,
                **first.config,
                "model_roles": {role: (model,) for role, model in study.roles.items()},
                "metadata": {"candidate": first.name} if first.name else None,
                **items,
                "epochs": study.epochs,
            }
            arguments = {**self.benchmark.args, **first.task_args}
            place = self.place / (first.name or "").replace("/", "_")
            yield alike, TaskRun(self.benchmark.task, place, arguments, options)

    def _refuse_stopped(self, name: str, path: str) -> None:
        """Invalidate answers stopped at the budget, so that the next run asks for them again."""
        summaries = read_eval_log_sample_summaries(path)
        stopped = [sample.uuid for sample in summaries if sample.limit == "cost" and sample.uuid]
        if stopped:
            why = ProvenanceData(author="tiebreak", reason="the budget of the study was spent")
            write_eval_log(invalidate_samples(read_eval_log(path), stopped, why), path)
            raise StudyError(
                f"{self.benchmark.name}: the budget is spent, and {name} still owes "
                f"{count(len(stopped), 'answer')}: give a larger one to go on."
            )

    def within_budget(
        self, confirm: Callable[[str], bool] | None, plans: Sequence[Judging]
    ) -> tuple[Answers, int | None]:
        """The answers, and their number of items (None: all), with enough left to judge them.

        `confirm` is called before more than the first items are paid for; None asks nobody. If
        there are `plans` of the judging, whose limits have not been raised, the number of items
        does not change.

        Raises:
            StudyError: the rest of the budget is too small, a price is missing, the cost is not
                confirmed, or there is no such task.
        """
        if self.study.budget is None and confirm is None:
            return self.answer(), None
        answers = self._with_first()
        if len(answers.logs) < 2:
            return answers, None
        confirmed = False
        while True:
            bills = self._bills(answers.logs)
            headers = [read_eval_log(log, header_only=True) for log in answers.logs.values()]
            n_samples = max(header.eval.dataset.samples or 0 for header in headers)
            n_pool = min(n_samples, self.study.limit or n_samples)
            wanted = self._wanted(answers, bills, n_pool, plans)
            fewest = min(bill.n_items for bill in bills)
            if fewest >= wanted:
                return answers, None if wanted == n_pool else wanted
            if not confirmed:
                judging = self._judging(answers)
                terminal.show([sheet_of(self.benchmark.name, bills, wanted, n_pool, judging)])
                asked = f"Ask {count(len(bills), 'model')} for {count(wanted, 'answer')} each, for "
                if confirm is not None and not confirm(f"{asked}{about(bills, wanted)}?"):
                    raise StudyError("Nothing more is asked. The answers stay where they are.")
                confirmed = True
            n_items = min(wanted, GROWTH * fewest)
            able = [model for model in self.study.models if model.shown in answers.logs]
            more = self._answer(None if n_items == n_pool else n_items, able, bills)
            answers = Answers(more.logs, {**answers.left_out, **more.left_out})

    def _with_first(self) -> Answers:
        """The existing answers, and the first few of models that have none."""
        logs = self.answered()
        bills = self._bills(logs)
        missing = [model for model in self.study.models if model.shown not in logs]
        if not missing:
            return Answers(logs, {})
        n_items = min([FIRST, self.study.limit or FIRST, *(bill.n_items for bill in bills)])
        say(f"  First {count(n_items, 'item')}, to know what one takes")
        first = self._answer(n_items, missing, bills)
        return Answers({**logs, **first.logs}, first.left_out)

    def _answer(
        self, n_items: int | None, models: Sequence[ModelChoice], bills: Sequence[Bill]
    ) -> Answers:
        left = max(0.0, left_of(self.study, sum(bill.paid for bill in bills if bill.known)))
        return self.answer(n_items, models, left)

    def _wanted(
        self, answers: Answers, bills: Sequence[Bill], n_pool: int, plans: Sequence[Judging]
    ) -> int:
        """The number of items that all models are to answer."""
        most = max(bill.n_items for bill in bills)
        if self.study.budget is None:
            return most if plans else n_pool
        require_known(bills)
        places = {run.place for run in plans}
        judged = sum(self.folder.paid(place)[1] for place in places)
        left = left_of(self.study, sum(bill.paid for bill in bills) + judged)
        judging = 0.0 if plans else self._judging(answers)
        reached = items_within(left, bills, judging, most if plans else n_pool)
        if reached < min(most, FIRST) or (plans and reached < most):
            takes = sum(bill.cost.high * (most - bill.n_items) for bill in bills) + judging * most
            behind = all_of([bill.model for bill in bills if bill.n_items < most] or answers.logs)
            raise StudyError(
                f"{self.benchmark.name}: ${max(0.0, left):,.4g} are left of the budget, and with "
                f"the answers of {behind} {count(most, 'item')} may take ${takes:,.4g}: give a "
                "larger one. What is answered stays."
            )
        # All models answer the same items, because they are compared on common items only.
        return max(reached, most)

    def _judging(self, answers: Answers) -> float:
        """Dollars to judge an item, in as many rounds as were confirmed before."""
        pool = load_candidates(sorted({*answers.logs.values()}), mode="intersect")
        labels = {run.place: run.label for run in self.folder.plans() if not run.newcomers}
        protocols = [
            each.model_copy(
                update={"label": labels.get(place_of(self.benchmark.name, each), each.label)}
            )
            for each in self.study.protocols
        ]
        return item_rate(self.study, protocols, pool)[2]

    def _bills(self, logs: Mapping[str, str]) -> list[Bill]:
        return [self.bill(*log) for log in logs.items()]


def _asked_together(models: Sequence[ModelChoice]) -> Iterator[Sequence[ModelChoice]]:
    plain = [model for model in models if not (model.name or model.config or model.args)]
    if plain:
        yield plain
    for model in models:
        if model not in plain:
            yield (model,)


def _reason(log: EvalLog) -> str:
    message = log.error.message if log.error else ""
    if log.error and message.startswith("RetryError"):
        # Its message is only an address in memory; the traceback begins with the real error.
        message = next(filter(_AN_ERROR.match, log.error.traceback.splitlines()), message)
    lines = message.strip().splitlines()
    return lines[-1] if lines else f"its run ended as {log.status}"


def sheet_of(
    benchmark: str, bills: Sequence[Bill], n_items: int, n_pool: int, judging: float
) -> Sheet:
    """The sheet with the cost of answers to `n_items`, and of one round of judging them."""
    rows = [
        (
            words(bill.model),
            integer(bill.n_items),
            number(bill.tokens_in, 0),
            number(bill.tokens_out, 0),
            dollars_cell(bill.cost.likely if bill.known else None),
            dollars_cell(bill.more(n_items) if bill.known else None),
        )
        for bill in bills
    ]
    a_round = [f"A round of judging them takes about {money(judging * n_items)}"]
    a_round *= not math.isnan(judging)
    items = f"all {count(n_pool, 'item')}"
    if n_items < n_pool:
        items = f"{n_items:,} of the {count(n_pool, 'item')}, as the budget is enough for,"
    columns = numbers("Answered", "Tokens in", "Tokens out", "An item", "To come")
    return Sheet(
        f"{benchmark} · {count(len(bills), 'model')} · {count(n_pool, 'item')}",
        verdict=f"Answers to {items} take {about(bills, n_items)}.",
        sections=(Section.of(Table.of((model_names(), *columns), rows, "What answers cost")),),
        notes=(
            *_unknown(bills),
            *a_round,
            "Tokens and dollars of an item are means of those that are answered",
        ),
    )


def about(bills: Sequence[Bill], n_items: int) -> str:
    """The dollars still to pay, in words."""
    known = [bill.more(n_items) for bill in bills if bill.known]
    unknown = [bill.model for bill in bills if not bill.known]
    parts = [f"about {money(sum(known))} more"] if known else []
    return " and ".join([*parts, *([f"what {all_of(unknown)} may cost"] if unknown else [])])


def _unknown(bills: Sequence[Bill]) -> Iterator[str]:
    if unpriced := sorted({name for bill in bills for name in bill.unpriced}):
        yield (
            f"No price of {all_of(unpriced)} is known: add --price "
            f"{unpriced[0]}=IN,OUT (dollars per million tokens)"
        )
    if uncounted := [bill.model for bill in bills if bill.uncounted]:
        yield f"What {all_of(uncounted)} may cost is not known, for no tokens are reported"
