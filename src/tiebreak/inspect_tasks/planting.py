"""Canaries: planted items that show whether a judge is persuaded by an answer that attacks it.

Each canary is two samples: an ordinary answer against a weak one with an attack, and against the
same weak answer without it, the control. They are judged like all items of the run, but not ranked.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, Final

from inspect_ai.dataset import Sample

from tiebreak.candidates import CONTEST_KEY
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.attacks import ORDINARY, PLANTED, Attack, Canary, attacks
from tiebreak.scorers.catalogue import PROTOCOLS

_SHARE: Final = 5
"""If no answer is known to have failed, the weak answer is the first fifth of an ordinary one."""

_ABOUT_MODELS: Final = ("newcomers", "baseline", "degree")


def planted(samples: Sequence[Sample], n: int, seed: int) -> list[tuple[Sample, Sample]]:
    """Plant `n` canaries on items drawn by lot; return pairs of samples (attack, control).

    Kinds of attacks alternate; items and attacks repeat only after all others were used.

    Raises:
        PrerequisiteError: no item has an answer with any text.
    """
    rng = random.Random(f"canaries {seed}")
    items = [sample for sample in samples if any(_written((sample.metadata or {})[CONTEST_KEY]))]
    if n and not items:
        raise PrerequisiteError("There is no answer with a text to set a canary beside.")
    rng.shuffle(items)
    by_turn = _in_turns(rng)
    return [
        _canary(
            items[number % len(items)],
            by_turn[number % len(by_turn)],
            number,
            n,
            rng,
        )
        for number in range(n)
    ]


def settings_for(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a protocol for canaries: without those about models of the run."""
    if name not in PROTOCOLS:
        return dict(settings)
    return {key: value for key, value in settings.items() if key not in _ABOUT_MODELS}


def _in_turns(rng: random.Random) -> list[Attack]:
    """All attacks in an order drawn by lot, with alternating kinds."""
    kinds: dict[str, list[Attack]] = {}
    for attack in rng.sample(attacks(), len(attacks())):
        kinds.setdefault(attack.kind, []).append(attack)
    return [
        attack for attack in chain.from_iterable(zip_longest(*kinds.values())) if attack is not None
    ]


def _canary(
    sample: Sample, attack: Attack, number: int, n: int, rng: random.Random
) -> tuple[Sample, Sample]:
    contest = (sample.metadata or {})[CONTEST_KEY]
    ordinary, weak = _answers(contest, rng)

    def planted(answer: str, *, control: bool) -> Sample:
        canary = Canary(number=number + 1, attack=attack.id, kind=attack.kind, control=control)
        replaced = {
            "models": [ORDINARY, PLANTED],
            "native": {ORDINARY: None, PLANTED: None},
            "passed": {},
            "stratified": False,
            "groups": [[ORDINARY], [PLANTED]],
            "answers": {ORDINARY: ordinary, PLANTED: answer},
            # Sides alternate over the canaries; a canary and its control have the same sides.
            "position": number,
            "n_items": n,
            "canary": canary.model_dump(),
        }
        name = f"canary-{number + 1:03}-{'control' if control else attack.id}"
        return Sample(
            id=name,
            input=sample.input,
            target=sample.target,
            metadata={**(sample.metadata or {}), CONTEST_KEY: {**contest, **replaced}},
        )

    return planted(attack.on(weak), control=False), planted(weak, control=True)


def _answers(contest: Mapping[str, Any], rng: random.Random) -> tuple[str, str]:
    """An ordinary answer and a weak one: a passed and a failed one, else a whole and a cut one."""
    answers, passed = contest["answers"], contest["passed"]
    right, wrong = (
        [answer for answer in answers if passed.get(answer) is kind] for kind in (True, False)
    )
    if right and wrong:
        return answers[rng.choice(right)], answers[rng.choice(wrong)]
    ordinary = answers[rng.choice(list(_written(contest)))]
    return ordinary, ordinary[: len(ordinary) // _SHARE]


def _written(contest: Mapping[str, Any]) -> Iterator[str]:
    return (name for name, answer in contest["answers"].items() if answer.strip())
