"""Who is who: names in a human ranking and names of candidates."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.analysis.alignment import match_names
from tiebreak.analysis.errors import AnalysisError

MATCHES = {
    "the same": (["a", "b"], ["b", "a"], {"a": "a", "b": "b"}),
    "a longer candidate": (["gpt-5"], ["openai/gpt-5"], {"openai/gpt-5": "gpt-5"}),
    "a longer name": (["openai/gpt-5"], ["gpt-5"], {"gpt-5": "openai/gpt-5"}),
    "part of a path": (["x/gpt-5"], ["y/x/gpt-5"], {"y/x/gpt-5": "x/gpt-5"}),
    "another maker": (["azure/gpt-5"], ["openai/gpt-5"], {}),
    "no slash before": (["5"], ["gpt-5"], {}),
    "what stands after": (["gpt-5"], ["gpt-5/greedy"], {}),
    "other case": (["GPT-5"], ["gpt-5"], {}),
    # The namesakes are taken; what is left is no candidate, or fits only one.
    "namesakes first": (
        *(["gpt-5", "openai/gpt-5"], ["openai/gpt-5", "gpt-5"]),
        {"openai/gpt-5": "openai/gpt-5", "gpt-5": "gpt-5"},
    ),
    "a namesake taken": (["openai/gpt-5", "gpt-5"], ["gpt-5"], {"gpt-5": "gpt-5"}),
    "one fit left": (
        *(["openai/gpt-5", "gpt-5"], ["openai/gpt-5", "azure/gpt-5"]),
        {"openai/gpt-5": "openai/gpt-5", "azure/gpt-5": "gpt-5"},
    ),
}


@pytest.mark.parametrize(("names", "models", "found"), MATCHES.values(), ids=MATCHES)
def test_matches(names: list[str], models: list[str], found: dict[str, str]) -> None:
    assert match_names(names, models) == found
    # The other way round the same pairs fit.
    assert match_names(models, names) == {name: model for model, name in found.items()}


def test_a_name_that_fits_two_models() -> None:
    with pytest.raises(AnalysisError, match="'gpt-5' in the human ranking could be 'a/gpt-5'"):
        match_names(["gpt-5"], ["a/gpt-5", "b/gpt-5"])


def test_a_model_that_fits_two_names() -> None:
    with pytest.raises(AnalysisError, match="'a/gpt-5' and 'b/gpt-5' could both be 'gpt-5'"):
        match_names(["a/gpt-5", "b/gpt-5"], ["gpt-5"])


PATHS = st.lists(st.sampled_from(["x", "y", "m"]), min_size=1, max_size=2).map("/".join)


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(PATHS, unique=True), st.lists(PATHS, unique=True))
def test_by_definition(names: list[str], models: list[str]) -> None:
    try:
        found = match_names(names, models)
    except AnalysisError:
        return
    assert len(set(found.values())) == len(found)
    for model in models:
        if model in names:
            assert found[model] == model
        elif model in found:
            short, long = sorted((model, found[model]), key=len)
            assert long.split("/")[1:] == [short]
