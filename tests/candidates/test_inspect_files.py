"""Inspect's files are read as Inspect reads them, or are named; other bytes cost no more."""

import json
import re
import time
from collections.abc import Callable, Set
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import value_to_float
from pydantic import BaseModel

from tests.candidates.builders import make_rows, write_inspect_log
from tiebreak.candidates import CandidateError, load_candidates, write_parquet
from tiebreak.candidates.inspect_files import read_header, read_inspect_header, read_samples
from tiebreak.candidates.inspect_logs import _WORDS
from tiebreak.candidates.inspect_types import LogContent, Part

ROWS = [
    *make_rows(3),
    {"id": 10, "question": "Why?", "answer": "“ünï” 🦆", "system": "Be nice.", "native": 0.5},
    {"id": 9, "question": "Which?", "choices": ["a", "b"], "answer": "a", "epoch": 2},
    {"id": "c", "question": "f?", "tool_calls": [{"function": "f", "arguments": {"x": 1}}]},
    {"id": "d", "question": "data:" + "x" * 500, "answer": None, "error": True},
    {"id": "e", "question": "e?", "answer": "e", "native": "C", "limit": "token"},
]
# Fields of earlier versions, and the completion, which Inspect takes from the answer.
ELSEWHERE = {"completion", "max_messages", "score", "transcript"}

ROOT = Path(__file__).parents[2]
RELEASES = ROOT / "tests" / "candidates" / "releases"
SHIPPED = sorted(
    [
        *RELEASES.glob("inspect-*/*/*.*"),
        *(ROOT / "examples").rglob("*.eval"),
        *(ROOT / "src" / "tiebreak" / "demo" / "recorded").rglob("*.eval"),
    ]
)


def rezipped(path: Path, change: Callable[[str, bytes], bytes | None], method: int = 0) -> Path:
    """The log with other contents of its members, or without those that become None."""
    with ZipFile(path) as log:
        members = {name: change(name, log.read(name)) for name in log.namelist()}
    with ZipFile(path, "w", method) as log:
        for name, content in members.items():
            if content is not None:
                log.writestr(name, content)
    return path


def in_sample(old: bytes, new: bytes) -> Callable[[str, bytes], bytes]:
    def change(name: str, content: bytes) -> bytes:
        return content.replace(old, new) if name.startswith("samples/q1") else content

    return change


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_files_are_read_as_inspect_reads_them(tmp_path: Path, suffix: str) -> None:
    path = write_inspect_log(tmp_path / f"a.{suffix}", "a", ROWS, metadata={"k": [1, "ü"]})
    check_as_inspect_reads(path)
    header = read_eval_log(str(path), header_only=True)
    assert read_inspect_header(str(path)).model_dump(exclude={"location"}) == header.model_dump(
        exclude={"location"}
    )


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_logs_of_all_releases_are_read_as_inspect_reads_them(path: Path) -> None:
    check_as_inspect_reads(path)


def test_a_member_in_several_frames_of_zstd_is_read(tmp_path: Path) -> None:
    from inspect_ai._util import zipfile as of_inspect

    path = write_inspect_log(tmp_path / "a.eval", "a", make_rows(3))
    plain = read_samples(str(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_inspect, "_MAX_INPUT_PER_FRAME", 100)
        rezipped(path, lambda _, text: text, 93)
    assert path.read_bytes().count(b"\x28\xb5\x2f\xfd") > 20
    assert read_samples(str(path)) == plain


def test_words_of_scores_are_the_numbers_that_inspect_makes_of_them() -> None:
    assert {word: value_to_float()(word) for word in _WORDS} == _WORDS


def check_as_inspect_reads(path: Path) -> None:
    """What is read of a log is what Inspect has under the same names."""
    theirs = read_eval_log(str(path), header_only=True)
    header = read_header(str(path))
    check_same(header, theirs)
    assert header.metadata == theirs.metadata
    log, samples = read_eval_log(str(path), resolve_attachments=True), read_samples(str(path))
    # Of these Inspect has the beginning of a text, and no image.
    shortened = re.search(r"0\.3\.(110|150|200)|long_text", str(path)) is not None
    for sample, whole in zip(samples, log.samples or [], strict=True):
        check_same(sample, whole, {"input"} if shortened else set())
        assert sample.output.text == whole.output.completion


def check_same(part: Any, theirs: Any, unlike: Set[str] = frozenset()) -> None:
    """Two parts of a log are the same in all that is read of it."""
    if isinstance(part, LogContent):
        assert (part.type, part.held) == (theirs.type, getattr(theirs, theirs.type, ""))
    elif isinstance(part, Part):
        for name in type(part).model_fields.keys() - ELSEWHERE - unlike:
            check_same(getattr(part, name), getattr(theirs, name))
    elif isinstance(part, list | tuple):
        for pair in zip(part, theirs, strict=True):
            check_same(*pair)
    elif isinstance(part, dict):
        values = theirs.model_dump(exclude_none=True) if isinstance(theirs, BaseModel) else theirs
        assert part.keys() == values.keys()
        for name, value in part.items():
            check_same(value, values[name])
    else:
        assert part == theirs


def test_a_log_of_a_run_that_was_killed_says_so(tmp_path: Path) -> None:
    path = write_inspect_log(tmp_path / "a.eval", "a", ROWS)
    rezipped(path, lambda name, content: None if name == "header.json" else content)
    assert read_header(str(path)).status == read_eval_log(str(path), header_only=True).status
    with pytest.raises(CandidateError, match="status is 'started'"):
        load_candidates(path)


CODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")


@pytest.mark.parametrize("form", [*CODINGS, "sorted"])
def test_a_json_log_in_another_coding_or_with_sorted_fields_is_read(
    tmp_path: Path, form: str
) -> None:
    for name in "ab":
        path = write_inspect_log(tmp_path / f"{name}.json", name, make_rows(2))
    plain, text = load_candidates(tmp_path), path.read_text(encoding="utf-8")
    if form == "sorted":
        path.write_text(json.dumps(json.loads(text), sort_keys=True, indent=1))
    else:
        path.write_text(text, encoding=form)
    assert load_candidates(tmp_path) == plain


@pytest.mark.parametrize("content", [b"", b"\0" * 5_000, b'{"status": 1}'])
def test_what_has_the_name_of_a_json_log_is_not_passed_over(tmp_path: Path, content: bytes) -> None:
    write_inspect_log(tmp_path / "a.eval", "a", make_rows(2))
    write_inspect_log(tmp_path / "b.eval", "b", make_rows(2))
    (tmp_path / "2026-01-01T00-00-00+00-00_gsm8k_x.json").write_bytes(content)
    (tmp_path / "README.json").write_bytes(content)
    with pytest.raises(CandidateError, match=r"2026-01-01.*cannot be read as") as one:
        load_candidates(tmp_path)
    assert len(one.value.notes) == 1


def test_of_a_sample_that_was_run_again_the_later_counts(tmp_path: Path) -> None:
    for name in "ab":
        path = write_inspect_log(tmp_path / f"{name}.eval", name, make_rows(2))
        written_again(path, "The answer is 1.", "No, it is 2.")
    pool = load_candidates(tmp_path)
    assert [row["a"].text for _, row in pool] == ["The answer is 0.", "No, it is 2."]


def test_two_questions_under_one_id_are_an_error(tmp_path: Path) -> None:
    write_inspect_log(tmp_path / "a.eval", "a", make_rows(2))
    path = write_inspect_log(tmp_path / "b.eval", "b", make_rows(2))
    written_again(path, "What is 1 + 0?", "What is 2 + 0?")
    assert len(read_eval_log(str(path)).samples or []) == 2  # Inspect says nothing
    words = r"b\.eval.*q1_epoch_1\.json is there 2 times, with different questions"
    with pytest.raises(CandidateError, match=words):
        load_candidates(tmp_path)


def written_again(path: Path, old: str, new: str) -> None:
    with ZipFile(path, "a") as log:
        name = "samples/q1_epoch_1.json"
        with pytest.warns(UserWarning, match="Duplicate name"):
            log.writestr(name, log.read(name).decode().replace(old, new))


DAMAGED: dict[str, tuple[Callable[[Path], object], str]] = {
    # Inspect reads the members before it, and no word says that there were more.
    "list of members": (
        lambda path: swapped(path, b"PK\1\2", b"PK\1\0", nth=3),
        "Bad magic number for central directory",
    ),
    # Inspect reads the other text: it checks no checksum.
    "one letter": (
        lambda path: swapped(rezipped(path, lambda _, text: text), b"is 1.", b"is 7."),
        "Bad CRC-32",
    ),
    "a size that is not true": (
        lambda path: swapped(path, listed_size(path, 0), listed_size(path, 9)),
        "Bad CRC-32",
    ),
    "nested 600 kB": (
        lambda path: rezipped(path, in_sample(b'"1"', b"[" * 300_000 + b"]" * 300_000)),
        "recursion limit exceeded",
    ),
    # This ended the process.
    "an integer of 5,000 digits": (
        lambda path: rezipped(path, in_sample(b'"1"', b"7" * 5_000)),
        "number out of range",
    ),
    "a list for an id": (
        lambda path: rezipped(path, in_sample(b'"id":"q1"', b'"id":["q1"]')),
        "id.int: Input should be a valid integer",
    ),
    "an epoch that is none": (
        lambda path: rezipped(path, in_sample(b'"epoch":1', b'"epoch":0')),
        "sample q1 is of epoch 0",
    ),
    "a sample that is no object": (
        lambda path: rezipped(path, lambda name, text: b"[]" if "q1" in name else text),
        "not a JSON object",
    ),
    "no header": (
        lambda path: rezipped(path, lambda name, text: text if "samples/" in name else None),
        "There is no item named",
    ),
}


def listed_size(path: Path, less: int) -> bytes:
    """Checksum and sizes of a sample as the list of members has them."""
    with ZipFile(path) as log:
        member = log.getinfo("samples/q1_epoch_1.json")
    sizes = (member.CRC, member.compress_size, member.file_size - less)
    return b"".join(number.to_bytes(4, "little") for number in sizes)


def swapped(path: Path, old: bytes, new: bytes, nth: int = -1) -> None:
    """The file with other bytes in one place, the last if none is named."""
    before, *others = path.read_bytes().split(old)
    at = nth % len(others)
    path.write_bytes(old.join([before, *others[:at]]) + new + old.join(others[at:]))


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_log_is_named_at_once(tmp_path: Path, damage: str) -> None:
    write_inspect_log(tmp_path / "a.eval", "a", make_rows(3))
    path = write_inspect_log(tmp_path / "b.eval", "b", make_rows(3))
    change, words = DAMAGED[damage]
    change(path)
    start = time.process_time()
    with pytest.raises(CandidateError) as caught:
        load_candidates(tmp_path)
    assert time.process_time() - start < 2
    [note] = caught.value.notes
    assert note.where == path.as_posix()
    assert words in note.what


def test_tokens_that_nobody_counted_are_unknown(tmp_path: Path) -> None:
    for name in "ab":
        path = write_inspect_log(tmp_path / f"{name}.eval", name, make_rows(2))
        rezipped(path, in_sample(b'"input_tokens":7', b'"input_tokens":' + b"7" * 30))
    pool = load_candidates(tmp_path)
    assert [row["a"].input_tokens for _, row in pool] == [7, None]
    write_parquet(pool, tmp_path / "pool.parquet")


def test_numbers_of_harnesses_stay(tmp_path: Path) -> None:
    row: dict[str, Any] = {"metadata": {"x": [float("inf"), 2**70, 1e300]}}
    for name in ("a.json", "b.eval"):
        write_inspect_log(tmp_path / name, name, [make_rows(1)[0] | row])
    [item] = load_candidates(tmp_path).items
    assert item.metadata == row["metadata"]


@pytest.mark.parametrize("left", [0, 1, 3, 100, 0.5, -30, -1])
@pytest.mark.parametrize("name", ["b.eval", "2026-01-01T00-00-00_b.json"])
def test_a_log_that_is_cut_off_anywhere_is_told_with_what_to_do(
    tmp_path: Path, left: float, name: str
) -> None:
    path = write_inspect_log(tmp_path / name, "b", make_rows(3))
    whole = path.read_bytes()
    path.write_bytes(whole[: left if isinstance(left, int) else int(len(whole) * left)])
    with pytest.raises(CandidateError) as caught:
        load_candidates(path)
    [note] = caught.value.notes
    what = "empty" if left == 0 else "cut off"
    assert f"(the file is {what}: was its run killed while it wrote, or is this a copy" in note.what
    assert note.what.endswith("Copy it again, run it again, or leave it out)")


def test_what_never_was_a_log_is_not_called_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "b.eval"
    path.write_text("Dear all, here are the logs.")
    with pytest.raises(CandidateError, match="File is not a zip file"):
        load_candidates(path)
    path.write_bytes(b"SQLite format 3\0")
    with pytest.raises(CandidateError, match=r"it is a database: name .* votes \.db"):
        load_candidates(path)
