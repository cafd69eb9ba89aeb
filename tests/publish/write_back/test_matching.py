"""Which log belongs to a ranking, and what is said about one that does not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.publish.write_back.builders import answer_of, brackets, write_logs, write_ranking
from tests.ranking_logs.builders import item, match, write_log
from tiebreak.candidates.inspect_logs import read_inspect_log
from tiebreak.candidates.records import ReadOptions
from tiebreak.publish.write_back.rankings import Ranking, read_rankings
from tiebreak.publish.write_back.run import misfit

Rows = list[dict[str, Any]]


def checked(path: Path, found: Ranking) -> str | None:
    [record] = read_inspect_log(path, ReadOptions()).records
    return misfit(record, found)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Ranking:
    """Three models on q0 and q1, out of logs with a third item that was not judged."""
    folder = tmp_path_factory.mktemp("found")
    write_logs(folder / "logs", n_items=3)
    [only], _ = read_rankings([write_ranking(folder / "seal.eval", folder / "logs", brackets())])
    return only


def with_row(number: int | None, **fields: Any) -> Callable[[Rows], Rows]:
    """Rows of which one says something else, or all."""
    return lambda rows: [row | fields if number in (n, None) else row for n, row in enumerate(rows)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda rows: rows, None),
        (lambda rows: rows[::-1], None),
        (lambda rows: rows[:2], None),
        (with_row(2, answer="Not judged, so free to change."), None),
        (with_row(0, native=0.0), None),
        (with_row(0, answer=" 0 says c.  \n\n"), None),  # the same answer, by what the pool says
        (with_row(0, question="What is 0 + 1?"), "1 of 2 ranked items ask another question here"),
        (lambda rows: rows[1:], "1 of 2 ranked items have no answer here, such as 'q0'"),
        (with_row(1, error=True), "1 of 2 ranked items have no answer here, such as 'q1'"),
        (with_row(1, answer="1 says d."), "1 of 2 ranked items have another answer here than was"),
        (
            with_row(None, answer="x"),
            "2 of 2 ranked items have another answer here than was judged",
        ),
    ],
)
def test_questions_and_answers(
    found: Ranking, tmp_path: Path, change: Callable[[Rows], Rows], why: str | None
) -> None:
    rows = change(make_rows(3, answer=answer_of("c")))
    said = checked(write_inspect_log(tmp_path / "other.eval", "c", rows), found)
    assert said is None if why is None else (said or "").startswith(why)


def test_a_model_that_no_ballot_speaks_of(tmp_path: Path) -> None:
    write_logs(tmp_path / "logs")
    unscored = item("q0", [match("a", "b", 0.4), match("a", "c", None)])
    ballots = unscored.model_copy(update={"placed_by": "win_rate"})
    [found], _ = read_rankings([write_ranking(tmp_path / "1.eval", tmp_path / "logs", [ballots])])
    said = checked(tmp_path / "logs" / "c.eval", found)
    assert said == f"{found.log} has no rank for c in any item"


def test_a_ranking_that_does_not_hold_what_was_judged(tmp_path: Path) -> None:
    write_logs(tmp_path / "logs")
    [record] = read_inspect_log(tmp_path / "logs" / "a.eval", ReadOptions()).records
    hashes = {row.item.item_id: row.item.input_hash for row in record.rows}
    ballots = [one.model_copy(update={"input_hash": hashes[one.item_id]}) for one in brackets()]
    [found], _ = read_rankings([write_log(tmp_path / "1.eval", ballots)])
    assert misfit(record, found) == (
        f"{found.log} does not say what was judged in 2 of 2 ranked items"
    )


def test_answers_that_were_merged_belong_although_another_was_judged(tmp_path: Path) -> None:
    """Identical but for blanks, with tool calls: only the first of them stands in the log."""
    call = {"function": "gcd", "arguments": {"a": 4}}
    rows = {"a": "So:", "b": "So:  \n\n", "c": "No."}
    for model, answer in rows.items():
        own = [make_rows(1)[0] | {"answer": answer, "tool_calls": [call]}]
        write_inspect_log(tmp_path / "logs" / f"{model}.eval", model, own)
    merged = item("q0", [match("a", "c", 0.4)], groups=(("a", "b"), ("c",)))
    [found], _ = read_rankings([write_ranking(tmp_path / "1.eval", tmp_path / "logs", [merged])])
    for model in rows:
        assert checked(tmp_path / "logs" / f"{model}.eval", found) is None
