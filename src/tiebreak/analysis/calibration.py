"""Does a judge agree with people? LLMEval-Fair, §3.4 (finding 8), figure 4, table 10.

People's labels of answers (stars) or of pairs of answers (preferences) are compared with those of
each judge: Cohen's κ, plain and with quadratic weights, for each judge, model, subject and round.
An answer that R people labelled counts once, with weight 1/R for each of them: this is κ of the
judge with a person drawn at random. The ceiling is κ between two persons drawn at random.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from os import PathLike

import numpy as np

from tiebreak.analysis.finding import Finding
from tiebreak.analysis.labelled import SCALES, Case, labelled
from tiebreak.paths import Paths, path_list
from tiebreak.rankers.intervals import Estimate, share_over_items
from tiebreak.rankers.kappa import (
    kappa_estimate,
    kappa_gap,
    kappa_mean,
    label_bias,
)
from tiebreak.rankers.pairwise_tests import holm
from tiebreak.rankers.profile import FloatArray
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason, Remark
from tiebreak.tables.human import HumanLabels, LabelKind, read_human_labels
from tiebreak.text import count

PEOPLE = ""
"""The `judge` of figures that compare people with each other."""

EACH_OTHER = "people with each other"
"""The name of `PEOPLE` in tables and figures."""


@dataclass(frozen=True, eq=False, slots=True)
class Concordance:
    """A judge's labels against people's; with `judge` "" people's against each other's.

    `model`, `subject` and `round` are "" for all of them together. `n` counts the answers (or pairs
    of answers), `n_items` the questions, which intervals resample. `agreement` is the share of
    equal labels, `bias` the mean number of stars that the judge gives above people. `confusion` has
    a row for each label of people and a column for each of the judge; it sums to `n`. Pairs count
    in both orientations, with half the weight each.
    """

    judge: str
    round: str
    model: str
    subject: str
    n: int
    n_items: int
    kappa: Estimate
    quadratic: Estimate
    agreement: Estimate
    bias: Estimate
    confusion: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, eq=False, slots=True)
class MeanKappa:
    """The mean over models of a judge's κ in a round, "" for all rounds (table 10's last line).

    `n_models` counts the models whose κ is defined, `undefined` names the others.
    """

    judge: str
    round: str
    kappa: Estimate
    quadratic: Estimate
    n_models: int
    undefined: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class JudgeGap:
    """Two judges, or a judge and people (`second` is ""), on the `n` answers that both labelled.

    `difference` is the difference of their mean κ with people's labels, over the `n_models` models
    for which both are defined, and `p` its p-value. `p_adjusted` is adjusted for all pairs of
    judges (Holm), and `apart` is whether it is at most 1 − level; None without a test. Tests of a
    judge against people are not adjusted.
    """

    first: str
    second: str
    n: int
    n_models: int
    difference: Estimate
    p: float
    p_adjusted: float
    apart: bool | None


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Calibration(Finding):
    """Judges against the people's labels of one file, `source`.

    `labels` is the scale. `judges` are sorted by their mean κ over all rounds, the best first and
    those without one last. `rounds` has the names of rounds, empty if the file has only one.
    `n_raters` is the largest number of people who labelled one answer.
    """

    source: str
    kind: LabelKind
    labels: tuple[str, ...]
    judges: tuple[str, ...]
    models: tuple[str, ...]
    rounds: tuple[str, ...]
    n: int
    n_items: int
    n_raters: int
    cells: tuple[Concordance, ...]
    means: tuple[MeanKappa, ...]
    gaps: tuple[JudgeGap, ...]
    people: tuple[Concordance, ...]
    ceilings: tuple[JudgeGap, ...]
    level: float
    notes: tuple[Remark, ...]

    def __str__(self) -> str:
        return f"{count(len(self.judges), 'judge')} against {self.source}"

    def cell(
        self, judge: str, round: str = "", model: str = "", subject: str = ""
    ) -> Concordance | None:
        """The figures of a judge for one or all rounds, models and subjects, or None."""
        asked = (judge, round, model, subject)
        among = (*self.cells, *self.people)
        return next(
            (cell for cell in among if (cell.judge, cell.round, cell.model, cell.subject) == asked),
            None,
        )

    def mean(self, judge: str, round: str = "") -> MeanKappa:
        """The mean κ of a judge over models."""
        return next(mean for mean in self.means if (mean.judge, mean.round) == (judge, round))


def calibrate(
    paths: Paths,
    human: HumanLabels | str | PathLike[str],
    *,
    judge: HumanLabels | Paths = (),
    skip_faulty: bool = False,
    level: float = 0.95,
) -> Calibration:
    """Compare judges with people's stars or preferences.

    Args:
        paths: ranking logs, and folders that hold some: of tiebreak/stars for people's stars, of
            any protocol with matches for their preferences. Each log has its judge, or a jury.
            Can be empty, (), if `judge` is given.
        human: people's labels, or their file (see `read_human_labels`).
        judge: labels of other judges, or files of them in the same form. Each rater that a file
            names is a judge; a file without raters is one judge with the file's name.
        skip_faulty: leave faulty rows of files out, with a note.
        level: confidence level of intervals and tests, in (0, 1).

    Raises:
        RankingLogError: a path holds no ranking log.
        TableError: a file of labels cannot be read.
        AnalysisError: judges and people labelled nothing in common, or names are ambiguous.
        RankingError: the level is out of range.
    """
    elsewhere = [judge] if isinstance(judge, HumanLabels) else path_list(judge)
    people, *files = (
        read_human_labels(given, skip_faulty=skip_faulty) for given in (human, *elsewhere)
    )
    logs = read_ranking_logs(paths, with_metadata=people.by_digest, with_votes=False)
    return calibration_of(logs, people, files, level=level)


def calibration_of(
    logs: Sequence[RankingLog],
    human: HumanLabels,
    files: Sequence[HumanLabels] = (),
    *,
    level: float = 0.95,
) -> Calibration:
    """As `calibrate`, for logs and files that were read already."""
    cases, names, notes = labelled(logs, human, files)
    kind = human.kind
    models = tuple(sorted({model for case in cases for model in case.key[2]}))
    rounds = sorted({case.round for case in cases})
    named = tuple(rounds) if len(rounds) > 1 else ()
    turns = ("", *named)
    cells: list[Concordance] = []
    means: list[MeanKappa] = []
    for judge, turn in product(names, turns):
        chosen = [case for case in cases if judge in case.judges and turn in ("", case.round)]
        cells += _cells(judge, turn, chosen, kind, level)
        means.append(_mean(judge, turn, chosen, models, level))
    overall = {mean.judge: mean.kappa.value for mean in means if not mean.round}
    judges = sorted(names, key=lambda name: (math.isnan(overall[name]), -overall[name]))
    several = [case for case in cases if case.people.sum() > 1]
    people = [
        _concordance(PEOPLE, turn, "", "", chosen, kind, level)
        for turn in turns
        if (chosen := [case for case in several if turn in ("", case.round)])
    ]
    log_notes = (f"{log.path}: {note}" for log in logs for note in log.notes)
    file_notes = (note for file in files for note in file.notes)
    return Calibration(
        source=human.source,
        kind=kind,
        labels=SCALES[kind],
        judges=tuple(judges),
        models=models,
        rounds=named,
        n=len(cases),
        n_items=len({case.item for case in cases}),
        n_raters=int(max(case.people.sum() for case in cases)),
        cells=tuple(cells),
        means=tuple(means),
        gaps=tuple(_gaps(judges, cases, models, level)),
        people=tuple(people),
        ceilings=tuple(_gap(several, judge, PEOPLE, models, level) for judge in judges if several),
        level=level,
        notes=(*human.remarks, *file_notes, *log_notes, *notes),
    )


def _cells(
    judge: str, turn: str, cases: Sequence[Case], kind: LabelKind, level: float
) -> Iterator[Concordance]:
    models = sorted({model for case in cases for model in case.key[2]})
    subjects = sorted({case.subject for case in cases} - {""})
    for model, subject in product(("", *models), ("", *subjects)):
        chosen = [
            case
            for case in cases
            if (not model or model in case.key[2]) and subject in ("", case.subject)
        ]
        if chosen:
            yield _concordance(judge, turn, model, subject, chosen, kind, level)


def _concordance(
    judge: str,
    turn: str,
    model: str,
    subject: str,
    cases: Sequence[Case],
    kind: LabelKind,
    level: float,
) -> Concordance:
    tables = np.stack([table_of(case, judge) for case in cases])
    items = np.array([case.item for case in cases])
    hits, n_items = np.trace(tables, axis1=1, axis2=2), len(set(items.tolist()))
    return Concordance(
        judge=judge,
        round=turn,
        model=model,
        subject=subject,
        n=len(cases),
        n_items=n_items,
        kappa=kappa_estimate(tables, items=items, level=level),
        quadratic=kappa_estimate(tables, items=items, weights="quadratic", level=level),
        agreement=share_over_items(
            hits, 1, items, level=level, undefined=Reason("no_answer_of_both")
        ),
        bias=label_bias(tables, items=items, level=level)
        if kind == "stars"
        else Estimate(math.nan, math.nan, math.nan, n_items, Reason("no_stars_in_preferences")),
        confusion=tuple(tuple(row) for row in tables.sum(axis=0).tolist()),
    )


def table_of(case: Case, judge: str) -> FloatArray:
    """Confusion table of people's labels (rows) and a judge's (columns) in a case, shape (K, K).

    It sums to 1. For `PEOPLE` it is over all pairs of two of them. A pair of answers counts in both
    orientations, so that the order of its two answers does not matter.
    """
    given = case.people
    n = given.sum()
    if judge == PEOPLE:
        table = (np.outer(given, given) - np.diag(given)) / (n * (n - 1))
    else:
        table = np.zeros((len(given), len(given)))
        table[:, int(case.judges[judge])] = given / n
    turned: FloatArray = (table + table[::-1, ::-1]) / 2
    return turned if len(case.key[2]) > 1 else table


def _grouped(cases: Sequence[Case], judge: str, models: Sequence[str]) -> FloatArray:
    """Sums of confusion tables by item and model, shape (items, models, K, K)."""
    items = {item: number for number, item in enumerate(dict.fromkeys(c.item for c in cases))}
    column = {model: number for number, model in enumerate(models)}
    k = len(cases[0].people) if cases else 1
    sums = np.zeros((len(items), len(models), k, k))
    for case in cases:
        for model in case.key[2]:
            sums[items[case.item], column[model]] += table_of(case, judge)
    return sums


def _mean(
    judge: str, turn: str, cases: Sequence[Case], models: Sequence[str], level: float
) -> MeanKappa:
    present = [model for model in models if any(model in case.key[2] for case in cases)]
    tables = _grouped(cases, judge, present)
    known = [
        not math.isnan(kappa_estimate(tables[:, column], level=level).value)
        for column in range(len(present))
    ]
    return MeanKappa(
        judge=judge,
        round=turn,
        kappa=kappa_mean(tables, level=level),
        quadratic=kappa_mean(tables, weights="quadratic", level=level),
        n_models=sum(known),
        undefined=tuple(
            model for model, defined in zip(present, known, strict=True) if not defined
        ),
    )


def _gaps(
    judges: Sequence[str], cases: Sequence[Case], models: Sequence[str], level: float
) -> list[JudgeGap]:
    pairs = [_gap(cases, *pair, models, level) for pair in combinations(judges, 2)]
    adjusted = holm([pair.p for pair in pairs])
    return [
        replace(pair, p_adjusted=p, apart=None if math.isnan(p) else p <= 1 - level)
        for pair, p in zip(pairs, adjusted, strict=True)
    ]


def _gap(
    cases: Sequence[Case], first: str, second: str, models: Sequence[str], level: float
) -> JudgeGap:
    """Two judges, or a judge and `PEOPLE`, with an unadjusted test."""
    both = [case for case in cases if {first, second} <= {*case.judges, PEOPLE}]
    difference = Estimate(math.nan, math.nan, math.nan, 0, Reason("no_answer_of_both"))
    p, n_models = math.nan, 0
    if both:
        tables = [_grouped(both, judge, models) for judge in (first, second)]
        difference, p, n_models = kappa_gap(*tables, level=level)
    apart = None if math.isnan(p) else p <= 1 - level
    return JudgeGap(first, second, len(both), n_models, difference, p, p, apart)
