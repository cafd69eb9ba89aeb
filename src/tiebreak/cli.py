"""The `tiebreak` command: each verb is a few lines over the API."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import click

import tiebreak

# The names in `tiebreak.rankers.METHODS`; NumPy is not imported to print a help text.
AGGREGATORS = (
    "kemeny_young",
    "average",
    "borda",
    "copeland",
    "dodgson",
    "irv",
    "kendall",
    "spearman",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(tiebreak.__version__, prog_name="tiebreak")
def main() -> None:
    """Make saturated LLM benchmarks informative again.

    Look at what you have, judge it through Inspect, then read the ranking:

    \b
      tiebreak candidates logs/
      inspect eval tiebreak/seal -T candidates=logs/ --model-role judge=openai/gpt-5
      tiebreak rank logs/

    Or see it done, with a small model on this machine: tiebreak demo
    """


@main.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write the pool to a Parquet file.")
@click.option(
    "--mode",
    type=click.Choice(["strict", "intersect"]),
    default="strict",
    show_default=True,
    help="strict: any hole is an error. intersect: keep the items that all models answered.",
)
@click.option(
    "--rename",
    multiple=True,
    metavar="OLD=NEW",
    help="Read benchmark OLD under the name NEW, so that it aligns with other logs. Repeatable.",
)
@click.option("--native", metavar="NAME", help="Scorer or metric to take native scores from.")
@click.option("--filter", "filter_name", metavar="NAME", help="lm-eval filter to take scores from.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def candidates(
    paths: tuple[str, ...],
    out: Path | None,
    mode: Literal["strict", "intersect"],
    rename: tuple[str, ...],
    native: str | None,
    filter_name: str | None,
    as_json: bool,
) -> None:
    """Align the answers in Inspect logs, lm-eval outputs and Parquet pools, and audit them.

    \b
    Examples:
      tiebreak candidates logs/
      tiebreak candidates logs/ lm_eval_out/ --rename gsm8k_cot=gsm8k --out pool.parquet
    """
    from tiebreak.candidates import CandidateError, audit, audit_report, load_candidates
    from tiebreak.candidates import write_parquet as write

    with plain_errors(CandidateError):
        pool = load_candidates(
            paths, mode=mode, native=native, filter=filter_name, rename=dict(map(_renamed, rename))
        )
        if out is not None:
            write(pool, out)
    result = audit(pool)
    if as_json:
        _echo_json(result.as_dict())
        return
    from rich.console import Console

    Console().print(audit_report(result))
    if out is not None:
        click.echo(f"Pool: {out}")


@main.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--json", "form", flag_value="json", help="Print JSON instead of tables.")
@click.option("--csv", "form", flag_value="csv", help="Print CSV instead of tables.")
@click.option("--level", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True)
@click.option("--draws", type=click.IntRange(100), default=2000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
def rank(logs: tuple[str, ...], form: str | None, level: float, draws: int, seed: int) -> None:
    """Print the leaderboard, the judge's reliability and the bill of ranking logs.

    \b
    Examples:
      tiebreak rank logs/
      tiebreak rank logs/2026-11-21_seal.eval --csv > leaderboard.csv
    """
    from tiebreak.report import RankingLogError, as_dict, leaderboards, render, to_csv

    with plain_errors(RankingLogError):
        boards = leaderboards(logs, level=level, draws=draws, seed=seed)
    if form == "json":
        _echo_json(as_dict(boards))
    elif form == "csv":
        click.echo(to_csv(boards), nl=False)
    else:
        render(boards)


@main.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice([*AGGREGATORS, "all"]),
    default=["kemeny_young"],
    show_default=True,
    help="How to count the ballots. Repeatable.",
)
@click.option(
    "--per-item",
    is_flag=True,
    help="A consensus for every item, then the mean of the ranks; default: all ballots at once.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="Then Kemeny–Young gives the best order so far and how far it may be from the optimum.",
)
@click.option("--drop-unranked", is_flag=True, help="Leave out candidates that nobody ranks.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def aggregate(
    files: tuple[str, ...],
    methods: tuple[str, ...],
    per_item: bool,
    time_limit: float | None,
    drop_unranked: bool,
    as_json: bool,
) -> None:
    """Merge many rankings into one: CSV, PrefLib files (.soc .soi .toc .toi) or ranking logs.

    \b
    A CSV file has a column per candidate and a ballot per row (ranks, 1 = best, equal = tied,
    empty = not ranked; columns `item` and `reviewer` are optional), or the columns `reviewer`,
    `candidate`, `rank` and perhaps `item`. In a ranking log every item is a ballot.

    \b
    Examples:
      tiebreak aggregate ballots.csv
      tiebreak aggregate ballots.csv --method all
      tiebreak aggregate reviews.csv --per-item --json
      tiebreak aggregate logs/ --method borda --method kemeny_young
    """
    from tiebreak.rankers import MissingPackageError, RankingError
    from tiebreak.report.elections import elect, election_as_dict, render_election
    from tiebreak.tables import TableError, read_ballots

    chosen = AGGREGATORS if "all" in methods else tuple(dict.fromkeys(methods))
    with plain_errors(TableError, RankingError, MissingPackageError):
        elections = [
            elect(
                file.name,
                file.source,
                file.profile,
                chosen,
                items=file.batch()[1] if per_item else None,
                time_limit=time_limit,
                notes=file.notes,
            )
            for file in read_ballots(files, drop_unranked=drop_unranked)
        ]
    if as_json:
        _echo_json([election_as_dict(election) for election in elections])
        return
    for number, election in enumerate(elections):
        if number:
            click.echo()
        render_election(election)


@main.command()
@click.argument("scores", nargs=-1, required=True)
@click.option(
    "--rounds",
    "rounds_file",
    type=click.Path(),
    metavar="FILE",
    help="YAML list: one entry per round, a benchmark, a list of them, or a mapping with "
    "benchmarks, name, eliminate, weight. [default: every benchmark is a round, in order]",
)
@click.option(
    "--eliminate",
    metavar="T[,T…]",
    help="Models that go out after each round; several values show what elimination costs. "
    "[default: that of the rounds file, else 0]",
)
@click.option("--iterations", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--missing",
    type=click.Choice(["error", "available", "worst"]),
    default="error",
    show_default=True,
    help="A missing score: an error, left out of the round's mean, or (a whole round) the worst.",
)
@click.option(
    "--spoil",
    metavar="MODEL=BENCHMARK[,…]",
    help="Also show what scores of 0 there would do to this model, here and in the plain mean.",
)
@click.option("--metric", metavar="NAME", help="Metric to take from logs. [default: the headline]")
@click.option("--filter", "filter_name", metavar="NAME", help="lm-eval filter to take.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Read benchmark OLD as NEW.")
@click.option("--jobs", type=int, metavar="N", help="Worker processes; -1 = one per core.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def csd(
    scores: tuple[str, ...],
    rounds_file: str | None,
    eliminate: str | None,
    iterations: int,
    seed: int,
    missing: Literal["error", "available", "worst"],
    spoil: str | None,
    metric: str | None,
    filter_name: str | None,
    rename: tuple[str, ...],
    jobs: int | None,
    as_json: bool,
) -> None:
    """Rank models over many benchmarks by simulated Swiss-system contests (CSD).

    \b
    SCORES is a CSV file (a column `model`, then one column per benchmark, higher is better), or
    logs and folders: Inspect logs and lm-eval results_*.json.

    \b
    Examples:
      tiebreak csd scores.csv
      tiebreak csd scores.csv --rounds rounds.yaml --eliminate 0,1,2
      tiebreak csd logs/ lm_eval_out/ --rename gsm8k_cot=gsm8k --json
    """
    from tiebreak.rankers import MissingPackageError, RankingError
    from tiebreak.report.contests import contest_as_dict, contest_report, render_contest
    from tiebreak.tables import TableError, find_cells, read_rounds, read_scores

    with plain_errors(TableError, RankingError, MissingPackageError):
        table = read_scores(
            scores, metric=metric, filter=filter_name, rename=dict(map(_renamed, rename))
        )
        rounds = read_rounds(rounds_file, table.benchmarks) if rounds_file else None
        report = contest_report(
            table.models,
            table.benchmarks,
            table.scores,
            rounds=rounds.columns if rounds else None,
            weights=rounds.weights if rounds else None,
            eliminate=_eliminations(eliminate, rounds.eliminate if rounds else None),
            spoil=find_cells(table, spoil) if spoil else None,
            notes=(*table.notes, *(rounds.notes if rounds else ())),
            options={
                "iterations": iterations,
                "seed": seed,
                "missing": missing,
                "n_jobs": jobs,
            },
        )
    if as_json:
        _echo_json(contest_as_dict(report))
    else:
        render_contest(report)


@main.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("tiebreak-demo"),
    show_default=True,
    help="Folder for the logs; every run gets a folder of its own in it.",
)
@click.option(
    "--judge",
    default="tiebreak-local/smollm2-135m",
    show_default=True,
    metavar="MODEL",
    help="The judge, in Inspect's notation, such as openai/gpt-5.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Items of each benchmark that are answered.",
)
@click.option(
    "--judged",
    type=click.IntRange(1),
    metavar="N",
    help="Items of each benchmark that are judged. [default: few enough for six minutes]",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of every draw.")
def demo(out: Path, judge: str, limit: int | None, judged: int | None, seed: int) -> None:
    """Go the whole way with a small local model: answer, judge with SEAL, rank. No key needed.

    \b
    Examples:
      tiebreak demo
      tiebreak demo --judge openai/gpt-5 --judged 8
    """
    from tiebreak.demo import JUDGED, DemoError, run_demo
    from tiebreak.prerequisite import PrerequisiteError

    with plain_errors(DemoError, PrerequisiteError):
        run_demo(out, judge=judge, limit=limit, judged=judged or JUDGED, seed=seed, say=click.echo)


@main.command("serve-local")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True)
@click.option("--path", metavar="FILE", help="GGUF file of your own instead of the small model.")
@click.option("--slots", type=click.IntRange(1), default=1, show_default=True)
@click.option("--threads", type=click.IntRange(1), help="CPU threads. [default: all cores]")
@click.option("--context", type=click.IntRange(256), default=4096, show_default=True)
def serve(
    host: str, port: int, path: str | None, slots: int, threads: int | None, context: int
) -> None:
    """Serve the embedded model over HTTP in OpenAI's format, for any harness, until Ctrl-C.

    \b
    Example:
      tiebreak serve-local --port 8080
    """
    from tiebreak.local.serve import serve_local
    from tiebreak.prerequisite import PrerequisiteError

    with plain_errors(PrerequisiteError):
        serve_local(host, port, path=path, slots=slots, threads=threads, context=context)


@contextmanager
def plain_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Turn errors that explain themselves into one message and exit code 1."""
    try:
        yield
    except kinds as error:
        # Inspect's PrerequisiteError keeps its message to itself.
        raise click.ClickException(str(getattr(error, "message", error))) from error


def _echo_json(data: object) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def _eliminations(
    option: str | None, by_round: tuple[int, ...] | None
) -> tuple[int, ...] | dict[int, int]:
    """The T of `--eliminate`; without it those of the rounds file, by round."""
    if option is None:
        return (0,) if by_round is None else dict(enumerate(by_round))
    try:
        return tuple(int(part) for part in option.split(","))
    except ValueError as error:
        raise click.BadParameter(
            f"{option!r} is no list of whole numbers such as 0,1,2", param_hint="--eliminate"
        ) from error


def _renamed(option: str) -> tuple[str, str]:
    old, separator, new = option.partition("=")
    if not (old and separator and new):
        raise click.BadParameter(f"{option!r} is not of the form OLD=NEW", param_hint="--rename")
    return old, new
