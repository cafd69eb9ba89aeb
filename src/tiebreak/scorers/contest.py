"""What a protocol gets to see of one item: the task, the answers, the rubric and the seed."""

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
    read. `native` holds native scores, None where the log had none; `passed`, `stratified` and
    `canary` are those of `ItemBallots`. `rubric_name` is what the user
    chose (a built-in name or a path). `subject` and `cluster` are those of `ItemBallots`. `target`
    is the key, and `question_type` what kind of question it is, where a protocol judges by them;
    else, and where nobody knows, they are empty. `position` counts the `n_items` items of the
    benchmark that are to be judged, from 0. `content_hash` and `media` are those of `ItemBallots`.
    `images` are shown with the task; `unseen` is the task for who sees none of them, else empty.
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
        """A generator of its own for one purpose, the same in every run with the same seed."""
        return random.Random(
            "\x1f".join(map(str, (self.seed, self.benchmark, self.item_id, *purpose)))
        )

    @cached_property
    def schedule(self) -> Schedule:
        """The round robin of the models over the items of the benchmark."""
        return schedule(self.models, self.n_items, f"{self.seed}\x1f{self.benchmark}")

    @cached_property
    def first(self) -> Mapping[Pair, str]:
        """For every two candidates, in the order of their names: who is shown first.

        Drawn by lot for the pair, and in turns over the items; the round or the protocol has no say
        in it. So two protocols that let the same two meet ask the same question, and the second one
        finds it in the cache.
        """
        return self.schedule.first(self.position)

    @cached_property
    def fence(self) -> Fence:
        """What encloses the task and the answers in all calls about the item."""
        return Fence([self.task, *self.answers.values()], salt=self.seed)

    @cached_property
    def sampled(self) -> Pair | None:
        """The two candidates, by name, whose match a sample of both orders holds; by lot.

        Drawn before anything is asked, so that flips there speak of all matches. None of one.
        """
        if len(self.answers) < 2:
            return None
        first, other = sorted(self.rng("sample").sample(sorted(self.answers), 2))
        return first, other

    def ballots(self, protocol: str, placed_by: Rule) -> ItemBallots:
        """The empty record of this item."""
        return ItemBallots(
            protocol=protocol,
            task_type=self.rubric.task_type,
            rubric=self.rubric_name,
            lengths={name: len(answer) for name, answer in self.answers.items()},
            placed_by=placed_by,
            **{name: getattr(self, name) for name in _IN_BALLOTS - {"rubric"}},
        )


_IN_BALLOTS: Final = {part.name for part in fields(Contest)} & set(ItemBallots.model_fields)
"""Fields of the same name, and but for `rubric` of the same content."""
