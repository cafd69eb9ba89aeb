"""Judges whose provider fails: Inspect's real client asks an OpenAI API on loopback."""

from pathlib import Path

import pytest
from inspect_ai import eval_retry
from inspect_ai.log import EvalLog

from tests.faults.openai_server import FAILURES, MALFORMED, ODD, FakeOpenAI, Fault
from tests.faults.record import FULL, Tried, amount, record
from tests.inspect_tasks.reviews import answer
from tests.inspect_tasks.runs import (
    ballots_of,
    boards_by_protocol,
    judge_in_process,
    without_receipt,
    write_pool,
)
from tiebreak.analysis.leaderboard import Leaderboard

pytestmark = pytest.mark.slow

N, ITEMS = 4, amount(quick=35, full=100)
QUICK = ("429", "dropped", "stalled", "truncated", "empty choices", "two verdicts", "200 kB")
SPOILT = range(0, ITEMS, 5)
"""The items about which every question is answered with a fault: 20% of them."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "none")


def judged(api: FakeOpenAI, pool: Path, log_dir: Path, retries: int = 0) -> EvalLog:
    """`inspect eval tiebreak/round_robin` with the API's model as the judge."""
    args = {"model_roles": {"judge": api.model()}, "max_retries": retries, "max_connections": 20}
    [log] = judge_in_process("round_robin", pool, log_dir, eval_args=args, swap="never")
    return log


def test_no_choice_at_all_is_asked_about_and_never_served_again(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", 2, 8)
    passing = FakeOpenAI(lambda item, before: "" if before or item == 7 else "empty choices")
    with passing.running() as api:
        log = judged(api, pool, tmp_path / "out")
        assert log.status == "success"
        assert api.asked == {"empty choices": 7, "": 8}
        items = ballots_of(log)
        assert [len(item.matches) for item in items.values()] == [1] * 8
        # The reply counted was that of the repair turn; the same again asks for the first one anew.
        again = judged(api, pool, tmp_path / "again")
        assert api.asked == {"empty choices": 7, "": 15}
        repaired = [call.repair for item in ballots_of(again).values() for call in item.calls]
        assert repaired == [False] * 8
        judged(api, pool, tmp_path / "third")
        assert api.asked.total() == 22


def test_what_could_not_be_used_is_asked_again_and_nothing_else(tmp_path: Path) -> None:
    """A server that refuses, is mended between two runs, and refuses one item a while longer."""
    pool = write_pool(tmp_path / "pool", 2, 8)
    broken = {*range(6)}
    refusing = FakeOpenAI(lambda item, before: "refusal" if item in broken else "")
    with refusing.running() as api:
        first = ballots_of(judged(api, pool, tmp_path / "first"))
        assert {id for id, item in first.items() if item.matches[0].unscored} == {
            f"q{item}" for item in broken
        }
        # Each is asked and sent back, twice.
        assert api.by_item == {item: 4 if item in broken else 1 for item in range(8)}
        broken -= {0, 1, 2, 3, 4}
        second = ballots_of(judged(api, pool, tmp_path / "second"))
        assert [id for id, item in second.items() if item.matches[0].unscored] == ["q5"]
        assert api.by_item == {**dict.fromkeys(range(5), 5), 5: 6, 6: 1, 7: 1}
        broken.clear()
        judged(api, pool, tmp_path / "third")
        assert api.by_item == {**dict.fromkeys(range(5), 5), 5: 7, 6: 1, 7: 1}
        judged(api, pool, tmp_path / "fourth")
        assert api.asked.total() == 34


def test_what_inspect_gives_up_on_is_asked_afresh_and_then_left_for_a_retry(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", 2, 6)
    faults = {0: "400", 1: "403", 2: "truncated", 3: "503", 4: "dropped"}
    with FakeOpenAI(lambda item, before: faults.get(item, "")).running() as api:
        log = judged(api, pool, tmp_path / "out")
        assert log.status == "error"
        # What is refused is not asked again.
        assert api.by_item == {0: 1, 1: 1, 2: 3, 3: 3, 4: 3, 5: 1}
        errors = {s.id: s.error.message for s in log.samples or [] if s.error}
        assert sorted(errors) == ["q0", "q1", "q2", "q3", "q4"]
        assert "Fault 503" in errors["q3"]
        assert "InternalServerError" in errors["q3"]
        assert not any("0x" in message for message in errors.values())
        faults.clear()
        [retried] = eval_retry(log, log_dir=str(tmp_path / "out"), log_realtime=False)
        assert retried.status == "success"
        assert api.by_item == {0: 2, 1: 2, 2: 4, 3: 4, 4: 4, 5: 1}


def spoil(names: tuple[str, ...], times: float = 1) -> Fault:
    """Each fault in turn for 20% of the items, at the first times that a question is asked."""

    def fault(item: int, before: int) -> str:
        return names[item // 5 % len(names)] if item in SPOILT and before < times else ""

    return fault


def groups(*names: str) -> list[tuple[str, ...]]:
    """Faults that are tried in one run: each by itself, or a part together where time is short."""
    return [(name,) for name in names] if FULL else [tuple(one for one in names if one in QUICK)]


def name_of(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) == 1 else f"{len(names)} kinds"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pool(tmp_path_factory.mktemp("pool"), N, ITEMS, answer)


class Run:
    """What a run came to: its ballots by item, and its leaderboard."""

    def __init__(self, log: EvalLog, folder: Path) -> None:
        self.status = log.status
        self.items = ballots_of(log)
        self.board: Leaderboard = boards_by_protocol(folder)["round_robin"]

    def matches(self, item: int) -> object:
        return without_receipt(self.items[f"q{item}"])["matches"]


@pytest.fixture(scope="module")
def undisturbed(pool: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch, FakeOpenAI().running() as api:
        patch.setenv("INSPECT_CACHE_DIR", str(folder / "cache"))
        patch.setenv("FAKE_API_KEY", "none")
        run = Run(judged(api, pool, folder / "out"), folder / "out")
    assert run.status == "success"
    assert api.asked == {"": 2 * ITEMS}
    return run


@pytest.mark.parametrize("names", groups(*FAILURES, *MALFORMED, *ODD), ids=name_of)
def test_the_ranking_is_the_same_where_faults_pass(
    names: tuple[str, ...],
    pool: Path,
    undisturbed: Run,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    with FakeOpenAI(spoil(names)).running() as api:
        run = Run(judged(api, pool, tmp_path / "out", retries=1), tmp_path / "out")
    assert run.status == "success"
    assert run.board.rows == undisturbed.board.rows
    assert run.board.n_items == ITEMS
    faults = 2 * len(SPOILT)
    assert sum(api.asked[name] for name in names) == faults
    repaired = sum(call.repair for item in run.items.values() for call in item.calls)
    assert repaired == sum(api.asked[name] for name in names if name in MALFORMED)
    record(request, Tried(f"judge's provider, at first: {name_of(names)}", faults, faults))


@pytest.mark.parametrize("names", groups(*MALFORMED), ids=name_of)
def test_the_unscored_rate_is_exact_where_replies_stay_malformed(
    names: tuple[str, ...],
    pool: Path,
    undisturbed: Run,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    with FakeOpenAI(spoil(names, float("inf"))).running() as api:
        run = Run(judged(api, pool, tmp_path / "out"), tmp_path / "out")
    assert run.status == "success"
    for item in range(ITEMS):
        if item in SPOILT:
            matches = run.items[f"q{item}"].matches
            assert len(matches) == 2
            assert all(match.result is None for match in matches)
            # Two attempts, each with its repair turn.
            assert api.by_item[item] == 2 * 4
        else:
            assert run.matches(item) == undisturbed.matches(item)
    assert {row.unscored_rate for row in run.board.rows} == {0.2}
    # What a judge wrote in vain is not all sent back to it.
    assert api.largest < 30_000
    tried = 2 * len(SPOILT)
    record(request, Tried(f"judge's provider, always: {name_of(names)}", tried, tried))


@pytest.mark.parametrize("names", groups(*FAILURES), ids=name_of)
def test_items_whose_provider_stays_away_are_left_for_a_retry(
    names: tuple[str, ...],
    pool: Path,
    undisturbed: Run,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    with FakeOpenAI(spoil(names, float("inf"))).running() as api:
        log = judged(api, pool, tmp_path / "out")
        run = Run(log, tmp_path / "out")
        assert run.status == "error"
        failed = {int(str(sample.id)[1:]) for sample in log.samples or [] if sample.error}
        assert failed == set(SPOILT)
        assert run.board.n_items == ITEMS - len(SPOILT)
        api.fault = lambda item, before: ""
        before = api.by_item.copy()
        [log] = eval_retry(log, log_dir=str(tmp_path / "again"), log_realtime=False)
    retried = Run(log, tmp_path / "again")
    assert retried.status == "success"
    assert set(api.by_item - before) == set(SPOILT)
    assert retried.board.rows == undisturbed.board.rows
    tried = len(SPOILT)
    record(request, Tried(f"judge's provider, until a retry: {name_of(names)}", tried, tried))
