"""Items whose answers say little, and counters of their tokens."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.scorers.tournament import planted_contest
from tiebreak.scorers.contest import Contest
from tiebreak.study.estimate.dry_judge import TokenCounter
from tiebreak.study.estimate.experience import Experience

ONE = TokenCounter("every text is one token", lambda text: 1)
LETTERS = TokenCounter("letters", len)


def contest(answers: dict[str, str], number: int = 0, same: Sequence[str] = ()) -> Contest:
    """An item; the models of `same` gave the first answer as well."""
    first, *rest = answers
    item = planted_contest(dict.fromkeys((*answers, *same), 0.0), item_id=str(number))
    groups = ((first, *same), *((name,) for name in rest))
    return replace(item, answers=answers, groups=groups)


def contests(n_items: int, n_models: int, distinct: int | None = None) -> list[Contest]:
    """Items of rising length; of the answers only so many are different."""
    names = [f"m{i}" for i in range(n_models)]
    kept = names[:distinct]
    return [
        contest({name: f"{name} {'word ' * number}" for name in kept}, number, names[len(kept) :])
        for number in range(n_items)
    ]


def known(**fields: Any) -> Experience:
    """What a log of 50 calls of `j` says."""
    usual: dict[str, Any] = {"models": ("j",), "n_calls": 50, "tokens": {}, "repairs": 0.0}
    return Experience(**usual | {"close": None, "tie": None} | fields)
