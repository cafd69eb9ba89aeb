"""What a reader's shell does with a line of a page, in this process."""

import importlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import chdir, suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import click
import httpx
from click.testing import CliRunner
from inspect_ai.log import read_eval_log

from tests.fair.bank.processes import free_port
from tests.harness import BIN, PLUGIN, ROOT, environment, run_here
from tiebreak.cli.verbs import main

COMMAND = re.compile(r"\$\(([^()]*)\)")


@dataclass
class Shell:
    """A folder and an environment; `run` takes one line of a page."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    served: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    address: str = ""
    database: str = ""

    def run(self, line: str) -> str:
        """What a line prints.

        Raises:
            AssertionError: it ends with another exit code than 0.
        """
        while found := COMMAND.search(line):
            printed = self.run(found[1]).strip()
            line = line[: found.start()] + printed + line[found.end() :]
        words = shlex.shlex(line, posix=True, punctuation_chars="&<>")
        words.whitespace_split, words.commenters = True, "#"
        return "".join([self._one(command) for command in split(list(words), "&&")])

    def _one(self, words: list[str]) -> str:
        given: dict[str, str] = {}
        exported, words = words[0] == "export", words[words[0] == "export" :]
        while words and re.match(r"[A-Z_]+=", words[0]):
            name, _, given[name] = words.pop(0).partition("=")
        if exported:
            self.env |= given
            return ""
        into = None
        if ">" in words:
            words, (into,) = words[: words.index(">")], words[words.index(">") + 1 :]
        words = [*self._globbed(word for word in words if word != "&")]
        path = os.pathsep.join([str(PLUGIN), str(ROOT), os.environ.get("PYTHONPATH", "")])
        more = {"PYTHONPATH": path, "COLUMNS": "100", **self.env, **given}
        with patch.dict(os.environ, more):
            printed = self._called(words)
        if into is not None:
            (self.folder / into).write_text(printed, encoding="utf-8")
        return printed

    def _globbed(self, words: Iterable[str]) -> Iterator[str]:
        for word in words:
            there = sorted(self.folder.glob(word)) if re.search(r"\w/\*", word) else []
            yield from (
                (path.relative_to(self.folder).as_posix() for path in there) if there else [word]
            )

    def _called(self, words: list[str]) -> str:
        if words[0] == "cd":
            self.folder /= words[1]
            return ""
        if words[0] == "wait":  # what ends with & has been run to its end
            return ""
        if words[0] == "tiebreak":
            return self._tiebreak(words[1:])
        if words[0] == "inspect":
            return self._inspect(words)
        if words[0] == "python":
            name = words[1].removesuffix(".py").replace("/", ".")
            return self._here(importlib.import_module(name).main, words[2:])
        if words[:2] == ["lm_eval", "run"]:
            words = [sys.executable, "-m", "own_lm_eval", *words[1:]]
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=environment(PWD=str(self.folder)),
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def _inspect(self, words: Sequence[str]) -> str:
        """A run that fails ends with exit code 0, too; its log says that it failed."""
        before = set(self.folder.rglob("*.eval"))
        printed = run_here(*words, cwd=self.folder)
        made = set(self.folder.rglob("*.eval")) - before
        assert made or words[1] != "eval", printed
        for path in made:
            log = read_eval_log(str(path), header_only=True)
            assert log.status == "success", f"{log.error}\n{printed}"
        return printed

    def _tiebreak(self, words: Sequence[str]) -> str:
        if words[:2] == ["bank", "serve"] or words[:1] in (["serve-local"], ["vote"]):
            return self._serve(words)
        return self._here(main, words)

    def _here(self, command: click.Command, words: Sequence[str]) -> str:
        with chdir(self.folder):
            done = CliRunner().invoke(command, words)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise AssertionError(repr(done.exception)) from done.exception
        assert done.exit_code == 0, done.output
        assert done.output.strip(), "nothing was printed"
        return done.stdout

    def _serve(self, words: Sequence[str]) -> str:
        """A server in a process of its own, on another port than the page's; until `close`."""
        if "--port" in words:
            words = words[: words.index("--port")]
        self.address = f"http://127.0.0.1:{free_port()}"
        log = self.folder / "server.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [str(BIN / "tiebreak"), *words, "--port", self.address.rpartition(":")[2]],
                cwd=self.folder,
                env=environment(PWD=str(self.folder)),
                stdout=file,
                stderr=file,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.served.append(process)
        end = time.monotonic() + 120
        while True:
            said = log.read_text(encoding="utf-8")
            assert process.poll() is None, said
            assert time.monotonic() < end, said
            if words[0] == "vote" and "Vote at" in said:
                return said
            with suppress(httpx.HTTPError):
                httpx.get(f"{self.address}/health", verify=False).raise_for_status()
                return said
            time.sleep(0.1)

    def close(self) -> None:
        """End what serves."""
        for process in self.served:
            with suppress(ProcessLookupError):  # which has ended with an error
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def split(words: Sequence[str], by: str) -> list[list[str]]:
    """A list of words in parts, between which a word stands."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == by:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts
