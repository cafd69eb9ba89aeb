"""Small peer reviews as ballots and as panels."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.ranking_logs.builders import call, item, write_log
from tiebreak.analysis.peers.panel import Panel, panels_among
from tiebreak.paths import Paths
from tiebreak.ranking_logs import read_ranking_logs
from tiebreak.scorers.ballots import ItemBallots, Listing, Reviewer

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def reviews(
    item_id: str,
    ballots: Mapping[str, str | None],
    *,
    models: str = "",
    groups: Sequence[str] = (),
    shown: Mapping[str, str] | None = None,
    left_out: Mapping[str, str] | None = None,
    why: str = "no places",
    aggregator: str = "kemeny_young",
    **fields: Any,
) -> ItemBallots:
    """One item, reviewed by one-letter models and by outsiders with longer names.

    `ballots` gives every reviewer's ranking, best first: "b=ac" ties b and a before c; None is an
    unscored review, for the reason `why`. `models` are by default those that occur in a ballot.
    `groups` are sets of identical answers ("ab": judged as a). By default every answer is `shown`
    to every reviewer, in an order drawn by lot.
    """
    said = "".join(order or "" for order in ballots.values()).replace("=", "")
    everybody = sorted(set(models or said))
    apart = [group for group in groups if len(group) > 1]
    alone = [model for model in everybody if model not in "".join(apart)]
    together = sorted([*map(tuple, apart), *((model,) for model in alone)])
    representatives = [group[0] for group in together]
    calls = [
        call("list", role="peers", reviewer=name, model=f"m/{name}", cost=0.01) for name in ballots
    ]
    made = item(item_id, groups=together, **{"protocol": "peer_review", "calls": calls} | fields)
    listings = [
        Listing(
            groups=_groups(order or ""),
            unscored=why if order is None else None,
            reviewer=name,
            shown=tuple((shown or {}).get(name, _drawn(representatives, f"{item_id} {name}"))),
            left_out=tuple((left_out or {}).get(name, "")),
        )
        for name, order in ballots.items()
    ]
    return made.model_copy(
        update={
            "placed_by": "consensus",
            "aggregator": aggregator,
            "reviewers": tuple(reviewer(name, everybody) for name in ballots),
            "listings": tuple(listings),
            "tiering": None,
            "seeds": (),
        }
    )


def reviewer(name: str, models: Sequence[str]) -> Reviewer:
    return Reviewer(name=name, model=f"m/{name}", candidate=name if name in models else None)


def _groups(order: str) -> tuple[tuple[str, ...], ...]:
    groups: list[list[str]] = []
    joined = False
    for char in order:
        if char == "=":
            joined = True
        elif joined:
            groups[-1].append(char)
            joined = False
        else:
            groups.append([char])
    return tuple(map(tuple, groups))


def _drawn(names: Sequence[str], seed: str) -> list[str]:
    return Random(seed).sample(names, len(names))


def identical(item_id: str, models: str, **fields: Any) -> ItemBallots:
    """An item to which all models gave the same answer, so that nobody was asked."""
    made = item(item_id, groups=[tuple(models)], **{"protocol": "peer_review"} | fields)
    return made.model_copy(update={"placed_by": "consensus", "tiering": None, "seeds": ()})


def by_scores(scores: NDArray[np.float64], **fields: Any) -> list[ItemBallots]:
    """Reviews by what each reviewer thinks of each answer, shape (items, reviewers, N).

    Higher is better. Reviewer number k is model number k; what goes beyond is an outsider.
    """
    n = scores.shape[2]
    names = [LETTERS[k] if k < n else f"X{k}" for k in range(scores.shape[1])]
    items = []
    for number, answers in enumerate(scores):
        orders = np.argsort(-answers, axis=1, kind="stable")
        ballots = {
            name: "".join(LETTERS[k] for k in order)
            for name, order in zip(names, orders, strict=True)
        }
        items.append(reviews(f"q{number}", ballots, **fields))
    return items


def read_panels(paths: Paths) -> list[Panel]:
    """The panels of all peer reviews among some files and folders."""
    return panels_among(read_ranking_logs(paths))


def panel_of(folder: Path, *items: ItemBallots, **task_args: Any) -> Panel:
    """The panel of a log with these items."""
    log = write_log(folder / "peers.eval", items, task_args=task_args)
    [panel] = read_panels([log])
    return panel
