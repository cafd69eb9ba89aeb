from collections.abc import Sequence

import pytest

from tiebreak.candidates import namesakes


@pytest.mark.parametrize(
    ("name", "others", "found"),
    [
        ("openai/gpt-5", ["gpt-5", "gpt-5-mini", "o3"], ["gpt-5"]),
        ("gpt-5", ["openai/gpt-5", "azure/gpt-5"], ["openai/gpt-5", "azure/gpt-5"]),
        ("gpt-5", ["openai/gpt-5", "gpt-5"], ["gpt-5"]),
        ("hf/meta/llama", ["meta/llama", "llama", "other/llama"], ["meta/llama", "llama"]),
        ("5", ["gpt-5"], []),
        ("gpt-5", [], []),
    ],
)
def test_what_may_be_the_same_model(name: str, others: Sequence[str], found: list[str]) -> None:
    assert namesakes(name, others) == found
