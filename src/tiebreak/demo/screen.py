"""The last screen of the demo: a short board for each benchmark, a summary, and paths.

The summary says what the boards show and whether the judges can be trusted; a SEAL run also shows
the bracket of an item as text. Without a model the screen is made from recorded logs of the demo.
"""

import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

from inspect_ai.log import read_eval_log
from rich.console import Console

from tiebreak.analysis.judge.biases import ALARM, Flips, Position, flips_of, position_of
from tiebreak.analysis.leaderboard import Leaderboard, boards_of
from tiebreak.paths import to_file
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.ranking_logs import read_ranking_logs
from tiebreak.report import terminal
from tiebreak.report.sheets.leaderboard import short_sheet
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.study.run import written_report
from tiebreak.text import all_of, count, percent

DemoProtocol = Literal["round_robin", "seal", "peer_review"]

_WHY = {"tie": " (tie)", "unscored": " (no verdict)"}

STRONG_JUDGE: Final = "tiebreak demo --judge openai/gpt-5"
STRONG_REVIEWERS: Final = "tiebreak demo --protocol peer_review --judge openai/gpt-5,openai/o3"
FEW_PREFERENCES: Final = 0.25
"""A judge that prefers a side in a smaller share of its verdicts decides too rarely."""

RECORDED: Final = Path(__file__).parent / "recorded"
"""`candidates/SETTING/BENCHMARK.eval` and `ranking/PROTOCOL.eval`; `make recorded` makes them."""


class DemoLogs(NamedTuple):
    """Folders of a demo run's logs and report."""

    candidates: Path
    ranking: Path
    report: Path


def require_shown(protocol: str) -> None:
    """Raise PrerequisiteError if the demo does not show a protocol."""
    if protocol not in get_args(DemoProtocol):
        known = ", ".join(get_args(DemoProtocol))
        raise PrerequisiteError(f"The demo shows {known}, not {protocol!r}.")


def run_folder(out: Path) -> DemoLogs:
    """Make a new folder `run-N`; two runs in the same folder would log a candidate twice."""
    number = 1
    while True:
        run = out / f"run-{number}"
        try:
            run.mkdir(parents=True)
        except FileExistsError:
            number += 1
            continue
        return DemoLogs(run / "answers", run / "ranking", run / "report")


def say(text: str) -> None:
    """Print text with line breaks between words."""
    console = Console(highlight=False)
    for line in text.split("\n"):
        console.print(terminal.plain(line))


def show_ranking(protocol: DemoProtocol, judge: str, logs: DemoLogs, page: str) -> None:
    """Print the last screen; `page` is what `written_report` returned."""
    ranking_logs = read_ranking_logs([logs.ranking])
    boards = [board for log in ranking_logs for board in boards_of(log, views=False)]
    items = [item for log in ranking_logs for item in log.items]
    reviewed = protocol == "peer_review"
    terminal.show([short_sheet(board) for board in boards])
    print()
    if protocol == "seal" and (bracket := _bracket(items)):
        print(bracket, end="\n\n")
    about = (about_reviewers if reviewed else about_judge)(judge, items)
    say(f"{about_boards(boards)}\n{about}\n")
    files, ranking = {board.log for board in boards}, shlex.quote(str(logs.ranking))
    places = {
        "Candidates' logs": logs.candidates,
        "Ranking log": files.pop() if len(files) == 1 else logs.ranking,
        "Report": page,
        "All of the boards": f"tiebreak rank {ranking}",
        **({"The reviewers": f"tiebreak peers {ranking}"} if reviewed else {}),
        "Every sample": f"inspect view --log-dir {shlex.quote(str(logs.ranking.parent))}",
    }
    for label, where in places.items():
        print(f"{label:<19}{where}", flush=True)


def _bracket(items: Sequence[ItemBallots]) -> str:
    """Text of the bracket with the most matches, then the most decided ones; "" without any."""
    item = max(
        items,
        key=lambda item: (len(item.matches), sum(match.result in (0, 1) for match in item.matches)),
        default=None,
    )
    if item is None or not item.matches:
        return ""
    names = {model: model.rpartition("/")[2] for model in item.models}
    return f"The bracket of {item.benchmark} {item.item_id}:\n{drawn(item, names)}"


class _Drawing(NamedTuple):
    """Lines of a drawing, and the index of the line that continues to the right."""

    lines: list[str]
    outlet: int


def drawn(item: ItemBallots, names: Mapping[str, str]) -> str:
    """Draw an item's matches as text, from the first round on the left to the final.

    After a tie, or without a verdict, the better seed advances and is marked.

    The item must have been judged in a bracket with a match; `names` maps models to short names.
    """
    members = {group[0]: group for group in item.groups}
    called = {
        candidate: " = ".join(
            names.get(model, model) for model in members.get(candidate, (candidate,))
        )
        for match in item.matches
        for candidate in (match.high, match.low)
    }
    final = max(item.matches, key=lambda match: match.round)
    return "\n".join(line.rstrip() for line in _drawn_match(final, item.matches, called).lines)


def _drawn_match(match: Match, matches: tuple[Match, ...], called: Mapping[str, str]) -> _Drawing:
    """Draw a match with the earlier matches that led to it on its left."""
    above, below = (_side(name, match, matches, called) for name in (match.high, match.low))
    width = max(len(above.lines[above.outlet]), len(below.lines[below.outlet])) + 2
    fork = len(above.lines)
    foot = fork + 1 + below.outlet
    winner = called[match.winner] + _WHY.get(match.decided_by, "")
    lines = []
    for number, line in enumerate([*above.lines, "", *below.lines]):
        ends = {above.outlet: "┐", foot: "┘", fork: f"├─ {winner}"}
        fill = " ─" if number in (above.outlet, foot) else "  "
        inside = above.outlet < number < foot
        lines.append(
            (line + fill[0]).ljust(width, fill[1]) + ends.get(number, "│" if inside else "")
        )
    return _Drawing(lines, fork)


def _side(
    candidate: str, match: Match, matches: tuple[Match, ...], called: Mapping[str, str]
) -> _Drawing:
    """Draw a candidate's earlier match, or its name if it had none (first round or bye)."""
    won = [m for m in matches if m.round < match.round and m.winner == candidate]
    if not won:
        return _Drawing([called[candidate]], 0)
    return _drawn_match(max(won, key=lambda match: match.round), matches, called)


def about_boards(boards: Sequence[Leaderboard]) -> str:
    """A sentence about which boards tell models apart."""
    apart = {board.benchmark: sum(bool(pair.apart) for pair in board.pairs) for board in boards}
    none = [benchmark for benchmark, number in apart.items() if not number]
    some = [f"{number} on {benchmark}" for benchmark, number in apart.items() if number]
    items = sorted({board.n_items for board in boards})
    few = f"{'–'.join(map(str, dict.fromkeys((items[0], items[-1]))))} items of a benchmark are few"
    if not some:
        n_models = max(len(board.rows) for board in boards)
        return (
            f"No two of the {n_models} models can be told apart on {all_of(none, 'or')}: {few}, "
            "and the order of a board is not a ranking."
        )
    n_pairs = max(len(board.pairs) for board in boards)
    counts = ", ".join([*some, *([f"none on {all_of(none, 'or')}"] if none else [])])
    return f"Of the {n_pairs} pairs of models, told apart are {counts}: {few}."


def about_judge(judge: str, items: Iterable[ItemBallots]) -> str:
    """The judge's figures and, if they are bad, the option that uses a strong judge instead."""
    items = tuple(items)
    matches = [match for item in items for match in item.matches]
    margins = [v.margin for match in matches for v in match.verdicts if v.margin is not None]
    first, second = (sum(side * margin > 0 for margin in margins) for side in (1, -1))
    flips = flips_of(matches)
    numbers = (
        f"The judge, {judge}: {count(len(margins), 'verdict')}, "
        f"{first} for the answer shown first, {second} for the one shown second, "
        f"{len(margins) - first - second} for neither; asked in the other order it named another "
        f"winner in {flips.n_flipped} of {count(flips.n, 'match', 'matches')}."
    )
    if reason := _distrust(position_of(items), flips, len(margins), first + second):
        numbers += (
            f"\nTHIS JUDGE IS NOT TO BE TRUSTED: {reason}.\n"
            f"One flag puts a strong judge in: {STRONG_JUDGE}"
        )
    return numbers


def about_reviewers(reviewers: str, items: Iterable[ItemBallots]) -> str:
    """Like `about_judge`, for models that review each other."""
    reviews = [review for item in items for review in item.listings]
    usable = [review for review in reviews if review.unscored is None]
    repeated = sum(review.groups == tuple((name,) for name in review.shown) for review in usable)
    undecided = sum(len(review.groups) == 1 for review in usable)
    numbers = (
        f"The reviewers, {reviewers}: {count(len(reviews), 'review')}, "
        f"{len(reviews) - len(usable)} without a usable reply, {repeated} in the very order shown, "
        f"{undecided} with all answers in one place."
    )
    # With four answers, chance repeats the order shown in one review of 24.
    if repeated + undecided + len(reviews) - len(usable) > len(reviews) / 2:
        numbers += (
            "\nTHESE REVIEWERS ARE NOT TO BE TRUSTED: most of their reviews say nothing.\n"
            f"One flag puts strong ones in:\n{STRONG_REVIEWERS}"
        )
    return numbers


def _distrust(position: Position, flips: Flips, verdicts: int, preferences: int) -> str | None:
    """Why a judge cannot be trusted by its own figures, or None."""
    if preferences < FEW_PREFERENCES * verdicts:
        return f"it preferred a side in only {preferences} of {verdicts} verdicts"
    if position.bound or flips.p <= ALARM:
        both = (
            f", and {flips.both_first} times in both orders, the one shown second "
            f"{flips.both_second} times"
        )
        first = percent(position.rate.value)
        return (
            f"it chose the answer shown first in {first} of its first verdicts "
            f"(unbiased: 50%){both if flips.n_flipped else ''}"
        )
    return None if verdicts else "it gave no verdict that could be used"


def show_recorded(
    out: Path = Path("tiebreak-demo"), *, protocol: DemoProtocol = "round_robin"
) -> DemoLogs:
    """Copy the recorded logs of a run to a run folder in `out`, report, and print the last screen.

    Raises:
        PrerequisiteError: the demo does not show the protocol.
    """
    require_shown(protocol)
    logs = run_folder(out)
    logs = logs._replace(candidates=logs.candidates.with_name("candidates"))
    ranking = sorted(RECORDED.glob(f"ranking/{protocol}*.eval"))
    for log in (*RECORDED.glob("candidates/*/*.eval"), *ranking):
        place = logs.candidates.parent / log.relative_to(RECORDED)
        with to_file(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(log, place)
    header = read_eval_log(str(ranking[0]), header_only=True).eval
    roles = (header.model_roles or {}).values()
    configs = [config for role in roles for config in (role if isinstance(role, list) else [role])]
    [judge] = {config.model for config in configs}
    version = (header.metadata or {})["tiebreak_version"]
    say(
        f"Nothing is asked now. These logs were recorded on {header.created[:10]}: answers and "
        f"verdicts of {judge}, by Tiebreak {version} with inspect_ai "
        f"{header.packages['inspect_ai']}. Their transcripts are left out.\n"
    )
    page = written_report([logs.ranking], logs.report)
    show_ranking(protocol, judge, logs, page)
    return logs
