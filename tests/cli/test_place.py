"""`rank --place`: recorded ballots placed by every rule, through the command line."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from tests.cli.handed import tiebreak
from tests.ranking_logs.builders import graded, write_log
from tests.scorers.tournament import planted_contest, play_all
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.rankers import Resampling
from tiebreak.scorers.rules import ANEW

MODELS = "abcdef"
FAST = ("--draws", "100")
FITS = {
    "seal": ("elimination", "elimination_tied", "least_squares"),
    "flat_bracket": ("elimination", "elimination_tied", "least_squares"),
    "swiss": ("least_squares",),
    "sorted": ("least_squares",),
    "round_robin": ("least_squares",),
    "full_pairwise": ("least_squares", "win_rate", "points"),
}


def rank(*arguments: str | Path) -> Result:
    return tiebreak("rank", *arguments, *FAST)


def board_of(*arguments: str | Path) -> dict[str, Any]:
    done = rank(*arguments, "--json")
    assert done.exit_code == 0, done.output
    [board] = json.loads(done.output)["leaderboards"]
    return dict(board)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """What a planted judge's run leaves under each protocol: six models, eight items."""
    folder, lots = tmp_path_factory.mktemp("logs"), np.random.default_rng(0)
    contests = [
        planted_contest(
            dict(zip(MODELS, lots.permutation(6).tolist(), strict=True)), item_id=f"q{number}"
        )
        for number in range(8)
    ]
    return {
        protocol: write_log(
            folder / protocol / "log.eval",
            play_all(contests, folder, protocol=protocol),
            task_id=protocol,
        )
        for protocol in FITS
    }


@pytest.mark.slow
@pytest.mark.parametrize("protocol", FITS)
def test_every_rule_on_a_recorded_log(logs: Mapping[str, Path], protocol: str) -> None:
    own = board_of(logs[protocol])
    for rule in ANEW:
        if rule in FITS[protocol]:
            board = board_of(logs[protocol], "--place", rule)
            assert board["placed_by"] == rule
            replaced = f"Placed by {rule} instead of {own['placed_by']}"
            assert (replaced in board["notes"]) == (rule != own["placed_by"])
            assert board["receipt"] == own["receipt"]
            assert sum(row["borda"] for row in board["rows"]) == pytest.approx(len(MODELS) / 2)
            [found] = leaderboards(logs[protocol], rule=rule, how=Resampling(draws=100))
            assert [row.borda for row in found.rows] == [row["borda"] for row in board["rows"]]
            # Of this one it was measured how far it is from judging all pairs.
            measured = "lay in 78%" in rank(logs[protocol], "--place", rule).output
            assert measured == ((protocol, rule) == ("seal", "elimination"))
        elif rule != own["placed_by"]:
            failed = rank(logs[protocol], "--place", rule)
            assert failed.exit_code == 1
            named = [one for one in (own["placed_by"], *FITS[protocol]) if one]
            assert set(failed.output.rpartition(": ")[2].strip().split(", ")) == set(named)


@pytest.mark.slow
def test_compare_places_what_the_rule_fits(logs: Mapping[str, Path]) -> None:
    given = [logs[protocol] for protocol in ("seal", "swiss", "full_pairwise")]
    done = tiebreak("compare", *given, "--place", "elimination_tied", "--json", *FAST)
    [found] = json.loads(done.output)["benchmarks"]
    assert {one["name"]: one["placed_by"] for one in found["logs"]} == {
        "seal": "elimination_tied",
        "swiss": "least_squares",
        "full_pairwise": "win_rate",
    }
    board = board_of(logs["seal"], "--place", "elimination_tied")
    [seal] = [one for one in found["logs"] if one["name"] == "seal"]
    ranks = {row["model"]: row["rank"] for row in board["rows"]}
    assert {one["model"]: one["rank"] for one in seal["places"]} == ranks
    failed = tiebreak("compare", *given[1:], "--place", "elimination", *FAST)
    assert failed.exit_code == 1
    assert "elimination ranks only brackets with seeds" in failed.output


def test_ballots_without_matches_are_placed_by_no_other_rule(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", [graded("q1", {"a": 0.5, "b": 0.25})])
    failed = rank(log, "--place", "least_squares")
    assert failed.exit_code == 1
    assert failed.output == (
        f"Error: {log}: least_squares ranks only matches, and item q1 of pointwise is none of "
        "these. What fits all items: grades\n"
    )
    assert "'grades' is not one of 'elimination'" in rank(log, "--place", "grades").output
