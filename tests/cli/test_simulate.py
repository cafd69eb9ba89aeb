"""The verb `simulate`: options reach the study, mistakes give one message."""

import json
from functools import partial

from tests.cli.handed import tiebreak, wrong_use

run = partial(tiebreak, "simulate")


def test_swap_is_each_protocols_own_by_default() -> None:
    """A sample in both orders."""
    options = ("--models", "4", "--items", "20", "--repeats", "1", "--json")
    chosen = ("--protocol", "flat_bracket", "--protocol", "sorted")
    usual, never = (
        {row["protocol"]: row["calls_by_kind"] for row in json.loads(done.output)["rows"]}
        for done in (run(*options, *chosen), run(*options, *chosen, "--swap", "never"))
    )
    assert 3 == never["flat_bracket"]["match"] < usual["flat_bracket"]["match"] <= 4
    assert never["sorted"]["match"] < usual["sorted"]["match"] <= never["sorted"]["match"] + 1


def test_what_it_prints() -> None:
    wrong_use(__file__, "simulate.txt")
