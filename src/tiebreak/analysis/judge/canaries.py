"""How often a judge was persuaded: its verdicts on planted answers with and without an attack."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding
from tiebreak.analysis.judge.biases import ALARM, TOLERANCE
from tiebreak.analysis.receipt import Receipt, receipt_of
from tiebreak.paths import Paths
from tiebreak.rankers.intervals import Estimate, paired_interval, share_over_items
from tiebreak.rankers.pairwise_tests import sign_p
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.log import JudgedItem
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason
from tiebreak.text import count


@dataclass(frozen=True, slots=True)
class Persuaded:
    """Results of a weak answer against an ordinary one in `n` canaries of one kind of attack.

    The weak answer was preferred in `won` with the attack and in `won_plain` without it; in
    `persuaded` it was preferred with the attack but not without it.
    """

    kind: str
    n: int
    won: int
    won_plain: int
    persuaded: int


@dataclass(frozen=True, slots=True)
class Canaries:
    """The effect of planted answers on a judge, from pairs of a canary and its control.

    Of `n` pairs with both verdicts, `n_persuaded` went to the weak answer with the attack and not
    without it; `share` is n_persuaded / n with its interval over items (`share_over_items`).
    `gain` is how much more often the weak answer won with the attack than without, in [-1, 1], with
    its interval (`paired_interval`); a judge that tosses coins has a share of ¼ and a gain of 0.
    `p` tests, one-sided, whether more of the changed verdicts changed in favour of the attack than
    against it (exact binomial). `n_unscored` pairs lack a verdict. `kinds` are sorted by name; `by`
    are the attacks that persuaded.
    """

    share: Estimate
    n: int
    n_persuaded: int
    n_unscored: int
    gain: Estimate
    p: float
    kinds: tuple[Persuaded, ...]
    by: tuple[str, ...]

    @property
    def bound(self) -> bool:
        """Whether attacks gain verdicts by more than the tolerance."""
        return self.p <= ALARM and self.gain.value >= TOLERANCE


@dataclass(frozen=True, slots=True)
class Pair:
    """Whether the weak answer won, with the attack and without; None without a verdict.

    `unit` is the item, or the cluster of items made from one question.
    """

    kind: str
    unit: str
    attack: str
    won: bool | None = None
    won_plain: bool | None = None

    @property
    def scored(self) -> bool:
        """Whether there are both verdicts."""
        return self.won is not None and self.won_plain is not None

    @property
    def turned(self) -> int:
        """1 if the weak answer won only with the attack, -1 if only without it, else 0."""
        return (self.won is True) - (self.won_plain is True)

    @property
    def persuaded(self) -> bool:
        """Whether the weak answer won only with the attack."""
        return self.scored and self.turned > 0


def canaries_of(
    samples: Iterable[JudgedItem], *, how: Resampling = Resampling()
) -> Canaries | None:
    """Count the canaries of a log; None if none were planted, or none was judged to its end."""
    pairs = _pairs(samples)
    return counted(pairs, how=how) if pairs else None


def counted(pairs: Sequence[Pair], *, how: Resampling = Resampling()) -> Canaries:
    """Count pairs of a canary and its control."""
    scored = [pair for pair in pairs if pair.scored]
    units = [pair.unit for pair in scored]
    persuaded = np.array([pair.persuaded for pair in scored], np.float64)
    turned = np.array([pair.turned for pair in scored], np.float64)
    none = Reason("no_scored_canary")
    gain, p = Estimate(math.nan, math.nan, math.nan, 0, none), math.nan
    if scored:
        bounds = _bounds(turned, units, how.level)
        gain = Estimate(float(turned.mean()), *bounds, len(set(units)))
        gained, n_turned = int(np.sum(turned > 0)), int(np.count_nonzero(turned))
        p = 1.0  # also if the attack changed no verdict
        if n_turned:
            p = sign_p(gained, n_turned, one_sided=True)
    return Canaries(
        share=share_over_items(persuaded, 1, units, level=how.level, undefined=none),
        n=len(scored),
        n_persuaded=int(persuaded.sum()),
        n_unscored=len(pairs) - len(scored),
        gain=gain,
        p=p,
        kinds=tuple(_by_kind(scored)),
        by=tuple(sorted({pair.attack for pair in scored if pair.persuaded})),
    )


def _by_kind(scored: Sequence[Pair]) -> Iterator[Persuaded]:
    for kind in sorted({pair.kind for pair in scored}):
        pairs = [pair for pair in scored if pair.kind == kind]
        yield Persuaded(
            kind=kind,
            n=len(pairs),
            won=sum(pair.won is True for pair in pairs),
            won_plain=sum(pair.won_plain is True for pair in pairs),
            persuaded=sum(pair.persuaded for pair in pairs),
        )


def _bounds(turned: FloatArray, units: Sequence[str], level: float) -> tuple[float, float]:
    """The interval of the mean over items, by the means of items with several canaries."""
    names = list(dict.fromkeys(units))
    if len(names) == len(units):
        return paired_interval(turned, level)
    by_item = [
        np.mean([x for x, unit in zip(turned, units, strict=True) if unit == name])
        for name in names
    ]
    return paired_interval(by_item, level)


def _pairs(samples: Iterable[JudgedItem]) -> list[Pair]:
    """Every canary with its control; one of the two can be missing."""
    pairs: dict[tuple[str, str, str, int], Pair] = {}
    for sample in samples:
        if sample.ballots is None or sample.ballots.canary is None or not sample.judged:
            continue
        item, canary = sample.ballots, sample.ballots.canary
        won = _won(sample, canary.model)
        key = item.benchmark, item.item_id, canary.attack, canary.number
        pair = pairs.get(key, Pair(canary.kind, item.cluster or item.item_id, canary.attack))
        pairs[key] = replace(pair, won_plain=won) if canary.control else replace(pair, won=won)
    return list(pairs.values())


def _won(sample: JudgedItem, planted: str) -> bool | None:
    """Whether the planted answer is placed before the ordinary one; None without a verdict."""
    ranks = dict(sample.placement.ranks) if sample.placement else {}
    rank = ranks.pop(planted, None)
    return None if rank is None or not ranks else rank < min(ranks.values())


@dataclass(frozen=True, slots=True, repr=False)
class CanaryReport(Finding):
    """The canaries of one log: protocol, judges, results and cost.

    `level` is the confidence level of intervals; `notes` are those of the log.
    """

    protocol: str
    judges: tuple[str, ...]
    benchmarks: tuple[str, ...]
    log: str
    canaries: Canaries
    receipt: Receipt
    level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        canaries = self.canaries
        planted = count(canaries.n, "canary", "canaries")
        return f"{', '.join(self.judges)}: persuaded by {canaries.n_persuaded:,} of {planted}"


def canary_reports(paths: Paths, *, how: Resampling = Resampling()) -> list[CanaryReport]:
    """Reports on the canaries of all ranking logs in some files and folders that have any.

    Raises:
        RankingLogError: a path holds no ranking log.
        AnalysisError: no log holds a canary that was judged.
    """
    reports = []
    for log in read_ranking_logs(paths, with_votes=False):
        canaries = canaries_of(log.canaries, how=how)
        if canaries is None:
            continue
        planted = [canary.ballots for canary in log.canaries if canary.ballots]
        reports.append(
            CanaryReport(
                protocol=log.protocol,
                judges=tuple(sorted({call.model for item in planted for call in item.calls})),
                benchmarks=tuple(sorted({item.benchmark for item in planted})),
                log=log.path,
                canaries=canaries,
                receipt=receipt_of(planted),
                level=how.level,
                notes=log.notes,
            )
        )
    if not reports:
        raise AnalysisError(
            "No canary was judged in these logs. Ask a judge about some: tiebreak canary LOGS "
            "--judge MODEL; or plant some in a ranking: inspect eval tiebreak/round_robin "
            "-T canaries=40 …"
        )
    return reports
