"""Speed of `load_candidates`: CPU time on files of realistic size, against stated bounds.

Run `python benchmarks/load_candidates.py`. It makes 8 Inspect logs of 1,000 samples (about 2 MB
each, with messages and model events as a real run leaves them) and 8 lm-eval runs of 1,319 rows in
a temporary folder, prints a table and exits with 1 when a bound is missed:

- Inspect: below 3 × the CPU time of `inspect_ai.log.read_eval_log` alone on the same files;
- lm-eval: below 2 s of CPU time.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import random
import tempfile
import time
from collections.abc import Callable

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate
from rich.console import Console
from rich.table import Table

from tests.candidates.builders import write_lm_eval_run
from tiebreak.candidates import load_candidates

N_MODELS = 8
N_SAMPLES = 1_000
N_ROWS = 1_319
RATIO_BOUND = 3.0
SECONDS_BOUND = 2.0

_WORDS = ["so", "the", "sum", "of", "x", "times", "seven", "equals", "forty", "two", "as", "each"]


def _text(rng: random.Random, n_words: int) -> str:
    return " ".join(rng.choices(_WORDS, k=n_words))


def make_inspect_logs(folder: Path) -> list[Path]:
    """Make one real run with a mock model, and copies of it with other names and answers."""
    rng = random.Random(0)
    samples = [
        Sample(id=f"q{i}", input=f"{_text(rng, 45)} ({i})?", target="42") for i in range(N_SAMPLES)
    ]
    usage = ModelUsage(input_tokens=60, output_tokens=180, total_tokens=240)
    outputs = [
        ModelOutput.from_content("mockllm/model", _text(rng, 120)).model_copy(
            update={"usage": usage}
        )
        for _ in samples
    ]
    model = get_model("mockllm/model", custom_outputs=outputs)
    task = Task(dataset=samples, solver=generate(), scorer=match(), name="gsm8k")
    (log,) = eval(task, model=model, log_dir=str(folder / "run"), display="none")
    log = read_eval_log(log.location)
    paths = []
    for number in range(N_MODELS):
        log.eval.model = f"lab/model-{number}"
        for sample in log.samples or []:
            answer = _text(rng, 120)
            sample.output.completion = answer
            sample.output.choices[0].message.content = answer
        path = folder / "inspect" / f"{number}.eval"
        path.parent.mkdir(exist_ok=True)
        write_eval_log(log, str(path))
        paths.append(path)
    return paths


def make_lm_eval_runs(folder: Path) -> Path:
    """Make runs with answers of realistic length, whose documents have ids of their own."""
    rng = random.Random(1)
    questions = [f"{_text(rng, 45)} ({i})?" for i in range(N_ROWS)]
    shots = _text(rng, 500)
    for number in range(N_MODELS):
        rows = [
            {
                "id": f"d{i}",
                "question": question,
                "target": "42",
                "answer": _text(rng, 200),
                "native": 1.0,
                "prompt": f"{shots}\n\nQ: {question}\nA:",
            }
            for i, question in enumerate(questions)
        ]
        write_lm_eval_run(folder / "lm-eval", f"lab/model-{number}", rows)
    return folder / "lm-eval"


def cpu_seconds(action: Callable[[], object]) -> float:
    """CPU time of the faster of two calls."""
    times = []
    for _ in range(2):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def _megabytes(paths: list[Path]) -> str:
    return f"{sum(path.stat().st_size for path in paths) / 1e6:.1f} MB"


def main() -> int:
    """Measure, print the table, return the exit code."""
    with tempfile.TemporaryDirectory() as name:
        logs = make_inspect_logs(Path(name))
        runs = make_lm_eval_runs(Path(name))
        alone = cpu_seconds(lambda: [read_eval_log(str(path)) for path in logs])
        loaded = cpu_seconds(lambda: load_candidates(logs))
        lm_eval = cpu_seconds(lambda: load_candidates(runs))
        sizes = _megabytes(logs), _megabytes(list(runs.rglob("samples_*.jsonl")))
    ratio = loaded / alone
    table = Table(title="load_candidates, CPU seconds (better of two)")
    for column in ("files", "size", "reading alone", "load_candidates", "measured", "bound", ""):
        table.add_column(column, justify="left" if column == "files" else "right")
    fine = ratio < RATIO_BOUND, lm_eval < SECONDS_BOUND
    verdicts = ["ok" if ok else "MISSED" for ok in fine]
    table.add_row(
        f"{N_MODELS} Inspect logs × {N_SAMPLES:,} samples",
        sizes[0],
        f"{alone:.2f}",
        f"{loaded:.2f}",
        f"{ratio:.2f} ×",
        f"< {RATIO_BOUND:.0f} ×",
        verdicts[0],
    )
    table.add_row(
        f"{N_MODELS} lm-eval runs × {N_ROWS:,} rows",
        sizes[1],
        "",
        f"{lm_eval:.2f}",
        f"{lm_eval:.2f} s",
        f"< {SECONDS_BOUND:.0f} s",
        verdicts[1],
    )
    Console(width=120).print(table)
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
