"""Parity with pref_voting and svvamp; `make_peer_answers.py` says what each answer means."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tiebreak.rankers.aggregation import aggregate
from tiebreak.rankers.consensus import Consensus
from tiebreak.rankers.kemeny.solve import kemeny_young
from tiebreak.rankers.profile import within_ballots
from tiebreak.rankers.voting import borda, copeland, dodgson, irv

Case = dict[str, Any]
FILE = Path(__file__).parents[1] / "peer_answers.json"
CASES: list[Case] = json.loads(FILE.read_text(encoding="utf-8"))


def cases(answer: str) -> list[Case]:
    """The cases to which the peers gave such an answer."""
    found = [case for case in CASES if answer in case["answers"]]
    assert len(found) > 50
    return found


def ranks(case: Case) -> NDArray[np.float64]:
    table = np.array(case["ranks"], dtype=np.float64)
    table[table == 0] = np.nan
    return table


def winners(consensus: Consensus) -> list[int]:
    return list(consensus.groups[0])


def test_borda() -> None:
    for case in cases("borda"):
        table = ranks(case)
        n_ballots, n = table.shape
        theirs = np.array(case["answers"]["borda"])
        if case["kind"] != "strict":
            # Below minus above, over M(N − 1) comparisons, is twice the count less M(N − 1).
            theirs = (theirs + n_ballots * (n - 1)) / 2
        np.testing.assert_array_equal(borda(table, unranked="last").scores, theirs)


def test_copeland() -> None:
    for case in cases("copeland"):
        np.testing.assert_array_equal(copeland(ranks(case)).scores, case["answers"]["copeland"])


@pytest.mark.slow
def test_dodgson() -> None:
    for case in cases("dodgson"):
        np.testing.assert_array_equal(dodgson(ranks(case)).scores, case["answers"]["dodgson"])


def test_irv_where_the_last_go_out_together() -> None:
    for case in cases("irv"):
        theirs = np.array(case["answers"]["irv"], dtype=np.float64)
        ours = irv(ranks(case), ties="together")
        np.testing.assert_array_equal(ours.ranks, within_ballots(theirs))
    for case in cases("irv_winners"):
        assert winners(irv(ranks(case), ties="together")) == case["answers"]["irv_winners"]


def test_irv_where_one_goes_out_at_a_time() -> None:
    compared = 0
    for case in cases("irv_put"):
        ours = irv(ranks(case))
        if len(set(ours.scores)) == len(ours.scores):
            compared += 1
            assert winners(ours)[0] in case["answers"]["irv_put"]
            if len(case["answers"]["irv_put"]) == 1 and "svvamp_irv" in case["answers"]:
                assert winners(ours) == [case["answers"]["svvamp_irv"]]
    assert compared > 40


@pytest.mark.slow
def test_kemeny() -> None:
    for case in cases("kemeny"):
        ours = kemeny_young(ranks(case), max_orders=1000)
        assert sorted({order[0] for order in ours.orders}) == case["answers"]["kemeny"]


@pytest.mark.parametrize("method", ["borda", "copeland", "kemeny_young"])
def test_svvamp(method: str) -> None:
    name = "svvamp_" + method.removesuffix("_young")
    for case in (case for case in CASES if name in case["answers"]):
        assert winners(aggregate(ranks(case), method)) == [case["answers"][name]]
    assert sum(name in case["answers"] for case in CASES) > 30
