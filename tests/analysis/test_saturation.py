import math
from collections.abc import Mapping

import numpy as np
import pytest

from tiebreak.analysis.saturation import saturation
from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey, audit
from tiebreak.rankers.errors import RankingError

NAN = math.nan


def pool_of(scores: Mapping[ItemKey, Mapping[str, float]]) -> CandidatePool:
    items = tuple(Item(key, str(key), "?", "!") for key in scores)
    candidates = {
        key: {model: Candidate(key, model, "a", native_score=s) for model, s in row.items()}
        for key, row in scores.items()
    }
    return CandidatePool(items, candidates)


def test_one_result_per_benchmark_by_hand() -> None:
    pool = pool_of(
        {
            ItemKey("mmlu", "1"): {"b": 1, "a": 1},
            ItemKey("gsm8k", "1"): {"a": 1, "c": 1, "b": 1},
            ItemKey("gsm8k", "2"): {"a": 0, "b": 1, "c": 1},
            ItemKey("gsm8k", "3"): {"a": 0, "b": 1, "c": NAN},
        }
    )
    mmlu, gsm8k = saturation(pool)
    assert (mmlu.benchmark, mmlu.models) == ("mmlu", ("a", "b"))
    assert (gsm8k.benchmark, gsm8k.models) == ("gsm8k", ("a", "b", "c"))
    assert (mmlu.saturation.agree.successes, mmlu.saturation.agree.n) == (1, 1)
    assert (gsm8k.saturation.agree.successes, gsm8k.saturation.agree.n) == (1, 3)
    np.testing.assert_allclose(gsm8k.saturation.means, [1 / 3, 1, 1])
    assert gsm8k.saturation.order == (1, 2, 0)
    assert [cut.n_items for cut in gsm8k.saturation.cuts] == [2, 2]


def test_an_item_in_several_epochs_counts_once() -> None:
    # Means ½ and ½ in the first item (they agree), 1 and 0 in the second.
    pool = pool_of(
        {
            ItemKey("gsm8k", "1", 1): {"a": 1, "b": 0},
            ItemKey("gsm8k", "1", 2): {"a": 0, "b": 1},
            ItemKey("gsm8k", "2", 1): {"a": 1, "b": 0},
            ItemKey("gsm8k", "2", 2): {"a": NAN, "b": 0},
        }
    )
    [result] = saturation(pool)
    assert (result.saturation.agree.successes, result.saturation.agree.n) == (1, 2)
    np.testing.assert_allclose(result.saturation.means, [0.75, 0.25])
    # Differences 0 and 1: sd 1/√2, n 2; 2.80159 · ½.
    assert result.saturation.detectable[0, 1] == pytest.approx(1.40079, abs=1e-5)


def test_saturated_items_are_those_of_the_audit() -> None:
    generator = np.random.default_rng(0)
    pool = pool_of(
        {
            ItemKey("humaneval", str(item)): {
                model: float(generator.random() < 0.9) for model in "abcd"
            }
            for item in range(50)
        }
    )
    [result], [counted] = saturation(pool), audit(pool).benchmarks
    assert 0 < counted.n_saturated < 50
    assert result.saturation.agree.successes == counted.n_saturated
    assert result.saturation.agree.n == counted.n_native


def test_options_are_passed_on() -> None:
    pool = pool_of({ItemKey("m", str(n)): {"a": n % 2, "b": n % 3} for n in range(12)})
    [strict], [loose] = saturation(pool, level=0.99, power=0.9), saturation(pool)
    assert (strict.saturation.level, strict.saturation.power) == (0.99, 0.9)
    # (2.57583 + 1.28155) / (1.95996 + 0.84162)
    ratio = strict.saturation.typical_detectable / loose.saturation.typical_detectable
    assert ratio == pytest.approx(3.85738 / 2.80159, abs=1e-4)
    with pytest.raises(RankingError):
        saturation(pool, level=2)


def test_an_empty_pool_has_no_benchmark() -> None:
    assert saturation(CandidatePool((), {})) == ()
