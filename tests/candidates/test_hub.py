from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cases import cases
from tests.expected import check
from tests.publish.fake_hub import WRITE, FakeHub, Fault
from tests.publish.fake_repo import Repo
from tests.publish.hub_client import online
from tiebreak.candidates import CandidateError, CandidatePool, load_candidates, write_parquet
from tiebreak.candidates.hub import HubAddress, is_on_hub
from tiebreak.inspect_tasks import contests
from tiebreak.inspect_tasks.arguments import checked
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.protocols import find_protocol

REPO = "alice/ranks"
ADDRESS = f"hf://datasets/{REPO}"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    with online(monkeypatch) as running:
        # HF_ENDPOINT is read when the client is imported, which was long ago.
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", running.url)
        template = running.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("HF_TOKEN", WRITE)
        yield running


def pool_of(folder: Path, n: int = 4, answer: str = "The answer is {i}.") -> CandidatePool:
    for model in ("openai/a", "openai/b"):
        write_inspect_log(folder, model, make_rows(n, answer=answer), task="gsm8k")
    return load_candidates(folder)


def put(repo: Repo, pool: CandidatePool, folder: Path, name: str = "candidates/p.parquet") -> None:
    repo.commit("main", "a pool", {name: write_parquet(pool, folder / "x.parquet").read_bytes()})


@pytest.mark.parametrize(("text", "parts"), cases(__file__, "addresses"))
def test_addresses(text: str, parts: list[str | None]) -> None:
    assert is_on_hub(text)
    address = HubAddress.parse(text)
    assert [*address] == parts
    assert HubAddress.parse(str(address)) == address


@pytest.mark.parametrize(
    "text", ["hf://", "hf://o/n", "hf://datasets/n", "hf://datasets/o/@v1", "hf://models/o/n"]
)
def test_what_is_no_address_is_named(text: str) -> None:
    with pytest.raises(
        CandidateError, match=r"not the address of a dataset.*\n.*hf://datasets/OWNER/NAME"
    ):
        load_candidates(text)


@pytest.mark.parametrize("path", ["logs/", "hf", "datasets/o/n", "./hf://x", "hf.eval"])
def test_other_paths_are_left_alone(path: str) -> None:
    assert not is_on_hub(path)


@pytest.mark.slow
@pytest.mark.parametrize("private", [False, True])
def test_a_published_pool_comes_back_equal(hub: FakeHub, tmp_path: Path, private: bool) -> None:
    pool = pool_of(tmp_path / "logs")
    put(hub.add(REPO, private=private), pool, tmp_path)
    back = load_candidates(ADDRESS)
    assert back.items == pool.items
    assert back.candidates == pool.candidates
    assert load_candidates([Path(ADDRESS)]).candidates == pool.candidates


def test_only_candidates_are_downloaded_and_the_second_time_nothing(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = hub.add(REPO)
    put(repo, pool_of(tmp_path / "logs"), tmp_path)
    repo.commit("main", "ballots", {"ballots/a.parquet": b"x", "candidates.md": b"x"})
    first = load_candidates(ADDRESS)
    assert not hub.requests("resolve/.*(ballots|README|candidates.md)")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert load_candidates(ADDRESS).candidates == first.candidates


@pytest.mark.slow
def test_a_revision_and_a_file_can_be_chosen(hub: FakeHub, tmp_path: Path) -> None:
    repo = hub.add(REPO)
    small, large = pool_of(tmp_path / "small", 2), pool_of(tmp_path / "large", 5)
    put(repo, small, tmp_path)
    old = repo.refs["main"]
    put(repo, large, tmp_path, "candidates/q.parquet")
    assert len(load_candidates(f"{ADDRESS}@{old}")) == 2
    assert len(load_candidates(f"{ADDRESS}/candidates/p.parquet")) == 2
    assert len(load_candidates(ADDRESS)) == 5, "the small one is a part of the large one"


@pytest.mark.slow
def test_pools_that_contradict_each_other_are_named(hub: FakeHub, tmp_path: Path) -> None:
    repo = hub.add(REPO)
    put(repo, pool_of(tmp_path / "one"), tmp_path)
    put(repo, pool_of(tmp_path / "two", answer="No {i}."), tmp_path, "candidates/q.parquet")
    with pytest.raises(CandidateError) as caught:
        load_candidates(ADDRESS)
    first, second = (f"{ADDRESS}/candidates/{name}.parquet" for name in "pq")
    assert str(caught.value).splitlines()[1:3] == [
        f"  - gsm8k: 'openai/a' answered item 'q0' in two ways: {first}, {second}",
        f"  - gsm8k: 'openai/b' answered item 'q0' in two ways: {first}, {second}",
    ]
    assert "hf://datasets/OWNER/NAME/candidates/FILE" in str(caught.value)
    assert len(load_candidates(second)) == 4


@pytest.mark.slow
def test_other_peoples_tables_are_noted_and_damaged_ones_named(
    hub: FakeHub, tmp_path: Path
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    repo = hub.add(REPO)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    repo.commit("main", "x", {"candidates/a.parquet": (tmp_path / "a.parquet").read_bytes()})
    with pytest.raises(CandidateError, match="holds no pool"):
        load_candidates(ADDRESS)
    put(repo, pool_of(tmp_path / "logs"), tmp_path)
    (note,) = load_candidates(ADDRESS).notes
    assert str(note) == f"{ADDRESS}/candidates/a.parquet: not a pool of Tiebreak"
    repo.commit("main", "x", {"candidates/z.parquet": b"PAR1 damaged"})
    with pytest.raises(CandidateError, match=f"{ADDRESS}/candidates/z.parquet: cannot be read"):
        load_candidates(ADDRESS)
    assert len(load_candidates(ADDRESS, mode="intersect")) == 4


@pytest.mark.slow
def test_what_cannot_be_loaded_is_named(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hub.add(REPO), pool_of(tmp_path / "logs"), tmp_path)
    put(hub.add("alice/own", private=True), pool_of(tmp_path / "logs"), tmp_path)
    put(hub.add("alice/gated", gated=True), pool_of(tmp_path / "logs"), tmp_path)
    hub.add("alice/bare").commit("main", "rankings", {"rankings/a.parquet": b"x"})
    texts = []
    for name, (where, given, *fault) in cases(__file__, "unread").items():
        monkeypatch.setenv("HF_TOKEN", given)
        hub.faults[:] = [Fault(*fault)] if fault else []
        with pytest.raises(CandidateError) as caught:
            load_candidates(f"hf://datasets/{where}")
        assert len(str(caught.value).splitlines()) == 3, "a count, what is wrong, what to do"
        texts.append(f"== {name}\n{caught.value.kind}: {caught.value}\n")
    check(__file__, "hub.txt", "\n".join(texts))


@pytest.mark.slow
def test_a_task_judges_what_others_published(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = pool_of(tmp_path / "logs")
    put(hub.add(REPO), pool, tmp_path)
    # While Inspect loads a task file by path it works in that file's folder.
    monkeypatch.chdir(Path(contests.__file__).parent)
    [read] = contests.load_pools(checked({"candidates": ADDRESS}), find_protocol("seal"))
    assert read.candidates == pool.candidates
    nowhere = checked({"candidates": "hf://datasets/alice/none"})
    with pytest.raises(PrerequisiteError, match="there is no such dataset"):
        contests.load_pools(nowhere, find_protocol("seal"))


def test_no_network_is_named(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(CandidateError, match=r"the Hub cannot be reached.*\n.*Check the network"):
        load_candidates(ADDRESS)


def test_offline_mode_is_named(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(CandidateError, match="not in the cache, and HF_HUB_OFFLINE is set"):
        load_candidates(ADDRESS)


def test_a_cache_that_cannot_be_written_is_named(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hub.add(REPO), pool_of(tmp_path / "logs"), tmp_path)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "file"))
    with pytest.raises(CandidateError, match=r"cannot be kept in the cache.*\n.*HF_HOME"):
        load_candidates(ADDRESS)
