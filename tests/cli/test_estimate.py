"""The verb `estimate`: the table, JSON, options, wrong use, and that nobody is asked."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inspect_ai.model import Model, ModelAPI
from rich.cells import cell_len

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cli.handed import wrong_use
from tests.harness import ROOT
from tests.ranking_logs.builders import item, match, sample, write_log
from tiebreak.cli.estimate import estimate

COST = "openai/gpt-5: {input: 2, output: 17, input_cache_write: 2, input_cache_read: 0.2}\n"


PANEL = ("x/a", "y/b", "openai/gpt-5")


def run(
    *arguments: str, judge: str | None = "openai/gpt-5", width: int = 100, **env: str
) -> Result:
    given = [*arguments, *(("--judge", judge) if judge else ())]
    return CliRunner().invoke(estimate, given, env={"COLUMNS": str(width), **env})


@pytest.fixture
def logs(tmp_path: Path) -> str:
    folder = tmp_path / "logs"
    for model in "abcd":
        rows = make_rows(6, answer=f"{model}: {{i}}")
        rows[0]["answer"] = "the same"
        rows[1]["native"] = float(model == "a")
        write_inspect_log(folder, model, rows)
    return str(folder)


def found(*arguments: str, **options: Any) -> dict[str, Any]:
    done = run(*arguments, "--json", **options)
    assert done.exit_code == 0, done.output
    data = json.loads(done.output)
    assert isinstance(data, dict)
    return data


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
def test_table(logs: str, width: int) -> None:
    protocols = "all,swiss:rounds=3,swap=never"
    done = run(logs, "--protocol", protocols, "--price", "2,17", width=width)
    assert done.exit_code == 0, done.output
    assert max(cell_len(line.rstrip()) for line in done.output.splitlines()) <= width
    assert "…" not in done.output
    shown = " ".join(done.output.split())
    assert "gsm8k · 4 models · 6 items" in shown
    assert "judge: openai/gpt-5 ($2 in, $17 out per million tokens)" in shown
    # Five items of six pairs, one of them in both orders: nothing depends on the replies.
    assert "full_pairwise 5.8 35 " in shown
    assert "1 item of 6 cost nothing: all answers are identical" in shown
    assert "openai/gpt-5 reasons" in shown
    assert "No price" not in shown


@pytest.mark.slow
def test_json(logs: str) -> None:
    data = found(logs, "--protocol", "seal:swap=close,full_pairwise", "--price", "2,17")
    seal, pairs = data["protocols"]
    assert (seal["protocol"], pairs["protocol"]) == ("seal:swap=close", "full_pairwise")
    assert pairs["calls"] == {"low": 35, "likely": 35, "high": 35}
    assert (seal["fixed"], pairs["fixed"]) == (False, True)
    # Four candidates: seeding, three matches, one critique; three more matches, two items.
    assert seal["calls"]["low"] == 5 * 5
    assert seal["calls"]["high"] == 5 * 10
    for row in (seal, pairs):
        bill = 2e-6 * row["tokens_in"]["likely"] + 17e-6 * row["tokens_out"]["likely"]
        assert row["cost"]["likely"] == pytest.approx(bill, rel=1e-6)
    assert data["judges"]["price"] == {"input": 2, "output": 17}
    assert (data["n_items"], data["n_identical"]) == (6, 1)
    assert data["experience"] is None
    assert data["notes"][0].startswith("openai/gpt-5 reasons: hidden tokens")


def test_csv(logs: str) -> None:
    asked = ("--protocol", "seal,full_pairwise")
    rows = {row["protocol"]: row for row in found(logs, *asked, "--price", "2,17")["protocols"]}
    header, *lines = run(logs, *asked, "--price", "2,17", "--csv").output.splitlines()
    for line in lines:
        cells = dict(zip(header.split(","), line.split(","), strict=True))
        for figure in ("calls", "tokens_out", "cost"):
            for end, value in rows[cells["protocol"]][figure].items():
                assert float(cells[f"{figure}_{end}"]) == value
    assert len(lines) == len(rows)
    unpriced = run(logs, *asked, "--csv").output
    assert len(unpriced.splitlines()) == 3


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
def test_peer_review_beside_others(logs: str, width: int) -> None:
    protocols = "all,peer_review,peer_review:degree=2"
    prices = ("--price", "2,17", "--price", "y/b=0.5,1")
    done = run(logs, "--protocol", protocols, "--peers", ",".join(PANEL), *prices, width=width)
    assert done.exit_code == 0, done.output
    assert max(cell_len(line.rstrip()) for line in done.output.splitlines()) <= width
    assert "…" not in done.output
    shown = " ".join(done.output.split())
    assert "judge: openai/gpt-5 ($2 in, $17 out per million tokens) 3 peers: x/a ($2 in" in shown
    assert "y/b ($0.5 in, $1 out per million tokens)" in shown
    # Three reviewers of the five items with several answers.
    assert "peer_review 2.5 15 " in shown
    # The longest name folds where there is no room for it.
    assert ("peer_review: 2.5 15 " if width == 80 else "peer_review:degree=2 2.5 15 ") in shown
    assert "By name, openai/gpt-5 is no candidate" in shown


@pytest.mark.slow
def test_peer_review_takes_no_judge(logs: str) -> None:
    prices = [part for name in PANEL for part in ("--price", f"{name}={len(name)},1")]
    asked = ("--protocol", "peer_review", "--peers", ",".join(PANEL), *prices)
    data = found(logs, *asked, "--reviewers", '{"openai/gpt-5": d}', judge=None)
    assert data["judges"]["judge"] is None
    assert data["judges"]["peers"] == [
        {
            "name": candidate,
            "model": model,
            "candidate": candidate,
            "price": {"input": len(model), "output": 1},
        }
        for model, candidate in zip(PANEL, "abd", strict=True)
    ]
    [row] = data["protocols"]
    # The three get prompts of the same length.
    tokens_in, tokens_out = (row[f"tokens_{way}"]["likely"] for way in ("in", "out"))
    bill = (tokens_in * (3 + 3 + 12) / 3 + tokens_out) * 1e-6
    assert row["cost"]["likely"] == pytest.approx(bill, rel=0.01)
    # A judge whom nobody asks changes nothing.
    assert found(logs, *asked, "--reviewers", '{"openai/gpt-5": d}', judge="j") == data
    by_list = ("--reviewers", "a,b,d")
    assert found(logs, *asked, *by_list, judge=None) == data


@pytest.mark.slow
def test_options(logs: str, tmp_path: Path) -> None:
    pairs = ("--protocol", "full_pairwise")

    def calls(*options: str) -> int:
        [row] = found(logs, *pairs, *options)["protocols"]
        return int(row["calls"]["likely"])

    assert calls("--no-merge-identical") == 42
    assert calls("--saturated-only") == 28  # without the item that one model alone solved
    [plain] = found(logs, *pairs)["protocols"]
    [hidden] = found(logs, *pairs, "--reasoning-tokens", "100")["protocols"]
    assert hidden["tokens_out"]["likely"] - plain["tokens_out"]["likely"] == 3500
    [other] = found(logs, *pairs, "--task-type", "tool_calling")["protocols"]
    assert other["tokens_in"] != plain["tokens_in"]
    slow = ("--connections", "1", "--seconds-per-call", "60", "--calls-per-minute", "0.5")
    [late] = found(logs, *pairs, *slow)["protocols"]
    assert late["hours"]["likely"] == pytest.approx(35 / 30)  # a call every two minutes
    protocol = f"{ROOT / 'examples' / 'champion_stays.py'}@champion_stays"
    rows = found(logs, "--protocol", f"{protocol},{protocol}:lives=2")["protocols"]
    assert rows[0]["calls"]["likely"] == 15  # three challengers on five items
    assert rows[1]["calls"]["likely"] > 15


@pytest.mark.slow
def test_from_a_log(logs: str, tmp_path: Path) -> None:
    from tiebreak.scorers.ballots import Call

    calls = [
        Call(kind="match", role="judge", model="j/other", input_tokens=1000, output_tokens=500)
    ] * 4
    ballots = item("q", matches=(match("a", "b", 0.5),), calls=tuple(calls))
    log = write_log(tmp_path / "pilot.eval", [sample(ballots)])
    data = found(logs, "--protocol", "full_pairwise", "--from-log", str(log))
    [row] = data["protocols"]
    assert row["tokens_in"] == {"low": 35_000, "likely": 35_000, "high": 35_000}
    assert row["tokens_out"]["likely"] == 17_500
    assert data["experience"]["n_calls"] == 4
    remarks = " ".join((*data["notes"], *data["assumptions"]))
    assert "answered by j/other, which is not asked here" in remarks
    assert "means of 4 calls in the log" in remarks
    assert "reasons" not in remarks  # the log's tokens have the hidden ones in them


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "benchmark", "n_items", "used"),
    [
        ("openai/gpt-5", "gsm8k", 10, True),
        ("openai/gpt-5", "gsm8k", 9, False),
        ("openai/gpt-5", "mmlu", 10, False),
        ("j/other", "gsm8k", 10, False),
    ],
)
def test_a_log_that_lies_there(
    logs: str, judge: str, benchmark: str, n_items: int, used: bool
) -> None:
    from tiebreak.scorers.ballots import Call

    asked = Call(kind="match", role="judge", model=judge, input_tokens=1000, output_tokens=500)
    judged = [
        item(f"q{number}", matches=(match("a", "b", 0.01),), calls=(asked,))
        for number in range(n_items)
    ]
    ballots = [one.model_copy(update={"benchmark": benchmark}) for one in judged]
    log = write_log(Path(logs) / "pilot.eval", [sample(one) for one in ballots])
    data = found(logs, "--protocol", "full_pairwise")
    [row] = data["protocols"]
    remarks = " ".join((*data["notes"], *data["assumptions"]))
    assert (row["tokens_in"]["likely"] == 35_000) is used
    assert (f"The log: {log}, by the same models" in remarks) is used
    assert ("100% of the verdicts are close" in remarks) is used
    assert ("50% of the verdicts are close (0–100%), between 15%" in remarks) is not used
    assert "reasoning_effort is the largest lever" in remarks
    assert ("openai/gpt-5 reasons: hidden" in remarks) is not used


@pytest.mark.slow
def test_a_prompt_that_is_too_long(tmp_path: Path) -> None:
    for model in "ab":
        write_inspect_log(tmp_path, model, make_rows(1, answer=f"{model} word" * 200_000))
    done = run(str(tmp_path), "--protocol", "full_pairwise", judge="openai/gpt-4o")
    assert "so such items stay unscored" in " ".join(done.output.split())


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["planted/x", "openai/gpt-5", "openai/gpt-99", "hf/no/weights"])
def test_nobody_is_asked(
    judge: str, logs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []

    def never(name: str) -> Any:
        return lambda *arguments, **more: happened.append(name)

    for of, name in ((Model, "generate"), (Model, "__init__")):
        monkeypatch.setattr(of, name, never(name))
    if judge != "openai/gpt-99":  # Inspect looks such a model up through an idle client
        monkeypatch.setattr(ModelAPI, "__init__", never("provider"))
    calls = tmp_path / "calls"
    protocols = ("--protocol", "seal,fixed_rubric,peer_review", "--peers", f"{judge},planted/y")
    done = run(logs, *protocols, judge=judge, PLANTED_CALLS=str(calls))
    assert done.exit_code == 0, done.output
    assert not set(happened) - ({"__init__"} if judge == "openai/gpt-99" else set())
    assert not calls.exists()


def test_wrong_use(logs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(logs).parent)
    wrong_use(__file__, "estimate.txt")
