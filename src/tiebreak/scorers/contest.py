"""What a protocol gets to see of one item: the task, the answers, the rubric and the seed."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.scorers.rubric import Rubric


@dataclass(frozen=True)
class Contest:
    """One item to be judged.

    `answers` maps the representative of each group of identical answers to the text that judges
    read. `native` holds native scores, None where the log had none. `rubric_name` is what the user
    chose (a built-in name or a path).
    """

    benchmark: str
    item_id: str
    input_hash: str
    task: str
    rubric_name: str
    rubric: Rubric
    seed: int
    models: tuple[str, ...]
    native: Mapping[str, float | None]
    groups: tuple[tuple[str, ...], ...]
    answers: Mapping[str, str]

    def rng(self, *purpose: str | int) -> random.Random:
        """A generator of its own for one purpose, the same in every run with the same seed."""
        return random.Random(
            "\x1f".join(map(str, (self.seed, self.benchmark, self.item_id, *purpose)))
        )

    @cached_property
    def sides(self) -> Mapping[tuple[str, str], tuple[str, str]]:
        """For every two candidates, in the order of their names: who is shown first, by lot.

        The pair alone decides, not the round or the protocol: so two protocols that let the same
        two meet ask the same question, and the second one finds it in the cache.
        """
        rng = self.rng("sides")
        pairs = combinations(sorted(self.answers), 2)
        return {pair: pair if rng.random() < 0.5 else pair[::-1] for pair in pairs}

    @cached_property
    def sampled(self) -> tuple[str, str] | None:
        """The two candidates, by name, whose match a sample of both orders holds; by lot.

        Drawn before anything is asked, so that flips there speak of all matches. None of one.
        """
        if len(self.answers) < 2:
            return None
        one, other = sorted(self.rng("sample").sample(sorted(self.answers), 2))
        return one, other

    def ballots(self, protocol: str, placed_by: Rule) -> ItemBallots:
        """The empty record of this item."""
        return ItemBallots(
            protocol=protocol,
            benchmark=self.benchmark,
            item_id=self.item_id,
            input_hash=self.input_hash,
            task_type=self.rubric.task_type,
            rubric=self.rubric_name,
            seed=self.seed,
            models=self.models,
            native=dict(self.native),
            groups=self.groups,
            lengths={name: len(answer) for name, answer in self.answers.items()},
            placed_by=placed_by,
        )
