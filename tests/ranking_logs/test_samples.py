"""Samples are read as Inspect reads them, whichever way they are read."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest
from inspect_ai.log import EvalSample, read_eval_log

from tests.ranking_logs.builders import bracket, item, match, sample, write_log
from tiebreak.ranking_logs import UnreadableLogError, read_ranking_logs
from tiebreak.ranking_logs.samples import read_held
from tiebreak.scorers.ballots import STORE_KEY, Verdict, Vote, restore_ballots

ABC = bracket("q1", "a", "b", "c")
FIELDS = ("id", "epoch", "target", "metadata")


def at(id: str | int, epoch: int) -> EvalSample:
    return sample(ABC).model_copy(update={"id": id, "epoch": epoch})


SAMPLES = [
    *(at(id, epoch) for epoch in (2, 1) for id in (10, 9, "ä/b", "1")),
    sample(bracket("broken", "a", "b", "c", complete=False), error="it broke\nat line 7"),
    sample(bracket("void", "a", "b", "c"), invalid="wrong target"),
    sample(bracket("limited", "a", "b", "c", complete=False), limit="token"),
    sample(None, "odd", store={"x": "attachment://0", "y": [1e300, 2**70, -0.0, "\ud800"]}),
]


def change(path: Path, how: Callable[[bytes], bytes]) -> None:
    """Write a sample again, as Inspect does when it is judged again: under the same name."""
    with ZipFile(path, "a") as log:
        name = next(name for name in log.namelist() if name.startswith("samples/"))
        text = how(log.read(name))
        with pytest.warns(UserWarning, match="Duplicate name"):
            log.writestr(name, text)


def compare(path: Path) -> None:
    """Held against Inspect's own reading of the whole log."""
    theirs = read_eval_log(str(path)).samples or []
    held = read_held(str(path), with_metadata=True)
    fields = [[[getattr(one, name) for name in FIELDS] for one in each] for each in (held, theirs)]
    assert fields[0] == fields[1]
    for one, other in zip(held, theirs, strict=True):
        if isinstance(one.store, dict):
            assert one.store == other.store
        else:
            assert one.ballots() == restore_ballots(other.store[STORE_KEY])
    for name, inner in (("error", "message"), ("invalidation", "reason"), ("limit", "type")):
        for mine, other in zip(held, theirs, strict=True):
            pair = [getattr(one, name) for one in (mine, other)]
            assert (pair[0] is None) == (pair[1] is None)
            assert pair[0] is None or len({getattr(one, inner) for one in pair}) == 1
    assert not any(isinstance(one.metadata, dict) for one in read_held(str(path)))


@pytest.mark.parametrize("name", ["r.eval", "r.json"])
def test_every_field_is_as_inspect_reads_it(tmp_path: Path, name: str) -> None:
    compare(write_log(tmp_path / name, SAMPLES))


def test_of_two_samples_under_one_name_the_later_counts(tmp_path: Path) -> None:
    path = write_log(tmp_path / "r.eval", [ABC, bracket("q2", "a", "b", "c")])
    change(path, lambda text: text.replace(b'"answer"', b'"another"'))
    compare(path)
    assert sorted(one.target for one in read_held(str(path))) == ["another", "answer"]


def test_nan_and_infinity_are_read(tmp_path: Path) -> None:
    path = write_log(tmp_path / "r.eval", [sample(None, "x", store={"y": [1.5]})])
    change(path, lambda text: text.replace(b"1.5", b"NaN,-Infinity"))
    [one] = read_held(str(path))
    assert math.isnan(one.store["y"][0])
    assert one.store["y"][1] == -math.inf


def test_a_damaged_sample_is_told(tmp_path: Path) -> None:
    path = write_log(tmp_path / "r.eval", [ABC])
    change(path, lambda text: text[:-9])
    with pytest.raises(UnreadableLogError, match=r"as an Inspect log \(ValueError: EOF"):
        read_ranking_logs([path])


def test_votes_are_read_where_they_are_asked_for(tmp_path: Path) -> None:
    vote = Vote(vote="left", confidence=0.5, reasoning="why")
    verdict = Verdict(first="b", principles={"P1": vote}, checklist={"C1": vote}, margin=0.5)
    played = replace(match("a", "b", 0.5), verdicts=(verdict,), discarded=(verdict,), critique="x")
    whole = item("q", [played], groups=(("a",), ("b",)))
    path = write_log(tmp_path / "r.eval", [whole])
    [one], [bare] = read_ranking_logs([path]), read_ranking_logs([path], with_votes=False)
    assert one.items == (whole,)
    unsaid = (replace(verdict, principles={}, checklist={}),)
    quiet = replace(played, verdicts=unsaid, discarded=unsaid, critique=None)
    expected = whole.model_copy(update={"matches": (quiet,)})
    assert [one.model_dump() for one in bare.items] == [expected.model_dump()]
    assert [one.placement for one in bare.ranked] == [one.placement for one in one.ranked]


def test_packed_votes_are_those_of_the_ballots_without_reasons(tmp_path: Path) -> None:
    left, tie = Vote(vote="left", confidence=0.5), Vote(vote="tie", confidence=0.1)
    right = Vote(vote="right", confidence=1)
    parts: list[dict[str, Vote]] = [{"P1": left, "P2": tie}, {"C1": right}, {}, {}, {"P1": tie}, {}]
    *verdicts, discarded = (
        Verdict(first="b", principles=principles, checklist=checklist, margin=0.5)
        for principles, checklist in zip(parts[::2], parts[1::2], strict=True)
    )
    played = replace(match("a", "b", 0.5), verdicts=(*verdicts,), discarded=(discarded,))
    path = write_log(tmp_path / "r.eval", [item("q", [played], groups=(("a",), ("b",)))])
    [packed], [bare] = (
        read_ranking_logs([path], with_votes=kept)[0].samples for kept in ("packed", False)
    )
    assert packed.votes is not None
    assert [dict(part.items()) for part in packed.votes] == parts
    assert packed.ballots is not None
    assert bare.ballots is not None
    assert packed.ballots.model_dump() == bare.ballots.model_dump()
