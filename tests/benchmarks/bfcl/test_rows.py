"""BFCL's files, in the layouts that they come in."""

import importlib.metadata
import importlib.util
import json
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cases import cases
from tiebreak.benchmarks.bfcl.questions import (
    CATEGORIES,
    INSTALL,
    LEFT_OUT,
    category_named,
    load_rows,
    read,
)
from tiebreak.prerequisite import PrerequisiteError

DATA = Path(__file__).parent / "data"


def write(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def a_question(name: str) -> dict[str, Any]:
    function = {"name": "f", "parameters": {"type": "dict", "properties": {}, "required": []}}
    return {"id": name, "question": [[{"role": "user", "content": "?"}]], "function": [function]}


def an_answer(name: str) -> dict[str, Any]:
    return {"id": name, "ground_truth": [{"f": {}}]}


def test_all_categories_of_a_folder() -> None:
    rows = load_rows(DATA)
    assert list(dict.fromkeys(row["category"] for row in rows)) == list(CATEGORIES)
    assert all(
        list(row) == ["id", "category", "question", "function", "ground_truth"] for row in rows
    )
    unanswered = {row["category"] for row in rows if not row["ground_truth"]}
    assert unanswered == {"irrelevance", "live_irrelevance", "live_relevance"}
    questions = [read(row, number) for number, row in enumerate(rows)]
    assert len({question.id for question in questions}) == len(rows)


def test_some_categories_keep_the_order_of_the_files() -> None:
    rows = load_rows(DATA, ["live_simple", "simple_python", "simple"])
    assert Counter(row["category"] for row in rows) == {"simple": 4, "live_simple": 2}
    assert rows == load_rows(DATA, ["simple", "live_simple"])
    assert rows[0]["id"] == "simple_python_0"


def test_the_folder_above(tmp_path: Path) -> None:
    shutil.copytree(DATA, tmp_path / "data")
    (tmp_path / "empty").mkdir()
    assert load_rows(tmp_path) == load_rows(DATA)
    shutil.copytree(DATA, tmp_path / "more")
    with pytest.raises(PrerequisiteError, match="Take one of"):
        load_rows(tmp_path)


def test_of_several_releases_the_newest_counts(tmp_path: Path) -> None:
    for release, name in (("v3", "simple"), ("v4", "simple_python"), ("v2", "multiple")):
        write(tmp_path / f"BFCL_{release}_{name}.json", a_question(f"{release}_0"))
        write(tmp_path / f"possible_answer/BFCL_{release}_{name}.json", an_answer(f"{release}_0"))
    write(tmp_path / "BFCL_v4_simple_java.json", {"id": "left out"})
    write(tmp_path / "BFCL_v9_unheard_of.json", {"id": "unknown"})
    assert [(row["id"], row["category"]) for row in load_rows(tmp_path)] == [
        ("v4_0", "simple"),
        ("v2_0", "multiple"),
    ]


def test_questions_and_answers_must_belong_together(tmp_path: Path) -> None:
    questions = tmp_path / "BFCL_v4_parallel.json"
    answers = tmp_path / "possible_answer" / questions.name
    write(questions, *(a_question(f"parallel_{n}") for n in range(5)))
    with pytest.raises(PrerequisiteError, match=r"possible_answer.*BFCL_v4_parallel.json"):
        load_rows(tmp_path)
    write(answers, an_answer("parallel_4"))
    with pytest.raises(PrerequisiteError, match=r"parallel_0, .*_1, .*_2 \(and 1 more\) has no"):
        load_rows(tmp_path)
    write(answers, *(an_answer(f"parallel_{n}") for n in range(6)))
    with pytest.raises(PrerequisiteError, match="parallel_5 has an answer"):
        load_rows(tmp_path)
    write(answers, *(an_answer("parallel_0") for _ in range(2)))
    with pytest.raises(PrerequisiteError, match="parallel_0 occurs twice"):
        load_rows(tmp_path)


def test_without_answers_a_name_may_be_given_twice(tmp_path: Path) -> None:
    names = ["a", "b", "a", "a"]
    write(tmp_path / "BFCL_v3_live_relevance.json", *map(a_question, names))
    assert [row["id"] for row in load_rows(tmp_path)] == ["a", "b", "a_2", "a_3"]


@pytest.mark.parametrize(
    ("row", "lacks"),
    [({"question": []}, "'id'"), ({"id": "x", "question": []}, "x lacks 'function'")],
)
def test_a_column_is_missing(tmp_path: Path, row: dict[str, Any], lacks: str) -> None:
    write(tmp_path / "BFCL_v4_irrelevance.json", row)
    with pytest.raises(PrerequisiteError, match=lacks):
        load_rows(tmp_path)


@pytest.mark.parametrize(
    ("categories", "message"), cases(__file__, "categories that cannot be had")
)
def test_categories_that_cannot_be_had(tmp_path: Path, categories: list[str], message: str) -> None:
    write(tmp_path / "BFCL_v4_irrelevance.json", a_question("x"))
    with pytest.raises(PrerequisiteError) as error:
        load_rows(tmp_path, categories)
    assert message in str(error.value)


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match=r"should hold BFCL's files, .* It does not"):
        load_rows(tmp_path)
    with pytest.raises(PrerequisiteError, match="is not a folder with BFCL"):
        load_rows(tmp_path / "none")


def test_names_of_categories() -> None:
    assert [category_named(name) for name in CATEGORIES] == list(CATEGORIES)
    assert category_named("simple_python") == "simple"
    for name in LEFT_OUT:
        with pytest.raises(ValueError, match="left out"):
            category_named(name)


def test_the_package_is_read_and_not_imported() -> None:
    before = set(sys.modules)
    rows = load_rows(categories=["live_parallel", "irrelevance"])
    assert Counter(row["category"] for row in rows) == {"live_parallel": 16, "irrelevance": 240}
    assert not {name for name in set(sys.modules) - before if name.startswith("bfcl_eval")}


@pytest.mark.slow
def test_every_question_of_the_package_can_be_read() -> None:
    questions = [read(row, number) for number, row in enumerate(load_rows())]
    assert Counter(question.details["category"] for question in questions) == {
        **{"simple": 400, "multiple": 200, "parallel": 200, "parallel_multiple": 200},
        **{"irrelevance": 240, "live_simple": 258, "live_multiple": 1053, "live_parallel": 16},
        **{"live_parallel_multiple": 24, "live_irrelevance": 884, "live_relevance": 16},
    }


def test_the_package_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(PrerequisiteError) as error:
        load_rows()
    assert INSTALL in str(error.value)
    assert INSTALL.startswith("pip install --no-deps bfcl-eval==")


def test_another_release_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "2025.1.1")
    with pytest.raises(PrerequisiteError, match=r"bfcl-eval 2025.1.1 is installed[\s\S]*-T data="):
        load_rows()
