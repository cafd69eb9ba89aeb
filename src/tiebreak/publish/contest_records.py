"""Records of a contest for Every Eval Ever: one JSON file per model (schema 0.3.0).

A record holds the model's score on each benchmark, its expected wins at each T, and its place in
the merged rankings. The schema knows an aggregate over benchmarks only as one more evaluation:
which results it was made of, ranges of ranks, what elimination costs and what is proven of a
merged ranking have no place of their own in it, and stand in the details, as texts.
"""

import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tiebreak.publish.contests import CSD, Contest, contest_rows, score_rows
from tiebreak.publish.every_eval_ever import (
    NATIVE_SCORE,
    SCHEMA_VERSION,
    Json,
    dumps,
    model_info,
    result_id,
    stem_of,
)
from tiebreak.publish.facts import model_id
from tiebreak.report.json import json_ready
from tiebreak.words import count

EXPECTED_WINS: Final = "csd.expected_win_score"


def contest_records(contest: Contest, *, organization: str) -> dict[str, bytes]:
    """The files by path: `data/tiebreak/DEVELOPER/MODEL/UUID.json`.

    The same contest gives the same bytes as long as its files of scores lie untouched: the
    schema wants a time, and a contest has no other.

    Args:
        contest: what was played.
        organization: who publishes, such as the owner of the dataset.
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
            dumps(_record(contest, model, organization, created, own), indent=2) + "\n"
        ).encode()
        for model, own in results.items()
    }


def _newest(contest: Contest) -> float:
    """When the newest file of scores was written, in seconds since 1970; without one: now."""
    files = [path for path in map(Path, contest.sources) if path.exists()]
    return max((path.stat().st_mtime for path in files), default=time.time())


def _record(
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
            **_uncertainty(contest, row),
        },
    )


_RANKS: Final = ("simulation_rank_lower", "simulation_rank_upper", "rank_lower", "rank_upper")


def _uncertainty(contest: Contest, row: Mapping[str, Any]) -> Json:
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
