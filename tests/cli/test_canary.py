"""The verb `canary`: asks about planted answers, says what that cost, and reads them again."""

import json
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.harness import run_here
from tests.inspect_tasks.runs import judge_in_process, write_pool
from tests.plugin.planted_judge import TOLD
from tiebreak.cli.verbs import main
from tiebreak.scorers.attacks import attacks

GULLIBLE = "planted/gullible=9"


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    write_pool(tmp_path / "logs", 2, 4)
    return tmp_path


@pytest.mark.slow
def test_a_judge_is_asked_once_and_the_log_is_read_again(pool: Path) -> None:
    asked = run_here(
        "tiebreak", "canary", "logs", "--judge", GULLIBLE, "-n", "9", "--json", cwd=pool
    )
    [found] = json.loads(asked[asked.index("{") :])["canaries"]
    texts = {attack.id: attack.on("") for attack in attacks()}
    canaries = found["canaries"]
    assert (canaries["n"], canaries["n_unscored"]) == (9, 0)
    assert canaries["n_persuaded"] == len(canaries["by"]) > 0
    assert all(TOLD.search(texts[name]) for name in canaries["by"])
    assert found["receipt"]["n_calls"] == 4 * 9
    again = run_here("tiebreak", "canary", "canaries", cwd=pool)
    assert f"{GULLIBLE} was persuaded by {canaries['n_persuaded']} of 9 planted canaries" in again
    assert f"Persuaded by: {canaries['by'][0]}" in again
    # It is no ranking.
    with chdir(pool):
        refused = CliRunner().invoke(main, ["rank", "canaries"])
    assert refused.exit_code == 1
    assert "holds planted answers only, and no ranking: tiebreak canary" in refused.output


def test_what_it_would_cost_is_said_without_a_call(
    pool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = pool / "calls"
    monkeypatch.setenv("PLANTED_CALLS", str(calls))
    arguments = ("canary", "logs", "--judge", GULLIBLE, "-n", "6", "--estimate", "--json")
    printed = run_here("tiebreak", *arguments, cwd=pool)
    [row] = json.loads(printed)["protocols"]
    assert row["calls"]["likely"] == 4 * 6
    assert not calls.exists()


@pytest.mark.slow
def test_a_ranking_without_canaries_holds_none(pool: Path) -> None:
    judge_in_process("listwise", pool / "logs", pool / "ranking")
    with chdir(pool):
        refused = CliRunner().invoke(main, ["canary", "ranking"])
    assert refused.exit_code == 1
    assert "No canary was judged in these logs" in refused.output


@pytest.mark.slow
def test_a_judge_that_never_answers_ends_with_1(pool: Path) -> None:
    arguments = ["canary", "logs", "--judge", "planted/malformed=1", "-n", "1"]
    with chdir(pool):
        done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1
    assert "planted/malformed=1: no planted canary has a verdict." in done.output
