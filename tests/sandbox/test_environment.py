"""The sandbox `bubblewrap` of Inspect: its contract, what commands reach, and any task in it."""

import os
import shutil
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxUserUnsupportedError,
    override_sandbox_output_limit,
)
from inspect_ai.util._sandbox import self_check

from tests.harness import run
from tests.sandbox.foreign import ATTEMPTS, TASK, foreign
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.sandbox import box
from tiebreak.sandbox.box import Bubblewrap

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not shutil.which("bwrap") and "CI" not in os.environ, reason="needs bubblewrap"
    ),
]

# What Inspect's checks ask for and a box does not have.
EXCEPTIONS = {
    "test_exec_as_user": "there is one user, who adds no others",
    "test_exec_permission_error": "runs /etc/passwd, which a box does not show",
}


def in_a_box(work: Callable[[Bubblewrap], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        sandbox = Bubblewrap()
        folder = Path(sandbox._folder)
        try:
            return await work(sandbox)
        finally:
            await Bubblewrap.sample_cleanup("", None, {"default": sandbox}, False)
            assert not folder.exists()

    return anyio.run(run)


@pytest.mark.parametrize("name", self_check.__all__)
def test_it_keeps_the_contract_of_inspects_sandboxes(name: str) -> None:
    check = getattr(self_check, name)
    if name in EXCEPTIONS:
        with pytest.raises((AssertionError, SandboxUserUnsupportedError)):
            in_a_box(check)
    else:
        in_a_box(check)


def test_what_is_no_program_is_not_run() -> None:
    async def work(sandbox: Bubblewrap) -> None:
        await sandbox.write_file("text", "no program")
        with pytest.raises(PermissionError):
            await sandbox.exec(["./text"])
        assert (await sandbox.exec(["nonsense"])).returncode == 127
        # A command's own 126 is no refusal.
        assert (await sandbox.exec(["sh", "-c", "exit 126"])).returncode == 126

    in_a_box(work)


def test_too_much_output_is_an_error_and_not_cut_off() -> None:
    async def work(sandbox: Bubblewrap) -> None:
        with override_sandbox_output_limit(1000):
            for channel in ("", " >&2"):
                with pytest.raises(OutputLimitExceededError):
                    await sandbox.exec(["sh", "-c", f"head -c 1001 /dev/zero{channel}"])
            assert len((await sandbox.exec(["head", "-c", "1000", "/dev/zero"])).stdout) == 1000

    in_a_box(work)


def test_what_a_command_leaves_running_ends_with_it_or_with_its_time() -> None:
    async def work(sandbox: Bubblewrap) -> None:
        beat = "while :; do date +%N > beat; done"
        await sandbox.exec(["sh", "-c", f"({beat}) > /dev/null 2>&1 & sleep .2"])
        with pytest.raises(TimeoutError):
            await sandbox.exec(["sh", "-c", f"({beat}) & sleep 60"], timeout=1)
        first = await sandbox.read_file("beat")
        await anyio.sleep(0.5)
        assert await sandbox.read_file("beat") == first

    in_a_box(work)


def test_names_of_files_lead_to_nothing_outside(tmp_path: Path) -> None:
    """A link that a command has made is not followed by whoever reads or writes for it."""
    secret = tmp_path / "secret"
    secret.write_text("alive")
    tmp_path.chmod(0o777)

    async def work(sandbox: Bubblewrap) -> None:
        await sandbox.exec(["ln", "-s", str(secret), "link"])
        await sandbox.exec(["ln", "-s", str(tmp_path), "folder"])
        for file in ("link", str(secret), "folder/secret", f"../{secret}"):
            with pytest.raises(FileNotFoundError):
                await sandbox.read_file(file)
        # What it says of a place is the box's own.
        await sandbox.write_file(str(tmp_path / "new"), "x")
        with pytest.raises(OSError, match="link"):
            await sandbox.write_file("link/new", "x")
        with pytest.raises(OSError, match="/usr/new"):
            await sandbox.write_file("/usr/new", "x")
        # Closed to its own user, it is deleted all the same.
        await sandbox.exec(["sh", "-c", "mkdir -p deep/er && chmod 0 deep/er deep"])

    in_a_box(work)
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    assert secret.read_text() == "alive"


def test_a_fifo_does_not_hold_up_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box, "_FILE_SECONDS", 1)

    async def work(sandbox: Bubblewrap) -> None:
        await sandbox.exec(["mkfifo", "pipe"])
        with pytest.raises(TimeoutError):
            await sandbox.read_file("pipe")

    in_a_box(work)


def test_nothing_of_our_environment_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-ours")

    async def work(sandbox: Bubblewrap) -> None:
        code = "import os; print(sorted(os.environ), os.environ.get('NEW'))"
        done = await sandbox.exec(["python3", "-c", code], env={"NEW": "a=b"})
        assert done.stdout.strip() == "['HOME', 'LANG', 'NEW', 'PATH'] a=b"

    in_a_box(work)


def test_it_takes_no_configuration() -> None:
    with pytest.raises(PrerequisiteError, match="takes no configuration"):
        anyio.run(Bubblewrap.task_init, "", "compose.yaml")


def test_a_task_of_others_runs_in_it(tmp_path: Path) -> None:
    """By Inspect's own command, without a word of ours in the task."""
    (tmp_path / "task.py").write_text(TASK)
    canary = tmp_path / "canary"
    canary.write_text("alive")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        task = ("inspect", "eval", "task.py", "--model", "mockllm/model", "--sandbox", "bubblewrap")
        known = {"CANARY": str(canary), "PORT": port, "SECRET": "of ours"}
        run(*task, "--log-dir", "logs", code=0, cwd=tmp_path, **known)
    [info] = list_eval_logs(str(tmp_path / "logs"))
    assert_right(read_eval_log(info))
    assert canary.read_text() == "alive"
    assert not (tmp_path / "new").exists()


def test_a_broken_box_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise PrerequisiteError("bubblewrap is not installed")

    monkeypatch.setattr(box, "box", missing)
    with pytest.raises(PrerequisiteError, match="bubblewrap is not installed"):
        inspect_eval(foreign(), model="mockllm/model", sandbox="bubblewrap", log_dir=str(tmp_path))


def assert_right(log: EvalLog) -> None:
    assert log.status == "success", log.error
    [sample] = log.samples or []
    [score] = (sample.scores or {}).values()
    assert (score.metadata or {})["got"] == {}
    assert set((score.metadata or {})["tried"]) == set(ATTEMPTS)
    assert score.value == "C"
