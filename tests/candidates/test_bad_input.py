"""Bad input, as data: which files, which error in `strict`, and what `intersect` makes of them."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.candidates.builders import Row, make_rows, write_inspect_log, write_lm_eval_run
from tiebreak.candidates import CandidateError, load_candidates

Files = Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """`kind` is the error's; `left` is the number of items in `intersect`, or its error's kind."""

    name: str
    files: Files
    kind: str
    words: tuple[str, ...]
    left: int | str
    options: dict[str, Any] = field(default_factory=dict)


def rows(*changes: dict[str, Any], n: int = 4) -> list[dict[str, Any]]:
    """`n` rows; the changes are merged into the rows from the second on (`q1`, `q2`, …)."""
    made = make_rows(n)
    for row, change in zip(made[1:], changes, strict=False):
        row |= change
    return made


def two_good(folder: Path) -> Path:
    write_inspect_log(folder / "a.eval", "a", rows())
    return write_inspect_log(folder / "b.eval", "b", rows())


def third(name: str, content: bytes) -> Files:
    def write(folder: Path) -> None:
        two_good(folder)
        (folder / name).write_bytes(content)

    return write


def third_log(suffix: str = ".eval", **options: Any) -> Files:
    def write(folder: Path) -> None:
        two_good(folder)
        write_inspect_log(folder / f"c{suffix}", "c", rows(), **options)

    return write


def cut(suffix: str) -> Files:
    def write(folder: Path) -> None:
        two_good(folder)
        path = write_inspect_log(folder / f"c{suffix}", "c", rows())
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])

    return write


def damaged_member(folder: Path) -> None:
    two_good(folder)
    path = write_inspect_log(folder / "c.eval", "c", rows())
    content = bytearray(path.read_bytes())
    at = content.index(b"samples/q1_epoch_1.json") + 40  # inside the compressed sample
    content[at : at + 20] = b"\0" * 20
    path.write_bytes(bytes(content))


def one_changed(*changes: dict[str, Any]) -> Files:
    def write(folder: Path) -> None:
        write_inspect_log(folder / "a.eval", "a", rows())
        write_inspect_log(folder / "b.eval", "b", rows(*changes))

    return write


def lm_eval(changed: Sequence[Row], **options: Any) -> Files:
    def write(folder: Path) -> None:
        write_lm_eval_run(folder, "org/a", rows())
        write_lm_eval_run(folder, "org/b", changed, **options)

    return write


def lm_eval_line(edit: Callable[[str], str]) -> Files:
    def write(folder: Path) -> None:
        for model in "ac":
            write_lm_eval_run(folder, model, rows())
        path = write_lm_eval_run(folder, "b", rows())
        lines = path.read_text().splitlines(keepends=True)
        lines[2] = edit(lines[2])
        path.write_text("".join(lines))

    return write


def not_written(change: dict[str, Any]) -> Files:
    def write(folder: Path) -> None:
        two_good(folder)
        write_lm_eval_run(folder / "lm", "c", [row | change for row in rows()])

    return write


def inspect_logs(**logs: list[dict[str, Any]]) -> Files:
    def write(folder: Path) -> None:
        for model, content in logs.items():
            write_inspect_log(folder / f"{model}.eval", model, content)

    return write


def same_model_twice(folder: Path) -> None:
    two_good(folder)
    write_inspect_log(folder / "again.eval", "a", rows())


def two_lm_eval_runs(folder: Path) -> None:
    write_lm_eval_run(folder, "a", rows())
    write_lm_eval_run(folder, "b", rows())
    write_lm_eval_run(folder, "b", rows(), date="2026-02-02T00-00-00.000000")


def duplicate_ids(folder: Path) -> None:
    # In `.eval` a later record of a sample replaces the earlier one, by Inspect's own design.
    write_inspect_log(folder / "a.eval", "a", rows())
    write_inspect_log(folder / "b.json", "b", [*rows(), rows()[1]])


def other_parquet(folder: Path) -> None:
    two_good(folder)
    (folder / "broken.parquet").write_bytes(b"PAR1 and then nothing")


def newer_pool(folder: Path) -> None:
    two_good(folder)
    table = pa.table({"x": [1]}).replace_schema_metadata({"tiebreak_pool": "99"})
    pq.write_table(table, folder / "newer.parquet")


OTHER_IDS = [row | {"id": f"x{i}", "question": f"Else {i}?"} for i, row in enumerate(rows())]
OTHER_QUESTION = {"question": "What is 1 + 1 in base two?"}
LOGLIKELIHOOD: dict[str, Any] = {"resps": [[["-1.5", "False"]], [["-0.2", "True"]]]}
ROLLING: dict[str, Any] = {"resps": [["-17.25"]], "arguments": {"gen_args_0": {"arg_0": "a text"}}}
CONTINUATION: dict[str, Any] = {
    "resps": [["-1.5"]],
    "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": " A"}},
}
TWO_FILTERS = [
    row | {"doc_id": i, "filter": name} for i, row in enumerate(rows()) for name in ("strict", "ex")
]
CHANGED_BY_FILTER = [
    row | ({"answer": "other"} if row["filter"] == "ex" and row["id"] == "q1" else {})
    for row in TWO_FILTERS
]

CASES = [
    Case("cut .eval", cut(".eval"), "unreadable_log", ("c.eval", "cannot be read"), 4),
    Case("cut .json", cut(".json"), "unreadable_log", ("c.json", "cannot be read"), 4),
    Case("no zip", third("c.eval", b"hello"), "unreadable_log", ("c.eval",), 4),
    Case("empty file", third("c.eval", b""), "unreadable_log", ("c.eval",), 4),
    Case("damaged sample", damaged_member, "unreadable_log", ("c.eval",), 4),
    Case(
        "no samples",
        lambda folder: (two_good(folder), write_inspect_log(folder / "c.eval", "c", [])),
        "unreadable_log",
        ("c.eval", "holds no samples"),
        4,
    ),
    Case("damaged Parquet", other_parquet, "unreadable_log", ("broken.parquet", "Parquet"), 4),
    Case("newer pool", newer_pool, "unreadable_log", ("newer.parquet", "version 99"), 4),
    Case(
        "cut line",
        lm_eval_line(lambda line: line[:40] + "\n"),
        "unreadable_log",
        ("samples_gsm8k", "line 3", "cut off"),
        4,
    ),
    Case(
        "no sample",
        lm_eval_line(lambda _: '{"x": 1}\n'),
        "unreadable_log",
        ("line 3", "not an lm-eval sample"),
        4,
    ),
    Case(
        "bytes",
        lm_eval_line(lambda line: line.replace('"What', '"\\ud8')),
        "unreadable_log",
        ("line 3",),
        4,
    ),
    Case(
        "no rows",
        lambda folder: (two_good(folder), write_lm_eval_run(folder / "lm", "c", [])),
        "unreadable_log",
        ("holds no rows",),
        4,
    ),
    Case("error", third_log(status="error"), "log_status", ("c.eval", "'error'"), 4),
    Case("cancelled", third_log(status="cancelled"), "log_status", ("c.eval", "'cancelled'"), 4),
    Case("started", third_log(".json", status="started"), "log_status", ("'started'",), 4),
    Case(
        "errored sample",
        one_changed({"error": True}),
        "sample_error",
        ("b.eval", "item 'q1'", "it broke"),
        3,
    ),
    Case("invalidated", one_changed({"invalidated": True}), "sample_error", ("'q1'", "tester"), 3),
    Case("no output", one_changed({"answer": None}), "missing_output", ("b.eval", "'q1'"), 3),
    Case(
        "no output at a limit",
        one_changed({"answer": None, "limit": "token"}),
        "missing_output",
        ("'q1'", "token limit"),
        3,
    ),
    Case(
        "no response",
        lm_eval(rows({"resps": [[]]}, {"resps": []})),
        "missing_output",
        ("item 'q1' has no output", "item 'q2' has no output"),
        2,
    ),
    Case(
        "several requests", lm_eval(rows({"resps": [["a"], ["b"]]})), "sample_error", ("'q1'",), 3
    ),
    Case("NaN", one_changed({"native": math.nan}), "native_score", ("'q1'", "nan"), 4),
    Case("infinite", one_changed({"native": math.inf}), "native_score", ("'q1'", "inf"), 4),
    Case("word", one_changed({"native": "good"}), "native_score", ("'q1'", "'good'"), 4),
    Case("list", one_changed({"native": [1, 0]}), "native_score", ("'q1'", "[1, 0]"), 4),
    Case("unscored", one_changed({"native": None}), "native_score", ("'q1'", "none"), 4),
    Case(
        "unknown scorer",
        two_good,
        "native_score",
        ("no 'f1'", "match"),
        4,
        {"native": "f1"},
    ),
    Case("NaN in lm-eval", lm_eval(rows({"native": math.nan})), "native_score", ("'q1'",), 4),
    Case("word in lm-eval", lm_eval(rows({"native": "C"})), "native_score", ("'C'",), 4),
    Case(
        "unknown metric",
        lm_eval(rows()),
        "native_score",
        ("no 'f1'", "exact_match"),
        4,
        {"native": ["f1"]},
    ),
    Case(
        "two logs of one model",
        same_model_twice,
        "duplicate_model",
        ("a.eval", "again.eval", "--metadata candidate=NAME"),
        "duplicate_model",
    ),
    Case(
        "two runs of one model",
        two_lm_eval_runs,
        "duplicate_model",
        ("2026-01-01", "2026-02-02"),
        "duplicate_model",
    ),
    Case(
        "duplicate ids",
        duplicate_ids,
        "duplicate_item",
        ("b.json", "item 'q1' is there 2 times"),
        3,
    ),
    Case(
        "duplicate ids in lm-eval",
        lm_eval([*rows(), rows()[1]]),
        "duplicate_item",
        ("item 'q1' is there 2 times",),
        3,
    ),
    Case(
        "same id, other question",
        one_changed(OTHER_QUESTION),
        "question_conflict",
        ("'q1'", "What is 1 + 0?", "in base two", "(a)", "(b)"),
        3,
    ),
    # Cut at one length the two would look the same.
    Case(
        "same id, other in the middle",
        one_changed({"question": "What is 1 + 0? " + "So it goes on. " * 9}),
        "question_conflict",
        ("'q1'", "which differ in the text, from character 15 on", "'What is 1 + 0? So it"),
        3,
    ),
    Case(
        "same id, other choices",
        one_changed({"choices": ["1", "2"]}),
        "question_conflict",
        ("'q1'", "'0 choices' (", "and '2 choices' ("),
        3,
    ),
    Case(
        "disjoint",
        inspect_logs(a=rows(), b=OTHER_IDS),
        "disjoint_items",
        ("gsm8k", "a: 4 items such as 'q0'", "'x0' 'Else 0?'"),
        "disjoint_items",
    ),
    Case(
        "all other questions",
        inspect_logs(a=rows(n=1), b=[rows()[0] | OTHER_QUESTION]),
        "question_conflict",
        ("'q0'",),
        "disjoint_items",
    ),
    Case(
        "hole",
        inspect_logs(a=rows(), b=rows(n=3), c=rows()),
        "hole",
        ("gsm8k", "item 'q3' has no answer by b"),
        3,
    ),
    Case("one model", inspect_logs(a=rows()), "single_model", ("'a'", "a.eval"), "single_model"),
    *(
        Case(
            f"log-likelihoods {number}",
            not_written(change),
            "not_written",
            ("samples_gsm8k", "log-likelihoods"),
            4,
        )
        for number, change in enumerate((LOGLIKELIHOOD, ROLLING, CONTINUATION))
    ),
    Case(
        "unknown filter",
        lambda folder: (two_good(folder), write_lm_eval_run(folder / "lm", "c", TWO_FILTERS)),
        "filter",
        ("no filter 'flexible'", "strict, ex"),
        4,
        {"filter": "flexible"},
    ),
    Case(
        "filters that change what was said",
        lambda folder: [
            write_lm_eval_run(folder, model, content)
            for model, content in (("a", TWO_FILTERS), ("b", CHANGED_BY_FILTER))
        ],
        "filter",
        ("document 1", "different responses"),
        3,
    ),
    Case("empty folder", lambda _: None, "empty_folder", ("no candidate file",), "empty_folder"),
    Case(
        "unrelated files",
        lambda folder: (folder / "README.json").write_text('{"version": "1.0"}'),
        "empty_folder",
        ("no candidate file", "--log_samples"),
        "empty_folder",
    ),
    Case(
        "nothing but a ranking log",
        lambda folder: write_inspect_log(
            folder / "r.eval", "j", rows(), metadata={"tiebreak_protocol": "seal"}
        ),
        "empty_folder",
        ("ranking log (seal)",),
        "empty_folder",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_strict_names_what_and_where(case: Case, tmp_path: Path) -> None:
    case.files(tmp_path)
    with pytest.raises(CandidateError) as caught:
        load_candidates(tmp_path, **case.options)
    assert caught.value.kind == case.kind
    for words in case.words:
        assert words in str(caught.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_intersect_leaves_out_and_tells(case: Case, tmp_path: Path) -> None:
    case.files(tmp_path)
    if not isinstance(case.left, int):
        with pytest.raises(CandidateError) as caught:
            load_candidates(tmp_path, "intersect", **case.options)
        assert caught.value.kind == case.left
        return
    pool = load_candidates(tmp_path, "intersect", **case.options)
    assert len(pool) == case.left
    assert case.kind in {note.kind for note in pool.notes}
    assert all(set(row) == set(pool.models) for _, row in pool)


def test_a_kept_answer_without_a_valid_score_is_undefined_not_zero(tmp_path: Path) -> None:
    one_changed({"native": "good"})(tmp_path)
    pool = load_candidates(tmp_path, "intersect")
    scores = {item.item_id: row["b"].native_score for item, row in pool}
    assert math.isnan(scores["q1"])
    assert scores["q0"] == 1.0


def test_all_problems_of_all_files_are_listed_at_once(tmp_path: Path) -> None:
    (tmp_path / "broken.eval").write_bytes(b"no log")
    write_inspect_log(tmp_path / "a.eval", "a", rows({"error": True}))
    write_inspect_log(tmp_path / "b.eval", "b", rows({}, {"native": "good"}))
    write_inspect_log(tmp_path / "c.eval", "c", rows(n=3))
    with pytest.raises(CandidateError) as caught:
        load_candidates(tmp_path)
    kinds = [note.kind for note in caught.value.notes]
    assert kinds == ["unreadable_log", "sample_error", "native_score", "hole"]


def test_what_a_reader_reported_is_not_reported_again_as_a_hole(tmp_path: Path) -> None:
    one_changed({"error": True})(tmp_path)
    with pytest.raises(CandidateError) as caught:
        load_candidates(tmp_path)
    assert [note.kind for note in caught.value.notes] == ["sample_error"]


def test_a_model_is_not_called_single_because_the_other_log_is_unreadable(tmp_path: Path) -> None:
    write_inspect_log(tmp_path / "a.eval", "a", rows())
    (tmp_path / "b.eval").write_bytes(b"no log")
    with pytest.raises(CandidateError) as caught:
        load_candidates(tmp_path)
    assert [note.kind for note in caught.value.notes] == ["unreadable_log"]
    with pytest.raises(CandidateError, match=r"only one model, 'a'.*(?s:.)*b\.eval"):
        load_candidates(tmp_path, "intersect")


def test_secrets_of_a_results_file_are_in_no_message_and_no_pool(tmp_path: Path) -> None:
    lm_eval(rows())(tmp_path)
    assert "sk-hidden" in next(tmp_path.rglob("results_*.json")).read_text()
    pool = load_candidates(tmp_path)
    assert "sk-hidden" not in repr(list(pool))
    assert "sk-hidden" not in json.dumps([str(note) for note in pool.notes])
