"""Planted models under the names that the pages use."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from inspect_ai._util import registry

from tests.plugin.planted_providers import answer_of, planted


@contextmanager
def planted_providers() -> Iterator[None]:
    """In this process, and in those that it starts."""
    entries = planted()
    there = registry._registry
    real = {key: there[key] for key in entries}
    with patch.dict("os.environ", {"PLANTED_PROVIDERS": "1"}):
        there.update(entries)
        try:
            yield
        finally:  # what was registered meanwhile stays
            there.update(real)


__all__ = ["answer_of", "planted_providers"]
