"""What every verb hands on.

The functions that do the work do not run here; their results are tested where they are.
"""

import shlex
from pathlib import Path

import pytest

from tests.cli.commands import CASES, Case
from tests.cli.handed import Enough, Handed, tiebreak


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.command[:30])
def test_what_a_verb_hands_on(
    case: Case, handed: Handed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for function, result in case.before.items():
        handed.instead(function, result)
    handed.instead(case.function, Enough())
    with pytest.raises(Enough):
        tiebreak(*shlex.split(case.command), env=case.env)
    assert handed.made[-1] == (case.function.rpartition(".")[2], case.args, case.given)
