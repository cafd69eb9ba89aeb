"""Comparison with a reference: golden tables by hand, SciPy as oracle, and what is refused."""

import math
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from tests.analysis.test_entries import WHEN
from tests.ranking_logs.builders import (
    all_pairs,
    by_native,
    call,
    graded,
    listed,
    skipped,
    write_log,
)
from tiebreak.analysis.comparison import (
    BenchmarkComparison,
    ComparedLog,
    Comparison,
    compare,
)
from tiebreak.analysis.errors import AnalysisError, NothingToCompareError
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.analysis.receipt import price_of
from tiebreak.rankers import Resampling
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import settle

NATIVE = {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.5}


class Folder:
    """A folder of ranking logs, each younger than the one before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n = 0

    def add(self, *items: ItemBallots, **task_args: object) -> Path:
        self.n += 1
        return write_log(
            self.path / f"{self.n}.eval",
            items,
            task_id=f"T{self.n}",
            eval_id=f"E{self.n}",
            created=WHEN.format(self.n),
            task_args=task_args,
        )

    def compare(self, **options: object) -> Comparison:
        return compare([self.path], **{"how": Resampling(draws=40)} | options)  # type: ignore[arg-type]

    def benchmark(self, **options: object) -> BenchmarkComparison:
        [only] = self.compare(**options).benchmarks
        return only


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


NAN = math.nan


def named(one: BenchmarkComparison) -> dict[str, ComparedLog]:
    return {log.name: log for log in one.logs}


def figures(log: ComparedLog) -> tuple[float, float, float]:
    assert log.agreement is not None
    found = log.agreement
    return found.spearman.value, found.kendall.value, found.top1.value


def full(n: int, order: str = "abcd", **fields: object) -> list[ItemBallots]:
    return [all_pairs(f"q{k}", order, **fields) for k in range(n)]  # type: ignore[arg-type]


def lists(n: int, order: str, **fields: object) -> list[ItemBallots]:
    groups = [[model] for model in sorted(order)]
    return [listed(f"q{k}", list(order), groups=groups, **fields) for k in range(n)]


@pytest.mark.slow
def test_agreement_is_that_of_the_ranks_that_are_printed(folder: Folder) -> None:
    # The oracle: SciPy on the rows of the leaderboards.
    random = Random(1)
    for _ in range(3):
        orders = ["".join(random.sample("abcdef", 6)) for _ in range(7)]
        folder.add(*(all_pairs(f"q{k}", o, protocol=f"p{folder.n}") for k, o in enumerate(orders)))
    boards = leaderboards([folder.path], how=Resampling(draws=1))
    by_model = [{row.model: row.rank or NAN for row in board.rows} for board in boards]
    ranks = [[own[model] for model in "abcdef"] for own in by_model]
    leaders = [{n for n, rank in enumerate(own) if rank == 1} for own in ranks]
    for number, log in enumerate(folder.benchmark(reference="p0").logs[1:], start=1):
        rho, tau, first = figures(log)
        assert rho == pytest.approx(spearmanr(ranks[number], ranks[0]).statistic)
        assert tau == pytest.approx(kendalltau(ranks[number], ranks[0]).statistic)
        both = len(leaders[0] & leaders[number])
        assert first == both / (len(leaders[0]) * len(leaders[number]))


@pytest.mark.slow
def test_logs_are_compared_on_what_both_ranked(folder: Folder, tmp_path: Path) -> None:
    # The log lacks q0; there it would have agreed least, so leaving it in would show.
    random = Random(4)
    orders = ["dcba", *("".join(random.sample("abcd", 4)) for _ in range(6))]
    reference = [all_pairs(f"q{k}", order) for k, order in enumerate(orders)]
    trimmed = Folder(tmp_path / "trimmed")
    for where, items in ((folder, reference), (trimmed, reference[1:])):
        where.add(*items)
        where.add(*(all_pairs(f"q{k}", "abcd", protocol="seal") for k in range(1, 7)))
    part, whole = named(folder.benchmark())["seal"], named(trimmed.benchmark())["seal"]
    assert part.agreement == whole.agreement
    assert (part.n_items, part.n_models) == (6, 4)
    notes = [[*map(str, where.benchmark().notes)] for where in (folder, trimmed)]
    assert "seal is compared on 6 items (ranked: 6 by seal, 7 by full_pairwise)" in notes[0]
    assert not any("is compared on" in text for text in notes[1])


def test_two_runs_of_the_reference_are_the_noise_ceiling(folder: Folder) -> None:
    folder.add(*full(2, "abcd"))
    # A model that one log lacks is left out: abdc against abcd.
    folder.add(*full(2, "abdcz", protocol="seal"))
    folder.add(*full(2, "bacd"), repeat=2)
    one = folder.benchmark()
    logs = named(one)
    assert one.reference.board.eval_id == "E1"
    assert logs["full_pairwise · run 2"].role == "ceiling"
    assert figures(logs["full_pairwise · run 2"]) == pytest.approx((0.8, 4 / 6, 0))
    assert figures(logs["seal"]) == pytest.approx((0.8, 4 / 6, 1))
    assert logs["seal"].n_models == 4
    [note] = [note for note in one.notes if note.kind == "runs_of_reference"]
    assert (note["n"], Path(note["log"]).name) == (2, "1.eval")


@pytest.mark.parametrize(
    ("repeat", "cached", "role"),
    [(1, True, "rerun"), (1, False, "ceiling"), (2, True, "ceiling"), (2, False, "ceiling")],
)
def test_replies_from_the_cache_are_no_second_opinion(
    folder: Folder, repeat: int, cached: bool, role: str
) -> None:
    folder.add(*full(2, calls=[call()]))
    folder.add(*full(2, calls=[call(cached=cached), call()]), repeat=repeat)
    one = folder.benchmark()
    assert named(one)["full_pairwise · run 2"].role == role
    warned = [note for note in map(str, one.notes) if "ceiling: 2 of its 4 calls" in note]
    assert len(warned) == (role == "rerun")


def test_prices(folder: Folder) -> None:
    half = all_pairs("q9", "abcd", calls=[call(cost=9.0)] * 9, complete=False)
    folder.add(*full(2, calls=[call(cost=0.5), call(cost=0.5, depth=1)]), half)
    cached, fresh = call("list", cost=0.25, cached=True), call("list", cost=0.0)
    folder.add(*lists(2, "abcd", calls=[cached, fresh]))
    free = [call("score", model="j/free")]
    folder.add(*(graded(f"q{k}", NATIVE, native=NATIVE, calls=free) for k in range(2)))
    one = folder.benchmark()
    logs = named(one)
    # Items that were judged to the end count.
    price = logs["full_pairwise"].price
    assert (price.n_items, price.calls, price.cost, price.depth) == (2, 2, 1, 2)
    assert (price.input_tokens, price.output_tokens, price.tokens) == (200, 20, 220)
    # Cached calls are worth what they cost.
    assert logs["listwise"].price.relative_cost == pytest.approx(0.25)
    price = logs["pointwise"].price
    assert np.isnan([price.cost, price.relative_cost]).all()
    assert price.relative_tokens == 0.5
    said = "\n".join(map(str, one.notes))
    assert "Calls from the cache: listwise 50%." in said
    assert "No price known for j/free: add --price" in said
    assert price_of([half, *full(1, calls=[call(cost=0.5)])]).cost == 0.5
    assert math.isnan(price_of([half]).calls)


def test_a_free_reference_gives_no_ratio(folder: Folder) -> None:
    folder.add(*(by_native(f"q{k}", NATIVE) for k in range(2)))
    folder.add(*lists(2, "abcd", calls=[call("list", cost=0.1)]))
    price = named(folder.benchmark(reference="original"))["listwise"].price
    assert price.cost == pytest.approx(0.1)
    assert np.isnan([price.relative_calls, price.relative_cost]).all()


@pytest.mark.parametrize(
    ("native", "reason"),
    [
        (dict.fromkeys("abcd", 1.0), Reason("infinite_gain")),
        (dict.fromkeys("abcd"), "no model has native scores on items that were ranked"),
        ({**dict.fromkeys("bcd"), "a": 1.0}, "only one model has native scores"),
    ],
)
def test_why_there_is_no_gain(
    folder: Folder, native: dict[str, float | None], reason: Reason | str
) -> None:
    folder.add(*full(2, native=native))
    folder.add(*lists(2, "abcd", native=native))
    one = folder.benchmark()
    assert all(math.isnan(log.gain.value) for log in one.logs)
    [note] = one.notes
    assert note.kind == "no_gain"
    assert str(reason) in str(note)


def test_all_tied_gives_no_agreement_but_a_reason(folder: Folder) -> None:
    folder.add(*full(2, native=NATIVE))
    folder.add(*(graded(f"q{k}", dict.fromkeys("abcd", 0.5), native=NATIVE) for k in range(2)))
    one = folder.benchmark()
    assert figures(named(one)["pointwise"]) == pytest.approx((NAN, NAN, 0.25), nan_ok=True)
    assert any("pointwise against full_pairwise: the first one" in str(note) for note in one.notes)


def test_a_log_that_ranked_nothing_is_shown_with_its_price(folder: Folder) -> None:
    folder.add(*full(1))
    folder.add(listed("q0", None, groups=list("abcd"), calls=[call("list")]))
    one = folder.benchmark()
    log = named(one)["listwise"]
    assert (log.agreement, log.n_items, log.price.calls) == (None, 0, 1)
    assert math.isnan(log.gain.value)
    for reference in ("full_pairwise", "listwise"):
        one = folder.benchmark(reference=reference)
        assert {log.agreement for log in one.logs} == {None}
        assert "listwise: no item could be ranked" in map(str, one.notes)


def first_wins(ballots: ItemBallots) -> ItemBallots:
    """The same matches by a judge that always takes the answer shown first."""
    matches = []
    for one in ballots.matches:
        verdicts = [replace(verdict, margin=0.5) for verdict in one.verdicts]
        matches.append(settle(Pairing(one.round, one.slot, one.high, one.low), verdicts))
    return ballots.model_copy(update={"matches": tuple(matches)})


@pytest.mark.slow
def test_doubtful_rankings_are_named(folder: Folder) -> None:
    folder.add(*full(2))
    folder.add(*lists(2, "abcd"))
    assert folder.benchmark().warnings == ()
    biased = Folder(folder.path / "biased")
    biased.add(*map(first_wins, full(5, swapped="abcd")))
    biased.add(*lists(5, "abcd"))
    [warning] = biased.benchmark().warnings
    assert warning == Reason("doubtful_logs", names=["full_pairwise"])


def test_a_benchmark_without_the_reference_is_left_out_and_named(folder: Folder) -> None:
    folder.add(*full(2))
    folder.add(*lists(2, "abcd"), *lists(2, "abcd", benchmark="mmlu"))
    result = folder.compare()
    assert [one.benchmark for one in result.benchmarks] == ["gsm8k"]
    assert result.notes == (Reason("no_reference", benchmark="mmlu"),)


def test_a_settled_run_is_pointed_out(folder: Folder) -> None:
    folder.add(*full(2))
    changed = {"protocol": "seal", "groups": ()}
    rest = [skipped(f"q{k}", 2, 4).model_copy(update=changed) for k in (2, 3)]
    folder.add(*full(2, protocol="seal"), *rest, settle=True)
    assert Reason("stopped_early", name="seal", n=2, of=4) in folder.benchmark().notes


@pytest.mark.slow
def test_the_reference_may_be_a_path(folder: Folder) -> None:
    folder.add(*full(2))
    young = folder.add(*full(2, "bacd"), repeat=2)
    for wanted in (str(young), "2.eval", "full_pairwise · run 2"):
        one = folder.benchmark(reference=wanted)
        assert one.reference.board.eval_id == "E2"
        assert named(one)["full_pairwise"].role == "ceiling"


def test_what_is_no_reference_is_refused(folder: Folder) -> None:
    folder.add(*full(2))
    with pytest.raises(NothingToCompareError, match=r"1\.eval.*-T repeat=2"):
        folder.compare()
    folder.add(*lists(2, "abcd"))
    with pytest.raises(NothingToCompareError, match=r"'swiss'\. There are: full_pairwise, listw"):
        folder.compare(reference="swiss")
    folder.add(*full(2, "abce"))
    with pytest.raises(AnalysisError, match="not runs of one another"):
        folder.compare()


def test_logs_with_other_settings_are_no_runs_of_the_reference(folder: Folder) -> None:
    for swap in ("never", "always"):
        folder.add(*full(2), swap=swap)
    with pytest.raises(AnalysisError, match=r"swap=never: .*1\.eval\n.*swap=always"):
        folder.compare()
    one = folder.benchmark(reference="full_pairwise swap=always")
    roles = {log.name.partition(" ")[2]: log.role for log in one.logs}
    assert roles == {"swap=always": "reference", "swap=never": "protocol"}


STRANGERS = {
    "item": all_pairs("other", "abcd", protocol="seal"),
    "model": all_pairs("q0", "wxyz", protocol="seal"),
    "item of gsm8k": all_pairs("q0", "abcd", protocol="seal").model_copy(
        update={"input_hash": "9"}  # the same id, another question
    ),
}


@pytest.mark.parametrize(("what", "stranger"), STRANGERS.items(), ids=STRANGERS)
def test_strangers_are_refused(folder: Folder, what: str, stranger: ItemBallots) -> None:
    folder.add(*full(2))
    folder.add(stranger)
    with pytest.raises(AnalysisError, match=rf"2\.eval \(seal\).* no {what}"):
        folder.compare()
