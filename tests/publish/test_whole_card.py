"""A card as a whole: every table, sentence and branch of it, to the letter."""

import json
from typing import Any

from tests.expected import check
from tests.publish.test_card import make
from tests.publish.test_latest import row
from tiebreak.publish.card import card
from tiebreak.publish.tables import schema

JUDGES = [
    {"role": "judge", "model": "openai/gpt-5", "temperature": 0.5, "top_p": 1},
    {"role": "meta_judge", "model": "openai/gpt-5", "temperature": 0.5, "top_p": 1},
    {"role": "judge", "model": "openai/o4", "temperature": 0.5, "top_p": 1},
    {"role": "judge", "model": "local/judge"},
]
MODELS = [f"m{number:02}" for number in range(1, 22)]


def seal(model: str, **more: Any) -> dict[str, Any]:
    """A board with all that can be said: 21 models, which are one more than are shown."""
    place = int(model[1:])
    usual = {
        **{"value": (21 - place) / 20, "rank": place},
        **{"lower": max(0.0, (20 - place) / 20), "upper": min(1.0, (22 - place) / 20)},
        **{"rank_lower": max(1, place - 1), "rank_upper": place, "level": 0.9, "n": 40 - place},
        **{"n_items": 1234, "n_unranked": 2, "n_calls": 1, "input_tokens": 1000, "cost": None},
        **{"output_tokens": 34, "status": "error", "seed": 0, "rubric": "math_reasoning"},
        **{"unscored_rate": {1: 0.5, 2: 0.25}.get(place, None if place == 3 else 0.0)},
        **{"tiebreak_version": "0.1.0", "inspect_version": "0.3.5", "judge": "openai/gpt-5"},
        **{"arguments": '{"swap": "close"}', "judge_settings": json.dumps(JUDGES)},
    }
    return row("r1", "2026-03-04T05:06:07Z", **usual | {"model": model} | more)


def reviewed(model: str, **more: Any) -> dict[str, Any]:
    """Nobody was the judge, and nothing is known of most that could be said."""
    usual = {"benchmark": "mmlu", "protocol": "peer_review", "judge": None, "n_calls": 0}
    unknown = {"n_items": 1, "status": None, "value": None, "rank": None, "n": 1, "level": 0.95}
    return row("r2", "2026-01-02T00:00:00Z", **usual | unknown | {"model": model} | more)


def swiss(model: str, **more: Any) -> dict[str, Any]:
    """As many models as are shown, and a price."""
    usual = {"benchmark": "arc", "protocol": "swiss", "n_items": 2, "status": "success"}
    bill = {"n_calls": 1200, "input_tokens": 5, "output_tokens": 6, "cost": 1.5, "seed": 7}
    said = {"arguments": '{"swap": "close"}', "tiebreak_version": "0.1.0", "level": 0.95}
    own = {"model": model, "rank": 1, "unscored_rate": None, "judge": "openai/o4"}
    judges = {"judge_settings": json.dumps(JUDGES[2:3])}
    return row("r3", "2026-02-02T00:00:00Z", **usual | bill | said | own | judges | more)


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
    swiss(
        "m01",
        benchmark="arc2",
        metric="mean_points",
        value=0.25,
        arguments='{"swap": "sample"}',
        rubric="mine",
        cost=0.0,
    ),
]


def contest_row(name: str, model: str, **more: Any) -> dict[str, Any]:
    usual = {
        **{"contest_id": name, "method": "csd", "model": model, "rank": int(model[1:])},
        **{"value": 2.5 - int(model[1:]) / 10, "benchmarks": ["maths", "code", "law"]},
        **{"rounds": [["maths", "code"], ["law"]], "order_from": "columns", "n": 3},
        **{"eliminate": 0, "eliminate_by_round": [0, 0], "missing": "available", "n_models": 2},
        **{"iterations": 1, "seed": 0, "level": 0.95},
    }
    return dict.fromkeys(schema("contests").names) | usual | more


def over_items(model: str, **more: Any) -> dict[str, Any]:
    """Intervals over items, two T, drawn rounds, and a merged ranking."""
    known = {"lower": 1.0, "upper": 2.75, "rank_lower": 1, "rank_upper": 2, "level": 0.9}
    cost = {"slope": -0.125, "label": "generalist", "weights": [1.0, 2.0], "order_from": "weights"}
    size = {"iterations": 4000, "seed": 3, "missing": "worst"}
    return contest_row("contest-1", model, **known | cost | size | more)


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


def plots(run: str, benchmark: str, *names: str) -> dict[str, bytes]:
    words = [{"name": one, "benchmark": benchmark, "alt": f"plot {one}"} for one in names]
    listed = {f"plots/{run}/plots.json": json.dumps({"plots": words}).encode()}
    return listed | {f"plots/{run}/{one}.png": b"" for one in names}


def said(sentence: str, state: str, benchmark: str, protocol: str, *warnings: str) -> Any:
    verdict = {"sentence": sentence, "trust": {"state": state}}
    about = {"benchmark": benchmark, "protocol": protocol}
    return about | {"verdict": verdict, "warnings": list(warnings)}


FILES = {
    **plots("r1", "gsm8k", "first", "second", "third", "fourth"),
    **plots("r3", "arc", "one", "two"),
    **plots("contest-1", "", "wins", "slopes"),
    "runs/r1/manifest.json": json.dumps(
        {
            "benchmarks": [
                said("Another protocol's.", "fine", "gsm8k", "swiss", "Not here."),
                said("m01 is first.", "doubtful", "gsm8k", "seal", "Position bias.", "Few items."),
                said("Told twice.", "fine", "gsm8k", "seal"),
            ]
        }
    ).encode(),
    "runs/r2/manifest.json": json.dumps(
        {"benchmarks": [said("a is first.", "unknown", "mmlu", "peer_review")]}
    ).encode(),
    "runs/contest-1/manifest.json": json.dumps(
        {
            "proof": ["m2 > m1: 3 disagreements", "It is unique."],
            "warnings": ["Few contests.", "One round."],
            "notes": ["law: minus sign", "In no round: art"],
        }
    ).encode(),
}


def test_a_card_with_all_that_it_can_say() -> None:
    files = {**FILES, "candidates/x.parquet": b"", "leaderboard/latest.parquet": b""}
    text = card(BOARDS, files, contests=CONTESTS, license="mit", repo_id="me/my-rankings")
    check(__file__, "card.txt", text)


def test_a_card_of_contests_alone() -> None:
    files = {"contests/latest.parquet": b""}
    text = card([], files, contests=CONTESTS[-20:-18], license="cc-by-4.0", repo_id="me/rankings")
    check(__file__, "contests_card.txt", text)


def test_a_card_of_one_board_about_which_little_is_known() -> None:
    little = {"arguments": "{}", "seed": None, "tiebreak_version": None}
    check(__file__, "board_card.txt", make([swiss("m01", cost=1.0, **little)]))
