"""The verb `write-back`: lines, JSON, and what it says when it is used wrongly."""

import gzip
from functools import partial
from pathlib import Path

import pytest

from tests.candidates.builders import make_rows, write_inspect_log, write_lm_eval_run
from tests.cases import cases
from tests.cli.handed import tiebreak, wrong_use
from tests.publish.judged_runs import contents
from tests.publish.write_back.builders import answer_of, brackets, write_logs, write_ranking
from tiebreak.candidates import load_candidates, write_parquet

run = partial(tiebreak, "write-back")


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three models and their ranking in ./logs, and a fourth model that was not ranked."""
    monkeypatch.chdir(tmp_path)
    write_logs(Path("logs"))
    write_ranking(Path("logs/seal.eval"), Path("logs"), brackets())
    write_inspect_log("logs/d.eval", "d", make_rows(2))
    return Path("logs")


@pytest.mark.slow
def test_names_from_logs_cannot_steer_the_terminal(logs: Path) -> None:
    write_inspect_log("logs/e.eval", "[red]e[/red]\x1b[31m\nwritten", make_rows(2))
    done = run("logs", "--into", "logs")
    assert "\x1b" not in done.output
    assert r"[red]e[/red]\x1b[31m written" in done.output


@pytest.mark.slow
def test_what_it_prints(logs: Path) -> None:
    """Of logs that belong, and of all others, which stay as they are."""
    rows = make_rows(2, answer=answer_of("a"))
    for name, more in cases(__file__, "others").items():
        write_inspect_log(Path("others", f"{name}.eval"), **{"model": "a", "rows": rows} | more)
    Path("others/broken.eval").write_bytes(b"PK no log")
    Path("others/README.md").write_text("nothing")
    write_lm_eval_run(Path("lm_eval"), "c", make_rows(2, answer=answer_of("c")))
    write_parquet(load_candidates([logs / "a.eval", logs / "b.eval"]), Path("lm_eval/pool.parquet"))
    Path("lm_eval/b.eval.gz").write_bytes(gzip.compress((logs / "b.eval").read_bytes()))
    Path("empty").mkdir()
    for number in range(22):
        write_inspect_log(Path("many", f"{number}.eval"), "d", make_rows(1))
    for model in "abc":
        rows = make_rows(2, answer=answer_of(model))
        write_inspect_log(Path("cot", f"{model}.eval"), model, rows, task="gsm8k_cot")
    pool = load_candidates("cot", rename={"gsm8k_cot": "gsm8k"})
    write_ranking(Path("cot.eval"), write_parquet(pool, Path("cot.parquet")), brackets())
    kept = contents(Path("others")) | contents(Path("lm_eval"))
    wrong_use(__file__, "write_back.txt")
    assert contents(Path("others")) | contents(Path("lm_eval")) == kept
