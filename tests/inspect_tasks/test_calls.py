"""How calls leave: side by side, in batches, and with nothing that only costs.

Inspect's real client asks an API on loopback.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog

from tests.harness import run_here
from tests.inspect_tasks.anthropic_api import Body, FakeAnthropic
from tests.inspect_tasks.runs import logs_in, write_pool
from tiebreak.scorers.probation import REPLIES

pytestmark = pytest.mark.slow

Evaluate = Callable[..., EvalLog]
JUDGE, OTHER = "anthropic/claude-opus-4-5", "anthropic/claude-haiku-4-5"


def reply(asked: Body) -> str:
    """Places in the order of presentation, or votes for the left response."""
    [message] = asked["messages"]
    content = message["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    ids = re.findall(r"\b[RPC]\d+", text.rpartition("\n")[2])
    if "R1" in ids:
        return json.dumps({"reasoning": "r", "places": dict.fromkeys(ids, 1)})
    p, c = (sum(one[0] == letter for one in ids) for letter in "PC")
    return json.dumps(
        {
            "principles": {"reasoning": ["r"] * p, "vote": ["left"] * p, "confidence": [1] * p},
            "checklist": {"vote": ["left"] * c, "confidence": [1] * c},
        }
    )


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """`inspect eval` of a protocol on a pool; the log."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))

    def run(api: FakeAnthropic, protocol: str, *options: str, items: int, models: int) -> EvalLog:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        write_pool(tmp_path / "pool", models, items)
        command = ["inspect", "eval", f"tiebreak/{protocol}", "-T", "candidates=pool"]
        run_here(*command, *options, "--log-dir", "out", "--no-log-realtime", cwd=tmp_path)
        [log] = logs_in(tmp_path / "out")
        assert log.status == "success"
        return log

    return run


@pytest.mark.parametrize(
    ("protocol", "roles", "options", "connections"),
    [
        ("listwise", f"judge={JUDGE}", ("--max-connections", "40"), 40),
        ("peer_review", f"peers=[{OTHER}, {{model: {JUDGE}, max_connections: 40}}]", (), 40),
    ],
)
def test_as_many_items_are_judged_side_by_side_as_there_are_connections(
    evaluate: Evaluate, protocol: str, roles: str, options: tuple[str, ...], connections: int
) -> None:
    # All are asked at once after the first usable reply, which no more than so many calls wait for.
    items = connections + REPLIES
    with FakeAnthropic(reply, together=connections, first=REPLIES).running() as api:
        log = evaluate(api, protocol, "--model-role", roles, *options, items=items, models=2)
    assert api.peak >= connections
    assert log.eval.model == JUDGE


@pytest.mark.parametrize(
    ("protocol", "calls"), [("listwise", 30), ("full_pairwise", 120), ("round_robin", 40)]
)
def test_batch_of_the_command_line_is_the_judges_and_all_is_one_batch(
    evaluate: Evaluate, tmp_path: Path, protocol: str, calls: int
) -> None:
    # It is sent when all are there, or after a minute.
    (tmp_path / "batch.yaml").write_text(f"size: {calls}\ntick: 0.1\nsend_delay: 60\n")
    given = ("--model-role", f"judge={JUDGE}", "--batch", "batch.yaml")
    with FakeAnthropic(reply).running() as api:
        evaluate(api, protocol, *given, items=30, models=3)
    assert (len(api.direct), [len(batch) for batch in api.batches]) == (0, [calls])


def test_who_is_not_asked_in_batches_is_named(
    evaluate: Evaluate, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    roles = ("--model-role", f"judge={JUDGE}", "--model-role", f"meta_judge={OTHER}")
    (tmp_path / "batch.yaml").write_text("size: 1\ntick: 0.1\n")
    with FakeAnthropic(reply).running() as api:
        evaluate(api, "listwise", *roles, "--batch", "batch.yaml", items=1, models=2)
    how = f"--model-role 'meta_judge={{model: {OTHER}, batch: true}}'"
    assert f"{OTHER} is asked directly. Add it to the role: {how}" in caplog.text
    assert f"{JUDGE} is asked directly" not in caplog.text


@pytest.mark.parametrize(
    ("role", "written"), [(JUDGE, 0), (f"{{model: {JUDGE}, cache_prompt: true}}", 3)]
)
def test_no_cache_write_is_asked_for_unless_the_role_wants_it(
    evaluate: Evaluate, role: str, written: int
) -> None:
    with FakeAnthropic(reply).running() as api:
        evaluate(api, "listwise", "--model-role", f"judge={role}", items=3, models=2)
    assert sum("cache_control" in json.dumps(body) for body in api.direct) == written
