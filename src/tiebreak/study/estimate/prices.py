"""Prices of models in dollars per million tokens, from the first source that has one.

The order is: a given price, a file in the form of Inspect's `--model-cost-config`, Inspect's own
list of models.
"""

from collections.abc import Sequence
from os import PathLike
from typing import Final, NamedTuple

from inspect_ai.model import ModelCost, ModelInfo, get_model_info
from pydantic import ValidationError

from tiebreak.plain_yaml import read_yaml_file
from tiebreak.prices import Price, read_prices
from tiebreak.study.estimate import EstimateError

# For a model missing in Inspect's list, `get_model_info` builds the model's provider. For these
# providers that only makes an idle client; others would load weights or start a server.
_HOSTED: Final = frozenset(
    """anthropic azureai bedrock deepseek fireworks google grok groq mistral openai openrouter
    perplexity together""".split()  # noqa: SIM905 - a table of words
)
_FORM: Final = (
    "A price file has the form of Inspect's --model-cost-config, a mapping of models to input, "
    "output, input_cache_write and input_cache_read in dollars per million tokens"
)


class PricedModel(NamedTuple):
    """A model that would answer, and its price (None: unknown)."""

    model: str
    price: Price | None = None

    def cost(self, tokens_in: float, tokens_out: float) -> float | None:
        """The cost of a call in US dollars, None without a price."""
        return None if self.price is None else self.price.cost(tokens_in, tokens_out)


def read_price_file(path: str | PathLike[str]) -> dict[str, Price]:
    """Prices by model from a YAML or JSON file in the form of Inspect's `--model-cost-config`.

    Raises:
        EstimateError: the file does not exist, or has another form.
    """
    try:
        read = read_yaml_file(path)
    except ValueError as error:
        raise EstimateError(f"{path} {error}. {_FORM}") from error
    try:
        costs = {str(model): ModelCost.model_validate(cost) for model, cost in read.items()}
    except (AttributeError, ValidationError) as error:
        raise EstimateError(f"{path} is not a price file. {_FORM}") from error
    prices = {model: Price(cost.input, cost.output) for model, cost in costs.items()}
    if wrong := [model for model, price in prices.items() if not price.is_sound]:
        raise EstimateError(
            f"{path}: the price of {wrong[0]!r:.80} is not in dollars per million tokens, 0 or more"
        )
    return prices


def known_prices(
    asked: Sequence[str], texts: Sequence[str] = (), path: str | PathLike[str] | None = None
) -> dict[str, Price]:
    """Prices of all models in a file, and given or listed prices of the models that are asked.

    Raises:
        EstimateError: the file or a text cannot be read, or a text is for a model that is not
            asked.
    """
    known = read_price_file(path) if path is not None else {}
    try:
        known |= read_prices(texts, asked)
    except ValueError as error:
        raise EstimateError(str(error)) from error
    for model in asked:
        if model not in known and (listed := listed_price(model)):
            known[model] = listed
    return known


def listed_price(model: str) -> Price | None:
    """The price in Inspect's list of models, None if that has none."""
    info = model_info(model)
    return Price(info.cost.input, info.cost.output) if info and info.cost else None


def reasons(model: str) -> bool | None:
    """Whether a model reasons before it replies, None if Inspect does not know the model."""
    info = model_info(model)
    return None if info is None else bool(info.reasoning)


def model_info(model: str) -> ModelInfo | None:
    """Inspect's data about a model, None for models without a hosted provider."""
    return get_model_info(model) if model.split("/", 1)[0] in _HOSTED else None
