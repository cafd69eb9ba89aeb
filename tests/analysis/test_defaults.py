"""What every public function takes where nothing is said, and the limits that decide what is told.

A change of `expected/defaults.txt` is one that users of Python see, or a limit of a sentence.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import ModuleType
from typing import Any

import numpy as np

import tiebreak.analysis
import tiebreak.fair.analysis
from tests.expected import check


def modules() -> Iterator[ModuleType]:
    for room in (tiebreak.analysis, tiebreak.fair.analysis):
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            yield importlib.import_module(found.name)


def lines(module: ModuleType) -> Iterator[str]:
    name = module.__name__.removeprefix("tiebreak.").replace("analysis.", "", 1)
    for key, value in sorted(vars(module).items()):
        if key.isupper() and isinstance(value, int | float | tuple | np.ndarray):
            yield f"{name}.{key} = {value!r}"
        if getattr(value, "__module__", "") != module.__name__ or key.startswith("_"):
            continue
        if inspect.isfunction(value) or is_dataclass(value):
            yield from given(f"{name}.{key}", value)


def given(name: str, function: Any) -> Iterator[str]:
    defaults = [
        f"{one.name}={one.default!r}"
        for one in inspect.signature(function).parameters.values()
        if one.default is not one.empty and "function" not in repr(one.default)
    ]
    if defaults:
        yield f"{name}({', '.join(defaults)})"


def test_defaults_and_limits() -> None:
    # What is imported from elsewhere is a limit of its own module alone.
    own = {line for module in modules() for line in lines(module)}
    check(__file__, "defaults.txt", "".join(f"{line}\n" for line in sorted(own)))
