"""The demo from recorded logs: its output, and that the logs hold no traces of a machine."""

import re
import sys
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from tests.expected import check
from tests.harness import ROOT, run_here
from tests.ranking_logs.builders import item, match
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.candidates import load_candidates
from tiebreak.demo.local.server import LOCAL
from tiebreak.demo.run import SETTINGS
from tiebreak.demo.screen import RECORDED, drawn
from tiebreak.rankers import Resampling
from tiebreak.scorers.ballots import Match

PROTOCOLS = ("round_robin", "seal", "peer_review")
LOGS = sorted(RECORDED.rglob("*.eval"))


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_it_prints(protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The recorded demo must work without the model's runtime and weights.
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.setattr("tiebreak.demo.local.server._PACKAGE", "no_such_package")
    # Drawing takes seconds, and `test_demo.py` has a report drawn.
    monkeypatch.setattr(
        "tiebreak.demo.screen.written_report", lambda logs, folder: str(folder / "index.html")
    )
    args = ("demo", "--recorded", "--protocol", protocol)
    printed = run_here("tiebreak", *args, cwd=tmp_path, COLUMNS="80")
    check(__file__, f"{protocol}.txt", printed)
    assert len(printed.splitlines()) <= (64 if protocol == "seal" else 56)
    # The command that it suggests works with the logs that it has written.
    assert "tiebreak rank tiebreak-demo/run-1/ranking" in printed
    boards = leaderboards([tmp_path / "tiebreak-demo/run-1/ranking"], how=Resampling(draws=100))
    assert [board.protocol for board in boards] == [protocol] * 4


@pytest.mark.slow
def test_logs_are_those_of_a_run_of_the_small_model() -> None:
    pool = load_candidates(RECORDED / "candidates")
    assert pool.models == tuple(sorted(f"smollm2-135m/{setting.name}" for setting in SETTINGS))
    assert len(pool) == 40
    for path in sorted((RECORDED / "ranking").glob("*.eval")):
        header = read_eval_log(str(path), header_only=True).eval
        assert path.stem.startswith(f"{header.task}-")
        roles = (header.model_roles or {}).values()
        models = {
            one.model for role in roles for one in (role if isinstance(role, list) else [role])
        }
        assert models == {LOCAL}


@pytest.mark.slow
@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_logs_tell_of_no_machine(path: Path) -> None:
    log = read_eval_log(str(path))
    assert log.status == "success"
    assert log.eval.revision is None
    text = log.model_copy(update={"location": ""}).model_dump_json()
    assert re.findall(r"/(?:home|root|tmp|work|Users|private|var|usr)\b[^\"]*", text) == []
    assert re.findall(r"[\w.]+@[\w.]+\.\w+", text) == []
    assert str(ROOT) not in text


def test_logs_are_small() -> None:
    assert sum(path.stat().st_size for path in LOGS) < 600_000


NAMES = {f"m/{name}": name for name in ("greedy", "hot", "warmer", "bare", "twin", *"abc")}
BRACKETS: list[list[Match]] = [
    [
        match("m/greedy", "m/hot", 0.5),
        match("m/warmer", "m/bare", 0.0),
        match("m/greedy", "m/warmer", -0.5, round=2),
    ],
    # A bye, and a match without a verdict.
    [match("m/b", "m/c", None), match("m/a", "m/b", -0.5, round=2)],
    [match("m/a", "m/b", 0.5)],
]


def test_who_met_whom_and_who_went_on() -> None:
    drawings = (
        drawn(item("q", played, groups=[["m/bare", "m/twin"]]), NAMES) for played in BRACKETS
    )
    check(__file__, "brackets.txt", "\n\n".join([*drawings, ""]))
