"""A contest: one item as a protocol sees it, with task, answers, rubric and seed."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Final

from tiebreak.scorers.attacks import Canary
from tiebreak.scorers.ballots import ItemBallots, Media, Rule
from tiebreak.scorers.prompt import Fence
from tiebreak.scorers.rubric import Rubric
from tiebreak.scorers.schedule import Pair, Schedule, schedule


@dataclass(frozen=True)
class Contest:
    """One item to be judged.

    `answers` maps the representative of each group of identical answers to the text that judges
    read. `native` holds native scores, None if the log had none. `rubric_name` is the user's choice
    (a built-in name or a path). `target` is the key, and `question_type` the type of the question,
    if a protocol judges by them; otherwise, and if unknown, both are empty. `position` counts the
    `n_items` items of the benchmark that are to be judged, from 0. `passed`, `stratified`,
    `canary`, `subject`, `cluster`, `content_hash` and `media` are those of `ItemBallots`. `images`
    are shown with the task; `unseen` is the task without them, empty if there are none.
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
    subject: str = ""
    cluster: str = ""
    target: str = ""
    question_type: str = ""
    position: int = 0
    n_items: int = 1
    passed: Mapping[str, bool] = field(default_factory=dict)
    stratified: bool = False
    canary: Canary | None = None
    content_hash: str = ""
    media: Media = ""
    unseen: str = ""
    images: tuple[str, ...] = ()

    def rng(self, *purpose: str | int) -> random.Random:
        """Return a separate generator for one purpose, the same in every run with the same seed."""
        return random.Random(
            "\x1f".join(map(str, (self.seed, self.benchmark, self.item_id, *purpose)))
        )

    @cached_property
    def schedule(self) -> Schedule:
        """The round robin of the models over the items of the benchmark."""
        return schedule(self.models, self.n_items, f"{self.seed}\x1f{self.benchmark}")

    @cached_property
    def first(self) -> Mapping[Pair, str]:
        """For every pair of candidates, sorted by name: the one that is shown first.

        It is drawn by lot for the pair and alternates over the items, independent of round and
        protocol. So if the same pair meets in two protocols, both ask the same question, and the
        second protocol finds the reply in the cache.
        """
        return self.schedule.first(self.position)

    @cached_property
    def fence(self) -> Fence:
        """The fence for the task and the answers in all calls about the item."""
        return Fence([self.task, *self.answers.values()], salt=self.seed)

    @cached_property
    def sampled(self) -> Pair | None:
        """The pair of candidates, sorted, whose match is asked in both orders as a sample; by lot.

        Drawn before anything is asked, so that flips there represent all matches. None if alone.
        """
        if len(self.answers) < 2:
            return None
        first, other = sorted(self.rng("sample").sample(sorted(self.answers), 2))
        return first, other

    def ballots(self, protocol: str, placed_by: Rule) -> ItemBallots:
        """Return empty ballots for this item."""
        return ItemBallots(
            protocol=protocol,
            task_type=self.rubric.task_type,
            rubric=self.rubric_name,
            lengths={name: len(answer) for name, answer in self.answers.items()},
            placed_by=placed_by,
            **{name: getattr(self, name) for name in _IN_BALLOTS - {"rubric"}},
        )


_IN_BALLOTS: Final = {part.name for part in fields(Contest)} & set(ItemBallots.model_fields)
"""Fields with the same name in `ItemBallots`; except for `rubric` they have the same content."""
