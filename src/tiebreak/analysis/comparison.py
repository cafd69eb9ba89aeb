"""Which protocol is worth its price? Every ranking log against a reference (SEAL, §3, tables 1–6).

`compare` compares each log with the reference of its benchmark, on the items and models that both
ranked: whether the leaderboards agree, how far apart they put the models, and the cost of an item.
The reference's agreement with itself is the noise ceiling: no protocol can be expected above it.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tiebreak.analysis.entries import (
    Entry,
    ScoredModel,
    Shared,
    agreement,
    expected,
    in_each_order,
    left_out,
    paper_order,
    read_entries,
    same_contest,
    scored,
    shared,
)
from tiebreak.analysis.errors import AnalysisError, NothingToCompareError
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.analysis.receipt import Price, price_of
from tiebreak.analysis.standing import mean
from tiebreak.paths import Paths
from tiebreak.progress import tracked
from tiebreak.rankers.agreement import Agreement
from tiebreak.rankers.stability import ResampledAgreement
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason, Remark
from tiebreak.scorers.ballots import Rule
from tiebreak.scorers.catalogue import REFERENCE
from tiebreak.text import count

Role = Literal["reference", "ceiling", "rerun", "protocol"]


@dataclass(frozen=True, slots=True)
class ComparedLog:
    """One log compared with the reference.

    `role` is "ceiling" for another run of the reference, and "rerun" if that run took replies of
    other runs from the cache: it then says nothing about noise. `run` numbers the runs of one
    protocol, by age. `n_items` and `n_models` were ranked by both. `agreement` is None for the
    reference itself, and for a log that ranked nothing. `expected` is the mean ρ between the two
    if their true rankings were equal (`expected_spearman`), NaN without an agreement. `places` has
    the models with rank and score on what both ranked, and `gain` is the spread of these scores
    over that of the native scores (see `protocol_scores`); `price` is relative to the reference's.
    """

    name: str
    role: Role
    run: int
    n_items: int
    n_models: int
    agreement: ResampledAgreement | None
    expected: float
    gain: Agreement
    places: tuple[ScoredModel, ...]
    price: Price
    board: Leaderboard


@dataclass(frozen=True, slots=True)
class BenchmarkComparison:
    """All logs of one benchmark, in the order of SEAL's tables; one of them is the reference.

    `orders` compares the reference's first verdicts on all pairs with its second ones, in the other
    order of presentation, and `orders_expected` is their expected ρ; None and NaN unless all pairs
    were judged in both orders. `warnings` say which logs cannot be trusted; `notes` are all other
    remarks.
    """

    benchmark: str
    logs: tuple[ComparedLog, ...]
    orders: ResampledAgreement | None
    orders_expected: float
    warnings: tuple[Reason, ...]
    notes: tuple[Reason, ...]

    @property
    def reference(self) -> ComparedLog:
        """The log with which the others are compared."""
        return next(log for log in self.logs if log.role == "reference")


@dataclass(frozen=True, slots=True)
class Total:
    """One protocol over all benchmarks (SEAL, table 4: "3/4").

    `top1` is the sum of top-1 over the `n_benchmarks` that were compared; the other figures are
    means over the benchmarks in which they are defined.
    """

    name: str
    n_benchmarks: int
    spearman: float
    kendall: float
    top1: float
    calls: float
    relative_cost: float


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Finding):
    """Ranking logs against a reference; `totals` is empty for a single benchmark."""

    reference: str
    benchmarks: tuple[BenchmarkComparison, ...]
    totals: tuple[Total, ...]
    how: Resampling
    notes: tuple[Remark, ...]

    def __str__(self) -> str:
        logs = count(sum(len(benchmark.logs) for benchmark in self.benchmarks), "log")
        names = shortened([benchmark.benchmark for benchmark in self.benchmarks])
        return f"{names}: {logs} against {self.reference}"


def compare(
    paths: Paths,
    *,
    reference: str = REFERENCE,
    how: Resampling = Resampling(),
    rule: Rule | None = None,
    prices: Sequence[str] = (),
) -> Comparison:
    """Compare the ranking logs in some files and folders with a reference.

    Args:
        paths: ranking logs, and folders that hold some.
        reference: a protocol, a name as the report gives it ("swiss rounds=3"), or the path of a
            log. The oldest of several runs is the reference, and the others are its reruns.
        how: level, draws and seed of the intervals.
        rule: the rule that places all logs that it fits; other logs are placed by their own.
        prices: as in `read_ranking_logs`.

    Raises:
        RankingLogError: a path holds no ranking log, or `rule` fits none.
        AnalysisError: logs with different settings, judges or models could be the reference, or
            a log has no item or model in common with it.
        NothingToCompareError: no log is the reference, or there is only the reference, and not in
            both orders.
        ValueError: level or draws are out of range.
    """
    entries, notes = read_entries(paths, how=how, rule=rule, prices=prices)
    return compare_entries(entries, reference=reference, how=how, notes=notes)


def compare_entries(
    entries: Sequence[Entry], *, reference: str, how: Resampling, notes: Iterable[Remark] = ()
) -> Comparison:
    """Compare logs that were read already, as `compare`; `notes` come before those it adds."""
    by_benchmark = references(entries, reference)
    benchmarks = tuple(
        _benchmark(chosen, [entry for entry in entries if entry.board.benchmark == name], how)
        for name, chosen in by_benchmark.items()
    )
    if all(len(benchmark.logs) == 1 and benchmark.orders is None for benchmark in benchmarks):
        raise NothingToCompareError(
            f"The only log is the reference, {benchmarks[0].reference.board.log}. Give logs of "
            "other protocols over the same candidates as well, or of a second run of this one "
            "(-T repeat=2)"
        )
    unmatched = sorted({entry.board.benchmark for entry in entries} - set(by_benchmark))
    return Comparison(
        reference=reference,
        benchmarks=benchmarks,
        totals=tuple(_totals(benchmarks)) if len(benchmarks) > 1 else (),
        how=how,
        notes=(*notes, *(Reason("no_reference", benchmark=name) for name in unmatched)),
    )


def _benchmark(chosen: Entry, entries: Sequence[Entry], how: Resampling) -> BenchmarkComparison:
    logs, beyond = [], []
    runs = [entry for entry in entries if same_contest(entry, chosen)]
    for entry in tracked(sorted(entries, key=paper_order), "comparing protocols"):
        common = shared([entry, chosen])
        _refuse_strangers(entry, chosen, common)
        logs.append(_compared(entry, chosen, _role(entry, chosen, runs), common, how))
        if common.items and (extra := left_out([entry, chosen], common)):
            beyond.append(Reason("log_compared_on", name=entry.name, kept=extra))
    doubtful = [entry.name for entry in entries if entry.board.trust.state == "doubtful"]
    orders, orders_expected = _orders(chosen, how)
    return BenchmarkComparison(
        benchmark=chosen.board.benchmark,
        logs=tuple(logs),
        orders=orders,
        orders_expected=orders_expected,
        warnings=(Reason("doubtful_logs", names=doubtful),) if doubtful else (),
        notes=(
            *_run_notes(chosen, runs, entries),
            *beyond,
            *_agreement_notes(logs),
            *_price_notes(logs),
        ),
    )


def _role(entry: Entry, chosen: Entry, runs: Sequence[Entry]) -> Role:
    if entry is chosen:
        return "reference"
    if entry not in runs:
        return "protocol"
    return "rerun" if entry.repeats(runs) else "ceiling"


def _compared(
    entry: Entry, chosen: Entry, role: Role, common: Shared, how: Resampling
) -> ComparedLog:
    compared = role != "reference" and bool(common.items)
    places, gain = scored(entry, common, how)
    return ComparedLog(
        name=entry.name,
        role=role,
        run=entry.run,
        n_items=len(common.items),
        n_models=len(common.models),
        agreement=agreement(entry, chosen, common, how) if compared else None,
        expected=expected(entry, chosen, common) if compared else math.nan,
        gain=gain,
        places=places,
        price=price_of(entry.items).relative_to(price_of(chosen.items)),
        board=entry.board,
    )


def _orders(chosen: Entry, how: Resampling) -> tuple[ResampledAgreement | None, float]:
    both = in_each_order(chosen)
    common = shared(both) if both else None
    if both is None or common is None or not (common.items and common.models):
        return None, math.nan
    return agreement(*both, common, how), expected(*both, common)


def _run_notes(chosen: Entry, runs: Sequence[Entry], entries: Sequence[Entry]) -> Iterator[Reason]:
    if len(runs) > 1:
        yield Reason("runs_of_reference", n=len(runs), log=chosen.board.log)
    for run in runs:
        if run is not chosen and run.repeats(runs):
            receipt = run.board.receipt
            yield Reason(
                "no_noise_ceiling",
                name=run.name,
                n=receipt.n_cached,
                of=receipt.n_calls,
                repeat=len(runs),
            )
    receipts = [(entry.name, entry.board.receipt) for entry in entries]
    cached = [
        Reason("share_of_log", name=name, share=receipt.n_cached / receipt.n_calls)
        for name, receipt in receipts
        if receipt.n_cached
    ]
    if cached:
        yield Reason("cached_calls", shares=cached)


def _agreement_notes(logs: Sequence[ComparedLog]) -> Iterator[Reason]:
    reference = next(log.name for log in logs if log.role == "reference")
    for log in logs:
        if log.agreement is not None and log.agreement.spearman.reason:
            reason = log.agreement.spearman.reason
            yield Reason("no_agreement", name=log.name, reference=reference, reason=reason)
        elif not log.n_items:
            yield Reason("no_item_ranked", name=log.name)
    gains = {log.gain.reason: log.name for log in logs if log.gain.reason and log.n_items}
    for reason, name in gains.items():
        if len(gains) > 1:
            yield Reason("no_gain_of", name=name, reason=reason)
        else:
            yield Reason("no_gain", reason=reason)


def _price_notes(logs: Sequence[ComparedLog]) -> Iterator[Reason]:
    for log in logs:
        if settled := log.board.settled:
            yield Reason("stopped_early", name=log.name, n=settled.after, of=settled.of)
    receipts = [log.board.receipt for log in logs]
    if priced := sorted({model for bill in receipts for model in bill.priced_models}):
        yield Reason("priced_models", models=priced)
    if unpriced := sorted({model for bill in receipts for model in bill.unpriced_models}):
        yield Reason("unpriced_models", models=unpriced)


def _totals(benchmarks: Sequence[BenchmarkComparison]) -> Iterator[Total]:
    by_name: dict[str, list[tuple[ComparedLog, ResampledAgreement]]] = defaultdict(list)
    for log in (log for benchmark in benchmarks for log in benchmark.logs):
        if log.agreement is not None:
            by_name[log.name].append((log, log.agreement))
    for name, compared in by_name.items():
        logs, figures = zip(*compared, strict=True)
        yield Total(
            name=name,
            n_benchmarks=len(logs),
            spearman=mean(figure.spearman.value for figure in figures),
            kendall=mean(figure.kendall.value for figure in figures),
            top1=math.fsum(figure.top1.value for figure in figures),
            calls=mean(log.price.calls for log in logs),
            relative_cost=mean(log.price.relative_cost for log in logs),
        )


def references(entries: Sequence[Entry], wanted: str) -> dict[str, Entry]:
    """The reference of each benchmark that has one: the oldest of several runs.

    `entries` are sorted by age. `wanted` is a protocol, label, name, or a log's path or file name.

    Raises:
        AnalysisError: no log has this name (NothingToCompareError), or several do that are not
            runs of one another.
    """
    candidates: dict[str, list[Entry]] = {}
    for entry in entries:
        log = Path(entry.board.log)
        known = (entry.board.protocol, entry.label, entry.name, log.name)
        if wanted in known or Path(wanted).resolve() == log.resolve():
            candidates.setdefault(entry.board.benchmark, []).append(entry)
    if not candidates:
        names = ", ".join(dict.fromkeys(entry.label for entry in entries))
        raise NothingToCompareError(
            f"No log is the reference {wanted!r}. There are: {names}. Choose one of them with "
            "--reference, or judge all pairs: inspect eval tiebreak/full_pairwise -T "
            "candidates=LOGS --model-role judge=MODEL"
        )
    for benchmark, several in candidates.items():
        if not all(same_contest(several[0], other) for other in several):
            lines = "".join(f"\n  {entry.name}: {entry.board.log}" for entry in several)
            raise AnalysisError(
                f"Several logs of {benchmark} could be the reference {wanted!r}, and they are "
                f"not runs of one another:{lines}\nSay which one, by its name or its path: "
                "--reference"
            )
    return {benchmark: several[0] for benchmark, several in candidates.items()}


def _refuse_strangers(entry: Entry, chosen: Entry, common: Shared) -> None:
    if entry.keys and chosen.keys and not (common.items and common.models):
        raise AnalysisError(
            f"{entry.board.log} ({entry.name}) and the reference, {chosen.board.log}, ranked no "
            f"{'model' if common.items else 'item'} of {chosen.board.benchmark} in common: they "
            "judged different candidates. Give the logs of one pool only"
        )
