"""The verb `score-code`: what it prints, writes and exits with."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.candidates.builders import write_lm_eval_run
from tests.cli.handed import tiebreak
from tiebreak.candidates import CandidatePool, read_parquet
from tiebreak.inspect_tasks import score_code as runs
from tiebreak.inspect_tasks.score_code import CodeScores
from tiebreak.tables import read_scores

DOC = {
    "task_id": "T/0",
    "prompt": "def one():\n",
    "canonical_solution": "    return 1\n",
    "test": "def check(one):\n    assert one() == 1\n",
    "entry_point": "one",
}


@pytest.fixture
def answers(tmp_path: Path) -> str:
    for model, answer in (("a[b]", "    return 1\n"), ("c", "    return 2\n")):
        write_lm_eval_run(tmp_path / "out", model, [{"doc": DOC, "answer": answer}], task="code")
    return str(tmp_path / "out")


run = partial(tiebreak, "score-code")


@pytest.mark.slow
def test_scores_go_into_the_pool(answers: str, tmp_path: Path) -> None:
    out = tmp_path / "pool.parquet"
    where = ("--out", str(out), "--sandbox", "bubblewrap")
    result = run(answers, *where, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "pool": out.as_posix(),
        "runs": 2,
        "models": {
            "a[b]": {"passed": 1, "scored": 1, "answers": 1},
            "c": {"passed": 0, "scored": 1, "answers": 1},
        },
        "unscored": [],
        "not_there": [],
        "results": [
            {
                "model": model,
                "state": "written",
                "path": found.as_posix(),
                "scored": 1,
                "answers": 1,
                "why": None,
            }
            for model, folder in (("a[b]", "a__b__"), ("c", "c"))
            for found in sorted(Path(answers, folder).glob("results_*.json"))[1:]
        ],
    }
    [(_, row)] = list(read_parquet(out))
    assert {name: (c.native_score, c.native_metric) for name, c in row.items()} == {
        "a[b]": (1.0, "unit_tests"),
        "c": (0.0, "unit_tests"),
    }
    # The pool can be given again, and then there is nothing left to run.
    result = run(str(out), *where)
    assert result.exit_code == 0
    assert "0 different programs were run" in result.stdout
    assert "a[b]" in result.stdout
    assert "100.0%" in result.stdout
    assert " ".join(result.stdout.split()).count(": 1 of 1 answer (as before)") == 2
    table = read_scores([answers, out])
    assert table.scores[:, table.benchmarks.index("code")].tolist() == [1, 0]
    assert table.notes[0].startswith("A pool counts rather than a log")


def all_right(pool: CandidatePool) -> CandidatePool:
    return CandidatePool(
        pool.items,
        {
            key: {
                model: replace(one, native_score=1.0, native_metric="unit_tests")
                for model, one in row.items()
            }
            for key, row in pool.candidates.items()
        },
    )


@pytest.mark.parametrize("where", ["file/pool.parquet", "file/deeper/pool.parquet"])
def test_a_pool_that_cannot_be_written_is_said_before_anything_is_run(
    where: str, answers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "score_code", None)
    (tmp_path / "file").touch()
    result = run(answers, "--out", str(tmp_path / where))
    assert result.exit_code == 1
    assert "pool.parquet cannot be read or written" in result.output
    assert isinstance(result.exception, SystemExit)


def test_a_pool_is_written_whole_or_not_at_all(
    answers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(table: object, path: Path, **_: object) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(runs, "score_code", lambda pool, *_, **__: CodeScores(pool, 0, ()))
    monkeypatch.setattr(pyarrow.parquet, "write_table", half)
    out = tmp_path / "new" / "pool.parquet"
    out.parent.mkdir()
    out.write_text("old")
    result = run(answers, "--out", str(out))
    assert result.exit_code == 1
    assert "No space left on device" in result.output
    assert f"{out} cannot be written (No space left on device): make room" in result.output
    assert [path.name for path in out.parent.iterdir()] == ["pool.parquet"]
    assert out.read_text() == "old"


def test_a_second_run_into_the_same_folder_reads_what_the_first_one_read(
    answers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        runs, "score_code", lambda pool, *_, **__: CodeScores(all_right(pool), 2, ())
    )
    out = Path(answers) / "pool.parquet"
    for _ in range(2):
        result = run(answers, "--out", str(out), "--no-results")
        assert result.exit_code == 0, result.output
        [(_, row)] = list(read_parquet(out))
        assert {Path(one.source).suffix for one in row.values()} == {".jsonl"}
    # A folder that holds the pool alone is read as it is.
    alone = Path(answers).parent / "alone"
    alone.mkdir()
    out.rename(alone / "pool.parquet")
    result = run(str(alone), "--out", str(alone / "pool.parquet"), "--no-results")
    assert result.exit_code == 0, result.output
