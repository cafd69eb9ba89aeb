"""The verb `score-code`: run the tests of the programs in a pool, in a sandbox."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli._families import CandidateOptions
from tiebreak.cli._options import File, Folder, Name, NewFile, family, option, verb
from tiebreak.cli._shared import echo_json
from tiebreak.paths import to_file
from tiebreak.text import count

if TYPE_CHECKING:
    from tiebreak.inspect_tasks.score_code import CodeScores, Unscored
    from tiebreak.publish.write_back.run import Outcome
    from tiebreak.report.sheet import Sheet

_MOST_SHOWN = 10


@verb("score-code")
def score_code(
    paths: tuple[File, ...],
    *,
    out: NewFile = option("Write the pool, with its native scores, to a Parquet file."),
    sandbox: Name = option(
        "docker, bubblewrap (a box on this machine, without a container), or another sandbox of "
        "Inspect; or NAME:CONFIG.",
        default="docker",
    ),
    confirm_run_unsafe_code: bool = option(
        "Accept the sandbox `local`: until the next release it is bubblewrap's box."
    ),
    trust_code: bool = option(
        "Accept that with `local` it runs without the box, too, where there is none."
    ),
    again: bool = option("Run also what has a native score, and replace it."),
    log_dir: Folder | None = option(
        "Keep Inspect's log of the runs, in a folder apart from the models' logs."
    ),
    results: bool = option(
        "Write the scores beside lm-eval's samples, too, as a results file of lm-eval's form, "
        "where `csd` and others look for them. Files of the run stay as they are.",
        "--results/--no-results",
        default=True,
    ),
    loading: CandidateOptions = family(CandidateOptions),
    as_json: bool = option("Print JSON instead of tables.", "--json"),
) -> None:
    """Run HumanEval's tests on answers, in a sandbox. It gives the answers their native score.

    lm-eval runs no code that a model wrote, so this is the second step for its answers. Answers
    that have a native score keep it, and other benchmarks do not change. The scores are written to
    the pool, and beside each samples_*.jsonl to a new results_*.json (metric: unit_tests), where
    `csd` finds them. Exit code 1: some answers could not be run and are unscored; run the same
    command with the pool to continue.

    \b
    Examples:
      tiebreak score-code lm_eval_out/ --out pool.parquet
      tiebreak score-code lm_eval_out/ --out pool.parquet && tiebreak csd lm_eval_out/
      tiebreak score-code lm_eval_out/ --out pool.parquet --sandbox bubblewrap
      tiebreak score-code lm_eval_out/ logs/ --out pool.parquet --again --no-results
      tiebreak score-code pool.parquet --out pool.parquet
    """
    from tiebreak.candidates import load_candidates, write_parquet
    from tiebreak.inspect_tasks.score_code import METRIC
    from tiebreak.inspect_tasks.score_code import score_code as score
    from tiebreak.publish.write_back.lm_eval_results import write_lm_eval_results

    pool = load_candidates(without(out, paths), **vars(loading))
    with to_file(out):  # before anything is run, because results that cannot be written are lost
        out.resolve().parent.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=out.resolve().parent).close()
    scores = score(
        pool,
        sandbox,
        confirm_run_unsafe_code=confirm_run_unsafe_code,
        trust_code=trust_code,
        again=again,
        log_dir=log_dir,
        display="none" if as_json else None,
    )
    write_parquet(scores.pool, out)
    # After the pool, so that it is complete even if these cannot be written.
    written = write_lm_eval_results(scores.pool, METRIC) if results else []
    if as_json:
        echo_json(_as_dict(scores, out, written))
    else:
        from tiebreak.report import terminal

        terminal.show(_sheet(scores, out, written))
        if log_dir is None and scores.n_runs:
            click.echo("Inspect's log of the runs is gone; --log-dir keeps it.")
    click.get_current_context().exit(1 if scores.unscored else 0)


def without(out: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """The paths; a folder that contains `out` is replaced by its other files, for reruns."""
    from tiebreak.candidates.discover import discover

    given: list[str] = []
    for path in paths:
        inside = Path(path).is_dir() and out.resolve().is_relative_to(Path(path).resolve())
        files = discover([Path(path)]).files if inside and out.is_file() else []
        rest = [str(file.path) for file in files if not file.path.samefile(out)]
        given += rest or [path]
    return tuple(given)


def _as_dict(scores: "CodeScores", out: Path, written: "Sequence[Outcome]") -> dict[str, Any]:
    return {
        "pool": out.as_posix(),
        "runs": scores.n_runs,
        "models": {
            model: {"passed": passed, "scored": scored, "answers": answers}
            for model, (passed, scored, answers) in scores.passed().items()
        },
        "unscored": _answers(scores.unscored),
        "not_there": _answers(scores.not_there),
        "results": [
            {
                "model": outcome.model,
                "state": outcome.state,
                "path": outcome.path,
                "scored": outcome.n_scored,
                "answers": outcome.n_items,
                "why": outcome.why or None,
            }
            for outcome in written
        ],
    }


def _answers(answers: "Sequence[Unscored]") -> list[dict[str, Any]]:
    return [
        {"item": item.item_id, "epoch": item.key.epoch, "model": model, "why": why}
        for item, model, why in answers
    ]


def _sheet(scores: "CodeScores", out: Path, written: "Sequence[Outcome]") -> "Sheet":
    from tiebreak.report import cells
    from tiebreak.report.sheet import Section, Sheet, Table, model_names, numbers

    rows = [
        (
            cells.words(model),
            cells.integer(passed),
            cells.integer(scored),
            cells.integer(answers - scored),
            cells.number(100 * passed / scored if scored else math.nan, 1, unit="%"),
        )
        for model, (passed, scored, answers) in scores.passed().items()
    ]
    table = Table.of((model_names(), *numbers("Passed", "Of", "Unscored", "Share")), rows)
    lines = [
        f"{count(scores.n_runs, 'different program was', 'different programs were')} run.",
        *_named("Unscored", scores.unscored),
    ]
    if scores.not_there:
        stopped = count(len(scores.not_there), "answer")
        lines.append(f"{stopped} stopped at what the sandbox does not have: counted as wrong.")
        lines += _named("Not there", scores.not_there)
    lines += [*_results(written), f"Pool: {out}"]
    sections = (Section.of(table), Section.of(lines=lines))
    return Sheet("Programs that passed their tests", sections=sections)


def _named(label: str, answers: "Sequence[Unscored]") -> Iterator[str]:
    for item, model, why in answers[:_MOST_SHOWN]:
        yield f"{label}: {item.item_id}, {model}: {why}"
    if (more := len(answers) - _MOST_SHOWN) > 0:
        yield f"… and {more} more."


def _results(written: "Sequence[Outcome]") -> Iterator[str]:
    """The results files that were written, and the models without one, with the reason."""
    reasons: dict[str, list[str]] = {}
    for outcome in written:
        if outcome.state == "left_alone":
            reasons.setdefault(outcome.why, []).append(outcome.model)
        else:
            earlier = " (as before)" if outcome.state == "unchanged" else ""
            answers = count(outcome.n_items, "answer")
            yield f"Results: {outcome.path}: {outcome.n_scored} of {answers}{earlier}"
    for why, models in reasons.items():
        yield f"No results written for {', '.join(models)}: {why}; the pool has the scores."
