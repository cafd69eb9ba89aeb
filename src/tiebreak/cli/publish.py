"""The verb `publish`: send rankings to the Hub as a dataset with a card."""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli._contest import Contest, play, played_options
from tiebreak.cli._families import bootstrap_options, json_option, reading_options
from tiebreak.cli._options import File, Folder, option, verb
from tiebreak.cli._shared import echo_json
from tiebreak.text import count, visible

if TYPE_CHECKING:
    from tiebreak.publish.dataset import Publication
    from tiebreak.rankers import Resampling
    from tiebreak.tables.inputs import ReadingOptions

NOTHING_GIVEN = "Give ranking LOGS, or --scores, or both."
NOTHING_ASKED = (
    "Say where to: --to OWNER/NAME publishes, --dry-run only writes the folder; "
    "--every-eval-ever DIR and --community-evals DIR write records for these."
)
_NO_NAME = "OWNER/NAME"


@verb()
def publish(
    logs: tuple[File, ...] = (),
    *,
    repo_id: str | None = option(
        "The dataset on the Hugging Face Hub.", "--to", metavar="OWNER/NAME"
    ),
    public: bool = option("Let everybody see it; otherwise it starts private."),
    with_candidates: bool = option(
        "Publish the answers too, and what judges wrote about them. Only where their licence "
        "allows it."
    ),
    candidates: tuple[File, ...] = option(
        "Where the judged answers are, if not beside the logs. Repeatable.", metavar="PATH"
    ),
    license: str | None = option("Licence of the dataset, such as cc-by-4.0.", metavar="ID"),
    dry_run: bool = option("Write the folder and send nothing."),
    out: Folder | None = option("Folder of a dry run. [default: ./NAME]"),
    pull_request: bool = option("Propose it as a pull request.", "--pr"),
    every_eval_ever: Folder | None = option("Write records for Every Eval Ever.", metavar="DIR"),
    community_evals: Folder | None = option(
        "Write .eval_results entries for the models' own repositories; needs --to.", metavar="DIR"
    ),
    rater_names: bool = option(
        "Publish the names of people who voted. [default: rater 1, rater 2, …]"
    ),
    scores: tuple[File, ...] = option(
        "Publish a contest over many benchmarks, merged rankings, and the scores behind them: "
        "tables, logs or folders as `tiebreak csd` takes them. Repeatable.",
        metavar="SCORES",
    ),
    contest: Contest = played_options,
    reading: "ReadingOptions" = reading_options,
    how: "Resampling" = bootstrap_options,
    as_json: bool = json_option,
) -> None:
    """Publish rankings, ballots and a card on the Hub. All are one dataset, sent in one commit.

    LOGS are ranking logs, and folders of them. With --scores, with or without LOGS, models are
    ranked over many benchmarks, as `tiebreak csd` and `tiebreak aggregate` do.

    The dataset starts private, and publishing twice changes nothing. Model arguments, addresses,
    paths, keys and the names of files of scores are never published. Published runs never change,
    so publish a run with one --level, --draws and --seed only. Look at it first (--dry-run).

    \b
    Examples:
      tiebreak publish logs/ --to me/rankings --dry-run
      tiebreak publish logs/ --to me/rankings --license cc-by-4.0
      tiebreak publish --scores scores.csv --eliminate 0,1,2 --to me/rankings
      tiebreak publish logs/ --scores results/ --rounds rounds.yaml --to me/rankings
    """
    _check_usage(click.get_current_context().params, contest.given(reading))

    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    from tiebreak.publish.dataset import publish_dataset
    from tiebreak.publish.hub import RetryPolicy

    if as_json or not sys.stderr.isatty():
        disable_progress_bars()  # they would mix with JSON, or fill a log file
    name = repo_id.rpartition("/")[2] if repo_id else "tiebreak-dataset"
    folder = (out or Path(name)) if dry_run else None
    exports: dict[str, Any] = {
        "every_eval_ever": every_eval_ever,
        "community_evals": community_evals,
    }
    played = None
    if scores:
        played = play(scores, reading, contest, {"seed": how.seed, "level": how.level})
    made = publish_dataset(
        logs,
        repo_id,
        contest=played,
        folder=folder,
        private=not public,
        how=how,
        wait=RetryPolicy(notify=_waiting),
        with_candidates=with_candidates,
        candidates=candidates,
        license=license,
        pull_request=pull_request,
        rater_names=rater_names,
        **exports,
    )
    data = _data(made, repo_id, folder, public, exports)
    if as_json:
        echo_json(data)
    else:
        for line in _lines(data):
            click.echo(visible(line))
        for note in made.notes:
            click.echo(f"Note: {visible(note)}", err=True)


def _check_usage(given: Mapping[str, Any], of_contest: Sequence[str]) -> None:
    """Raise a usage error for options that conflict; `of_contest` are those given of a contest."""
    to, logs, scores = given["repo_id"], given["logs"], given["scores"]
    answers, entries = given["with_candidates"], given["community_evals"]
    public, proposed = given["public"], given["pull_request"]
    wrong = {
        "--to must be OWNER/NAME": to is not None and not _is_name(to),
        "--candidates only goes with --with-candidates": given["candidates"] and not answers,
        "--out only goes with --dry-run": given["out"] is not None and not given["dry_run"],
        "--public and --pr need --to": (public or proposed) and not to,
        "--pr does not change who may see a dataset: leave out --public": public and proposed,
        "--community-evals needs --to: its entries link to the dataset": entries and not to,
        NOTHING_GIVEN: not (logs or scores),
        f"{', '.join(of_contest)}: for a contest over many --scores, not LOGS.": of_contest
        and not scores,
        "--with-candidates and --community-evals go with LOGS.": not logs and (answers or entries),
        NOTHING_ASKED: not (to or given["dry_run"] or given["every_eval_ever"] or entries),
    }
    for message, applies in wrong.items():
        if applies:
            raise click.UsageError(message)


def _is_name(repo_id: str) -> bool:
    # Characters and length that the Hub allows; it checks further rules itself.
    part = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
    return re.fullmatch(f"{part}/{part}", repo_id) is not None and len(repo_id) <= 96


def _data(
    made: "Publication",
    repo_id: str | None,
    folder: Path | None,
    public: bool,
    exports: dict[str, Path | None],
) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if folder:
        data |= {
            "folder": str(folder),
            "to": repo_id,
            "private": not public,
            "runs": list(made.runs),
            "contest": made.contest,
            "files": [{"path": f.path, "bytes": f.size, "written": f.new} for f in made.folder],
        }
    elif made.sent:
        data |= {"to": repo_id, "contest": made.contest, **asdict(made.sent)}
    for name, where in exports.items():
        if where:
            data[name] = {"folder": str(where), "files": list(getattr(made, name))}
    return data | {"notes": list(made.notes)}


def _waiting(sentence: str) -> None:
    """Print a notice of a wait, also without a terminal: otherwise the program seems to hang."""
    click.echo(sentence, err=True)


def _lines(done: dict[str, Any]) -> Iterable[str]:
    if "folder" in done:
        yield from _dry(done)
    elif "url" in done:
        yield from _sent(done)
    titles = {"every_eval_ever": "Every Eval Ever", "community_evals": "Community evals"}
    for name, title in titles.items():
        if name in done:
            yield f"{title}: {count(len(done[name]['files']), 'file')} in {done[name]['folder']}"


def _dry(done: dict[str, Any]) -> Iterable[str]:
    plots = [file for file in done["files"] if file["path"].startswith("plots/")]
    for file in done["files"]:
        if file not in plots:
            yield f"{_size(file['bytes'])}  {file['path']}{'' if file['written'] else '  (there)'}"
    if plots:
        yield f"{_size(sum(file['bytes'] for file in plots))}  plots/ ({count(len(plots), 'file')})"
    total = _size(sum(file["bytes"] for file in done["files"])).strip()
    held = [count(len(done["runs"]), "run")] if done["runs"] else []
    held += ["1 contest"] if done["contest"] else []
    main = "leaderboard" if done["runs"] else "contests"
    yield ""
    sizes = ", ".join([count(len(done["files"]), "file"), total, *held])
    yield f"{done['folder']}: {sizes}. Nothing was sent."
    yield f'Look at it: {done["folder"]}/README.md, load_dataset("{done["folder"]}", "{main}")'
    form, more = ("private", "") if done["private"] else ("public", " --public")
    to = f"--to {done['to'] or _NO_NAME}{more}"
    yield f"Publish it ({form}): the same command with {to}, without --dry-run (--out)"


def _sent(done: dict[str, Any]) -> Iterable[str]:
    for title, name in (("Published", "published"), ("Already there", "already")):
        if done[name]:
            yield f"{title}: {', '.join(done[name])}"
    yield done["url"]
    if done["pull_request"] is not None:
        yield "Next: merge the pull request there."
    elif done["private"]:
        yield "It is private. Read the card there; the same command with --public shows it to all."
    elif done["made_public"]:
        yield "It is public now."


def _size(n: int) -> str:
    return f"{n / 1024:9,.1f} kB" if n < 1024**2 else f"{n / 1024**2:9,.1f} MB"
