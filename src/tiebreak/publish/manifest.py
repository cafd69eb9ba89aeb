"""The manifest of a run: which logs, which versions, who judged and how, what it cost."""

import hashlib
import json
from dataclasses import asdict
from typing import Any, Final

from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.publish.rows import of_board
from tiebreak.publish.runs import Run
from tiebreak.report.export import json_ready

FORMAT: Final = "tiebreak/run"
VERSION: Final = 1


def manifest(run: Run) -> dict[str, Any]:
    """What is said about a run as a whole, ready for JSON."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "run_id": run.run_id,
        "created": run.created,
        "protocol": run.log.protocol,
        "status": run.log.status,
        "n_expected": run.log.n_expected,
        "logs": [json_ready(asdict(fact)) for fact in run.facts],
        "benchmarks": [_benchmark(run, board) for board in run.boards],
    }


def as_json(data: dict[str, Any]) -> bytes:
    """Data as JSON that a person can read, always the same bytes."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, sort_keys=True)
    return (text + "\n").encode()


def _benchmark(run: Run, board: Leaderboard) -> dict[str, Any]:
    judged = of_board(run.judged, board)
    items = [one.ballots for one in judged]
    pool = sorted([item.item_id, item.input_hash, list(item.models)] for item in items)
    return {
        "benchmark": board.benchmark,
        "protocol": board.protocol,
        "judges": list(board.judges),
        "placed_by": board.placed_by,
        "n_ranked": board.n_items,
        "n_unranked": len(board.unranked),
        "settled": None if board.settled is None else json_ready(asdict(board.settled)),
        "rubrics": sorted({(item.rubric, item.task_type) for item in items}),
        "rubric_sha256": sorted({one.rubric for one in judged if one.rubric}),
        "pool": {
            "models": sorted({model for item in items for model in item.models}),
            "n_items": len({(item.item_id, item.input_hash) for item in items}),
            "sha256": hashlib.sha256(json.dumps(pool).encode()).hexdigest(),
        },
        "bootstrap": {"level": board.level, "draws": board.draws, "seed": board.seed},
        "position_bias": json_ready(asdict(board.bias)),
        "length_bias": json_ready(asdict(board.length)),
        "judge_replies": json_ready([asdict(one) for one in board.replies]),
        "receipt": json_ready(asdict(board.receipt)),
        "warnings": list(board.warnings),
    }
