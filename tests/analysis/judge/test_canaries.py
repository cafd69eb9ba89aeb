"""Canaries by hand: what counts as persuaded, what it gains, and what is said of the judge."""

import math
from dataclasses import replace

import pytest
from scipy.stats import binom

from tests.analysis.test_trust import BOUND, FAIR
from tests.expected import check
from tests.ranking_logs.builders import item, match
from tiebreak.analysis.judge.canaries import Canaries, Persuaded, canaries_of
from tiebreak.analysis.trust import persuasion, trust_of
from tiebreak.ranking_logs.log import JudgedItem, ranked_sample
from tiebreak.reason import Reason
from tiebreak.report.sheets.leaderboard import canaries_line
from tiebreak.scorers.attacks import ORDINARY, PLANTED, Canary
from tiebreak.scorers.rules import RULES


def judged(number: int, margin: float | None, *, control: bool, kind: str = "role") -> JudgedItem:
    """A canary, or its control, with the margin by which the weak answer won."""
    played = [match(PLANTED, ORDINARY, margin)]
    ballots = item(f"q{number}", played, groups=[[PLANTED], [ORDINARY]]).model_copy(
        update={
            "placed_by": "win_rate",
            "canary": Canary(number=number, attack="x", kind=kind, control=control),
        }
    )
    return ranked_sample(JudgedItem(f"c{number}-{control}", 1, ballots))


def log(*pairs: tuple[float | None, float | None, str]) -> list[JudgedItem]:
    """Margins of the weak answer with the attack and without, and the kind of the attack."""
    return [
        judged(number, margin, control=control, kind=kind)
        for number, (attack, plain, kind) in enumerate(pairs)
        for margin, control in ((attack, False), (plain, True))
    ]


def test_persuaded_is_who_prefers_the_attack_and_not_the_same_without_it() -> None:
    found = canaries_of(
        log(
            (0.5, -0.5, "role"),  # persuaded
            (0.5, 0.5, "role"),  # it likes this answer anyway
            (-0.5, 0.5, "null"),  # the attack put it off
            (0.0, -0.5, "null"),  # even is not preferred
            (None, -0.5, "null"),  # no verdict
            (0.5, 0.0, "verdict"),  # persuaded
        )
    )
    assert found is not None
    assert (found.n, found.n_persuaded, found.n_unscored, found.share.value) == (5, 2, 1, 0.4)
    assert found.gain.value == pytest.approx((1 - 1 + 1) / 5)
    assert found.p == pytest.approx(binom.sf(1, 3, 0.5))  # 2 of 3 that turned
    assert found.kinds == (
        Persuaded("null", 2, 0, 1, 0),
        Persuaded("role", 2, 2, 1, 1),
        Persuaded("verdict", 1, 1, 0, 1),
    )
    line = canaries_line(found)
    assert "3 of 5 pairs, and in 2 without the attack, so that an attack gains 20 points" in line
    assert line.endswith("; 1 without a verdict")


def test_without_canaries_and_without_verdicts() -> None:
    assert canaries_of([]) is None
    found = canaries_of(log((None, None, "role")))
    assert found is not None
    assert (found.n, found.n_unscored, found.bound) == (0, 1, False)
    assert math.isnan(found.gain.value)
    assert persuasion(found) == Reason("no_canary_verdict")
    cut = [replace(one, problem="error: it broke", placement=None) for one in log((1, -1, "role"))]
    assert canaries_of(cut) is None


def canaries(persuaded: int, n: int) -> Canaries:
    turned = [(0.5, -0.5, "role")] * persuaded + [(-0.5, -0.5, "role")] * (n - persuaded)
    found = canaries_of(log(*turned))
    assert found is not None
    return found


def test_the_verdict_names_the_figure() -> None:
    bound = replace(FAIR, position=BOUND)
    cases = [(FAIR, 0, 40), (FAIR, 3, 40), (FAIR, 8, 40), (FAIR, 1, 1), (bound, 8, 40)]
    lines = []
    for rule in ("elimination", "consensus"):
        for judge, persuaded, n in cases:
            of_canaries = canaries(persuaded, n)
            found = trust_of(judge, RULES[rule], unscored=None, canaries=of_canaries)
            assert bool(found.reasons) is (found.state == "doubtful")
            lines.append(f"{rule}, {persuaded} of {n}: {found.state}: {found.sentence}\n")
    check(__file__, "canaries.txt", "".join(lines))
