"""Ways to pack a folder of logs.

The folder holds two models of lm-eval (4 documents) and one of Inspect (4 other items).
"""

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from tests.candidates.builders import write_lm_eval_run
from tests.cases import cases

RELEASES = Path(__file__).parent / "releases"
LM_EVAL = RELEASES / "lm-eval-0.4.13/one_filter"
[LOG] = (RELEASES / "inspect-0.3.285/eval").iterdir()
[JSON_LOG] = (RELEASES / "inspect-0.3.285/json").iterdir()

ALPHA, BETA, READER = "study/alpha", "study/beta", "reader/alpha"
ALL = {ALPHA: 4, BETA: 4, READER: 4}
"""Answers of each model."""


def samples_of(folder: Path, model: str = BETA) -> Path:
    [samples] = (folder / model.replace("/", "__")).glob("samples_*.jsonl")
    return samples


def log_of(folder: Path) -> Path:
    return folder / LOG.name


def repack(path: Path, ending: str, change: Callable[[bytes], bytes]) -> Path:
    target = path.with_name(path.name + ending)
    target.write_bytes(change(path.read_bytes()))
    path.unlink()
    return target


def zstd(data: bytes) -> bytes:
    """Two frames, as programs write that pack in parallel."""
    half = len(data) // 2
    frames = zstandard.ZstdCompressor()
    return frames.compress(data[:half]) + frames.compress(data[half:])


def pack_all(ending: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def pack(folder: Path) -> None:
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            repack(path, ending, change)

    return pack


def zip_up(folder: Path, archive: Path, below: str = "") -> None:
    """Move all of a folder into an archive."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    with ZipFile(archive, "w", ZIP_DEFLATED) as target:
        for path in files:
            target.write(path, below + path.relative_to(folder).as_posix())
    for path in files:
        path.unlink()


def zipped(folder: Path) -> None:
    zip_up(folder, folder / "logs.zip")


def zipped_deep(folder: Path) -> None:
    pack_all(".gz", gzip.compress)(folder)
    (folder / "deep").mkdir()
    zip_up(folder, folder / "deep/logs.zip", "run1/")


def nested(folder: Path) -> None:
    for n, path in enumerate(list(folder.iterdir())):
        (folder / f"a/b{n}/c").mkdir(parents=True)
        shutil.move(path, folder / f"a/b{n}/c" / path.name)


def linked(folder: Path) -> None:
    elsewhere = folder.with_name("elsewhere")
    shutil.move(folder, elsewhere)
    folder.mkdir()
    (folder / "link").symlink_to(elsewhere, target_is_directory=True)


def looped(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a/loop").symlink_to(folder, target_is_directory=True)
    (folder / "study__alpha/other").symlink_to(folder / "study__beta", target_is_directory=True)
    (folder / "again").symlink_to(folder / "study__beta", target_is_directory=True)


def hidden_folder(folder: Path) -> None:
    (folder / ".old").mkdir()
    shutil.move(folder / "study__beta", folder / ".old")
    (folder / ".git").mkdir()
    (folder / ".git/config.json").write_text('{"version": 1}')


def hidden_file(folder: Path) -> None:
    log_of(folder).rename(folder / f".{LOG.name}")
    (folder / f"._{LOG.name}").write_bytes(b"\0\5\x16\7")  # attributes, by macOS


def renamed(new: str, cut: int | None = None) -> Callable[[Path], None]:
    def rename(folder: Path) -> None:
        (folder / new).write_bytes(log_of(folder).read_bytes()[:cut])
        log_of(folder).unlink()

    return rename


def samples_renamed(new: str) -> Callable[[Path], None]:
    def rename(folder: Path) -> None:
        samples = samples_of(folder)
        samples.rename(samples.with_name(new.format(samples.name)))

    return rename


def dangling(folder: Path) -> None:
    log_of(folder).unlink()
    log_of(folder).symlink_to(folder / "store/gone")


def piped(folder: Path) -> None:
    log_of(folder).unlink()
    os.mkfifo(folder / "a.eval")
    os.mkfifo(folder / "notes.txt")


def one_task_lost(folder: Path) -> None:
    """A second task in the same run; its samples are not there, and its group is no task."""
    [summary] = (folder / "study__beta").glob("results_*.json")
    results = json.loads(summary.read_text())
    results["results"] |= {"riddles": {"acc,none": 1}, "all": {"acc,none": 1}}
    results["configs"]["riddles"] = {}
    results["group_subtasks"] = {"all": ["passages", "riddles"]}
    summary.write_text(json.dumps(results))


def release_0_4_2(folder: Path) -> None:
    for model in ("alpha", "beta"):
        shutil.rmtree(folder / f"study__{model}")
        shutil.copytree(RELEASES / "lm-eval-0.4.2/one_filter" / model, folder / model)
    (folder / "alpha/other_passages.jsonl").write_text('{"question": "no sample"}\n')


def lost_samples_0_4_2(folder: Path) -> None:
    release_0_4_2(folder)
    (folder / "beta/pretrained__study__beta_passages.jsonl").unlink()


def long_head(folder: Path) -> None:
    log_of(folder).unlink()
    log = json.loads(JSON_LOG.read_text())
    error = {"message": "x" * 200_000, "traceback": "", "traceback_ansi": ""}
    ordered = {"version": log.pop("version"), "error": error, **log}
    (folder / "mine.json").write_text(json.dumps(ordered))


def log_likelihood(folder: Path) -> None:
    answers = [{"id": "q0", "question": "?", "resps": [[["-1.5", "False"]]], "native": 1.0}]
    write_lm_eval_run(folder, "org/c", answers, task="choices")


def write_files(folder: Path, table: str) -> None:
    for name, text in cases(__file__, table).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def other_harnesses(folder: Path) -> None:
    write_files(folder, "other harnesses")
    for n in (1, 2):
        shutil.copytree(folder / "runs/0", folder / f"runs/{n}")


def other_files(folder: Path) -> None:
    """What plainly is no log is not worth a word; other people's Parquet is."""
    pq.write_table(pa.table({"x": [1]}), folder / "data.parquet")
    write_files(folder, "other files")
    with ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("a.csv", "1")


def a_zip_in_a_zip(folder: Path) -> None:
    log_of(folder).rename(folder / "study__beta" / LOG.name)
    zip_up(folder / "study__beta", folder / "inner.zip")
    (folder / "pack").mkdir()
    shutil.move(folder / "inner.zip", folder / "pack/inner.zip")
    zip_up(folder / "pack", folder / "outer.zip")


def zip_beside(folder: Path) -> None:
    """The archive of a folder lies in it still, once as a whole and once of the two runs."""
    with ZipFile(folder / "all.zip", "w") as archive:
        for path in [path for path in folder.rglob("*") if path.suffix not in ("", ".zip")]:
            archive.write(path, f"run/{path.relative_to(folder).as_posix()}")


WAYS: dict[str, Callable[[Path], object]] = {
    "as it is": lambda folder: None,
    "gzip": pack_all(".gz", gzip.compress),
    "zstd": pack_all(".zst", zstd),
    "zip": zipped,
    "zip of gzip in a sub-folder": zipped_deep,
    "nested folders": nested,
    "folder behind a link": linked,
    "links in a loop": looped,
    "hidden folder": hidden_folder,
    "hidden file": hidden_file,
    "link to nothing": dangling,
    "pipe": piped,
    "backup": renamed("a.eval.bak"),
    "second download": renamed("a.eval (1)"),
    "half a download": renamed("a.eval.part", 900),
    "temporary file": renamed("a.eval.x1.tmp", 90),
    "capital letters": renamed("A.EVAL"),
    "JSON in capital letters": lambda folder: repack(
        log_of(folder), "X", lambda _: JSON_LOG.read_bytes()
    ).rename(folder / "A.JSON"),
    "xz": renamed("a.eval.xz", 90),
    "tar": renamed("a.tar.gz"),
    "samples under another name": samples_renamed("mine.jsonl"),
    "half a download of samples": samples_renamed("{}.part"),
    "lost samples": lambda folder: samples_of(folder).unlink(),
    "lost samples of one task": one_task_lost,
    "lm-eval 0.4.2": release_0_4_2,
    "lm-eval 0.4.2, lost samples": lost_samples_0_4_2,
    "JSON log with a long head": long_head,
    "log-likelihood task": log_likelihood,
    "other harnesses": other_harnesses,
    "other files": other_files,
    "zip beside what it holds": zip_beside,
    "zip in a zip": a_zip_in_a_zip,
}
"""What is read of each, and what is said, stands in `expected/folders.txt`."""


def make_run(folder: Path) -> Path:
    shutil.copytree(LM_EVAL, folder)
    shutil.copy(LOG, folder)
    return folder
