"""Entries of the card, whole: of rows of ours, and of rows that somebody else published."""

import json
from typing import Any

import pytest

from tests.publish.test_latest import row
from tiebreak.publish.card import our_part
from tiebreak.publish.headlines import (
    LISTED,
    Board,
    boards_in,
    contests_in,
    judging,
    mappings,
    pictures,
    plots_of,
    said_in,
    verdict_of,
    warnings_of,
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


def test_an_entry() -> None:
    rows = [
        row("r1", "2026-01-02T03:04:05Z", **FULL, value=0.75, lower=0.5, upper=1.0, rank_lower=1)
        | {"rank_upper": 2},
        row("r1", "2026-01-02T03:04:05Z", **FULL, model="b", value=0.25, rank=2)
        | {"unscored_rate": None, "n": 2},
        row("r1", "2026-01-02T03:04:05Z", **FULL, model="b", metric="mean_rank", value=1.75),
        row("r1", "2026-01-02T03:04:05Z", **FULL, metric="native_score", value=0.625),
    ]
    usual = "the provider's own settings"
    [board] = boards_in(rows)
    assert (board.benchmark, board.protocol, board.judge) == ("gsm8k", "seal", "j")
    assert board.rows == tuple(rows[:2])
    assert set(board.metrics) == {"normalized_borda", "mean_rank", "native_score"}
    assert board.settings == (
        ("judge", "j", "temperature 0, top_p 0.5"),
        ("meta", "m", usual),
        ("", "", "temperature 1"),
    )
    assert board.swap == (
        "Which answer is shown first is drawn by lot; a match is judged in this order only."
    )
    assert board.manifest == "runs/r1/manifest.json"
    assert lines_of(boards=rows) == [
        "| Rank | Model | Borda score | 90% interval | Ranks in it | Mean rank | Native score | "
        "Items |",
        "| 1 | a | 0.750 | 0.500–1.000 | 1–2 | – | 0.625 | 3 |",
        "| 2 | b | 0.250 | – | – | 1.75 | – | 2 |",
        "1 item ranked, 2 left out (no usable reply, or cut short); 1,200 calls, 1,200 tokens, "
        "worth &#36;1.50; unscored: 25%; the run ended with status error.",
        "Run of 2026-01-02.",
        "- gsm8k (rubric maths) · seal: judge = j (temperature 0, top_p 0.5); meta = m (the "
        "provider's own settings); = (temperature 1), seed 0; Tiebreak 1.2, Inspect 0.3",
    ]


def lines_of(
    boards: list[dict[str, Any]] | None = None,
    contests: list[dict[str, Any]] | None = None,
    files: dict[str, bytes] | None = None,
) -> list[str]:
    """What a card says of some rows, without what it says of all."""
    text = our_part(
        boards or [], files or {}, contests=contests or [], licensed=True, repo_id="me/x"
    )
    begins = ("| ", "Run of", "- gsm8k", "Rounds:", "Expected wins in")
    return [
        line
        for line in text.splitlines()
        if (line.startswith(begins) or " ranked" in line[:20])
        and not line.startswith(("| --:", "| `", "| :--", "| Metric"))
        and ": Which answer" not in line
    ]


def test_an_entry_of_which_little_is_known() -> None:
    """Of a later version, say: no Borda score, and nothing beside it."""
    rows = [row("r1", "2026", **EMPTY, metric="elo", value=None, rank=None, n=None)]
    [board] = boards_in(rows)
    assert (board.judge, board.settings, board.swap, board.made_by) == ("", (), "", "")
    assert lines_of(boards=rows) == [
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
        ({"n_calls": 2, "cost": 0.0}, "2 calls, 3 tokens, worth $0.00"),
        ({"n_calls": 2, "input_tokens": None}, "2 calls, 2 tokens, of unknown price"),
        ({"n_calls": 2, "output_tokens": None}, "2 calls, 1 token, of unknown price"),
    ],
)
def test_bills(more: dict[str, Any], bill: str) -> None:
    usual = {"input_tokens": 1, "output_tokens": 2, "cost": None}
    [board] = boards_in([row("r", "t", **{**usual, **more})])
    assert board.bill == bill


@pytest.mark.parametrize(
    ("versions", "made_by"),
    [(("1", None), "Tiebreak 1"), ((None, "2"), "Inspect 2"), ((None, None), "")],
)
def test_versions(versions: tuple[str | None, str | None], made_by: str) -> None:
    tiebreak, inspect = versions
    [board] = boards_in([row("r", "t", tiebreak_version=tiebreak, inspect_version=inspect)])
    assert board.made_by == made_by


@pytest.mark.parametrize("text", ["[[", "{}", "null", "[1, null]", None, "[" * 100_000])
def test_settings_that_are_none(text: str | None) -> None:
    [board] = boards_in([row("r", "t", judge_settings=text, arguments=text)])
    assert (board.settings, board.swap) == ((), "")


@pytest.mark.parametrize("n", [LISTED, LISTED + 1])
def test_twenty_models_are_listed(n: int) -> None:
    [board] = boards_in([row("r", "t", model=f"m{k}", rank=k + 1) for k in range(n)])
    assert len(board.rows) == n
    shown = [
        line.split(" | ")[1] for line in lines_of(boards=[dict(one) for one in board.rows])[1:21]
    ]
    assert shown == [f"m{k}" for k in range(20)]


def test_entries_are_in_the_order_of_the_rows() -> None:
    keys = [("b", "seal", "j"), ("a", "seal", "j"), ("b", "swiss", None), ("b", "seal", "k")]
    rows = [
        row("r", "t", benchmark=benchmark, protocol=protocol, judge=judge, model=model)
        for model in "xy"
        for benchmark, protocol, judge in keys
    ]
    found = boards_in(rows)
    assert [(one.benchmark, one.protocol, one.judge or None) for one in found] == keys
    assert {len(one.rows) for one in found} == {2}


def test_who_judged() -> None:
    two = json.dumps([{"role": "judge", "model": name, "t": 0} for name in "jk"])
    three = json.dumps([*json.loads(two), {"role": "meta", "model": "m", "t": 0}])
    rows = [
        row("r", "t", benchmark="a", judge_settings=two, seed=7, tiebreak_version="1"),
        row("r", "t", benchmark="b", judge_settings=two, seed=7, tiebreak_version="1")
        | {"rubric": "maths"},
        row("r", "t", benchmark="c", judge_settings=three),
        row("r", "t", benchmark="d", protocol="original", judge_settings=None, seed=7),
    ]
    assert judging(boards_in(rows)) == [
        ("a, b (rubric maths) · seal", "judge = j, k (t 0), seed 7; Tiebreak 1"),
        ("c · seal", "judge = j, k (t 0); meta = m (t 0)"),
        ("d · original", "no judge"),
    ]


def files_of(run: str, **said: Any) -> dict[str, bytes]:
    return {f"runs/{run}/manifest.json": json.dumps(said).encode()}


def board(**more: Any) -> Board:
    [found] = boards_in([row("r1", "t", **more)])
    return found


OURS = {"benchmark": "gsm8k", "protocol": "seal"}


def test_plots_that_are_there() -> None:
    names = ["a", "b", "../c", "", "x" * 200, "x" * 201, None]
    listed = [
        *({"benchmark": "gsm8k", "name": name, "alt": f"of {name}"} for name in names),
        {"benchmark": "other", "name": "a"},
        {"benchmark": "gsm8k", "name": "d"},
    ]
    files = {f"plots/r1/{name}.png": b"" for name in (*names, "d") if name != "b"}
    files["plots/r1/plots.json"] = json.dumps({"plots": listed}).encode()
    assert plots_of(board(), files) == [
        {"path": "plots/r1/a.png", "alt": "of a"},
        {"path": f"plots/r1/{'x' * 200}.png", "alt": f"of {'x' * 200}"},
        # The name None is no text, but as one it is there.
        {"path": "plots/r1/None.png", "alt": "of None"},
        {"path": "plots/r1/d.png", "alt": ""},
    ]
    assert plots_of(board(), {}) == []
    assert pictures("x", [{"name": "a", "alt": 1}], {"x/a.png": b""}) == [
        {"path": "x/a.png", "alt": "1"}
    ]


def test_warnings() -> None:
    files = files_of(
        "r1",
        benchmarks=[
            {**OURS, "warnings": ["one", 2]},
            {**OURS, "protocol": "swiss", "warnings": ["another protocol"]},
            {**OURS, "benchmark": "mmlu", "warnings": ["another benchmark"]},
            {**OURS, "warnings": "no list"},
            {**OURS},
            {**OURS, "warnings": ["three"]},
        ],
    )
    assert warnings_of(board(), files) == ["one", "2", "three"]
    assert warnings_of(board(), {}) == []


@pytest.mark.parametrize(
    ("verdict", "judge", "found"),
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
def test_verdicts(verdict: Any, judge: str | None, found: tuple[str, str] | None) -> None:
    other = {**OURS, "protocol": "swiss", "verdict": {"sentence": "another"}}
    files = files_of("r1", benchmarks=[other, {**OURS, "verdict": verdict}])
    assert verdict_of(board(judge=judge), files) == found
    assert verdict_of(board(judge=judge), files_of("r1", benchmarks=[other])) is None
    assert verdict_of(board(judge=judge), {}) is None


def test_what_files_say() -> None:
    path = "runs/r1/x.json"
    assert said_in("r1", path, {path: b'{"a": 1}'}) == {"a": 1}
    assert said_in("r1", path, {path: b"[1]"}) == {}
    assert said_in("r1", path, {path: b"{cut"}) == {}
    assert said_in("r1", path, {}) == {}
    for run in ("../r1", "", "x" * 201):
        assert said_in(run, path, {path: b'{"a": 1}'}) == {}
    assert said_in("x" * 200, path, {path: b'{"a": 1}'}) == {"a": 1}
    assert mappings([{"a": 1}, 2, {}]) == [{"a": 1}, {}]
    assert mappings({"a": 1}) == []


def contest_row(model: str = "a", **more: Any) -> dict[str, Any]:
    usual = {
        **{"contest_id": "contest-1", "method": "csd", "model": model, "rank": 1, "value": 2.5},
        **{"lower": None, "upper": None, "rank_lower": None, "rank_upper": None, "slope": None},
        **{"label": None, "benchmarks": ["x", "y", "z"], "rounds": [["x", "y"], ["z"]]},
        **{"weights": None, "order_from": "columns", "level": 0.95, "missing": "error"},
        **{"eliminate_by_round": [0, 0], "iterations": 1000, "seed": 3},
    }
    return {**usual, **more}


PLACE = "contest-1"


def test_a_contest() -> None:
    rows = [
        contest_row("a", lower=2.0, upper=3.0, rank_lower=1, rank_upper=2, slope=-0.5)
        | {"label": "specialist"},
        contest_row("b", rank=2, value=1.25),
        contest_row("a", eliminate_by_round=[1, 1], value=9.0),
        contest_row("b", method="kemeny_young", rank=1),
        contest_row("a", method="borda", rank=7),
    ]
    listed = [{"name": "wins", "alt": "Wins"}, {"name": "gone", "alt": "Gone"}]
    said = {"proof": ["p", 1], "warnings": ["w"], "notes": "no list"}
    files = {
        f"runs/{PLACE}/manifest.json": json.dumps(said).encode(),
        f"plots/{PLACE}/plots.json": json.dumps({"plots": listed}).encode(),
        f"plots/{PLACE}/wins.png": b"",
    }
    [found] = contests_in(rows, files)
    assert found.title == "2 models over 3 benchmarks"
    assert (found.rows, found.merged) == (tuple(rows[:2]), {"b": 1})
    assert (found.proof, found.warnings, found.notes) == (("p", "1"), ("w",), ())
    assert found.plots == ({"path": f"plots/{PLACE}/wins.png", "alt": "Wins"},)
    assert found.manifest == f"runs/{PLACE}/manifest.json"
    assert lines_of(contests=rows, files=files) == [
        "Rounds: x + y → z. What comes early weighs more; this order is that of the columns of "
        "the table of scores.",
        "| Rank | Model | Expected wins | 95% interval | Ranks in it | Λ | Label | Kemeny–Young |",
        "| 1 | a | 2.500 | 2.000–3.000 | 1–2 | -0.500 | specialist | – |",
        "| 2 | b | 1.250 | – | – | – | – | 1 |",
        "Expected wins in Swiss-system contests (CSD): 2 rounds; T = 0; 1,000 contests, seed 3 "
        f"([manifest](runs/{PLACE}/manifest.json)).",
    ]


def test_a_contest_of_which_little_is_known() -> None:
    nothing: dict[str, Any] = {
        "benchmarks": ["x"],
        "rounds": [None],
        "weights": [1.0],
        "order_from": "lot",
    }
    nothing |= {"level": None, "eliminate_by_round": None, "iterations": None, "missing": None}
    [found] = contests_in([contest_row(**nothing)], {})
    assert found.title == "1 model over 1 benchmark"
    assert (found.proof, found.warnings, found.notes, found.plots) == ((), (), (), ())
    assert lines_of(contests=[contest_row(**nothing)]) == [
        "Rounds: –. What comes early weighs more; this order was chosen for this contest.",
        "| Rank | Model | Expected wins | Kemeny–Young |",
        "| 1 | a | 2.500 | – |",
        "Expected wins in Swiss-system contests (CSD): 1 round; T = ; 0 contests, seed 3.",
    ]


@pytest.mark.parametrize(
    ("more", "name", "said"),
    [
        ({"weights": [1, 2]}, "rounds", "x + y · z"),
        ({"order_from": "names"}, "order", "is alphabetical"),
        ({"order_from": "weights"}, "order", "is drawn by weight, anew for every contest"),
        (
            {"eliminate_by_round": [1, 2], "missing": "worst", "iterations": 1},
            "how",
            "2 rounds; T = 1, 2; 1 contest, seed 3; a round without a score is lost",
        ),
        (
            {"missing": "available"},
            "how",
            "2 rounds; T = 0; 1,000 contests, seed 3; a missing score is left out of its round's "
            "mean",
        ),
    ],
)
def test_how_a_contest_was_played(more: dict[str, Any], name: str, said: str) -> None:
    [found] = contests_in([contest_row(**more)], {})
    assert getattr(found, name) == said


def test_contests_are_in_the_order_of_the_rows_and_those_without_wins_are_left_out() -> None:
    rows = [
        contest_row(f"{name}{k}", contest_id=name, method=method, rank=k + 1)
        for k in range(LISTED + 1)
        for name, method in (("contest-2", "csd"), ("contest-3", "borda"), ("contest-1", "csd"))
    ]
    found = contests_in(rows, {})
    assert [one.rows[0]["model"] for one in found] == ["contest-20", "contest-10"]
    assert {len(one.rows) for one in found} == {21}
    assert not any(one.several for one in found)
