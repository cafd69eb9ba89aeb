"""Folders packed in all ways of `folder_ways`: what is read, and that nothing vanishes unnoted."""

import gzip
import json
import os
import random
import re
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import get_args
from zipfile import ZIP_DEFLATED, ZipFile

import fsspec  # type: ignore[import-untyped]
import pytest
import zstandard
from inspect_ai.log import read_eval_log

from tests.candidates.folder_ways import (
    ALL,
    ALPHA,
    BETA,
    JSON_LOG,
    LOG,
    READER,
    WAYS,
    log_of,
    make_run,
    other_harnesses,
    pack_all,
    repack,
    samples_of,
    zip_up,
    zipped,
    zipped_deep,
    zstd,
)
from tests.cases import cases
from tests.expected import check
from tests.harness import run_here
from tiebreak.candidates import (
    CandidateError,
    CandidatePool,
    Mode,
    load_candidates,
    write_parquet,
)
from tiebreak.candidates.discover import discover
from tiebreak.candidates.hub import is_on_hub

Packing = Callable[[Path], Path]


def answers_of(pool: CandidatePool) -> dict[str, int]:
    models = [model for _, row in pool for model in row]
    return {model: models.count(model) for model in pool.models}


def told(pool: CandidatePool) -> list[tuple[str, str]]:
    """Notes on files; that a model is not in both benchmarks is known."""
    return [(note.where, note.what) for note in pool.notes if note.kind != "model_absent"]


def test_folders_are_read_and_nothing_vanishes(tmp_path: Path) -> None:
    texts = []
    for name, pack in WAYS.items():
        folder = make_run(tmp_path / name / "run")
        pack(folder)
        pool = load_candidates(folder, alone=True)
        answers, notes = answers_of(pool), told(pool)
        assert answers.items() <= ALL.items()
        # A model is lost with a note, or not at all.
        assert notes or answers == ALL
        # A name that the user knows, and never one of a file that is gone.
        sources = [answer.source for _, row in pool for answer in row.values()]
        assert all(place.startswith(str(folder)) for place in (*sources, *dict(notes)))
        said = [f"{place}: {what}".replace(str(folder), "FOLDER") for place, what in notes]
        texts.append("\n".join([f"== {name}", f"read: {', '.join(answers)}", *said]))
    check(__file__, "folders.txt", "\n\n".join(texts) + "\n")


def test_a_folder_that_cannot_be_opened_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path / "run")
    shut = str(folder / "study__beta")
    scan = os.scandir

    def scandir(path: str) -> object:
        if path == shut:
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr("os.scandir", scandir)
    pool = load_candidates(folder, "intersect", alone=True)
    assert (shut, "is a folder that cannot be opened") in told(pool)


def test_sources_name_archives_and_what_is_in_them(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    zipped_deep(folder)
    pool = load_candidates(
        folder, alone=True, names={f"{folder}/deep/logs.zip/run1/{LOG.name}.gz": "me"}
    )
    assert pool.models == ("me", ALPHA, BETA)
    sources = {model: row[model].source for _, row in pool for model in row}
    assert sources["me"] == f"{folder}/deep/logs.zip/run1/{LOG.name}.gz"
    assert re.fullmatch(
        f"{folder}/deep/logs.zip/run1/study__beta/samples_passages_.*.jsonl.gz", sources[BETA]
    )


def packed_bomb(name: str, folder: Path) -> Path:
    """A small file that says, or turns out, to hold two megabytes."""
    path = folder / name
    data = b"\n" * 2**21
    if name.endswith(".zip"):
        with ZipFile(path, "w", ZIP_DEFLATED) as archive:
            archive.writestr("samples_x.jsonl", data)
    else:
        pack = gzip.compress if name.endswith(".gz") else zstandard.ZstdCompressor().compress
        path.write_bytes(pack(data))
    return path


@pytest.mark.parametrize(
    "name", ["samples_x.jsonl.gz", "samples_x.jsonl.zst", "a.eval.gz", "a.eval.zst", "a.zip"]
)
def test_what_unpacks_to_much_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("tiebreak.packed._ALWAYS_READ", 2**20)
    path = packed_bomb(name, make_run(tmp_path / "run"))
    with pytest.raises(
        CandidateError, match=r"unpacked it would take (more than 1|2) MB"
    ) as caught:
        load_candidates(tmp_path)
    assert [note.where for note in caught.value.notes] == [path.as_posix()]


@pytest.mark.parametrize("name", ["a.zip", "a.eval.gz", "b.zip"])
def test_what_unpacks_to_much_at_the_second_time_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Each packing takes no more than it may, and both together do."""
    monkeypatch.setattr("tiebreak.packed._ALWAYS_READ", 2**20)
    # 60 MB in 300 KB, which are 10 KB when they are packed again.
    part = b"\n" * 2**20 + random.Random(0).randbytes(4_000)
    log = BytesIO()
    with ZipFile(log, "w", ZIP_DEFLATED) as archive:
        for n in range(60):
            archive.writestr(f"samples/{n}_epoch_1.json", part)
    path = tmp_path / name
    if name == "a.eval.gz":
        path.write_bytes(gzip.compress(log.getvalue()))
    else:
        with ZipFile(path, "w", ZIP_DEFLATED) as archive:
            if name == "a.zip":
                archive.writestr("a.eval", log.getvalue())
            else:
                archive.writestr("samples_x.jsonl.gz", gzip.compress(part) * 60)
    assert path.stat().st_size < 30_000
    with pytest.raises(CandidateError, match="unpacked it would take"):
        load_candidates(path)


def test_without_zstandard_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path / "run")
    repack(samples_of(folder), ".zst", zstd)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(CandidateError, match="packed by zstd, which needs: pip install zstandard"):
        load_candidates(folder)


def spoilt(pack: Callable[[Path], None], spoil: Callable[[bytes], bytes]) -> Packing:
    """A run in a folder whose packed files are damaged."""

    def write(folder: Path) -> Path:
        run = make_run(folder / "run")
        pack(run)
        for path in [path for path in run.rglob("*") if path.is_file()]:
            path.write_bytes(spoil(path.read_bytes()))
        return run

    return write


def archive(*members: str) -> Packing:
    def write(folder: Path) -> Path:
        (folder / "deep").mkdir()
        with ZipFile(folder / "deep/logs.zip", "w") as packed:
            for name in members:
                packed.writestr(name, "x")
        return folder / "deep/logs.zip"

    return write


def another_harness(name: str) -> Packing:
    def write(folder: Path) -> Path:
        other_harnesses(folder)
        return folder / name

    return write


UNREAD: dict[str, Packing] = {
    "zstd, cut off": spoilt(pack_all(".zst", zstd), lambda data: data[:-9]),
    "zstd, damaged": spoilt(pack_all(".zst", zstd), lambda data: b"{}" + data),
    "zip, cut off": spoilt(zipped, lambda data: data[:-30]),
    "zip, damaged": spoilt(zipped, lambda data: data[:2_000] + b"\xff" * 40 + data[2_040:]),
    **{name: archive(*members) for name, members in cases(__file__, "archives").items()},
    **{f"other harness, {name}": another_harness(name) for name in cases(__file__, "harnesses")},
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_what_is_said_of_files_that_are_not_read(tmp_path: Path) -> None:
    texts = []
    for name, write in UNREAD.items():
        (folder := tmp_path / name.replace("/", " ")).mkdir()
        path = write(folder)
        before = sorted(folder.rglob("*"))
        with pytest.raises(CandidateError) as caught:
            load_candidates(path)
        assert sorted(folder.rglob("*")) == before
        texts.append(f"== {name}\n{caught.value}\n".replace(str(folder), "FOLDER"))
    assert not Path("/tmp/a.eval").exists()
    # What other libraries say is theirs.
    text = re.sub(r"(unpacked|zstd file|Inspect log|cut off) \(.*\)", r"\1 (…)", "\n".join(texts))
    check(__file__, "unread_folders.txt", text)


ADDRESSES = cases(__file__, "addresses")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A run in a folder of this machine and in memory, both with a zip of it."""
    folder, packed = make_run(tmp_path / "run"), make_run(tmp_path / "packed")
    zip_up(packed, folder / "logs.zip")
    memory = fsspec.filesystem("memory")
    memory.put(str(folder / "logs.zip"), "/bucket/logs.zip")
    for path in [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".zip"]:
        memory.put(str(path), f"/bucket/run/{path.relative_to(folder).as_posix()}")
    memory.pipe("/bucket/run/weights.safetensors", b"1")
    yield folder
    memory.rm("/bucket", recursive=True)


@pytest.mark.parametrize("name", ADDRESSES)
def test_addresses_are_read(elsewhere: Path, name: str) -> None:
    address, source = (
        text.replace("FOLDER", elsewhere.as_posix()).replace("SAMPLES", samples_of(elsewhere).name)
        for text in ADDRESSES[name]
    )
    if name == "file folder":
        (elsewhere / "logs.zip").unlink()
    pool = load_candidates(address, alone=True)
    whole = {"memory folder", "memory zip", "file folder", "zip of this machine", "all of a zip"}
    alone = {READER: 4} if name == "memory log" else {BETA: 4}
    assert answers_of(pool) == (ALL if name in whole else alone)
    sources = [row[pool.models[-1]].source for _, row in pool if pool.models[-1] in row]
    assert all(place.startswith(source) for place in sources), sources
    assert [note for note in pool.notes if note.kind != "model_absent"] == []


def test_models_elsewhere_are_named_by_their_address(elsewhere: Path) -> None:
    names = {"memory://bucket/run/study__beta/": "b", f"file://{elsewhere}/study__alpha": "a"}
    folders = ["memory://bucket/run/study__beta", f"file://{elsewhere}/study__alpha"]
    assert load_candidates(folders, names=names).models == ("a", "b")


def test_addresses_that_cannot_be_read_are_one_sentence(elsewhere: Path) -> None:
    fsspec.register_implementation("broken", "tests.candidates.test_folders.Broken", clobber=True)
    fsspec.register_implementation("undriven", "tiebreak_no_driver.Driver", clobber=True)
    said = []
    for address in cases(__file__, "unread"):
        for mode in get_args(Mode):
            with pytest.raises(CandidateError) as caught:
                load_candidates([address, elsewhere], mode)
            [note] = caught.value.notes
        said.append(f"{note.kind}: {note}\n")
    check(__file__, "unread_addresses.txt", "".join(said))


def test_storage_buckets_on_the_hub_are_no_datasets() -> None:
    assert is_on_hub("hf://datasets/o/n")
    assert is_on_hub("hf://o/n")
    assert not any(map(is_on_hub, ("hf://buckets/o/n", "hf:/buckets/o/n", "hf://spaces/o/n")))


class Broken(fsspec.AbstractFileSystem):  # type: ignore[misc]
    protocol = "broken"

    def info(self, path: str, **how: object) -> None:
        raise ConnectionError("no route")

    exists = isdir = info


def test_samples_and_logs_that_mention_another_harness_are_read(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    samples = samples_of(folder)
    samples.write_text(samples.read_text().replace('"doc": {', '"doc": {"promptIdx": 1, '))
    log = json.loads(JSON_LOG.read_text())
    log["eval"]["metadata"] = {"evalId": "1"}
    log_of(folder).unlink()
    (folder / "a.json").write_text(json.dumps(log))
    for given in (folder, [folder / "a.json", samples, samples_of(folder, ALPHA)]):
        assert answers_of(load_candidates(given, "intersect", alone=True)) == ALL


def test_without_a_place_to_unpack_archives_are_named(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    zipped(folder)
    found = discover([folder])
    assert [note.where for note in found.notes] == [f"{folder}/logs.zip"]
    with pytest.raises(CandidateError, match="is not on this machine: copy it first"):
        discover(["s3://bucket/run"])


def test_a_pool_in_an_archive_keeps_the_sources_of_its_answers(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    pool = load_candidates(folder, alone=True)
    (tmp_path / "pools").mkdir()
    write_parquet(pool, tmp_path / "pools/pool.parquet")
    (tmp_path / "pools/damaged.parquet").write_bytes(b"PAR1")
    zipped(tmp_path / "pools")
    again = load_candidates(tmp_path / "pools", "intersect", alone=True)
    assert again.candidates == pool.candidates
    [note] = [note for note in again.notes if note.kind == "unreadable_log"]
    assert note.where == f"{tmp_path}/pools/logs.zip/damaged.parquet"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["eval", "json"])
def test_failed_runs_whose_retry_succeeded_are_left_out_with_a_note(
    tmp_path: Path, form: str
) -> None:
    (tmp_path / "sums.py").write_text(cases(__file__, "sums.py"))
    (broken := tmp_path / "broken").touch()
    how = {"CANDIDATE_FAILS": str(broken), "INSPECT_LOG_FORMAT": form}
    logs = tmp_path / "logs"
    models = "candidate/0.1+fails,candidate/0.9"
    run_here(
        "inspect", "eval", "sums.py", "--model", models, "--log-dir", "logs", cwd=tmp_path, **how
    )
    failed: list[str] = []
    for _ in range(2):
        [left] = [path for path in logs.iterdir() if is_failed(path) and path.name not in failed]
        failed.append(left.name)
        retry = ("inspect", "eval-retry", f"logs/{left.name}", "--log-dir", "logs")
        run_here(*retry, cwd=tmp_path, **how)
        broken.unlink(missing_ok=True)
    alone = load_candidates([path for path in logs.iterdir() if not is_failed(path)])
    for mode in get_args(Mode):
        pool = load_candidates(logs, mode)
        assert (len(pool), pool.models) == (3, ("candidate/0.1+fails", "candidate/0.9"))
        assert pool.candidates == alone.candidates
        assert {note.kind for note in pool.notes} == {"retried"}
        assert {Path(note.where).name for note in pool.notes} == set(failed)
        assert all("its retry is used instead" in note.what for note in pool.notes)


def is_failed(path: Path) -> bool:
    return read_eval_log(str(path), header_only=True).status != "success"
