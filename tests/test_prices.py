"""Prices as they are typed."""

import pytest

from tiebreak.prices import Price, read_price, read_prices


@pytest.mark.parametrize(
    ("text", "model", "price"),
    [
        ("1.25,10", None, Price(1.25, 10)),
        ("0,0", None, Price(0, 0)),
        ("openai/gpt-5=1.25, 10", "openai/gpt-5", Price(1.25, 10)),
        ("planted/noise=0.3=1,2", "planted/noise=0.3", Price(1, 2)),
    ],
)
def test_read(text: str, model: str | None, price: Price) -> None:
    assert read_price(text) == (model, price)


@pytest.mark.parametrize("text", ["", "3", "1,2,3", "a,b", "-1,2", "nan,1", "1,inf", "$1,$2"])
def test_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"dollars per million tokens in and out"):
        read_price(text)


def test_a_named_price_goes_before_one_for_all_and_the_first_before_others() -> None:
    given = ("1,1", "a/b=2,2", "3,3", "a/b=4,4")
    assert read_prices(given, ["a/b", "c/d"]) == {"a/b": Price(2, 2), "c/d": Price(1, 1)}
    assert read_prices(["a/b=2,2"], ["a/b", "c/d"]) == {"a/b": Price(2, 2)}
    with pytest.raises(ValueError, match=r"A price for c/d, which is not asked.*asked: none"):
        read_prices(["c/d=2,2"], [])
