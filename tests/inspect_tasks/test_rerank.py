"""Ranking with SEAL by real runs: arguments, resume, recomputation, what people see."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.event import InfoEvent, ModelEvent, SpanBeginEvent
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log, write_eval_log

from tests.candidates.builders import write_inspect_log, write_lm_eval_run
from tests.harness import run, run_here
from tests.inspect_tasks.runs import ballots_of, judge_in_process, metrics_of
from tiebreak.scorers.rubric import load_rubric

pytestmark = pytest.mark.slow

JUDGE = "planted/noise=0.3"


def rows(model: int, n: int = 6, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{i}",
            "question": f"What is {i} + 0?",
            "target": str(i),
            # The best model differs from item to item, but model 3 is best on average.
            "answer": f"It is {i}. quality={(model * 7 + i * 3) % 5 / 5 + model:.2f}",
            "native": 1.0,
            **more,
        }
        for i in range(n)
    ]


def write_logs(folder: Path) -> Path:
    """The logs of four models."""
    for model in range(4):
        write_inspect_log(folder / f"m{model}.eval", f"acme/model-{model}", rows(model))
    return folder


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return write_logs(tmp_path / "logs")


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such logs, and in `out` what a real `inspect eval` made of them."""
    folder = tmp_path_factory.mktemp("ranked")
    write_logs(folder / "logs")
    args = ("-T", "candidates=logs", "--model-role", f"judge={JUDGE}", "--log-dir", "out")
    cache = str(folder / "cache")
    run("inspect", "eval", "tiebreak/seal", *args, cwd=folder, INSPECT_CACHE_DIR=cache)
    return folder


def judged(folder: Path, candidates: Path, judge: str = JUDGE, **more: Any) -> EvalLog:
    """`inspect eval tiebreak/seal` in this process; the log as its file has it."""
    judge_in_process("seal", candidates, folder / "out", judge, **more)
    return only_log(folder / "out")


def only_log(folder: Path) -> EvalLog:
    [info] = list_eval_logs(str(folder))
    return read_eval_log(info, resolve_attachments=True)


def test_from_logs_to_leaderboard(ranked: Path) -> None:
    log = only_log(ranked / "out")
    assert log.status == "success"

    # Scores: the spread first, then mean and standard error of every model, the best first.
    [(name, found)] = metrics_of(log).items()
    models = [f"acme/model-{m}" for m in range(4)]
    best_first = sorted(models, key=lambda model: -found[model])
    assert name == "ranking"
    assert [*found] == [
        "spread",
        *best_first,
        *(f"stderr:{model}" for model in best_first),
        *(f"least_squares:{model}" for model in best_first),
    ]
    # The second view of the same matches, beside the placement's scores. Metrics have three digits.
    rounded = len(models) * 0.0005
    assert sum(found[f"least_squares:{m}"] for m in models) == pytest.approx(0, abs=rounded)
    assert found[models[3]] == max(found[m] for m in models)
    assert sum(found[m] for m in models) == pytest.approx(2.0, abs=rounded)
    assert all(found[f"stderr:{m}"] >= 0 for m in models)

    # The receipt knows the same calls as the transcript.
    for sample in log.samples or []:
        item = ballots_of(log)[str(sample.id)]
        events = [event for event in sample.events if event.event == "model"]
        assert len(events) == len(item.calls)
        assert sum(call.output_tokens for call in item.calls) == sum(
            event.output.usage.output_tokens for event in events if event.output.usage
        )
        assert not any(call.cached for call in item.calls)

    printed = run("tiebreak", "rank", "out", cwd=ranked).stdout
    assert printed.index("acme/model-3") < printed.index("acme/model-0")
    board = json.loads(run_here("tiebreak", "rank", "out", "--json", cwd=ranked))
    assert board["leaderboards"][0]["rows"][0]["model"] == "acme/model-3"

    # Ranking logs are no candidates: the same folder can be read again.
    audit = run_here("tiebreak", "candidates", "logs", "out", "--json", cwd=ranked)
    assert json.loads(audit)["benchmarks"][0]["n_items"] == 6


def test_the_bracket_can_be_read_in_the_viewer(logs: Path, tmp_path: Path) -> None:
    log = judged(tmp_path, logs, "planted/bias=2+malformed=0.8", swap="always")
    for sample in log.samples or []:
        item = ballots_of(log)[str(sample.id)]
        spans = [e for e in sample.events if isinstance(e, SpanBeginEvent)]
        assert [s.name for s in spans if s.type == "round"] == ["Semi-final", "Final"]
        matches = [s.name for s in spans if s.type == "match"]
        assert len(matches) == len(item.matches) == 3
        assert not any("/" in name for name in matches)
        [table] = [e.data for e in sample.events if isinstance(e, InfoEvent)]
        assert isinstance(table, str)
        assert table == sample.output.completion
        assert table.count("**flipped**") == sum(bool(m.flipped) for m in item.matches)
        assert table.count("**unscored** →") == sum(bool(m.unscored) for m in item.matches)
        [score] = (sample.scores or {}).values()
        assert table in (score.explanation or "")
    everything = [m for item in ballots_of(log).values() for m in item.matches]
    assert any(m.flipped for m in everything)
    assert any(m.unscored for m in everything)


def test_scores_are_computed_again_without_a_judge(ranked: Path, tmp_path: Path) -> None:
    shutil.copytree(ranked / "out", tmp_path / "out")
    log = only_log(tmp_path / "out")
    before = metrics_of(log)
    for sample in log.samples or []:
        for score in (sample.scores or {}).values():
            score.value = dict.fromkeys(score.value, 0.25)  # type: ignore[arg-type]
    write_eval_log(log)
    again = ("--model", "none", "--scorer", "tiebreak/ranking", "--action", "overwrite")
    calls = tmp_path / "calls"
    run("inspect", "score", log.location, *again, "--overwrite", cwd=tmp_path,
        PLANTED_CALLS=str(calls))  # fmt: skip
    assert metrics_of(only_log(tmp_path / "out")) == before
    assert not calls.exists()


def test_the_judge_may_be_the_model(logs: Path, tmp_path: Path) -> None:
    log = judged(tmp_path, logs, eval_args={"model": "planted/x", "model_roles": None})
    models = {c.model for item in ballots_of(log).values() for c in item.calls}
    assert models == {"planted/x"}


def test_roles_are_kept_apart(logs: Path, tmp_path: Path) -> None:
    roles = {"judge": "planted/scale=9", "meta_judge": "planted/meta"}
    log = judged(tmp_path, logs, eval_args={"model_roles": roles})
    asked = {
        (call.kind, call.role, call.model)
        for item in ballots_of(log).values()
        for call in item.calls
    }
    assert asked == {
        ("seed", "judge", "planted/scale=9"),
        ("match", "judge", "planted/scale=9"),
        ("critique", "meta_judge", "planted/meta"),
        ("refine", "meta_judge", "planted/meta"),
    }


def test_the_meta_judge_reads_the_round_and_the_judge_its_examples(
    logs: Path, tmp_path: Path
) -> None:
    log = judged(tmp_path, logs, "planted/scale=9")  # margins are close
    made = 0
    for sample in log.samples or []:
        item = ballots_of(log)[str(sample.id)]
        asked = {"checklist_item": "", "votes": ""}  # the last of each
        for event in sample.events:
            if isinstance(event, ModelEvent) and event.config.response_schema:
                asked[event.config.response_schema.name] = event.input[-1].text
        if item.refinements:
            made += 1
            sizes = [abs(m.margin or 0.0) for m in item.matches if m.round == 1]
            weights = load_rubric(item.rubric).weights
            prompt = asked["checklist_item"]
            assert f"\n\nRound 1: 2 matches, {sum(s < 0.25 for s in sizes)} close.\nP1: " in prompt
            # It votes the same on all principles, so each has its share of the margins.
            principles = re.findall(
                r"(P\d): decisive in 2, even in 0, mean ([\d.]+) of ([\d.]+)\n", prompt
            )
            assert {p: float(weight) for p, _, weight in principles} == weights
            for p, size, _ in principles:
                assert float(size) == pytest.approx(weights[p] * sum(sizes) / 2, abs=0.0051)
            under = ", ".join(weights) if sum(sizes) / 2 < 0.25 else "none"
            assert f"\nUnder-resolved: {under}.\nRemaining responses: 2 of 4.\n" in prompt
            assert "Other responses that remain:\n<<<" in prompt
            mark = asked["votes"].partition('"<<< ')[2][:8]
            shown = item.refinements[-1].higher_snippet
            assert f"Level 5 of 5, for example:\n<<< {mark}\n{shown}\n>>> {mark}" in asked["votes"]
        assert not any("acme" in text for text in asked.values())
    assert made > 2


def test_both_harnesses_two_benchmarks_and_saturated_only(tmp_path: Path) -> None:
    write_inspect_log(tmp_path / "logs" / "a.eval", "a", rows(0))
    solved = [{**row, "id": None, "native": float(i != 2)} for i, row in enumerate(rows(1))]
    write_lm_eval_run(tmp_path / "logs" / "lm", "b", [{**r, "id": i} for i, r in enumerate(solved)])
    for model in ("a", "b"):
        one = [{**row, "answer": f"{model} quality=1"} for row in rows(0, n=1)]
        write_inspect_log(tmp_path / "logs" / f"mmlu-{model}.eval", model, one, task="mmlu")
    items = ballots_of(judged(tmp_path, tmp_path / "logs", saturated_only=True))
    assert sorted(items) == [*(f"gsm8k:q{i}" for i in (0, 1, 3, 4, 5)), "mmlu:q0"]
    assert items["gsm8k:q0"].task_type == "math_reasoning"
    assert items["mmlu:q0"].task_type == "general_qa"
    printed = run_here("tiebreak", "rank", "out", "--csv", cwd=tmp_path)
    assert {line.split(",")[0] for line in printed.splitlines()[1:]} == {"gsm8k", "mmlu"}


def test_one_bad_item_does_not_end_the_run(tmp_path: Path) -> None:
    for model in range(3):
        bad = [
            {**row, "answer": row["answer"] + (" PROVIDER FAILS" if row["id"] == "q2" else "")}
            for row in rows(model)
        ]
        write_inspect_log(tmp_path / "logs" / f"{model}.eval", f"m{model}", bad)
    log = judged(tmp_path, tmp_path / "logs")
    assert log.status == "error"
    assert [s.id for s in log.samples or [] if s.error] == ["q2"]
    assert {"spread", "m0", "m1", "m2"} < metrics_of(log)["ranking"].keys()  # what could be judged
    printed = " ".join(run_here("tiebreak", "rank", "out", cwd=tmp_path).split())
    assert "5 of 6 items judged" in printed
    assert "eval-retry" in printed
