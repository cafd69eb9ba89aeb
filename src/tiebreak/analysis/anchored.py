"""Anchored boards: a judge's scores on all items, corrected by people's labels of some of them.

    logs + labels → people's table, the judge's on the same, the judge's on all → `rankers.anchored`

Such a board estimates the scores that people would give on all items. People's labels are
preferences or stars; the judge's labels are the results behind its board. Labels of pairs that need
no judge (identical answers, and verified answers in a stratified item) are left out.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from os import PathLike
from typing import Literal, NamedTuple

import numpy as np

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.labelled import (
    Case,
    JudgeLabel,
    JudgeLabels,
    Key,
    benchmark_of,
    by_name,
    join,
    notes_on,
)
from tiebreak.analysis.leaderboard import judges_of
from tiebreak.analysis.standing import best_first
from tiebreak.analysis.star_table import star_parts, star_table
from tiebreak.analysis.stars import times
from tiebreak.analysis.verdict import model_pairs, order_reasons
from tiebreak.paths import Paths
from tiebreak.rankers import competition_ranks
from tiebreak.rankers.anchored import FEWEST_LABELLED, Anchored, anchor
from tiebreak.rankers.anchored import labels_needed as items_to_label
from tiebreak.rankers.intervals import Estimate
from tiebreak.rankers.linked import linked_scores
from tiebreak.rankers.matches import Matches
from tiebreak.rankers.pairwise_tests import Pair, Separation, separation
from tiebreak.rankers.profile import FloatArray
from tiebreak.ranking_logs.joins import files_in_words
from tiebreak.ranking_logs.log import JudgedItem, RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason, Remark
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.placement import judged_results, points_table, without_judge
from tiebreak.tables.human import MOST_STARS, HumanLabels, read_human_labels
from tiebreak.text import count, listed

# The name under which a board's judge or whole jury is joined with people.
_BOARD = ""
# With a smaller gain the verdict says that the judge adds nothing.
_LEAST_GAIN = 1.05
# Items with votes. With 20 the tests tell equal models apart in over 5% of boards if the judge
# favours one of them (`benchmarks/claims/anchored.py`).
_ENOUGH = 40


@dataclass(frozen=True, slots=True)
class AnchoredRow:
    """One model: its score by people and judge together, by people alone, by the judge alone.

    Scores are in [0, 1]. `rank_lower` (the better) and `rank_upper` cover the true ranks of all
    models at once. `excess` is the judge's score minus people's on the items that people judged,
    with bounds that hold for all models at once.
    """

    rank: int
    model: str
    rank_lower: int
    rank_upper: int
    score: Estimate
    people: Estimate
    judge: float
    excess: Estimate


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class AnchoredBoard(Finding):
    """A board as people would judge all its `n_items` items; they judged `n_labelled` of them.

    `sentence` says which model is first, what the judge added and where it differs from people.
    With the judge, the `n_labels` labels estimate differences as precisely as `gain` times as many
    labels without it. `weights` are the judge's, in [0, 1]: for the part of an item's scores that
    all models share, and for the differences between models.
    """

    benchmark: str
    protocol: str
    log: str
    source: str
    kind: str
    judges: tuple[str, ...]
    n_items: int
    n_labelled: int
    n_labels: int
    sentence: Reason
    tiers: tuple[tuple[str, ...], ...]
    rows: tuple[AnchoredRow, ...]
    pairs: tuple[Pair[str], ...]
    weights: tuple[float, float]
    gain: float
    level: float
    notes: tuple[Remark, ...]

    def __str__(self) -> str:
        first = list(self.tiers[0]) if self.tiers else []
        sizes = f"{count(len(self.rows), 'model')}, {count(self.n_labels, 'label')} of people"
        return f"{self.benchmark} · {self.protocol}: {sizes}, first: {shortened(first)}"


class _Board(NamedTuple):
    """A judge's board, and its label of each answer or pair that people may have judged."""

    benchmark: str
    protocol: str
    log: str
    judges: tuple[str, ...]
    models: tuple[str, ...]
    items: Sequence[ItemBallots]
    clusters: Sequence[str | int]
    scores: FloatArray
    judge_labels: JudgeLabels


def anchored_boards(
    paths: Paths, people: HumanLabels | str | PathLike[str], *, level: float = 0.95
) -> list[AnchoredBoard]:
    """The boards of ranking logs, corrected by people's labels of some of their items.

    Args:
        paths: ranking logs, and folders that hold some.
        people: people's labels, or their file (see `read_human_labels`). They must have judged
            items drawn at random, and pairs of models chosen independently of results.
        level: confidence level of intervals and tests, in (0, 1).

    Returns:
        A board for each log, benchmark and protocol with enough labels; if people gave stars, one
        board per benchmark over all logs judged by stars.

    Raises:
        RankingLogError: a path holds no ranking log.
        TableError: the people's file cannot be read.
        AnalysisError: people judged no or too few items of the logs, not every model of a board,
            or only pairs that a board left open; names are ambiguous.
    """
    return [board for board, _, _ in _fitted_boards(paths, people, level)]


@dataclass(frozen=True, eq=False, slots=True)
class LabelsNeeded:
    """Number of labels by people that tell the first two models of a board apart.

    `with_judge` and `alone` (without the judge) are for a test that finds the difference with
    probability `power` if it is as large as estimated; their bounds follow from the interval of the
    difference, infinite if that includes 0. The board's number of labels per item is assumed.
    """

    board: AnchoredBoard
    with_judge: Estimate
    alone: Estimate
    power: float


def labels_needed(
    paths: Paths,
    people: HumanLabels | str | PathLike[str],
    *,
    level: float = 0.95,
    power: float = 0.8,
) -> list[LabelsNeeded]:
    """Number of labels by people that would tell the first two models of each board apart.

    As `anchored_boards`, with the wanted `power`, in (0, 1); boards of one model are left out.
    """
    needed = []
    for board, fitted, order in _fitted_boards(paths, people, level):
        if len(order) > 1:
            each, rivals = board.n_labels / board.n_labelled, len(board.tiers[0])
            items = items_to_label(fitted, order[:2], n_models=rivals, level=level, power=power)
            with_judge, alone = (times(estimate, each) for estimate in items)
            needed.append(LabelsNeeded(board, with_judge, alone, power))
    return needed


class DecidingVotes(NamedTuple):
    """Number of votes by people that tell the first `two` models of a board apart; can be infinite.

    Votes are on the board's items, each with the same number of pairs, or of answers with stars.
    """

    benchmark: str
    two: tuple[str, str]
    n_votes: float


def votes_to_decide(
    paths: Paths, *, stars: bool = False, level: float = 0.95, power: float = 0.8
) -> list[DecidingVotes]:
    """Votes to decide between the first two models of each board if people agreed with its judge.

    This is the forecast of `labels_needed` without a judge, with the judge's labels as people's:
    one pair per item, or more if one is not enough, with the board's pairs in turn. With `stars`,
    for logs judged by stars, a vote is the stars of one answer, with models in turn. The test of
    all pairs, at a `level` in (0, 1), is to tell the two apart with probability `power`. Boards
    with too few items are left out.

    Raises:
        RankingLogError: a path holds no ranking log.
    """
    logs = read_ranking_logs(paths, with_votes=False)
    boards = list(_star_boards(logs) if stars else _pair_boards(logs))
    large = [board for board in boards if len({*board.clusters}) >= FEWEST_LABELLED]
    kind: Literal["stars", "preferences"] = "stars" if stars else "preferences"
    return [
        _to_decide(board, HumanLabels(board.log, kind, ()), level, power)
        for board in large
        if len(board.models) > 1
    ]


def _to_decide(board: _Board, labels: HumanLabels, level: float, power: float) -> DecidingVotes:
    laps = list(_one_per_item(board.judge_labels))

    def asked(n_laps: int) -> DecidingVotes:
        cases = [case for lap in laps[:n_laps] for case in lap]
        if {model for case in cases for model in case.key[2]} < {*board.models}:
            return DecidingVotes(board.benchmark, ("", ""), math.inf)
        anchored, fitted, order = _anchored(board, cases, labels, (), level)
        rivals, two = len(anchored.tiers[0]), (anchored.rows[0].model, anchored.rows[1].model)
        _, alone = items_to_label(fitted, order[:2], n_models=rivals, level=level, power=power)
        enough = alone.value <= anchored.n_labelled
        n_votes = len(cases) / anchored.n_labelled * alone.value if enough else math.inf
        return DecidingVotes(board.benchmark, two, n_votes)

    # Bisect for the fewest laps with enough votes; each trial fits a whole board.
    fewest, most = 0, len(laps)
    needed = asked(most)
    while most - fewest > 1 and math.isfinite(needed.n_votes):
        middle = (fewest + most) // 2
        fewer = asked(middle)
        if math.isfinite(fewer.n_votes):
            most, needed = middle, fewer
        else:
            fewest = middle
    return needed


def _one_per_item(judge_labels: JudgeLabels) -> Iterator[list[Case]]:
    """A judge's labels as if a person's, in laps of one per item; rarest pair or model first."""
    by_row: dict[int, list[tuple[Key, JudgeLabel, int]]] = defaultdict(list)
    for key, of_key in judge_labels.items():
        for judge_label in of_key:
            if judge_label.label is not None:
                by_row[judge_label.row].append((key, judge_label, round(judge_label.label)))
    times: Counter[tuple[str, ...]] = Counter()
    people = np.eye(MOST_STARS + 1)  # wide enough for pairs, whose labels are 0 to 2
    while any(by_row.values()):
        cases = []
        for row, pairs in sorted(by_row.items()):
            if pairs:
                pair = min(pairs, key=lambda pair: times[pair[0][2]])
                pairs.remove(pair)
                key, judge_label, label = pair
                times[key[2]] += 1
                judged = {_BOARD: float(label)}
                cases.append(
                    Case(key, "", judge_label.item, judge_label.subject, people[label], judged, row)
                )
        yield cases


_Fitted = tuple[AnchoredBoard, Anchored, tuple[int, ...]]
"""A board, its fit, and the columns of the fit in the order of the board."""


def _fitted_boards(
    paths: Paths, people: HumanLabels | str | PathLike[str], level: float
) -> list[_Fitted]:
    labels = read_human_labels(people)
    if labels.pairs_chosen:
        raise AnalysisError(
            f"{labels.source} has votes on pairs that a board left open, which do not say what "
            "people would say of all models: rank it by itself, or let people vote without "
            "--only-open"
        )
    logs = read_ranking_logs(paths, with_metadata=labels.by_digest, with_votes=False)
    boards = list(_star_boards(logs) if labels.kind == "stars" else _pair_boards(logs))
    # Items of all boards, so that a label of one benchmark is not counted as lost by the others.
    benchmarks: dict[str, set[str]] = defaultdict(set)
    for benchmark, item_id, _ in chain.from_iterable(board.judge_labels for board in boards):
        benchmarks[item_id].add(benchmark)
    places = [benchmark_of(label, benchmarks, labels) for label in labels.labels]
    left_out: Counter[Reason] = Counter()
    anchored, most = [], 0
    for board in boards:
        left_out.clear()
        placed = zip(labels.labels, places, strict=True)
        of_board = tuple(label for label, place in placed if place in (None, board.benchmark))
        cases, _ = join({_BOARD: board.judge_labels}, replace(labels, labels=of_board), left_out)
        settled = sum(int(case.people.sum()) for case in cases if _BOARD not in case.judges)
        left_out.update({Reason("labels_settled"): settled} if settled else {})
        cases = [case for case in cases if _BOARD in case.judges]
        n_labelled = len({board.clusters[case.row] for case in cases})
        most = max(most, n_labelled)
        if n_labelled >= FEWEST_LABELLED:
            anchored.append(_anchored(board, cases, labels, notes_on(left_out), level))
    if not anchored:
        kinds = "answers judged by stars" if labels.kind == "stars" else "models ranked by item"
        reasons = "\n".join(map(str, notes_on(left_out)))
        raise AnalysisError(
            f"{labels.source} holds {labels.kind}; it takes {kinds} and at least "
            f"{FEWEST_LABELLED} items that both people and a judge judged (here {most}): let "
            f"people judge more, or give the logs of what they judged\n{reasons}".rstrip()
        )
    return anchored


def _anchored(
    board: _Board,
    cases: Sequence[Case],
    labels: HumanLabels,
    left_out: Sequence[Reason],
    level: float,
) -> _Fitted:
    by_people = [
        float(case.people @ np.arange(len(case.people)) / case.people.sum()) for case in cases
    ]
    by_judge = [case.judges[_BOARD] for case in cases]
    judged = {model for case in cases for model in case.key[2]}
    if strangers := [model for model in board.models if model not in judged]:
        unknown = "".join(f"\n{note}" for note in left_out)
        raise AnalysisError(
            f"{labels.source} says nothing of {listed(strangers)} on {board.benchmark}: let people "
            "judge answers of every model on the board, and name models as their logs do"
            f"{unknown}"
        )
    stars = labels.kind == "stars"
    table = _of_stars if stars else _of_pairs
    tables = [table(board, cases, values) for values in (by_people, by_judge)]
    # Rows become clusters without missing cells; their column means are those of the tables.
    people, matched, judge = (
        linked_scores(values, np.array(board.clusters), link=False).table
        for values in (*tables, board.scores)
    )
    names = np.unique(np.array(board.clusters)).tolist()
    labelled = {board.clusters[case.row] for case in cases}
    marks = np.array([name in labelled for name in names], dtype=np.bool_)
    fitted = anchor(people, matched, judge, marks, grades=stars, level=level)
    ranks = competition_ranks([estimate.value for estimate in fitted.scores])
    tests = separation(fitted.table, best_first(ranks, board.models), level=level)
    # The fitted rows represent all items of the board, including those without labels.
    tests = replace(tests, pairs=tuple(replace(pair, n_items=len(names)) for pair in tests.pairs))
    rows = tuple(_rows(board.models, ranks, fitted, tests))
    n_labels = int(sum(case.people.sum() for case in cases))
    few = [Reason("few_labelled", n=len(labelled), enough=_ENOUGH)]
    few *= len(labelled) < _ENOUGH and not stars
    anchored = AnchoredBoard(
        benchmark=board.benchmark,
        protocol=board.protocol,
        log=board.log,
        source=labels.source,
        kind=labels.kind,
        judges=board.judges,
        n_items=len(names),
        n_labelled=len(labelled),
        n_labels=n_labels,
        sentence=Reason(
            "verdict",
            statements=[
                *order_reasons(tests, board.models),
                _worth_of_judge(fitted.gain, n_labels),
                *_judge_gaps(rows),
            ],
        ),
        tiers=tuple(tuple(board.models[tests.order[k]] for k in group) for group in tests.groups),
        rows=rows,
        pairs=model_pairs(tests, board.models),
        weights=fitted.weights,
        gain=fitted.gain,
        level=level,
        notes=(*labels.remarks, *left_out, *few),
    )
    return anchored, fitted, tests.order


def _rows(
    models: Sequence[str], ranks: FloatArray, fitted: Anchored, tests: Separation
) -> Iterator[AnchoredRow]:
    for place, column in enumerate(tests.order):
        yield AnchoredRow(
            rank=int(ranks[column]),
            model=models[column],
            rank_lower=tests.rank_lower[place],
            rank_upper=tests.rank_upper[place],
            score=fitted.scores[column],
            people=fitted.people[column],
            judge=float(fitted.judge[column]),
            excess=fitted.excess[column],
        )


def _worth_of_judge(gain: float, n_labels: int) -> Reason:
    if gain < _LEAST_GAIN:
        return Reason("judge_adds_nothing", n=n_labels)
    return Reason("judge_adds", n=n_labels, as_many=round(gain * n_labels))


def _judge_gaps(rows: Sequence[AnchoredRow]) -> Iterator[Reason]:
    for row in rows:
        value, lower, upper = (
            100 * number for number in (row.excess.value, row.excess.lower, row.excess.upper)
        )
        if lower > 0:
            yield Reason("judge_higher", model=row.model, points=value, lower=lower, upper=upper)
        elif upper < 0:
            yield Reason("judge_lower", model=row.model, points=-value, lower=-upper, upper=-lower)


def _of_stars(board: _Board, cases: Sequence[Case], stars: Sequence[float]) -> FloatArray:
    table = np.full(board.scores.shape, np.nan)
    for case, value in zip(cases, stars, strict=True):
        table[case.row, board.models.index(case.key[2][0])] = value / MOST_STARS
    return table


def _of_pairs(board: _Board, cases: Sequence[Case], labels: Sequence[float]) -> FloatArray:
    column = {model: number for number, model in enumerate(board.models)}
    first, second = np.array([[column[name] for name in case.key[2]] for case in cases]).T
    rows = np.array([case.row for case in cases])
    matches = Matches(first, second, np.array(labels) / 2, rows, len(column), len(board.items))
    return points_table(matches, board.items, board.models, regress=False)


def _star_boards(logs: Sequence[RankingLog]) -> Iterator[_Board]:
    for benchmark, parts in star_parts(logs).items():
        stars = star_table(parts)
        samples = [sample for part in parts for sample in part.samples if sample.judged]
        answers: dict[object, dict[str, str]] = defaultdict(dict)
        for sample in samples:
            if sample.ballots is not None:
                key = sample.ballots.item_id, sample.ballots.input_hash, sample.epoch
                answers[key] |= _answers(sample, sample.ballots)
        judge_labels: dict[Key, list[JudgeLabel]] = defaultdict(list)
        for row, texts in enumerate(answers.values()):
            item_id, cluster = stars.item_ids[row], stars.clusters[row]
            for model, score in zip(stars.models, stars.scores[row].tolist(), strict=True):
                if score == score:
                    answer = (texts.get(model, ""),)
                    judge_label = JudgeLabel(
                        MOST_STARS * score, cluster, stars.subjects[row], answer, row
                    )
                    judge_labels[benchmark, item_id, (model,)].append(judge_label)
        items = [item for part in parts for item in part.items]
        yield _Board(
            benchmark=benchmark,
            protocol=parts[0].protocol,
            log=files_in_words(stars.logs, "log"),
            judges=judges_of(items),
            models=stars.models,
            items=items,
            clusters=stars.clusters,
            scores=stars.scores,
            judge_labels=judge_labels,
        )


def _pair_boards(logs: Sequence[RankingLog]) -> Iterator[_Board]:
    for part in (part for log in logs for part in log.parts() if not part.by_stars):
        samples = [sample for sample in part.samples if sample.ballots and sample.placement]
        table = ItemTable.of(part.ranked)
        if len(table.models) < 2:
            continue
        judge_labels: dict[Key, list[JudgeLabel]] = defaultdict(list)
        for row, sample in enumerate(samples):
            for key, judge_label in _results(sample, row):
                judge_labels[key].append(judge_label)
        yield _Board(
            benchmark=part.benchmark,
            protocol=part.protocol,
            log=part.path,
            judges=judges_of(part.items),
            models=table.models,
            items=[item for item, _ in part.ranked],
            clusters=table.items.tolist(),
            scores=table.borda,
            judge_labels=judge_labels,
        )


def _results(sample: JudgedItem, row: int) -> Iterator[tuple[Key, JudgeLabel]]:
    """The board's labels of an item's pairs: results under `points`, else which is placed higher.

    The label is None for pairs that need no judge.
    """
    ballots, placement = sample.ballots, sample.placement
    assert ballots is not None
    assert placement is not None
    texts, known = _answers(sample, ballots), without_judge(ballots)
    results: list[tuple[str, str, float | None]] = [(*pair, None) for pair in known]
    if ballots.placed_by == "points":
        results += judged_results(ballots)
    else:
        settled, ranks = {frozenset(pair) for pair in known}, placement.ranks
        results += (
            (first, other, 0.5 + float(np.sign(ranks[other] - ranks[first])) / 2)
            for first, other in combinations(sorted(ranks), 2)
            if frozenset((first, other)) not in settled
        )
    for first, other, result in results:
        label = None if result is None else 2 * result
        of_each = texts.get(first, ""), texts.get(other, "")
        pair, label, answers = by_name((first, other), label, of_each)
        item = ballots.cluster or ballots.item_id
        judge_label = JudgeLabel(label, item, ballots.subject, answers, row)
        yield (ballots.benchmark, ballots.item_id, pair), judge_label


def _answers(sample: JudgedItem, ballots: ItemBallots) -> Mapping[str, str]:
    """The texts of all models' answers; "" if metadata was not read."""
    texts = sample.answers
    return {model: texts.get(group[0], "") for group in ballots.groups for model in group}
