"""Records for others: Every Eval Ever (evalevalai.com), and the Hub's community evaluations.

Every Eval Ever has one JSON file per run and model (schema 0.3.0), with one result per benchmark
and metric. Where the answers may leave, a second file has a line per judged item and metric, where
the native score says right or wrong: the schema asks for that, which a rank does not tell. It knows
a contest over benchmarks only as one more evaluation: which results it was made of, ranges of
ranks, what elimination costs and what is proven of a merged ranking stand in the details, as texts.

Entries for `.eval_results/` are one file per model, benchmark, protocol and judge, each to be put
into the model's repository (or proposed to it); a newer run takes the place of an older one. The
value is the normalized Borda score, never a rank, and the notes name the pool: with other models
beside it the same model has another score.
"""

import hashlib
import json
import math
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.candidates import Candidate, CandidatePool, Item
from tiebreak.publish.contests import CSD, Contest, contest_rows, score_rows
from tiebreak.publish.facts import flattened, model_id
from tiebreak.publish.runs import Run
from tiebreak.report.figures.canvas import slug
from tiebreak.report.json import json_ready
from tiebreak.text import count

Json = dict[str, Any]

SCHEMA_VERSION: Final = "0.3.0"
NATIVE_SCORE: Final = "tiebreak.native_score"
COLLECTION: Final = "tiebreak"
# The log does not know who controls an endpoint, nor whether weights are available.
_UNKNOWN: Final = {"deployment_type": "unknown", "model_availability": "unknown"}


@dataclass(frozen=True, slots=True)
class _Metric:
    """One number about a model on a benchmark, with its interval in the same unit."""

    id: str
    name: str
    description: str
    score: float
    n: int
    lower: float = math.nan
    upper: float = math.nan
    bounds: tuple[float, float] | None = None
    lower_is_better: bool = False
    judged: bool = True


def records(run: Run, *, organization: str, pool: CandidatePool | None = None) -> dict[str, bytes]:
    """The files of one run, by path: `data/tiebreak/DEVELOPER/MODEL/UUID.json` and its samples.

    The same run gives the same bytes; UUIDs are made from the run and the model. The organisation
    is who publishes; with the pool of the judged answers there are lines per item. There is no file
    where no model has a score.
    """
    written: dict[str, bytes] = {}
    for model in dict.fromkeys(row.model for board in run.boards for row in board.rows):
        results = [
            _result(run, board, metric)
            for board in run.boards
            for row in board.rows
            if row.model == model
            for metric in _metrics(run, board, row)
        ]
        if not results:
            continue
        record = _record(run, model, organization, results)
        stem = stem_of(run.run_id, model)
        if pool is not None and (lines := list(_sample_lines(run, record, model, pool))):
            samples = "".join(f"{dumps(line)}\n" for line in lines).encode()
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"{stem}_samples.jsonl",
                "hash_algorithm": "sha256",
                "checksum": hashlib.sha256(samples).hexdigest(),
                "total_rows": len(lines),
            }
            written[f"{stem}_samples.jsonl"] = samples
        written[f"{stem}.json"] = f"{dumps(record, indent=2)}\n".encode()
    return written


def _record(run: Run, model: str, organization: str, results: list[Json]) -> Json:
    created = str(round(datetime.fromisoformat(run.created).timestamp()))
    tiebreak = sorted({fact.tiebreak_version or "unknown" for fact in run.facts})
    inspect = sorted({fact.inspect_version or "unknown" for fact in run.facts})
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"tiebreak_{run.run_id}/{model_id(model)}/{created}",
        "evaluation_timestamp": created,
        # When this was written must not change the bytes; nothing was retrieved from anywhere.
        "retrieved_timestamp": created,
        "source_metadata": {
            "source_name": "Tiebreak ranking log",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
            "additional_details": {
                "run_id": run.run_id,
                "log_sha256": " ".join(fact.sha256 for fact in run.facts),
            },
        },
        "eval_library": {
            "name": "tiebreak",
            "version": ", ".join(tiebreak),
            "additional_details": {"inspect_ai": ", ".join(inspect)},
        },
        "model_info": model_info(model),
        "evaluation_results": results,
    }


def model_info(model: str) -> Json:
    """What is known of a model: its name."""
    info: Json = {"name": model, "id": model_id(model), "additional_details": dict(_UNKNOWN)}
    # The folder of a name without a developer in front is named by this field.
    return info if "/" in info["id"] else {**info, "developer": flattened(model)[0]}


def _metrics(run: Run, board: Leaderboard, row: LeaderboardRow) -> Iterator[_Metric]:
    """What is known about a model on a benchmark; a number that is undefined is left out."""
    pool = f"relative to this pool of {len(board.rows)} models"
    if board.rule.reviewed:
        yield from _consensus_ranks(run, board, row.model, pool)
    if not math.isnan(row.borda):
        yield _Metric(
            id=_borda_of(board),
            name="Normalized Borda score",
            description=f"Mean share of the other models that a model leaves behind, {pool}.",
            score=row.borda,
            lower=row.lower,
            upper=row.upper,
            n=board.n_items,
            bounds=(0.0, 1.0),
        )
    if not math.isnan(row.native):
        yield _Metric(
            id=NATIVE_SCORE,
            name="Native score",
            description="The benchmark's own metric, as the harness gave it, over judged items.",
            score=row.native,
            n=row.native_n,
            judged=False,
        )


def _consensus_ranks(run: Run, board: Leaderboard, model: str, pool: str) -> Iterator[_Metric]:
    """The mean place of a model in the consensus of the reviewers."""
    for review in run.reviews:
        method = review.ranking.methods[0]
        for row in review.ranking.rows:
            if review.panel.benchmark == board.benchmark and row.model == model and row.n_items:
                yield _Metric(
                    id=f"{method.removesuffix('_young')}.consensus_rank",
                    name="Mean consensus rank",
                    description=f"Mean place in the reviewers' consensus by {method}, {pool}.",
                    score=row.mean_rank,
                    lower=row.lower,
                    upper=row.upper,
                    n=row.n_items,
                    bounds=(1.0, float(len(review.ranking.rows))),
                    lower_is_better=True,
                )


def _result(run: Run, board: Leaderboard, metric: _Metric) -> Json:
    config: Json = {
        "evaluation_description": metric.description,
        "metric_id": metric.id,
        "metric_name": metric.name,
        "lower_is_better": metric.lower_is_better,
        "additional_details": {
            "protocol": board.protocol,
            "pool": ", ".join(row.model for row in board.rows),
        },
    }
    if metric.bounds is not None:
        low, high = metric.bounds
        config |= {"score_type": "continuous", "min_score": low, "max_score": high}
    if metric.judged and (scoring := _scoring(run, board)):
        config["llm_scoring"] = scoring
    return {
        "evaluation_result_id": result_id(board.benchmark, metric.id),
        "evaluation_name": board.benchmark,
        "source_data": {"dataset_name": board.benchmark, "source_type": "other"},
        "metric_config": config,
        "score_details": {"score": metric.score, "uncertainty": _uncertainty(board, metric)},
    }


def _uncertainty(board: Leaderboard, metric: _Metric) -> Json:
    if math.isnan(metric.lower):
        return {"num_samples": metric.n}
    return {
        "confidence_interval": {
            "lower": metric.lower,
            "upper": metric.upper,
            "confidence_level": board.level,
            "method": f"expanded percentile bootstrap over items, seed {board.seed}",
        },
        "num_samples": metric.n,
        "num_bootstrap_samples": board.draws,
    }


def _scoring(run: Run, board: Leaderboard) -> Json | None:
    """Who judged and by which prompt; None without a judge."""
    kind = board.rule.asks
    if kind is None or not board.judges:
        return None
    role = "peers" if board.rule.reviewed else "judge"
    judges: list[Json] = [
        {
            "model_info": model_info(fact.model),
            **{k: v for k, v in fact.settings.items() if k == "temperature"},
            "additional_details": {
                "role": fact.role,
                **{name: str(value) for name, value in fact.settings.items()},
            },
        }
        for fact in run.roles
        if fact.role == role
    ]
    judges = judges or [{"model_info": model_info(judge)} for judge in board.judges]
    return {"judges": judges, "input_prompt": _prompt(kind)}


def _prompt(kind: str) -> str:
    folder = files("tiebreak.scorers") / "prompts"
    parts = [(folder / f"{kind}.{part}.md").read_text("utf-8") for part in ("system", "user")]
    return "\n\n".join(part.strip() for part in parts)


def _sample_lines(run: Run, record: Json, model: str, pool: CandidatePool) -> Iterator[Json]:
    """A line per judged item and metric, where the native score says right (1) or wrong (0)."""
    answers = {
        (item.benchmark, item.item_id, item.input_hash): (item, candidates[model])
        for item, candidates in pool
        if model in candidates
    }
    named = {result["evaluation_result_id"]: result for result in record["evaluation_results"]}
    for board in run.boards:
        ranked = [one for one in run.log.ranked if one.ballots.benchmark == board.benchmark]
        table = ItemTable.of(ranked)
        if model not in table.models:
            continue
        column = table.models.index(model)
        for row, (ballots, placement) in enumerate(ranked):
            found = answers.get((ballots.benchmark, ballots.item_id, ballots.input_hash))
            native = float(table.native[row, column])
            if found is None or native not in (0.0, 1.0):
                continue
            scores: Mapping[str, float] = {
                result_id(board.benchmark, NATIVE_SCORE): native,
                result_id(board.benchmark, _borda_of(board)): placement.borda.get(model, math.nan),
            }
            for name, score in scores.items():
                if name in named and not math.isnan(score):
                    yield _sample(record, named[name], *found, score, native == 1.0)


def _sample(
    record: Json, result: Json, item: Item, candidate: Candidate, score: float, correct: bool
) -> Json:
    source = item.prompt + item.target
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": record["evaluation_id"],
        "model_id": record["model_info"]["id"],
        "evaluation_name": result["evaluation_name"],
        "evaluation_result_id": result["evaluation_result_id"],
        "sample_id": item.item_id,
        "sample_hash": hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest(),
        "interaction_type": "single_turn",
        "input": {
            "raw": item.prompt,
            "reference": [item.target],
            **({"choices": list(item.choices)} if item.choices else {}),
        },
        "output": {"raw": [candidate.answer]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": candidate.answer,
                "extraction_method": candidate.native_metric or "custom",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": score, "is_correct": correct},
        "metadata": {"input_hash": item.input_hash},
    }


def _borda_of(board: Leaderboard) -> str:
    """The id of the metric by which a leaderboard ranks."""
    return f"{board.protocol}.normalized_borda"


def result_id(benchmark: str, metric: str) -> str:
    """What a record's result and the lines behind it have in common."""
    return f"{benchmark}/{metric}"


def stem_of(run_id: str, model: str) -> str:
    """Path of a model's record without its suffix; the same for the same run and model."""
    digest = hashlib.sha256(f"{run_id}\n{model}".encode("utf-8", "surrogatepass")).digest()
    name = uuid.UUID(bytes=digest[:16], version=4)
    return f"data/{COLLECTION}/{'/'.join(flattened(model))}/{name}"


def dumps(data: Json, indent: int | None = None) -> str:
    """A record, or a line of one, as JSON."""
    return json.dumps(data, indent=indent, allow_nan=False)


EXPECTED_WINS: Final = "csd.expected_win_score"


def contest_records(contest: Contest, *, organization: str) -> dict[str, bytes]:
    """The files of a contest by path: `data/tiebreak/DEVELOPER/MODEL/UUID.json`.

    The same contest gives the same bytes as long as its files of scores lie untouched: the schema
    wants a time, and a contest has no other.
    """
    created = str(round(_newest(contest)))
    results: dict[str, list[Json]] = {model: [] for model in contest.table.models}
    for row in json_ready(score_rows(contest)):
        if row["score"] is not None:
            results[row["model"]].append(_score(row))
    for row in json_ready(contest_rows(contest)):
        make = _wins if row["method"] == CSD else _place
        results[row["model"]].append(make(contest, row))
    return {
        f"{stem_of(contest.contest_id, model)}.json": (
            dumps(_contest_record(contest, model, organization, created, own), indent=2) + "\n"
        ).encode()
        for model, own in results.items()
    }


def _newest(contest: Contest) -> float:
    """When the newest file of scores was written, in seconds since 1970; without one: now."""
    files = [path for path in map(Path, contest.sources) if path.exists()]
    return max((path.stat().st_mtime for path in files), default=time.time())


def _contest_record(
    contest: Contest, model: str, organization: str, created: str, results: list[Json]
) -> Json:
    name = contest.contest_id
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"tiebreak_{name}/{model_id(model)}/{created}",
        "retrieved_timestamp": created,
        "source_metadata": {
            "source_name": "Tiebreak contest over a table of scores",
            # Of these scores only the aggregates are known here.
            "source_type": "documentation",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
            "additional_details": {"contest_id": name},
        },
        "eval_library": {"name": "tiebreak", "version": version("tiebreak")},
        "model_info": model_info(model),
        "evaluation_results": results,
    }


def _score(row: Mapping[str, Any]) -> Json:
    error = row["standard_error"]
    return {
        "evaluation_result_id": result_id(row["benchmark"], NATIVE_SCORE),
        "evaluation_name": row["benchmark"],
        "source_data": {"dataset_name": row["benchmark"], "source_type": "other"},
        "metric_config": {
            "evaluation_description": "The score in the table that models are ranked by: higher "
            "is better, and a metric that is better when lower has a minus sign.",
            "metric_id": NATIVE_SCORE,
            "metric_name": "Native score",
            "lower_is_better": False,
        },
        "score_details": {
            "score": row["score"],
            **({} if error is None else {"uncertainty": {"standard_error": {"value": error}}}),
        },
    }


def _wins(contest: Contest, row: Mapping[str, Any]) -> Json:
    out = ", ".join(map(str, row["eliminate_by_round"]))
    return _aggregate(
        contest,
        f"{EXPECTED_WINS}@T={row['eliminate'] if row['eliminate'] is not None else out}",
        {
            "evaluation_description": "Expected wins in a Swiss-system contest whose rounds are "
            f"benchmarks, {_pool(contest)}.",
            "metric_id": EXPECTED_WINS,
            "metric_name": "Expected win score",
            "metric_parameters": {
                "eliminate": out,
                **{name: row[name] for name in ("iterations", "seed", "missing")},
            },
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": float(len(contest.report.rounds)),
        },
        {
            "score": row["value"],
            "details": _details(row, "rank", "standard_error", *_RANKS, "slope", "label"),
            **_contest_uncertainty(contest, row),
        },
    )


_RANKS: Final = ("simulation_rank_lower", "simulation_rank_upper", "rank_lower", "rank_upper")


def _contest_uncertainty(contest: Contest, row: Mapping[str, Any]) -> Json:
    items = contest.report.items
    if row.get("lower") is not None and items is not None:
        interval = {
            **{name: row[name] for name in ("lower", "upper")},
            "confidence_level": items.level,
            "method": f"contests over {items.draws} tables of what the true scores may be",
        }
        return {"uncertainty": {"confidence_interval": interval}}
    if row["standard_error"] is None:
        return {}
    error = {
        "value": row["standard_error"],
        "method": "Monte Carlo error of the simulation; other items and benchmarks are not in it",
    }
    return {"uncertainty": {"standard_error": error, "num_samples": row["iterations"]}}


def _place(contest: Contest, row: Mapping[str, Any]) -> Json:
    method = row["method"]
    metric = f"{method.removesuffix('_young')}.consensus_rank"
    return _aggregate(
        contest,
        metric,
        {
            "evaluation_description": f"Place in the consensus of the benchmarks by {method}, "
            f"{_pool(contest)}.",
            "metric_id": metric,
            "metric_name": "Consensus rank",
            "lower_is_better": True,
            "score_type": "continuous",
            "min_score": 1.0,
            "max_score": float(len(contest.report.models)),
        },
        {
            "score": float(row["rank"]),
            "details": _details(row, "value", "n", "cost", "optimal", "unique"),
        },
    )


def _aggregate(contest: Contest, name: str, config: Json, details: Json) -> Json:
    """A result over benchmarks; the contest's id keeps it apart from those over others."""
    title = f"{count(len(contest.played), 'benchmark')} ({contest.contest_id})"
    rounds = " → ".join(" + ".join(one) for one in contest.report.rounds)
    named = {"pool": ", ".join(contest.report.models), "rounds": rounds}
    return {
        "evaluation_result_id": result_id(contest.contest_id, name),
        "evaluation_name": title,
        "source_data": {
            "dataset_name": title,
            "source_type": "other",
            "additional_details": {"benchmarks": ", ".join(contest.played)},
        },
        "metric_config": {**config, "additional_details": named},
        "score_details": details,
    }


def _pool(contest: Contest) -> str:
    return f"relative to this pool of {count(len(contest.report.models), 'model')}"


def _details(row: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: str(row[name]) for name in names if row.get(name) is not None}


FOLDER: Final = ".eval_results"
_T = TypeVar("_T")


class _Dumper(yaml.SafeDumper):
    """Writes a date as text: unquoted, YAML's readers make something else of it."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')


_Dumper.add_representer(str, _text)


def entries(runs: Iterable[Run], repo_id: str) -> dict[str, bytes]:
    """The files of some runs, the oldest first, by path: `DEVELOPER/MODEL/.eval_results/NAME.yaml`.

    `repo_id` is the dataset that holds the leaderboard, as OWNER/NAME. On the Hub its scores are
    shown as a benchmark's once it is registered as one (a file `eval.yaml`).
    """
    found = [
        (run, board, row)
        for run in runs
        for board in run.boards
        for row in board.rows
        if not math.isnan(row.borda)
    ]
    folders = _distinct({row.model: "/".join(flattened(row.model)) for _, _, row in found})
    tasks = _distinct({_task(board): slug(*_task(board)) for _, board, _ in found})
    return {
        f"{folders[row.model]}/{FOLDER}/tiebreak-{tasks[_task(board)]}.yaml": _file(
            run, board, row, repo_id, tasks[_task(board)]
        )
        for run, board, row in found
    }


def _task(board: Leaderboard) -> tuple[str, ...]:
    """Scores of another judge are not to be compared with these: they are another task."""
    return (board.benchmark, board.protocol, *board.judges)


def _distinct(names: Mapping[_T, str]) -> dict[_T, str]:
    """Names for files; those that several have, on any system, end in a hash of what they name."""
    shared = Counter(name.casefold() for name in names.values())
    return {
        what: name if shared[name.casefold()] == 1 else f"{name}-{_hash(what)}"
        for what, name in names.items()
    }


def _hash(what: object) -> str:
    return hashlib.sha256(repr(what).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _file(run: Run, board: Leaderboard, row: LeaderboardRow, repo_id: str, task: str) -> bytes:
    entry = EvalResultEntry(
        dataset_id=repo_id,
        task_id=task,
        value=row.borda,
        date=run.created,
        source_url=f"https://huggingface.co/datasets/{repo_id}",
        source_name="Tiebreak",
        notes=_notes(board, row),
    )
    data: list[dict[str, Any]] = eval_result_entries_to_yaml([entry])
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100).encode()


def _notes(board: Leaderboard, row: LeaderboardRow) -> str:
    others = ", ".join(one.model for one in board.rows if one is not row)
    judges = ", ".join(board.judges) or "no judge"
    interval = ""
    if not math.isnan(row.lower):
        interval = f", {board.level * 100:g}% interval {row.lower:.3f} to {row.upper:.3f}"
    return (
        f"Normalized Borda score (0 to 1{interval}) over {count(board.n_items, 'item')} by "
        f"{board.protocol}, judged by {judges}. It is relative to a pool of {len(board.rows)} "
        f"models; the others: {others}"
    )
