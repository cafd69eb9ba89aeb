"""Names of models: harnesses, providers and leaderboards do not write them alike."""

from collections.abc import Iterable


def namesakes(name: str, others: Iterable[str]) -> list[str]:
    """Which names may mean the same model: `openai/gpt-5` is called `gpt-5` elsewhere.

    The same name alone where it occurs; else all that are this one without what stands before a
    slash, or of which this one is.
    """
    there = list(others)
    if name in there:
        return [name]
    return [other for other in there if name.endswith(f"/{other}") or other.endswith(f"/{name}")]
