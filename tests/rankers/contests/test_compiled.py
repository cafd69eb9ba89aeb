import importlib.util

import numpy as np
import pytest

from tests.rankers.contests.cases import CASES, Case
from tiebreak.rankers.contests import expected_wins
from tiebreak.rankers.contests.expected_wins import csd
from tiebreak.rankers.errors import MissingPackageError

needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="numba is not installed"
)
SIZES = [
    *CASES[1::6],
    Case(29, 12, 100, 1),
    Case(33, 5, 3, (1, 0, 40, 0, 1)),  # sets of more than 32 models, many ties
    Case(130, 4, 50, 3),  # counts beyond 8 bits
    Case(3, 130, 3, 0),  # scores beyond 7 bits
]


@needs_numba
@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", SIZES, ids=str)
def test_same_bytes(case: Case, weighted: bool) -> None:
    weights = np.arange(1, case.rounds + 1) if weighted else None
    for control_variate in (False, True):
        slow, fast = (
            csd(
                case.scores,
                eliminate=case.eliminate,
                iterations=1030,  # ends within a chunk
                weights=weights,
                control_variate=control_variate,
                compiled=flag,
            )
            for flag in (False, True)
        )
        assert fast.expected_wins.tolist() == slow.expected_wins.tolist()
        assert fast.standard_error.tolist() == slow.standard_error.tolist()


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[numba\]'"):
        csd([[1, 2], [2, 1]], compiled=True)
    monkeypatch.setattr(expected_wins, "_COMPILE_FROM", 1)
    csd([[1, 2], [2, 1]], iterations=10)


def test_auto_waits_for_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    assert expected_wins._use_compiled("auto", 2 * 10**8)
    assert not expected_wins._use_compiled("auto", 2 * 10**8 - 1)
    assert expected_wins._use_compiled(True, 1)
    assert not expected_wins._use_compiled(False, 10**12)
