"""What stars show about stability and the course of scores (LLMEval-Fair, findings 1, 5 and 7).

One finding of parts, each in a module of its own: `star_samples` (table 9), `star_orders` (figure
5), `star_course` (figure 2 and finding 5), `star_causes` (figure 3).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.star_causes import ErrorCauses, error_causes
from tiebreak.analysis.star_course import Elsewhere, StarCourse, elsewhere, star_course
from tiebreak.analysis.star_orders import StarOrders, star_orders
from tiebreak.analysis.star_rounds import star_parts
from tiebreak.analysis.star_samples import StarSamples, star_samples
from tiebreak.analysis.star_table import star_table
from tiebreak.analysis.stars import NO_STARS
from tiebreak.paths import Paths
from tiebreak.progress import tracked
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.tables.causes import CauseLabels
from tiebreak.tables.dates import ReleaseDate
from tiebreak.tables.scores import ScoreTable
from tiebreak.words import count


@dataclass(frozen=True, slots=True, repr=False)
class StarStability(Finding):
    """Parts by benchmark, those that were asked for; `notes` are about the logs."""

    samples: tuple[StarSamples, ...]
    orders: tuple[StarOrders, ...]
    elsewhere: tuple[Elsewhere, ...]
    courses: tuple[StarCourse, ...]
    causes: ErrorCauses | None
    benchmarks: tuple[str, ...]
    level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        n = count(len(self.benchmarks), "benchmark")
        return f"{shortened(list(self.benchmarks))}: {n} judged by stars"


def star_stability(
    paths: Paths,
    *,
    sizes: Sequence[int] | None = (),
    reference: str | None = None,
    orders: bool = False,
    against: ScoreTable | None = None,
    dates: Sequence[ReleaseDate] = (),
    causes: CauseLabels | None = None,
    n_draws: int = 30,
    seed: int = 0,
    level: float = 0.95,
) -> StarStability:
    """Stability of the logs judged by stars among some files and folders.

    Args:
        paths: ranking logs, and folders that hold some; those of other protocols are passed over.
        sizes: numbers of questions to draw from those at hand; None: no samples at all.
        reference: the model that relative scores refer to; None: the best of each benchmark.
        orders: whether ways of ranking are held against each other on fewer questions.
        against: scores of the same models elsewhere, to correlate with.
        dates: of models, to put scores by.
        causes: labels of errors.
        n_draws: draws of each size, by the seeds `seed`, `seed` + 1, ….
        seed: of the first draw.
        level: of intervals and tests, in (0, 1).

    Raises:
        RankingLogError: a path holds no ranking log.
        AnalysisError: no log was judged by stars, or no answer of the reference was; nothing of
            `against`, `dates` or `causes` is about these models; too few models for `orders`.
        MissingPackageError: evalica is not installed, for `orders`.
    """
    parts = star_parts(read_ranking_logs(paths, with_votes=False))
    judged = {name: own for name, own in parts.items() if any(log.items for log in own)}
    if not judged:
        raise AnalysisError(NO_STARS)
    known = {
        model for own in judged.values() for log in own for i in log.items for model in i.models
    }
    if reference is not None and reference not in known:
        raise AnalysisError(
            f"--reference: no answer of {reference!r} was judged by stars; there are: "
            f"{', '.join(sorted(known))}"
        )
    tables = {name: star_table(own) for name, own in judged.items()}
    samples = [
        star_samples(
            name,
            own,
            sizes=sizes,
            reference=reference,
            n_draws=n_draws,
            seed=seed,
            level=level,
        )
        for name, own in tracked(judged.items(), "ranking draws of questions")
        if sizes is not None
    ]
    remarks = (note for own in judged.values() for log in own for note in log.notes)
    return StarStability(
        samples=tuple(samples),
        orders=tuple(
            star_orders(name, table, n_draws=n_draws, seed=seed)
            for name, table in tracked(tables.items(), "ordering models by fewer questions")
            if orders
        ),
        elsewhere=elsewhere(tables, against, how=Resampling(level, 1000, seed)) if against else (),
        courses=tuple(
            star_course(name, table, dates, level=level) for name, table in tables.items() if dates
        ),
        causes=error_causes(causes, tables, level=level) if causes else None,
        benchmarks=tuple(tables),
        level=level,
        notes=tuple(dict.fromkeys(remarks)),
    )
