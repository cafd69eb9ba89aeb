"""--price of rank, compare and report: calls whose cost the logs do not know are priced by it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.ranking_logs.builders import all_pairs, call, write_log
from tiebreak.cli.verbs import main
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs import RankingLogError, read_ranking_logs

FREE, KNOWN = "planted/free", "planted/known"
HOW = Resampling(draws=100)
# A call has 100 tokens in and 10 out.
PRICE, BY_PRICE = f"{FREE}=1000,5000", 0.15


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Six items; each has two calls without a cost, one of them cached, and one with a cost."""
    calls = [
        *(call(model=FREE, cost=None, cached=cached) for cached in (False, True)),
        call(model=KNOWN, cost=0.5),
    ]
    items = [
        one.model_copy(update={"calls": tuple(calls)})
        for one in (all_pairs(f"q{number}", "abc") for number in range(6))
    ]
    for number, name in enumerate(("first", "second"), start=1):
        ids = {"task_id": name, "eval_id": name, "task_args": {"repeat": number}}
        write_log(tmp_path / "logs" / f"{name}.eval", items, **ids)  # type: ignore[arg-type]
    return tmp_path / "logs"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)], env={"COLUMNS": "300"})


def receipt(*arguments: object) -> Any:
    done = run("rank", *arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.output)["leaderboards"][0]["receipt"]


def test_the_bill_is_in_dollars_and_says_whose_price_it_is(logs: Path) -> None:
    unpriced = receipt(logs / "first.eval")
    assert (unpriced["cost"], unpriced["unpriced_models"]) == (None, [FREE])
    bill = receipt(logs / "first.eval", "--price", PRICE)
    assert bill["cost"] == pytest.approx(6 * (2 * BY_PRICE + 0.5))
    assert bill["paid"] == pytest.approx(6 * (BY_PRICE + 0.5))
    assert (bill["unpriced_models"], bill["priced_models"]) == ([], [FREE])
    # What a log knows stays, also under a price for all.
    assert receipt(logs / "first.eval", "--price", "1000,5000") == bill
    said = " ".join(run("rank", logs / "first.eval", "--price", PRICE).output.split())
    assert f"(by --price where the log has none: {FREE})" in said
    assert "no price known" not in said


@pytest.mark.parametrize(
    ("price", "problem"),
    [
        ("1.25", "'1.25' is not a price: give dollars per million tokens in and out, such as"),
        ("j/other=1,2", f"A price for j/other, which is not asked. The models asked: {FREE}, "),
    ],
)
def test_a_price_that_does_not_fit(logs: Path, price: str, problem: str) -> None:
    with pytest.raises(RankingLogError, match=re.escape(problem)):
        read_ranking_logs([logs], prices=[price])


def test_a_comparison_in_dollars(logs: Path) -> None:
    found = json.loads(run("compare", logs, "--price", PRICE, "--json").output)
    [benchmark] = found["benchmarks"]
    costs = [log["price"]["cost"] for log in benchmark["logs"]]
    assert costs == pytest.approx([2 * BY_PRICE + 0.5] * 2)
    assert f"By --price, where the logs have none: {FREE}" in benchmark["notes"]


def test_a_report_in_dollars(logs: Path, tmp_path: Path) -> None:
    done = run("report", logs, "-o", tmp_path / "page", "--price", PRICE, "--pictures", "svg")
    assert done.exit_code == 0, done.output
    assert (
        f"by --price where the log has none: {FREE}" in (tmp_path / "page/index.html").read_text()
    )


def test_no_log_keeps_a_price_of_its_reader(logs: Path) -> None:
    [log, _] = read_ranking_logs([logs], prices=[PRICE])
    assert any(one.priced for one in log.items[0].calls)
    assert all("priced" not in one for one in log.items[0].model_dump()["calls"])
