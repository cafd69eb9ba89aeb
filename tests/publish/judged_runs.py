"""A judged pool as files: the candidates' logs and the ranking log of three models."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from inspect_ai.log import EvalLog, EvalRevision, EvalSample, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, ModelConfig

from tests.candidates.builders import write_inspect_log
from tests.ranking_logs.builders import bracket, call, sample, write_log
from tiebreak.candidates import CandidatePool, load_candidates
from tiebreak.publish.answers import judged_pool, places_of
from tiebreak.publish.bundle import Bundle, bundle_of
from tiebreak.publish.runs import Run, read_runs
from tiebreak.rankers import Resampling
from tiebreak.scorers.ballots import ItemBallots

FEW = Resampling(draws=200)
RUBRIC = {"version": 1, "principles": []}


def write_candidates(
    folder: Path,
    models: Sequence[str] = ("a", "b", "c"),
    n_items: int = 3,
    *,
    answer: Callable[[str, int], str] = lambda model, i: f"{model} says {i}",
    task: str = "gsm8k",
) -> Path:
    """One Inspect log per model; `answer(model, number of the item)` is what it answered."""
    for number, model in enumerate(models):
        rows = [
            {"id": f"q{i}", "question": f"What is {i}?", "answer": answer(model, i), "native": 1.0}
            for i in range(n_items)
        ]
        write_inspect_log(folder / f"{task}-{number}.eval", model, rows, task=task)
    return folder


def judged_item(pool: CandidatePool, number: int, ranked: Sequence[str] = "abc") -> ItemBallots:
    """Item `number` of the pool, with a bracket in which the first of three models wins."""
    item = pool.items[number]
    best, middle, last = ranked
    made = bracket(item.item_id, best, middle, last, calls=[call(cost=0.5), call("seed", cost=0.5)])
    answers = {name: pool.candidates[item.key][name].answer for name in ranked}
    return made.model_copy(
        update={
            "input_hash": item.input_hash,
            "lengths": {name: len(text) for name, text in answers.items()},
        }
    )


def with_contest(ballots: ItemBallots, pool: CandidatePool) -> EvalSample:
    """A sample that also says what was judged, as those of our tasks do."""
    [item] = [item for item in pool.items if item.item_id == ballots.item_id]
    row = pool.candidates[item.key]
    contest = {
        "benchmark": item.benchmark,
        "item_id": item.item_id,
        "input_hash": item.input_hash,
        "rubric": RUBRIC,
        "groups": [list(group) for group in ballots.groups],
        "answers": {group[0]: row[group[0]].answer for group in ballots.groups},
    }
    return sample(ballots).model_copy(update={"metadata": {"contest": contest}})


def write_ranking(
    path: Path,
    pool: CandidatePool,
    *,
    contests: bool = True,
    ranked: Sequence[str] = "abc",
    items: Sequence[int] | None = None,
    metadata: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Path:
    """A ranking log of some items of a pool (by default all)."""
    numbers = range(len(pool)) if items is None else items
    made = [judged_item(pool, number, ranked) for number in numbers]
    said = {"tiebreak_protocol": "seal", "tiebreak_version": "0.1.0", "seed": 0}
    said |= {"candidate_sources": sorted({c.source for _, row in pool for c in row.values()})}
    fields = {"task_args": {"swap": "close", "candidates": "logs"}, **fields}
    return write_log(
        path,
        [with_contest(one, pool) for one in made] if contests else made,
        metadata=said | dict(metadata or {}),
        **fields,
    )


def write_both(folder: Path, n_items: int = 3, **fields: Any) -> Path:
    """The candidates' logs in `candidates/`, and the ranking log in `ranking/`."""
    pool = load_candidates(write_candidates(folder / "candidates", n_items=n_items))
    return write_ranking(folder / "ranking" / "seal.eval", pool, **fields)


def change_log(path: Path, change: Callable[[EvalLog], None]) -> Path:
    """Rewrite a log after `change` did something to it."""
    log = read_eval_log(str(path))
    change(log)
    write_eval_log(log, str(path))
    return path


def plant(log: EvalLog, values: Iterator[str]) -> None:
    """Put a value wherever a header has room for one, beside settings that may be told."""
    value = values.__next__
    config = GenerateConfig(
        temperature=0.25,
        max_tokens=99,
        reasoning_effort="low",
        system_message=value(),
        stop_seqs=[value()],
        extra_headers={"Authorization": f"Bearer {value()}"},
        extra_body={"x": value()},
    )
    role = ModelConfig(
        model="openai/gpt-5",
        config=config,
        base_url=f"https://{value()}:{value()}@h/",
        args={"api_key": value()},
    )
    spec = log.eval
    spec.model, spec.model_args = "openai/gpt-5", {"api_key": value(), "deep": [{"x": value()}]}
    spec.model_base_url = f"https://{value()}:{value()}@{value()}/?k={value()}"
    spec.model_roles = {"judge": role, "meta_judge": [role], f"x{value()}": role}
    spec.model_generate_config = log.plan.config = config
    origin = f"https://x:{value()}@github.com/{value()}/y"
    spec.revision = EvalRevision(type="git", origin=origin, commit="c0ffee")
    spec.task_args = {
        **{"swap": "always", "refine": True, "rounds": 3, "rubric": f"/home/{value()}/my.yaml"},
        **{"protocol": f"/home/{value()}/p.py@mine", "task_type": f"/{value()}"},
        **{"candidates": value(), "settings": {"x": value()}, "api_key": value()},
    }
    spec.task_args_passed = {"api_key": value()}
    spec.task_file, spec.tags = f"/home/{value()}/task.py", [value()]
    spec.packages = {"inspect_ai": "0.3.285", "secret": value()}
    assert spec.metadata is not None
    spec.metadata |= {"token": value(), "user": value()}
    spec.metadata |= {"seed": 7, "tiebreak_prompts": "ab" * 32}


def run_of(path: Path, *items: ItemBallots, how: Resampling = FEW, **fields: Any) -> Run:
    """The run of a log of these items."""
    [run], _ = read_runs([write_log(path / "1.eval", list(items), **fields)], how=how)
    return run


def bundle(
    paths: Iterable[str | Path], *, with_candidates: bool = False, how: Resampling = FEW
) -> Bundle:
    """The bundle of all ranking logs among some files and folders."""
    given = list(paths)
    runs, _ = read_runs(given, how=how)
    if not with_candidates:
        return bundle_of(runs)
    return bundle_of(runs, {r.run_id: judged_pool(r, places_of(r, [], given)) for r in runs})


def told(content: bytes, path: str) -> str:
    """All that a file says, as text: a second way to read what was written."""
    if not path.endswith(".parquet"):
        return content.decode("utf-8", "replace")
    table = pq.read_table(BytesIO(content))
    return f"{table.schema.metadata}{json.dumps(table.to_pylist(), ensure_ascii=False)}"


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


LOAD = """
import json, sys
from datasets import load_dataset, logging
logging.disable_progress_bar()
tables = {}
for table in json.loads(sys.argv[2]):
    config, split = table.split("/")
    tables[table] = load_dataset(sys.argv[1], config, split=split).to_list()
print(json.dumps(tables, default=str))
"""


def loaded(dataset: str, tables: Iterable[str], **settings: str) -> dict[str, Any]:
    """The rows of tables ("config/split") by the real `load_dataset`, which reads its settings when
    it is imported: hence a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD, dataset, json.dumps([*tables])],
        env={**os.environ, "HF_HUB_OFFLINE": "1", **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rows_in(content: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(BytesIO(content)).to_pylist()
    return found


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
