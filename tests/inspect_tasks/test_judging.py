"""From arguments and a pool to samples: what is refused, what a judge is shown, what is kept."""

import json
import math
import re
from collections.abc import Mapping
from contextvars import Context
from pathlib import Path
from typing import Any

import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cases import cases
from tests.cli.test_loading import write_asked
from tests.harness import ROOT, run, run_here
from tests.inspect_tasks.runs import write_pool
from tiebreak.candidates import CONTEST_KEY, Candidate, CandidatePool, Item, ItemKey
from tiebreak.inspect_tasks import judging, rerank
from tiebreak.inspect_tasks.arguments import DEFAULTS, CommonArguments, checked
from tiebreak.inspect_tasks.contests import (
    contest_samples,
    load_pools,
    restore_contest,
    task_text,
)
from tiebreak.inspect_tasks.judging import run_id
from tiebreak.inspect_tasks.roles import Roles
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.catalogue import PROTOCOLS
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.protocols import find_protocol
from tiebreak.scorers.rubric import Rubric

POINTWISE = find_protocol("pointwise")


def pools_of(candidates: Any, **given: Any) -> tuple[CandidatePool, ...]:
    common: Any = {"candidates": candidates, **given}
    return load_pools(checked(common), POINTWISE)


def pool(answers: Mapping[str, str], native: float = 1.0, **item: Any) -> CandidatePool:
    key = ItemKey("gsm8k", "q1")
    return CandidatePool(
        items=(Item(key, "abc", "What is 1 + 1?", "2", **item),),
        candidates={
            key: {m: Candidate(key, m, text, native_score=native) for m, text in answers.items()}
        },
    )


def test_a_contest_survives_the_log() -> None:
    [sample] = contest_samples(pool({"a": "2", "b": "3", "c": "2 "}))
    stored = json.loads(json.dumps(sample.metadata))
    contest = restore_contest(stored)
    assert contest.groups == (("a", "c"), ("b",))
    assert contest.answers == {"a": "2", "b": "3"}
    assert contest.rubric.task_type == "math_reasoning"
    assert contest.ballots("seal", "elimination").native == {"a": 1.0, "b": 1.0, "c": 1.0}


def test_identical_answers_can_be_kept_apart() -> None:
    [sample] = contest_samples(pool({"a": "2", "b": "2"}), merge_identical=False)
    assert restore_contest(sample.metadata or {}).groups == (("a",), ("b",))


def test_a_missing_native_score_is_none_and_not_saturated() -> None:
    [sample] = contest_samples(pool({"a": "2", "b": "3"}, native=math.nan))
    assert (sample.metadata or {})[CONTEST_KEY]["native"] == {"a": None, "b": None}


@pytest.mark.parametrize(
    ("more", "shown"),
    cases(__file__, "task_text"),
)
def test_task_text(more: dict[str, Any], shown: str) -> None:
    assert task_text(pool({"a": "2"}, **more).items[0]) == shown


def test_every_argument_has_a_default_that_will_do() -> None:
    assert DEFAULTS.keys() == CommonArguments.__annotations__.keys()
    assert checked({}) == DEFAULTS


@pytest.mark.slow
def test_a_wrong_argument_is_one_sentence_on_the_command_line(tmp_path: Path) -> None:
    write_pool(tmp_path / "2026", 2, 1)
    command = ("inspect", "eval", "tiebreak/swiss", "--model-role", "judge=planted/x")
    # YAML takes the folder's name for a number.
    done = run(*command, "-T", "candidates=2026", "-T", "max_call=5", cwd=tmp_path, code=1)
    printed = " ".join((done.stdout + done.stderr).split())
    assert "There is no argument 'max_call' (-T max_call=…). Did you mean max_calls?" in printed
    assert "Traceback" not in printed
    assert len(pools_of(str(tmp_path / "2026"))[0].items) == 1


@pytest.mark.slow
def test_the_tasks_can_be_listed() -> None:
    listed = run_here("inspect", "list", "tasks", "inspect_tasks/rerank.py", cwd=ROOT)
    assert {line.split("@")[1] for line in listed.split()} == {*PROTOCOLS, "own"}


def test_a_folder_named_like_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pool(tmp_path / "2026", 2, 1)
    write_pool(tmp_path / "2027", 2, 1, task="mmlu")
    monkeypatch.chdir(tmp_path)
    numbers: Any = 2026
    assert pools_of(numbers)[0].benchmarks == ("gsm8k",)
    assert pools_of([numbers, numbers + 1])[0].benchmarks == (
        "gsm8k",
        "mmlu",
    )
    assert pools_of("2026, 2027,")[0].benchmarks == ("gsm8k", "mmlu")


def write_different(folder: Path) -> None:
    write_asked(folder, "a", temperature=0)
    write_asked(folder, "b", temperature=1)


@pytest.mark.parametrize("mode", ["strict", "intersect"])
def test_same_settings_refuses_others(mode: str, tmp_path: Path) -> None:
    write_different(tmp_path)
    assert pools_of(str(tmp_path), mode=mode)[0].models == ("a", "b")
    with pytest.raises(PrerequisiteError) as caught:
        pools_of(str(tmp_path), mode=mode, same_settings=True)
    message = str(caught.value.message)
    assert "temperature: 0.0 (a), 1.0 (b)" in message
    assert "Leave out -T same_settings=true to compare the models as they were asked." in message
    assert "--" not in message


def test_where_no_item_is_common_settings_are_not_compared(tmp_path: Path) -> None:
    write_different(tmp_path)
    with pytest.raises(PrerequisiteError, match="does not compare settings: use mode intersect"):
        pools_of(str(tmp_path), mode="union", same_settings=True)


def test_a_run_that_asks_for_same_settings_is_the_same_run(tmp_path: Path) -> None:
    samples = contest_samples(pool({"a": "2", "b": "3"}))
    runs = [
        run_id(find_protocol("seal"), {}, checked(given), samples, lambda: Roles({}))
        for given in (CommonArguments(), CommonArguments(same_settings=True))
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (("m", "m"), "--name"),
        (("m", "n"), "--filter, --metric"),
    ],
)
def test_options_of_a_pool_are_those_of_its_verb(
    names: tuple[str, str], options: str, tmp_path: Path
) -> None:
    for model, scorer in zip(names, ("match", "includes"), strict=True):
        rows = make_rows(1)
        write_inspect_log(tmp_path / f"{scorer}.eval", model, rows, scorer=scorer)
    with pytest.raises(PrerequisiteError) as caught:
        pools_of(str(tmp_path))
    assert str(caught.value.message).endswith(
        f"\nWith {options}: `tiebreak candidates … --out pool.parquet`, and then "
        "-T candidates=pool.parquet."
    )


def test_a_rubric_counts_by_its_content(tmp_path: Path) -> None:
    """Shards on two machines may have the same file in different places."""
    [builtin] = contest_samples(pool({"a": "2", "b": "3"}))
    rubric = json.dumps((builtin.metadata or {})[CONTEST_KEY]["rubric"])
    seen = set()
    for name, text in [("x.yaml", rubric), ("y.yaml", rubric), ("z.yaml", rubric + "  ")]:
        (tmp_path / name).write_text(text)
        samples = contest_samples(pool({"a": "2", "b": "3"}), rubric=str(tmp_path / name))
        seen.add(run_id(find_protocol("seal"), {}, checked({}), samples, lambda: Roles({})))
    assert len(seen) == 1


@pytest.mark.parametrize("task_type", [None, "code_generation", "poetry"])
def test_a_rubric_of_ones_own_goes_before_any_task_type(
    task_type: str | None, tmp_path: Path
) -> None:
    principles = [{"id": "V1", "name": "Verse", "description": "It scans.", "weight": 1}]
    probe = {"id": "C1", "principle": "V1", "description": "Five feet a line."}
    verse = {"version": 1, "task_type": "verse", "principles": principles, "checklist": [probe]}
    path = tmp_path / "verse.yaml"
    path.write_text(json.dumps(verse))
    [sample] = contest_samples(pool({"a": "2", "b": "3"}), task_type=task_type, rubric=str(path))
    contest = restore_contest(sample.metadata or {})
    assert (contest.rubric_name, contest.rubric) == (str(path), Rubric.model_validate(verse))


@pytest.mark.parametrize(
    ("content", "said"),
    cases(__file__, "rubrics"),
)
def test_a_rubric_that_cannot_be_used(content: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(PrerequisiteError, match=re.escape(said.format(path=path))):
        contest_samples(pool({"a": "2", "b": "3"}), rubric=str(path))


@pytest.mark.parametrize(("name", "restored"), [("seal", 0), ("fixed_rubric", 3)])
def test_building_a_task_restores_only_what_it_shares(
    name: str, restored: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []

    def restore(stored: dict[str, Any]) -> Contest:
        done.append(stored)
        return restore_contest(stored)

    monkeypatch.setattr(judging, "restore_contest", restore)
    pool_path = write_pool(tmp_path / "logs", 3, 3)
    # In a context of its own, in which no earlier test has left an eval that runs.
    task = Context().run(getattr(rerank, name), candidates=str(pool_path))
    assert len(task.dataset) == 3
    assert len(done) == restored
