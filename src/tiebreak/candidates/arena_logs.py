"""Split ranking logs that also hold the answers into one log for each model."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from tiebreak.candidates.inspect_types import LogHeader, LogSample
from tiebreak.candidates.pool import ItemKey
from tiebreak.candidates.records import LogRecord
from tiebreak.candidates.run_keys import ANSWERS_KEY, CONTEST_KEY, ROSTER_KEY

_OF_JUDGING: Final = {ANSWERS_KEY, CONTEST_KEY, ROSTER_KEY}
_ANSWERING: Final = {"steps": [{"solver": "generate", "params_passed": {}}]}


def by_model(
    header: LogHeader, samples: Sequence[LogSample]
) -> Iterator[tuple[LogHeader, list[LogSample]]]:
    """Yield header and samples of each model, as a separate log of its run would have them.

    Raises:
        ValueError: the answers do not have the form in which the task logs them.
    """
    run = header.model_dump()
    spec, names = run["eval"], header.metadata[ANSWERS_KEY]
    bound = (spec["model_roles"] or {}).get("contestants") or []
    given = {k: v for k, v in spec["task_args_passed"].items() if k in ("prompts", "name")}
    for name, role in zip(names, bound if isinstance(bound, list) else [bound], strict=True):
        of_model = {"model": name, "model_roles": None, "model_generate_config": role["config"]}
        asked = {"task": spec["dataset"]["name"] or spec["task"], "task_args_passed": given}
        changed = {**run, "plan": _ANSWERING, "eval": {**spec, **of_model, **asked}}
        yield LogHeader.model_validate(changed), [_answer(sample, name) for sample in samples]


def _answer(sample: LogSample, model: str) -> LogSample:
    """Sample with a model's answer or error, without the results of judging."""
    reply: dict[str, Any] = dict(sample.metadata.get(ANSWERS_KEY, {})).get(model, {})
    failed = {"message": reply["error"]} if "error" in reply else None
    metadata = {key: part for key, part in sample.metadata.items() if key not in _OF_JUDGING}
    answered = {"output": {} if failed else reply, "error": failed, "metadata": metadata}
    return LogSample.model_validate(
        {**sample.model_dump(), **answered, "scores": None, "limit": None}
    )


def joined(records: Iterable[LogRecord]) -> tuple[LogRecord, ...]:
    """Merge the records of a model from several such logs into one record.

    The logs are shards of a run, or a later run took the answers from the cache. Records that have
    different answers to an item stay separate.
    """
    kept: dict[object, LogRecord] = {}
    for number, record in enumerate(records):
        name = (record.benchmark, record.model) if record.judged_there else number
        first = kept.setdefault(name, record)
        answers, before = _answers(record), _answers(first)
        if all(before.get(key, answer) == answer for key, answer in answers.items()):
            rows = (row for row in record.rows if row.item.key not in before)
            kept[name] = replace(first, rows=(*first.rows, *rows))
        else:
            kept[number] = record
    return tuple(kept.values())


def _answers(record: LogRecord) -> dict[ItemKey, tuple[str, str | None]]:
    """Hash of the question and text of the answer (None without one), by item."""
    return {
        row.item.key: (row.item.input_hash, row.candidate.answer if row.candidate else None)
        for row in record.rows
    }
