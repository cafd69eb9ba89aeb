"""Tests of `make mutants`: what it draws, which tests it runs, and its table."""

from functools import cache
from pathlib import Path

import pytest

from tests.mutants.drawing import Mutant, changed_lines, drawn, mutants_of, mutated
from tests.mutants.reaching import Map, at_import
from tests.mutants.settings import REPOSITORY, Equivalent, settings
from tests.mutants.table import END, START, table, write_table

SOURCE = """from dataclasses import dataclass

@dataclass(frozen=True)
class Point:
    x: int | None = 1

def far(point: Point, *rest: float, limit: int | None = 3) -> int | None:
    total = sum(a * b for a, b in zip(rest, [*rest], strict=True))
    if total > (limit or 0) - 1:
        return None
    return point.x
"""


def changes(operators: list[str]) -> list[tuple[int, str]]:
    mutants = mutants_of("room/far.py", SOURCE, operators)
    return [(one.line, changed_lines(SOURCE, mutated(SOURCE, one))[1]) for one in mutants]


def test_what_is_run_is_changed_and_annotations_and_guards_are_not() -> None:
    assert changes(["ReplaceTrueWithFalse", "ReplaceBinaryOperator_BitOr_BitAnd"]) == []
    assert changes(["ReplaceBinaryOperator_Mul_Div", "ReplaceComparisonOperator_Gt_GtE"]) == [
        (8, "total = sum(a / b for a, b in zip(rest, [*rest], strict=True))"),
        (9, "if total >= (limit or 0) - 1:"),
    ]
    assert [line for line, _ in changes(["NumberReplacer"])] == [5, 5, 7, 7, 9, 9, 9, 9]


def test_a_seed_draws_every_line_once_and_the_same_mutants_again() -> None:
    mutants = list(mutants_of("room/far.py", SOURCE, settings().operators))
    once = list(drawn(mutants, 1))
    assert once == list(drawn(mutants, 1))
    assert sorted(one.line for one in once) == sorted({one.line for one in mutants})
    assert any(once != list(drawn(mutants, seed)) for seed in range(2, 5))


@pytest.mark.parametrize(
    ("line", "tests"),
    [
        (5, {"a.py::whole", "b.py::early"}),  # a field: whoever runs any function of the module
        (7, {"a.py::whole", "b.py::early"}),  # a default: whoever runs its function
        (8, {"a.py::whole", "b.py::early"}),
        (10, {"a.py::whole"}),
    ],
)
def test_tests_that_reach_a_line(line: int, tests: set[str]) -> None:
    lines = {
        "a.py::whole": {"room/far.py": [8, 9, 10]},
        "b.py::early": {"room/far.py": [8, 9, 11]},
        "c.py::other": {"room/near.py": [10]},
    }
    found = Map("", {}, dict.fromkeys(lines, 1.0), lines)
    assert found.reaching("room/far.py", SOURCE, line) == tests
    assert at_import(SOURCE, line) == (line < 8)


def test_the_quickest_are_asked_first_then_the_rest_of_their_files_up_to_the_limit() -> None:
    seconds = {"a.py::slow": 9.0, "a.py::quick": 1.0, "a.py::other": 0.1, "b.py::far": 0.1}
    found = Map("", {}, seconds, {})
    reaching = {"a.py::slow", "a.py::quick"}
    assert found.asked(reaching, 20) == ["a.py::quick", "a.py::slow", "a.py::other"]
    assert found.asked(reaching, 5) == ["a.py::quick"]
    assert found.asked(set(), 5) == []
    assert found.asked({"a.py::quick"}, 20, "one") == ["a.py::quick", "a.py::other", "a.py::slow"]
    found.seconds["tests/one/test_far.py::near"] = 0.5
    assert found.asked({"a.py::quick"}, 1.7, "one")[1:] == [
        *("a.py::other", "tests/one/test_far.py::near"),
    ]


def test_the_table_has_the_exact_interval_and_replaces_the_last_one(tmp_path: Path) -> None:
    text = table([("one", True)] * 9 + [("one", False), ("two", True)], ("one", "two", "three"))
    # Clopper and Pearson for 9 of 10, and for 1 of 1: 0.025 at the lower end.
    assert "| one | 10 | 9 | 90.0 % | 55.5–99.7 % |\n" in text
    assert "| two | 1 | 1 | 100.0 % | 2.5–100.0 % |\n" in text
    assert text.endswith("| all | 11 | 10 | 90.9 % | 58.7–99.8 % |\n")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{START}old\n{END}after\n", "utf-8")
    write_table(page, text)
    assert page.read_text("utf-8") == f"before\n{START}{text}{END}after\n"


@pytest.mark.parametrize("entry", settings().equivalent, ids=lambda entry: entry.before[:40])
def test_what_is_called_equivalent_is_still_in_the_source(entry: Equivalent) -> None:
    source, mutants = mutants_in(entry.module)
    lines = [line.strip() for line in source.splitlines()]
    texts = (
        changed_lines(source, mutated(source, mutant))
        for mutant in mutants
        if lines[mutant.line - 1] in entry.before
    )
    assert (entry.before, entry.after) in texts


@cache
def mutants_in(module: str) -> tuple[str, list[Mutant]]:
    """A module's source and all its mutants."""
    source = (REPOSITORY / "src" / "tiebreak" / module).read_text("utf-8")
    return source, list(mutants_of(module, source, settings().operators))
