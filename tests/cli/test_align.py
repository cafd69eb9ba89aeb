"""The verb `align`: boards, JSON, plots, and what it says when it is used wrongly."""

from functools import partial
from pathlib import Path

import pytest

from tests.analysis.peers.builders import reviews
from tests.cli.handed import tiebreak, wrong_use
from tests.ranking_logs.builders import bracket, listed, write_log
from tests.ranking_logs.planted_votes import items_of, write_votes
from tests.tables.builders import write

FAST = ("--draws", "100")


run = partial(tiebreak, "align")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three reviewers and an outsider; people say a, b, c, d, and the other way round on mmlu."""
    path = tmp_path_factory.mktemp("align")
    for benchmark in ("gsm8k", "mmlu"):
        items = [
            reviews(
                f"q{k}",
                {"a": "abcd", "b": "badc", "c": "dcba", "outsider": "a=bcd"},
                native={"a": 1.0, "b": 1.0, "c": float(k > 0), "d": 0.0},
                benchmark=benchmark,
            )
            for k in range(3)
        ]
        write_log(path / "logs" / f"{benchmark}.eval", items, eval_id=benchmark, task_id=benchmark)
    write_log(path / "other" / "seal.eval", [bracket(f"q{n}", "b", "a", "c") for n in range(12)])
    write_log(path / "none" / "empty.eval", [listed("q1", None)])
    write(path / "h.csv", "model,rank,votes\na,1,9\nlab/b,2,9\nc,3,9\nd,4,9\ne,5,9\n")
    write(
        path / "two.csv",
        "benchmark,model,score\n,a,4\n,b,3\n,c,2\n,d,1\nmmlu,a,1\nmmlu,b,2\nmmlu,c,3\nmmlu,d,4\n",
    )
    write(path / "few.csv", "model,rank\na,1\nb,2\nx,3\n")
    write(path / "twice.csv", "model,rank\na,1\nlab/a,2\nx/b,3\ny/b,4\n")
    write(path / "bad.csv", "model,place\na,1\n")
    write_votes(path / "votes.db", items_of(1), [])
    return path


@pytest.mark.slow
def test_plots_are_of_peer_reviews_or_else_of_boards(folder: Path, tmp_path: Path) -> None:
    reviewed, judged = str(folder / "logs" / "mmlu.eval"), str(folder / "other")
    for logs, name in (((reviewed, judged), ">outsider</text>"), ((judged,), ">seal</text>")):
        plot = tmp_path / "plot.svg"
        done = run(*logs, "--human", str(folder / "h.csv"), *FAST, "--plot", str(plot))
        assert done.exit_code == 0, done.output
        assert name in plot.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "title"),
    [
        ((), "kemeny_young"),
        (("--plot-method", "c", "--json"), "c"),
        (("--plot-method", "views"), "Four views"),
    ],
)
def test_plot(folder: Path, tmp_path: Path, options: tuple[str, ...], title: str) -> None:
    plot = tmp_path / "plot.svg"
    done = run(str(folder / "logs"), "--human", str(folder / "h.csv"), "--plot", str(plot),
               *options, *FAST)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stderr == f"Plot: {plot}\n"
    text = plot.read_text(encoding="utf-8")
    assert f"**{title}.**" in plot.with_suffix(".caption.txt").read_text(encoding="utf-8")
    assert (">mmlu · SFA</text>" if "views" in options else ">mmlu</text>") in text


def test_what_it_prints(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    wrong_use(__file__, "align.txt")
