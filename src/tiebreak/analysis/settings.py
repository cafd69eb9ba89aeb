"""Settings in which models were asked differently: a difference of scores may be due to them."""

from collections.abc import Mapping, Sequence

from tiebreak.ranking_logs.log import Settings

Different = Mapping[str, Mapping[str, Sequence[str]]]
"""Settings that differ, by name: the models of each value, of "" those that have it not set."""


def different(known: Settings) -> Different:
    """The settings in which the models of a benchmark differ."""
    found: dict[str, dict[str, list[str]]] = {}
    # Each harness has names of its own for settings, and of the two only Inspect has solvers.
    for solved in (True, False):
        alike = {model: own for model, own in known.items() if own and ("solver" in own) is solved}
        for name in sorted({name for own in alike.values() for name in own}):
            values = {model: alike[model].get(name, "") for model in sorted(alike)}
            if len({*values.values()}) > 1:
                for model, value in values.items():
                    found.setdefault(name, {}).setdefault(value, []).append(model)
    return found
