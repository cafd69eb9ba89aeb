"""The demo: its sentences about judges and reviewers, and one small real run, twice."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from inspect_ai.log import read_eval_log

from tests.analysis.peers.builders import read_panels
from tests.cases import cases
from tests.expected import check
from tests.ranking_logs.builders import item, match
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.candidates import load_candidates
from tiebreak.demo import run
from tiebreak.demo.local.server import LOCAL
from tiebreak.demo.run import ITEMS, SETTINGS, demo_study, run_demo
from tiebreak.demo.screen import about_boards, about_judge, about_reviewers
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.ballots import ItemBallots, Listing, Match
from tiebreak.study.run import written_report
from tools.recorded import neutral


def swapped(first_order: float, second_order: float, first: str = "a") -> Match:
    """A match with a margin for each order, positive if "a" wins; `first` is shown first."""
    return match("a", "b", first_order, second_order=second_order, first=first)


JUDGED: dict[str, list[Match]] = {
    "the answer shown first": [swapped(0.5, -0.5)] * 8,
    "the one shown second": [swapped(-0.5, 0.5)] * 8,
    "neither": [swapped(0.0, 0.0)] * 8,
    "the better one": [swapped(0.5, 0.5, side) for side in "ab" * 4],
    "nothing": [match("a", "b", None)] * 8,
}


def reviewed(reviews: list[tuple[str, str | None]]) -> ItemBallots:
    """An item with these reviews: the order of presentation, and the ranking, or None."""
    listings = tuple(
        Listing(
            reviewer="r",
            shown=tuple(shown),
            groups=tuple(map(tuple, (["ab"] if "=" in ranked else ranked) if ranked else ())),
            unscored=None if ranked else "silent",
        )
        for shown, ranked in reviews
    )
    return item("q1", groups=[["a"], ["b"]]).model_copy(update={"listings": listings})


def test_numbers_of_judges_and_reviewers_decide_what_is_said_of_them() -> None:
    texts = []
    for name, matches in JUDGED.items():
        items = [item(f"q{n}", [one]) for n, one in enumerate(matches)]
        texts.append(f"({name})\n{about_judge('acme/judge', items)}")
    texts += [
        f"({reviews})\n{about_reviewers('acme/peer', [reviewed(reviews)])}"
        for reviews in cases(__file__, "reviewers")
    ]
    check(__file__, "about.txt", "\n\n".join([*texts, ""]))


def test_a_protocol_that_the_demo_does_not_show(tmp_path: Path) -> None:
    with pytest.raises(
        PrerequisiteError, match="shows round_robin, seal, peer_review, not 'swiss'"
    ):
        run_demo(tmp_path / "demo", protocol="swiss")  # type: ignore[arg-type]
    assert not (tmp_path / "demo").exists()


needs_box = pytest.mark.skipif(
    not shutil.which("bwrap") and "CI" not in os.environ, reason="needs bubblewrap"
)


def test_without_a_box_the_demo_begins_with_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The programs are by a small model for known items, so they also run with limits alone."""
    for where, said in (
        ("bubblewrap", None),
        ("local", "humaneval's programs run"),
    ):
        monkeypatch.setattr(run, "boundary", Mock(return_value=where))
        assert run.runnable(["gsm8k", "humaneval"]) == ["gsm8k", "humaneval"]
        printed = capsys.readouterr().out
        assert printed.startswith(said) if said else printed == ""
        assert ("apt install bubblewrap" in printed) == bool(said)


@needs_box
def test_the_demos_programs_run_in_the_box() -> None:
    study = demo_study("round_robin", LOCAL, 1, 0, SETTINGS, ["humaneval"])
    assert study.benchmarks[0].args["sandbox"] == "bubblewrap"


def test_without_a_place_for_code_the_demo_does_without_humaneval(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.runnable(["gsm8k", "humaneval"]) == ["gsm8k", "humaneval"]
    monkeypatch.setattr(
        run, "boundary", Mock(side_effect=PrerequisiteError("apt install bubblewrap"))
    )
    assert run.runnable(["gsm8k", "humaneval"]) == ["gsm8k"]
    assert "humaneval is left out. apt install bubblewrap" in capsys.readouterr().out
    assert run.runnable(["gsm8k"]) == ["gsm8k"]
    with pytest.raises(PrerequisiteError):
        run.runnable(["humaneval"])


def test_enough_settings_and_items() -> None:
    assert len({(s.temperature, s.seed, s.documentation) for s in SETTINGS}) >= 4
    for path in ITEMS.glob("*.jsonl"):
        assert len(path.read_text().splitlines()) == run.ANSWERED
    assert {path.stem for path in ITEMS.glob("*.jsonl")} == {"gsm8k", "mmlu", "humaneval", "bfcl"}


@pytest.mark.slow
def test_a_small_run_its_repetition_from_the_cache_and_a_peer_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = [SETTINGS[0], SETTINGS[2]]
    boards = []
    for _ in range(2):
        logs = run_demo(tmp_path / "demo", limit=1, settings=settings, benchmarks=["gsm8k"])
        pool = load_candidates(logs.candidates)
        assert pool.models == ("smollm2-135m/greedy", "smollm2-135m/hot")
        assert len(pool) == 1
        [board] = leaderboards([logs.ranking])
        boards.append(board)
        assert board.n_items == 1
        assert board.judges == (LOCAL,)
        printed, steps = capfd.readouterr()
        assert "[4/5] Judging: gsm8k/round_robin" in steps
        assert "The judge, tiebreak-local/smollm2-135m: " in printed
        assert f"tiebreak rank {logs.ranking}" in printed
        assert str(logs.report / "index.html") in printed
        assert (logs.report / "index.html").exists() == (len(boards) == 1)
        # Drawing takes seconds.
        monkeypatch.setattr(
            "tiebreak.study.run.write_report", lambda _, folder, title: [folder / "index.html"]
        )
    first, second = boards
    assert [(row.model, row.borda) for row in first.rows] == [
        (row.model, row.borda) for row in second.rows
    ]
    assert first.receipt.n_cached == 0
    assert second.receipt.n_cached == second.receipt.n_calls > 0

    # Judge the same answers again, by peer review.
    logs = run_demo(
        tmp_path / "demo", protocol="peer_review", limit=1, settings=settings, benchmarks=["gsm8k"]
    )
    [panel] = read_panels([logs.ranking])
    names = ("smollm2-135m/greedy", "smollm2-135m/hot")
    assert tuple(reviewer.name for reviewer in panel.reviewers) == panel.models == names
    assert {reviewer.model for reviewer in panel.reviewers} == {LOCAL}
    assert panel.own == (0, 1)
    [path] = logs.ranking.rglob("*.eval")
    kept = neutral(read_eval_log(str(path)))
    assert str(tmp_path) not in kept.model_copy(update={"location": ""}).model_dump_json()
    printed = capfd.readouterr().out
    assert "The reviewers, tiebreak-local/smollm2-135m: 2 reviews" in printed
    assert f"tiebreak peers {logs.ranking}" in printed


@pytest.mark.parametrize(("apart", "said"), cases(__file__, "all_boards"))
def test_one_sentence_on_all_boards(apart: dict[str, int], said: str) -> None:
    boards: list[Any] = [
        Mock(
            benchmark=benchmark,
            n_items=10,
            rows=range(3),
            pairs=[Mock(apart=pair < n) for pair in range(3)],
        )
        for benchmark, n in apart.items()
    ]
    assert about_boards(boards) == said
    boards[0].n_items = 8
    assert ": 8–10 items of a benchmark are few" in about_boards(boards)


def test_without_matplotlib_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = written_report([], tmp_path)
    assert page.startswith("not written: ")
    assert "pip install matplotlib" in page
