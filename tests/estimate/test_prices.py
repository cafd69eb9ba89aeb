"""Prices: what is read, who goes before whom, and that no provider is built to find one."""

import json
from pathlib import Path

import inspect_ai.model
import pytest
from inspect_ai.model import ModelCost, ModelInfo

import tiebreak.estimate.prices as prices
from tiebreak.estimate import EstimateError
from tiebreak.estimate.prices import (
    Price,
    find_price,
    model_info,
    read_price,
    read_price_file,
)

COST = {"input": 1, "output": 2, "input_cache_write": 3, "input_cache_read": 4}


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
    with pytest.raises(EstimateError, match=r"dollars per million tokens in and out"):
        read_price(text)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_file(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"prices.{form}"
    lines = "".join(f"  {key}: {value}\n" for key, value in COST.items())
    file.write_text(json.dumps({"a/b": COST}) if form == "json" else f"a/b:\n{lines}")
    assert read_price_file(file) == {"a/b": Price(1, 2)}


@pytest.mark.parametrize("text", ["[]", "", "a/b: 3", "a/b: {input: 1}", "a: [", "a/b: {input: x}"])
def test_file_of_another_form(text: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(EstimateError, match="input, output, input_cache_write"):
        read_price_file(file)
    with pytest.raises(EstimateError, match="does not exist"):
        read_price_file(tmp_path / "nowhere.yaml")


def test_order(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = ModelInfo(cost=ModelCost(**COST))
    monkeypatch.setattr(prices, "get_model_info", lambda model: listed)
    given = [(None, Price(5, 5)), ("openai/a", Price(6, 6))]
    filed = {"openai/a": Price(7, 7), "openai/b": Price(8, 8)}
    assert find_price("openai/a", given, filed) == Price(6, 6)
    assert find_price("openai/b", given, filed) == Price(5, 5)
    assert find_price("openai/b", given[1:], filed) == Price(8, 8)
    assert find_price("openai/c", given[1:], filed) == Price(1, 2)
    assert find_price("hf/c", [], {}) is None


def test_a_price_that_nobody_knows() -> None:
    assert find_price("openai/gpt-5", [], {}) is None


@pytest.mark.parametrize("model", ["planted/x", "hf/some/weights", "vllm/x", "mockllm/model"])
def test_no_provider_is_built(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    monkeypatch.setattr(inspect_ai.model._model, "get_model", lambda *a, **k: built.append(a))
    assert model_info(model) is None
    assert find_price(model, [], {}) is None
    info = model_info("openai/gpt-5")
    assert info is not None
    assert info.reasoning
    assert not built
