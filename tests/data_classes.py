"""The classes of a package that hold data, and whether an object of them can be changed."""

import dataclasses
import inspect
import pkgutil
from importlib import import_module
from types import ModuleType


def data_classes(package: ModuleType) -> dict[str, type]:
    """The dataclasses and models that the modules of a package define, by module and name."""
    found: dict[str, type] = {}
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for name, one in vars(import_module(module.name)).items():
            own = inspect.isclass(one) and one.__module__ == module.name
            if own and (dataclasses.is_dataclass(one) or hasattr(one, "model_config")):
                found[f"{module.name.removeprefix(package.__name__ + '.')}.{name}"] = one
    return found


def can_be_changed(one: type) -> bool:
    """Whether fields of an object can be set."""
    if dataclasses.is_dataclass(one):
        return not one.__dataclass_params__.frozen  # type: ignore[attr-defined]
    return not getattr(one, "model_config", {}).get("frozen")
