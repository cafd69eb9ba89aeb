"""A card as a whole: every table, sentence and branch of it, to the letter."""

import json
from typing import Any

from tests.cases import cases
from tests.expected import check
from tests.publish.test_card import make
from tests.publish.test_latest import row
from tiebreak.publish.card import card
from tiebreak.publish.tables import schema

JUDGES = cases(__file__, "judges")
# One more than are shown.
MODELS = [f"m{number:02}" for number in range(1, 22)]


def seal(model: str, **more: Any) -> dict[str, Any]:
    place = int(model[1:])
    scores = {
        **{"value": (21 - place) / 20, "rank": place, "n": 40 - place},
        **{"lower": max(0.0, (20 - place) / 20), "upper": min(1.0, (22 - place) / 20)},
        **{"rank_lower": max(1, place - 1), "rank_upper": place},
        **{"unscored_rate": {1: 0.5, 2: 0.25}.get(place, None if place == 3 else 0.0)},
        **{"model": model, "judge_settings": json.dumps(JUDGES)},
    }
    return row("r1", "2026-03-04T05:06:07Z", **cases(__file__, "seal") | scores | more)


def reviewed(model: str, **more: Any) -> dict[str, Any]:
    usual = cases(__file__, "reviewed") | {"model": model}
    return row("r2", "2026-01-02T00:00:00Z", **usual | more)


def swiss(model: str, **more: Any) -> dict[str, Any]:
    usual = cases(__file__, "swiss") | {"model": model, "judge_settings": json.dumps(JUDGES[2:3])}
    return row("r3", "2026-02-02T00:00:00Z", **usual | more)


MEAN_POINTS: dict[str, Any] = {
    **{"benchmark": "arc2", "metric": "mean_points", "value": 0.25, "cost": 0.0},
    **{"arguments": '{"swap": "sample"}', "rubric": "mine"},
}
BOARDS = [
    # Another metric may come first: models are in the order of the main one.
    seal("m02", metric="native_score", value=None),
    seal("m01", metric="native_score", value=0.25),
    *map(seal, MODELS),
    reviewed("a", value=1.0, rank=1),
    reviewed("b"),
    reviewed("a", metric="mean_rank", value=1.125),
    reviewed("b", metric="mean_rank", value=None),
    *map(swiss, MODELS[:20]),
    swiss("m01", metric="bradley_terry_strength", value=2.0),
    # Without the main metric the first that there is stands for it.
    swiss("m01", **MEAN_POINTS),
]


def contest_row(name: str, model: str, table: str = "contest", **more: Any) -> dict[str, Any]:
    place = int(model[1:])
    score = {"contest_id": name, "model": model, "rank": place, "value": 2.5 - place / 10}
    return {**dict.fromkeys(schema("contests").names), **cases(__file__, table), **score, **more}


def over_items(model: str, **more: Any) -> dict[str, Any]:
    return contest_row("contest-1", model, "over_items", **more)


CONTESTS = [
    over_items("m1"),
    over_items("m2", lower=None, upper=None, slope=None, label=None),
    over_items("m1", eliminate=None, eliminate_by_round=[0, 1], value=1.0),
    over_items("m1", method="kemeny_young", rank=2),
    over_items("m2", method="borda", rank=1),
    *(contest_row("contest-2", model, benchmarks=["law"], rounds=[["law"]]) for model in MODELS),
    contest_row("contest-3", "m1", method="kemeny_young"),  # without the contest no entry
    *(
        contest_row("contest-4", model, order_from="order", eliminate_by_round=[0, 2])
        for model in MODELS[:20]
    ),
]


def test_a_card_with_all_that_it_can_say() -> None:
    files = {path: json.dumps(data).encode() for path, data in cases(__file__, "files").items()}
    for path, data in cases(__file__, "files").items():
        folder = path.removesuffix("plots.json")
        files |= {f"{folder}{plot['name']}.png": b"" for plot in data.get("plots", ())}
    files |= {"candidates/x.parquet": b"", "leaderboard/latest.parquet": b""}
    text = card(BOARDS, files, contests=CONTESTS, license="mit", repo_id="me/my-rankings")
    check(__file__, "card.txt", text)


def test_a_card_of_contests_alone() -> None:
    files = {"contests/latest.parquet": b""}
    text = card([], files, contests=CONTESTS[-20:-18], license="cc-by-4.0", repo_id="me/rankings")
    check(__file__, "contests_card.txt", text)


def test_a_card_of_one_board_about_which_little_is_known() -> None:
    little = {"arguments": "{}", "seed": None, "tiebreak_version": None}
    check(__file__, "board_card.txt", make([swiss("m01", cost=1.0, **little)]))
