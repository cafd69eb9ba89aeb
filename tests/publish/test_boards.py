"""Boards of the card: of rows of ours, and of rows that somebody else published."""

import json
from typing import Any

import pytest

from tests.cases import cases
from tests.expected import check
from tests.publish.test_latest import row
from tiebreak.publish.card import (
    LISTED,
    Board,
    contests_in,
    generated_part,
    leaderboards_in,
)

OURS = {"benchmark": "gsm8k", "protocol": "seal"}


def lines_of(
    boards: list[dict[str, Any]] | None = None,
    contests: list[dict[str, Any]] | None = None,
    files: dict[str, bytes] | None = None,
) -> list[str]:
    """What a card says of some rows, without what it says of all."""
    text = generated_part(
        boards or [], files or {}, contests=contests or [], licensed=True, repo_id="me/x"
    )
    begins = ("| ", "Run of", "- gsm8k", "### ", "Rounds:", "Expected wins in")
    return [
        line
        for line in text.splitlines()
        if (line.startswith(begins) or " ranked" in line[:20])
        and not line.startswith(("| --:", "| `", "| :--", "| Metric"))
    ]


def files_of(run: str, **about: Any) -> dict[str, bytes]:
    return {f"runs/{run}/manifest.json": json.dumps(about).encode()}


def board(files: dict[str, bytes] | None = None, **more: Any) -> Board:
    [made] = leaderboards_in([row("r1", "t", **more)], files or {})
    return made


def test_what_a_card_says_of_boards_and_contests() -> None:
    """All that it can, of rows of which little is known, and each way to say a bill and a mode."""
    said = []
    for name, case in cases(__file__, "cards").items():
        boards = [row("r1", "2026-01-02T03:04:05Z", **more) for more in case.get("boards", ())]
        contests = [contest_row(**more) for more in case.get("contests", ())]
        files = {path: json.dumps(file).encode() for path, file in case.get("files", {}).items()}
        said += [f"({name})", *lines_of(boards, contests, files), ""]
    check(__file__, "boards.txt", "\n".join(said))


@pytest.mark.parametrize("n", [LISTED, LISTED + 1])
def test_twenty_models_are_listed(n: int) -> None:
    rows = [row("r", "t", model=f"m{k}", rank=k + 1) for k in range(n)]
    assert len(leaderboards_in(rows, {})[0].rows) == n
    table = [line.split(" | ") for line in lines_of(rows) if line.startswith("| ")]
    assert [cells[1] for cells in table] == ["Model", *(f"m{k}" for k in range(20))]


def test_boards_are_in_the_order_of_the_rows() -> None:
    keys = [("b", "seal", "j"), ("a", "seal", "j"), ("b", "swiss", None), ("b", "seal", "k")]
    rows = [
        row("r", "t", benchmark=benchmark, protocol=protocol, judge=judge, model=model)
        for model in "xy"
        for benchmark, protocol, judge in keys
    ]
    boards = leaderboards_in(rows, {})
    runs = [board.run for board in boards]
    assert [(run["benchmark"], run["protocol"], run["judge"]) for run in runs] == keys
    assert {len(board.rows) for board in boards} == {2}


def test_plots_that_are_there() -> None:
    names = ["a", "b", "../c", "", "x" * 200, "x" * 201, None]
    listed = [
        *({"benchmark": "gsm8k", "name": name, "alt": f"of {name}"} for name in names),
        {"benchmark": "other", "name": "a"},
        {"benchmark": "gsm8k", "name": "d"},
        {"benchmark": "gsm8k", "name": "a", "alt": 1},
    ]
    files = {f"plots/r1/{name}.png": b"" for name in (*names, "d") if name != "b"}
    files["plots/r1/plots.json"] = json.dumps({"plots": listed}).encode()
    assert board(files).plots == (
        {"path": "plots/r1/a.png", "alt": "of a"},
        {"path": f"plots/r1/{'x' * 200}.png", "alt": f"of {'x' * 200}"},
        # The name None is no text, but as one it is there.
        {"path": "plots/r1/None.png", "alt": "of None"},
        {"path": "plots/r1/d.png", "alt": ""},
        {"path": "plots/r1/a.png", "alt": "1"},
    )
    assert board().plots == ()


@pytest.mark.parametrize(
    ("warnings", "texts"), [(["one", 2], ["one", "2"]), ("no list", []), (None, [])]
)
def test_warnings(warnings: Any, texts: list[str]) -> None:
    others = [{**OURS, "protocol": "swiss"}, {**OURS, "benchmark": "mmlu"}, 3]
    files = files_of("r1", benchmarks=[*others, {**OURS, "warnings": warnings}])
    assert board(files).texts("warnings") == texts
    assert board().texts("warnings") == []


@pytest.mark.parametrize(("verdict", "judge", "shown"), cases(__file__, "verdicts"))
def test_verdicts(verdict: Any, judge: str | None, shown: list[str] | None) -> None:
    other = {**OURS, "protocol": "swiss", "verdict": {"sentence": "another"}}
    files = files_of("r1", benchmarks=[other, {**OURS, "verdict": verdict}])
    assert board(files, judge=judge).verdict == (shown and tuple(shown))
    assert board(files_of("r1", benchmarks=[other]), judge=judge).verdict is None


@pytest.mark.parametrize("run", ["../r1", "", "x" * 201])
@pytest.mark.parametrize("content", [b"[1]", b"{cut", b'{"benchmarks": {}}'])
def test_what_files_say_is_not_trusted(run: str, content: bytes) -> None:
    about = {"benchmarks": [{**OURS, "warnings": ["w"]}]}
    name = "x" * 200
    [safe] = leaderboards_in([row(name, "t")], files_of(name, **about))
    assert safe.texts("warnings") == ["w"]
    [unsafe] = leaderboards_in([row(run, "t")], files_of(run, **about))
    assert unsafe.about == {}
    assert board({"runs/r1/manifest.json": content}).about == {}


def contest_row(model: str = "a", **more: Any) -> dict[str, Any]:
    usual = {
        **{"contest_id": "contest-1", "method": "csd", "model": model, "rank": 1, "value": 2.5},
        **{"lower": None, "upper": None, "rank_lower": None, "rank_upper": None, "slope": None},
        **{"label": None, "benchmarks": ["x", "y", "z"], "rounds": [["x", "y"], ["z"]]},
        **{"weights": None, "order_from": "columns", "level": 0.95, "missing": "error"},
        **{"eliminate_by_round": [0, 0], "iterations": 1000, "seed": 3},
    }
    return {**usual, **more}


def test_contests_are_in_the_order_of_the_rows_and_those_without_wins_are_left_out() -> None:
    rows = [
        contest_row(f"{name}{k}", contest_id=name, method=method, rank=k + 1)
        for k in range(LISTED + 1)
        for name, method in (("contest-2", "csd"), ("contest-3", "borda"), ("contest-1", "csd"))
    ]
    contests = contests_in(rows, {})
    assert [contest.run["model"] for contest in contests] == ["contest-20", "contest-10"]
    assert {len(contest.rows) for contest in contests} == {21}
