"""The four rubrics that come along, and what is wrong with bad ones."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.scorers.tournament import planted_contest
from tiebreak.scorers.questions import MatchQuestion
from tiebreak.scorers.rubric import RubricError, builtin_rubrics, load_rubric, rubric_for

GOOD: dict[str, Any] = {
    "version": 1,
    "task_type": "poetry",
    "principles": [
        {"id": "P1", "name": "Metre", "description": "It scans.", "weight": 0.75},
        {"id": "P2", "name": "Rhyme", "description": "It rhymes.", "weight": 0.25},
    ],
    "checklist": [
        {"id": "C1", "principle": "P1", "description": "Each line has five feet."},
        {"id": "C2", "principle": "P2", "description": "Line ends rhyme in pairs."},
    ],
}

# SEAL, table 7
SIZES = {"code_generation": 6, "math_reasoning": 4, "general_qa": 5, "tool_calling": 5}


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_builtin_rubrics_have_the_sizes_of_table_7(name: str, size: int) -> None:
    rubric = load_rubric(name)
    assert rubric.task_type == name
    assert len(rubric.principles) == len(rubric.checklist) == size
    assert [item.principle for item in rubric.checklist] == list(rubric.weights)


def test_there_are_no_others() -> None:
    assert set(builtin_rubrics()) == set(SIZES)


@pytest.mark.parametrize(
    ("benchmark", "rubric"),
    [
        ("humaneval", "code_generation"),
        ("HumanEval_plus", "code_generation"),
        ("gsm8k_cot", "math_reasoning"),
        ("mmlu_anatomy", "general_qa"),
        ("bfcl_simple", "tool_calling"),
        ("my_own", "general_qa"),
    ],
)
def test_guess_from_the_benchmark(benchmark: str, rubric: str) -> None:
    assert rubric_for(benchmark) == rubric


def write(tmp_path: Path, content: Any) -> str:
    path = tmp_path / "rubric.yaml"
    path.write_text(yaml.safe_dump(content))
    load_rubric.cache_clear()
    return str(path)


def test_a_rubric_of_ones_own(tmp_path: Path) -> None:
    assert load_rubric(write(tmp_path, GOOD)).weights == {"P1": 0.75, "P2": 0.25}


def test_an_item_of_a_rubric_may_come_with_examples(tmp_path: Path) -> None:
    rubric = copy.deepcopy(GOOD)
    shown = {"anchor_split": "5 vs 4", "higher_snippet": "moon / June", "lower_snippet": "moon / Y"}
    rubric["checklist"][1]["demonstration"] = shown
    plain, item = load_rubric(write(tmp_path, rubric)).checklist
    assert plain.demonstration is None
    assert item.demonstration is not None
    assert item.demonstration.levels == (("5", "moon / June"), ("4", "moon / Y"))
    contest = replace(
        planted_contest({"a": 1.0, "b": 2.0}), rubric=load_rubric(write(tmp_path, rubric))
    )
    question = MatchQuestion(contest, contest.rubric.checklist, "a", "b")
    assert question.prompt().system.endswith(
        """C2 (P2): Line ends rhyme in pairs.
Level 5 of 5, for example:
moon / June
Level 4 of 5, for example:
moon / Y"""
    )


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        (("principles", 0, "weight"), 0.5, "sum to 0.75, not 1"),
        (("principles", 0, "weight"), -0.1, "greater than 0"),
        (("principles", 1, "id"), "P1", "used twice: P1"),
        (
            ("checklist", 1, "demonstration"),
            {"anchor_split": "5 vs 3"},
            "demonstration.anchor_split",
        ),
        (("checklist", 1, "principle"), "P9", "unknown principles: P9"),
        (("checklist", 1, "principle"), "P1", "without a checklist item: P2"),
        (("principles",), [], "principles"),
        (("colour",), "red", "colour"),
    ],
)
def test_bad_rubrics_are_named(
    tmp_path: Path, where: tuple[Any, ...], value: Any, words: str
) -> None:
    content = copy.deepcopy(GOOD)
    part = content
    for key in where[:-1]:
        part = part[key]
    part[where[-1]] = value
    with pytest.raises(RubricError, match=words):
        load_rubric(write(tmp_path, content))


def test_missing_and_unreadable(tmp_path: Path) -> None:
    with pytest.raises(RubricError, match=r"No rubric 'nowhere'.*code_generation"):
        load_rubric("nowhere")
    path = tmp_path / "broken.yaml"
    path.write_text("a: [1, 2")
    with pytest.raises(RubricError, match="is not valid YAML"):
        load_rubric(str(path))


def told(path: Path, content: Any) -> str:
    with pytest.raises(RubricError) as caught:
        load_rubric(write(path, content))
    return str(caught.value).removeprefix(f"{path / 'rubric.yaml'} is not a valid rubric: ")


def weighed(*weights: float) -> dict[str, Any]:
    ids = range(1, len(weights) + 1)
    return {
        **{"version": 1, "task_type": "t"},
        "principles": [
            {"id": f"P{n}", "name": "n", "description": "d", "weight": weight}
            for n, weight in zip(ids, weights, strict=True)
        ],
        "checklist": [{"id": f"C{n}", "principle": f"P{n}", "description": "d"} for n in ids],
    }


def test_weights_sum_to_one_up_to_the_last_digits(tmp_path: Path) -> None:
    assert load_rubric(write(tmp_path, weighed(1.0))).weights == {"P1": 1.0}
    assert load_rubric(write(tmp_path, weighed(0.5, 0.4999995))).weights["P2"] == 0.4999995
    assert told(tmp_path, weighed(0.5, 0.49)) == (
        "rubric: Value error, the weights of the principles sum to 0.99, not 1"
    )
    # A principle without a possible weight is none, and others are missed then.
    for weights, why in (
        ((1.0, 0.0), "1.weight: Input should be greater than 0"),
        ((1.5,), "0.weight: Input should be less than or equal to 1"),
    ):
        assert told(tmp_path, weighed(*weights)).split("; ")[0] == f"principles.{why}"


def test_all_that_is_wrong_is_named_up_to_ten_problems(tmp_path: Path) -> None:
    some = told(tmp_path, {"version": "x", "task_type": 3, "principles": []})
    assert some.split("; ") == [
        "version: Input should be a valid integer, unable to parse string as an integer",
        "task_type: Input should be a valid string",
        "principles: Tuple should have at least 1 item after validation, not 0",
        "checklist: Field required",
    ]
    many = told(tmp_path, GOOD | {f"x{number:02}": 1 for number in range(12)})
    assert many.split("; ") == [
        f"x{number:02}: Extra inputs are not permitted" for number in range(10)
    ]
    long = told(tmp_path, GOOD | {"y" * 400: 1})
    assert long == f"{'y' * 300}: Extra inputs are not permitted"


def test_repeated_and_unknown_ids_are_all_named(tmp_path: Path) -> None:
    twice = weighed(0.5, 0.5)
    twice["checklist"] += twice["checklist"]
    assert told(tmp_path, twice) == "rubric: Value error, ids are used twice: C1, C2"
    unknown = weighed(1.0)
    unknown["checklist"] += [
        {"id": f"X{n}", "principle": f"Q{n}", "description": "d"} for n in (2, 1)
    ]
    assert told(tmp_path, unknown) == (
        "rubric: Value error, checklist items name unknown principles: Q1, Q2"
    )
    bare = weighed(0.25, 0.5, 0.25)
    bare["checklist"] = bare["checklist"][1:2]
    assert told(tmp_path, bare) == (
        "rubric: Value error, principles without a checklist item: P1, P3"
    )


def test_the_longest_beginning_of_a_name_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"one": ("ab",), "three": ("abc", "x"), "two": ("a", "abd")}
    rubrics = {
        n: load_rubric("general_qa").model_copy(update={"benchmarks": b}) for n, b in given.items()
    }
    monkeypatch.setattr("tiebreak.scorers.rubric.builtin_rubrics", lambda: tuple(rubrics))
    monkeypatch.setattr("tiebreak.scorers.rubric.load_rubric", rubrics.__getitem__)
    names = ("ABCD", "abd", "ab", "a", "xy", "b")
    assert [rubric_for(name) for name in names] == [
        *("three", "two", "one", "two", "three", "general_qa"),
    ]
