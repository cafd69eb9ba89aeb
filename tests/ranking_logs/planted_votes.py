"""Votes files of planted people: raters who know which model is better, and err now and then."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.candidates import CONTEST_KEY
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.ranking_logs.votes_file import (
    Choice,
    PersonVote,
    VotesItem,
    VotesKind,
    VotesMeta,
    create_votes_file,
    open_votes_file,
)
from tiebreak.scorers.ballots import ItemBallots

CREATED = "2026-11-26T11:00:00+00:00"


MODELS = ("ash", "birch", "cedar")
_KEPT = (
    *("benchmark", "item_id", "input_hash", "task_type", "rubric", "seed", "models", "native"),
    *("groups", "lengths", "passed", "stratified", "subject", "cluster"),
)
STRENGTH: Mapping[str, float] = {"ash": 0.9, "birch": 0.0, "cedar": -0.9}


def items_of(
    n: int, kind: VotesKind = "matches", benchmark: str = "gsm8k", *, twins: bool = True
) -> list[VotesItem]:
    """Items with an answer of each model; with `twins` ash and birch agree in every tenth."""
    return [_item(k, kind, benchmark, twins=twins and k % 10 == 9) for k in range(n)]


def _item(number: int, kind: VotesKind, benchmark: str, *, twins: bool) -> VotesItem:
    groups = (("ash", "birch"), ("cedar",)) if twins else tuple((model,) for model in MODELS)
    answers = {group[0]: f"{group[0]} says {number} " + "x" * len(group[0]) for group in groups}
    contest = {"task": f"What is {number}?", "target": "5", "answers": answers, "rubric": {}}
    ballots = no_votes(f"q{number}", groups, kind, benchmark).model_copy(
        update={"lengths": {name: len(text) for name, text in answers.items()}}
    )
    return VotesItem(f"q{number}", 1, "5", ballots, contest)


def no_votes(
    item_id: str,
    groups: Sequence[Sequence[str]],
    kind: VotesKind = "matches",
    benchmark: str = "gsm8k",
) -> ItemBallots:
    """An item on which nobody voted yet."""
    models = sorted(model for group in groups for model in group)
    return ItemBallots(
        protocol="votes" if kind == "matches" else "stars",
        benchmark=benchmark,
        item_id=item_id,
        input_hash=f"{item_id:0>32}",
        task_type="math_reasoning",
        rubric="math_reasoning",
        seed=7,
        models=tuple(models),
        native=dict.fromkeys(models, 1.0),
        groups=tuple(map(tuple, groups)),
        placed_by="points" if kind == "matches" else "stars",
    )


def votes_of(
    items: Sequence[VotesItem], raters: Sequence[str], *, error: float = 0.1, seed: int = 3
) -> Iterator[PersonVote]:
    """A pair an item, in turn; every second item is of all raters, the others of one."""
    rng = np.random.default_rng(seed)
    pairs = list(combinations(MODELS, 2))
    for number, item in enumerate(items):
        pair = pairs[number % 3]
        together = {*pair} <= {*item.ballots.groups[0]}
        truth = 0.2 + STRENGTH[pair[0]] - STRENGTH[pair[1]] + rng.normal()
        for k, rater in enumerate(raters):
            if number % 2 and k != number % len(raters):
                continue
            first, second = pair if rng.random() < 0.5 else pair[::-1]
            noisy = truth if rng.random() > error else -truth
            lead = noisy if first == pair[0] else -noisy
            choice: Choice = "first" if lead > 0.3 else "second" if lead < -0.3 else "tie"
            yield PersonVote(
                item=number,
                turn=number,
                first=first,
                second=second,
                choice="identical" if together else choice,
                rater=rater,
                at=f"2026-11-26T11:{number % 60:02}:00.000+00:00",
                seconds=None if together else 4.0 + 2 * k,
            )


def write_votes(
    path: Path,
    items: Sequence[VotesItem],
    votes: Sequence[PersonVote],
    **meta: Any,
) -> Path:
    """A votes file with these votes."""
    usual: dict[str, Any] = {"kind": "matches", "seed": 7, "created": CREATED}
    create_votes_file(path, VotesMeta(**{"sources": ("logs/",)} | usual | meta), items)
    with open_votes_file(path, write=True) as file:
        for vote in votes:
            file.add(vote)
    return path


def write_votes_on(log: RankingLog, path: Path, n: int = 40) -> Path:
    """A votes file of planted people on the first items of a log, read with its metadata."""
    items, votes = [], []
    for number, sample in enumerate(log.samples[:n]):
        kept = {name: getattr(sample.ballots, name) for name in _KEPT}
        ballots = ItemBallots(**kept, protocol="votes", placed_by="points")
        contest = sample.metadata[CONTEST_KEY]
        items.append(VotesItem(sample.id, sample.epoch, sample.target, ballots, contest))
        pairs = list(combinations(ballots.models, 2))
        first, second = pairs[number % len(pairs)]
        if any({first, second} <= {*group} for group in ballots.groups):
            continue
        for k, rater in enumerate(("ann", "ben")):
            choice: Choice = ("first", "second", "tie")[(number + k) % 3]
            about = {
                "item": number,
                "turn": number,
                "rater": rater,
                "at": CREATED.replace("+", ".000+"),
                "seconds": 5.0,
            }
            votes.append(PersonVote(first=first, second=second, choice=choice, **about))  # type: ignore[arg-type]
    return write_votes(path, items, votes)
