from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.cases import cases
from tests.scorers.judges import NotingJudge, judged
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.placement import board_scores, place, results
from tiebreak.scorers.round_robin import check_rounds
from tiebreak.scorers.schedule import n_rounds
from tiebreak.scorers.session import ProtocolError

NAMES = "abcdefgh"


def contests(n_models: int, n_items: int, twins: bool = False) -> list[Contest]:
    """Items with answers of drawn quality; with twins up to half of them are another's."""
    made = []
    for item in range(n_items):
        rng = Random(f"{item} {twins}")
        names = list(NAMES[:n_models])
        rng.shuffle(names)
        copies = rng.randrange(n_models // 2 + 1) if twins else 0
        own, more = names[copies:], names[:copies]
        contest = planted_contest(
            {name: rng.gauss(0, 1) for name in own},
            item_id=str(item),
            twins={own[0]: more[::2], own[-1]: more[1::2]},
        )
        made.append(replace(contest, position=item, n_items=n_items))
    return made


def play(protocol: str, items: list[Contest], **settings: Any) -> list[ItemBallots]:
    found = []
    for one in items:
        judge = NotingJudge({model: float(a.split("=")[1]) for model, a in one.answers.items()})
        found.append(judged(protocol, one, judge, **{"swap": "never", **settings}))
    return found


def scores(items: list[ItemBallots]) -> list[float]:
    found = [one.model_copy(update={"placed_by": "points"}) for one in items]
    models = sorted({model for one in found for model in one.models})
    table = board_scores(found, [place(one) for one in found], models)
    return [float(score) for score in np.nanmean(table, axis=0)]


def twice(ballots: ItemBallots) -> set[frozenset[str]]:
    """The pairs that were asked in both orders."""
    return {frozenset((m.high, m.low)) for m in ballots.matches if len(m.verdicts) == 2}


@pytest.mark.parametrize(
    ("n_models", "rounds", "share"),
    [(8, 1, 1 / 5), (8, 3, 3 / 5), (8, 6, 1), (4, 1, 1 / 3), (12, 1, 1 / 5)],
)
def test_a_sample_of_both_orders_is_drawn_from_what_is_asked(
    n_models: int, rounds: int, share: float
) -> None:
    items = contests(n_models, 60)
    found = play("round_robin", items, rounds=rounds, swap="sample")
    drawn = [pair for one in found for pair in twice(one)]
    assert len(drawn) == round(60 * share)
    assert all(len(twice(one)) <= 1 for one in found)
    assert len(set(drawn)) > len(drawn) / 4  # of all pairs, over the items
    more = play("round_robin", items, rounds=rounds + 1, swap="sample")
    if rounds + 1 < n_rounds(n_models):
        assert all(twice(one) <= twice(two) for one, two in zip(found, more, strict=True))
    assert not any(map(twice, play("round_robin", items, rounds=rounds)))


@pytest.mark.parametrize("twins", [False, True])
@pytest.mark.parametrize("n_models", [2, 5, 8])
def test_all_rounds_ask_what_full_pairwise_asks_and_score_the_same(
    n_models: int, twins: bool
) -> None:
    items = contests(n_models, 9, twins)
    rounds = play("round_robin", items, rounds=n_rounds(n_models))
    pairs = play("full_pairwise", items)

    def asked(found: list[ItemBallots]) -> list[set[tuple[str, str, str]]]:
        return [{(m.high, m.low, m.verdicts[0].first) for m in one.matches} for one in found]

    assert asked(rounds) == asked(pairs)
    assert scores(rounds) == scores(pairs)  # to the last digit
    assert all(one.scheduled == () for one in rounds)


def test_an_unscored_match_leaves_the_pair_to_its_other_items() -> None:
    items = contests(4, 30)
    found = play("round_robin", items, rounds=3)
    for number in (3, 7, 20):
        damaged = replace(found[number].matches[0], decided_by="unscored", margin=None)
        matches = (damaged, *found[number].matches[1:])
        found[number] = found[number].model_copy(update={"matches": matches})
    pairs: dict[tuple[str, str], list[float]] = {}
    for one in found:
        for a, b, result in results(one):
            pairs.setdefault((a, b), []).append(result)
            pairs.setdefault((b, a), []).append(1 - result)
    expected = [np.mean([np.mean(pairs[a, b]) for b in NAMES[:4] if b != a]) for a in NAMES[:4]]
    assert scores(found) == pytest.approx(expected)


@pytest.mark.parametrize("n_models", [3, 8, 9])
@pytest.mark.parametrize("rounds", [1, 2])
def test_newcomers_meet_all_others_equally_often(n_models: int, rounds: int) -> None:
    names = "abcdefghi"[:n_models]
    met: Counter[str] = Counter()
    first: Counter[str] = Counter()
    items = 60
    for number in range(items):
        contest = planted_contest({name: 1.0 + ord(name) for name in names}, item_id=str(number))
        contest = replace(contest, position=number, n_items=items)
        [ballots] = play("round_robin", [contest], rounds=rounds, newcomers="c")
        for match in ballots.matches:
            assert "c" in (match.high, match.low)
            other = match.low if match.high == "c" else match.high
            met[other] += 1
            first[other] += match.verdicts[0].first == "c"
        assert len(ballots.matches) == len(ballots.scheduled) == rounds
    assert set(met) == set(names) - {"c"}
    assert max(met.values()) - min(met.values()) <= 1
    assert all(abs(2 * first[name] - met[name]) <= rounds + 1 for name in met)


def test_against_a_baseline_a_score_is_the_win_rate() -> None:
    found = play("round_robin", contests(4, 20), baseline="b")
    wins: dict[str, list[float]] = {}
    for one in found:
        for high, low, result in results(one):
            assert "b" in (high, low)
            wins.setdefault(low if high == "b" else high, []).append(
                1 - result if high == "b" else result
            )
    rates = {"b": 0.5} | {name: float(np.mean(own)) for name, own in wins.items()}
    assert scores(found) == pytest.approx([rates[name] for name in "abcd"])
    borda = place(found[0]).borda
    assert borda["b"] == 0.5
    assert set(borda.values()) <= {0.0, 0.5, 1.0}


@pytest.mark.parametrize(
    ("settings", "problem"),
    cases(__file__, "meetings"),
)
def test_meetings_that_there_cannot_be(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ProtocolError, match=problem):
        check_rounds(settings, "abc")
