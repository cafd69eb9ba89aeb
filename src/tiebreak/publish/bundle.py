"""The bundle: all files that a publication adds to a dataset, as bytes.

A run's files never change once published, so the same logs give the same bytes on every machine.
The files that change with every publication (the card, the latest tables) are made from the bundle
and the current content of the dataset: see `latest.changing_files`.
"""

import hashlib
import json
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.analysis.win_rates import win_rates
from tiebreak.candidates import CandidatePool
from tiebreak.extras import to_install
from tiebreak.publish.answers import pool_file
from tiebreak.publish.contests import Contest, contest_manifest, contest_rows, score_rows
from tiebreak.publish.runs import Run
from tiebreak.publish.secrets import (
    Secret,
    environment_secrets,
    log_secrets,
    refuse_secrets,
    score_secrets,
)
from tiebreak.publish.tables import (
    ballot_rows,
    leaderboard_rows,
    of_board,
    parquet_of,
    ranked,
    ranking_rows,
    text_rows,
)
from tiebreak.rankers import MissingPackageError
from tiebreak.report.figures.canvas import require_matplotlib
from tiebreak.report.json import document, only

if TYPE_CHECKING:
    from tiebreak.report.figures.canvas import Drawing


WORDS: Final = "plots.json"
"""File beside a run's plots with the title and alt text of each, in the order of the card."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The additions of a publication: files of its runs, and `shared` ones named by their content.

    `runs` maps the `run_id` of each run or contest to its files by path in the dataset. `secrets`
    must not leave with the card either, which is made later, when the bundle is published.
    """

    runs: Mapping[str, Mapping[str, bytes]]
    shared: Mapping[str, bytes]
    secrets: tuple[Secret, ...] = field(default=(), repr=False)

    @property
    def files(self) -> dict[str, bytes]:
        """All files by path in the dataset, sorted by path."""
        return dict(sorted(ChainMap(*map(dict, self.runs.values()), dict(self.shared)).items()))


def bundle_of(
    runs: Sequence[Run],
    pools: Mapping[str, CandidatePool] | None = None,
    contest: Contest | None = None,
) -> Bundle:
    """The bundle of some runs and a contest; `pools` are their answers, None to leave them out.

    Raises:
        PublishError: a file would contain a secret of a log or of this machine.
    """
    shared: dict[str, bytes] = {}
    for pool in (pools or {}).values():
        path, content = pool_file(pool)
        shared[path] = content
    files = {run.run_id: _files(run, with_texts=pools is not None) for run in runs}
    if contest is not None:
        files[contest.contest_id] = _contest_files(contest)
    bundle = Bundle(files, dict(sorted(shared.items())), tuple(known_secrets(runs, contest)))
    refuse_secrets(bundle.files, bundle.secrets)
    return bundle


def known_secrets(runs: Iterable[Run], contest: Contest | None = None) -> list[Secret]:
    """Secrets that must not be published: of the runs' logs, of score files and of this machine."""
    # Votes files have no header that could contain secrets.
    logs = [path for run in runs if not run.log.seconds for path in run.log.files]
    sources = contest.sources if contest else ()
    return [
        *environment_secrets(),
        *(secret for path in logs for secret in log_secrets(path)),
        *(secret for path in sources for secret in score_secrets(path)),
    ]


def _files(run: Run, *, with_texts: bool) -> dict[str, bytes]:
    """The files of a run by path; a table without rows gets no file."""
    name = run.run_id
    tables = {
        f"leaderboard/full/{name}.parquet": parquet_of("leaderboard", leaderboard_rows(run)),
        f"rankings/{name}.parquet": parquet_of("rankings", ranking_rows(run)),
        f"ballots/{name}.parquet": parquet_of("ballots", ballot_rows(run)),
    }
    if with_texts:
        tables[f"judge_texts/{name}.parquet"] = parquet_of("judge_texts", text_rows(run))
    files = {path: content for path, content in tables.items() if content}
    files[f"runs/{name}/manifest.json"] = as_json(manifest(run))
    return dict(sorted((files | plots(run)).items()))


def _contest_files(contest: Contest) -> dict[str, bytes]:
    from tiebreak.report.figures.contests import sensitivity_figure, wins_figure

    name = contest.contest_id
    files = {
        f"contests/full/{name}.parquet": parquet_of("contests", contest_rows(contest)),
        f"scores/{name}.parquet": parquet_of("scores", score_rows(contest)),
        f"runs/{name}/manifest.json": as_json(contest_manifest(contest)),
    }
    figures = (wins_figure, sensitivity_figure)
    drawn = [] if missing_plots() else [("", figure(contest.report)) for figure in figures]
    return dict(sorted((files | _plot_files(name, drawn)).items()))


def manifest(run: Run) -> dict[str, Any]:
    """Description of a run: its logs, and for each benchmark its judges, pool, biases and cost."""
    return document(
        "tiebreak/run",
        1,
        run_id=run.run_id,
        created=run.created,
        **only(run.log, "protocol", "status", "n_expected"),
        logs=run.facts,
        benchmarks=[_benchmark(run, board) for board in run.boards],
    )


def as_json(data: dict[str, Any]) -> bytes:
    """Data as readable JSON; equal data give equal bytes."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False, sort_keys=True)
    return (text + "\n").encode()


def _benchmark(run: Run, board: Leaderboard) -> dict[str, Any]:
    judged = of_board(run, board)
    items = [item.ballots for item in judged if item.ballots]
    pool = sorted([item.item_id, item.input_hash, list(item.models)] for item in items)
    return {
        "benchmark": board.benchmark,
        "protocol": board.protocol,
        "judges": list(board.judges),
        "verdict": board.verdict,
        "placed_by": board.placed_by,
        "n_ranked": board.n_items,
        "n_unranked": len(board.unranked),
        "settled": board.settled,
        "rubrics": sorted({(item.rubric, item.task_type) for item in items}),
        "rubric_sha256": sorted({item.metadata["rubric"] for item in judged if item.metadata}),
        "pool": {
            "models": sorted({model for item in items for model in item.models}),
            "n_items": len({(item.item_id, item.input_hash) for item in items}),
            "sha256": hashlib.sha256(json.dumps(pool).encode()).hexdigest(),
        },
        "bootstrap": only(board, "level", "draws", "seed"),
        "judge": board.judge,
        "receipt": board.receipt,
        "warnings": list(map(str, board.warnings)),
    }


def missing_plots() -> str | None:
    """Why there are no plots, and what to do; None if plots can be drawn."""
    try:
        require_matplotlib()
    except MissingPackageError:
        install = to_install("report", "matplotlib")
        return f"No plots without matplotlib: {install}; publish again, which adds them"
    return None


def plots(run: Run) -> dict[str, bytes]:
    """The plots of a run by path in the dataset; empty if matplotlib is not installed."""
    return {} if missing_plots() else _plot_files(run.run_id, _drawings(run))


def _plot_files(run_id: str, drawn: "Iterable[tuple[str, Drawing | None]]") -> dict[str, bytes]:
    from tiebreak.report.figures.canvas import distinct

    folder = f"plots/{run_id}"
    known = [(benchmark, drawing) for benchmark, drawing in drawn if drawing is not None]
    drawings = distinct(drawing for _, drawing in known)
    words = [
        {"benchmark": benchmark, **only(drawing, "name", "title", "alt")}
        for (benchmark, _), drawing in zip(known, drawings, strict=True)
    ]
    files = {f"{folder}/{drawing.name}.svg": drawing.svg().encode() for drawing in drawings}
    files |= {f"{folder}/{drawing.name}.png": drawing.png() for drawing in drawings}
    return files | ({f"{folder}/{WORDS}": as_json({"plots": words})} if words else {})


def _drawings(run: Run) -> Iterator[tuple[str, "Drawing | None"]]:
    from tiebreak.report.figures.boards import leaderboard_figure, native_figure
    from tiebreak.report.figures.boxes import reviewer_boxes_figure, self_preference_figure
    from tiebreak.report.figures.matrices import review_matrix_figure, win_rate_figure

    for board in run.boards:
        items = ranked(of_board(run, board))
        best_first = [row.model for row in board.rows]
        yield board.benchmark, leaderboard_figure(board)
        yield board.benchmark, native_figure(board)
        label = f"{board.benchmark} · {board.protocol}"
        yield board.benchmark, win_rate_figure(label, win_rates(items, models=best_first))
    for review in run.reviews:
        yield review.panel.benchmark, review_matrix_figure(review)
        yield review.panel.benchmark, self_preference_figure(review)
        yield review.panel.benchmark, reviewer_boxes_figure(review)
