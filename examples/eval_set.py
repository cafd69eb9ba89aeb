r"""From models to a leaderboard: four benchmarks answered as one eval set, then judged by SEAL.

python examples/eval_set.py --model openai/gpt-5-mini --model anthropic/claude-haiku-4-5 \
    --judge openai/gpt-5 --log-dir logs --limit 100

Stopped half-way, or failed for one model? The same command goes on where it stopped: answers and
verdicts that are in the logs are not paid for again.
"""

from pathlib import Path
from typing import Any, Literal

import click
from inspect_ai import Task, eval_set

import tiebreak
from tiebreak.inspect_tasks.generate import bfcl, gsm8k, humaneval, mmlu
from tiebreak.inspect_tasks.rerank import seal


@click.command()
@click.option("--model", "models", multiple=True, required=True, help="Again for each candidate.")
@click.option("--judge", required=True, help="The model that judges.")
@click.option("--log-dir", type=click.Path(path_type=Path), default=Path("logs"), show_default=True)
@click.option("--limit", type=int, help="Questions of each benchmark.")
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True), help="Folder with NAME.jsonl."
)
@click.option("--bfcl-calls", type=click.Choice(["tools", "text"]), default="tools")
@click.option("--retries", default=3, show_default=True, help="Of what fails, with longer waits.")
@click.option("--run-code-here", is_flag=True, help="Run HumanEval's code in bubblewrap.")
def main(
    models: tuple[str, ...],
    judge: str,
    log_dir: Path,
    limit: int | None,
    data: Path | None,
    bfcl_calls: Literal["tools", "text"],
    retries: int,
    run_code_here: bool,
) -> None:
    """Let models answer, let SEAL judge the answers, and show the leaderboards."""
    if len(set(models)) < 2:
        raise click.UsageError("A ranking takes two models at least: --model A --model B.")

    def questions(benchmark: str) -> str | None:
        return str(data / f"{benchmark}.jsonl") if data else None

    sandbox = "bubblewrap" if run_code_here else "docker"
    tasks = [
        humaneval(questions("humaneval"), sandbox=sandbox),
        gsm8k(questions("gsm8k")),
        mmlu(questions("mmlu")),
        bfcl(questions("bfcl"), calls=bfcl_calls),
    ]
    answers = _finished(
        tasks, log_dir / "answers", model=list(models), limit=limit, retry_attempts=retries
    )
    # The logs by name: with another model, this is another ranking.
    judging = seal(candidates=answers)
    ranking = _finished(
        [judging], log_dir / "ranking", model_roles={"judge": judge}, log_dir_allow_dirty=True
    )
    tiebreak.show(tiebreak.leaderboards(ranking))


def _finished(tasks: list[Task], log_dir: Path, **options: Any) -> list[str]:
    """Run what is left of an eval set; returns the paths of its logs."""
    success, logs = eval_set(tasks, log_dir=str(log_dir), **options)
    expected = len(tasks) * len(options.get("model", [None]))
    if not success or len(logs) < expected:  # also when it was interrupted
        raise SystemExit(f"Not everything is finished; give the same command again. See {log_dir}.")
    return sorted(str(log_dir / Path(log.location).name) for log in logs)


if __name__ == "__main__":
    main()
