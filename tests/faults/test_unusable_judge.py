"""A judge that cannot be used ends its run early, in one sentence, and is asked again once mended.

Inspect's real clients ask servers on loopback.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval_retry, eval_set
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import Model, get_model
from tenacity import wait_fixed

from tests.cases import cases
from tests.faults.openai_server import FakeOpenAI
from tests.harness import run
from tests.inspect_tasks.runs import ballots_of, judge_in_process, logs_in, write_pool
from tests.loopback import Handler, answering
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.publish.write_back.verdict import VERDICT_KEY
from tiebreak.scorers.ballots import STORE_KEY, restore_ballots
from tiebreak.scorers.probation import REPLIES

pytestmark = pytest.mark.slow

ITEMS = 24
SENTENCE = "gave no usable reply, 20 times in 20 questions, for example \"I'm sorry, but I can't"
LOOK_AT = "support of JSON schemas, its max_tokens and its chat template"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "none")


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return write_pool(tmp_path / "pool", 2, ITEMS)


def judged(api: FakeOpenAI, pool: Path, folder: Path, **eval_args: Any) -> EvalLog:
    args = {"model_roles": {"judge": api.model()}, "max_connections": 20, **eval_args}
    [log] = judge_in_process("round_robin", pool, folder, eval_args=args, swap="never")
    return log


@pytest.mark.parametrize("side_by_side", [1, 20])
@pytest.mark.parametrize("again", ["eval", "eval-retry", "eval-set"])
def test_a_server_that_is_mended_is_asked_again_about_all(
    again: str, side_by_side: int, pool: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = True
    with FakeOpenAI(lambda item, before: "refusal" if broken else "").running() as api:
        how = {"max_connections": side_by_side, "max_samples": side_by_side, "log_realtime": False}

        def in_set() -> None:
            eval_set(
                "tiebreak/round_robin",
                log_dir=str(tmp_path / "out"),
                task_args={"candidates": str(pool), "swap": "never"},
                model_roles={"judge": api.model()},
                retry_attempts=0,
                **how,  # type: ignore[arg-type]
            )

        if again == "eval-set":
            in_set()
            [log] = logs_in(tmp_path / "out")
        else:
            log = judged(api, pool, tmp_path / "out", **how)
        assert log.status == "error"
        shown = " ".join("".join(capfd.readouterr()).split())
        assert "No item could be ranked" in shown
        assert LOOK_AT in shown
        assert api.asked.total() <= REPLIES + 1 < 1.2 * ITEMS
        before, broken = api.by_item.copy(), False
        if again == "eval":
            log = judged(api, pool, tmp_path / "out", **how)
        elif again == "eval-retry":
            [log] = eval_retry(log.location, log_dir=str(tmp_path / "out"), **how)  # type: ignore[arg-type]
        else:
            in_set()
            log = logs_in(tmp_path / "out")[-1]
        assert log.status == "success"
        log = read_eval_log(log.location)
        assert all(item.matches[0].result is not None for item in ballots_of(log).values())
        assert len(ballots_of(log)) == ITEMS
        # Each question once, whatever became of it before; and never again.
        assert api.by_item - before == dict.fromkeys(range(ITEMS), 1)
        judged(api, pool, tmp_path / "again")
        assert api.by_item - before == dict.fromkeys(range(ITEMS), 1)


@pytest.mark.parametrize("display", ["full", "conversation", "rich", "plain", "log", "none"])
def test_every_display_ends_with_the_block(display: str, pool: Path, tmp_path: Path) -> None:
    task = ("tiebreak/round_robin", "-T", f"candidates={pool}", "--log-dir", "out")
    args = ("inspect", "eval", *task, "--display", display, "--model-role")
    failed = run(*args, "judge=planted/malformed=1", cwd=tmp_path, code=1)
    shown = " ".join((failed.stdout + failed.stderr).split())
    *_, block = shown.partition("gsm8k · round_robin · 0 items No item could be ranked: ")
    times = "20 times in 6" if display == "conversation" else "20 times in 20"
    assert f"planted/malformed=1 gave no usable reply, {times} questions" in block
    assert "'I would rather not say.'" in block
    assert LOOK_AT in block
    done = run(*args, "judge=planted/x", cwd=tmp_path)
    *_, block = (done.stdout + done.stderr).partition(f"gsm8k · round_robin · {ITEMS} items")
    assert "m1 is first" in " ".join(block.split())


def test_a_dead_juror_is_left_out_and_stops_nothing(pool: Path, tmp_path: Path) -> None:
    jury = ["planted/malformed=1", "planted/x", "planted/noise=0.1"]
    args = {"model_roles": {"judge": jury}}
    [log] = judge_in_process("round_robin", pool, tmp_path, eval_args=args, swap="never")
    assert log.status == "success"
    assert VERDICT_KEY in read_eval_log(log.location, header_only=True).metadata
    items = ballots_of(log).values()
    asked = [call for item in items for call in item.calls if call.reviewer == jury[0]]
    assert len(asked) == REPLIES
    assert all(item.matches[0].result is not None for item in items)


def test_one_model_in_two_configurations_is_two_judges(pool: Path, tmp_path: Path) -> None:
    dead, alive = FakeOpenAI(lambda item, before: "refusal"), FakeOpenAI(lambda item, before: "")
    with dead.running(), alive.running():
        jury = [alive.model(), alive.model(), dead.model()]
        for number, juror in enumerate(jury):
            juror.config.temperature = number / 2
        assert len({str(juror) for juror in jury}) == 1
        args = {"model_roles": {"judge": jury}}
        [log] = judge_in_process("round_robin", pool, tmp_path, eval_args=args, swap="never")
    assert log.status == "success"
    assert all(item.matches[0].result is not None for item in ballots_of(log).values())
    assert alive.by_item == dict.fromkeys(range(ITEMS), 2)
    assert dead.asked.total() <= REPLIES


def test_dead_reviewers_are_left_out_until_none_is_left(pool: Path, tmp_path: Path) -> None:
    peers = ["planted/malformed=1", "planted/malformed=1+seed=1", "planted/x"]
    args: dict[str, Any] = {"model_roles": {"peers": peers}}
    [log] = judge_in_process("peer_review", pool, tmp_path, eval_args=args)
    assert log.status == "success"
    calls = [call.model for item in ballots_of(log).values() for call in item.calls]
    assert [calls.count(peer) for peer in peers] == [REPLIES, REPLIES, ITEMS]
    args = {"model_roles": {"peers": peers[:2]}}
    [log] = judge_in_process("peer_review", pool, tmp_path, eval_args=args, repeat=2)
    assert log.status == "error"
    judged = [restore_ballots(sample.store[STORE_KEY]) for sample in log.samples or []]
    assert sum(len(ballots.calls) for ballots in judged) == 2 * REPLIES


@pytest.mark.parametrize("again", ["eval", "eval-retry", "eval-set"])
def test_what_one_run_lacks_the_next_one_asks(again: str, pool: Path, tmp_path: Path) -> None:
    """A run that comes to its end with every fifth question unanswered."""
    lacking, broken = set(range(0, ITEMS, 5)), True
    faulty = FakeOpenAI(lambda item, before: "refusal" if broken and item in lacking else "")
    with faulty.running() as api:
        out = tmp_path / "out"
        roles = {"judge": api.model()}

        def in_set() -> EvalLog:
            eval_set(
                "tiebreak/round_robin",
                log_dir=str(out),
                task_args={"candidates": str(pool), "swap": "never"},
                model_roles=roles,
                log_realtime=False,
            )
            return logs_in(out)[-1]

        log = in_set() if again == "eval-set" else judged(api, pool, out)
        assert log.status == "success"
        [board] = leaderboards([log.location])
        assert board.n_items == ITEMS - len(lacking)
        before, broken = api.by_item.copy(), False
        if again == "eval-set":
            log = in_set()
        elif again == "eval-retry":
            [log] = eval_retry(log.location, log_dir=str(out), log_realtime=False)
        else:
            log = judged(api, pool, out)
        assert api.by_item - before == dict.fromkeys(lacking, 1)
        [board] = leaderboards([out])
        assert board.n_items == ITEMS
        if again == "eval-set":
            in_set()  # nothing is left to ask
            assert api.by_item - before == dict.fromkeys(lacking, 1)


REFUSALS = cases(__file__, "refusals")


@contextmanager
def refusing(provider: str, status: int) -> Iterator[tuple[Model, list[str]]]:
    """A model whose server refuses every request; and the requests that came."""
    requests: list[str] = []

    class Provider(Handler):
        def do_POST(self) -> None:
            self.asked()
            requests.append(self.path)
            refusal = {"type": "error", **REFUSALS[provider][status]}
            self.answer(json.dumps(refusal), status, {"Retry-After": "0.001"})

    with answering(Provider) as url:
        base, name = {"openai": (f"{url}/v1", "gpt-9"), "anthropic": (url, "claude-9")}[provider]
        model = get_model(f"{provider}/{name}", base_url=base, api_key="sk-none", memoize=False)
        # Inspect's own retries need not wait for a server on loopback.
        model.api.retry_wait = lambda: wait_fixed(0.001)  # type: ignore[method-assign]
        yield model, requests


@pytest.mark.parametrize("status", [401, 404, 429])
@pytest.mark.parametrize("provider", REFUSALS)
def test_a_refusal_of_every_call_is_one_sentence(
    provider: str, status: int, pool: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with refusing(provider, status) as (model, requests):
        args = {"model_roles": {"judge": model}, "display": "plain"}
        [log] = judge_in_process("round_robin", pool, tmp_path, eval_args=args, swap="never")
    assert log.status == "error"
    assert requests
    if status != 429:
        assert len(requests) <= REPLIES + 1
    shown = " ".join("".join(capfd.readouterr()).split())
    *_, block = shown.partition("gsm8k · round_robin · 0 items No item could be ranked: ")
    assert str(status) in block
    assert "nothing more is asked of it. Look at its key, its name and its quota" in block
    assert "Traceback" not in block
