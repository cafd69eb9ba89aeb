"""Answers that both people and judges have labelled: stars, or which of two is better.

A judge's labels come from ranking logs: stars of logs of tiebreak/stars, or results of the matches
of any pairwise protocol. Each judge of a jury is a judge of its own, and identical answers that
were judged once share the label. Or they come from a file, like people's labels
(`read_human_labels`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Final, TypeVar

import numpy as np

from tiebreak.analysis.alignment import match_names
from tiebreak.analysis.errors import AnalysisError
from tiebreak.rankers.profile import FloatArray
from tiebreak.ranking_logs.log import JudgedItem, RankingLog
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.match import by_judge, judges_in
from tiebreak.tables.human import HumanLabel, HumanLabels, LabelKind, answer_digests

Label = TypeVar("Label", int, int | None, float | None)

SCALES: Final[Mapping[LabelKind, tuple[str, ...]]] = {
    "stars": ("0", "1", "2", "3"),
    "preferences": ("worse", "even", "better"),
}
"""The labels in order: stars, or how the first of two answers compares with the second."""

Key = tuple[str, str, tuple[str, ...]]
"""Benchmark, item, and the models whose answers were labelled, sorted by name."""


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """An answer, or a pair of answers, that people labelled in one round.

    `people` counts their labels, shape (K,). `judges` has the position of each judge's label on the
    scale (fractional for the means of a board), without judges that gave none. Cases of one `item`
    were made from one question; `row` is the item's row on a board.
    """

    key: Key
    round: str
    item: str
    subject: str
    people: FloatArray
    judges: Mapping[str, float]
    row: int = 0


@dataclass(frozen=True, slots=True)
class JudgeLabel:
    """One judge's label of one answer or pair; `label` is None if there is no usable one.

    The answers are known by their texts, `answers`, or by the starts of their SHA-256, `digests`.
    """

    label: float | None
    item: str
    subject: str
    answers: tuple[str, ...] = ()
    row: int = 0
    digests: tuple[str, ...] = ()


JudgeLabels = Mapping[Key, Sequence[JudgeLabel]]
"""One judge's labels; with epochs a key can have several."""

_Judges = dict[str, dict[Key, list[JudgeLabel]]]


def by_name(
    models: tuple[str, ...], label: Label, of_each: tuple[str, ...]
) -> tuple[tuple[str, ...], Label, tuple[str, ...]]:
    """Sort models by name, with their label and the values `of_each` reordered to match.

    A pair's label is 2 if the first is better, and 0 if the second is.
    """
    if tuple(sorted(models)) == models:
        return models, label, of_each
    return models[::-1], None if label is None else 2 - label, of_each[::-1]


def labelled(
    logs: Sequence[RankingLog], human: HumanLabels, files: Sequence[HumanLabels] = ()
) -> tuple[list[Case], list[str], list[Reason]]:
    """Join the labels of judges, in logs and in files, and of people.

    Returns:
        All cases, the names of their judges, and notes on labels that were left out.

    Raises:
        AnalysisError: no log has labels of this kind, or a file has labels of another; no answer
            was labelled by both; an item is in several benchmarks and a file does not say which;
            it is ambiguous which model a name means.
    """
    judges = _judges(logs, files, human)
    if not judges:
        protocols = ", ".join(sorted({log.protocol for log in logs}))
        wanted = "stars" if human.kind == "stars" else "matches between two answers"
        raise AnalysisError(
            f"{human.source} holds {human.kind}, and no log has {wanted} (they are of: {protocols})"
        )
    left_out: Counter[Reason] = Counter()
    cases, lacking = join(judges, human, left_out)
    notes = notes_on(left_out)
    if not cases:
        places = " and ".join(["these logs"] * bool(logs) + [file.source for file in files])
        raise AnalysisError(
            f"Nothing in {human.source} was judged in {places}: give what was judged there, with "
            + "\n".join(["the same names of items and models.", *map(str, notes)])
        )
    notes += [
        Reason("no_usable_label", judge=name, n=n, of=len(cases)) for name, n in lacking.items()
    ]
    names = [name for name in judges if any(name in case.judges for case in cases)]
    return cases, names, notes


def notes_on(left_out: Mapping[Reason, int]) -> list[Reason]:
    """Notes on the number of labels left out for each reason."""
    return [Reason("labels_left_out", n=n, why=why) for why, n in left_out.items()]


def _judges(
    logs: Sequence[RankingLog], files: Sequence[HumanLabels], human: HumanLabels
) -> dict[str, JudgeLabels]:
    """Labels by judge, over all logs and files; those of the same answers are separate runs."""
    by_name: dict[str, list[dict[Key, list[JudgeLabel]]]] = defaultdict(list)
    for of_source in chain(_in_logs(logs, human.kind), _in_files(files, by_name, human)):
        for name, judge_labels in of_source.items():
            runs = by_name[name]
            free = next((run for run in runs if run.keys().isdisjoint(judge_labels)), None)
            if free is None:
                runs.append(judge_labels)
            else:
                free.update(judge_labels)
    return {
        name if number == 1 else f"{name}, run {number}": judge_labels
        for name in sorted(by_name)
        for number, judge_labels in enumerate(by_name[name], start=1)
    }


def _in_files(
    files: Sequence[HumanLabels], known: Mapping[str, Sequence[JudgeLabels]], human: HumanLabels
) -> Iterator[_Judges]:
    """The judges of each file by name; labels without a rater belong to a judge named as the file.

    Benchmarks, models, questions and subjects are taken from the judges `known` so far; the caller
    adds each file's judges to them before the next file is read.
    """
    for file in files:
        if file.kind != human.kind:
            raise AnalysisError(
                f"{file.source} holds {file.kind}, and {human.source} {human.kind}: the judge's "
                "labels and people's must be of one kind"
            )
        judge_labels = [keyed for runs in known.values() for run in runs for keyed in run.items()]
        places = {key[:2]: of_key[0] for key, of_key in judge_labels}
        benchmarks: dict[str, set[str]] = defaultdict(set)
        for benchmark, item_id in (*places, *((of.benchmark, of.item_id) for of in human.labels)):
            benchmarks[item_id] |= {benchmark} - {""}
        names = sorted({name for label in file.labels for name in label.models})
        models = sorted({model for key, _ in judge_labels for model in key[2]})
        called = {name: model for model, name in match_names(names, models).items()}
        judges: _Judges = defaultdict(lambda: defaultdict(list))
        for label in file.labels:
            benchmark = benchmark_of(label, benchmarks, file) or label.benchmark
            given = tuple(called.get(name, name) for name in label.models)
            pair, value, digests = by_name(given, label.value, label.digests)
            place = places.get((benchmark, label.item_id))
            judge_label = JudgeLabel(
                label=value,
                item=place.item if place else f"{benchmark}\x1f{label.item_id}",
                subject=place.subject if place else "",
                digests=digests,
            )
            key = benchmark, label.item_id, pair
            judges[label.rater or Path(file.source).stem][key].append(judge_label)
        yield judges


def _in_logs(logs: Sequence[RankingLog], kind: LabelKind) -> Iterator[_Judges]:
    items, stars = [item for log in logs for item in log.items], kind == "stars"
    protocols = {
        item.protocol for item in items if (item.placed_by == "stars" if stars else item.matches)
    }
    for log in logs:
        of_log: _Judges = defaultdict(lambda: defaultdict(list))
        alone = _named(log.items)
        for sample in log.samples:
            if sample.judged and sample.ballots is not None:
                for name, key, judge_label in _judge_labels(sample, sample.ballots, kind, alone):
                    many = kind == "preferences" and len(protocols) > 1
                    full = f"{name} · {sample.ballots.protocol}" if many else name
                    of_log[full][key].append(judge_label)
        yield of_log


def _judge_labels(
    sample: JudgedItem, ballots: ItemBallots, kind: LabelKind, alone: Sequence[str]
) -> Iterator[tuple[str, Key, JudgeLabel]]:
    """Labels of each judge in an item, each with the judge's name and the key.

    Ballots without a judge's name count for all of `alone`: a log's only judge, or all judges of a
    jury if a rule gave the stars without asking them.
    """
    members = {group[0]: group for group in ballots.groups}
    # A unit separator occurs in no name, so items of two benchmarks never get the same key.
    item = ballots.cluster or f"{ballots.benchmark}\x1f{ballots.item_id}"

    def judge_label(
        given: tuple[str, ...], value: int | None, *names: str
    ) -> tuple[Key, JudgeLabel]:
        answers = tuple(sample.answers.get(name, "") for name in names)
        models, label, texts = by_name(given, value, answers)
        judge_label = JudgeLabel(label, item, ballots.subject, texts)
        return (ballots.benchmark, ballots.item_id, models), judge_label

    if kind == "stars":
        if ballots.placed_by != "stars":
            return
        for points in ballots.scores:
            for part in points.parts or (points,):
                for model in members.get(part.candidate, ()):
                    for name in [part.judge] if part.judge else alone:
                        yield name, *judge_label((model,), part.stars, part.candidate)
        return
    for match in ballots.matches:
        for judge in judges_in(match) or ("",):
            result = by_judge(match, judge).result if judge else match.result
            label = None if result is None else round(2 * result)
            for pair in product(members.get(match.high, ()), members.get(match.low, ())):
                for name in [judge] if judge else alone:
                    yield name, *judge_label(pair, label, match.high, match.low)


def _named(items: Sequence[ItemBallots]) -> list[str]:
    """The judges of a log: the judges named in its ballots, else the models that were called."""
    parts = (part for item in items for points in item.scores for part in points.parts or (points,))
    verdicts = (verdict for item in items for match in item.matches for verdict in match.verdicts)
    named = ({part.judge for part in parts} | {verdict.judge for verdict in verdicts}) - {""}
    called = {
        call.model for item in items for call in item.calls if call.kind in ("match", "score")
    }
    return sorted(named) or [" + ".join(sorted(called)) or "rule"]


def join(
    judges: Mapping[str, JudgeLabels], human: HumanLabels, left_out: Counter[Reason]
) -> tuple[list[Case], dict[str, int]]:
    """The cases, and per judge the number without its label; counts other labels in `left_out`.

    Raises:
        AnalysisError: an item is in several benchmarks and the file does not say which; it is
            ambiguous which model a name means.
    """
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
        elif (place := benchmark_of(label, benchmarks, human)) is None:
            left_out[Reason("labels_of_other_items")] += 1
        else:
            given = tuple(called[name] for name in label.models)
            models, value, digests = by_name(given, label.value, label.digests)
            together[(place, label.item_id, models), label.round, digests].append(value)
    cases: dict[tuple[object, ...], Case] = {}
    lacking: Counter[str] = Counter()
    for (key, turn, digests), values in together.items():
        of_judge = {name: _fitting(by_key.get(key, ()), digests) for name, by_key in judges.items()}
        first = next((label for label in of_judge.values() if isinstance(label, JudgeLabel)), None)
        if first is None:
            reasons = [reason for reason in of_judge.values() if isinstance(reason, Reason)]
            left_out[max(reasons, key=reasons.count)] += len(values)
            continue
        people = np.bincount(values, minlength=len(SCALES[human.kind])).astype(np.float64)
        labels = {
            name: label.label
            for name, label in of_judge.items()
            if isinstance(label, JudgeLabel) and label.label is not None
        }
        # Labels of one answer with and without a digest were grouped apart, but are one case.
        same = cases.get((key, turn, first.answers, first.digests))
        if same is None:
            lacking.update(name for name in judges if name not in labels)
        else:
            people = people + same.people
        cases[key, turn, first.answers, first.digests] = Case(
            key, turn, first.item, first.subject, people, labels, first.row
        )
    return list(cases.values()), dict(lacking)


def benchmark_of(
    label: HumanLabel, benchmarks: Mapping[str, set[str]], source: HumanLabels
) -> str | None:
    """The benchmark of a label's item, None if unknown; raises AnalysisError if several fit."""
    known = benchmarks.get(label.item_id, set())
    if label.benchmark:
        known = known & {label.benchmark}
    if len(known) > 1:
        raise AnalysisError(
            f"{source.source}, line {label.line}: item {label.item_id!r} is in "
            f"{' and '.join(sorted(known))}; add a column benchmark"
        )
    return next(iter(known), None)


def _fitting(judge_labels: Sequence[JudgeLabel], digests: tuple[str, ...]) -> JudgeLabel | Reason:
    """The judge's label of the answer that people saw, or the reason that there is none."""
    if not judge_labels:
        return Reason("labels_unjudged")
    fitting = [judge_label for judge_label in judge_labels if _same(judge_label, digests)]
    if not fitting:
        return Reason("labels_of_other_answers")
    if len(fitting) > 1:
        return Reason("labels_of_an_epoch")
    return fitting[0]


def _same(judge_label: JudgeLabel, digests: tuple[str, ...]) -> bool:
    """Whether the answers that people saw may be those that were judged."""
    if judge_label.digests:
        starts = zip(judge_label.digests, digests, strict=True)
        return all(known.startswith(seen) or seen.startswith(known) for known, seen in starts)
    return all(
        not digest
        or not answer
        or any(answer_digest.startswith(digest) for answer_digest in answer_digests(answer))
        for answer, digest in zip(judge_label.answers, digests, strict=True)
    )
