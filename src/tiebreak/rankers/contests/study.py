"""Many contests: blocks with independent random streams, run by workers and summed exactly."""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing import parent_process
from typing import Any, TypeVar

import numpy as np

from tiebreak.progress import tracked, watched
from tiebreak.rankers.contests.control import CHANCE_BITS, VALUE_BITS, Control, controlled_sums, fit
from tiebreak.rankers.contests.engine import (
    BLOCK,
    Draw,
    Places,
    States,
    draw_block,
    out_flag,
    plain_sums,
    schedule,
    simulate_block,
    states_of,
)
from tiebreak.rankers.errors import optional
from tiebreak.rankers.profile import FloatArray, IntArray

# Fractional bits of the sums that a study returns.
SUM_BITS = CHANCE_BITS
# Models × rounds × contests worth starting a worker for: half a second of work in NumPy.
_WORK = 50_000_000
# A pilot has a tenth of the contests, at most 4000; with fewer than 100 it does not pay.
_PILOT = (100, 4000)

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Study:
    """Settings of contests that differ only by chance.

    `strength` has shape (K, M); with `weights`, shape (K,), the rounds have a random order in each
    contest; without `control` scores are plain.
    """

    strength: IntArray
    eliminate: tuple[int, ...]
    iterations: int
    seed: int
    weights: FloatArray | None = None
    control: Control | None = None
    compiled: bool = False

    @property
    def unit(self) -> int:
        """Number of contests in an independent unit, of which there are usually a few thousand.

        Standard errors come from the sums of units. The number divides BLOCK.
        """
        return 1 if self.iterations < 5_000 else 20 if self.iterations < 1_000_000 else 1000

    @property
    def sizes(self) -> IntArray:
        """Contests in each unit, shape (units,); the last one may be smaller."""
        full, rest = divmod(self.iterations, self.unit)
        return np.array([self.unit] * full + [rest] * bool(rest), dtype=np.int64)


def with_control(study: Study) -> Study:
    """Add a control variate fitted to a pilot; return the study unchanged if that does not pay."""
    least, most = _PILOT
    contests = min(study.iterations // 10, most)
    if contests < least:
        return study
    blocks = range(-(-contests // BLOCK))
    # Separate random streams, because contests of the pilot would bias the mean.
    traces = [
        _trace(study, _draw(study, (number, 1), min(BLOCK, contests - number * BLOCK)))
        for number in blocks
    ]
    return replace(study, control=fit(np.concatenate(traces, axis=1)[:, :contests]))


def unit_sums(studies: Sequence[Study], n_jobs: int | None = None) -> list[IntArray]:
    """Summed scores of every unit of each study, shape (units, M), as multiples of 2^-SUM_BITS.

    The result does not depend on the number of workers: every block has its own random stream, and
    integer sums do not depend on their order.
    """
    blocks = [-(-study.iterations // BLOCK) for study in studies]
    tasks = [(study, at) for study, n in zip(studies, blocks, strict=True) for at in range(n)]
    work = sum(study.strength.size * study.iterations for study in studies)
    parts = iter(spread(_block_sums, tasks, work, n_jobs, "playing contests"))
    return [np.concatenate([next(parts) for _ in range(n)]) for n in blocks]


def spread(
    play: Callable[..., _Part],
    tasks: Sequence[tuple[Any, ...]],
    work: int,
    n_jobs: int | None,
    label: object,
) -> list[_Part]:
    """Call `play` for each task, here or in worker processes, and return the results.

    Args:
        play: a module-level function, so that workers can import it.
        tasks: the arguments of each call.
        work: models × rounds × contests of all tasks.
        n_jobs: 1 = in this process; otherwise as in joblib, on the backend that
            `joblib.parallel_config` sets. None = up to all cores if joblib is installed, as far as
            the work repays starting them.
        label: its `str` names the work in progress displays; joblib's "multiprocessing" backend
            cannot report progress.

    Raises:
        MissingPackageError: workers are asked for and joblib is not installed.
    """
    if n_jobs is None:
        n_jobs = min(work // _WORK, _cores()) if work >= 2 * _WORK else 1
    if n_jobs == 1:
        return [play(*task) for task in tracked(tasks, label)]
    joblib = optional("joblib", "More than one process needs joblib", "joblib")
    workers = joblib.Parallel(n_jobs=n_jobs, return_as="generator" if watched() else "list")
    return list(tracked(workers(joblib.delayed(play)(*task) for task in tasks), label, len(tasks)))


def _cores() -> int:
    """Number of cores that joblib may use; 1 without joblib or if this process is a worker."""
    if importlib.util.find_spec("joblib") is None or parent_process() is not None:
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(-1))


def _block_sums(study: Study, number: int) -> IntArray:
    contests = min(BLOCK, study.iterations - number * BLOCK)
    draw = _draw(study, (number,), contests)
    strength = study.strength[:, draw.numbering]
    play, add_up, take_out_luck = engine(study.compiled)
    given = (draw.words, strength, study.eliminate, draw.orders)
    if study.control is None:
        # Scores after the last round, without the flag of eliminated models.
        last = schedule(strength.shape[1], study.eliminate)[-1].score
        last = last & (out_flag(len(study.eliminate)) - 1)
        numbered = add_up(play(*given)[0, :, :contests], last, unit=study.unit) << SUM_BITS
    else:
        win, stay = study.control.win, study.control.stay
        control = Control(win[:, draw.numbering], stay[:, draw.numbering])
        places = play(*given, trace=True)[..., :contests]
        numbered = take_out_luck(places, *given[1:3], control, draw.orders, unit=study.unit)
        numbered >>= VALUE_BITS
    sums: IntArray = np.empty_like(numbered)
    sums[:, draw.numbering] = numbered
    return sums


def _draw(study: Study, key: tuple[int, ...], contests: int) -> Draw:
    n_models = study.strength.shape[1]
    return draw_block(key, study.seed, contests, n_models, study.eliminate, study.weights)


def _trace(study: Study, draw: Draw) -> States:
    """States after every round, shape (K, contests, M), with models in the study's order."""
    strength = study.strength[:, draw.numbering]
    play, *_ = engine(study.compiled)
    places = play(draw.words, strength, study.eliminate, draw.orders, trace=True)
    rounds = schedule(places.shape[1], study.eliminate)
    states = states_of(places, np.array([round_.score for round_ in rounds]))
    traced = np.empty_like(states)
    traced[:, :, draw.numbering] = states
    return traced


def engine(
    compiled: bool,
) -> tuple[Callable[..., Places], Callable[..., IntArray], Callable[..., IntArray]]:
    """`simulate_block`, `plain_sums` and `controlled_sums`, in NumPy or compiled: same results."""
    if not compiled:
        return simulate_block, plain_sums, controlled_sums
    from tiebreak.rankers.contests import compiled as fast

    return fast.simulate_block, fast.plain_sums, fast.controlled_sums
