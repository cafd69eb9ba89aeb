"""Write the samples of one lm-eval release: `python make_lm_eval.py OUT`.

The release is the one that Python finds. Its own command line runs a task of four documents with
two models, once with one filter, once with two, and once with `--predict_only`. OUT is made below
the working folder, which should be no repository and have a neutral name: logs hold its path.
"""

import json
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

# The answer ends with the last QID of its prompt: an answer that reaches another item shows.
DOCUMENTS = (
    ("A cart holds 12 apples. QID=1", "How many apples are there?", "12"),
    ("A shelf holds 12 apples. QID=2", "How many apples are there?", "12"),
    ("A room has 3 chairs. QID=3", "How many chairs are there?", "3"),
    ("A town has 40 trees. QID=4", "How many trees are there?", "40"),
)
TASK, TWO_FILTERS = (
    Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8")
    for name in ("passages", "two_filters")
)
# A model's answers are right by the one filter, wrong by the first of two and right by the second;
# the other model's are wrong by the one filter.
WORDING = {"study/alpha": "The answer is {number} {qid}", "study/beta": "It is {number} {qid}"}


class Variant(NamedTuple):
    """A task, the models that are asked, and more options of the command line."""

    task: str
    models: tuple[str, ...] = ("study/alpha",)
    options: tuple[str, ...] = ("--log_samples",)


VARIANTS = {
    "one_filter": Variant(TASK, tuple(WORDING)),
    "two_filters": Variant(TASK + TWO_FILTERS),
    "predict_only": Variant(TASK, options=("--log_samples", "--predict_only")),
}


def exact_match(predictions: Sequence[str], references: Sequence[str], **options: Any) -> Any:
    """What the Hub's `exact_match` computes; 0.4.2 loads it from there on import."""
    for pattern in options.get("regexes_to_ignore") or ():
        predictions = [re.sub(pattern, "", text) for text in predictions]
        references = [re.sub(pattern, "", text) for text in references]
    same = [left == right for left, right in zip(predictions, references, strict=True)]
    return {"exact_match": sum(same) / len(same)}


def load_metric(name: str) -> Any:
    """In the place of `evaluate.load`, which asks the Hub."""
    assert name == "exact_match"
    return type("ExactMatch", (), {"compute": staticmethod(exact_match)})()


def register_model() -> None:
    """Register `reader`, which finds the number in the passage and repeats the QID."""
    language_model = import_module("lm_eval.api.model").LM

    def start(self: Any, pretrained: str, **_: Any) -> None:
        language_model.__init__(self)
        self.wording = WORDING[pretrained]

    def generate_until(self: Any, requests: Sequence[Any], **_: Any) -> list[str]:
        return [answer(self.wording, request.args[0]) for request in requests]

    def loglikelihood(self: Any, requests: Sequence[Any], **_: Any) -> list[Any]:
        raise NotImplementedError

    methods: dict[str, Any] = {
        "__init__": start,
        "generate_until": generate_until,
        "loglikelihood": loglikelihood,
        "loglikelihood_rolling": loglikelihood,
    }
    reader = type("Reader", (language_model,), methods)
    import_module("lm_eval.api.registry").register_model("reader")(reader)


def answer(wording: str, prompt: str) -> str:
    qid = re.findall(r"QID=\d+", prompt)[-1]
    [number] = re.findall(r"(?<!=)\b\d+\b", prompt)
    return wording.format(number=number, qid=qid)


def drop_environment(results: Path) -> None:
    """Take the one line out that describes the machine: its processor, system and packages."""
    text = results.read_text(encoding="utf-8")
    kept = re.sub(r'^  "pretty_env_info": ".*",\n', "", text, flags=re.MULTILINE)
    assert "pretty_env_info" not in kept
    results.write_text(kept, encoding="utf-8")


def run(folder: Path, model: str, options: Sequence[str]) -> None:
    arguments = {
        "--model": "reader",
        "--model_args": f"pretrained={model}",
        "--tasks": "passages",
        "--include_path": "tasks",
        "--output_path": str(folder),
        "--batch_size": "1",
    }
    given = [text for pair in arguments.items() for text in pair]
    with patch.object(sys, "argv", ["lm_eval", *given, *options]):
        import_module("lm_eval.__main__").cli_evaluate()


def main(out: Path) -> None:
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
    with patch.object(import_module("evaluate"), "load", load_metric):
        import_module("lm_eval.evaluator")
    import_module("lm_eval.models")
    register_model()
    rows = [dict(zip(("passage", "question", "answer"), row, strict=True)) for row in DOCUMENTS]
    Path("documents.json").write_text(json.dumps(rows), encoding="utf-8")
    Path("tasks").mkdir(exist_ok=True)
    for name, variant in VARIANTS.items():
        Path("tasks", "passages.yaml").write_text(variant.task, encoding="utf-8")
        for model in variant.models:
            folder = out / name
            if version("lm-eval") == "0.4.2":  # it makes no folder for each model
                folder /= model.partition("/")[2]
            run(folder, model, variant.options)
    for results in out.rglob("*results*.json"):
        drop_environment(results)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
