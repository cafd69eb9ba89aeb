"""Protocols of the user's own: the documented example, and what can be wrong with one."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cases import cases
from tests.harness import ROOT, run
from tests.inspect_tasks.runs import (
    ballots_of,
    boards_by_protocol,
    judge_in_process,
    logs_in,
    without_receipt,
    write_pool,
)
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.inspect_tasks.own_protocol import check_settings, load_protocol
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers import Resampling
from tiebreak.scorers.protocols import find_protocol

EXAMPLE = ROOT / "examples" / "champion_stays.py"


def test_the_example_is_short() -> None:
    code = EXAMPLE.read_text().split('"""', 2)[2]
    assert len(code.strip().splitlines()) <= 30


@pytest.mark.slow
def test_the_example_runs_where_the_user_is(tmp_path: Path) -> None:
    write_pool(tmp_path / "logs", 4, 3)
    shutil.copy(EXAMPLE, tmp_path / "mine.py")
    # By name, and by path in the clone; the paths are from where the user is.
    tasks = ("tiebreak/own", f"{ROOT / 'inspect_tasks' / 'rerank.py'}@own")
    given = ("-T", "protocol=mine.py@champion_stays", "-T", 'settings={"lives": 2}')
    where = ("-T", "candidates=logs", "--model-role", "judge=planted/x", "--log-dir", "out")
    run("inspect", "eval", *tasks, *given, *where, cwd=tmp_path)
    log, by_path = logs_in(tmp_path / "out")
    assert log.status == by_path.status == "success"
    assert [without_receipt(item) for item in ballots_of(by_path).values()] == [
        without_receipt(item) for item in ballots_of(log).values()
    ]
    for item in ballots_of(log).values():
        champion, matches = "m3", item.matches
        # Twice in the same order, and nobody meets itself: 3 matches, then 3 or 4 more.
        assert 6 <= len(matches) <= 7
        assert [match.round for match in matches] == list(range(1, len(matches) + 1))
        assert all(after.high == before.winner for before, after in pairwise(matches))
        assert matches[-1].winner == champion
        # The champion's second round asks again what was asked before.
        assert len(item.calls) == len(matches)
    for board in leaderboards([tmp_path / "out"], how=Resampling(draws=100)):
        assert board.protocol == "champion_stays"
        assert board.rows[0].model == "m3"
        assert board.placed_by == "win_rate"


@pytest.mark.parametrize(("code", "given", "words"), cases(__file__, "cannot be loaded"))
def test_what_cannot_be_loaded(
    code: str | None, given: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if code is not None:
        Path("mine.py").write_text(code)
    with pytest.raises(PrerequisiteError, match=words):
        load_protocol(given)


def test_a_file_can_be_loaded_again(tmp_path: Path) -> None:
    file = tmp_path / "twice.py"
    file.write_text(cases(__file__, "twice"))
    first = load_protocol(f"{file}@twice")
    second = load_protocol(f"{file}@twice")
    assert first.name == second.name == "twice"
    other = tmp_path / "another.py"
    shutil.copy(file, other)
    with pytest.raises(PrerequisiteError, match="'twice' is registered already"):
        load_protocol(f"{other}@twice")
    assert load_protocol("swiss") is find_protocol("swiss")


def test_settings_must_fit() -> None:
    seal = find_protocol("seal")
    check_settings(seal, {"tiers": 2, "critique": False}, "abcdefgh")
    with pytest.raises(
        PrerequisiteError, match=r"'lives'. There are: tiers, swap, checklist, refine"
    ):
        check_settings(seal, {"lives": 2}, "abcdefgh")
    with pytest.raises(PrerequisiteError, match=r"There are: none"):
        check_settings(find_protocol("listwise"), {"lives": 2}, "abcdefgh")
    with pytest.raises(PrerequisiteError, match="round robin of 8 models has 1 to 7"):
        check_settings(find_protocol("round_robin"), {"rounds": 8}, "abcdefgh")


@pytest.mark.slow
def test_what_an_own_protocol_may_get_wrong(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "logs", 3, 2)
    mine = tmp_path / "wrong.py"
    mine.write_text(cases(__file__, "wrong"))

    def errors(name: str) -> list[str]:
        [log] = judge_in_process(
            "own", pool, tmp_path / name, protocol=f"{mine}@{name}", eval_args={"max_samples": 1}
        )
        return [sample.error.message for sample in log.samples or [] if sample.error]

    assert len(errors("forgets")) == 2
    assert "'forgets' returned NoneType: end it with `return judge.ballots`" in errors("forgets")[0]
    [mixed] = errors("mixes_up")
    assert "'mixes_up' returned the ballots of another item" in mixed
    # No ballots are no ranking, and not a failure of the run either: the report says why.
    assert errors("ranks_nobody") == []
    board = boards_by_protocol(tmp_path / "ranks_nobody")["ranks_nobody"]
    assert board.rows == ()
    assert {item.reason for item in board.unranked} == {
        "no match has a verdict (no match was played)"
    }
    for settings, words in [({"lives": 2}, "There are: none"), ("lives", "must be like")]:
        with pytest.raises(PrerequisiteError, match=words):
            judge_in_process("own", pool, tmp_path, protocol=f"{mine}@forgets", settings=settings)
