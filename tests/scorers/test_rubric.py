"""The four rubrics that come along, and what is wrong with bad ones."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cases import cases
from tests.expected import check
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.questions import MatchQuestion
from tiebreak.scorers.rubric import RubricError, builtin_rubrics, load_rubric, rubric_for

GOOD: dict[str, Any] = cases(__file__, "good")

# SEAL, table 7
SIZES = {"code_generation": 6, "math_reasoning": 4, "general_qa": 5, "tool_calling": 5}


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_builtin_rubrics_have_the_sizes_of_table_7(name: str, size: int) -> None:
    rubric = load_rubric(name)
    assert rubric.task_type == name
    assert len(rubric.principles) == len(rubric.checklist) == size
    assert [item.principle for item in rubric.checklist] == list(rubric.weights)
    assert set(builtin_rubrics()) == set(SIZES)


@pytest.mark.parametrize(
    ("benchmark", "rubric"),
    cases(__file__, "benchmarks"),
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


def test_missing_and_unreadable(tmp_path: Path) -> None:
    with pytest.raises(RubricError, match=r"No rubric 'nowhere'.*code_generation"):
        load_rubric("nowhere")
    path = tmp_path / "broken.yaml"
    path.write_text("a: [1, 2")
    with pytest.raises(RubricError, match="is not valid YAML"):
        load_rubric(str(path))


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


def changed(*where: Any, to: Any) -> dict[str, Any]:
    """The good rubric with another value somewhere."""
    content = copy.deepcopy(GOOD)
    part: Any = content
    for key in where[:-1]:
        part = part[key]
    part[where[-1]] = to
    return content


def of_checklist(*items: dict[str, str], n: int = 1) -> dict[str, Any]:
    return weighed(*[1 / n] * n) | {"checklist": [{"description": "d", **item} for item in items]}


BAD: dict[str, dict[str, Any]] = {
    "a weight": changed("principles", 0, "weight", to=0.5),
    "a negative weight": changed("principles", 0, "weight", to=-0.1),
    "one id twice": changed("principles", 1, "id", to="P1"),
    "levels apart": changed("checklist", 1, "demonstration", to={"anchor_split": "5 vs 3"}),
    "an unknown principle": changed("checklist", 1, "principle", to="P9"),
    "a principle without an item": changed("checklist", 1, "principle", to="P1"),
    "no principles": changed("principles", to=[]),
    "an unknown key": changed("colour", to="red"),
    "nearly one": weighed(0.5, 0.49),
    "a weight of nothing": weighed(1.0, 0.0),
    "too much": weighed(1.5),
    "wrong everywhere": {"version": "x", "task_type": 3, "principles": []},
    "up to ten problems": GOOD | {f"x{number:02}": 1 for number in range(12)},
    "a long key": GOOD | {"y" * 400: 1},
    "all ids twice": of_checklist(
        *[{"id": f"C{k}", "principle": f"P{k}"} for k in (1, 2, 1, 2)], n=2
    ),
    "unknown principles": of_checklist(
        *[{"id": f"X{q}", "principle": q} for q in ("P1", "Q2", "Q1")]
    ),
    "principles without an item": of_checklist({"id": "C2", "principle": "P2"}, n=4),
}


def test_bad_rubrics_are_named(tmp_path: Path) -> None:
    lines = []
    for name, content in BAD.items():
        with pytest.raises(RubricError) as caught:
            load_rubric(write(tmp_path, content))
        lines.append(f"{name}: {caught.value}\n".replace(str(tmp_path), "…"))
    check(__file__, "bad_rubrics.txt", "".join(lines))


def test_weights_sum_to_one_up_to_the_last_digits(tmp_path: Path) -> None:
    assert load_rubric(write(tmp_path, weighed(1.0))).weights == {"P1": 1.0}
    assert load_rubric(write(tmp_path, weighed(0.5, 0.4999995))).weights["P2"] == 0.4999995


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
