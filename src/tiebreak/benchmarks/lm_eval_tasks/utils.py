"""The four benchmarks for lm-eval: documents, prompts and native scores.

All of these come from `tiebreak.benchmarks`, so a question has the same wording and an answer the
same score as in Inspect. lm-eval finds this file because it is beside the YAML files that name its
functions. A document is a row in the benchmark's original schema. Nested columns are JSON text,
because `datasets` would add the keys that a row lacks with nulls.
"""

import json
import logging
import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from tiebreak.benchmarks import BENCHMARKS, load_questions
from tiebreak.benchmarks.mmlu import LETTERS
from tiebreak.benchmarks.question import Question
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.text import split_names

Document = Mapping[str, Any]

_PARTS: Final = {"mmlu": "subjects", "bfcl": "categories"}
_KEYS: Final = ("data", *_PARTS.values())

_logger = logging.getLogger(__name__)


def load_gsm8k(**metadata: Any) -> dict[str, Any]:
    """Documents with id, question and answer; see `load`."""
    return load("gsm8k", metadata)


def load_mmlu(**metadata: Any) -> dict[str, Any]:
    """Documents with id, question, subject, choices and answer; see `load`."""
    return load("mmlu", metadata)


def load_humaneval(**metadata: Any) -> dict[str, Any]:
    """Documents with task_id, prompt, canonical_solution, test and entry_point; see `load`."""
    return load("humaneval", metadata)


def load_bfcl(**metadata: Any) -> dict[str, Any]:
    """Documents with id, category, question, function and ground_truth; see `load`."""
    return load("bfcl", metadata)


def gsm8k_prompt(doc: Document) -> str:
    """The prompt of a word problem."""
    return _prompt("gsm8k", doc)


def mmlu_prompt(doc: Document) -> str:
    """The prompt of a question with its choices."""
    return _prompt("mmlu", doc)


def humaneval_prompt(doc: Document) -> str:
    """The prompt with the beginning of a program."""
    return _prompt("humaneval", doc)


def bfcl_prompt(doc: Document) -> str:
    """The prompt of a request with the functions on offer."""
    return _prompt("bfcl", doc)


def mmlu_letter(doc: Document) -> str:
    """Letter of the right choice; the document has its index."""
    return _question("mmlu", doc).target


def gsm8k_results(doc: Document, results: Sequence[Any]) -> dict[str, float]:
    """Native score: 1.0 if the answer's final number is right."""
    return _results("gsm8k", doc, results)


def mmlu_results(doc: Document, results: Sequence[Any]) -> dict[str, float]:
    """Native score: 1.0 if the chosen letter is right."""
    return _results("mmlu", doc, results)


def bfcl_results(doc: Document, results: Sequence[Any]) -> dict[str, float]:
    """Native score: 1.0 if the ground truth admits the written calls."""
    return _results("bfcl", doc, results)


def humaneval_results(doc: Document, results: Sequence[Any]) -> dict[str, float]:
    """No scores, because a program has to run first, and none runs inside lm-eval."""
    return {}


def load(benchmark: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Load the documents of a benchmark, as the split `test`.

    Args:
        benchmark: a key of `BENCHMARKS`.
        metadata: keys and values of `--metadata`, to which lm-eval adds the model's arguments.
            Three keys count: `data`, a file or folder (see `load_questions`) or a mapping from
            benchmarks to these; `subjects` of MMLU; `categories` of BFCL. All others are taken for
            the model's, unless they resemble one of these three.

    Raises:
        ValueError: a key of the metadata is misspelt or has an invalid value, or the questions
            cannot be loaded; the message says what to do.
    """
    import datasets

    _refuse_misspelt(metadata)
    parts = _strings(_PARTS[benchmark], metadata) if benchmark in _PARTS else ()
    try:
        questions = load_questions(benchmark, _data(benchmark, metadata.get("data")), parts)
    except PrerequisiteError as error:
        # Only Inspect prints the message of a PrerequisiteError; lm-eval would not show it.
        raise ValueError(error.message) from error
    documents = [_DOCUMENTS[benchmark](question) for question in questions]
    return {"test": datasets.Dataset.from_list(documents)}


def _data(benchmark: str, given: Any) -> str | None:
    """The file or folder of one benchmark; `given` is one for all, or a mapping by benchmark."""
    if isinstance(given, Mapping):
        if unknown := sorted(set(map(str, given)) - set(BENCHMARKS)):
            known = ", ".join(BENCHMARKS)
            raise ValueError(f"data names {', '.join(unknown)}; the benchmarks are {known}")
        given = given.get(benchmark)
    if given is None or (isinstance(given, str) and given):
        return given
    raise ValueError(
        f"the data of {benchmark} are {given!r}; it must be a file or folder: "
        '--metadata \'{"data": "FILE"}\' or \'{"data": {"gsm8k": "FILE", "mmlu": "FILE"}}\''
    )


def _strings(key: str, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Names in a list, or in a text with commas (`--metadata subjects=anatomy,virology`)."""
    given = metadata.get(key, ())
    if isinstance(given, str):
        given = split_names(given)
    if isinstance(given, list | tuple) and all(isinstance(name, str) and name for name in given):
        return tuple(given)
    raise ValueError(f'{key} is {given!r}; it must be a list of names: \'{{"{key}": ["…"]}}\'')


def _refuse_misspelt(metadata: Mapping[str, Any]) -> None:
    """Refuse keys that resemble ours: running a whole benchmark instead of a part costs money."""
    for key in metadata:
        if key not in _KEYS and (meant := get_close_matches(key.lower(), _KEYS, 1, cutoff=0.7)):
            raise ValueError(f"--metadata has no key {key!r}; {meant[0]!r} may be meant")


def _gsm8k_document(question: Question) -> dict[str, Any]:
    return {"id": question.id, "question": question.text, "answer": question.target}


def _mmlu_document(question: Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "question": question.text,
        "subject": question.details["subject"],
        "choices": list(question.choices),
        "answer": LETTERS.index(question.target),
    }


def _humaneval_document(question: Question) -> dict[str, Any]:
    return {
        "task_id": question.id,
        "prompt": question.text,
        "canonical_solution": question.target,
        "test": question.details["test"],
        "entry_point": question.details["entry_point"],
    }


def _bfcl_document(question: Question) -> dict[str, Any]:
    messages = question.messages or ({"role": "user", "content": question.text},)
    return {
        "id": question.id,
        "category": question.details["category"],
        "question": json.dumps([[dict(message) for message in messages]], ensure_ascii=False),
        "function": json.dumps(list(question.tools), ensure_ascii=False),
        "ground_truth": question.target,
    }


_DOCUMENTS: Final = {
    "gsm8k": _gsm8k_document,
    "mmlu": _mmlu_document,
    "humaneval": _humaneval_document,
    "bfcl": _bfcl_document,
}


def _question(benchmark: str, doc: Document) -> Question:
    return BENCHMARKS[benchmark].read(doc, 0)


def _prompt(benchmark: str, doc: Document) -> str:
    return BENCHMARKS[benchmark].prompt(_question(benchmark, doc), True)


def _results(benchmark: str, doc: Document, results: Sequence[Any]) -> dict[str, float]:
    """The native score, 1.0 or 0.0; NaN, with a warning that says why, if there is none.

    No error is raised, because lm-eval would lose all answers of the run.
    """
    known = BENCHMARKS[benchmark]
    try:
        (answer,) = results
        if not isinstance(answer, str):
            raise TypeError(f"the model gave {type(answer).__name__}, not text")
        assert known.score is not None
        return {known.metric: float(known.score(answer, _question(benchmark, doc)).right)}
    except Exception as error:
        _logger.warning("%s %s is not scored: %r", benchmark, doc.get("id"), error)
        return {known.metric: math.nan}
