"""A votes file is begun with answers, and goes on only with the same."""

from pathlib import Path

import pytest

from tests.cases import cases
from tests.people.serving import votes_item
from tiebreak.candidates import load_candidates
from tiebreak.people.turns import items_of, votes_on
from tiebreak.ranking_logs import RankingLogError, read_ranking_logs
from tiebreak.ranking_logs.votes_file import VotesMeta, open_votes_file

STUDY = "examples/study"
ITEMS = [votes_item(n, {"m1": f"{n} one", "m2": f"{n} other"}) for n in range(3)]


def meta(**more: object) -> VotesMeta:
    usual = {"kind": "matches", "seed": 1, "created": "now", "sources": ("logs/",)}
    return VotesMeta(**usual | more)  # type: ignore[arg-type]


def test_items_are_those_that_a_judge_was_asked() -> None:
    """Of the same answers a ranking log and a votes file have the same ids, groups, texts."""
    items = items_of(load_candidates(STUDY), "matches", 0)
    [log] = read_ranking_logs(STUDY, with_metadata=True)
    judged = {(sample.id, sample.epoch): sample for sample in log.samples}
    assert {(item.id, item.epoch) for item in items} == judged.keys()
    for item in items:
        sample = judged[item.id, item.epoch]
        assert sample.ballots is not None
        assert item.answers == sample.answers
        for name in ("benchmark", "item_id", "input_hash", "groups", "models", "native", "passed"):
            assert getattr(item.ballots, name) == getattr(sample.ballots, name), name
        assert (item.ballots.matches, item.ballots.complete) == ((), False)


def test_it_goes_on_as_it_was_begun(tmp_path: Path) -> None:
    path = tmp_path / "votes.db"
    for goal, kept in ((10, 10), (None, 10), (20, 20)):
        votes_on(path, ITEMS, meta(goal=goal)).close()
        with open_votes_file(path) as file:
            assert file.meta == meta(goal=kept)


@pytest.mark.parametrize(("changed", "message"), cases(__file__, "other settings are refused"))
def test_other_settings_are_refused(
    tmp_path: Path, changed: dict[str, object], message: str
) -> None:
    path = tmp_path / "votes.db"
    votes_on(path, ITEMS, meta()).close()
    with pytest.raises(RankingLogError, match=message):
        votes_on(path, ITEMS, meta(**changed))
    votes_on(path, ITEMS, meta()).close()  # and the file is free again


def test_another_file_is_refused_and_a_folder_made(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.touch()
    with pytest.raises(RankingLogError, match=r"other\.db is not a votes file: give another --out"):
        votes_on(other, ITEMS, meta())
    votes_on(tmp_path / "new" / "votes.db", ITEMS, meta()).close()
