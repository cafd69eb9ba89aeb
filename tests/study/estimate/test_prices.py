"""Prices: what is read, who goes before whom, and that no provider is built to find one."""

import json
from pathlib import Path

import inspect_ai.model
import pytest
from inspect_ai.model import ModelCost, ModelInfo

import tiebreak.study.estimate.prices as prices
from tiebreak.prices import Price
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.cost import read_judges, read_protocols
from tiebreak.study.estimate.prices import listed_price, model_info, read_price_file

COST = {"input": 1, "output": 2, "input_cache_write": 3, "input_cache_read": 4}


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


def test_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    listed = ModelInfo(cost=ModelCost(**COST))
    monkeypatch.setattr(prices, "get_model_info", lambda model: listed)
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"openai/a": {**COST, "input": 7}, "openai/b": COST}))

    def price(model: str, *given: str) -> Price | None:
        [variant] = read_protocols("pointwise")
        return read_judges([variant], model, prices=given, price_file=file).price

    assert price("openai/a", "5,5", "openai/a=6,6") == Price(6, 6)
    assert price("openai/b", "5,5") == Price(5, 5)
    assert price("openai/a") == Price(7, 2)
    assert price("openai/c") == Price(1, 2)
    assert price("hf/c") is None


@pytest.mark.parametrize("model", ["planted/x", "hf/some/weights", "vllm/x", "mockllm/model"])
def test_no_provider_is_built(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    monkeypatch.setattr(inspect_ai.model._model, "get_model", lambda *a, **k: built.append(a))
    assert model_info(model) is None
    assert listed_price(model) is None
    info = model_info("openai/gpt-5")
    assert info is not None
    assert info.reasoning
    assert not built
