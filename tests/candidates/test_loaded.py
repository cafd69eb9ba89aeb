"""What is loaded of small logs of both harnesses: `expected/loaded.txt` has the pools."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.candidates.builders import Row, make_rows, write_inspect_log, write_lm_eval_run
from tests.cases import cases
from tests.expected import check
from tiebreak.candidates import Candidate, CandidateError, CandidatePool, load_candidates

WRITERS: dict[str, Any] = {"inspect": write_inspect_log, "lm-eval": write_lm_eval_run}


def write(
    folder: Path,
    harness: str = "inspect",
    models: Sequence[str] = ("a", "b"),
    below: str = "logs",
    n: int = 2,
    all: Row | None = None,
    each: Sequence[Row] = (),
    more: Sequence[Row] = (),
    **options: Any,
) -> None:
    """A log for each model, with the same rows."""
    rows = [row | dict(all or {}) for row in make_rows(n)]
    for row, change in zip(rows, each, strict=False):
        row |= change
    for model in models:
        WRITERS[harness](folder / below, model, [*rows, *more], **options)


def shown(pool: CandidatePool) -> Iterator[str]:
    """Items, the answers to each, with the models that gave them, and notes."""
    for item, row in pool:
        number = f", epoch {item.key.epoch}" if item.key.epoch > 1 else ""
        parts = {"choices": item.choices, "tools": item.tools, "metadata": dict(item.metadata)}
        about = "".join(f", {name} {part}" for name, part in parts.items() if part)
        asked = f"{item.prompt!r} → {item.target!r}"
        yield f"{item.key.benchmark} {item.item_id}{number}: {asked}{about}"
        answers = defaultdict(list)
        for model, answer in row.items():
            answers[said(answer)].append(model)
        yield from (f"  {', '.join(models)}: {text}" for text, models in answers.items())
    yield from (f"{note.kind}: {note}" for note in pool.notes)


def said(answer: Candidate) -> str:
    tokens = f"{answer.input_tokens} and {answer.output_tokens} tokens"
    score = f"{answer.native_metric} {answer.native_score}"
    return f"{answer.answer!r}, {score}, {answer.stop_reason}, {tokens}"


def loaded(folder: Path, options: Mapping[str, Any]) -> str:
    try:
        lines = [*shown(load_candidates(folder, **options))]
    except CandidateError as error:
        lines = [f"{error.kind}: {error}"]
    return "\n".join([f"-- {options}"] * bool(options) + lines)


def test_what_is_loaded(tmp_path: Path) -> None:
    texts = []
    for name, case in cases(__file__, "cases").items():
        folder = tmp_path / name
        for log in case["logs"]:
            write(folder, **log)
        pools = [loaded(folder, options) for options in case.get("options", [{}])]
        texts.append("\n".join([f"== {name}", *pools]).replace(f"{folder}", "FOLDER"))
    check(__file__, "loaded.txt", "\n\n".join(texts) + "\n")
