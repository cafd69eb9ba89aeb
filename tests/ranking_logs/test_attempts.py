"""Of several attempts at a run one counts."""

from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.cases import cases
from tests.ranking_logs.builders import bracket, call, write_log
from tests.ranking_logs.test_shards import shard
from tiebreak.candidates import PROTOCOL_KEY, RUN_KEY
from tiebreak.cli.verbs import main
from tiebreak.ranking_logs.joins import best_attempts
from tiebreak.ranking_logs.log import JudgedItem, RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs


@dataclass(frozen=True)
class Log:
    """A log in which `judged` of 4 items were judged, the day that its task was started."""

    name: str
    judged: int
    task: str = "T"
    run: str = "f00d"
    judges: str = "j"
    status: str = "success"
    cached: bool = False
    protocol: str = "seal"

    def made(self, day: int) -> RankingLog:
        items = [
            JudgedItem(one, 1, bracket(one, "a", "b", "c", calls=[call(cached=self.cached)]))
            for one in ("q1", "q2", "q3", "q4")
        ]
        fields = {name: getattr(self, name) for name in ("run", "judges", "status", "protocol")}
        created = f"2026-01-{day:02}T00:00:00+00:00"
        fields |= {"task_id": self.task, "samples": tuple(items[: self.judged])}
        return shard(None, [one.id for one in items], self.name, created=created, **fields)


@pytest.mark.parametrize(("given", "kept"), cases(__file__, "which count"))
def test_which_logs_count(given: list[dict[str, Any]], kept: str) -> None:
    logs = [Log(**fields) for fields in given]
    made = [log.made(day) for day, log in enumerate(logs, start=1)]
    for order in permutations(made):
        found = best_attempts(order)
        assert sorted(log.path for log in found) == list(kept)
        left_out = {log.name for log in logs} - {*kept}
        notes = [note for log in found for note in log.notes]
        assert len(notes) == bool(left_out)
        assert all(f"{log} is left out" in notes[0] for log in left_out if len(left_out) == 1)


def test_a_note_says_how_many_are_left_out_and_how_to_see_them() -> None:
    logs = [Log(name, n, status="error").made(n + 1) for n, name in enumerate("abcd")]
    [best] = best_attempts([*logs, Log("e", 4).made(9)])
    [note] = best.notes
    assert "4 other attempts at this run are left out: they judged 0 to 3 items, and e 4" in note
    assert "`tiebreak rank --attempts all` shows them (a, b, c and 1 more)" in note
    [best] = best_attempts([logs[1], logs[3]])
    [note] = best.notes
    assert note.startswith("b is left out: it judged 1 item, and d, another attempt at this run, 3")


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A run that was killed five times, and its end; and one by another judge."""
    items = [bracket(f"q{number}", "a", "b", "c") for number in range(6)]
    for number in range(7):
        whole = number > 4
        write_log(
            tmp_path / f"{number}.eval",
            items if whole else items[:number],
            status="success" if whole else "started",
            expected=6,
            eval_id=f"E{number}",
            task_id=f"T{number}",
            created=f"2026-01-0{number + 1}T00:00:00+00:00",
            metadata={PROTOCOL_KEY: "seal", RUN_KEY: "f00d"},
            model="j/other" if number == 6 else "j/one",
        )
    return tmp_path


def test_five_kills_are_one_board(killed: Path) -> None:
    assert [log.eval_id for log in read_ranking_logs([killed])] == ["E5", "E6"]
    everything = read_ranking_logs([killed], attempts="all")
    assert [log.eval_id for log in everything] == [f"E{number}" for number in range(7)]
    for options, boards in (((), 2), (("--attempts", "all"), 7)):
        shown = CliRunner().invoke(main, ["rank", str(killed), "--draws", "100", *options])
        assert shown.exit_code == 0, shown.output
        assert shown.output.count(" · seal · ") == boards
        assert ("5 other attempts at this run" in " ".join(shown.output.split())) == (boards == 2)
