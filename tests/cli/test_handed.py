"""What every verb hands on.

The functions that do the work do not run here; their results are tested where they are.
"""

import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import CASES, Case
from tests.cli.handed import Enough, Handed, tiebreak


def arguments(
    function: Callable[..., object],
    args: Sequence[Any],
    given: Mapping[str, Any],
    more: Callable[..., object] | None,
) -> dict[str, Any]:
    """All arguments of a call, those by default too; nothing, None and empty, is None."""
    bound = inspect.signature(function).bind(*args, **given)
    bound.apply_defaults()
    values = dict(bound.arguments)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            assert more is not None
            defaults = {p.name: p.default for p in inspect.signature(more).parameters.values()}
            values = defaults | values.pop(name) | values
    return {name: None if value in ((), {}) else value for name, value in values.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.command[:30])
def test_what_a_verb_hands_on(
    case: Case, handed: Handed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module, _, name = case.function.rpartition(".")
    function = getattr(import_module(module), name)
    for target, result in case.before.items():
        handed.instead(target, result)
    handed.instead(case.function, Enough())
    with pytest.raises(Enough):
        tiebreak(*shlex.split(case.command), env=case.env)
    called, args, given = handed.made[-1]
    assert called == name
    expected = arguments(function, case.args, case.given, case.more)
    assert arguments(function, args, given, case.more) == expected
