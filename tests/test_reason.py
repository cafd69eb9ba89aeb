"""Reasons: kinds with their figures, and that rooms of numbers hold nothing longer."""

import ast
import pickle
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest

from tests.cases import cases
from tiebreak.reason import Reason

PACKAGE = Path(__file__).parent.parent / "src" / "tiebreak"
MODULES = [path for room in ("analysis", "rankers") for path in (PACKAGE / room).rglob("*.py")]
# What is called with the message of an error that it raises.
CHECKS = {"_need", "optional"}
MOST_WORDS = 5


def test_equal_figures_make_equal_reasons() -> None:
    reason = Reason("one_item_of", models=["a", "b"])
    assert reason == Reason("one_item_of", models=("a", "b"))
    assert len({reason, deepcopy(reason), pickle.loads(pickle.dumps(reason))}) == 1
    assert reason != Reason("one_item_of", models=["a"])
    assert reason["models"] == ("a", "b")
    assert repr(reason) == "Reason('one_item_of', models=('a', 'b'))"


def texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Strings with their lines; without docstrings, and without messages of errors."""
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if docstring or isinstance(node, ast.Raise):
        return
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name.endswith("Error") or name in CHECKS:
            return
    if isinstance(node, ast.JoinedStr):
        parts = [str(part.value) for part in node.values if isinstance(part, ast.Constant)]
        yield node.lineno, " ".join(parts)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from texts(part)
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    for child in ast.iter_child_nodes(node):
        yield from texts(child)


def prose(source: str) -> list[str]:
    found = texts(ast.parse(source))
    return [f"{line}: {text}" for line, text in found if len(text.split()) > MOST_WORDS]


@pytest.mark.parametrize(("source", "n"), cases(__file__, "prose is found"))
def test_prose_is_found(source: str, n: int) -> None:
    assert len(prose(source)) == n


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rooms_of_numbers_hold_no_sentence(module: Path) -> None:
    assert prose(module.read_text(encoding="utf-8")) == []
