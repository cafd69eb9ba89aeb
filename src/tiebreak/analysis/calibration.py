"""Does a judge agree with people? LLMEval-Fair, §3.4 (finding 8), figure 4, table 10.

People's labels of answers (stars) or of pairs of answers (preferences) are held against those of
each judge: Cohen's κ, plain and with quadratic weights, for each judge, model, subject and round.
Each judge of a jury is one for itself; answers that were judged as one have the same label.
An answer that R people labelled counts once, each of them for 1/R of it: that is κ of the judge
with a person drawn at random, and κ of two such persons with each other is the ceiling beside it.
"""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np

from tiebreak.analysis.alignment import match_names
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding
from tiebreak.candidates import normalise_answer
from tiebreak.paths import Paths
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.kappa import KappaGap, kappa_estimate, kappa_gap, kappa_mean, label_bias
from tiebreak.rankers.pairwise_tests import holm
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.log import JudgedItem, RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason, Remark
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.match import by_judge, judges_in
from tiebreak.tables.human import HumanLabel, HumanLabels, LabelKind, read_human_labels
from tiebreak.text import count

SCALES: Final[Mapping[LabelKind, tuple[str, ...]]] = {
    "stars": ("0", "1", "2", "3"),
    "preferences": ("worse", "even", "better"),
}
"""The labels in order: stars, or how the first of two answers compares with the second."""

Key = tuple[str, str, tuple[str, ...]]
"""Benchmark, item, and the models whose answers were labelled, by name."""


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """An answer, or a pair of answers, that people labelled in one round.

    `people` counts their labels, shape (K,). `judges` has the place of each judge's label on the
    scale; it lacks those who gave none. Cases of one `item` were made of one question.
    """

    key: Key
    round: str
    item: str
    subject: str
    people: FloatArray
    judges: Mapping[str, int]


@dataclass(slots=True)
class _Opinion:
    """What one judge said of one answer or pair; `label` is None where that cannot be used."""

    label: int | None
    item: str
    subject: str
    answers: tuple[str, ...] = ()


_Opinions = Mapping[Key, Sequence[_Opinion]]
"""One judge's; with epochs there may be several of one key."""


def labelled(
    logs: Sequence[RankingLog], human: HumanLabels
) -> tuple[list[str], list[Case], list[Reason]]:
    """The judges, the cases that they and people labelled, and what was left out.

    Raises:
        AnalysisError: no log has labels of this kind; nothing was labelled by both; an item is in
            several benchmarks and the file does not say in which; it is not clear which model a
            name means.
    """
    judges = _judges(logs, human.kind)
    if not judges:
        protocols = ", ".join(sorted({log.protocol for log in logs}))
        wanted = "stars" if human.kind == "stars" else "matches between two answers"
        raise AnalysisError(
            f"{human.source} holds {human.kind}, and no log has {wanted} (they are of: {protocols})"
        )
    left_out: Counter[Reason] = Counter()
    cases, lacking = _cases(judges, human, left_out)
    notes = [Reason("labels_left_out", n=n, why=why) for why, n in left_out.items()]
    if not cases:
        raise AnalysisError(
            "\n".join([f"Nothing in {human.source} was judged in these logs.", *map(str, notes)])
        )
    notes += [
        Reason("no_usable_label", judge=name, n=n, of=len(cases)) for name, n in lacking.items()
    ]
    return [name for name in judges if any(name in case.judges for case in cases)], cases, notes


def _judges(logs: Sequence[RankingLog], kind: LabelKind) -> dict[str, _Opinions]:
    """Every judge of every log; logs of one judge are joined where they judged other answers."""
    by_name: dict[str, list[dict[Key, list[_Opinion]]]] = defaultdict(list)
    protocols = {item.protocol for log in logs for item in log.items if item.matches}
    for log in logs:
        of_log: dict[str, dict[Key, list[_Opinion]]] = defaultdict(lambda: defaultdict(list))
        alone = _named(log.items)
        for sample in log.samples:
            if sample.judged and sample.ballots is not None:
                for name, key, opinion in _opinions(sample, sample.ballots, kind, alone):
                    many = kind == "preferences" and len(protocols) > 1
                    full = f"{name} · {sample.ballots.protocol}" if many else name
                    of_log[full][key].append(opinion)
        for name, opinions in of_log.items():
            runs = by_name[name]
            free = next((run for run in runs if run.keys().isdisjoint(opinions)), None)
            if free is None:
                runs.append(opinions)
            else:
                free.update(opinions)
    return {
        name if number == 1 else f"{name}, run {number}": opinions
        for name in sorted(by_name)
        for number, opinions in enumerate(by_name[name], start=1)
    }


def _opinions(
    sample: JudgedItem, ballots: ItemBallots, kind: LabelKind, alone: Sequence[str]
) -> Iterator[tuple[str, Key, _Opinion]]:
    """What each judge said in an item: names, keys and labels.

    What has no name is of all of `alone`: a log's one judge, or the judges of a jury where a rule
    gave the stars before one was asked.
    """
    members = {group[0]: group for group in ballots.groups}
    item = ballots.cluster or f"{ballots.benchmark}\x1f{ballots.item_id}"

    def opinion_on(models: tuple[str, ...], label: int | None, *names: str) -> tuple[Key, _Opinion]:
        texts = tuple(sample.answers.get(name, "") for name in names)
        opinion = _Opinion(label, item, ballots.subject, texts)
        return (ballots.benchmark, ballots.item_id, models), opinion

    if kind == "stars":
        if ballots.placed_by != "stars":
            return
        for points in ballots.scores:
            for part in points.parts or (points,):
                for model in members.get(part.candidate, ()):
                    for name in [part.judge] if part.judge else alone:
                        yield name, *opinion_on((model,), part.stars, part.candidate)
        return
    for match in ballots.matches:
        for judge in judges_in(match) or ("",):
            result = by_judge(match, judge).result if judge else match.result
            for high, low in product(members.get(match.high, ()), members.get(match.low, ())):
                label = None if result is None else round(2 * result)
                names = (match.high, match.low)
                if high > low:
                    high, low, names = low, high, (match.low, match.high)
                    label = None if label is None else 2 - label
                for name in [judge] if judge else alone:
                    yield name, *opinion_on((high, low), label, *names)


def _named(items: Sequence[ItemBallots]) -> list[str]:
    """The judges of a log: those that its ballots name, else the models that were called."""
    parts = (part for item in items for points in item.scores for part in points.parts or (points,))
    verdicts = (verdict for item in items for match in item.matches for verdict in match.verdicts)
    named = ({part.judge for part in parts} | {verdict.judge for verdict in verdicts}) - {""}
    called = {
        call.model for item in items for call in item.calls if call.kind in ("match", "score")
    }
    return sorted(named) or [" + ".join(sorted(called)) or "rule"]


def _cases(
    judges: Mapping[str, _Opinions], human: HumanLabels, left_out: Counter[Reason]
) -> tuple[list[Case], dict[str, int]]:
    """The cases, and for each judge how many it gave no usable label."""
    benchmarks: dict[str, set[str]] = defaultdict(set)
    known: set[str] = set()
    for by_key in judges.values():
        for benchmark, item_id, models in by_key:
            benchmarks[item_id].add(benchmark)
            known.update(models)
    names = list(dict.fromkeys(name for label in human.labels for name in label.models))
    called = {name: model for model, name in match_names(names, sorted(known)).items()}
    together: dict[tuple[Key, str, tuple[str, ...]], list[int]] = defaultdict(list)
    strangers: Counter[str] = Counter(
        name for label in human.labels for name in label.models if name not in called
    )
    for label in human.labels:
        if any(name not in called for name in label.models):
            left_out[Reason("labels_of_strangers", models=sorted(strangers))] += 1
        elif (key := _key(label, called, benchmarks, human)) is None:
            left_out[Reason("labels_of_other_items")] += 1
        else:
            value, digests = label.value, label.digests
            models = tuple(called[name] for name in label.models)
            if key[2] != models:
                value, digests = 2 - value, digests[::-1]
            together[key, label.round, digests].append(value)
    cases: dict[tuple[Key, str, tuple[str, ...]], Case] = {}
    lacking: Counter[str] = Counter()
    for (key, turn, digests), values in together.items():
        opinions = {name: _fitting(by_key.get(key, ()), digests) for name, by_key in judges.items()}
        first = next(
            (opinion for opinion in opinions.values() if isinstance(opinion, _Opinion)), None
        )
        if first is None:
            reasons = [reason for reason in opinions.values() if isinstance(reason, Reason)]
            left_out[max(reasons, key=reasons.count)] += len(values)
            continue
        people = np.bincount(values, minlength=len(SCALES[human.kind])).astype(np.float64)
        labels = {
            name: opinion.label
            for name, opinion in opinions.items()
            if isinstance(opinion, _Opinion) and opinion.label is not None
        }
        # Some of an answer's labels may have a digest, and some none.
        same = cases.get((key, turn, first.answers))
        if same is None:
            lacking.update(name for name in judges if name not in labels)
        else:
            people = people + same.people
        cases[key, turn, first.answers] = Case(key, turn, first.item, first.subject, people, labels)
    return list(cases.values()), dict(lacking)


def _key(
    label: HumanLabel,
    called: Mapping[str, str],
    benchmarks: Mapping[str, set[str]],
    human: HumanLabels,
) -> Key | None:
    """What a label is of, with its models by name; None for an item that no log judged."""
    known = benchmarks.get(label.item_id, set())
    if label.benchmark:
        known = known & {label.benchmark}
    if len(known) > 1:
        raise AnalysisError(
            f"{human.source}, line {label.line}: item {label.item_id!r} is in "
            f"{' and '.join(sorted(known))}; add a column benchmark"
        )
    models = sorted(called[name] for name in label.models)
    return next(((benchmark, label.item_id, tuple(models)) for benchmark in known), None)


def _fitting(opinions: Sequence[_Opinion], digests: tuple[str, ...]) -> _Opinion | Reason:
    """The opinion on the answer that people saw, or why there is none."""
    if not opinions:
        return Reason("labels_unjudged")
    fitting = [opinion for opinion in opinions if _same(opinion.answers, digests)]
    if not fitting:
        return Reason("labels_of_other_answers")
    if len(fitting) > 1:
        return Reason("labels_of_an_epoch")
    return fitting[0]


def _same(answers: tuple[str, ...], digests: tuple[str, ...]) -> bool:
    return all(
        not digest
        or not answer
        or any(answer_digest.startswith(digest) for answer_digest in answer_digests(answer))
        for answer, digest in zip(answers, digests, strict=True)
    )


def answer_digests(answer: str) -> tuple[str, str]:
    """SHA-256 of an answer as it is, and in the form by which identical answers are told."""
    first, second = (
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        for text in (answer, normalise_answer(answer))
    )
    return first, second


PEOPLE = ""
"""The name of "judge" in figures of people with each other."""


@dataclass(frozen=True, eq=False, slots=True)
class Concordance:
    """A judge's labels against people's; with `judge` "" people's against each other's.

    `model`, `subject` and `round` are "" for all of them together. `n` counts the answers (or pairs
    of answers), `n_items` the questions, over which intervals are. `agreement` is the share of
    equal labels, `bias` how many stars more the judge gives in the mean. `confusion` has a row for
    each label of people, a column for each of the judge; it adds up to `n`. Pairs count in both
    orientations, half each.
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

    `n_models` counts those whose κ is defined, `undefined` names the others.
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

    `gap` is of their mean κ over models with people's labels. `p_adjusted` holds for all pairs of
    judges together (Holm), and `apart` is whether it is at most 1 − level; None without a test. A
    judge's distance from people is a test of its own.
    """

    first: str
    second: str
    n: int
    gap: KappaGap
    p_adjusted: float
    apart: bool | None


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Calibration(Finding):
    """Judges against the people's labels of one file, `source`.

    `labels` is the scale. `judges` are in order of their mean κ over all rounds, the best first,
    and those without one last. `rounds` are the names of rounds, none where the file has just one.
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
        """The figures of a judge for all or one of rounds, models and subjects; None if none."""
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
    paths: Paths, human: HumanLabels | str | PathLike[str], *, level: float = 0.95
) -> Calibration:
    """Hold the judges of ranking logs against people's stars or preferences.

    Args:
        paths: ranking logs, and folders that hold some: of tiebreak/stars for people's stars, of
            any protocol with matches for their preferences. Each log has its judge, or a jury.
        human: what people said, or its CSV file (see `read_human_labels`).
        level: confidence level of intervals and tests, in (0, 1).

    Raises:
        RankingLogError: a path holds no ranking log.
        TableError: the people's file cannot be read.
        AnalysisError: the two have nothing in common, or names are not clear.
        RankingError: the level is out of range.
    """
    people = human if isinstance(human, HumanLabels) else read_human_labels(Path(human))
    with_answers = any(digest for label in people.labels for digest in label.digests)
    logs = read_ranking_logs(paths, with_metadata=with_answers, with_votes=False)
    return calibration_of(logs, people, level=level)


def calibration_of(
    logs: Sequence[RankingLog], human: HumanLabels, *, level: float = 0.95
) -> Calibration:
    """As `calibrate`, of logs that were read already."""
    names, cases, left_out = labelled(logs, human)
    models = tuple(sorted({model for case in cases for model in case.key[2]}))
    rounds = sorted({case.round for case in cases})
    named = tuple(rounds) if len(rounds) > 1 else ()
    turns = ("", *named)
    cells = [
        cell
        for judge, turn in product(names, turns)
        for cell in _cells(judge, turn, _in(cases, judge, turn), human.kind, level)
    ]
    means = [
        _mean(judge, turn, _in(cases, judge, turn), models, level)
        for judge, turn in product(names, turns)
    ]
    overall = {mean.judge: mean.kappa.value for mean in means if not mean.round}
    judges = sorted(names, key=lambda name: (math.isnan(overall[name]), -overall[name]))
    several = [case for case in cases if case.people.sum() > 1]
    people = [
        _concordance(PEOPLE, turn, "", "", chosen, human.kind, level)
        for turn in turns
        if (chosen := [case for case in several if turn in ("", case.round)])
    ]
    log_notes = (f"{log.path}: {note}" for log in logs for note in log.notes)
    return Calibration(
        source=human.source,
        kind=human.kind,
        labels=SCALES[human.kind],
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
        ceilings=tuple(_ceilings(judges, several, models, level)),
        level=level,
        notes=(*human.notes, *log_notes, *left_out),
    )


def _in(cases: Iterable[Case], judge: str, turn: str) -> list[Case]:
    return [case for case in cases if judge in case.judges and turn in ("", case.round)]


def _cells(
    judge: str, turn: str, cases: Sequence[Case], kind: LabelKind, level: float
) -> Iterator[Concordance]:
    """Of all its cases, and by model, by subject and by both."""
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
    hits = np.trace(tables, axis1=1, axis2=2)[:, None]
    n_items = len(set(items.tolist()))
    draws = ItemDraws(len(cases), items, how=Resampling(level, 1))
    [agreement] = draws.shares(hits, np.ones_like(hits), Reason("no_answer_of_both"))
    return Concordance(
        judge=judge,
        round=turn,
        model=model,
        subject=subject,
        n=len(cases),
        n_items=n_items,
        kappa=kappa_estimate(tables, items=items, level=level),
        quadratic=kappa_estimate(tables, items=items, weights="quadratic", level=level),
        agreement=agreement,
        bias=label_bias(tables, items=items, level=level)
        if kind == "stars"
        else Estimate(math.nan, math.nan, math.nan, n_items, Reason("no_stars_in_preferences")),
        confusion=tuple(tuple(row) for row in tables.sum(axis=0).tolist()),
    )


def table_of(case: Case, judge: str) -> FloatArray:
    """The labels of people (rows) and of a judge (columns) in a case, shape (K, K), sum 1.

    People with each other (`PEOPLE`) are all pairs of two of them. A pair of answers counts in both
    orientations: which of the two is called the first must not matter.
    """
    given = case.people
    n = given.sum()
    if judge == PEOPLE:
        table = (np.outer(given, given) - np.diag(given)) / (n * (n - 1))
    else:
        table = np.zeros((len(given), len(given)))
        table[:, case.judges[judge]] = given / n
    turned: FloatArray = (table + table[::-1, ::-1]) / 2
    return turned if len(case.key[2]) > 1 else table


def _grouped(cases: Sequence[Case], judge: str, models: Sequence[str]) -> FloatArray:
    """Tables by item and model, shape (items, models, K, K)."""
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
    pairs = []
    for first, second in combinations(judges, 2):
        both = [case for case in cases if {first, second} <= case.judges.keys()]
        gap = _gap(both, first, second, models, level)
        pairs.append((first, second, len(both), gap))
    adjusted = holm([gap.p for *_, gap in pairs])
    return [
        JudgeGap(*pair, p, None if math.isnan(p) else p <= 1 - level)
        for pair, p in zip(pairs, adjusted, strict=True)
    ]


def _ceilings(
    judges: Sequence[str], several: Sequence[Case], models: Sequence[str], level: float
) -> Iterator[JudgeGap]:
    for judge in judges if several else ():
        both = [case for case in several if judge in case.judges]
        gap = _gap(both, judge, PEOPLE, models, level)
        apart = None if math.isnan(gap.p) else gap.p <= 1 - level
        yield JudgeGap(judge, PEOPLE, len(both), gap, gap.p, apart)


def _gap(
    cases: Sequence[Case], first: str, second: str, models: Sequence[str], level: float
) -> KappaGap:
    if not cases:
        nothing = Reason("no_answer_of_both")
        return KappaGap(math.nan, math.nan, math.nan, math.nan, 0, 0, nothing)
    tables = (_grouped(cases, judge, models) for judge in (first, second))
    return kappa_gap(*tables, level=level)
