"""Prices as they are typed: US dollars per million tokens in and out, of one model or of all."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float

    @property
    def is_sound(self) -> bool:
        """Whether both are numbers from 0 on, and below a million."""
        return 0 <= self.input < _MILLION and 0 <= self.output < _MILLION

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """What a call costs in US dollars."""
        return tokens_in * (self.input / 1e6) + tokens_out * (self.output / 1e6)


def read_prices(texts: Sequence[str], asked: Collection[str]) -> dict[str, Price]:
    """The prices that are given for models that are asked: named ones, then one for all others.

    Each text is `IN,OUT` or `MODEL=IN,OUT`; the first for a model counts.

    Raises:
        ValueError: a text is none of these, or names another model.
    """
    given = [read_price(text) for text in texts]
    if strangers := [model for model, _ in given if model is not None and model not in asked]:
        known = ", ".join(asked) or "none"
        raise ValueError(
            f"A price for {strangers[0]}, which is not asked. The models asked: {known}"
        )
    prices: dict[str, Price] = {}
    for named, price in sorted(given, key=lambda pair: pair[0] is None):
        for model in asked if named is None else (named,):
            prices.setdefault(model, price)
    return prices


def read_price(text: str) -> tuple[str | None, Price]:
    """Read `IN,OUT` or `MODEL=IN,OUT`; the model is None where none is named.

    Raises:
        ValueError: anything else.
    """
    model, _, pair = text.rpartition("=")
    try:
        price = Price(*map(float, pair.split(",")))
    except (ValueError, TypeError):
        price = Price(-1, -1)
    if not price.is_sound:
        raise ValueError(
            f"{text!r} is not a price: give dollars per million tokens in and out, such as "
            "1.25,10 or openai/gpt-5=1.25,10"
        )
    return model or None, price
