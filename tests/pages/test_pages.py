"""Every command on the pages of the documentation is run, and every piece of Python."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.hub import write_copy
from tests.candidates.test_hub import hub as hub
from tests.cases import cases
from tests.fair.bank.conftest import cluster as cluster
from tests.fair.bank.postgres import Cluster
from tests.pages.models import planted_providers
from tests.pages.reading import Scene, code, scenes
from tests.pages.shell import Shell
from tests.pages.stage import build, write_code
from tests.pages.tables import GIVEN, REMOVED, put, why_not_run
from tests.publish import fake_hub
from tests.publish.fake_hub import WRITE, FakeHub
from tiebreak.benchmarks.sources import HUB
from tiebreak.prerequisite import PrerequisiteError

pytestmark = pytest.mark.pages


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INSPECT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return build(tmp_path_factory.mktemp("stage"))


@pytest.fixture
def folder(stage: Path, tmp_path: Path) -> Path:
    """A copy of the stage."""
    return Path(shutil.copytree(stage, tmp_path / "here", symlinks=True))


@pytest.fixture
def shell(folder: Path) -> Iterator[Shell]:
    shell = Shell(folder)
    with planted_providers():
        yield shell
    shell.close()


@pytest.fixture
def online(hub: FakeHub, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    """The Hub has the benchmarks' data, and whoever asks may write."""
    monkeypatch.setattr("huggingface_hub.get_token", lambda: WRITE)
    monkeypatch.setattr("datasets.config.HF_ENDPOINT", hub.url)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", False)
    shell.env |= {
        "HF_ENDPOINT": hub.url,
        "HF_HUB_OFFLINE": "0",
        "HF_HOME": str(tmp_path / "hf"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    for benchmark, source in HUB.items():
        copy = write_copy(tmp_path / "data" / benchmark, benchmark)
        files = {
            path.relative_to(copy).as_posix(): path.read_bytes()
            for path in copy.rglob("*")
            if path.is_file()
        }
        repo = hub.add(source.repo)
        oid = repo.commit("main", "data", files)
        repo.commits[source.revision] = replace(repo.commits[oid], oid=source.revision)
        repo.refs["main"] = source.revision
    return hub


@pytest.mark.parametrize("scene", list(scenes()), ids=lambda scene: scene.name)
def test_commands(
    scene: Scene,
    shell: Shell,
    online: FakeHub,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    text = "\n".join(scene.commands)
    if found := re.search(r"(?:--to |hf://datasets/)(\w+)/", text):
        monkeypatch.setitem(fake_hub.TOKENS, WRITE, (found[1], "write"))
    for name, file in (
        ("hf://datasets/OWNER/NAME", "pool.parquet"),
        ("import OWNER/NAME", "questions.jsonl"),
    ):
        if name in text:
            content = (shell.folder / file).read_bytes()
            online.add("OWNER/NAME").commit("main", "data", {f"candidates/{file}": content})
    shell.env |= GIVEN.get(scene.name, {})
    if "postgresql://" in text:
        cluster: Cluster = request.getfixturevalue("cluster")
        cluster.empty()
        shell.database = cluster.url
    for name in REMOVED.get(scene.name, ()):
        path = shell.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if "tiebreak score-code lm_eval_out/" in text:
        shutil.rmtree(shell.folder / "lm_eval_out")
        write_code(shell.folder / "lm_eval_out")
    here, failed = shell.folder, []
    for block in scene.blocks:
        shell.folder = here
        for line in block:
            if why_not_run(line):
                continue
            try:
                shell.run(put(line, shell))
            except Exception as error:
                said = "\n".join(str(error).strip().splitlines()[-12:])
                failed.append(f"$ {line}\n{type(error).__name__}: {said}")
    assert not failed, "\n\n".join(failed)


@pytest.mark.parametrize(("page", "text"), list(code()), ids=lambda value: value[:30])
def test_python(page: str, text: str, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shell.folder)
    exec(compile(text, page, "exec"), {})


@pytest.mark.parametrize("line", cases(__file__, "what fails is found"))
def test_what_fails_is_found(line: str, shell: Shell) -> None:
    shell.env["CANDIDATE_FAILS"] = str(shell.folder / "bank.db")  # a file that is there
    with pytest.raises((AssertionError, PrerequisiteError, LookupError)):
        shell.run(line)
