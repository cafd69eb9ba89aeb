from pathlib import Path

import pytest

from tests.candidates.builders import audited_pool
from tiebreak.candidates import Audit, audit


@pytest.fixture
def result(tmp_path: Path) -> Audit:
    return audit(audited_pool(tmp_path))


def test_counts(result: Audit) -> None:
    (found,) = result.benchmarks
    assert found.benchmark == "gsm8k"
    assert (found.n_items, found.n_dropped) == (4, 1)
    assert (found.n_native, found.n_saturated) == (3, 2)
    assert (found.n_pairs, found.n_identical_pairs) == (12, 3 + 0 + 1 + 0)
    assert found.n_all_identical == 1


def test_native_means_skip_what_is_undefined(result: Audit) -> None:
    models = result.benchmarks[0].models
    counts = [(m.model, m.n, m.n_native) for m in models]
    assert counts == [("[red]c", 4, 3), ("a", 4, 4), ("b", 4, 4)]
    assert [m.native_mean for m in models] == pytest.approx([2 / 3, 3 / 4, 3.5 / 4])
    assert result.benchmarks[0].models[1].native_metrics == ("match",)
