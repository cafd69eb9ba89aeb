"""The room's face: what it exports, that modules are modules, and that listing loads nothing."""

import pkgutil
import re
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


def test_everything_that_the_stub_names_is_there() -> None:
    names = dir(rankers)
    assert {"csd", "kemeny_young", "Resampling"} <= set(names)
    for name in names:
        assert getattr(rankers, name) is not None, name


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="plurality"):
        getattr(rankers, "plurality")  # noqa: B009


def test_no_text_names_a_flag_of_the_command() -> None:
    sources = [path for root in rankers.__path__ for path in Path(root).rglob("*.py")]
    assert len(sources) > len(MODULES) / 2
    assert not [path for path in sources if re.search(r"--[a-z]", path.read_text("utf-8"))]
