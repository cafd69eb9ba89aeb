"""Diagnosis: is a benchmark saturated for these models, and could judging help?

`diagnose` counts and tests the answers of a pool, without a judge. Answers are identical if their
normalised texts and their tool calls are (`candidates.identical_groups`): protocols merge such
answers, so they cost no call and tell no models apart.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.analysis.finding import Finding
from tiebreak.analysis.standing import mean
from tiebreak.candidates import BenchmarkAudit, Candidate, CandidatePool, audit, identical_groups
from tiebreak.progress import doing
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import Estimate, wilson
from tiebreak.rankers.pairwise_tests import Separation, items_needed, separation
from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.reason import Reason


@dataclass(frozen=True, eq=False, slots=True)
class Saturation:
    """How well native scores tell N models apart on one benchmark.

    `agree` is the share of the items (those with at least two scores) in which all models that are
    present score alike: these tell no models apart. `means`, shape (N,), are over present cells.

    `detectable`, shape (N, N), is the difference of two means that `separation`, the tests of all
    pairs, finds with a probability of about `power`; `typical_detectable` is its median over the
    pairs for which it is defined. It is NaN on the diagonal, for pairs with too few items to find
    any difference (`items_needed`), and for pairs whose difference is the same in every item,
    because its spread is then unknown.

    `n_constant_pairs` counts the last kind. Their scores may still differ on items not seen:
    `unseen` is the upper bound of the share of such items, at confidence `level` for all these
    pairs together; NaN without such a pair. If scores lie in [0, 1] and a pair never differed, its
    true means are at most `unseen` apart. `reason` says this, or is None.

    `order` lists the columns with a mean, best first (equal means: by column).
    """

    agree: Estimate
    means: FloatArray
    detectable: FloatArray
    typical_detectable: float
    n_constant_pairs: int
    unseen: float
    order: tuple[int, ...]
    level: float
    power: float
    reason: Reason | None


def saturation(
    pool: CandidatePool, *, level: float = 0.95, power: float = 0.8
) -> dict[str, Saturation]:
    """Saturation of each benchmark of a pool by its native scores; see `saturation_of`.

    An item that was answered in several epochs counts once, with the mean of its scores; scores
    missing in the logs are left out. Benchmarks are in the order of the pool, columns are the
    models, by name.

    Raises:
        RankingError: level or power are out of range.
    """
    return {
        benchmark: saturation_of(native_scores(pool, benchmark), level=level, power=power)
        for benchmark in pool.benchmarks
    }


def native_scores(pool: CandidatePool, benchmark: str) -> NDArray[np.float64]:
    """Native scores, shape (items, models), means over epochs."""
    models = pool.models_of(benchmark)
    epochs: dict[str, list[list[float]]] = defaultdict(list)
    for item in pool.items_of(benchmark):
        row = pool.candidates[item.key]
        epochs[item.item_id].append([row[model].native_score for model in models])
    return np.array(
        [[mean(column) for column in zip(*rows, strict=True)] for rows in epochs.values()]
    )


def saturation_of(native: ArrayLike, *, level: float = 0.95, power: float = 0.8) -> Saturation:
    """Saturation of a benchmark for some models.

    The detectable difference is that of a paired two-sided t test at level α = (1 − level) / m for
    each of the m pairs of models. `separation` is never stricter than that, so the difference δ of
    two models that it finds with probability `power` solves

        δ = (t_{1−α/2} + t_{power}) · √((s² + q · (δ · d − δ²)) / n)

    with n − 1 degrees of freedom. s is the standard deviation, over the n common items, of the two
    models' difference, q the share of items in which they tie, and d the mean size of a difference
    where they do not. A lead needs differences on tied items, which add to the spread (with few
    ties this is the formula of E. Miller 2024, "Adding Error Bars to Evals", arXiv:2411.00640).
    Also, an exact test needs enough items that differ: δ is at least the difference at which
    `items_needed` items do, with probability `power`.

    The table shows measured power for two models that are δ apart, among N that pass 97% of the
    items (N = 2: 2,000 worlds a cell, N = 8: 300; items pass independently, or models share their
    difficulty). Tests of 28 pairs together are less strict than α near the ceiling:

        items                  20       50      164     1000
        N = 2           .74   .79  .73   .83  .73  .82  .79  .83
        N = 8           .97  1.00  .95   .99  .89  .96  .85  .91

    At pass rates of 60 to 90% power at level α is .71 to .95, with graded scores .73 to .92. The
    standard error of the detectable difference is a tenth of it, with 50 items and 97% passed.

    A constant difference says nothing about s, but it bounds the share of other items by
    1 − α^(1/n), about 3/n (the rule of three: J. A. Hanley and A. Lippman-Hand 1983,
    doi:10.1001/jama.1983.03330370053031), n being the items of the pair that has the fewest. If
    only some pairs are constant they are selected from m pairs, so α is divided by m.

    Args:
        native: shape (items, N), one row per item (average epochs first), higher is better, NaN =
            absent.
        level: confidence level, in (0, 1).
        power: probability of detection, in (0, 1).

    Raises:
        RankingError: `native` is not two-dimensional, has no column or an infinite score, or level
            or power are out of range.
    """
    scores = _checked(native, level, power)
    rows = scores[np.sum(~np.isnan(scores), axis=1) >= 2]
    same = np.nanmax(rows, axis=1) == np.nanmin(rows, axis=1) if rows.size else np.empty(0)
    counts = np.sum(~np.isnan(scores), axis=0)
    means = ratio(np.nansum(scores, axis=0), counts)
    order = [i for i in np.argsort(-means.round(DECIMALS), kind="stable").tolist() if counts[i]]
    detectable, constant = _detectable(scores, level, power)
    pairs = np.triu_indices(len(counts), k=1)
    defined = detectable[pairs][~np.isnan(detectable[pairs])]
    unmoved = constant[pairs][constant[pairs] > 0]
    n_pairs = unmoved.size + defined.size
    alpha = (1 - level) / (n_pairs if defined.size else 1)
    unseen = 1 - alpha ** (1 / float(unmoved.min())) if unmoved.size else math.nan
    return Saturation(
        agree=wilson(int(same.sum()), len(rows), level=level),
        means=means,
        detectable=detectable,
        typical_detectable=float(np.median(defined)) if defined.size else math.nan,
        n_constant_pairs=unmoved.size,
        unseen=unseen,
        order=tuple(order),
        level=level,
        power=power,
        reason=_reason(unmoved.size, len(pairs[0]), unseen, level),
    )


def _checked(native: ArrayLike, level: float, power: float) -> FloatArray:
    scores = np.asarray(native, dtype=np.float64)
    if scores.ndim != 2:
        raise RankingError(f"native must have shape (items, models), got {scores.shape}")
    if not scores.shape[1]:
        raise RankingError("there is no model")
    if np.isinf(scores).any():
        raise RankingError("scores must be finite, or NaN where a model is absent")
    if not (0 < level < 1 and 0 < power < 1):
        raise RankingError(f"level and power must lie between 0 and 1, got {level} and {power}")
    return scores.round(DECIMALS)


def _detectable(scores: FloatArray, level: float, power: float) -> tuple[FloatArray, FloatArray]:
    """Detectable difference of each pair, and its number of items if its difference is constant."""
    n_models = scores.shape[1]
    gaps = {(i, j): scores[:, i] - scores[:, j] for i, j in combinations(range(n_models), 2)}
    gaps = {pair: common for pair, gap in gaps.items() if (common := gap[~np.isnan(gap)]).size}
    detectable = np.full((n_models, n_models), np.nan)
    constant = np.zeros((n_models, n_models))
    for (i, j), gap in gaps.items():
        if np.ptp(gap) < 10.0**-DECIMALS:
            constant[i, j] = constant[j, i] = gap.size
        else:
            detectable[i, j] = detectable[j, i] = _lead(gap, len(gaps), level, power)
    return detectable, constant


def _lead(gap: FloatArray, n_pairs: int, level: float, power: float) -> float:
    """The detectable mean difference of a pair, from differences that are not all the same."""
    from scipy.special import betaincinv, stdtrit

    n, tied = gap.size, float(np.mean(gap == 0))
    size = float(np.abs(gap[gap != 0]).mean())
    least = items_needed(n_pairs, level)
    if least > n:
        return math.nan
    # P(at least `least` of n items differ) = power.
    enough = size * float(betaincinv(least, n - least + 1, power))
    factor = float(np.sum(stdtrit(n - 1, [1 - (1 - level) / n_pairs / 2, power]))) ** 2 / n
    # The positive root of a·δ² − b·δ − c = 0.
    a, b, c = 1 + tied * factor, tied * factor * size, factor * float(gap.var(ddof=1))
    return max(enough, (b + math.sqrt(b * b + 4 * a * c)) / (2 * a))


def _reason(n_constant: int, n_pairs: int, unseen: float, level: float) -> Reason | None:
    if not n_pairs:
        return Reason("one_model")
    if not n_constant:
        return None
    return Reason("constant_pairs", n=n_constant, of=n_pairs, level=level, unseen=unseen)


# Kinds of pool notes that affect the comparison of its models.
_COMPARED = ("native_differs", "settings_differ", "target_differs", "wording_differs")


Kind = Literal[
    "one_model",
    "identical",
    "no_native",
    "too_few_items",
    "saturated",
    "partly_saturated",
    "not_saturated",
]
Judging = Literal["cannot_help", "could_help", "not_needed"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The figures that a verdict is based on.

    Attributes:
        n_models: models that answered; `n_scored` of them have a native score.
        n_rows: items as judges would see them, each epoch on its own.
        n_identical: rows in which all models gave the same answer.
        n_open: rows with two different answers whose native scores are equal or missing: judging
            can add to the native scores in these at most.
        n_unscored: rows in which some model has no native score.
        n_items: items behind the native comparison, epochs averaged (the most of any pair).
        all_equal: all native scores of an item are equal, in every item.
        n_pairs: pairs of models with native scores of common items; `n_apart` are told apart.
        top: size of the first group of models that are not told apart.
        largest: largest difference of two models' mean native scores, NaN without a pair.
        detectable: median over pairs of the detectable difference, NaN if undefined.
        unseen: see `Saturation`; always defined if `all_equal`.
        points: native scores lie in [0, 1], so differences can be given in percentage points.
        level: confidence level.
    """

    n_models: int
    n_scored: int
    n_rows: int
    n_identical: int
    n_open: int
    n_unscored: int
    n_items: int
    all_equal: bool
    n_pairs: int
    n_apart: int
    top: int
    largest: float
    detectable: float
    unseen: float
    points: bool
    level: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether native scores tell the models apart, and whether judging could; `text` explains."""

    kind: Kind
    judging: Judging
    text: Reason


@dataclass(frozen=True, slots=True)
class NativeStanding:
    """A model's mean native score over its `n_items` items, NaN without any.

    `groups` has the numbers, from 1, of its groups in `Separation`; empty without a native score.
    """

    model: str
    native: float
    n_items: int
    groups: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Diagnosis(Finding):
    """The diagnosis of one benchmark of a pool.

    `standings` have the best model first and models without native scores last. `distinct` is the
    mean number of different answers to an item, from 1 to the number of models. `n_tied_pairs`
    counts pairs of answers to one item with equal native scores (a missing score equals none), and
    `n_tied_different` those of them whose answers differ. Columns of `saturation` and `separation`
    are `audit.models`. `notes` are the pool's notes that affect the comparison of its models.
    """

    benchmark: str
    verdict: Verdict
    evidence: Evidence
    standings: tuple[NativeStanding, ...]
    audit: BenchmarkAudit
    distinct: float
    n_tied_pairs: int
    n_tied_different: int
    saturation: Saturation
    separation: Separation
    notes: tuple[str, ...]

    def __str__(self) -> str:
        kinds = f"{self.verdict.kind}, judging {self.verdict.judging}".replace("_", " ")
        return f"{self.benchmark}: {kinds}"


def diagnose(
    pool: CandidatePool, *, level: float = 0.95, power: float = 0.8
) -> tuple[Diagnosis, ...]:
    """Tell whether each benchmark of a pool is saturated for its models and judging could help.

    For native scores, `saturation` has the difference they can detect and `separation` the models
    they tell apart; an item in several epochs counts once there. Answers are counted epoch by
    epoch, as judges would see them. There is one diagnosis per benchmark, in the order of the
    pool; `level` and `power`, the probability with which a detectable difference is detected, lie
    in (0, 1).

    Raises:
        RankingError: level or power are out of range, or a native score is infinite.
    """
    with doing("testing models against each other"):
        measured = saturation(pool, level=level, power=power)
        return tuple(
            _diagnosis(pool, counted, measured[counted.benchmark])
            for counted in audit(pool).benchmarks
        )


def _diagnosis(pool: CandidatePool, counted: BenchmarkAudit, measured: Saturation) -> Diagnosis:
    native = native_scores(pool, counted.benchmark)
    separated = separation(native, measured.order, level=measured.level)
    rows = [_compare(pool.candidates[item.key]) for item in pool.items_of(counted.benchmark)]
    tested = separated.tested
    evidence = Evidence(
        n_models=len(counted.models),
        n_scored=len(separated.order),
        n_rows=len(rows),
        n_identical=counted.n_all_identical,
        n_open=sum(row.is_open for row in rows),
        n_unscored=len(rows) - counted.n_native,
        n_items=max((pair.n_items for pair in tested), default=0),
        all_equal=measured.agree.value == 1,
        n_pairs=len(tested),
        n_apart=sum(pair.apart is True for pair in tested),
        top=len(separated.groups[0]) if separated.groups else 0,
        largest=max((abs(pair.difference) for pair in tested), default=math.nan),
        detectable=measured.typical_detectable,
        unseen=measured.unseen,
        points=bool(np.all((native >= 0) & (native <= 1) | np.isnan(native))),
        level=measured.level,
    )
    return Diagnosis(
        benchmark=counted.benchmark,
        verdict=verdict(evidence),
        evidence=evidence,
        standings=tuple(_standings(counted, measured, separated, np.sum(~np.isnan(native), 0))),
        audit=counted,
        distinct=sum(row.distinct for row in rows) / len(rows),
        n_tied_pairs=sum(row.tied for row in rows),
        n_tied_different=sum(row.tied_different for row in rows),
        saturation=measured,
        separation=separated,
        notes=tuple(
            note.what
            for note in pool.notes
            if note.where == counted.benchmark and note.kind in _COMPARED
        ),
    )


def _standings(
    counted: BenchmarkAudit, measured: Saturation, separated: Separation, n_items: Sequence[int]
) -> Iterator[NativeStanding]:
    unscored = [column for column in range(len(counted.models)) if column not in measured.order]
    for place, column in enumerate([*measured.order, *unscored]):
        yield NativeStanding(
            model=counted.models[column].model,
            native=float(measured.means[column]),
            n_items=int(n_items[column]),
            groups=tuple(n for n, group in enumerate(separated.groups, start=1) if place in group),
        )


class _Row(NamedTuple):
    """Counts for one item: distinct answers, tied pairs, and tied pairs of different answers.

    A pair is tied if its native scores are equal. `is_open`: two different answers have native
    scores that are equal or missing.
    """

    distinct: int
    tied: int
    tied_different: int
    is_open: bool


def _compare(row: Mapping[str, Candidate]) -> _Row:
    groups = identical_groups(row)
    scores = [row[model].native_score for group in groups for model in group]
    answers = [number for number, group in enumerate(groups) for _ in group]
    known = [(s, answer) for s, answer in zip(scores, answers, strict=True) if not math.isnan(s)]
    tied = _equal_pairs(score for score, _ in known)
    different = tied - _equal_pairs(known)
    unscored = len(known) < len(row)
    return _Row(len(groups), tied, different, different > 0 or (unscored and len(groups) > 1))


def _equal_pairs(labels: Iterable[Hashable]) -> int:
    return sum(math.comb(size, 2) for size in Counter(labels).values())


def verdict(evidence: Evidence) -> Verdict:
    """The conclusion from the evidence.

    `kind` is the first that applies: `one_model`; `identical` (all answers to every item are);
    `no_native` (no two models have native scores for one item); `not_saturated` (all pairs of
    models are told apart); `partly_saturated` (some pairs are); `too_few_items` (no pair could be,
    whatever the scores); `saturated`. `judging` is `cannot_help` if answers with the same native
    score are identical, `not_needed` if native scores tell all models apart.
    """
    kind = _kind(evidence)
    judging, advice = _judging(evidence, kind)
    statements = [*filter(None, [_finding(evidence, kind), advice])]
    return Verdict(kind, judging, Reason("verdict", statements=statements))


def _kind(evidence: Evidence) -> Kind:
    if evidence.n_models < 2:
        return "one_model"
    if evidence.n_identical == evidence.n_rows:
        return "identical"
    if not evidence.n_pairs:
        return "no_native"
    if evidence.n_apart == evidence.n_pairs:
        return "not_saturated"
    if evidence.n_apart:
        return "partly_saturated"
    few = evidence.n_items < items_needed(level=evidence.level)
    return "too_few_items" if few else "saturated"


def _finding(evidence: Evidence, kind: Kind) -> Reason | None:
    n, two = evidence.n_scored, evidence.n_scored == 2
    lacking = n < evidence.n_models
    models = Reason("models_with_scores", n=n) if lacking else Reason("all_models", n=n)
    if kind == "one_model":
        return Reason("nothing_to_compare")
    if kind == "no_native":
        return Reason("unknown_saturation")
    if kind == "too_few_items":
        return Reason(
            "native_items_few",
            n=evidence.n_items,
            models=Reason("two_models") if two else Reason("any_two_of", models=models),
            least=items_needed(level=evidence.level),
        )
    if kind == "identical":
        return None
    size = _size(evidence)
    if kind == "saturated":
        return Reason("saturated_two" if two else "saturated", models=models, size=size)
    if kind == "partly_saturated":
        top = Reason("tied_top", n=evidence.top) if evidence.top > 1 else Reason("first_two_apart")
        return Reason(
            "partly_saturated",
            models=models,
            n=evidence.n_apart,
            of=evidence.n_pairs,
            top=top,
            size=size,
        )
    return Reason("not_saturated_two" if two else "not_saturated", models=models, size=size)


def _size(evidence: Evidence) -> Reason:
    if evidence.all_equal:
        equal = Reason("equal_scores", n=evidence.n_items)
        if not evidence.points:
            return equal
        most = _amount(evidence.unseen, evidence)
        return Reason("equal_so_far", equal=equal, level=evidence.level * 100, most=most)
    amount = _amount(evidence.largest, evidence)
    there = Reason(
        "only_difference" if evidence.n_pairs == 1 else "largest_difference", amount=amount
    )
    if math.isnan(evidence.detectable):
        return there
    detectable = _amount(evidence.detectable, evidence)
    return Reason("detectable", there=there, n=evidence.n_items, amount=detectable)


def _judging(evidence: Evidence, kind: Kind) -> tuple[Judging, Reason | None]:
    rows = evidence.n_rows
    if kind == "one_model":
        return "cannot_help", None
    if kind == "identical":
        return "cannot_help", Reason("judging_identical", n=rows)
    if kind == "not_saturated":
        return "not_needed", Reason("judging_not_needed")
    if not evidence.n_open:
        return "cannot_help", Reason("judging_same_scores", n=rows)
    figures = {"n": evidence.n_open, "of": rows}
    if kind == "no_native":
        return "could_help", Reason("judging_where_different", **figures)
    if evidence.n_unscored:
        return "could_help", Reason("judging_where_tied_or_unscored", **figures)
    return "could_help", Reason("judging_where_tied", **figures)


def _amount(value: float, evidence: Evidence) -> Reason:
    if not evidence.points:
        return Reason("amount", value=value)
    return Reason("few_points") if 0 < value < 0.0005 else Reason("points_of", value=100 * value)
