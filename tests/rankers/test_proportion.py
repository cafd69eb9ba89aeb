import math

import pytest

from tiebreak.rankers import wilson


def by_hand(successes: int, n: int) -> tuple[float, float]:
    """Wilson (1927): (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n), z = 1.959964."""
    z = 1.959963984540054
    p = successes / n
    middle = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


@pytest.mark.parametrize(("successes", "n"), [(93, 96), (46, 48), (0, 5), (5, 5), (1, 2)])
def test_wilson_is_the_formula(successes: int, n: int) -> None:
    result = wilson(successes, n)
    assert result.rate == successes / n
    assert (result.lower, result.upper) == pytest.approx(by_hand(successes, n))


def test_nothing_observed_is_undefined_and_excludes_nothing() -> None:
    result = wilson(0, 0)
    assert all(math.isnan(value) for value in (result.rate, result.lower, result.upper))
    assert not result.excludes(0.5)


@pytest.mark.parametrize(
    ("successes", "n", "level", "message"),
    [(3, 2, 0.95, "3 of 2"), (-1, 2, 0.95, "-1 of 2"), (1, 2, 1.0, "level"), (0, 0, 0, "level")],
)
def test_wilson_refuses_nonsense(successes: int, n: int, level: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wilson(successes, n, level=level)


def test_excludes() -> None:
    assert wilson(93, 96).excludes(0.5)
    assert not wilson(50, 96).excludes(0.5)
