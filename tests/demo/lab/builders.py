"""Studies of planted worlds."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tiebreak.demo.lab.planted import World
from tiebreak.demo.lab.simulate import Simulation, simulate


def simulate_world(
    world: World, items: Sequence[int] = (50, 100, 200), **settings: Any
) -> Simulation:
    """The study of a planted world, which `simulate` makes of its numbers."""
    settings |= {"ties": world.ties, "pass_rate": world.pass_rate, **asdict(world.traits)}
    return simulate(world.qualities, items, **settings)
