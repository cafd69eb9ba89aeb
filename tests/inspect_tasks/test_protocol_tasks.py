"""All judging tasks on one pool, by real runs: calls, depth, leaderboards, resuming."""

import os
import shutil
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from tests.harness import ROOT, run, run_here
from tests.inspect_tasks.runs import (
    ballots_of,
    boards_by_protocol,
    judge_in_process,
    logs_in,
    real_calls,
    write_pool,
)
from tiebreak.candidates import PROMPTS_KEY, PROTOCOL_KEY, RUN_KEY, load_candidates
from tiebreak.publish.write_back import write_back_ranks
from tiebreak.scorers.catalogue import ONE_JUDGE

pytestmark = pytest.mark.slow

N, ITEMS = 8, 2
MODELS = [f"m{number}" for number in range(N)]

# Calls and calls in a row of an item, for eight candidates of clearly different quality (no match
# is close, so nothing is refined); without the one match in both orders, where these two meet.
PRICE = {
    "original": (0, 0),
    "pointwise": (8, 1),  # one grading each
    "fixed_rubric": (8, 2),  # and one rubric, for the whole run
    "listwise": (1, 1),
    "flat_bracket": (1 + 7, 1 + 3),  # seeding, then 4 + 2 + 1 matches
    "seal": (1 + 7 + 3, 1 + 1 + 2 + 2),  # a critique before 2 semi-finals and the final
    "swiss": (1 + 4 + 4, 1 + 1 + 1),
    "round_robin": (4, 1),
    "full_pairwise": (28, 1),  # 8 · 7 / 2
}
# Protocols whose ranking of an item is the planted order. A bracket tells only who was beaten by
# whom, and two Swiss rounds leave some level.
FULL_ORDER = {"pointwise", "fixed_rubric", "listwise", "sorted", "full_pairwise"}


@pytest.fixture(scope="module")
def all_tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log of every task; made in the clone, by name and by path."""
    folder = tmp_path_factory.mktemp("all")
    write_pool(folder / "logs", N, ITEMS)
    candidates = os.path.relpath(folder / "logs", ROOT)
    by_name, by_path = ONE_JUDGE[:6], ONE_JUDGE[6:]
    run(
        "inspect",
        "eval",
        *(f"tiebreak/{name}" for name in by_name),
        *(f"inspect_tasks/rerank.py@{name}" for name in by_path),
        *("-T", f"candidates={candidates}", "--model-role", "judge=planted/x"),
        *("--max-tasks", "1", "--log-dir", str(folder / "out")),
        cwd=ROOT,
        INSPECT_CACHE_DIR=str(folder / "cache"),
        PLANTED_CALLS=str(folder / "calls"),
    )
    return folder


def by_protocol(folder: Path) -> dict[str, EvalLog]:
    return {log.eval.task.split("/")[-1]: log for log in logs_in(folder)}


def test_every_task_ends_well_and_ranks(all_tasks: Path) -> None:
    boards = boards_by_protocol(all_tasks / "out")
    assert boards.keys() == PRICE.keys() | {"sorted"}
    for name, log in by_protocol(all_tasks / "out").items():
        assert log.status == "success", name
        board = boards[name]
        assert board.n_items == ITEMS
        order = [row.model for row in board.rows]
        if name == "original":
            assert [row.rank for row in board.rows] == [1] * N
        if name in {"original", "round_robin"}:  # with two matches a model, several win all
            continue
        assert order[0] == MODELS[-1], name
        assert board.rows[0].borda == 1
        if name in FULL_ORDER:
            assert order == MODELS[::-1], name
            assert [row.rank for row in board.rows] == list(range(1, N + 1))


def test_every_task_costs_what_its_protocol_says(all_tasks: Path) -> None:
    boards = boards_by_protocol(all_tasks / "out")
    logs = by_protocol(all_tasks / "out")
    for name, (calls, depth) in PRICE.items():
        receipt = boards[name].receipt
        assert receipt.depth_max == depth, name
        total = 1 if name == "fixed_rubric" else 0
        for item in ballots_of(logs[name]).values():
            twice = sum(len(match.verdicts) == 2 for match in item.matches)
            assert (twice == 1) if name == "full_pairwise" else (twice <= 1)
            assert sum(call.kind != "rubric" for call in item.calls) == calls + twice, name
            total += calls + twice
        assert receipt.n_calls == total, name
    # Binary insertion of eight: at least log₂ 8! = 15.3 in the mean over all orders; in any order
    # at least one comparison for each newcomer and at most 1 + 2 + 2 + 3 + 3 + 3 + 3.
    for item in ballots_of(logs["sorted"]).values():
        twice = sum(len(match.verdicts) == 2 for match in item.matches)
        assert 7 <= len(item.matches) == len(item.calls) - twice <= 17
        assert twice <= 1
        assert max(call.depth for call in item.calls) == len(item.calls) - twice - 1


def test_protocols_share_what_they_ask(all_tasks: Path) -> None:
    boards = boards_by_protocol(all_tasks / "out")
    made = real_calls(all_tasks / "calls")
    receipts = [board.receipt for board in boards.values()]
    assert len(made) == sum(one.n_calls - one.n_cached for one in receipts)
    assert len(made) == len(set(made))
    # The first to ask pays: flat_bracket's 7 matches, and its seeding; SEAL's are new where a
    # critique goes before them; full_pairwise pays for no pair that met in the same order before,
    # and draws its second orders from other pairs than a round robin of some rounds.
    assert boards["flat_bracket"].receipt.n_cached == 0
    first_round = [
        match
        for item in ballots_of(by_protocol(all_tasks / "out")["seal"]).values()
        for match in item.matches
        if match.round == 1
    ]
    asked = sum(len(match.verdicts) for match in first_round)
    assert boards["seal"].receipt.n_cached == ITEMS + asked
    met = {
        protocol: {
            (name, frozenset((match.high, match.low)), verdict.first)
            for name, item in ballots_of(by_protocol(all_tasks / "out")[protocol]).items()
            for match in item.matches
            for verdict in match.verdicts
        }
        for protocol in ("flat_bracket", "swiss", "round_robin", "sorted", "full_pairwise")
    }
    every = met.pop("full_pairwise")
    assert boards["full_pairwise"].receipt.n_cached == len(set().union(*met.values()) & every)


def test_the_log_says_what_it_is(all_tasks: Path) -> None:
    for info in list_eval_logs(str(all_tasks / "out")):
        log = read_eval_log(info, header_only=True)
        name = log.eval.task.split("/")[-1]
        metadata = log.eval.metadata or {}
        assert metadata[PROTOCOL_KEY] == name
        assert {
            PROMPTS_KEY,
            RUN_KEY,
            "tiebreak_version",
            "seed",
            "candidate_sources",
        } <= metadata.keys()
        assert len(metadata["candidate_sources"]) == N
        # Arguments that every task takes are arguments of their own.
        assert log.eval.task_args_passed.keys() == {"candidates"}
        assert "common" not in log.eval.task_args
        assert log.results is not None
        [metrics] = [one.metrics for one in log.results.scores if one.name == "ranking"]
        strengths = {key for key in metrics if key.startswith("least_squares:")}
        if name in {"flat_bracket", "seal", "sorted", "full_pairwise"}:
            assert strengths == {f"least_squares:{model}" for model in MODELS}
            best = max(strengths, key=lambda key: metrics[key].value)
            assert best == f"least_squares:{MODELS[-1]}"
        elif name not in {
            "swiss",
            "round_robin",
        }:  # there, in two items, some may never have met the others
            assert not strengths


def test_ranks_go_into_the_models_own_logs(all_tasks: Path, tmp_path: Path) -> None:
    """Every protocol's score beside the native one, as `evals_df` shows them."""
    from inspect_ai.analysis import evals_df

    logs = Path(shutil.copytree(all_tasks / "logs", tmp_path / "logs"))
    before = load_candidates(logs)
    done = write_back_ranks([all_tasks / "out"], [logs])
    boards = boards_by_protocol(all_tasks / "out")
    assert [one.state for one in done.outcomes] == ["written"] * N * len(boards)
    shown = evals_df(str(logs)).set_index("model")
    for name, board in boards.items():
        for row in board.rows:
            borda, place = f"score_tiebreak_{name}_borda", f"score_tiebreak_{name}_place"
            if name != "round_robin":  # whose board takes pairs together over the items
                assert shown.loc[row.model, borda] == pytest.approx(row.borda), name
            assert shown.loc[row.model, place] == row.rank, name
    assert load_candidates(logs) == before


def test_repeat_asks_afresh(tmp_path: Path, calls: Path) -> None:
    pool = write_pool(tmp_path / "logs", 3, 2)
    # Two listings and two times three matches, one of them in both orders, for each number of the
    # repetition once.
    for repeat, paid in ((1, 10), (1, 10), (2, 20), (2, 20), (3, 30)):
        judge_in_process(["listwise", "full_pairwise"], pool, tmp_path / f"{repeat}", repeat=repeat)
        assert len(real_calls(calls)) == paid


def test_identical_answers_are_never_judged(tmp_path: Path, calls: Path) -> None:
    pool = write_pool(tmp_path / "logs", 4, 3, lambda model, item: f"{item}{' ' * model}")
    example = f"{ROOT / 'examples' / 'champion_stays.py'}@champion_stays"
    # A limit has nothing to say where nothing is paid for.
    logs = judge_in_process([*PRICE, "sorted"], pool, tmp_path / "out", max_calls=1)
    logs += judge_in_process("own", pool, tmp_path / "out", max_calls=1, protocol=example)
    assert {log.status for log in logs} == {"success"}
    assert real_calls(calls) == []
    boards = boards_by_protocol(tmp_path / "out")
    assert len(boards) == 11
    for board in boards.values():
        assert [row.rank for row in board.rows] == [1] * 4
        assert {row.borda for row in board.rows} == {0.5}
    said = run_here("tiebreak", "rank", "out", cwd=tmp_path)
    assert said.count("3 items of 3 needed no call") == 10  # all but the native metric
    assert said.count("No item tells models apart") == 11
