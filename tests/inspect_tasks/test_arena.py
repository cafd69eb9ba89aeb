"""The arena: models answer and are judged in one run, and its log serves as both kinds of log."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval, eval_retry
from inspect_ai.event import SpanBeginEvent
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model, get_model

from tests.harness import ROOT, kill_once, run
from tests.inspect_tasks.runs import (
    ballots_of,
    boards_by_protocol,
    judge_in_process,
    real_calls,
)
from tests.pages.models import planted_providers
from tiebreak.candidates import CandidateError, load_candidates, read_parquet
from tiebreak.ranking_logs import read_ranking_logs

GOOD, FAIR, WEAK, NEW = (f"candidate/{quality}" for quality in (0.7, 0.5, 0.2, 0.9))
ITEMS = 6


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    rows = [{"id": f"p{n}", "prompt": f"Write about {'x' * n}."} for n in range(ITEMS)]
    file = tmp_path / "prompts.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file


@pytest.fixture
def answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the planted candidates note every call that really happens."""
    file = tmp_path / "answered"
    monkeypatch.setenv("CANDIDATE_CALLS", str(file))
    return file


def arena(
    prompts: Path,
    contestants: Sequence[str | Model],
    log_dir: Path,
    roles: dict[str, Any] | None = None,
    **arguments: Any,
) -> EvalLog:
    [log] = eval(
        "tiebreak/arena",
        task_args={"prompts": str(prompts), **arguments},
        model_roles={"contestants": [*contestants], **(roles or {"judge": "planted/x"})},
        log_dir=str(log_dir),
        log_level="warning",
        log_realtime=False,
    )
    return log


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "arguments"),
    [
        ("round_robin", {"rounds": 3, "swap": "always"}),
        ("seal", {"tiers": 2, "refine": False}),
        ("swiss", {}),
        ("fixed_rubric", {}),
        ("pointwise", {"merge_identical": False}),
        ("listwise", {"seed": 5}),
    ],
)
def test_its_board_is_that_of_the_same_answers_judged_afterwards(
    protocol: str,
    arguments: dict[str, Any],
    prompts: Path,
    tmp_path: Path,
    calls: Path,
    answered: Path,
) -> None:
    log = arena(prompts, [GOOD, FAIR, WEAK, NEW], tmp_path / "a", protocol=protocol, **arguments)
    assert log.status == "success"
    assert Counter(real_calls(answered)) == dict.fromkeys(("0.7", "0.5", "0.2", "0.9"), ITEMS)
    paid = real_calls(calls)
    assert paid
    # The log serves as the pool; what its judge was asked is in the cache.
    [other] = judge_in_process(protocol, Path(log.location), tmp_path / "b", **arguments)
    assert real_calls(calls) == paid
    assert len(real_calls(answered)) == 4 * ITEMS
    for name, ballots in ballots_of(other).items():
        same = ballots_of(log)[name].model_dump(exclude={"calls"})
        assert ballots.model_dump(exclude={"calls"}) == same
    boards = [boards_by_protocol(tmp_path / folder)[protocol] for folder in ("a", "b")]
    for part in ("rows", "pairs", "views", "verdict"):
        assert repr(getattr(boards[0], part)) == repr(getattr(boards[1], part)), part
    pool = load_candidates(tmp_path / "a")
    assert pool.models == (WEAK, FAIR, GOOD, NEW)
    assert [len(item.prompt) for item in pool.items] == [*range(13, 13 + ITEMS)]
    answer = pool.candidates[pool.items[2].key][GOOD]
    assert answer.text == "quality=0.7 of an answer to 15 characters"
    assert (answer.stop_reason, answer.output_tokens) == ("stop", 1)


@pytest.mark.slow
def test_one_contestant_more_costs_what_that_one_adds(
    prompts: Path, tmp_path: Path, calls: Path, answered: Path
) -> None:
    arena(prompts, [GOOD, FAIR, WEAK], tmp_path / "logs", rounds=3)
    paid = len(real_calls(calls))
    more = [GOOD, FAIR, WEAK, NEW]
    log = arena(prompts, more, tmp_path / "logs", rounds=3, newcomers=NEW)
    assert Counter(real_calls(answered)) == dict.fromkeys(("0.7", "0.5", "0.2", "0.9"), ITEMS)
    added = [match for item in ballots_of(log).values() for match in item.matches]
    assert len(added) == 3 * ITEMS
    assert all(NEW in (match.high, match.low) for match in added)
    assert len(real_calls(calls)) == paid + sum(len(match.verdicts) for match in added)
    [board] = boards_by_protocol(tmp_path / "logs").values()
    assert [row.model for row in board.rows] == [NEW, GOOD, FAIR, WEAK]
    assert load_candidates(tmp_path / "logs").models == (WEAK, FAIR, GOOD, NEW)


@pytest.mark.slow
def test_its_items_are_those_of_the_task_that_only_answers(tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": "Name a cheese."},
        {"role": "assistant", "content": "Brie."},
        {"role": "user", "content": "Another one."},
    ]
    rows = [
        {"prompt": "Write a letter.", "category": "Write a letter."},
        {"messages": talk, "system": "Be brief.", "target": "Comté"},
    ]
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    arena(file, [GOOD, WEAK], tmp_path / "arena", name="letters", media="refuse")
    arguments = {"prompts": str(file), "name": "letters"}
    eval("tiebreak/prompts", FAIR, task_args=arguments, log_dir=str(tmp_path / "prompts"))
    pool = load_candidates([tmp_path / "arena", tmp_path / "prompts"])
    assert (pool.models, len(pool.items)) == ((WEAK, FAIR, GOOD), 2)
    alone = load_candidates([tmp_path / "prompts"], alone=True)
    assert pool.items == alone.items
    assert {note.kind for note in pool.notes} == {"native_choice"}
    [run_] = read_ranking_logs(tmp_path / "arena")
    assert {(item.benchmark, item.subject, item.input_hash) for item in run_.items} == {
        (item.benchmark, item.metadata.get("category", ""), item.input_hash) for item in pool.items
    }


@pytest.mark.slow
def test_answers_matches_and_verdict_stand_under_one_another(prompts: Path, tmp_path: Path) -> None:
    log = arena(prompts, [GOOD, WEAK], tmp_path)
    for sample in log.samples or []:
        spans = [event for event in sample.events if isinstance(event, SpanBeginEvent)]
        ours = [span for span in spans if span.type in ("contestant", "match")]
        assert [(span.type, span.name) for span in ours[:2]] == [
            ("contestant", "candidate∕0.7"),
            ("contestant", "candidate∕0.2"),
        ]
        assert {span.type for span in ours[2:]} == {"match"}
        assert len({span.parent_id for span in ours}) == 1
        scores = sample.scores or {}
        assert "| 1 | candidate/0.7 |" in str(scores["ranking"].explanation)


@pytest.mark.slow
def test_who_gives_no_answer_is_named_and_nothing_is_lost(
    prompts: Path, tmp_path: Path, calls: Path, answered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = tmp_path / "fails"
    fails.touch()
    monkeypatch.setenv("CANDIDATE_FAILS", str(fails))
    contestants = [GOOD, FAIR, "candidate/0.2+sometimes"]
    log = arena(prompts, contestants, tmp_path / "logs")
    assert log.status == "error"
    [run_] = read_ranking_logs(tmp_path / "logs")
    assert {sample.problem for sample in run_.samples} == {
        "error: No answer: candidate/0.2+sometimes: PROVIDER FAILS (RuntimeError). Ask again, or "
        "leave it out of the contestants: the other answers are in the cache"
    }
    assert real_calls(calls) == []
    with pytest.raises(CandidateError, match="status is 'error'"):
        load_candidates(tmp_path / "logs")
    fails.unlink()
    before = Counter(real_calls(answered))
    [log] = eval_retry(log, log_dir=str(tmp_path / "logs"), log_level="warning", log_realtime=False)
    assert log.status == "success"
    after = Counter(real_calls(answered))
    assert after - before == {"0.2+sometimes": ITEMS}
    [run_] = read_ranking_logs(tmp_path / "logs")
    assert len(run_.ranked) == ITEMS
    assert load_candidates(tmp_path / "logs").models == (*sorted(contestants),)


@pytest.mark.slow
def test_shards_are_one_run_and_one_pool(prompts: Path, tmp_path: Path) -> None:
    arena(prompts, [GOOD, FAIR, WEAK], tmp_path / "whole")
    for shard in ("1/2", "2/2"):
        arena(prompts, [GOOD, FAIR, WEAK], tmp_path / "shards", shard=shard)
    boards = [boards_by_protocol(tmp_path / name)["round_robin"] for name in ("whole", "shards")]
    assert repr(boards[0].rows) == repr(boards[1].rows)
    pools = [load_candidates(tmp_path / name) for name in ("whole", "shards")]
    assert pools[0].items == pools[1].items
    both = load_candidates([tmp_path / "whole", tmp_path / "shards"])
    for pool in pools:
        for item, row in both:
            other = pool.candidates[item.key]
            assert {name: given.text for name, given in row.items()} == {
                name: given.text for name, given in other.items()
            }


@pytest.mark.slow
def test_other_answers_of_the_same_models_are_no_second_half(prompts: Path, tmp_path: Path) -> None:
    arena(prompts, [GOOD, WEAK], tmp_path / "logs")
    changed = prompts.read_text(encoding="utf-8").replace("Write", "Tell all")
    prompts.write_text(changed, encoding="utf-8")
    arena(prompts, [GOOD, WEAK], tmp_path / "logs")
    with pytest.raises(CandidateError, match=r"'candidate/0\.2' has 2 logs"):
        load_candidates(tmp_path / "logs")


@pytest.mark.slow
def test_models_are_asked_as_their_role_says(tmp_path: Path) -> None:
    """With a protocol of one's own, and with one that needs keys."""
    rows = [{"prompt": f"Write about {'x' * n}.", "target": "x"} for n in range(1, 3)]
    file = tmp_path / "keyed.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    warm = get_model(GOOD, config=GenerateConfig(temperature=0.5, max_connections=3))
    example = f"{ROOT}/examples/champion_stays.py@champion_stays"
    for protocol in (example, "stars"):
        log = arena(file, [warm, WEAK], tmp_path / "logs", protocol=protocol)
        assert log.status == "success"
        [run_] = read_ranking_logs(log.location)
        assert len(run_.ranked) == 2
        assert run_.settings["prompts"][GOOD]["temperature"] == "0.5"


@pytest.mark.slow
def test_a_budget_counts_answers_too(
    prompts: Path, tmp_path: Path, calls: Path, answered: Path
) -> None:
    arena(prompts, [GOOD, WEAK], tmp_path / "logs", max_calls=7, swap="never")
    # An item takes two answers and a verdict.
    assert len(real_calls(answered)) + len(real_calls(calls)) <= 7
    [run_] = read_ranking_logs(tmp_path / "logs")
    assert len(run_.ranked) == 2
    arena(prompts, [GOOD, WEAK], tmp_path / "logs", max_calls=18, swap="never")
    assert (len(real_calls(answered)), len(real_calls(calls))) == (2 * ITEMS, ITEMS)


@pytest.mark.slow
def test_a_judge_may_answer_and_contestants_may_judge(prompts: Path, tmp_path: Path) -> None:
    models = ["openai/gpt-5", "anthropic/claude", "google/gemini"]
    with planted_providers():
        arena(prompts, models, tmp_path / "own", {"judge": ["openai/gpt-5-mini", models[1]]})
        log = arena(prompts, models, tmp_path / "peers", {"peers": models}, protocol="peer_review")
    [run_] = read_ranking_logs(tmp_path / "own")
    assert run_.notes == ("anthropic/claude: judges answers of its own",)
    assert log.status == "success"
    assert {r.candidate for item in ballots_of(log).values() for r in item.reviewers} == {*models}


@pytest.mark.slow
def test_settled_items_are_not_answered(tmp_path: Path, answered: Path) -> None:
    rows = [{"id": f"p{n}", "prompt": f"Write about {'x' * n}."} for n in range(40)]
    (tmp_path / "many.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    arena(tmp_path / "many.jsonl", [GOOD, WEAK], tmp_path / "logs", settle=True)
    [run_] = read_ranking_logs(tmp_path / "logs")
    assert run_.skipped
    assert len(run_.items) + len(run_.skipped) == 40
    assert len(real_calls(answered)) < 80


@pytest.mark.slow
def test_a_killed_run_goes_on(prompts: Path, tmp_path: Path, calls: Path, answered: Path) -> None:
    task = ("inspect", "eval", "tiebreak/arena", "-T", "prompts=prompts.jsonl", "-T", "swap=never")
    roles = ("--model-role", f"contestants=[{GOOD}, {WEAK}]", "--model-role", "judge=planted/x")
    command = (*task, *roles, "--max-samples", "1", "--log-dir")
    kill_once(lambda: len(real_calls(calls)) >= 3, *command, "logs", cwd=tmp_path)
    run(*command, "logs", cwd=tmp_path)
    # A verdict that was under way may have to be paid for again.
    assert len(real_calls(calls)) in (ITEMS, ITEMS + 1)
    assert Counter(real_calls(answered)) == {"0.7": ITEMS, "0.2": ITEMS}
    run(*command, "undisturbed", cwd=tmp_path, INSPECT_CACHE_DIR=str(tmp_path / "cache"))
    boards = [boards_by_protocol(tmp_path / name) for name in ("logs", "undisturbed")]
    assert repr(boards[0]["round_robin"].rows) == repr(boards[1]["round_robin"].rows)


@pytest.mark.slow
def test_from_the_command_line(prompts: Path, tmp_path: Path) -> None:
    task = ("inspect", "eval", "tiebreak/arena", "-T", "prompts=prompts.jsonl", "--log-dir", "logs")
    both = ("--model-role", f"contestants=[{GOOD}, {WEAK}]", "--model-role", "judge=planted/x")
    printed = run(*task, *both, "-T", "protocol=full_pairwise", cwd=tmp_path).stdout
    assert "prompts · full_pairwise · 6 items" in printed
    for verb in (["rank", "logs"], ["diagnose", "logs"], ["candidates", "logs"]):
        assert "prompts" in run("tiebreak", *verb, cwd=tmp_path).stdout
    run("tiebreak", "report", "logs", "-o", "page", cwd=tmp_path)
    assert GOOD in (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    log = str(next((tmp_path / "logs").glob("*.eval")))
    dataset = ("--to", "me/board", "--license", "mit", "--dry-run", "--out", "dataset")
    run("tiebreak", "publish", log, "--with-candidates", *dataset, cwd=tmp_path)
    [pool] = (tmp_path / "dataset" / "candidates").glob("*.parquet")
    assert read_parquet(pool).models == (WEAK, GOOD)
    # Ranks are for logs of one model.
    written = run("tiebreak", "write-back", log, "--into", "logs", cwd=tmp_path, code=1)
    assert "No log to write to" in written.stderr
