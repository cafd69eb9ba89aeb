"""--price of rank, compare and report: calls whose cost the logs do not know are priced by it."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.cli.handed import wrong_use
from tests.ranking_logs.builders import all_pairs, call, write_log
from tiebreak.cli.verbs import main
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs import read_ranking_logs

FREE, KNOWN = "planted/free", "planted/known"
HOW = Resampling(draws=100)
# A call has 100 tokens in and 10 out.
PRICE = f"{FREE}=1000,5000"


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


def test_what_it_prints(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bill is in dollars and says whose price it is; what a log knows stays.

    By the price a call takes 0.15 dollars; an item has two of them and one of 0.5.
    """
    monkeypatch.chdir(logs)
    wrong_use(__file__, "price.txt")


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
