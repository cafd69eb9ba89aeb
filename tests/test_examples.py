"""The examples and the code of the documentation do what they say."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests import make_study
from tests.harness import BIN, run
from tests.inspect_tasks.runs import judge_in_process, real_calls, write_pool
from tiebreak import anchored_boards
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.candidates import load_candidates
from tiebreak.cli.verbs import main

ROOT = Path(__file__).parent.parent
RANKINGS = ROOT / "docs" / "how-to" / "rankings.md"


@pytest.mark.slow
def test_a_cluster_gives_the_same_numbers() -> None:
    script = ROOT / "examples" / "csd_on_a_cluster.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=300
    )
    assert "the same, bit for bit" in done.stdout
    assert len(re.findall(r"^#\d+  model", done.stdout, re.MULTILINE)) == 5


def test_the_code_about_rankings(capsys: pytest.CaptureFixture[str]) -> None:
    text = RANKINGS.read_text(encoding="utf-8")
    [code] = [
        block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "kemeny_young" in block
    ]
    exec(compile(code, RANKINGS.name, "exec"), {})
    # One ballot against "ada before ben", one against either order of ben and cleo.
    assert capsys.readouterr().out == "['ada', 'ben', 'cleo'] 2 False\n"


def test_the_study_is_what_its_maker_draws() -> None:
    pool = load_candidates([make_study.FOLDER])
    drawn = {}
    for number in range(make_study.ITEMS):
        text, right = make_study.question(number)
        for model in make_study.MODELS:
            drawn[f"{number + 1}", model] = (text, *make_study.answer(model, number, right))
    assert drawn == {
        (item.item_id, model): (item.prompt, answer.text, answer.native_score)
        for item in pool.items
        for model, answer in pool.candidates[item.key].items()
    }


def test_the_votes_are_what_their_maker_draws(tmp_path: Path) -> None:
    make_study.write_votes(make_study.FOLDER / "round_robin.eval", tmp_path / "votes.csv")
    assert (tmp_path / "votes.csv").read_bytes() == make_study.VOTES.read_bytes()
    [board] = anchored_boards(make_study.FOLDER, make_study.VOTES)
    # The judge's first is atlas, whom people like less than the planted favourite.
    assert max(board.rows, key=lambda row: row.judge).model == "atlas"
    assert board.rows[0].model == make_study.FAVOURITE
    assert board.n_labels == 45


def test_rounds_that_read_logs_and_tables_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples")
    arguments = ["csd", "scores.csv", "--rounds", "rounds.yaml", "--iterations", "100"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "17 models · 6 rounds" in done.output


@pytest.mark.slow
def test_the_study_of_seal_prints_the_papers_tables(tmp_path: Path) -> None:
    def answer(model: int, item: int) -> str:
        return f"It is {item}. quality={6 + (model * 7 + item * 5) % 11 / 5}"

    for benchmark in ("gsm8k", "humaneval"):
        write_pool(tmp_path / "logs", 4, 6, answer, benchmark)
    study = ["python", str(ROOT / "examples" / "seal_study.py"), "logs", "--runs", "2"]
    study += ["--judge", "planted/noise=0.3+scale=2", "--limit", "3"]
    calls, printed, made = tmp_path / "calls", [], []
    for _ in range(2):
        done = run(*study, cwd=tmp_path, COLUMNS="80", PLANTED_CALLS=str(calls), NO_PICTURES="1")
        printed.append(done.stdout[done.stdout.index("Table 1") :])
        made.append(len(real_calls(calls)))
    assert printed[0] == printed[1]
    assert made[0] == made[1] > 0
    tables: dict[str, str] = {}
    for numbers, text in re.findall(
        r"^Tables? (.*?) ·(.*?)(?=^Tables? \d|\Z)", printed[0], re.M | re.S
    ):
        tables[numbers] = tables.get(numbers, "") + text
    assert list(tables) == ["1", "2", "3", "4", "5 and 6", "6", "7", "8", "9"]
    protocols = ["original", "pointwise", "fixed_rubric", "listwise", "flat_bracket", "seal"]
    protocols += ["full_pairwise"]
    for name in ("1", "2", "4", "5 and 6", "6"):
        for protocol in protocols:
            assert re.search(rf"\b{protocol} ", tables[name]), (name, protocol)
    # 4 models: 6 pairs; a seeding and 3 matches; in SEAL critiques and new checklist items as well.
    costs = re.findall(r"^(\w+) +(\d+\.\d) ", tables["5 and 6"], re.M)
    assert {("full_pairwise", "6.0"), ("flat_bracket", "4.0"), ("original", "0.0")} < set(costs)
    assert re.search(r"seal +2 +3 ", tables["3"])
    assert re.search(
        r"gsm8k +math_reasoning +4 +4\n.*humaneval +code_generation +6 +6", tables["7"], re.S
    )
    assert tables["8"].count("match") == 8
    ranks = re.findall(r"^m\d +(.*)$", tables["9"], re.M)
    assert len(ranks) == 8
    assert all(len(re.findall(r"#\d 1?\.\d{2}", row)) == 7 for row in ranks)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("inspect_flow") is None, reason="Inspect Flow is not installed")
def test_a_study_in_inspect_flow(
    tmp_path: Path, inspect_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers, then two processes that judge a shard each; given again, nothing is asked."""
    calls = tmp_path / "calls"
    rows = [{"prompt": f"Write about {'x' * number}."} for number in range(6)]
    (tmp_path / "prompts.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.setenv("PATH", f"{BIN}:{os.environ['PATH']}")  # Flow notes versions by uv
    models = "candidate/0.7,candidate/0.5,candidate/0.2"
    example = str(ROOT / "examples" / "flow_study.py")
    given = (f"models={models}", "judge=planted/x")

    def study(step: str, shard: str = "1/1") -> None:
        texts = (*given, f"step={step}", f"shard={shard}")
        arguments = (part for text in texts for part in ("--arg", text))
        flow = ("flow", "run", example, "--store", "none", "--display", "plain", *arguments)
        # Flow writes a note of its last run here, and not in one step.
        notes = str(tmp_path / f"flow-{shard[0]}")
        folders = {"HOME": str(tmp_path), "XDG_DATA_HOME": notes}
        run(*flow, cwd=tmp_path, code=0, PLANTED_CALLS=str(calls), **folders)

    for _ in range(2):
        study("answer")
        with ThreadPoolExecutor(2) as processes:
            shards = [processes.submit(study, "judge", f"{number}/2") for number in (1, 2)]
        for shard in shards:
            shard.result()
        paid = real_calls(calls)
        assert len(paid) == len(set(paid))
    judge_in_process("round_robin", tmp_path / "study" / "answers", tmp_path / "whole")
    boards = [leaderboards(tmp_path / name) for name in ("study/judged", "whole")]
    assert repr(boards[0][0].rows) == repr(boards[1][0].rows)
    assert boards[0][0].n_items == 6
