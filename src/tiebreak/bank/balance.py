"""True/false questions of a sample changed until "true" is right as often as "false".

Of an n-option question one expanded statement is true and n - 1 are false, so who always answers
"false" is right in (n - 1)/n of a plain sample (LLMEval-Fair, figure 7). Two changes keep a sample
what it is (its size, its categories, its number of true/false questions, one of each original): of
a drawn original the sibling with the other key is asked, and where no drawn original has one, a
drawn original makes way for one that was not drawn.
"""

import random
from collections.abc import Mapping, Sequence

from tiebreak.bank.entry import Entry


def balance(
    chosen: dict[str, Entry],
    unseen: Mapping[str, Sequence[Entry]],
    spare: Sequence[str],
    surplus: int,
    rng: random.Random,
) -> int:
    """Change `chosen`, the questions of one category, as far as the bank has enough.

    An odd number leaves one key once more than the other: the one that is behind so far.

    Args:
        chosen: original → the question drawn of it; changed in place.
        unseen: original → its questions that may be asked.
        spare: originals of the category that may come in for others; those drawn are passed over.
        rng: draws what changes.
        surplus: how many more keys "true" than "false" the sample has so far.

    Returns:
        The surplus with this category.
    """
    n_true = sum(question.truth == "true" for question in chosen.values())
    n_false = sum(question.truth == "false" for question in chosen.values())
    total = n_true + n_false
    wanted = total // 2 if total % 2 == 0 or surplus > 0 else (total + 1) // 2
    if total % 2 and surplus == 0:
        # Neither key is behind: the nearer one.
        wanted = total // 2 if n_true <= total // 2 else (total + 1) // 2
    lacking = "true" if n_true < wanted else "false"
    missing = abs(wanted - n_true)
    changed = _switch(chosen, unseen, lacking, missing, rng)
    changed += _swap(chosen, unseen, spare, lacking, missing - changed, rng)
    n_true += changed if lacking == "true" else -changed
    return surplus + 2 * n_true - total


def _switch(
    chosen: dict[str, Entry],
    unseen: Mapping[str, Sequence[Entry]],
    lacking: str,
    missing: int,
    rng: random.Random,
) -> int:
    able = [
        raw
        for raw, question in chosen.items()
        if question.truth not in ("", lacking) and _with_key(unseen[raw], lacking)
    ]
    for raw in (taken := rng.sample(able, min(missing, len(able)))):
        chosen[raw] = rng.choice(_with_key(unseen[raw], lacking))
    return len(taken)


def _swap(
    chosen: dict[str, Entry],
    unseen: Mapping[str, Sequence[Entry]],
    spare: Sequence[str],
    lacking: str,
    missing: int,
    rng: random.Random,
) -> int:
    if not missing:
        return 0
    entitled = set(spare)
    going = [
        raw
        for raw, question in chosen.items()
        if raw in entitled and question.truth not in ("", lacking)
    ]
    coming = [raw for raw in spare if raw not in chosen and _with_key(unseen[raw], lacking)]
    n = min(missing, len(going), len(coming))
    for old, new in zip(rng.sample(going, n), rng.sample(coming, n), strict=True):
        del chosen[old]
        chosen[new] = rng.choice(_with_key(unseen[new], lacking))
    return n


def _with_key(questions: Sequence[Entry], key: str) -> list[Entry]:
    return [question for question in questions if question.truth == key]
