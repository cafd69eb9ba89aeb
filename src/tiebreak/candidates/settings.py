"""Settings in which models were asked: a difference of scores may be due to one of them."""

from collections.abc import Mapping, Sequence
from typing import Final

from tiebreak.text import listed

Settings = Mapping[str, Mapping[str, str]]
"""How each model was asked, as far as it is known: its settings by name, as text."""

Different = Mapping[str, Mapping[str, Sequence[str]]]
"""Settings that differ, by name: the models of each value, of "" those that have it not set."""

HARNESS: Final = "harness"
"""The setting that says by which harness a model was asked."""

_NAMED: Final = 3


def different(known: Settings) -> Different:
    """The settings in which the models of a benchmark differ; unknown ones differ from nothing."""
    settings: dict[str, dict[str, list[str]]] = {}
    # Each harness has names of its own for settings.
    for harness in sorted({given[HARNESS] for given in known.values() if HARNESS in given}):
        alike = {model: given for model, given in known.items() if given.get(HARNESS) == harness}
        for name in sorted({name for given in alike.values() for name in given}):
            values = {model: alike[model].get(name, "") for model in sorted(alike)}
            if len({*values.values()}) > 1:
                for model, value in values.items():
                    settings.setdefault(name, {}).setdefault(value, []).append(model)
    return settings


def ways(settings: Different) -> str:
    """The settings that differ in a sentence, of those asked alike a few models named; or ""."""
    parts = []
    for name, values in settings.items():
        shown = [
            f"{value or 'not set'} ({listed(models, most=_NAMED)})"
            for value, models in values.items()
        ]
        parts.append(f"{name}: {', '.join(shown)}")
    return f"the models were asked in different ways: {'; '.join(parts)}" if parts else ""
