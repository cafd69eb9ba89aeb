"""Experience with a judge from earlier ranking logs, to predict the next run.

It includes the judge's tokens, its share of close verdicts, its noise, and the models' differences.
Every leaderboard is a mean over items. Two numbers determine the number of items needed: `signal`,
the variance of the models' true scores, and `noise`, the variance of an item's score around them.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Final

import numpy as np

from tiebreak.analysis.item_table import ItemTable
from tiebreak.candidates import CandidatePool
from tiebreak.paths import Paths, path_list
from tiebreak.rankers.profile import FloatArray
from tiebreak.ranking_logs.log import RankingLog, RankingLogError
from tiebreak.ranking_logs.log_file import ranking_header, read_log_file
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import Call, CallKind, ItemBallots
from tiebreak.scorers.match import CLOSE_MARGIN, decide
from tiebreak.scorers.questions import ReviewQuestion
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.totals import ERRORS, Range

FEWEST_ITEMS: Final = 10
"""Smallest number of judged items for logs that the user did not name."""

_Calls = list[tuple[int, Call]]
"""Calls, each with the number of its item."""


@dataclass(frozen=True, slots=True)
class Experience:
    """Figures of a judge from earlier logs; ranges are intervals of about 95%, over items.

    `tokens` has input and output tokens of a question by kind, including its repair turns and
    repetitions, for kinds with two or more calls; `repairs` is the number of these per question.
    `reviews` has the same for rankings in peer review, by the reviewer's model. `close` and `tie`
    are shares of the scored verdicts, None without any. `models` answered the calls. `logs` were
    found beside the candidates, empty if the user named the log.
    """

    models: tuple[str, ...]
    n_calls: int
    tokens: Mapping[CallKind, tuple[Range, Range]]
    repairs: float
    close: Range | None
    tie: Range | None
    reviews: Mapping[str, tuple[Range, Range]] = field(default_factory=dict)
    logs: tuple[str, ...] = ()


def experience_of(items: Iterable[ItemBallots]) -> Experience:
    """Compute the experience with a judge from ballots.

    Raises:
        EstimateError: the ballots hold no call.
    """
    ballots = list(items)
    asked = [(number, call) for number, item in enumerate(ballots) for call in item.calls]
    calls = [call for _, call in asked]
    if not calls:
        raise EstimateError("It holds no call, so it says nothing about a judge.")
    by_kind: dict[CallKind, _Calls] = {}
    by_reviewer: dict[str, _Calls] = {}
    for number, call in asked:
        if call.role == ReviewQuestion.role:
            by_reviewer.setdefault(call.model, []).append((number, call))
        else:
            by_kind.setdefault(call.kind, []).append((number, call))
    margins = [
        (number, (verdict.margin, verdict.checklist_margin))
        for number, item in enumerate(ballots)
        for match in item.matches
        for verdict in match.verdicts
        if verdict.margin is not None
    ]
    return Experience(
        models=tuple(sorted({call.model for call in calls})),
        n_calls=len(calls),
        tokens={kind: _tokens(of_kind) for kind, of_kind in by_kind.items() if len(of_kind) > 1},
        repairs=len(calls) / _questions(calls) - 1,
        close=_share([(number, abs(pair[0]) < CLOSE_MARGIN) for number, pair in margins]),
        tie=_share([(number, decide(*pair)[1] is None) for number, pair in margins]),
        reviews={model: _tokens(by) for model, by in by_reviewer.items() if len(by) > 1},
    )


def experience_beside(
    pools: Sequence[CandidatePool], answering: Mapping[str, Collection[str]]
) -> Experience | None:
    """Experience from ranking logs in the folders of the pools' logs, or None.

    A log counts if models of `answering`, by role, answered all its calls, and its items belong to
    the pools' benchmarks. The result is None if these have fewer than `FEWEST_ITEMS` items
    together. Logs that cannot be read are skipped.
    """
    ballots: list[ItemBallots] = []
    logs = []
    benchmarks = {benchmark for pool in pools for benchmark in pool.benchmarks}
    notes = (note for pool in pools for note in pool.notes)
    for file in dict.fromkeys(note.where for note in notes if note.kind == "ranking_log"):
        try:
            header = ranking_header(file)
            log = read_log_file(file, header, with_votes=False) if header else None
        except RankingLogError:
            continue
        items = (*log.items, *log.cut_short) if log else ()
        asked = {(call.role, call.model) for item in items for call in item.calls}
        here = {item.benchmark for item in items} <= benchmarks
        if asked and here and all(model in answering.get(role, ()) for role, model in asked):
            ballots += items
            logs.append(file)
    if sum(bool(item.calls) for item in ballots) < FEWEST_ITEMS:
        return None
    return replace(experience_of(ballots), logs=tuple(logs))


def _tokens(calls: _Calls) -> tuple[Range, Range]:
    """Input and output tokens of a question, from the calls of several."""
    per_question = len(calls) / _questions(call for _, call in calls)
    return (
        mean_range([(number, call.input_tokens * per_question) for number, call in calls]),
        mean_range([(number, call.output_tokens * per_question) for number, call in calls]),
    )


def _questions(calls: Iterable[Call]) -> int:
    """Number of questions behind some calls, without counting repair turns and repetitions."""
    return max(1, sum(not (call.attempt or call.repair) for call in calls))


def mean_range(values: Sequence[tuple[int, float]]) -> Range:
    """Mean and interval of two or more values, each with the number of its item."""
    alone = [value for _, value in values]
    mean = fmean(alone)
    half = ERRORS * max(stdev(alone) / math.sqrt(len(alone)), _over_items(values, mean))
    return Range(max(0.0, mean - half), mean, mean + half)


def _share(outcomes: Sequence[tuple[int, bool]]) -> Range | None:
    """A proportion with its "plus four" interval (Agresti and Coull, doi:10.2307/2685469)."""
    if not outcomes:
        return None
    n, likely = len(outcomes) + 4, fmean(outcome for _, outcome in outcomes)
    adjusted = (len(outcomes) * likely + 2) / n
    half = ERRORS * max(math.sqrt(adjusted * (1 - adjusted) / n), _over_items(outcomes, likely))
    return Range(max(0.0, adjusted - half), likely, min(1.0, adjusted + half))


def _over_items(values: Sequence[tuple[int, float]], mean: float) -> float:
    """Standard error of a mean of values clustered by item."""
    gaps: dict[int, float] = defaultdict(float)
    for number, value in values:
        gaps[number] += value - mean
    few = len(gaps) / max(1, len(gaps) - 1)  # small-sample correction
    return math.sqrt(few * math.fsum(gap**2 for gap in gaps.values())) / len(values)


AGREE = 0.05
"""Two boards disagree if the p-value of their distance is at most this."""


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """Noise and signal of one log; `scores` and `errors` (standard errors) have shape (N,).

    `noise` is the mean variance of an item's score around the model's mean, `signal` the variance
    of the models' scores in excess of noise, at least 0. `calls` is the number of calls per item.
    `met` is the mean number of opponents behind a model's score in an item. `tie` is the share of
    even matches, NaN without matches.
    """

    log: str
    protocol: str
    models: tuple[str, ...]
    n_items: int
    calls: float
    scores: FloatArray
    errors: FloatArray
    noise: float
    signal: float
    met: float
    tie: float

    @property
    def needed(self) -> float:
        """Number of calls with which noise equals signal; inf without a signal."""
        return self.calls * self.noise / self.signal if self.signal > 0 else math.inf

    def shrunk(self) -> tuple[FloatArray, FloatArray]:
        """Posterior means and standard deviations of the true scores.

        Scores are shrunk towards their mean; the model is normal, with the log's signal as prior
        variance.
        """
        kept = self.signal / (self.signal + self.errors**2) if self.signal > 0 else 0 * self.errors
        center = float(np.mean(self.scores))
        return center + kept * (self.scores - center), np.sqrt(kept) * self.errors


def evidence_of(log: RankingLog) -> Evidence | None:
    """Noise and signal of a log of one benchmark and protocol; None with too few data."""
    table = ItemTable.of(log.ranked)
    matches = [match for item in log.items for match in item.matches if not match.unscored]
    n = len(table.models)
    met = [len(item.scheduled) or math.comb(n, 2) for item, _ in log.ranked]
    return of_scores(
        table.borda,
        table.models,
        log=log.path,
        protocol=log.protocol,
        calls=sum(len(item.calls) for item in log.items) / max(1, len(log.items)),
        met=2 * sum(met) / (n * len(met)) if met else math.nan,
        tie=sum(match.tied for match in matches) / len(matches) if matches else math.nan,
    )


def native_evidence(pool: CandidatePool) -> Evidence | None:
    """Evidence expected from native scores, for a judge that prefers right answers to wrong ones.

    Such a judge prefers the model with the higher native mean by half of the difference. None if
    there are too few items or native scores.
    """
    n = len(pool.models)
    native = [[row[model].native_score for model in pool.models] for _, row in pool]
    return of_scores(
        np.array(native, np.float64) / 2 * n / (n - 1), pool.models, log="", protocol="native"
    )


def of_scores(
    scores: FloatArray,
    models: tuple[str, ...],
    *,
    log: str,
    protocol: str,
    calls: float = 0.0,
    met: float = math.nan,
    tie: float = math.nan,
) -> Evidence | None:
    """Evidence in a table of items × models; None below `FEWEST_ITEMS`, or with one model."""
    counts = np.sum(~np.isnan(scores), axis=0)
    if len(scores) < FEWEST_ITEMS or len(models) < 2 or counts.min() < 2:
        return None
    variance = np.nanvar(scores, axis=0, ddof=1)
    means, errors = np.nanmean(scores, axis=0), np.sqrt(variance / counts)
    return Evidence(
        log=log,
        protocol=protocol,
        models=models,
        n_items=len(scores),
        calls=calls,
        scores=means,
        errors=errors,
        noise=float(variance.mean()),
        signal=max(0.0, float(np.var(means, ddof=1) - np.mean(errors**2))),
        met=met,
        tie=tie,
    )


def find_evidence(
    paths: Paths, pool: CandidatePool, judge: str, from_log: str | None = None
) -> list[Evidence]:
    """Evidence in ranking logs of the pool's benchmark and models by one judge, in some folders.

    Folders without a readable ranking log are skipped. `from_log` always counts, whatever its
    judge, benchmark and models.

    Raises:
        RankingLogError: `from_log` is not a ranking log.
    """
    folders = [path for path in path_list(paths) if not str(path).endswith((".eval", ".json"))]
    logs: list[RankingLog] = []
    for folder in folders:
        try:
            logs += read_ranking_logs([folder])
        except RankingLogError:
            continue
    parts = [part for log in logs for part in log.parts() if _fits(part, pool, judge)]
    if from_log is not None:
        parts += [part for log in read_ranking_logs([from_log]) for part in log.parts()]
    return [evidence for part in parts if (evidence := evidence_of(part)) is not None]


def _fits(log: RankingLog, pool: CandidatePool, judge: str) -> bool:
    asked = {call.model for item in log.items for call in item.calls if call.role == "judge"}
    models = {model for item in log.items for model in item.models}
    return asked == {judge} and log.benchmark in pool.benchmarks and models == {*pool.models}


def agree(board: Evidence, other: Evidence) -> bool:
    """Whether two boards of the same models are compatible with the same true scores.

    Each board has its own scale, so scores are divided by the root of `signal`; the sum of squared
    distances in standard errors is then χ² with N − 2 degrees of freedom.
    """
    from scipy.stats import chi2

    if board.signal <= 0 or other.signal <= 0 or len(board.models) < 3:
        return False
    (a, error_a), (b, error_b) = (
        ((e.scores - e.scores.mean()) / math.sqrt(e.signal), e.errors / math.sqrt(e.signal))
        for e in (board, other)
    )
    distance = float(np.sum((a - b) ** 2 / (error_a**2 + error_b**2)))
    return float(chi2.sf(distance, len(board.models) - 2)) > AGREE


BY_SCHEDULE = ("round_robin", "full_pairwise")
"""Protocols in which pairings do not depend on results."""


def by_schedule(evidence: Iterable[Evidence]) -> Evidence | None:
    """The evidence with the most calls, of protocols whose pairings do not depend on results."""
    fitting = [board for board in evidence if board.protocol in BY_SCHEDULE]
    return max(fitting, key=lambda board: board.n_items * board.calls, default=None)


def cheaper_protocol(
    evidence: Iterable[Evidence], standard: Evidence, needed: float
) -> Evidence | None:
    """The evidence of another protocol that agrees with `standard` for fewer calls, or None.

    `standard` is the evidence of a round robin, or of all pairs, and takes `needed` calls
    (`Evidence.needed`). A rival must need at most four fifths of that, because noise and signal are
    estimates themselves.
    """
    rivals = [
        board
        for board in evidence
        if board.protocol not in BY_SCHEDULE
        and board.needed <= 0.8 * needed
        and agree(board, standard)
    ]
    return min(rivals, key=lambda rival: rival.needed, default=None)
