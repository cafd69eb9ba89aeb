"""A planted world: models of known quality, and their answers.

    u[t, i] = θ[i] + N(0, 1)                   quality of model i's answer to item t
    gap     = u[left] − u[right]               what a pairwise judge goes by
              + position bias + verbosity bias · (difference in length) + noise

The unit of everything is the spread of a model's answers over items (sd 1). θ that are 0.2 apart
are nearly tied: the better of two such models gives the better answer to 56% of the items.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tiebreak.lab.judge import PlantedJudge, Traits, require
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.rubric import TOP_GRADE, ChecklistItem, Principle, Rubric

FloatArray = NDArray[np.float64]

RUBRIC: Final = Rubric(
    version=1,
    task_type="planted",
    principles=(Principle(id="P1", name="Quality", description="It is better.", weight=1),),
    checklist=(ChecklistItem(id="C1", principle="P1", description="It is better."),),
)
"""All that sets planted answers apart is their quality."""

TYPICAL_GRADE: Final = 7
"""Grade, of 10, of an answer of quality 0: strong models sit near the top of the scale."""


def spread_out(n_models: int, sd: float) -> tuple[float, ...]:
    """Qualities of `n_models` models, best first: normal quantiles, scaled to this sd and mean 0.

    Raises:
        LabError: fewer than two models, or an sd that is not positive.
    """
    require(n_models >= 2, f"{n_models} models: a comparison takes two")
    require(sd > 0, f"a spread of {sd}: it must be greater than 0")
    normal = NormalDist()
    quantiles = [normal.inv_cdf((n_models - i - 0.5) / n_models) for i in range(n_models)]
    values = sd * np.array(quantiles) / np.std(quantiles)
    return tuple(float(value) for value in values.round(12))


@dataclass(frozen=True, slots=True)
class World:
    """What is planted.

    `qualities` are the θ of the models. `ties` is the share of the answers to an item, in [0, 1),
    that repeat another model's: with 0.5 every answer has a twin, with 0.25 half of them have.
    `pass_rate` is the probability that an answer of quality N(0, 1) passes the native check, which
    sees no more than whether an answer is good enough.

    Raises:
        LabError: fewer than two models, or a number out of range.
    """

    qualities: tuple[float, ...]
    traits: Traits = field(default_factory=Traits)
    ties: float = 0.0
    pass_rate: float = 0.97

    def __post_init__(self) -> None:
        n = len(self.qualities)
        require(n >= 2, f"{n} models: a comparison takes two")
        require(bool(np.isfinite(self.qualities).all()), "a quality is not a finite number")
        require(0 <= self.ties < 1, f"ties are {self.ties}: a share of answers below 1")
        require(0 < self.pass_rate < 1, f"the pass rate is {self.pass_rate}, not between 0 and 1")

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in the order of `qualities`."""
        n = len(self.qualities)
        return tuple(f"m{number:0{len(str(n))}}" for number in range(1, n + 1))


class Pool:
    """The answers of a world's models to some items, and all that a judge reads in them.

    The first items of a longer pool with the same seed are those of a shorter one, and the answers
    do not depend on the judge's traits.

    `seed` may be several whole numbers.

    Raises:
        LabError: fewer than one item.
    """

    def __init__(self, world: World, n_items: int, *seed: int) -> None:
        require(n_items >= 1, f"{n_items} items: there is nothing to judge")
        self.world, self.models, self.seed = world, world.models, seed
        traits, n = world.traits, len(world.qualities)
        shape = (n_items, n)
        original = _originals(self._draw(0).random(shape), max(1, n - round(world.ties * n)))
        quality = np.array(world.qualities) + self._draw(1).standard_normal(shape)
        # Half of what makes an answer long is its model's habit.
        habit = self._draw(2).standard_normal(n)
        length = np.sqrt(0.5) * (habit + self._draw(3).standard_normal(shape))
        self._original = original
        self._quality, self._length = (
            np.take_along_axis(each, original, axis=1) for each in (quality, length)
        )
        self.passed = self._quality > NormalDist().inv_cdf(1 - world.pass_rate)
        seen = self._quality + traits.verbosity_bias * self._length
        error = self._draw(4).standard_normal((n_items, n, n))
        self._gaps = seen[:, :, None] - seen[:, None, :]
        if not traits.fresh:
            self._gaps += traits.noise * (np.triu(error, 1) - np.triu(error, 1).swapaxes(1, 2))
        taste = (traits.list_taste * self._draw(9).standard_normal(n))[original]
        self._tiers, self._places = (
            seen + taste + traits.reading_noise * self._draw(stream).standard_normal(shape)
            for stream in (5, 6)
        )
        self._points, self._rubric_points = (
            _grades(seen + traits.grading_noise * self._draw(stream).standard_normal(shape))
            for stream in (7, 8)
        )

    def __len__(self) -> int:
        return len(self._quality)

    @cached_property
    def contests(self) -> tuple[Contest, ...]:
        """The items as protocols get to see them."""
        return tuple(map(self._contest, range(len(self))))

    def judge(self, item: int, asker: str = "") -> PlantedJudge:
        """The judge of one item, with draws of its own for every `asker`."""
        names = self.models
        flat = self._gaps[item].ravel().tolist()
        return PlantedJudge(
            gaps=dict(zip(product(names, names), flat, strict=True)),
            tiers=dict(zip(names, self._tiers[item].tolist(), strict=True)),
            places=dict(zip(names, self._places[item].tolist(), strict=True)),
            points=dict(zip(names, self._points[item].tolist(), strict=True)),
            rubric_points=dict(zip(names, self._rubric_points[item].tolist(), strict=True)),
            traits=self.world.traits,
            seed=f"{self.seed} {item}",
            asker=asker,
        )

    def _draw(self, stream: int) -> np.random.Generator:
        """A generator for each purpose, so that one trait more or less leaves the others' draws."""
        return np.random.default_rng((*self.seed, stream))

    def _contest(self, item: int) -> Contest:
        names = self.models
        original = self._original[item].tolist()
        groups = tuple(
            tuple(names[i] for i, own in enumerate(original) if own == leader)
            for leader in dict.fromkeys(original)
        )
        characters = (400 * np.exp(0.3 * self._length[item])).round().astype(int).tolist()
        length = dict(zip(names, characters, strict=True))
        return Contest(
            benchmark=f"planted {' '.join(map(str, self.seed))}",
            item_id=str(item),
            input_hash=f"{item:016x}",
            task=f"Item {item}",
            rubric_name=RUBRIC.task_type,
            rubric=RUBRIC,
            position=item,
            n_items=len(self),
            seed=0,
            models=names,
            native=dict(zip(names, self.passed[item].astype(float).tolist(), strict=True)),
            groups=groups,
            answers={group[0]: "x" * length[group[0]] for group in groups},
        )


def _originals(lots: FloatArray, n_distinct: int) -> NDArray[np.intp]:
    """Whose answer each model gives: shape (items, N), with `n_distinct` different ones a row.

    In an order drawn by lot the first give answers of their own, and the others repeat these in
    turn, so that no answer is copied twice before all are copied once.
    """
    order = np.argsort(lots, axis=1)
    originals = np.empty_like(order)
    source = order[:, np.arange(order.shape[1]) % n_distinct]
    np.put_along_axis(originals, order, source, axis=1)
    return originals


def _grades(readings: FloatArray) -> NDArray[np.int64]:
    return np.clip(np.rint(TYPICAL_GRADE + readings), 0, TOP_GRADE).astype(np.int64)
