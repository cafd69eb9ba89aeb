"""Contamination: which questions a model knows by heart (LLMEval-Fair, §3.3, table 4).

Logs of tiebreak/replay hold several attempts per question to fill in a masked part of it. A
question counts as recalled if two attempts are right. Since some can be guessed, a count alone
means little: each dataset is compared with baselines, i.e. unpublished questions masked in the same
way. Shares are over questions; variants of one original (`raw_uuid`) form one cluster.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding
from tiebreak.candidates import REPLAY_KEY
from tiebreak.paths import Paths, path_list, problem_with
from tiebreak.rankers.intervals import Estimate, share_gap, share_over_items
from tiebreak.rankers.pairwise_tests import holm
from tiebreak.reason import Reason, Remark
from tiebreak.text import count

NEEDED: Final = 2
"""Right attempts out of three that make a question count as recalled."""

HOW = "inspect eval tiebreak/replay -T data=NAME --model MODEL"


class Replayed(NamedTuple):
    """The questions of a dataset that a model recalled.

    `recalled` is 1 or 0 for each decided question; `clusters` holds their originals. `undecided`
    counts the questions left open because attempts failed that could have decided them.
    """

    model: str
    dataset: str
    mask: str
    recalled: tuple[int, ...]
    clusters: tuple[str, ...]
    undecided: int


@dataclass(frozen=True, eq=False, slots=True)
class Recall:
    """One cell of table 4: `recalled` out of `n` questions, and the share with its interval."""

    model: str
    dataset: str
    recalled: int
    n: int
    n_clusters: int
    undecided: int
    share: Estimate


@dataclass(frozen=True, eq=False, slots=True)
class RecallGap:
    """The share a model recalls of a dataset minus its share of a baseline, with a test of 0.

    `p_adjusted` is corrected over all models, datasets and baselines (Holm). `apart` is whether it
    is at most 1 − level, or None if there is no test.
    """

    model: str
    dataset: str
    baseline: str
    difference: Estimate
    p: float
    p_adjusted: float
    apart: bool | None

    @property
    def above(self) -> bool:
        """Whether the model recalls significantly more of the dataset than of the baseline."""
        return bool(self.apart) and self.difference.value > 0


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Contamination(Finding):
    """Table 4: models × datasets, baselines last, and each dataset against each baseline.

    `mask` names the part that was taken out of the questions.
    """

    mask: str
    models: tuple[str, ...]
    datasets: tuple[str, ...]
    baselines: tuple[str, ...]
    cells: tuple[Recall, ...]
    gaps: tuple[RecallGap, ...]
    level: float
    notes: tuple[Remark, ...]

    def __str__(self) -> str:
        models = count(len(self.models), "model")
        return f"{models} on {count(len(self.datasets) + len(self.baselines), 'dataset')}"

    def cell(self, model: str, dataset: str) -> Recall | None:
        """The cell of a model and a dataset, or None if no log has both."""
        asked = (model, dataset)
        return next((cell for cell in self.cells if (cell.model, cell.dataset) == asked), None)

    def gap(self, model: str, dataset: str, baseline: str) -> RecallGap | None:
        """A model's gap of a dataset to a baseline, or None if a replay of either is missing."""
        asked = (model, dataset, baseline)
        return next(
            (gap for gap in self.gaps if (gap.model, gap.dataset, gap.baseline) == asked), None
        )


def contamination(
    paths: Paths, *, baselines: Sequence[str] = (), level: float = 0.95
) -> Contamination:
    """Measure contamination from the logs of tiebreak/replay in files and folders.

    `baselines` names the datasets that were never published; without any nothing is tested. `level`
    is the confidence level of intervals and tests, in (0, 1).

    Raises:
        AnalysisError: no log is a replay, a baseline is not among the datasets, or the logs masked
            different parts.
    """
    replays, notes = read_replays(paths)
    return contamination_of(replays, baselines=baselines, level=level, notes=notes)


def contamination_of(
    replays: Sequence[Replayed],
    *,
    baselines: Sequence[str] = (),
    level: float = 0.95,
    notes: Iterable[Remark] = (),
) -> Contamination:
    """The same as `contamination`, for replays that have been read already."""
    masks = sorted({replay.mask for replay in replays})
    if len(masks) > 1:
        raise AnalysisError(
            f"These replays took out different things ({', '.join(masks)}), and what can be "
            "guessed depends on that; give logs of one -T mask"
        )
    datasets = sorted({replay.dataset for replay in replays})
    if unknown := [name for name in baselines if name not in datasets]:
        raise AnalysisError(
            f"No replay of the baseline {', '.join(map(repr, unknown))}; there are: "
            f"{', '.join(datasets)}"
        )
    chosen = tuple(dict.fromkeys(baselines))
    compared = tuple(name for name in datasets if name not in chosen)
    pairs = [
        (replay, base, *share_gap(*_sums(replay), *_sums(base), level=level))
        for replay in replays
        for base in replays
        if replay.dataset in compared and base.dataset in chosen and replay.model == base.model
    ]
    adjusted = holm([p for *_, p in pairs])
    return Contamination(
        mask=masks[0],
        models=tuple(sorted({replay.model for replay in replays})),
        datasets=compared,
        baselines=chosen,
        cells=tuple(_recall(replay, level) for replay in replays),
        gaps=tuple(
            RecallGap(
                model=replay.model,
                dataset=replay.dataset,
                baseline=base.dataset,
                difference=difference,
                p=p,
                p_adjusted=p_adjusted,
                apart=None if math.isnan(p_adjusted) else p_adjusted <= 1 - level,
            )
            for (replay, base, difference, p), p_adjusted in zip(pairs, adjusted, strict=True)
        ),
        level=level,
        notes=(*notes, *_missing_replays(replays, chosen)),
    )


def read_replays(paths: Paths) -> tuple[list[Replayed], list[str]]:
    """Read the replays among Inspect logs, by model and dataset, with notes on files left out.

    Logs of the same model and dataset are joined. If several hold a question, the newest counts.

    Raises:
        AnalysisError: no log is a replay.
    """
    from tiebreak.candidates.inspect_files import read_header, unread
    from tiebreak.ranking_logs.read import logs_in

    files: list[str] = []
    for path in path_list(paths):
        remote = "://" in str(path)
        if problem := "" if remote else problem_with(path):
            raise AnalysisError(f"{path} {problem}. A replay is made by: {HOW}")
        files += logs_in(str(path)) if not remote and Path(path).is_dir() else [str(path)]
    logs, notes = [], []
    for file in dict.fromkeys(files):
        try:
            header = read_header(file)
            replay = isinstance((header.eval.metadata or {}).get(REPLAY_KEY), Mapping)
            questions = _questions(file, header.eval.config.epochs or 1) if replay else {}
        except Exception as error:  # whatever damaged bytes make a parser raise
            notes.append(f"{file} {unread(error)}")
            continue
        if replay:
            logs.append((header.eval.created, file, header, questions))
    if not logs:
        held = f" ({count(len(files), 'other file')})" if files else ""
        raise AnalysisError("\n".join([f"No log of a replay{held}. Make one: {HOW}", *notes]))
    together: dict[tuple[str, str, str], dict[str, tuple[int | None, str]]] = defaultdict(dict)
    for _, file, header, questions in sorted(logs, key=lambda log: log[:2]):
        metadata = header.eval.metadata or {}
        kept: Mapping[str, Any] = metadata[REPLAY_KEY]
        model = str(metadata.get("candidate") or header.eval.model)
        if header.status != "success":
            notes.append(f"{file}: status is {header.status!r}; finish it: inspect eval-retry")
        together[model, str(kept.get("data")), str(kept.get("mask"))] |= questions
    replays = []
    for (model, dataset, mask), questions in together.items():
        decided = [(value, original) for value, original in questions.values() if value is not None]
        replays.append(
            Replayed(
                model=model,
                dataset=dataset,
                mask=mask,
                recalled=tuple(value for value, _ in decided),
                clusters=tuple(original for _, original in decided),
                undecided=len(questions) - len(decided),
            )
        )
    return replays, notes


def _questions(file: str, attempts: int) -> dict[str, tuple[int | None, str]]:
    """By question: 1 (recalled), 0, or None if failed attempts could still decide; its original."""
    from inspect_ai.log import read_eval_log_sample_summaries

    right: dict[str, int] = defaultdict(int)
    scored: dict[str, int] = defaultdict(int)
    originals: dict[str, str] = {}
    for summary in read_eval_log_sample_summaries(file):
        name = str(summary.id)
        originals[name] = str((summary.metadata or {}).get("raw_uuid") or name)
        score = next(iter((summary.scores or {}).values()), None)
        if score is not None and summary.error is None:
            scored[name] += 1
            right[name] += score.value in ("C", 1, 1.0, True)
    decided: dict[str, tuple[int | None, str]] = {}
    for name, original in originals.items():
        recalled = right[name] >= NEEDED
        failed = attempts - scored[name]
        is_open = not recalled and right[name] + failed >= NEEDED
        decided[name] = None if is_open else int(recalled), original
    return decided


def _sums(replay: Replayed) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Numbers of recalled and of all questions by cluster."""
    _, cluster = np.unique(np.array(replay.clusters, dtype=str), return_inverse=True)
    n = np.bincount(cluster).astype(np.float64)
    return np.bincount(cluster, weights=replay.recalled, minlength=len(n)).astype(np.float64), n


def _recall(replay: Replayed, level: float) -> Recall:
    hits, n = _sums(replay)
    return Recall(
        model=replay.model,
        dataset=replay.dataset,
        recalled=sum(replay.recalled),
        n=len(replay.recalled),
        n_clusters=len(n),
        undecided=replay.undecided,
        share=share_over_items(hits, n, level=level, undefined=Reason("no_question_decided")),
    )


def _missing_replays(replays: Sequence[Replayed], baselines: Sequence[str]) -> Iterator[Reason]:
    """Note the models that lack a baseline, and replays with undecided questions."""
    replayed = {(replay.model, replay.dataset) for replay in replays}
    for model in sorted({replay.model for replay in replays}):
        for base in baselines:
            if (model, base) not in replayed:
                yield Reason("no_replay_of", model=model, base=base)
    for replay in replays:
        if replay.undecided:
            yield Reason(
                "undecided_questions",
                model=replay.model,
                dataset=replay.dataset,
                n=replay.undecided,
            )
