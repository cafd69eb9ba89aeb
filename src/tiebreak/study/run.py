"""The steps of a study, in the order in which a person would do them.

    1  answers that are missing       inspect eval-set
    2  can judging help?              tiebreak diagnose
    3  the plan and its price         tiebreak estimate
    4  judging                        inspect eval tiebreak/PROTOCOL
    5  the board and the page         tiebreak rank, tiebreak report

Each step prints the command that does it alone. A study that was killed at any moment continues
when it is run again: it uses the logs in its folder, and replies come from Inspect's cache.
"""

import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from inspect_ai.log import list_eval_logs

from tiebreak.analysis.diagnosis import diagnose
from tiebreak.candidates import CandidatePool, load_candidates
from tiebreak.paths import AnyPath, Paths
from tiebreak.rankers.errors import MissingPackageError
from tiebreak.report import terminal
from tiebreak.report.page.build import write_report
from tiebreak.report.sheets import sheets_of
from tiebreak.study import StudyError
from tiebreak.study.answers import Answering, Billing, bill_of, say
from tiebreak.study.design import Study, read_study, study_of
from tiebreak.study.estimate import sheet as estimate_sheets
from tiebreak.study.folder import Judging, StudyFolder
from tiebreak.study.planning import (
    Planned,
    Source,
    estimate_commands,
    estimates,
    paid_before,
    plan,
    raised,
    register_prices,
    require_judging,
    share_of,
)
from tiebreak.text import all_of, count

_STEPS: Final = 5
Choose = Callable[[CandidatePool], Sequence[str]]


@dataclass(frozen=True)
class StudyResult:
    """The result of a study: its ranking logs, the page, and reasons for models left out.

    Without matplotlib there is no page, and `page` says why. `unfinished` are ranking logs that
    lack items: running the study again continues them. `unpublished`: why publishing failed, or "".
    """

    logs: tuple[str, ...]
    page: str
    left_out: dict[str, str]
    unfinished: tuple[str, ...]
    unpublished: str = ""


def run_study(
    study: Study | Mapping[str, Any] | AnyPath,
    folder: AnyPath = "study",
    *,
    anyway: bool = False,
    confirm: Callable[[str], bool] | None = None,
    choose: Choose | None = None,
) -> StudyResult:
    """Answer, diagnose, plan, judge and report, as `tiebreak run` does.

    Logs in the folder are used: a killed study continues when run again and pays nothing twice.

    Args:
        study: the design, the fields of `study.yaml`, or the path of that file.
        folder: the folder of all files of the study.
        anyway: judge even if that cannot help or is not needed.
        confirm: called with a question before answers and judging that were not confirmed yet are
            paid for, except for the first few answers; None always continues.
        choose: a function from a pool to the sample ids of the items to judge; None allows all.

    Raises:
        StudyError: the folder holds another study, the budget is too small, fewer than two models
            have answers, judging is not worth it, or the price is not confirmed.
        TiebreakError: a step failed.
        PrerequisiteError: a task, a key or a model is missing.
    """
    if not isinstance(study, Study):
        study = study_of(study) if isinstance(study, Mapping) else read_study(study)
    kept = StudyFolder(Path(folder))
    kept.require_same(study)
    prices = register_prices(study)
    for model in study.everyone:
        model.build()  # raises for a missing key before anything is paid
    if not kept.plans() and study.models:
        require_judging(study, len(study.benchmarks))
    # If standard output is not a terminal, only the verdict goes there.
    with kept.alone(), redirect_stdout(sys.stdout if sys.stdout.isatty() else sys.stderr):
        kept.keep(study)
        sources, left_out = _answers(study, kept, cache(partial(bill_of, prices)), confirm)
        if choose is not None:
            sources = [replace(source, chosen=tuple(choose(source.pool))) for source in sources]
        _diagnosis(study, sources, anyway=anyway)
        runs = _plans(study, sources, kept, confirm)
        logs, unfinished = _judging(study, runs, kept)
        page, unpublished = _report(study, logs, kept)
    return StudyResult(logs, page, left_out, unfinished, unpublished)


def _step(number: int, text: str, *commands: str) -> None:
    say(f"\n[{number}/{_STEPS}] {text}")
    for command in commands:
        say(f"  $ {command}")


def _answers(
    study: Study, kept: StudyFolder, bill: Billing, confirm: Callable[[str], bool] | None
) -> tuple[list[Source], dict[str, str]]:
    if study.answers:
        _step(1, f"Answers: those in {all_of(study.answers)}")
        pool = load_candidates(study.answers, mode=study.judging.get("mode", "strict"))
        return [Source(study, "answers", study.answers, pool)], {}
    sources, left_out = [], {}
    for benchmark in study.benchmarks:
        answering = Answering(study, benchmark, kept, bill)
        share = share_of(study, answering.paid())
        plans = [run for run in kept.plans() if run.place.startswith(f"{benchmark.name}/")]
        if any(raised(study, run, share) for run in plans):
            plans = []
        asked = f"{count(len(study.models), 'model')} answer {benchmark.name}"
        _step(1, f"{asked}; what lies in {answering.place} is used")
        answers, n_items = answering.within_budget(confirm, plans)
        for command in answering.commands(n_items):
            say(f"  $ {command}")
        if len(answers.logs) < 2:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in answers.left_out.items())
            raise StudyError(
                f"{benchmark.name}: a ranking takes the answers of two models, and these failed: "
                f"{reasons}. Their logs are in {answering.place}; the same command "
                "tries again."
            )
        for model, reason in answers.left_out.items():
            say(f"  {model} is left out, for it failed: {reason}")
            left_out[model] = reason
        paths = _short(answering.place, answers.logs.values())
        source = Source(study, benchmark.name, paths, load_candidates(paths), answers.logs)
        sources.append(replace(source, paid=answering.paid(), drawn=answering.drawn()))
    return sources, left_out


def _short(place: Path, logs: Iterable[str]) -> tuple[str, ...]:
    """The folder of some logs if it has no others, else the logs."""
    wanted = tuple(sorted({*logs}))
    return (str(place),) if len(list_eval_logs(str(place))) == len(wanted) else wanted


def _diagnosis(study: Study, sources: list[Source], *, anyway: bool) -> None:
    commands = [f"tiebreak diagnose {shlex.join(source.paths)}" for source in sources]
    _step(2, "Can judging help?", *commands)
    for source in sources:
        diagnoses = diagnose(source.pool)
        for sheet in sheets_of(diagnoses):
            say(f"  {sheet.verdict}")
        if anyway or any(diagnosis.verdict.judging == "could_help" for diagnosis in diagnoses):
            continue
        raise StudyError(
            f"{source.name}: judging is not worth its price here, as said above. Nothing is "
            "judged; --anyway judges all the same."
        )
    contestants = {model for source in sources for model in source.pool.models}
    if partial_judges := [name for name in study.asked if name in contestants]:
        verb = "is a contestant, too: it judges its own answers"
        say(f"  {all_of(partial_judges)} {verb} among the others'.")


def _plans(
    study: Study,
    sources: list[Source],
    kept: StudyFolder,
    confirm: Callable[[str], bool] | None,
) -> list[Judging]:
    planned: list[Planned] = [
        plan(source, protocol, kept) for protocol in study.protocols for source in sources
    ]
    runs = [run for place in planned for run in place.runs]
    unplanned = {place.estimated.label: place.estimated for place in planned if place.estimated}
    estimated = [*unplanned.values()]
    if estimated or any(place.price for place in planned):
        commands = [command for place in planned for command in place.commands]
        prices = [sheet for place in planned for sheet in place.price]
        for source in sources if estimated else ():
            commands += estimate_commands(study, estimated, source.paths)
            for estimate in estimates(study, estimated, source.pool):
                prices += estimate_sheets.sheets_of(estimate)
        before = paid_before(kept, {run.place for run in runs})
        _step(3, f"The plan, and its price{before}", *commands)
        terminal.show(prices)
        total = "without a limit"
        if study.budget:
            left = study.budget - sum(source.paid for source in sources)
            total = f"for ${left:,.2f} at most"
        if study.calls:
            total = f"for {count(study.calls, 'call')} at most"
        then = f", then publish it as {study.publish}" if study.publish else ""
        if confirm is not None and not confirm(f"Judge {total}{then}?"):
            raise StudyError("Nothing is judged. The answers stay where they are.")
        kept.keep_plans(tuple(runs))
    else:
        _step(3, f"The plan was confirmed before: {kept.path / 'plans.json'}")
    return runs


def _judging(
    study: Study, runs: list[Judging], kept: StudyFolder
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Do the judging that is not finished; returns all logs, and those that lack items."""
    logs, unfinished = [], []
    for number, run in enumerate(runs):
        if run.log is None:
            task = run.task(study, kept.ranking(run.folder))
            _step(4, f"Judging: {run.place}", task.command("eval"))
            [log] = task.finish()
            path = str(kept.ranking(run.folder) / Path(log.location).name)
            if log.status == "success":
                runs[number] = run = run.model_copy(update={"log": path})
                kept.keep_plans(tuple(runs))
            else:
                unfinished.append(path)
            logs.append(path)
        else:
            _step(4, f"Judged before: {run.log}")
            logs.append(run.log)
    return tuple(logs), tuple(unfinished)


def _report(study: Study, logs: tuple[str, ...], kept: StudyFolder) -> tuple[str, str]:
    """Write the page and publish; returns the page, and why publishing failed ("" if not)."""
    ranked = shlex.join(_short(kept.path / "ranking", logs))
    _step(
        5,
        "The board and the page",
        f"tiebreak rank {ranked}",
        f"tiebreak report {ranked} -o {kept.path / 'report'}",
    )
    page, unpublished = written_report(logs, kept.path / "report", study.title), ""
    if study.publish:
        from tiebreak.publish.dataset import publish_dataset
        from tiebreak.publish.errors import PublishError

        say(f"  $ tiebreak publish {ranked} --to {study.publish}")
        try:
            publish_dataset(logs, study.publish)
        except PublishError as error:
            unpublished = str(error)
    say(f"  Report: {page}\n")
    return page, unpublished


def written_report(logs: Paths, folder: Path, title: str | None = None) -> str:
    """Write the report; returns its page, or the reason for no page without matplotlib."""
    try:
        return str(write_report(logs, folder, title=title)[0])
    except MissingPackageError as error:
        return f"not written: {error}"
