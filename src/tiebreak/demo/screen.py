"""The last screen of the demo: a short board for each benchmark, what they come to, and paths."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from rich.console import Console

from tiebreak.analysis.leaderboard import Leaderboard, boards_of
from tiebreak.demo.bracket import drawn
from tiebreak.demo.words import about_boards, about_judge, about_reviewers
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers.errors import MissingPackageError
from tiebreak.ranking_logs import read_ranking_logs
from tiebreak.report import terminal
from tiebreak.report.page.build import write_report
from tiebreak.report.sheets.short import short_sheet
from tiebreak.scorers.ballots import ItemBallots

DemoProtocol = Literal["round_robin", "seal", "peer_review"]


class DemoLogs(NamedTuple):
    """Where a run of the demo put its logs and its report."""

    candidates: Path
    ranking: Path
    report: Path


def require_shown(protocol: str) -> None:
    """Refuse what the demo does not show; raises PrerequisiteError."""
    if protocol not in get_args(DemoProtocol):
        known = ", ".join(get_args(DemoProtocol))
        raise PrerequisiteError(f"The demo shows {known}, not {protocol!r}.")


def run_folder(out: Path) -> DemoLogs:
    """A new folder `run-N`: two runs in one folder would be two logs of one candidate."""
    number = 1
    while True:
        run = out / f"run-{number}"
        try:
            run.mkdir(parents=True)
        except FileExistsError:
            number += 1
            continue
        return DemoLogs(run / "candidates", run / "ranking", run / "report")


def written_report(logs: DemoLogs) -> str:
    """Write the report; its page, or without matplotlib why there is none."""
    try:
        return str(write_report([logs.ranking], logs.report)[0])
    except MissingPackageError as error:
        return f"not written: {error}"


def say(text: str) -> None:
    """Print text that breaks between words."""
    console = Console(highlight=False)
    for line in text.split("\n"):
        console.print(terminal.plain(line))


def show_ranking(protocol: DemoProtocol, judge: str, logs: DemoLogs, page: str) -> None:
    """Print the last screen.

    Args:
        protocol: how the answers were judged.
        judge: who judged.
        logs: of the run.
        page: what `written_report` returned.
    """
    found = read_ranking_logs([logs.ranking])
    boards = [board for log in found for board in boards_of(log, views=False)]
    items = [item for log in found for item in log.items]
    reviewed = protocol == "peer_review"
    terminal.show([short_sheet(board) for board in boards])
    print()
    if protocol == "seal" and (bracket := _bracket(items)):
        print(bracket, end="\n\n")
    about = (about_reviewers if reviewed else about_judge)(judge, items)
    say(f"{about_boards(boards)}\n{about}\n")
    for what, where in _paths(boards, logs, page, reviewed=reviewed):
        print(f"{what:<19}{where}", flush=True)


def _bracket(items: Sequence[ItemBallots]) -> str:
    """The bracket of the item with the most matches that one side won; "" where no item has any."""
    item = max(
        items,
        key=lambda one: (len(one.matches), sum(match.result in (0, 1) for match in one.matches)),
        default=None,
    )
    if item is None or not item.matches:
        return ""
    names = {model: model.rpartition("/")[2] for model in item.models}
    return f"The bracket of {item.benchmark} {item.item_id}:\n{drawn(item, names)}"


def _paths(
    boards: Sequence[Leaderboard], logs: DemoLogs, page: str, *, reviewed: bool
) -> Iterator[tuple[str, str]]:
    yield "Candidates' logs", str(logs.candidates)
    yield "Ranking log", boards[0].log if boards else str(logs.ranking)
    yield "Report", page
    yield "All of the boards", _typed("tiebreak rank", logs.ranking)
    if reviewed:
        yield "The reviewers", _typed("tiebreak peers", logs.ranking)
    yield "Every sample", _typed("inspect view --log-dir", logs.ranking.parent)


def _typed(command: str, path: Path) -> str:
    return f"{command} {shlex.quote(str(path))}"
