"""The scorer that runs code: which sandbox it takes, and what it says of broken ones."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageUser, ModelName, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import ExecResult
from inspect_ai.util._sandbox.compose import parse_compose_yaml

from tiebreak.inspect_tasks import generate, unit_tests
from tiebreak.inspect_tasks.unit_tests import COMPOSE, sandbox_of
from tiebreak.prerequisite import PrerequisiteError

ITEMS = Path(generate.__file__).parent / "items" / "humaneval.jsonl"
ADD = "def add(a, b):\n    return a + b\n"
PASSED = '{"passed": true, "why": "", "nonce": "NONCE"}\n'


def test_the_sandbox_is_a_container_unless_told_otherwise(tmp_path: Path) -> None:
    assert sandbox_of() == ("docker", str(COMPOSE))
    assert COMPOSE.is_file()
    assert sandbox_of("docker:my-compose.yaml") == ("docker", "my-compose.yaml")
    assert sandbox_of("bubblewrap") == "bubblewrap"
    with pytest.raises(PrerequisiteError, match="-T confirm_run_unsafe_code=true"):
        sandbox_of("local")
    with pytest.raises(PrerequisiteError, match="without a container"):
        sandbox_of("local:config.yaml")


def test_local_is_bubblewraps_earlier_name(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(unit_tests, "warn_once", lambda _, message: said.append(message))
    assert sandbox_of("local", confirm_run_unsafe_code=True) == "bubblewrap"
    assert said == [
        "The sandbox `local` is now called `bubblewrap`, and needs no confirmation; the old name "
        "goes with the next release."
    ]


@pytest.mark.parametrize("name", ["nonsense", "nonsense:config.yaml", "", "Docker", "tiebreak/x"])
def test_an_unknown_sandbox_is_one_sentence_that_lists_what_there_is(name: str) -> None:
    with pytest.raises(PrerequisiteError) as refused:
        sandbox_of(name)
    kind = name.partition(":")[0]
    there = "bubblewrap, docker, local"
    assert str(refused.value) == f"There is no sandbox {kind!r} here, but {there}."


def test_a_sandbox_of_another_extension_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_tests, "sandboxes", lambda: ["docker", "k8s"])
    assert sandbox_of("k8s") == "k8s"
    assert sandbox_of("k8s:values.yaml") == ("k8s", "values.yaml")


def test_the_container_can_do_little() -> None:
    config = parse_compose_yaml(str(COMPOSE))
    service = config.services["default"]
    assert service.network_mode == "none"
    assert service.image == "python:3.12.11-slim-bookworm"
    assert (service.cap_drop, service.read_only, service.init) == (["ALL"], True, True)
    assert service.security_opt == ["no-new-privileges:true"]
    assert service.user == "65534:65534"
    assert (service.mem_limit, service.memswap_limit) == ("1g", "1g")
    assert service.pids_limit == 64
    assert service.cpus == 1.0
    # Whatever else is there may open it again.
    text = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))
    assert set(text) == {"services"}
    assert set(text["services"]) == {"default"}
    assert set(text["services"]["default"]) == {
        *("image", "command", "init", "network_mode", "user", "working_dir", "read_only"),
        *("tmpfs", "cap_drop", "security_opt", "mem_limit", "memswap_limit", "pids_limit", "cpus"),
    }


def answered(answers: list[str], asked: list[str], **options: Any) -> EvalLog:
    """An in-process `inspect eval` of the first items; `asked` tells what really was."""

    def outputs() -> Iterator[ModelOutput]:
        for answer in answers:
            asked.append(answer)
            output = ModelOutput.from_content("mockllm/model", answer)
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
            yield output

    [log] = inspect_eval(
        options.pop("task", "tiebreak/humaneval"),
        model=get_model("mockllm/model", custom_outputs=outputs()),
        limit=len(answers),
        max_samples=1,
        log_realtime=False,
        **options,
    )
    return log


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "-T confirm_run_unsafe_code=true"),
        ({"confirm_run_unsafe_code": True}, "add --sandbox bubblewrap"),
        ({"confirm_run_unsafe_code": True, "trust_code": True}, "add --sandbox bubblewrap"),
    ],
)
def test_inspects_own_local_sandbox_is_refused_before_anything_is_generated(
    arguments: dict[str, Any], why: str, tmp_path: Path
) -> None:
    """It overrides the task's, and has no box."""
    asked: list[str] = []
    arguments = {"data": str(ITEMS), **arguments}
    log = answered([ADD], asked, task_args=arguments, sandbox="local", log_dir=str(tmp_path))
    assert log.status == "error"
    assert log.error is not None
    assert why in log.error.message
    assert asked == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({"sandbox": "bubblewrap"}, {}),
        ({}, {"sandbox": "bubblewrap"}),
        ({"sandbox": "local", "confirm_run_unsafe_code": True}, {}),
    ],
)
def test_programs_are_run_and_scored(
    arguments: dict[str, Any], options: dict[str, str], tmp_path: Path
) -> None:
    asked: list[str] = []
    log = answered(
        [ADD, "I do not know.", "```python\ndef largest(numbers):\n    return 0\n```"],
        asked,
        task_args={"data": str(ITEMS), **arguments},
        log_dir=str(tmp_path),
        **options,
    )
    assert log.status == "success"
    assert log.eval.sandbox is not None
    assert log.eval.sandbox.type == "bubblewrap"
    assert len(asked) == 3
    scores = [(sample.scores or {})["unit_tests"] for sample in log.samples or []]
    assert [score.value for score in scores] == ["C", "I", "I"]
    assert [score.answer for score in scores] == [
        ADD,
        None,
        "def largest(numbers):\n    return 0\n",
    ]
    assert [score.explanation for score in scores] == [
        None,
        "the answer holds no whole function is_even",
        "failed: AssertionError, at assert candidate([3, 9, 2]) == 9",
    ]
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == pytest.approx(1 / 3)


@pytest.mark.slow
def test_answers_that_need_what_is_not_there_are_counted(tmp_path: Path) -> None:
    """They score 0, and neither the score nor the log is silent about why."""
    numpy = "import numpy as np\n\ndef add(a, b):\n    return int(np.sum([a, b]))\n"
    log = answered(
        [numpy, "    return n % 2 == 1\n", "    open('/data')\n    return max(numbers)\n"],
        [],
        task_args={"data": str(ITEMS), "sandbox": "bubblewrap"},
        log_dir=str(tmp_path),
    )
    scores = [(sample.scores or {})["unit_tests"] for sample in log.samples or []]
    assert [score.value for score in scores] == ["I", "I", "I"]
    assert [score.explanation for score in scores] == [
        "not there: import numpy is refused here",
        "failed: AssertionError, at assert candidate(4) is True",
        "not there: open /data is refused here",
    ]
    assert log.results is not None
    metrics = [score.metrics for score in log.results.scores]
    assert [each["not_there"].value for each in metrics if "not_there" in each] == [2]


class FakeSandbox:
    """Says what it is told to; the first command is the look whether it is this machine."""

    def __init__(self, *replies: ExecResult[str] | Exception, here: bool = False) -> None:
        self.replies = [*replies]
        self.here = here
        self.orders: list[dict[str, Any]] = []

    async def exec(self, cmd: list[str], input: str = "", **_: Any) -> ExecResult[str]:
        if cmd[0] == "test":
            assert Path(cmd[-1]).exists()
            return ExecResult(self.here, int(not self.here), "", "")
        assert cmd[0] == "python3"
        self.orders.append(json.loads(input))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        said = reply.stdout.replace("NONCE", self.orders[-1]["nonce"])
        return ExecResult(reply.success, reply.returncode, said, "")


def scored(sandbox: FakeSandbox, monkeypatch: pytest.MonkeyPatch, **options: bool) -> Score:
    monkeypatch.setattr(unit_tests, "current_sandbox", lambda: sandbox)
    prompt = "def add(a, b):\n"
    state = TaskState(
        model=ModelName("none/none"),
        sample_id="1",
        epoch=1,
        input=prompt,
        messages=[ChatMessageUser(content="Write it.")],
        output=ModelOutput.from_content("none/none", ADD),
        metadata={"test": "TESTS", "entry_point": "add"},
    )
    score = anyio.run(partial(unit_tests.unit_tests(**options), state, Target("")))
    assert score is not None
    return score


def said(text: str) -> ExecResult[str]:
    return ExecResult(True, 0, text, "")


NO_ROOM = '{"error": "no room", "nonce": "NONCE"}'
SILENT = '{"silent": "it ended early", "nonce": "NONCE"}'
GONE = ExecResult(False, 137, "", "Killed")


@pytest.mark.parametrize(
    ("replies", "value", "why"),
    [
        # The examiner's word.
        ([said(PASSED)], "C", None),
        ([said('{"passed": false, "why": "failed: it", "nonce": "NONCE"}')], "I", "failed: it"),
        # No word, though a harmless program passes: this one silenced its examiner.
        ([GONE, said(PASSED)], "I", "stopped: there was no verdict"),
        ([TimeoutError("late"), said(PASSED)], "I", "stopped: there was no verdict"),
        ([said("3\n"), said(PASSED)], "I", "stopped: there was no verdict"),
        ([said("[]\n"), said(PASSED)], "I", "stopped: there was no verdict"),
        # A word that this run's examiner has not said, or not as its last.
        ([said('{"passed": true, "why": ""}'), said(PASSED)], "I", "stopped: there was no verdict"),
        ([said('{"passed": true, "why": "", "nonce": null}'), said(PASSED)], "I", "stopped: there"),
        ([said(PASSED.replace("NONCE", "0" * 32)), said(PASSED)], "I", "stopped: there was no"),
        ([said(PASSED * 2), said(PASSED)], "I", "stopped: there was no verdict"),
        ([ExecResult(False, 137, PASSED, ""), said(PASSED)], "I", "stopped: there was no verdict"),
        ([said(SILENT), said(PASSED)], "I", "stopped: there was no verdict (it ended early)"),
        # The sandbox is broken: no zero.
        ([said(NO_ROOM)], None, "The sandbox is broken: no room"),
        ([said(SILENT), said(SILENT)], None, "The sandbox is broken: it ended early"),
        ([GONE, GONE], None, "The sandbox is broken: JSONDecodeError"),
        ([RuntimeError("no docker")] * 2, None, "The sandbox is broken: RuntimeError: no docker"),
        ([GONE, said(NO_ROOM)], None, "The sandbox is broken: no room"),
        (
            [GONE, said(PASSED.replace("true", "false").replace('""', '"slow"'))],
            None,
            "The sandbox is broken: slow",
        ),
    ],
)
def test_a_broken_sandbox_is_no_zero(
    replies: list[ExecResult[str] | Exception],
    value: str | None,
    why: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sandbox = FakeSandbox(*replies)
    score = scored(sandbox, monkeypatch)
    assert sandbox.replies == []
    assert sandbox.orders[0]["program"] == score.answer == ADD
    assert (sandbox.orders[0]["test"], sandbox.orders[0]["entry_point"]) == ("TESTS", "add")
    if value is None:
        assert score.value != score.value  # NaN
        assert score.reason == "scoring_failed"
    else:
        assert score.value == value
    assert (score.explanation or "").startswith(why or "")
    assert bool(score.explanation) == bool(why)


def test_the_scorer_asks_for_a_yes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PrerequisiteError, match="confirm_run_unsafe_code"):
        scored(FakeSandbox(here=True), monkeypatch)


def no_sandbox() -> Any:
    raise ProcessLookupError


def test_without_a_sandbox_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    setup: Callable[..., Any] = unit_tests.confirmed_sandbox(confirm_run_unsafe_code=True)
    monkeypatch.setattr(unit_tests, "current_sandbox", no_sandbox)
    with pytest.raises(PrerequisiteError, match="--sandbox docker"):
        anyio.run(setup, None, None)
