"""Records for others: Every Eval Ever (evalevalai.com), and the Hub's community evaluations.

Every Eval Ever has one JSON file per run and model (schema 0.3.0), with one result per benchmark
and metric. If answers may be published, a second file has a line per judged item and metric for
which the native score is right or wrong: the schema requires that, and a rank does not tell. To the
schema a contest is just one more evaluation: the underlying results, ranges of ranks, the cost of
elimination and the proof of a merged ranking are in the details, as texts.

Entries for `.eval_results/` are one file per model, benchmark, protocol and judge, each for the
model's repository (or a proposal to it); a newer run replaces an older one. The value is the
normalized Borda score, never a rank, and the notes name the pool, on which the score depends.
"""

import hashlib
import json
import math
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.analysis.standing import Placed
from tiebreak.candidates import Candidate, CandidatePool, Item
from tiebreak.publish.contests import CSD, Contest, contest_rows, score_rows
from tiebreak.publish.facts import developer_and_name, model_id
from tiebreak.publish.runs import Run
from tiebreak.report.figures.canvas import slug
from tiebreak.report.json import json_ready
from tiebreak.text import count

Json = dict[str, Any]

SCHEMA_VERSION: Final = "0.3.0"
NATIVE_SCORE: Final = "tiebreak.native_score"
COLLECTION: Final = "tiebreak"
# The log does not tell who operates an endpoint, nor whether weights are available.
_UNKNOWN: Final = {"deployment_type": "unknown", "model_availability": "unknown"}


def records(run: Run, *, organization: str, pool: CandidatePool | None = None) -> dict[str, bytes]:
    """The files of one run, by path: `data/tiebreak/DEVELOPER/MODEL/UUID.json` and its samples.

    The same run gives the same bytes; UUIDs are derived from run and model. `organization` is the
    publisher; with a pool of judged answers there are lines per item. Without a score there is no
    file.
    """
    written: dict[str, bytes] = {}
    for model in dict.fromkeys(row.model for board in run.boards for row in board.rows):
        results = [
            result
            for board in run.boards
            for row in board.rows
            if row.model == model
            for result in _board_results(run, board, row)
        ]
        if not results:
            continue
        record = _run_record(run, model, organization, results)
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


def _run_record(run: Run, model: str, organization: str, results: list[Json]) -> Json:
    created = str(round(datetime.fromisoformat(run.created).timestamp()))
    tiebreak = sorted({fact.tiebreak_version or "unknown" for fact in run.facts})
    inspect = sorted({fact.inspect_version or "unknown" for fact in run.facts})
    return _record(
        run.run_id,
        model,
        # The time of writing must not change the bytes; nothing was retrieved from anywhere.
        {"evaluation_timestamp": created, "retrieved_timestamp": created},
        {
            "source_name": "Tiebreak ranking log",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
            "additional_details": {
                "run_id": run.run_id,
                "log_sha256": " ".join(fact.sha256 for fact in run.facts),
            },
        },
        {
            "name": "tiebreak",
            "version": ", ".join(tiebreak),
            "additional_details": {"inspect_ai": ", ".join(inspect)},
        },
        results,
    )


def _record(
    name: str, model: str, times: Json, source: Json, library: Json, results: list[Json]
) -> Json:
    created = times["retrieved_timestamp"]
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"tiebreak_{name}/{model_id(model)}/{created}",
        **times,
        "source_metadata": source,
        "eval_library": library,
        "model_info": model_info(model),
        "evaluation_results": results,
    }


def _result(
    result_id: str, title: str, config: Json, score: Json, source: Json | None = None
) -> Json:
    """One result about a model: how to interpret it, and the number itself."""
    return {
        "evaluation_result_id": result_id,
        "evaluation_name": title,
        "source_data": {"dataset_name": title, "source_type": "other", **(source or {})},
        "metric_config": config,
        "score_details": score,
    }


def _range(low: float, high: float) -> Json:
    return {"score_type": "continuous", "min_score": low, "max_score": high}


def model_info(model: str) -> Json:
    """What is known about a model: its name."""
    info: Json = {"name": model, "id": model_id(model), "additional_details": dict(_UNKNOWN)}
    # For a name without a developer this field determines the folder.
    return info if "/" in info["id"] else {**info, "developer": developer_and_name(model)[0]}


def _board_results(run: Run, board: Leaderboard, row: LeaderboardRow) -> Iterator[Json]:
    """Results of a model on a benchmark; undefined numbers are left out."""
    pool = f"relative to this pool of {len(board.rows)} models"
    share = "all stars" if board.rule.judges_one else "the other models that a model leaves behind"
    if board.rule.reviewed:
        yield from _consensus_ranks(run, board, row.model, pool)
    if not math.isnan(row.borda):
        yield _measured(
            run,
            board,
            _borda_of(board),
            "Normalized Borda score",
            f"Mean share of {share}, {pool}.",
            row.borda,
            board.n_items,
            interval=row,
            bounds=(0.0, 1.0),
        )
    if not math.isnan(row.native):
        yield _measured(
            run,
            board,
            NATIVE_SCORE,
            "Native score",
            "The benchmark's own metric, as the harness gave it, over judged items.",
            row.native,
            row.native_n,
        )


def _consensus_ranks(run: Run, board: Leaderboard, model: str, pool: str) -> Iterator[Json]:
    for review in run.reviews:
        method = review.ranking.methods[0]
        for row in review.ranking.rows:
            if review.panel.benchmark == board.benchmark and row.model == model and row.n_items:
                yield _measured(
                    run,
                    board,
                    _consensus_of(method),
                    "Mean consensus rank",
                    f"Mean place in the reviewers' consensus by {method}, {pool}.",
                    row.mean_rank,
                    row.n_items,
                    interval=row,
                    bounds=(1.0, float(len(review.ranking.rows))),
                    lower_is_better=True,
                )


def _measured(
    run: Run,
    board: Leaderboard,
    metric: str,
    name: str,
    description: str,
    score: float,
    n: int,
    *,
    interval: Placed | None = None,
    bounds: tuple[float, float] | None = None,
    lower_is_better: bool = False,
) -> Json:
    """The result of a metric over `n` items; judged metrics have `bounds` and name the judges."""
    config: Json = {
        "evaluation_description": description,
        "metric_id": metric,
        "metric_name": name,
        "lower_is_better": lower_is_better,
        "additional_details": {
            "protocol": board.protocol,
            "pool": ", ".join(row.model for row in board.rows),
        },
    }
    if bounds is not None:
        config |= _range(*bounds)
        if scoring := _scoring(run, board):
            config["llm_scoring"] = scoring
    uncertainty: Json = {"num_samples": n}
    if interval is not None and not math.isnan(interval.lower):
        uncertainty = {
            "confidence_interval": {
                "lower": interval.lower,
                "upper": interval.upper,
                "confidence_level": board.level,
                "method": f"expanded percentile bootstrap over items, seed {board.seed}",
            },
            "num_samples": n,
            "num_bootstrap_samples": board.draws,
        }
    details = {"score": score, "uncertainty": uncertainty}
    return _result(f"{board.benchmark}/{metric}", board.benchmark, config, details)


def _scoring(run: Run, board: Leaderboard) -> Json | None:
    """The judges and their prompt; None without a judge."""
    kind = board.rule.asks
    if kind is None or not board.judges or board.raters:
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
    """A line per judged item and metric, if the native score is right (1) or wrong (0)."""
    answers = {
        (item.benchmark, item.item_id, item.input_hash): (item, candidates[model])
        for item, candidates in pool
        if model in candidates
    }
    results = {result["evaluation_result_id"]: result for result in record["evaluation_results"]}
    for board in run.boards:
        ranked = [item for item in run.log.ranked if item.ballots.benchmark == board.benchmark]
        table = ItemTable.of(ranked)
        if model not in table.models:
            continue
        column = table.models.index(model)
        for row, (ballots, placement) in enumerate(ranked):
            answer = answers.get((ballots.benchmark, ballots.item_id, ballots.input_hash))
            native = float(table.native[row, column])
            if answer is None or native not in (0.0, 1.0):
                continue
            borda = placement.borda.get(model, math.nan)
            for metric, score in ((NATIVE_SCORE, native), (_borda_of(board), borda)):
                result = results.get(f"{board.benchmark}/{metric}")
                if result is not None and not math.isnan(score):
                    yield _sample(record, result, *answer, score, native == 1.0)


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
    return f"{board.protocol}.normalized_borda"


def _consensus_of(method: str) -> str:
    return f"{method.removesuffix('_young')}.consensus_rank"


def stem_of(run_id: str, model: str) -> str:
    """Path of a model's record without suffix; equal for the same run and model."""
    digest = hashlib.sha256(f"{run_id}\n{model}".encode("utf-8", "surrogatepass")).digest()
    name = uuid.UUID(bytes=digest[:16], version=4)
    return f"data/{COLLECTION}/{'/'.join(developer_and_name(model))}/{name}"


def dumps(data: Json, indent: int | None = None) -> str:
    """A record, or a line of one, as JSON."""
    return json.dumps(data, indent=indent, allow_nan=False)


EXPECTED_WINS: Final = "csd.expected_win_score"


def contest_records(contest: Contest, *, organization: str) -> dict[str, bytes]:
    """The files of a contest by path: `data/tiebreak/DEVELOPER/MODEL/UUID.json`.

    The same contest gives the same bytes as long as its score files are not modified: the schema
    requires a time, and a contest has only that of its files.
    """
    sources = [path for path in map(Path, contest.sources) if path.exists()]
    created = max((path.stat().st_mtime for path in sources), default=time.time())
    results: dict[str, list[Json]] = {model: [] for model in contest.table.models}
    for row in json_ready(score_rows(contest)):
        if row["score"] is not None:
            results[row["model"]].append(_score(row))
    for row in json_ready(contest_rows(contest)):
        make = _wins if row["method"] == CSD else _place
        results[row["model"]].append(make(contest, row))
    source = {
        "source_name": "Tiebreak contest over a table of scores",
        # Only the aggregates of these scores are known here.
        "source_type": "documentation",
        "source_organization_name": organization,
        "evaluator_relationship": "other",
        "additional_details": {"contest_id": contest.contest_id},
    }
    library = {"name": "tiebreak", "version": version("tiebreak")}
    times = {"retrieved_timestamp": str(round(created))}
    written = {
        model: _record(contest.contest_id, model, times, source, library, results[model])
        for model in results
    }
    return {
        f"{stem_of(contest.contest_id, model)}.json": f"{dumps(record, indent=2)}\n".encode()
        for model, record in written.items()
    }


def _score(row: Mapping[str, Any]) -> Json:
    error = row["standard_error"]
    config = {
        "evaluation_description": "The score in the table that models are ranked by: higher "
        "is better, and a metric that is better when lower has a minus sign.",
        "metric_id": NATIVE_SCORE,
        "metric_name": "Native score",
        "lower_is_better": False,
    }
    details: Json = {"score": row["score"]}
    if error is not None:
        details["uncertainty"] = {"standard_error": {"value": error}}
    return _result(f"{row['benchmark']}/{NATIVE_SCORE}", row["benchmark"], config, details)


def _wins(contest: Contest, row: Mapping[str, Any]) -> Json:
    out = ", ".join(map(str, row["eliminate_by_round"]))
    config = {
        "evaluation_description": "Expected wins in a Swiss-system contest whose rounds are "
        f"benchmarks, {_pool(contest)}.",
        "metric_id": EXPECTED_WINS,
        "metric_name": "Expected win score",
        "metric_parameters": {"eliminate": out, **_of(row, "iterations", "seed", "missing")},
        "lower_is_better": False,
        **_range(0.0, float(len(contest.report.rounds))),
    }
    details = {"score": row["value"], "details": _texts(row, *_DETAILS)}
    items = contest.report.items
    if row.get("lower") is not None and items is not None:
        interval = {
            **_of(row, "lower", "upper"),
            "confidence_level": items.level,
            "method": f"contests over {items.draws} tables of what the true scores may be",
        }
        details["uncertainty"] = {"confidence_interval": interval}
    elif row["standard_error"] is not None:
        error = {
            "value": row["standard_error"],
            "method": "Monte Carlo error of the simulation; other items and benchmarks are not in "
            "it",
        }
        details["uncertainty"] = {"standard_error": error, "num_samples": row["iterations"]}
    t = row["eliminate"] if row["eliminate"] is not None else out
    return _aggregate(contest, f"{EXPECTED_WINS}@T={t}", config, details)


_DETAILS: Final = (
    *("rank", "standard_error", "simulation_rank_lower", "simulation_rank_upper"),
    *("rank_lower", "rank_upper", "slope", "label"),
)


def _place(contest: Contest, row: Mapping[str, Any]) -> Json:
    metric = _consensus_of(row["method"])
    config = {
        "evaluation_description": f"Place in the consensus of the benchmarks by {row['method']}, "
        f"{_pool(contest)}.",
        "metric_id": metric,
        "metric_name": "Consensus rank",
        "lower_is_better": True,
        **_range(1.0, float(len(contest.report.models))),
    }
    details = _texts(row, "value", "n", "cost", "optimal", "unique")
    return _aggregate(contest, metric, config, {"score": float(row["rank"]), "details": details})


def _aggregate(contest: Contest, name: str, config: Json, details: Json) -> Json:
    """A result over benchmarks; the contest's id distinguishes it from other contests' results."""
    rounds = " → ".join(" + ".join(names) for names in contest.report.rounds)
    pool = {"pool": ", ".join(contest.report.models), "rounds": rounds}
    return _result(
        f"{contest.contest_id}/{name}",
        f"{count(len(contest.played), 'benchmark')} ({contest.contest_id})",
        {**config, "additional_details": pool},
        details,
        {"additional_details": {"benchmarks": ", ".join(contest.played)}},
    )


def _pool(contest: Contest) -> str:
    return f"relative to this pool of {count(len(contest.report.models), 'model')}"


def _of(row: Mapping[str, Any], *names: str) -> Json:
    return {name: row[name] for name in names}


def _texts(row: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: str(row[name]) for name in names if row.get(name) is not None}


FOLDER: Final = ".eval_results"
_T = TypeVar("_T")


class _Dumper(yaml.SafeDumper):
    """Writes a date as quoted text, because YAML's readers convert unquoted dates."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')


_Dumper.add_representer(str, _text)


def entries(runs: Iterable[Run], repo_id: str) -> dict[str, bytes]:
    """The files of runs, oldest first, by path: `DEVELOPER/MODEL/.eval_results/NAME.yaml`.

    `repo_id` is the dataset with the leaderboard, as OWNER/NAME. The Hub shows its scores as a
    benchmark's once it is registered as one (a file `eval.yaml`).
    """
    scored = [
        (run, board, row)
        for run in runs
        for board in run.boards
        for row in board.rows
        if not math.isnan(row.borda)
    ]
    folders = _distinct(
        {row.model: "/".join(developer_and_name(row.model)) for _, _, row in scored}
    )
    tasks = _distinct({_task(board): slug(*_task(board)) for _, board, _ in scored})
    return {
        f"{folders[row.model]}/{FOLDER}/tiebreak-{tasks[_task(board)]}.yaml": _file(
            run, board, row, repo_id, tasks[_task(board)]
        )
        for run, board, row in scored
    }


def _task(board: Leaderboard) -> tuple[str, ...]:
    """Scores by different judges are not comparable, so they are different tasks."""
    return (board.benchmark, board.protocol, *board.judges)


def _distinct(names: Mapping[_T, str]) -> dict[_T, str]:
    """Unique names for files; shared ones, ignoring case, end in a hash of what they name."""
    shared = Counter(name.casefold() for name in names.values())
    return {
        key: name if shared[name.casefold()] == 1 else f"{name}-{_hash(key)}"
        for key, name in names.items()
    }


def _hash(key: object) -> str:
    return hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).hexdigest()[:8]


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
    pool = ", ".join(rival.model for rival in board.rows if rival is not row)
    judges = ", ".join(board.judges) or "no judge"
    interval = ""
    if not math.isnan(row.lower):
        interval = f", {board.level * 100:g}% interval {row.lower:.3f} to {row.upper:.3f}"
    return (
        f"Normalized Borda score (0 to 1{interval}) over {count(board.n_items, 'item')} by "
        f"{board.protocol}, judged by {judges}. It is relative to a pool of {len(board.rows)} "
        f"models; the others: {pool}"
    )
