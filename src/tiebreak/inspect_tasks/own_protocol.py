"""A user's own protocols, from a Python file or an installed module."""

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tiebreak.inspect_tasks.contests import from_working_directory
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.protocols import Protocol, find_protocol
from tiebreak.scorers.session import ProtocolError

_FORM = (
    "FILE.py@NAME (or MODULE@NAME): the file or module that registers it, and the name that it "
    "registers."
)
HOW = f"add -T protocol={_FORM}"


def load_protocol(given: str | None) -> Protocol:
    """Load the protocol that a file or module registers: FILE.py@NAME or MODULE@NAME.

    A file is relative to the working directory; NAME alone is a built-in protocol.

    Raises:
        PrerequisiteError: the file is missing or cannot be run, or it does not register the name.
    """
    if not given:
        raise PrerequisiteError(f"No protocol: {HOW}")
    path, _, name = given.rpartition("@")
    try:
        if path:
            _load(path)
        return find_protocol(name)
    except ProtocolError as error:
        how = "" if path else f" For one of your own, give {_FORM}"
        raise PrerequisiteError(f"protocol is {given!r}. {error}{how}") from error


def check_settings(protocol: Protocol, settings: Mapping[str, Any], models: Sequence[str]) -> None:
    """Refuse settings that the protocol's function does not take, or not with these models.

    Raises:
        PrerequisiteError: the message says which, and which settings there are.
    """
    signature = inspect.signature(protocol.run)
    try:
        signature.bind(None, None, None, **settings)
    except TypeError as error:
        known = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
        raise PrerequisiteError(
            f"The settings of {protocol.name} do not fit: {error}. "
            f"There are: {', '.join(known) or 'none'}."
        ) from error
    try:
        protocol.check(settings, models)
    except ProtocolError as error:
        raise PrerequisiteError(str(error)) from error


def _load(path: str) -> None:
    file = Path(from_working_directory(path)).absolute() if path.endswith(".py") else None
    if file is not None and not file.is_file():
        raise PrerequisiteError(f"{file} does not exist: {HOW}")
    try:
        if file is None:
            importlib.import_module(path)
        else:
            # One module name per file, so that loading a file again replaces its module.
            module = f"tiebreak_protocol_{file.resolve().stem}"
            spec = importlib.util.spec_from_file_location(module, file)
            assert spec is not None
            assert spec.loader is not None
            sys.modules[module] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[module])
    except ProtocolError:
        raise
    except Exception as error:  # whatever other people's code raises
        kind = type(error).__name__
        lines = [
            at.lineno
            for at in traceback.extract_tb(error.__traceback__)
            if at.filename == str(file)
        ]
        where = f"{kind} in line {lines[-1]}" if lines else kind
        raise PrerequisiteError(f"{path} cannot be loaded: {error} ({where})") from error
