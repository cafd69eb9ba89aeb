"""Bad input, as data: files, and `expected/bad_input.txt` with what is said of each.

First the error in `strict` with the kinds of all that it names, then what `intersect` leaves, with
the kinds of its notes.
"""

import gzip
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from tests.candidates.builders import Row, Status, make_rows, write_inspect_log, write_lm_eval_run
from tests.cases import cases
from tests.expected import check
from tiebreak.candidates import CandidateError, Mode, load_candidates

Files = Callable[[Path], object]


def rows(*changes: Mapping[str, Any], n: int = 4) -> list[dict[str, Any]]:
    """`n` rows; the changes are merged into the rows from the second on (`q1`, `q2`, …)."""
    made = make_rows(n)
    for row, change in zip(made[1:], changes, strict=False):
        row |= change
    return made


def inspect_logs(**logs: Sequence[Row]) -> Files:
    def write(folder: Path) -> None:
        for model, content in logs.items():
            write_inspect_log(folder / f"{model}.eval", model, content)

    return write


two_good = inspect_logs(a=rows(), b=rows())


def third(write: Files) -> Files:
    """Two good logs, and something that is written beside them."""

    def both(folder: Path) -> None:
        two_good(folder)
        write(folder)

    return both


def lm_eval(changed: Sequence[Row], of_a: Sequence[Row] = rows()) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        write_lm_eval_run(folder, "a", of_a)
        return write_lm_eval_run(folder, "b", changed)

    return write


def lm_eval_line(edit: Callable[[str], str]) -> Files:
    def write(folder: Path) -> None:
        for model in "acb":
            path = write_lm_eval_run(folder, model, rows())
        lines = path.read_text().splitlines(keepends=True)
        lines[2] = edit(lines[2])
        path.write_text("".join(lines))

    return write


def other_row(change: Mapping[str, Any]) -> Files:
    return lm_eval_line(lambda line: json.dumps(json.loads(line) | dict(change)) + "\n")


def lm_eval_alone(content: Sequence[Row]) -> Files:
    return lambda folder: write_lm_eval_run(folder / "lm", "c", content)


def text_file(name: str, text: str) -> Files:
    return lambda folder: (folder / name).write_text(text)


def of_status(name: str, status: Status) -> Files:
    return lambda folder: write_inspect_log(folder / name, "c", rows(), status=status)


def packed(spoil: Callable[[bytes], bytes]) -> Files:
    """Runs of lm-eval, one with samples that are packed and damaged."""

    def write(folder: Path) -> None:
        path = lm_eval(rows())(folder)
        path.with_name(f"{path.name}.gz").write_bytes(spoil(gzip.compress(path.read_bytes())))
        path.unlink()

    return write


def spoilt(change: Callable[[bytearray], object], suffix: str = ".eval") -> Files:
    """Two good logs, and one whose bytes were changed."""

    def write(folder: Path) -> None:
        path = write_inspect_log(folder / f"c{suffix}", "c", rows())
        content = bytearray(path.read_bytes())
        change(content)
        path.write_bytes(content)

    return third(write)


def half(content: bytearray) -> None:
    del content[len(content) // 2 :]


def damaged_sample(content: bytearray) -> None:
    at = content.index(b"samples/q1_epoch_1.json") + 40  # inside the compressed sample
    content[at : at + 20] = b"\0" * 20


def newer_pool(folder: Path) -> None:
    table = pa.table({"x": [1]}).replace_schema_metadata({"tiebreak_pool": "99"})
    pq.write_table(table, folder / "newer.parquet")


def two_runs_of_one_model(folder: Path) -> None:
    lm_eval(rows())(folder)
    write_lm_eval_run(folder, "b", rows(), date="2026-02-02T00-00-00.000000")


def duplicate_ids(folder: Path) -> None:
    # In `.eval` a later record of a sample replaces the earlier one, by Inspect's own design.
    write_inspect_log(folder / "a.eval", "a", rows())
    write_inspect_log(folder / "b.json", "b", [*rows(), rows()[1]])


def all_at_once(folder: Path) -> None:
    (folder / "broken.eval").write_bytes(b"no log")
    inspect_logs(a=rows({"error": True}), b=rows({}, {"native": "good"}), c=rows(n=3))(folder)


def the_other_is_unreadable(folder: Path) -> None:
    write_inspect_log(folder / "a.eval", "a", rows())
    (folder / "b.eval").write_bytes(b"no log")


OTHER_IDS = [row | {"id": f"x{i}", "question": f"Else {i}?"} for i, row in enumerate(rows())]
TWO_FILTERS = [
    row | {"doc_id": i, "filter": name} for i, row in enumerate(rows()) for name in ("strict", "ex")
]
CHANGED_BY_FILTER = [
    row | ({"answer": "other"} if row["filter"] == "ex" and row["id"] == "q1" else {})
    for row in TWO_FILTERS
]
OPTIONS: dict[str, dict[str, Any]] = {
    "unknown scorer": {"native": "f1"},
    "unknown metric": {"native": ["f1"]},
    "unknown filter": {"filter": "flexible"},
}
"""With which options a case is loaded."""

CASES: dict[str, Files] = {
    "cut .eval": spoilt(half),
    "cut .json": spoilt(half, ".json"),
    "damaged sample": spoilt(damaged_sample),
    **{name: third(text_file(*file)) for name, file in cases(__file__, "third file").items()},
    "no samples": inspect_logs(a=rows(), b=rows(), c=[]),
    "newer pool": third(newer_pool),
    "cut line": lm_eval_line(lambda line: line[:40] + "\n"),
    "no sample": lm_eval_line(lambda _: '{"x": 1}\n'),
    "bytes": lm_eval_line(lambda line: line.replace('"What', '"\\ud8')),
    "no rows": third(lm_eval_alone([])),
    **{name: third(of_status(*log)) for name, log in cases(__file__, "status").items()},
    **{
        name: inspect_logs(a=rows(), b=rows(*changes))
        for name, changes in cases(__file__, "rows of Inspect").items()
    },
    **{
        name: lm_eval(rows(*changes))
        for name, changes in cases(__file__, "rows of lm-eval").items()
    },
    **{
        name: third(lm_eval_alone([row | change for row in rows()]))
        for name, change in cases(__file__, "not written").items()
    },
    **{name: other_row(change) for name, change in cases(__file__, "a row of lm-eval").items()},
    "a number beyond all floats": other_row({"exact_match": 10**400}),
    "gzip, cut off at its end": packed(lambda data: data[:-9]),
    "gzip, cut off at its beginning": packed(lambda data: data[:40]),
    "no gzip": packed(lambda data: b"{}" + data),
    "gzip, other bytes inside": packed(lambda data: data[:60] + b"\xff" * 9 + data[69:]),
    "gzip, another checksum": packed(lambda data: data[:-8] + b"\0" * 8),
    "other metrics": lambda folder: [
        write_inspect_log(folder / f"{scorer}.eval", scorer, rows(), scorer=scorer)
        for scorer in ("match", "includes")
    ],
    "unknown scorer": two_good,
    "unknown metric": lm_eval(rows()),
    "two logs of one model": third(
        lambda folder: write_inspect_log(folder / "again.eval", "a", rows())
    ),
    "two runs of one model": two_runs_of_one_model,
    "duplicate ids": duplicate_ids,
    "duplicate ids in lm-eval": lm_eval([*rows(), rows()[1]]),
    "disjoint": inspect_logs(a=rows(), b=OTHER_IDS),
    "all other questions": inspect_logs(a=rows(n=1), b=[rows()[0] | {"question": "Else?"}]),
    "hole": inspect_logs(a=rows(), b=rows(n=3), c=rows()),
    "one model": inspect_logs(a=rows()),
    "one model, for the other log is unreadable": the_other_is_unreadable,
    "unknown filter": third(lm_eval_alone(TWO_FILTERS)),
    "filters that change what was said": lm_eval(CHANGED_BY_FILTER, TWO_FILTERS),
    "all problems of all files": all_at_once,
    "empty folder": lambda _: None,
    "unrelated files": lambda folder: (folder / "README.json").write_text('{"version": "1.0"}'),
    "nothing but a ranking log": lambda folder: write_inspect_log(
        folder / "r.eval", "j", rows(), metadata={"tiebreak_protocol": "seal"}
    ),
}


def loaded(folder: Path, mode: Mode, options: Mapping[str, Any]) -> Iterator[str]:
    """What there is, or what is said; then the kinds of all notes."""
    try:
        pool = load_candidates(folder, mode, **options)
    except CandidateError as error:
        yield f"{error.kind}: {error}"
        notes = error.notes
    else:
        assert all(set(row) == set(pool.models) for _, row in pool)
        yield f"{len(pool)} items of {', '.join(pool.models)}"
        notes = pool.notes
    yield f"({', '.join(note.kind for note in notes)})"


def test_what_is_said_of_bad_input(tmp_path: Path) -> None:
    texts = []
    for name, files in CASES.items():
        (folder := tmp_path / name).mkdir()
        files(folder)
        said = [
            line for mode in get_args(Mode) for line in loaded(folder, mode, OPTIONS.get(name, {}))
        ]
        texts.append("\n".join([f"== {name}", *said]).replace(f"{folder}", "FOLDER"))
    # What other libraries say is theirs.
    others = r"(cannot be read as .*?|is not JSON[,;] .*?|is a damaged gzip file) \(.*\)"
    text = re.sub(others, r"\1 (…)", "\n\n".join(texts))
    check(__file__, "bad_input.txt", f"{text}\n")


def test_a_kept_answer_without_a_valid_score_is_undefined_not_zero(tmp_path: Path) -> None:
    inspect_logs(a=rows(), b=rows({"native": "good"}))(tmp_path)
    pool = load_candidates(tmp_path, "intersect")
    scores = {item.item_id: row["b"].native_score for item, row in pool}
    assert math.isnan(scores["q1"])
    assert scores["q0"] == 1.0


def test_secrets_of_a_results_file_are_in_no_message_and_no_pool(tmp_path: Path) -> None:
    lm_eval(rows())(tmp_path)
    assert "sk-hidden" in next(tmp_path.rglob("results_*.json")).read_text()
    pool = load_candidates(tmp_path)
    assert "sk-hidden" not in repr(list(pool))
    assert "sk-hidden" not in json.dumps([str(note) for note in pool.notes])
