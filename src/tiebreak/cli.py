"""The `tiebreak` command: each verb is a few lines over the API."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import click

import tiebreak


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
        click.echo(json.dumps(result.as_dict(), indent=2, ensure_ascii=False, allow_nan=False))
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
        click.echo(json.dumps(as_dict(boards), indent=2, ensure_ascii=False, allow_nan=False))
    elif form == "csv":
        click.echo(to_csv(boards), nl=False)
    else:
        render(boards)


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


def _renamed(option: str) -> tuple[str, str]:
    old, separator, new = option.partition("=")
    if not (old and separator and new):
        raise click.BadParameter(f"{option!r} is not of the form OLD=NEW", param_hint="--rename")
    return old, new
