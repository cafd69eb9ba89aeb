"""Where a bracket saves nothing, by the calls that protocols really make."""

from dataclasses import replace
from math import comb
from typing import Any

import pytest

from tests.study.estimate.builders import ONE, contests
from tiebreak.scorers.protocols import read_variant
from tiebreak.study.estimate.cost import few_models
from tiebreak.study.estimate.estimate import Judges, estimate

LABELS = ("seal", "full_pairwise", "round_robin")


def found(n_models: int, labels: tuple[str, ...] = LABELS) -> Any:
    variants = [read_variant(label) for label in labels]
    return estimate(contests(4, n_models), variants, Judges("p/j"), ONE)


@pytest.mark.slow
@pytest.mark.parametrize(("n_models", "saves"), [(3, "nothing"), (4, "little"), (8, None)])
def test_what_few_models_save(n_models: int, saves: str | None) -> None:
    result = found(n_models)
    said = few_models(result)
    if saves is None:
        assert said is None
        return
    calls = {row.label: row.calls_per_item for row in result.protocols}
    assert said is not None
    assert said.startswith(f"With {n_models} models a bracket saves {saves}: ")
    assert f"every pair in {comb(n_models, 2) + 1:.1f} calls an item" in said
    assert f"seal asks {calls['seal'].likely:.1f} (" in said
    assert said.endswith(f"round_robin {calls['round_robin'].likely:.1f}")
    assert (comb(n_models, 2) + 1 <= calls["seal"].likely) == (saves == "nothing")


def test_without_both_protocols_nothing_is_said() -> None:
    assert few_models(found(3, ("full_pairwise",))) is None
    assert few_models(replace(found(3, ("full_pairwise",)), protocols=())) is None
