"""Settings in which models were asked differently, from ranking logs to boards."""

from pathlib import Path
from typing import Any

import pytest

from tests.analysis.stars import starred
from tests.ranking_logs.builders import bracket, write_log, write_shards
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.analysis.stars import star_report
from tiebreak.candidates import PROTOCOL_KEY
from tiebreak.candidates.settings import Different, Settings, different

INSPECT = {"harness": "inspect", "solver": "generate()", "temperature": "0.0"}
LM_EVAL = {"harness": "lm-eval", "shots": "5", "temperature": "0.0"}


WARM = {"temperature": "1.0"}
KNOWN: dict[str, tuple[Settings, Different]] = {
    "nobody": ({}, {}),
    "the same": ({"a": INSPECT, "b": dict(INSPECT)}, {}),
    "one": (
        {"c": INSPECT, "a": INSPECT | WARM, "b": INSPECT},
        {"temperature": {"1.0": ["a"], "0.0": ["b", "c"]}},
    ),
    "one unset": (
        {"a": INSPECT, "b": {"harness": "inspect", "solver": "react()"}},
        {
            "solver": {"generate()": ["a"], "react()": ["b"]},
            "temperature": {"0.0": ["a"], "": ["b"]},
        },
    ),
    # What one harness calls a setting says nothing of the other.
    "two harnesses": ({"a": INSPECT, "b": LM_EVAL}, {}),
    "within a harness": (
        {"a": INSPECT, "b": LM_EVAL, "c": LM_EVAL | {"shots": "0"}},
        {"shots": {"5": ["b"], "0": ["c"]}},
    ),
    "in both harnesses": (
        {"a": INSPECT, "b": LM_EVAL, "c": INSPECT | WARM, "d": LM_EVAL | WARM},
        {"temperature": {"0.0": ["a", "b"], "1.0": ["c", "d"]}},
    ),
    # A file that says nothing, such as an old pool, does not say that nothing was set.
    "an old pool": ({"a": LM_EVAL, "b": {}}, {}),
}


@pytest.mark.parametrize(("known", "differ"), KNOWN.values(), ids=KNOWN)
def test_settings_that_differ(known: Settings, differ: Different) -> None:
    assert different(known) == differ


TWO = {"a": INSPECT, "b": INSPECT, "c": INSPECT | {"temperature": "1.0"}}
DIFFER = {"temperature": {"0.0": ["a", "b"], "1.0": ["c"]}}


def said(settings: Any) -> dict[str, Any]:
    return {PROTOCOL_KEY: "seal", "candidate_settings": settings}


def test_a_board_has_those_of_its_benchmark(tmp_path: Path) -> None:
    items = [bracket("q1", "a", "b", "c", benchmark=name) for name in ("gsm8k", "mmlu", "law")]
    metadata = said({"gsm8k": TWO, "mmlu": {"a": INSPECT, "b": INSPECT, "c": INSPECT}})
    boards = leaderboards([write_log(tmp_path / "r.eval", items, metadata=metadata)])
    found = {board.benchmark: board.settings_differ for board in boards}
    assert found == {"gsm8k": DIFFER, "mmlu": {}, "law": {}}


@pytest.mark.parametrize(
    "settings",
    [None, [], "x", {"gsm8k": []}, {"gsm8k": {"a": "x"}}, {"gsm8k": {"a": {"x": {}}, "b": {}}}],
)
def test_a_log_that_says_it_otherwise_says_nothing(tmp_path: Path, settings: Any) -> None:
    path = write_log(tmp_path / "r.eval", [bracket("q1", "a", "b", "c")], metadata=said(settings))
    [board] = leaderboards([path])
    assert (board.settings_differ, board.n_items) == ({}, 1)


def test_shards_have_those_of_their_run(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log, write_eval_log

    for path in write_shards(tmp_path, [[bracket(f"q{n}", "a", "b", "c")] for n in range(2)]):
        log = read_eval_log(str(path))
        log.eval.metadata = {**(log.eval.metadata or {}), "candidate_settings": {"gsm8k": TWO}}
        write_eval_log(log, str(path))
    [board] = leaderboards([tmp_path])
    assert (board.settings_differ, board.n_items) == (DIFFER, 2)


def test_a_star_board_has_those_of_all_its_logs(tmp_path: Path) -> None:
    for name, models in {"1": "ab", "2": "bc"}.items():
        settings = {model: TWO[model] for model in models}
        items = [starred(f"q{k}", dict.fromkeys(models, k % 4), benchmark="fair") for k in range(3)]
        write_log(
            tmp_path / f"{name}.eval",
            items,
            metadata={PROTOCOL_KEY: "stars", "candidate_settings": {"fair": settings}},
            task_id=name,
        )
    [board] = star_report([tmp_path]).boards
    assert board.settings_differ == DIFFER
