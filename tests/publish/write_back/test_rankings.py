"""What ranking logs give to write back, and which of them leave open what that is."""

import re
from collections.abc import Callable
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.expected import check
from tests.publish.write_back.builders import answer_of, brackets, write_logs, write_ranking
from tests.ranking_logs.builders import (
    bracket,
    by_native,
    graded,
    item,
    listed,
    match,
    sample,
    skipped,
    write_log,
)
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.candidates.inspect_logs import read_inspect_log
from tiebreak.candidates.records import ReadOptions
from tiebreak.publish.write_back import WriteBackError
from tiebreak.publish.write_back.rankings import Ranking, read_rankings
from tiebreak.publish.write_back.run import mismatch_reason, standings_by_sample
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs import RankingLogError
from tiebreak.scorers.ballots import ItemBallots


def ranking(path: Path) -> Ranking:
    [only], _ = read_rankings([path])
    return only


def planted(folder: Path, *ballots: ItemBallots) -> Ranking:
    return ranking(write_log(folder / "ranking.eval", ballots))


def said(found: Ranking, item_id: str = "q1") -> dict[str, tuple[float, float, str]]:
    """Rank, Borda and words of every model in an item."""
    return {
        model: (one.rank, one.borda, one.words)
        for model, standings in found.standings.items()
        for (own, _), one in standings.items()
        if own == item_id
    }


def test_what_a_ranking_says(tmp_path: Path) -> None:
    write_logs(tmp_path / "logs")
    found = ranking(write_ranking(tmp_path / "seal.eval", tmp_path / "logs", brackets()))
    assert (found.benchmark, found.protocol, found.score) == ("gsm8k", "seal", "tiebreak_seal")
    assert (found.eval_id, found.run, found.judges) == ("E1", "f00d", ())
    # a and b have Borda (1 + 1/2)/2 and the same mean margin; c is last twice.
    assert found.places == {"a": 1, "b": 1, "c": 3}
    assert said(found, "q0") == {
        "a": (1, 1, "Rank 1 of 3. Beat b."),
        "b": (2, 0.5, "Rank 2 of 3. Beat c. Lost to a."),
        "c": (3, 0, "Rank 3 of 3. Lost to b."),
    }
    answers = {
        (m, key[0]): one.answer for m, s in found.standings.items() for key, one in s.items()
    }
    assert answers["b", "q1"] == "1 says b."


WORDS = {
    # a and b take up ranks 1 and 2 together: (1 + 2)/2, and (3 - 1.5)/2
    "identical answers": item("q1", [match("a", "c", 0.4)], groups=(("a", "b"), ("c",))),
    "nobody was asked": item("q1", groups=(("a", "b", "c"),)),
    "a drawn match, decided by the seed": item(
        "q1", [match("a", "b", 0.0)], groups=(("a",), ("b",))
    ),
    "points": graded("q1", {"a": 0.9, "b": 0.5, "c": 0.5}),
    "native": by_native("q1", {"a": 1.0, "b": 1.0, "c": 1.0}),
    "many": listed("q1", [list("h"), list("abcdefg")], groups=[[m] for m in "bacdefgh"]),
}


def test_ranks_in_words(tmp_path: Path) -> None:
    """Rank, Borda and words of b."""
    lines = []
    for name, ballots in WORDS.items():
        rank, borda, words = said(planted(tmp_path, ballots))["b"]
        lines.append(f"{name}: {rank:g}, {borda:.6f}, {words}\n")
    check(__file__, "words.txt", "".join(lines))


def test_who_has_no_rank_has_none(tmp_path: Path) -> None:
    """A grade that was not given, an item cut short, one skipped, one without a verdict."""
    found = planted(
        tmp_path,
        graded("q1", {"a": 0.9, "b": None, "c": 0.1}, protocol="seal"),
        bracket("q2", "a", "b", "c", complete=False),
        skipped("q3", after=1, of=4),
        item("q4", [match("a", "b", None)], groups=(("a",), ("b",))),
    )
    assert said(found).keys() == {"a", "c"}
    assert {key[0] for standings in found.standings.values() for key in standings} == {"q1"}
    assert found.places["b"] is None


@pytest.mark.slow
def test_means_are_the_leaderboards(tmp_path: Path) -> None:
    """One log of many small benchmarks, whose items are ranked in all sorts of orders."""
    orders = ["".join(order) for order in permutations("abc")]
    ballots = [
        bracket(f"q{number}", *order, benchmark=f"benchmark {first}{second}")
        for first, second in product(range(6), (2, 5))
        for number, order in enumerate((orders[first], orders[second], orders[0]))
    ]
    path = write_log(tmp_path / "ranking.eval", ballots)
    found, _ = read_rankings([path])
    for one, board in zip(found, leaderboards([path], how=Resampling(draws=1)), strict=True):
        assert one.benchmark == board.benchmark
        for row in board.rows:
            bordas = [standing.borda for standing in one.standings[row.model].values()]
            assert sum(bordas) / 3 == pytest.approx(row.borda)
            assert one.places[row.model] == row.rank


def test_a_log_without_the_answers_and_the_name_of_its_score(tmp_path: Path) -> None:
    found = planted(tmp_path, bracket("q1", "a", "b", "c", protocol="my/own one"))
    assert {one.answer for rows in found.standings.values() for one in rows.values()} == {None}
    assert found.score == "tiebreak_my_own_one"


def test_benchmarks_and_protocols_are_kept_apart(tmp_path: Path) -> None:
    write_log(tmp_path / "1.eval", [bracket("q1", *"abc"), bracket("q1", *"cab", benchmark="mmlu")])
    swiss = [bracket("q1", *"bca", protocol="swiss")]
    write_log(tmp_path / "2.eval", swiss, eval_id="E2", task_id="T2")
    found, _ = read_rankings([tmp_path])
    assert {(one.name, said(one)["a"][0]) for one in found} == {
        ("gsm8k · seal", 1),
        ("mmlu · seal", 2),
        ("gsm8k · swiss", 3),
    }


def test_of_several_attempts_the_one_that_went_further_counts(tmp_path: Path) -> None:
    write_log(tmp_path / "1.eval", brackets({"q0": "abc"}), expected=2, status="cancelled")
    later = "2026-01-02T00:00:00+00:00"
    write_log(tmp_path / "2.eval", brackets({"q0": "cba", "q1": "cba"}), created=later)
    [found], notes = read_rankings([tmp_path])
    assert found.log.endswith("2.eval")
    assert said(found, "q0")["c"][0] == 1
    assert any("1.eval is left out" in note for note in notes)


@pytest.mark.parametrize("protocols", [("seal", "seal"), ("my own", "my_own")])
def test_two_runs_for_one_score_are_refused(tmp_path: Path, protocols: tuple[str, str]) -> None:
    for number, protocol in enumerate(protocols, start=1):
        ballots = brackets(protocol=protocol)
        write_log(tmp_path / f"{number}.eval", ballots, eval_id=f"E{number}", task_id=f"T{number}")
    with pytest.raises(WriteBackError, match=r"^Several runs rank the same") as caught:
        read_rankings([tmp_path])
    both = r"gsm8k · .*1\.eval\n.*gsm8k · .*2\.eval\n.*give the ranking log"
    assert re.search(both, str(caught.value))


def test_an_item_in_two_epochs_is_refused(tmp_path: Path) -> None:
    twice = [bracket("q1", "a", "b", "c"), bracket("q1", "b", "a", "c")]
    samples = [sample(one, f"q1#{epoch}") for epoch, one in enumerate(twice, start=1)]
    log = write_log(tmp_path / "ranking.eval", samples)
    with pytest.raises(WriteBackError, match="'q1' more than once, in several epochs"):
        read_rankings([log])


def test_no_ranking_log(tmp_path: Path) -> None:
    with pytest.raises(RankingLogError, match="No ranking log in "):
        read_rankings([write_logs(tmp_path / "logs")])


Rows = list[dict[str, Any]]


def checked(path: Path, found: Ranking) -> str | None:
    [record] = read_inspect_log(path, ReadOptions()).records
    return mismatch_reason(record, found)


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
    assert mismatch_reason(record, found) == (
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


def test_another_model_and_samples_by_id_and_epoch(found: Ranking, tmp_path: Path) -> None:
    rows = make_rows(3, answer=answer_of("c"))
    second = [row | {"epoch": 2, "answer": "x"} for row in rows]
    path = write_inspect_log(tmp_path / "c.eval", "c", [*rows, *second])
    [record] = read_inspect_log(path, ReadOptions()).records
    assert mismatch_reason(record, found) is None
    assert standings_by_sample(record, found).keys() == {("q0", 1), ("q1", 1)}
    other = checked(write_inspect_log(tmp_path / "d.eval", "d", rows), found)
    assert other == f"d is not among the models of {found.log}"
