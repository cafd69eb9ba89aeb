"""The four benchmarks without a harness: their questions, prompts and native metrics.

The tasks for Inspect and for lm-eval both use this package, so a question has the same wording and
an answer the same native score in both harnesses.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tiebreak.benchmarks import gsm8k, humaneval, mmlu
from tiebreak.benchmarks.bfcl import check
from tiebreak.benchmarks.bfcl import questions as bfcl_data
from tiebreak.benchmarks.question import Question, Row, Verdict
from tiebreak.benchmarks.sources import file_rows, hub_rows
from tiebreak.paths import problem_with
from tiebreak.prerequisite import PrerequisiteError


class Benchmark(NamedTuple):
    """The functions that make questions of rows, prompts of questions and verdicts of answers.

    Attributes:
        read: makes a question of a row and its index in the data, from 0; the index names an item
            whose row has no `id`. Raises KeyError, ValueError, TypeError etc. for an invalid row.
        prompt: makes the prompt, with guidance (True) or bare.
        metric: name of the native score in both harnesses.
        score: computes the native metric; None if that needs a sandbox.
        part: key of `Question.details` by which a part of the questions can be chosen, or None.
    """

    read: Callable[[Row, int], Question]
    prompt: Callable[[Question, bool], str]
    metric: str
    score: Callable[[str, Question], Verdict] | None
    part: str | None = None


# Maximum number of characters of a message that quotes a row.
_LONGEST: Final = 300

BENCHMARKS: Final[Mapping[str, Benchmark]] = {
    "humaneval": Benchmark(humaneval.read, humaneval.prompt, humaneval.METRIC, None),
    "gsm8k": Benchmark(gsm8k.read, gsm8k.prompt, gsm8k.METRIC, gsm8k.score),
    "mmlu": Benchmark(mmlu.read, mmlu.prompt, mmlu.METRIC, mmlu.score, "subject"),
    "bfcl": Benchmark(bfcl_data.read, bfcl_data.prompt, check.METRIC, check.score, "category"),
}


def load_questions(
    benchmark: str, data: str | Path | None = None, parts: Sequence[str] = ()
) -> list[Question]:
    """Load the questions of a benchmark; their ids do not depend on the parts that are loaded.

    Args:
        benchmark: a key of `BENCHMARKS`.
        data: a JSON lines or Parquet file, or a local copy of the dataset's repository; None loads
            the Hub's at a pinned revision (BFCL: the files of the package `bfcl-eval`).
        parts: subjects of MMLU or categories of BFCL; empty for all.

    Raises:
        PrerequisiteError: the data cannot be loaded, a row is invalid, or there is no such part;
            the message says where and what to do.
    """
    path = None if data is None else Path(data)
    if path is not None and (problem := problem_with(path)):
        raise PrerequisiteError(f"The data of {benchmark} cannot be read: {path} {problem}.")
    known = BENCHMARKS[benchmark]
    if parts and known.part is None:
        raise PrerequisiteError(f"{benchmark} has no parts to choose from.")
    if benchmark == "bfcl":
        parts = bfcl_data.categories_named(parts)
    if path is not None and path.is_file():
        places = list(file_rows(path))
    elif benchmark == "bfcl":
        rows = bfcl_data.load_rows(path, parts)
        places = [(f"BFCL, {row['id']}", row) for row in rows]
    else:
        rows = hub_rows(benchmark, path)
        places = [(f"row {number} of {benchmark}", row) for number, row in enumerate(rows)]
    questions = [_read(known, row, place, number) for number, (place, row) in enumerate(places)]
    if not questions:
        raise PrerequisiteError(f"{path or benchmark} holds no questions.")
    if twice := [name for name, n in Counter(q.id for q in questions).items() if n > 1]:
        raise PrerequisiteError(
            f"{path or benchmark}: {len(twice)} ids occur more than once, such as "
            f"{twice[0]!r:.{_LONGEST}}."
        )
    return _chosen(benchmark, known.part, questions, parts) if known.part and parts else questions


def _read(benchmark: Benchmark, row: Row, place: str, number: int) -> Question:
    try:
        question = benchmark.read(row, number)
        if not (isinstance(question.text, str) and question.text.strip()):
            raise ValueError("its question is not a text")
        # JSON may contain half of a surrogate pair, but a log cannot.
        json.dumps(row, ensure_ascii=False, default=str).encode("utf-8")
        return question
    except KeyError as error:
        raise PrerequisiteError(f"{place}: it lacks {_message(error)}.") from error
    except RecursionError as error:
        raise PrerequisiteError(f"{place}: it is nested too deeply.") from error
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise PrerequisiteError(f"{place}: {_message(error)}.") from error


def _message(error: Exception) -> str:
    """Text of an error, shortened and valid Unicode, as it may quote a row."""
    text = str(error).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _chosen(
    benchmark: str, part: str, questions: Sequence[Question], parts: Sequence[str]
) -> list[Question]:
    present = {str(question.details.get(part)) for question in questions}
    if unknown := sorted(set(parts) - present):
        raise PrerequisiteError(
            f"{benchmark} has no {part} {', '.join(map(repr, unknown))}. "
            f"There are: {', '.join(sorted(present))}."
        )
    return [question for question in questions if question.details.get(part) in parts]
