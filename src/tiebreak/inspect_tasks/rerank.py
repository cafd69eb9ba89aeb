"""Judging tasks: one @task per protocol, over answers that already exist.

inspect eval tiebreak/seal -T candidates=logs/ --model-role judge=openai/gpt-5
"""

from functools import partial
from typing import Any

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.viewer import SampleScoreView, SampleScoreViewSort, TaskSamplesView, ViewerConfig

import tiebreak
from tiebreak.candidates import PROTOCOL_KEY, CandidatePool
from tiebreak.inspect_tasks.judging import (
    contest_samples,
    judge_items,
    load_pool,
    require_judge,
)
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.match import Swap
from tiebreak.scorers.ranking import ranking
from tiebreak.scorers.seal import SealSettings
from tiebreak.scorers.seal import seal as seal_protocol


@task
def seal(
    candidates: str | list[str] | None = None,
    task_type: str | None = None,
    rubric: str | None = None,
    saturated_only: bool = False,
    tiers: int | None = None,
    swap: Swap = "close",
    refine: bool = True,
    critique: bool = True,
    seed: int = 0,
    merge_identical: bool = True,
    mode: str = "strict",
) -> Task:
    """Re-rank candidates by SEAL: seeded elimination with a meta-judge (SEAL, §2).

    Args:
        candidates: Folder or files with the candidates' logs, several separated by commas.
        task_type: Rubric by task type: code_generation, math_reasoning, general_qa or
            tool_calling. Guessed from the benchmark's name when not given, else general_qa.
        rubric: Path of a rubric file of your own; goes before `task_type`.
        saturated_only: Judge only items whose native scores are all equal.
        tiers: Seeding tiers, default min(4, candidates); 1 seeds by lot, without a call.
        swap: Ask a match in the second order of presentation: always, close or never.
        refine: Let the meta-judge add checklist items after close matches.
        critique: List observable differences before semi-final and final matches.
        seed: Seed of every random draw.
        merge_identical: Judge identical answers once; they share their rank.
        mode: strict (any hole is an error) or intersect (keep items that all models answered).
    """
    if swap not in ("always", "close", "never"):
        raise PrerequisiteError(f"swap is {swap!r}: it must be always, close or never.")
    # Arguments of the command line come as whatever YAML makes of them.
    if tiers is not None and not (isinstance(tiers, int) and tiers >= 1):
        raise PrerequisiteError(f"tiers is {tiers!r}: it must be a whole number of at least 1.")
    if not isinstance(seed, int):
        raise PrerequisiteError(f"seed is {seed!r}: it must be a whole number.")
    settings = SealSettings(tiers=tiers, swap=swap, refine=refine, critique=critique)
    require_judge()
    pool = load_pool(candidates, mode)
    return Task(
        dataset=contest_samples(
            pool,
            task_type=task_type,
            rubric=rubric,
            seed=seed,
            saturated_only=saturated_only,
            merge_identical=merge_identical,
        ),
        solver=judge_items(partial(seal_protocol, settings=settings)),
        scorer=ranking(),
        headline_metric=HeadlineMetric(metric="spread"),
        metadata=log_metadata("seal", pool, seed),
        viewer=viewer(pool),
        # One bad item never ends the run, but a run that lacks items is not called a success:
        # `inspect eval-retry` then judges what is missing.
        fail_on_error=True,
        continue_on_fail=True,
    )


def log_metadata(protocol: str, pool: CandidatePool, seed: int) -> dict[str, Any]:
    """What a ranking log says about itself: protocol, version, seed, and where answers came from.

    `PROTOCOL_KEY` is how ranking logs are told from candidates' logs.
    """
    sources = sorted({c.source for _, row in pool for c in row.values()})
    return {
        PROTOCOL_KEY: protocol,
        "tiebreak_version": tiebreak.__version__,
        "seed": seed,
        "candidate_sources": sources,
        "candidate_notes": [str(note) for note in pool.notes],
    }


def viewer(pool: CandidatePool) -> ViewerConfig:
    """Inspect View: one coloured column per model, best score first in a sample."""
    return ViewerConfig(
        sample_score_view=SampleScoreView(
            default="grid", sort=SampleScoreViewSort(column="value", dir="desc")
        ),
        task_samples_view=TaskSamplesView(
            name="ranking",
            compact_scores=True,
            score_color_scales=dict.fromkeys(pool.models, "good-high"),
            color_scales_enabled=True,
        ),
    )
