"""Lines per judged item for Every Eval Ever, beside a record of `every_eval_ever`.

The schema wants to know whether an answer is right, and a rank does not tell: so there is a line as
far as the native score says right or wrong.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.candidates import Candidate, CandidatePool, Item
from tiebreak.publish.runs import Run

Json = dict[str, Any]

SCHEMA_VERSION: Final = "0.3.0"
NATIVE_SCORE: Final = "tiebreak.native_score"


def borda_of(board: Leaderboard) -> str:
    """The id of the metric by which a leaderboard ranks."""
    return f"{board.protocol}.normalized_borda"


def result_id(benchmark: str, metric: str) -> str:
    """What a record's result and the lines behind it have in common."""
    return f"{benchmark}/{metric}"


def sample_lines(run: Run, record: Json, model: str, pool: CandidatePool) -> Iterator[Json]:
    """A line per judged item and metric, where the native score says right (1) or wrong (0).

    Args:
        run: what was judged.
        record: the model's record, with a result for every metric.
        model: the model.
        pool: the judged answers.
    """
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
        for row, (ballots, _) in enumerate(ranked):
            found = answers.get((ballots.benchmark, ballots.item_id, ballots.input_hash))
            native = float(table.native[row, column])
            if found is None or native not in (0.0, 1.0):
                continue
            scores: Mapping[str, float] = {
                result_id(board.benchmark, NATIVE_SCORE): native,
                result_id(board.benchmark, borda_of(board)): float(table.borda[row, column]),
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
