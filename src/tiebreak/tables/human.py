"""Read people's rankings of models, and their labels of single answers, from files.

A ranking is a CSV file with one model per line and its rank (1 = best, equal = tied) or score
(higher is better)::

    model,rank
    gpt-5,1
    claude-opus-4-5,2
    gemini-3-pro,2

    benchmark,model,score
    gsm8k,gpt-5,1391
    gsm8k,gemini-3-pro,1402
    ,gpt-5,1440

With a column `benchmark`, each benchmark has its own ranking; rows in which it is empty are the
ranking for all other benchmarks.

Labels have one answer per line with its stars, or one pair of answers per line with the winner::

    item_id,model,stars,rater
    q17,openai/gpt-5,3,ann
    q17,openai/gpt-5,2,ben

    item_id,model_a,model_b,winner
    q17,gpt-5,o3-mini,a
    q18,gpt-5,o3-mini,tie

Labels may also be JSON lines, JSON or Parquet (see `records`). Names of winners, and the files of
AlpacaEval and arena-hard, are as in `matches`. Optional columns are `benchmark`, `rater`, `round`
and the start of the answer's SHA-256 (`answer_digest`; for a pair `answer_digest_a` and
`answer_digest_b`). For separators, encoding and numbers see `delimited`.

Causes of errors are in a separate file, with the cause of one answer's error per line::

    item_id,model,cause,rater
    q17,openai/gpt-5,logical reasoning,ann

Any causes are allowed; those of LLMEval-Fair (§3.1.1, figure 3) come first, in its order. `rater`
and `benchmark` are optional.
"""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Final, Literal

from tiebreak.paths import problem_with
from tiebreak.ranking_logs.votes_file import is_votes_file
from tiebreak.tables.delimited import Delimited, Row, read_delimited
from tiebreak.tables.errors import TableError, shown
from tiebreak.tables.matches import MATCH_NAMES, OTHERWISE, match_of
from tiebreak.tables.records import read_rows
from tiebreak.text import listed

ALL_BENCHMARKS = ""
_RANKING_COLUMNS = ("model", "rank", "score", "benchmark")


@dataclass(frozen=True, slots=True)
class HumanRanking:
    """People's ranks of the models by benchmark; those under "" are for all other benchmarks.

    Lower ranks are better, equal ones tied; only their order counts. The paper compares each
    benchmark with the human leaderboard that fits it best (Peer review, §4.1): mathematics with
    mathematics, and so on. `source` is the file; `notes` are sentences on what was ignored in it.
    """

    source: str
    ranks: Mapping[str, Mapping[str, float]]
    notes: tuple[str, ...] = ()

    def of(self, benchmark: str) -> Mapping[str, float]:
        """Ranks of the models on a benchmark; empty if there are none."""
        return self.ranks.get(benchmark) or self.ranks.get(ALL_BENCHMARKS, {})


def read_human_ranking(path: str | Path) -> HumanRanking:
    """Read a ranking of models by people. Scores become ranks; rows without a number are noted.

    Raises:
        TableError: there is no column `model`, or not exactly one of `rank` and `score`; a model
            has no name; a rank is below 0; a cell is not a number; a model is ranked twice on a
            benchmark; there is no number at all; it is a votes file; or as for `read_delimited`.
    """
    if is_votes_file(Path(path)):
        raise TableError(
            f"{path} is a file of people's votes, not a ranking of models. What reads it: tiebreak "
            "rank FILE, tiebreak rank LOGS --people FILE, tiebreak calibrate LOGS --human FILE"
        )
    table = read_delimited(Path(path)).named({name: name for name in _RANKING_COLUMNS})
    value = _ranked_by(table)
    ranks: dict[str, dict[str, float]] = {}
    without: list[str] = []
    for row in table.rows:
        benchmark = row.cells.get("benchmark", ALL_BENCHMARKS)
        model = table.label(row, "model", "the model has no name")
        on = f" on {shown(benchmark)}" if benchmark else ""
        table.once((benchmark, model), row, f"{shown(model)} is ranked{on}")
        rank = table.rank(row, value) if value == "rank" else -table.number(row, value)
        if math.isnan(rank):
            without.append(f"{model} on {benchmark}" if benchmark else model)
        else:
            ranks.setdefault(benchmark, {})[model] = rank
    if not ranks:
        raise TableError(f"{path}: no model has a {value}; give at least three of them one")
    lacking = [f"{path}: no {value} for {listed(without)}"] if without else []
    return HumanRanking(str(path), ranks, (*table.unread(), *lacking))


def _ranked_by(table: Delimited) -> str:
    """The column with the numbers, "rank" or "score"; raise TableError unless there is one."""
    form = (
        "a human ranking has the columns model, rank (1 = best) or score (higher is better), and "
        "perhaps benchmark"
    )
    table.require(("model",), form)
    values = [name for name in ("rank", "score") if name in table.columns]
    if len(values) != 1:
        problem = (
            "are both a column 'rank' and a column 'score'" if values else "is no column 'rank'"
        )
        raise TableError(f"{table.path}: there {problem}; {form}")
    return values[0]


LabelKind = Literal["stars", "preferences"]

MOST_STARS: Final = 3
_FAULTS_SHOWN: Final = 5

_NAMES: Final[Mapping[str, str]] = {
    **{name: meaning for name, meaning in MATCH_NAMES.items() if meaning != "first"},
    **{name: name for name in ("benchmark", "round", "model", "stars")},
    **{f"answer_digest{end}": f"answer_digest{end}" for end in ("", "_a", "_b")},
}
_NEEDED: Final[Mapping[LabelKind, tuple[str, ...]]] = {
    "stars": ("item_id", "model", "stars"),
    "preferences": ("item_id", "model_a", "model_b", "winner"),
}
_DIGEST = re.compile("[0-9a-f]{8,64}")
_FORM = (
    "give the columns item_id, model and stars (0 to 3), or item_id, model_a, model_b and winner "
    "(a, b or tie); perhaps benchmark, rater, round and answer_digest"
)


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """One person's label of an answer or of a pair of answers.

    For one model, `value` is its stars, 0 to 3, or the index of the cause of its error among
    `CauseLabels.causes`. For two models, `value` is 2 if the first is better, 1 for a tie and 0 if
    the second is better. `benchmark`, `rater` and `round` are "" if the file does not have them.
    `digests` are starts of the answers' SHA-256 in lower-case hexadecimal, "" if unknown.
    """

    line: int
    item_id: str
    models: tuple[str, ...]
    value: int
    benchmark: str = ""
    rater: str = ""
    round: str = ""
    digests: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class HumanLabels:
    """The labels of a file; `notes` are sentences on what was ignored in it.

    `pairs_chosen` says whether people saw only pairs of models that a board had left open.
    """

    source: str
    kind: LabelKind
    labels: tuple[HumanLabel, ...]
    notes: tuple[str, ...] = ()
    pairs_chosen: bool = False

    @property
    def by_digest(self) -> bool:
        """Whether any label has the digest of its answer."""
        return any(digest for label in self.labels for digest in label.digests)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and a remark if all labels are by one person."""
        raters = {label.rater for label in self.labels}
        alone = [f"{self.source}: all labels are of {', '.join(raters)}, and of nobody else"]
        return (*self.notes, *alone * (len(raters) == 1 and "" not in raters))


def read_human_labels(
    source: HumanLabels | str | PathLike[str], *, skip_faulty: bool = False
) -> HumanLabels:
    """Read people's stars, their preferences between pairs of answers, or a votes file.

    Rows without stars or without a winner are noted; with `skip_faulty` so are faulty rows. Labels
    that were already read are returned unchanged.

    Raises:
        TableError: columns are missing; an item or a model has no name; stars are not 0, 1, 2 or 3;
            a winner is neither of the two; a model meets itself; a digest is not hexadecimal; a
            rater has two labels for the same; there is no label; or as for `read_delimited`.
    """
    if isinstance(source, HumanLabels):
        return source
    path = Path(source)
    if not problem_with(path) and (path.suffix == ".db" or is_votes_file(path)):
        return _in_votes(path)
    faults: list[TableError] = []
    table = read_rows(path, {*_NAMES, *OTHERWISE}, faults)
    if not table.rows:  # all rows are faulty
        _faulty(faults, skip=False)
    table = table.named(_NAMES, OTHERWISE)
    kind = _kind(table)
    labels: list[HumanLabel] = []
    empty: list[int] = []
    for row in table.rows:
        try:
            label = _label(table, row, kind)
            if label is None:
                empty.append(row.line)
                continue
            rater = f" by {shown(label.rater)}" if label.rater else " (is there no column 'rater'?)"
            key = label.benchmark, label.item_id, frozenset(label.models), label.rater, label.round
            about = f"{' and '.join(map(shown, label.models))} on {shown(label.item_id)}"
            table.once((*key, label.digests), row, f"{about} is labelled{rater}")
            labels.append(label)
        except TableError as error:
            faults.append(error)
    left_out = _faulty(faults, skip=skip_faulty)
    if not labels:
        raise TableError(f"{path}: no row has {_NEEDED[kind][-1]}; fill the column in")
    notes = (*table.unread(), *table.empty(_NEEDED[kind][-1], empty), *left_out)
    return HumanLabels(str(path), kind, tuple(labels), notes)


def _in_votes(path: Path) -> HumanLabels:
    """Read the labels of a votes file, with the digests of the answers that people saw."""
    from tiebreak.ranking_logs import RankingLogError
    from tiebreak.ranking_logs.votes import read_votes_log

    try:
        log = read_votes_log(str(path), with_metadata=True)
    except RankingLogError as error:
        raise TableError(str(error)) from error
    labels: list[HumanLabel] = []
    for sample in log.samples:
        ballots = sample.ballots
        assert ballots is not None
        leader = {model: group[0] for group in ballots.groups for model in group}
        digests = {name: answer_digests(answer)[1] for name, answer in sample.answers.items()}
        parts = (part for points in ballots.scores for part in points.parts or (points,))
        values: list[tuple[tuple[str, ...], int, str]] = [
            ((model,), part.stars or 0, part.judge)
            for part in parts
            for model in leader
            if leader[model] == part.candidate
        ]
        for match in ballots.matches:
            # The models of the scheduled pair; people saw the equal answers of their leaders.
            shown = {match.high, match.low}
            pair = next(p for p in ballots.scheduled if {leader[name] for name in p} == shown)
            for verdict in match.verdicts:
                sign = 1 if verdict.first == leader[pair[0]] else -1
                values.append((pair, 1 + sign * round(verdict.margin or 0), verdict.judge))
        for models, value, rater in values:
            starts = tuple(digests.get(leader[model], "") for model in models)
            about = ballots.item_id, models, value, ballots.benchmark, rater
            labels.append(HumanLabel(len(labels) + 1, *about, digests=starts))
    chosen = ["People were asked only pairs that a board left open, which are harder than others"]
    notes = tuple(f"{path}: {note}" for note in (*chosen * log.pairs_chosen, *log.notes))
    kind: LabelKind = "preferences" if len(labels[0].models) > 1 else "stars"
    return HumanLabels(str(path), kind, tuple(labels), notes, log.pairs_chosen)


def answer_digests(answer: str) -> tuple[str, str]:
    """SHA-256 of an answer, and of its normalised form, by which identical answers are found."""
    from tiebreak.candidates import normalise_answer

    first, second = (
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        for text in (answer, normalise_answer(answer))
    )
    return first, second


def _faulty(faults: Sequence[TableError], *, skip: bool) -> tuple[str, ...]:
    """Sentences on the faulty rows that are left out.

    Raises:
        TableError: there are faulty rows and `skip` is False.
    """
    named = [str(fault) for fault in faults[:_FAULTS_SHOWN]]
    if len(faults) > 1 and not skip:
        named.append(
            f"{len(faults):,} rows are faulty: repair them, or leave them out with --skip-faulty"
        )
    if faults and not skip:
        raise TableError("\n".join(named))
    more = len(faults) - len(named)
    return (
        *(f"Left out: {fault}" for fault in named),
        *[f"Left out: {more:,} more faulty rows"] * (more > 0),
    )


def _kind(table: Delimited) -> LabelKind:
    kind: LabelKind = "preferences" if "winner" in table.columns else "stars"
    if "stars" in table.columns and "winner" in table.columns:
        raise TableError(f"{table.path}: there are both columns 'stars' and 'winner'; {_FORM}")
    table.require(_NEEDED[kind], _FORM)
    return kind


def _label(table: Delimited, row: Row, kind: LabelKind) -> HumanLabel | None:
    """The label of a row, or None if its stars or its winner are empty."""
    named = _NEEDED[kind][1:-1]
    item = table.label(row, "item_id", "the item has no name")
    models = tuple(table.label(row, name, "the model has no name") for name in named)
    value = _stars(table, row) if kind == "stars" else _winner(table, row, models)
    ends = ("",) if kind == "stars" else ("_a", "_b")
    cells = (row.cells.get(f"answer_digest{end}", "") for end in ends)
    digests = tuple(_digest(table, row, cell) for cell in cells)
    if value is None:
        return None
    where = {name: row.cells.get(name, "") for name in ("benchmark", "rater", "round")}
    return HumanLabel(row.line, item, models, value, digests=digests, **where)


def _stars(table: Delimited, row: Row) -> int | None:
    stars = table.number(row, "stars")
    if math.isnan(stars):
        return None
    if stars not in range(MOST_STARS + 1):
        raise table.wrong(row, f"{stars:g} stars; they are 0, 1, 2 or 3", "stars")
    return int(stars)


def _winner(table: Delimited, row: Row, models: tuple[str, ...]) -> int | None:
    first, second = models
    match = match_of(table.columns["winner"], first, second, row.cells["winner"])
    if match.fault:
        raise table.wrong(row, match.fault, match.column or None)
    return None if math.isnan(match.result) else 1 + (match.result > 0.5) - (match.result < 0.5)


def _digest(table: Delimited, row: Row, text: str) -> str:
    digest = text.casefold().removeprefix("sha256:")
    if digest and not _DIGEST.fullmatch(digest):
        help_ = "write 8 to 64 hexadecimal digits of the answer's SHA-256, or leave it empty"
        raise table.wrong(row, f"{shown(text)} is no digest; {help_}")
    return digest


CAUSES: Final = (
    "disciplinary knowledge",
    "misunderstanding",
    "logical reasoning",
    "factual inaccuracies",
    "format compliance",
)
_CAUSE_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("item_id", "item", "question_uuid"), "item_id"),
    **{name: name for name in ("model", "cause", "rater", "benchmark")},
}


@dataclass(frozen=True, slots=True)
class CauseLabels:
    """Labels of the causes of errors in a file; `causes` are all its causes in order."""

    source: str
    labels: tuple[HumanLabel, ...]
    causes: tuple[str, ...]


def read_causes(path: str | Path) -> CauseLabels:
    """Read causes of errors.

    Raises:
        TableError: a column is missing; a cell is empty; a rater has two causes for an answer; or
            as for `read_delimited`.
    """
    table = read_delimited(Path(path)).named(_CAUSE_NAMES)
    form = "give the columns item_id, model and cause, perhaps rater and benchmark"
    table.require(("item_id", "model", "cause"), form)
    labels: list[tuple[HumanLabel, str]] = []
    for row in table.rows:
        item, model, cause = (
            table.label(row, name, f"the {noun} has no name")
            for name, noun in (("item_id", "item"), ("model", "model"), ("cause", "cause"))
        )
        rater, benchmark = (row.cells.get(name, "") for name in ("rater", "benchmark"))
        about = f"the error of {shown(model)} on {shown(item)} has a cause"
        table.once((benchmark, item, model, rater), row, about)
        label = HumanLabel(row.line, item, (model,), 0, benchmark, rater)
        labels.append((label, _plain(cause)))
    named = {cause for _, cause in labels}
    causes = (*(cause for cause in CAUSES if cause in named), *sorted(named - set(CAUSES)))
    placed = (replace(label, value=causes.index(cause)) for label, cause in labels)
    return CauseLabels(str(path), tuple(placed), causes)


def _plain(cause: str) -> str:
    """A cause in lower case with single blanks, so that its spellings are equal."""
    return " ".join(cause.replace("_", " ").replace("-", " ").casefold().split())
