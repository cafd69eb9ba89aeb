"""Boards of the card: of rows of ours, and of rows that somebody else published."""

import json
from typing import Any

import pytest

from tests.publish.test_latest import row
from tiebreak.publish.card import (
    LISTED,
    Board,
    contests_in,
    judging,
    leaderboards_in,
    our_part,
)

SETTINGS = [
    {"role": "judge", "model": "j", "temperature": 0, "top_p": 0.5},
    "no object",
    {"role": "meta", "model": "m"},
    {"temperature": 1},
]
FULL: dict[str, Any] = {
    **{"level": 0.9, "n_items": 1, "n_unranked": 2, "n_calls": 1200, "cost": 1.5, "seed": 0},
    **{"input_tokens": 1000, "output_tokens": 200, "rubric": "maths", "status": "error"},
    **{"tiebreak_version": "1.2", "inspect_version": "0.3", "unscored_rate": 0.25},
    **{"judge_settings": json.dumps(SETTINGS), "arguments": '{"swap": "never"}'},
}
EMPTY = dict.fromkeys(
    (
        *("level", "n_items", "n_unranked", "n_calls", "cost", "seed", "input_tokens"),
        *("output_tokens", "rubric", "status", "tiebreak_version", "inspect_version"),
        *("unscored_rate", "judge_settings", "arguments", "judge"),
    )
)
OURS = {"benchmark": "gsm8k", "protocol": "seal"}


def lines_of(
    boards: list[dict[str, Any]] | None = None,
    contests: list[dict[str, Any]] | None = None,
    files: dict[str, bytes] | None = None,
) -> list[str]:
    """What a card says of some rows, without what it says of all."""
    text = our_part(
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


def test_a_leaderboard() -> None:
    rows = [
        row("r1", "2026-01-02T03:04:05Z", **FULL, value=0.75, lower=0.5, upper=1.0, rank_lower=1)
        | {"rank_upper": 2},
        row("r1", "2026-01-02T03:04:05Z", **FULL, model="b", value=0.25, rank=2)
        | {"unscored_rate": None, "n": 2},
        row("r1", "2026-01-02T03:04:05Z", **FULL, model="b", metric="mean_rank", value=1.75),
        row("r1", "2026-01-02T03:04:05Z", **FULL, metric="native_score", value=0.625),
    ]
    assert lines_of(boards=rows, files=files_of("r1")) == [
        "### gsm8k · seal · judged by j",
        "| Rank | Model | Borda score | 90% interval | Ranks in it | Mean rank | Native score | "
        "Items |",
        "| 1 | a | 0.750 | 0.500–1.000 | 1–2 | – | 0.625 | 3 |",
        "| 2 | b | 0.250 | – | – | 1.75 | – | 2 |",
        "1 item ranked, 2 left out (no usable reply, or cut short); 1,200 calls, 1,200 tokens, "
        "worth &#36;1.50; unscored: 25%; the run ended with status error.",
        "Run of 2026-01-02: [manifest](runs/r1/manifest.json).",
        "- gsm8k (rubric maths) · seal: judge = j (temperature 0, top_p 0.5); meta = m (the "
        "provider's own settings); = (temperature 1), seed 0; Tiebreak 1.2, Inspect 0.3",
        "- gsm8k · seal: Which answer is shown first is drawn by lot; a match is judged in this "
        "order only.",
    ]


def test_a_leaderboard_of_which_little_is_known() -> None:
    """Of a later version, say: no Borda score, and nothing beside it."""
    rows = [row("r1", "2026", **EMPTY, metric="elo", value=None, rank=None, n=None)]
    assert lines_of(boards=rows) == [
        "### gsm8k · seal",
        "| Rank | Model | Borda score | – interval | Ranks in it | Native score | Items |",
        "| – | a | – | – | – | – | – |",
        "0 items ranked; no call.",
        "Run of 2026.",
        "- gsm8k · seal: no judge",
    ]


@pytest.mark.parametrize(
    ("more", "bill"),
    [
        ({"n_calls": 0, "cost": 1.0}, "no call"),
        ({"n_calls": 1}, "1 call, 3 tokens, of unknown price"),
        ({"n_calls": 2, "cost": 0.0}, "2 calls, 3 tokens, worth &#36;0.00"),
        ({"n_calls": 2, "input_tokens": None}, "2 calls, 2 tokens, of unknown price"),
        ({"n_calls": 2, "output_tokens": None}, "2 calls, 1 token, of unknown price"),
    ],
)
def test_bills(more: dict[str, Any], bill: str) -> None:
    usual = {"input_tokens": 1, "output_tokens": 2, "cost": None}
    assert f"3 items ranked; {bill}." in lines_of([row("r", "t", **{**usual, **more})])


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


def test_who_judged() -> None:
    two = json.dumps([{"role": "judge", "model": name, "t": 0} for name in "jk"])
    three = json.dumps([*json.loads(two), {"role": "meta", "model": "m", "t": 0}])
    rows = [
        row("r", "t", benchmark="a", judge_settings=two, seed=7, tiebreak_version="1"),
        row("r", "t", benchmark="b", judge_settings=two, seed=7, tiebreak_version="1")
        | {"rubric": "maths"},
        row("r", "t", benchmark="c", judge_settings=three, inspect_version="2"),
        row("r", "t", benchmark="d", protocol="original", judge_settings=None, seed=7),
    ]
    assert judging(leaderboards_in(rows, {})) == [
        ("a, b (rubric maths) · seal", "judge = j, k (t 0), seed 7; Tiebreak 1"),
        ("c · seal", "judge = j, k (t 0); meta = m (t 0); Inspect 2"),
        ("d · original", "no judge"),
    ]


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


@pytest.mark.parametrize(
    ("verdict", "judge", "shown"),
    [
        ({"sentence": "a is first", "trust": {"state": "fine"}}, "j", ("a is first", "fine")),
        ({"sentence": "a is first", "trust": {"state": "fine"}}, None, ("a is first", "")),
        ({"sentence": "a is first", "trust": "fine"}, "j", ("a is first", "")),
        ({"sentence": "a is first", "trust": {}}, "j", ("a is first", "")),
        ({"sentence": 1}, "j", ("1", "")),
        ({"sentence": ""}, "j", None),
        ({"trust": {"state": "fine"}}, "j", None),
        ("a is first", "j", None),
    ],
)
def test_verdicts(verdict: Any, judge: str | None, shown: tuple[str, str] | None) -> None:
    other = {**OURS, "protocol": "swiss", "verdict": {"sentence": "another"}}
    files = files_of("r1", benchmarks=[other, {**OURS, "verdict": verdict}])
    assert board(files, judge=judge).verdict == shown
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


def test_a_contest() -> None:
    rows = [
        contest_row("a", lower=2.0, upper=3.0, rank_lower=1, rank_upper=2, slope=-0.5)
        | {"label": "specialist"},
        contest_row("b", rank=2, value=1.25),
        contest_row("a", eliminate_by_round=[1, 1], value=9.0),
        contest_row("b", method="kemeny_young", rank=1),
        contest_row("a", method="borda", rank=7),
    ]
    place = "contest-1"
    listed = [{"name": "wins", "alt": "Wins"}, {"name": "gone", "alt": "Gone"}]
    files = {
        **files_of(place, proof=["p", 1], warnings=["w"], notes="no list"),
        f"plots/{place}/plots.json": json.dumps({"plots": listed}).encode(),
        f"plots/{place}/wins.png": b"",
    }
    [contest] = contests_in(rows, files)
    assert contest.rows == tuple(rows[:2])
    assert [contest.texts(name) for name in ("proof", "warnings", "notes")] == [
        ["p", "1"],
        ["w"],
        [],
    ]
    assert contest.plots == ({"path": f"plots/{place}/wins.png", "alt": "Wins"},)
    assert lines_of(contests=rows, files=files) == [
        "### 2 models over 3 benchmarks",
        "Rounds: x + y → z. What comes early weighs more; this order is that of the columns of "
        "the table of scores.",
        "| Rank | Model | Expected wins | 95% interval | Ranks in it | Λ | Label | Kemeny–Young |",
        "| 1 | a | 2.500 | 2.000–3.000 | 1–2 | -0.500 | specialist | – |",
        "| 2 | b | 1.250 | – | – | – | – | 1 |",
        "Expected wins in Swiss-system contests (CSD): 2 rounds; T = 0; 1,000 contests, seed 3 "
        f"([manifest](runs/{place}/manifest.json)).",
    ]


def test_a_contest_of_which_little_is_known() -> None:
    nothing: dict[str, Any] = {
        "benchmarks": ["x"],
        "rounds": [None],
        "weights": [1.0],
        "order_from": "lot",
    }
    nothing |= {"level": None, "eliminate_by_round": None, "iterations": None, "missing": None}
    assert lines_of(contests=[contest_row(**nothing)]) == [
        "### 1 model over 1 benchmark",
        "Rounds: –. What comes early weighs more; this order was chosen for this contest.",
        "| Rank | Model | Expected wins | Kemeny–Young |",
        "| 1 | a | 2.500 | – |",
        "Expected wins in Swiss-system contests (CSD): 1 round; T = ; 0 contests, seed 3.",
    ]


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({"weights": [1, 2]}, "Rounds: x + y · z."),
        ({"order_from": "names"}, "this order is alphabetical."),
        ({"order_from": "weights"}, "this order is drawn by weight, anew for every contest."),
        (
            {"eliminate_by_round": [1, 2], "missing": "worst", "iterations": 1},
            ": 2 rounds; T = 1, 2; 1 contest, seed 3; a round without a score is lost.",
        ),
        (
            {"missing": "available"},
            ": 2 rounds; T = 0; 1,000 contests, seed 3; a missing score is left out of its "
            "round's mean.",
        ),
    ],
)
def test_how_a_contest_was_played(more: dict[str, Any], shown: str) -> None:
    assert any(shown in line for line in lines_of(contests=[contest_row(**more)]))


def test_contests_are_in_the_order_of_the_rows_and_those_without_wins_are_left_out() -> None:
    rows = [
        contest_row(f"{name}{k}", contest_id=name, method=method, rank=k + 1)
        for k in range(LISTED + 1)
        for name, method in (("contest-2", "csd"), ("contest-3", "borda"), ("contest-1", "csd"))
    ]
    contests = contests_in(rows, {})
    assert [contest.run["model"] for contest in contests] == ["contest-20", "contest-10"]
    assert {len(contest.rows) for contest in contests} == {21}
