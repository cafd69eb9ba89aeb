"""Data frames of ranking logs, against the leaderboards and the ballots themselves."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

from tests.analysis.peers.builders import reviews
from tests.ranking_logs.builders import (
    bracket,
    call,
    item,
    match,
    sample,
    skipped,
    write_log,
)
from tiebreak.analysis.frames import (
    BALLOTS,
    LEADERBOARD,
    RANKINGS,
    ballots_df,
    leaderboard_df,
    rankings_df,
)
from tiebreak.ranking_logs import RankingLogError

FRAMES: list[tuple[Callable[..., pd.DataFrame], Mapping[str, str]]] = [
    (leaderboard_df, LEADERBOARD),
    (rankings_df, RANKINGS),
    (ballots_df, BALLOTS),
]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Logs of brackets and of reviews, with items cut short and items without a ranking."""
    folder = tmp_path_factory.mktemp("frames")
    items = [
        sample(bracket("q1", "a", "b", "c", calls=[call("match", model="j/judge")])),
        sample(item("q4", [match("a", "b", None), match("a", "c", None, round=2)])),
        sample(item("q5", [match("a", "b", 0.4)], complete=False), error="it broke"),
        sample(skipped("q6", 3, 4)),
        sample(None, "q7", error="it broke"),
    ]
    write_log(folder / "seal.eval", items)
    panel = [reviews("q1", {"a": "abc", "b": "b=ac", "c": None})]
    write_log(folder / "peers.eval", panel, eval_id="E4", task_id="T4")
    return [folder]


@pytest.mark.parametrize(("frame", "columns"), FRAMES)
def test_columns_and_dtypes_are_those_that_are_documented(
    frame: Callable[..., pd.DataFrame], columns: Mapping[str, str], logs: list[Path], tmp_path: Path
) -> None:
    write_log(tmp_path / "a.eval", [sample(None, "q", error="it broke")])
    found, empty = frame(logs), frame([tmp_path])
    assert (len(found) > 0, len(empty)) == (True, 0)
    for one in (found, empty):
        assert {name: str(kind) for name, kind in one.dtypes.items()} == dict(columns)
    with pytest.raises(RankingLogError, match="does not exist"):
        frame([tmp_path / "nowhere"])
