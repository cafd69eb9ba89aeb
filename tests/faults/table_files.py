"""Every kind of file that tables, the bank, prices, rubrics and benchmarks are read from."""

import csv
import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalScore,
    EvalSpec,
    write_eval_log,
)
from sqlalchemy import Engine

from tests.benchmarks.hub import ITEMS
from tests.fair.bank.questions import MATERIAL, choice, keep
from tests.faults.spoiling import spoiled_bytes, spoiled_json, spoiled_text, spoiled_value, written
from tests.tables.builders import preflib, task_values, write_summary
from tests.tables.test_pool_scores import POOL
from tiebreak.benchmarks import BENCHMARKS, load_questions
from tiebreak.candidates import write_parquet
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.question import faults_of
from tiebreak.fair.bank.reading import question_of, sources_of
from tiebreak.fair.bank.review import read_review, write_review
from tiebreak.fair.bank.schema import open_bank
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.rubric import RUBRIC_FOLDER, RubricError, load_rubric
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.prices import read_price_file
from tiebreak.tables import (
    TableError,
    read_ballots,
    read_human_labels,
    read_human_ranking,
    read_order,
    read_rounds,
    read_scores,
)
from tiebreak.tables.dates import read_dates
from tiebreak.tables.delimited import read_delimited
from tiebreak.tables.human import read_causes

Spoil = Callable[[bytes, Random], bytes]
Rows = Callable[[bytes], set[int]]

BENCHMARK_NAMES = ("mmlu", "gsm8k", "math", "humaneval", "mbpp")


@dataclass(frozen=True)
class File:
    """A kind of file.

    Attributes:
        name: of the file, and so of the kind.
        sound: its bytes when nothing is wrong.
        read: reads it, and says how many rows it holds; None where nobody counts.
        error: what it raises for a file that cannot be read.
        spoil: ways to spoil it.
        rows: how many rows there are, counted in another way; several where that is a question of
            taste, none where it cannot be said.
    """

    name: str
    sound: bytes
    read: Callable[[Path], int | None]
    error: type[Exception]
    spoil: tuple[Spoil, ...]
    rows: Rows = lambda data: set()

    def spoiled(self, seed: int) -> bytes:
        """Its bytes, with something wrong."""
        rng = Random(f"{self.name} {seed}")
        return rng.choice(self.spoil)(self.sound, rng)


def files() -> dict[str, tuple[File, ...]]:
    """All of them, by what they are for."""
    return {
        "CSV, PrefLib and YAML for contests and elections": tuple(_tables()),
        "results and pools": tuple(_results()),
        "questions of a bank": tuple(_of_the_bank()),
        "questions of benchmarks": tuple(_of_benchmarks()),
        "prices and rubrics": tuple(_settings()),
    }


def _settings() -> Iterator[File]:
    prices = yaml.safe_dump({"a/b": PRICE, "c/d": PRICE}).encode()
    yield File("prices.yaml", prices, _uncounted(read_price_file), EstimateError, YAML)
    rubric = (RUBRIC_FOLDER / "math_reasoning.yaml").read_bytes()
    # Without its cache, which goes by the file's name.
    read = _uncounted(lambda path: load_rubric.__wrapped__(str(path)))
    yield File("rubric.yaml", rubric, read, RubricError, YAML)


def _tables() -> Iterator[File]:
    def table(name: str, text: str, read: Callable[[Path], Any]) -> File:
        return File(name, text.encode(), _counted(read), TableError, TEXT, _lines)

    yield table("scores.csv", SCORES, read_scores)
    yield table("percent.csv", "model;a;b\nx;50,5%;0,25\ny;75%;\n", read_scores)
    yield table("errors.csv", "model,a,b\nx,0.05,0.02\ny,0.07,0.03\n", _read_errors)
    yield table("wide.csv", "reviewer,item,a,b\nr1,q1,1,2\nr2,q1,1,\nr1,q2,3,1\n", read_ballots)
    yield table("long.tsv", LONG.replace(",", "\t"), read_ballots)
    yield table("human.csv", "benchmark,model,score\ng,x,1391\ng,y,\n,x,1440\n", read_human_ranking)
    yield table("stars.csv", STARS, read_human_labels)
    yield table("pairs.csv", PAIRS, read_human_labels)
    yield table("causes.csv", "item,model,cause\nq1,x,logic\nq2,x,Format_Use\n", read_causes)
    yield table("dates.csv", "model,date,series\nx,2024-11-20,G\ny,2025-06,\n", read_dates)
    for kind, ballots in {"soc": ["3: 1,2,3", "1: 2,1,3"], "toi": ["3: 1,{2,3}", "2: 3"]}.items():
        text = preflib(*ballots, data_type=kind).encode()
        yield File(f"x.{kind}", text, _uncounted(read_ballots), TableError, TEXT)
    rounds = _uncounted(lambda path: read_rounds(path, BENCHMARK_NAMES))
    yield File("rounds.yaml", ROUNDS.encode(), rounds, TableError, YAML)
    order = _uncounted(lambda path: read_order(str(path), BENCHMARK_NAMES))
    yield File("order.txt", b"math\nmmlu\ngsm8k\n", order, TableError, TEXT)


def _results() -> Iterator[File]:
    read = _uncounted(read_scores)
    yield File("results_x.json", _written(_summary), read, TableError, (_json, *TEXT))
    yield File("log.json", _written(_log, "x.json"), read, TableError, (_json, *TEXT))
    yield File("log.eval", _written(_log, "x.eval"), read, TableError, (_zip, spoiled_bytes))
    pool = _written(lambda path: write_parquet(POOL, path), "x.parquet")
    yield File("pool.parquet", pool, read, TableError, PARQUET)


def _of_the_bank() -> Iterator[File]:
    lines = "\n".join(map(json.dumps, QUESTIONS)).encode()
    plain = [{name: _as_text(value) for name, value in row.items()} for row in QUESTIONS]
    nested = [{**QUESTIONS[2], "uuid": name} for name in ("n1", "n2")]
    yield File("questions.jsonl", lines, _read_questions, BankError, (_jsonl, *TEXT), _byte_lines)
    array, read = json.dumps(QUESTIONS).encode(), _uncounted(_read_questions)
    yield File("questions.json", array, read, BankError, (_json, *TEXT))
    yield File("questions.csv", CSV_QUESTIONS.encode(), _read_questions, BankError, TEXT, _lines)
    for name, rows in {"plain": plain, "nested": nested}.items():
        yield File(f"{name}.parquet", parquet(rows), _read_questions, BankError, PARQUET, _records)
    drafts = _written(lambda path: write_review(_bank(), path))
    review = _uncounted(lambda path: read_review(_bank(), path))
    yield File("review.csv", drafts, review, BankError, TEXT)


def _of_benchmarks() -> Iterator[File]:
    for benchmark in BENCHMARKS:

        def read(path: Path, benchmark: str = benchmark) -> int:
            return len(load_questions(benchmark, path))

        data = b"\n".join((ITEMS / f"{benchmark}.jsonl").read_bytes().splitlines()[:3])
        rows = [json.loads(line) for line in data.splitlines()]
        if benchmark == "bfcl":
            rows = [{name: _as_text(value) for name, value in row.items()} for row in rows]
        packed = gzip.compress(data)
        error = PrerequisiteError
        yield File(f"{benchmark}.jsonl", data, read, error, (_jsonl, *TEXT), _byte_lines)
        yield File(f"{benchmark}.jsonl.gz", packed, read, error, (_gzip, spoiled_bytes), _unpacked)
        yield File(f"{benchmark}.parquet", parquet(rows), read, error, PARQUET, _records)


def _uncounted(read: Callable[[Path], Any]) -> Callable[[Path], None]:
    def reads(path: Path) -> None:
        read(path)

    return reads


def _counted(read: Callable[[Path], Any]) -> Callable[[Path], int]:
    """What a table is read as, and how many rows the reader was given."""

    def reads(path: Path) -> int:
        found = read(path)
        rows = len(read_delimited(path).rows)
        for name in ("models", "labels"):
            # A row without stars or a winner is noted, and is no label.
            if hasattr(found, name) and path.name not in ("stars.csv", "pairs.csv"):
                assert len(getattr(found, name)) == rows
        return rows

    return reads


def _read_errors(path: Path) -> None:
    scores = path.with_name("beside.csv")
    scores.write_text(SCORES)
    read_scores(scores, stderr=path)


def _read_questions(path: Path) -> int:
    rows = [row for source in sources_of((str(path),)) for _, row in source.rows()]
    for row in rows:
        if not isinstance(row, str):
            try:
                faults_of(question_of(row))
            except BankError:  # one row's; the import names it
                continue
    return len(rows)


@cache
def _bank() -> Engine:
    engine = open_bank("sqlite://", create=True)
    drafts = (choice(f"{n}?", status="draft", uuid=f"q{n}") for n in range(3))
    keep(engine, *drafts, MATERIAL)
    return engine


# How many rows there are, counted without our readers.


def _lines(data: bytes) -> set[int]:
    """Lines below a header; none where cells hold quotes, in which a line may end."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return set()
    if '"' in text:
        return set()
    counts = set()
    for separator in ",;\t":
        table = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        counts.add(max(0, sum(any(map(str.strip, cells)) for cells in table) - 1))
    return counts


def _byte_lines(data: bytes) -> set[int]:
    return {sum(bool(line.strip()) for line in data.split(b"\n"))}


def _unpacked(data: bytes) -> set[int]:
    return _byte_lines(gzip.decompress(data))


def _records(data: bytes) -> set[int]:
    return {pq.read_table(io.BytesIO(data)).num_rows}


# Ways to spoil what a file holds, where it is more than text.


def _json(data: bytes, rng: Random) -> bytes:
    return spoiled_json(data, rng).encode()


def _jsonl(data: bytes, rng: Random) -> bytes:
    rows = spoiled_value([json.loads(line) for line in data.splitlines()], rng)
    return "\n".join(map(written, rows if isinstance(rows, list) else [rows])).encode()


def _yaml(data: bytes, rng: Random) -> bytes:
    # JSON is YAML, too.
    return written(spoiled_value(yaml.safe_load(data), rng)).encode()


def _gzip(data: bytes, rng: Random) -> bytes:
    spoil = rng.choice([_jsonl, spoiled_text, spoiled_bytes])
    return gzip.compress(spoil(gzip.decompress(data), rng), mtime=0)


def _zip(data: bytes, rng: Random) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            body = old.read(name)
            if rng.random() < 0.5:
                body = rng.choice([_json, spoiled_text, spoiled_bytes])(body, rng)
            if rng.random() < 0.95:
                new.writestr(name, body)
    return packed.getvalue()


def _parquet(data: bytes, rng: Random) -> bytes:
    table = pq.read_table(io.BytesIO(data))
    try:
        return parquet(spoiled_value(table.to_pylist(), rng), table.schema.metadata)
    except Exception:  # what Arrow cannot write, no file holds
        return spoiled_bytes(data, rng)


def parquet(rows: Sequence[Mapping[str, Any]], metadata: Any = None) -> bytes:
    """Rows as a Parquet file."""
    out = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    pq.write_table(table.replace_schema_metadata(metadata) if metadata else table, out)
    return out.getvalue()


TEXT: tuple[Spoil, ...] = (spoiled_text, spoiled_text, spoiled_bytes)
YAML: tuple[Spoil, ...] = (_yaml, *TEXT)
PARQUET: tuple[Spoil, ...] = (_parquet, _parquet, spoiled_bytes)


# Small sound files.


def _written(write: Callable[[Path], Any], name: str = "results_x.json") -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def _summary(path: Path) -> None:
    results: dict[str, dict[str, Any]] = {
        "gsm8k": task_values(10, exact_match__strict=0.5, exact_match__flexible=0.6),
        "mmlu": task_values(5, acc=0.5),
        **{f"mmlu_{part}": task_values(5, acc=0.25) for part in "ab"},
        "code": {"alias": "c"},
    }
    groups = {"mmlu": ["mmlu_a", "mmlu_b"], "gsm8k": []}
    write_summary(path, "m/x", results, groups=groups, directions={"mmlu": {"acc": False}})


def _log(path: Path) -> None:
    metrics = {"accuracy": EvalMetric(name="accuracy", value=0.5)}
    score = EvalScore(name="match", scorer="match", metrics=metrics)
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="gsm8k",
        dataset=EvalDataset(name="gsm8k", samples=2),
        model="mockllm/m",
        config=EvalConfig(),
    )
    results = EvalResults(total_samples=2, completed_samples=2, scores=[score])
    write_eval_log(EvalLog(status="success", eval=spec, results=results, samples=[]), str(path))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


SCORES = "model,a,b\nx,0.5,0.25\ny,0.75,\nz,0.1,1\n"
LONG = "item,reviewer,candidate,rank\nq1,r1,a,1\nq1,r1,b,2\nq1,r2,a,2\nq1,r2,b,1\n"
STARS = "item_id,model,stars,rater,answer_digest\nq1,x,3,ann,0123abcd\nq1,y,2,ann,\nq2,x,,ben,\n"
PAIRS = "item_id,model_a,model_b,winner,benchmark\nq1,x,y,a,g\nq2,x,y,tie,g\nq3,x,y,y,g\n"
ROUNDS = """\
- {benchmarks: mmlu, eliminate: 1, weight: 0.5}
- {name: numbers, benchmarks: [gsm8k, math], eliminate: 0, weight: 2}
"""
PRICE = {"input": 1.0, "output": 2.0, "input_cache_write": 0.0, "input_cache_read": 0.0}
QUESTIONS: list[dict[str, Any]] = [
    {"uuid": "q1", "raw_uuid": "q1", "category": "Law", "question": "It is so.", "answer": True},
    {"uuid": "q2", "category": "Law", "question": "A ____ is?", "answer": "x", "date": "2024-05"},
    {"uuid": "q3", "category": "Art", "question": "Which?", "options": ["a", "b"], "answer": "B"},
    {"uuid": "q4", "category": "Art", "question": "Or?", "choices": {"text": ["a", "b"]}, "key": 1},
    {"uuid": "q5", "category": "Art", "dialog": [{"role": "user", "content": "?"}], "hint": "no."},
]
CSV_QUESTIONS = """\
uuid,category,type,question,options,answer
q1,Law,true_false,It is so.,,true
q2,Law,,A ____ is?,,thing
q3,Art,multiple_choice,Which?,a|b|c,B
q4,Art,,Which one?,a|b|c,A
"""
