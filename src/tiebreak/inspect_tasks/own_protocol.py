"""Protocols of the user's own, out of a Python file or an installed module."""

import importlib
import importlib.util
import sys
from pathlib import Path

from tiebreak.inspect_tasks.contests import from_working_directory
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.protocols import Protocol, ProtocolError, find_protocol

HOW = (
    "add -T protocol=FILE.py@NAME (or MODULE@NAME): the file or module that registers it, and the "
    "name that it registers."
)


def load_protocol(given: str | None) -> Protocol:
    """The protocol that a file or module registers.

    Args:
        given: FILE.py@NAME, relative to the working directory, or MODULE@NAME; NAME alone for one
            that comes along.

    Raises:
        PrerequisiteError: no file, a file that cannot be run, or a name that it does not register.
    """
    if not given:
        raise PrerequisiteError(f"No protocol: {HOW}")
    path, _, name = given.rpartition("@")
    try:
        if path.endswith(".py"):
            _run(Path(from_working_directory(path)))
        elif path:
            importlib.import_module(path)
        return find_protocol(name)
    except (ProtocolError, ModuleNotFoundError) as error:
        raise PrerequisiteError(f"protocol is {given!r}. {error}") from error


def _run(file: Path) -> None:
    if not file.is_file():
        raise PrerequisiteError(f"{file} does not exist: {HOW}")
    # The same file is the same module, so that it can be loaded again.
    module = f"tiebreak_protocol_{file.resolve().stem}"
    spec = importlib.util.spec_from_file_location(module, file)
    if spec is None or spec.loader is None:
        raise PrerequisiteError(f"{file} is no Python file: {HOW}")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    spec.loader.exec_module(loaded)
