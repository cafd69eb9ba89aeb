"""The room's face: what it exports, that modules are modules, and that listing loads nothing."""

import ast
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tiebreak import rankers

MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(rankers.__path__, "tiebreak.rankers.")
    if not found.name.endswith(".compiled")  # it needs numba
)


@pytest.mark.parametrize("name", MODULES)
def test_no_module_is_hidden_by_a_function(name: str) -> None:
    module = import_module(name)
    parent, own = name.rsplit(".", 1)
    assert isinstance(module, ModuleType)
    assert getattr(import_module(parent), own) is module


def test_what_is_exported_is_what_can_be_had() -> None:
    homes = {name: home for home, names in rankers._HOMES.items() for name in names.split()}
    assert sorted(homes) == sorted(rankers.__all__)
    tree = ast.parse(Path(str(rankers.__file__)).read_text(encoding="utf-8"))
    typed = {
        alias.name: str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tiebreak.")
        for alias in node.names
    }
    assert typed == {name: f"tiebreak.rankers.{home}" for name, home in homes.items()}
    for name in rankers.__all__:
        assert getattr(rankers, name) is getattr(import_module(typed[name]), name)


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'plurality'"):
        rankers.plurality  # noqa: B018


def test_the_list_of_aggregators_is_light() -> None:
    code = (
        "import sys; from tiebreak.rankers import AGGREGATORS; assert AGGREGATORS;"
        "print(sorted({'numpy', 'scipy', 'pandas', 'inspect_ai'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
