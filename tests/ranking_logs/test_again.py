"""Samples read again: one by one, the same as all at once, from files of every kind."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from tests.ranking_logs.builders import bracket, write_shards
from tests.ranking_logs.planted_votes import items_of, votes_of, write_votes
from tests.ranking_logs.test_newcomers import logs, play
from tests.report.page.logs import Folder, judged
from tiebreak.ranking_logs.log import UnreadableLogError
from tiebreak.ranking_logs.read import read_ranking_logs, reread_samples
from tiebreak.ranking_logs.samples import SampleReader, read_held


def epochs(folder: Path) -> Path:
    ballots = [bracket(f"q{n}", "a", "b", "c") for n in range(2)]
    return Folder(folder).add([judged(one, epoch=epoch) for one in ballots for epoch in (1, 2)])


@pytest.mark.parametrize("kind", ["eval", "json", "odd"])
def test_they_are_what_reading_all_gives(tmp_path: Path, kind: str) -> None:
    path = epochs(tmp_path)
    if kind == "json":
        path = path.with_suffix(".json")
        write_eval_log(read_eval_log(str(tmp_path / "1.eval")), str(path))
    expected = read_held(str(path), with_metadata=True)
    assert [(one.id, one.epoch) for one in expected] == [
        *(("q0", 1), ("q1", 1)),
        *(("q0", 2), ("q1", 2)),
    ]
    assert all(one.metadata for one in expected)
    with closing(SampleReader([str(path)])) as again:
        if kind == "odd":  # Inspect may know what has another name, or another form.
            again._where.clear()
        for one in reversed(expected):
            assert again.sample(str(one.id), one.epoch) == one


def test_a_log_that_changed_meanwhile(tmp_path: Path) -> None:
    path = epochs(tmp_path)
    with (
        closing(SampleReader([str(path)])) as again,
        pytest.raises(UnreadableLogError, match=r"1\.eval: sample q9 is gone.*Run this again"),
    ):
        again.sample("q9", 1)


def test_a_log_again_has_the_votes_and_the_texts(tmp_path: Path) -> None:
    """Of one file, of shards, of newcomers joined to the others, and of people, by any name."""
    shards = write_shards(
        tmp_path / "shards", [[bracket(f"q{n}", "a", "b", "c")] for n in range(3)]
    )
    played = (play("full_pairwise", models, range(4)) for models in ("abc", "abcx"))
    votes = list(votes_of(items_of(4), ["ann", "ben"]))
    voted = write_votes(tmp_path / "votes.db", items_of(4), votes)
    renamed = shutil.copy(voted, tmp_path / "votes.eval")
    for paths in ([epochs(tmp_path)], shards, logs(tmp_path, *played), [voted], [renamed]):
        [log] = read_ranking_logs(paths, with_votes=False, rater_names=False)
        [whole] = read_ranking_logs(paths, with_metadata=True, rater_names=False)
        assert tuple(reread_samples(log)) == whole.samples
