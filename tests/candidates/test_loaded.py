"""What is loaded of small logs of both harnesses: `expected/loaded.txt` has the pools."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from tests.candidates.builders import Row, make_rows, write_inspect_log, write_lm_eval_run
from tests.cases import cases
from tests.expected import check
from tiebreak.candidates import (
    Candidate,
    CandidateError,
    CandidatePool,
    load_by_models,
    load_candidates,
)

WRITERS: dict[str, Any] = {"inspect": write_inspect_log, "lm-eval": write_lm_eval_run}


def write(
    folder: Path,
    harness: str = "inspect",
    models: Sequence[str] = ("a", "b"),
    below: str = "logs",
    n: int = 2,
    only: Sequence[int] | None = None,
    all: Row | None = None,
    each: Sequence[Row] = (),
    more: Sequence[Row] = (),
    **options: Any,
) -> None:
    """A log for each model, with the same rows."""
    made = make_rows(n) if only is None else [make_rows(9)[number] for number in only]
    rows = [row | dict(all or {}) for row in made]
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


def loaded(paths: Sequence[Path], linked: bool = False, **options: Any) -> str:
    lines = [f"-- {options}"] * bool(options)
    try:
        pools = load_by_models(paths) if linked else [load_candidates(paths, **options)]
    except CandidateError as error:
        return "\n".join([*lines, f"{error.kind}: {error}"])
    return "\n".join([*lines, *chain.from_iterable(map(shown, pools))])


def test_what_is_loaded(tmp_path: Path) -> None:
    texts = []
    for name, case in cases(__file__, "cases").items():
        (folder := tmp_path / name).mkdir()
        for log in case["logs"]:
            write(folder, **log)
        more = [folder / file for file in (*case.get("files", ()), *case.get("missing", ()))]
        for file, text in case.get("files", {}).items():
            (folder / file).write_text(text)
        paths = [folder / "logs", *more] if more else [folder]
        pools = [loaded(paths, **options) for options in case.get("options", [{}])]
        text = "\n".join([f"== {name}", *pools]).replace(f"{folder}", "FOLDER")
        texts.append(re.sub(r"(as Parquet) \(.*\)", r"\1 (…)", text))
    check(__file__, "loaded.txt", "\n\n".join(texts) + "\n")
