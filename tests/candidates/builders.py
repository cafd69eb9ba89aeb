"""Writers of small but real source files: Inspect logs and lm-eval output folders.

Every test that needs candidate files builds them here, so a row means the same thing in both
harnesses: `{"id": "a", "question": "1 + 1 = ?", "target": "2", "answer": "2", "native": 1.0}`.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSampleLimit,
    EvalSpec,
    ProvenanceData,
    write_eval_log,
)
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score
from inspect_ai.tool import ToolCall

from tiebreak.candidates import CandidatePool, load_candidates

Row = Mapping[str, Any]
Status = Literal["started", "success", "cancelled", "error"]

# `EvalError` has no public import path; logs hold it as plain data and pydantic accepts that.
_ERROR = {"message": "it broke", "traceback": "Traceback", "traceback_ansi": "Traceback"}


def make_rows(
    n: int, *, answer: str = "The answer is {i}.", native: float | str | None = 1.0
) -> list[dict[str, Any]]:
    """`n` rows with ids `q0`, `q1`, …; `{i}` in `answer` is the number of the row."""
    return [
        {
            "id": f"q{i}",
            "question": f"What is {i} + 0?",
            "target": str(i),
            "answer": answer.format(i=i),
            "native": native,
        }
        for i in range(n)
    ]


def inspect_sample(row: Row, model: str, *, scorer: str = "match") -> EvalSample:
    """One Inspect sample from a row.

    Needed keys: `id`, `question`. Optional: `target` (""), `answer` (""; None = no output at all),
    `native` (None = no score), `scores` (name → value, instead of `native`), `epoch` (1),
    `choices`, `tool_calls` (list of `{"function", "arguments"}`), `tools` (into the sample's
    metadata), `metadata`, `system` (a system message before the question), `stop_reason`,
    `limit` (an Inspect limit type), `error` (True), `invalidated` (True).
    """
    question: str = row["question"]
    message_input: str | list[ChatMessage] = question
    if "system" in row:
        message_input = [
            ChatMessageSystem(content=row["system"]),
            ChatMessageUser(content=question),
        ]
    answer = row.get("answer", "")
    scores: Mapping[str, Any] = row.get("scores") or {}
    if row.get("native") is not None:
        scores = {scorer: row["native"]}
    metadata = dict(row.get("metadata", {}))
    if "tools" in row:
        metadata["tools"] = row["tools"]
    output = ModelOutput() if answer is None else _output(row, model, answer)
    messages = [ChatMessageUser(content=question)] if isinstance(message_input, str) else []
    return EvalSample(
        id=row["id"],
        epoch=row.get("epoch", 1),
        input=message_input,
        choices=row.get("choices"),
        target=row.get("target", ""),
        messages=[*messages, *(choice.message for choice in output.choices)],
        output=output,
        scores={name: Score(value=value) for name, value in scores.items()} or None,
        metadata=metadata,
        limit=EvalSampleLimit(type=row["limit"], limit=1) if "limit" in row else None,
        invalidation=ProvenanceData(author="tester") if row.get("invalidated") else None,
        error=_ERROR if row.get("error") else None,  # type: ignore[arg-type]
    )


def _output(row: Row, model: str, answer: str) -> ModelOutput:
    calls = [
        ToolCall(id=f"call_{i}", function=call["function"], arguments=call["arguments"])
        for i, call in enumerate(row.get("tool_calls", ()))
    ]
    message = ChatMessageAssistant(content=answer, model=model, tool_calls=calls or None)
    choice = ChatCompletionChoice(message=message, stop_reason=row.get("stop_reason", "stop"))
    usage = ModelUsage(input_tokens=7, output_tokens=11, total_tokens=18)
    return ModelOutput(model=model, choices=[choice], usage=usage)


def write_inspect_log(
    path: str | Path,
    model: str,
    rows: Sequence[Row],
    *,
    task: str = "gsm8k",
    status: Status = "success",
    scorer: str = "match",
    epochs: int = 1,
    metadata: Mapping[str, Any] | None = None,
    task_registry_name: str | None = None,
    created: str = "2026-01-01",
    drawn: bool = False,
) -> Path:
    """Write a real Inspect log and return its path.

    `path` ends in `.eval` or `.json`, or is a folder, whose files are named after task and model.
    `rows` are those of `inspect_sample`, `scorer` the name of their `native`; each has its own
    `epoch`, `epochs` is what the log says, and `drawn` that they were drawn by lot. The other
    arguments are as in `log.eval`.
    """
    file = Path(path)
    if file.suffix not in {".eval", ".json"}:
        # The digest keeps `a/b` and `a:b` apart.
        digest = hashlib.sha256(model.encode()).hexdigest()[:6]
        file = file / (re.sub(r"\W+", "-", f"{task}_{model}") + f"_{digest}.eval")
    file.parent.mkdir(parents=True, exist_ok=True)
    samples = [inspect_sample(row, model, scorer=scorer) for row in rows]
    spec = EvalSpec(
        created=f"{created}T00:00:00+00:00",
        task=task,
        task_id=f"task-{task}",
        run_id=f"run-{task}",
        task_registry_name=task_registry_name,
        dataset=EvalDataset(
            name=task,
            samples=len(samples),
            sample_ids=[sample.id for sample in samples] if drawn else None,
        ),
        model=model,
        config=EvalConfig(epochs=epochs, sample_shuffle=1 if drawn else None),
        metadata=dict(metadata) if metadata is not None else None,
    )
    write_eval_log(EvalLog(status=status, eval=spec, samples=samples), str(file))
    return file


def lm_eval_row(row: Row, index: int, *, metric: str = "exact_match") -> dict[str, Any]:
    """One row of a `samples_*.jsonl` file from the same kind of row as `inspect_sample` takes.

    Extra keys: `doc` (the whole document, instead of one made from `id` and `question`),
    `filter` ("none"), `resps` (instead of one made from `answer`), `metrics` (name → value,
    instead of `native`), `prompt` (what was sent to the model), `arguments` (the whole request),
    `chat` (True: `arg_0` holds messages as JSON text).
    """
    question: str = row.get("question", "")
    doc = row.get("doc")
    if doc is None:
        doc = {"id": row["id"], "question": question, "answer": row.get("target", "")}
        doc |= {key: row[key] for key in ("choices", "tools") if key in row}
    options = [
        f"{letter}. {text}\n"
        for letter, text in zip("ABCDEFGH", row.get("choices", ()), strict=False)
    ]
    prompt: Any = row.get("prompt", f"Q: {question}\n{''.join(options)}A:")
    if row.get("chat"):
        prompt = [json.dumps([{"role": "user", "content": prompt}])]
    metrics = row.get("metrics")
    if metrics is None:
        metrics = {} if row.get("native") is None else {metric: row["native"]}
    resps = row.get("resps", [[row.get("answer", "")]])
    arguments = {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": []}}}
    return {
        "doc_id": index,
        "doc": doc,
        "target": row.get("target", ""),
        "arguments": row.get("arguments", arguments),
        "resps": resps,
        "filtered_resps": resps[0] if resps else [],
        "filter": row.get("filter", "none"),
        "metrics": list(metrics),
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(str(prompt)),
        "target_hash": _hash(str(row.get("target", ""))),
        **metrics,
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_lm_eval_run(
    out: str | Path,
    model: str,
    rows: Sequence[Row],
    *,
    task: str = "gsm8k",
    date: str = "2026-01-01T00-00-00.000000",
    metric: str = "exact_match",
    results: bool = True,
    summary: Mapping[str, Any] | None = None,
) -> Path:
    """Write one lm-eval run below the output folder `out` and return its samples file.

    The document number of a row is its own `doc_id`, or its place in `rows`. Several rows of one
    document (several filters) give the same `doc_id`. `summary` is added to the results file.
    """
    folder = Path(out) / re.sub(r'["<>:/|\\?*\[\]]+', "__", model)
    folder.mkdir(parents=True, exist_ok=True)
    if results:
        model_args = {"pretrained": model, "api_key": "sk-hidden"}
        whole = {
            "results": {task: {f"{metric},none": 1.0}},
            "config": {"model": "dummy", "model_args": model_args},
            "model_name": model,
            "model_source": "dummy",
            **(summary or {}),
        }
        (folder / f"results_{date}.json").write_text(json.dumps(whole), encoding="utf-8")
    samples = folder / f"samples_{task.replace('/', '_')}_{date}.jsonl"
    lines = [
        json.dumps(lm_eval_row(row, row.get("doc_id", i), metric=metric), ensure_ascii=False)
        for i, row in enumerate(rows)
    ]
    samples.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return samples


# item: answers and native scores of a, b, c
_AUDITED = {
    "q0": (("x", 1.0), ("x ", 1.0), ("x", 1.0)),  # all the same, saturated
    "q1": (("x", 1.0), ("y", 1.0), ("z", 1.0)),  # saturated, three answers
    "q2": (("x", 1.0), ("x", 1.0), ("y", 0.0)),  # one pair of three
    "q3": (("x", 0.0), ("y", 0.5), ("z", "odd")),  # no native score for c
}


def audited_pool(folder: Path) -> CandidatePool:
    """Three models on the items above; the first alone answered one more."""
    for number, model in enumerate(["a", "b", "[red]c"]):
        rows = [
            {"id": item, "question": item, "answer": row[number][0], "native": row[number][1]}
            for item, row in _AUDITED.items()
        ]
        rows += [{"id": "q4", "question": "q4", "answer": "x", "native": 1.0}] * (model == "a")
        write_inspect_log(folder / f"{number}.eval", model, rows)
    return load_candidates(folder, "intersect")
