"""Prices given as options: US dollars per million input and output tokens, per model or for all."""

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
        """Whether both prices are at least 0 and below a million."""
        return 0 <= self.input < _MILLION and 0 <= self.output < _MILLION

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Cost of a call in US dollars."""
        return tokens_in * (self.input / 1e6) + tokens_out * (self.output / 1e6)


def read_prices(texts: Sequence[str], asked: Collection[str]) -> dict[str, Price]:
    """Prices by model: those given by name, then a price without a name for all other models.

    Each text is `IN,OUT` or `MODEL=IN,OUT`; the first for a model counts. `asked` are the models.

    Raises:
        ValueError: a text has another form, or names a model that is not in `asked`.
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
    """Read `IN,OUT` or `MODEL=IN,OUT`; the model is None if no model is named.

    Raises:
        ValueError: the text has another form.
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
