"""`study.yaml`: what it takes, what is refused and in which line, and its schema."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases import cases
from tiebreak.plain_yaml import yaml_text
from tiebreak.study import StudyError
from tiebreak.study.design import Study, read_study, schema, study_of

LEAST: dict[str, Any] = {"models": ["a/b", "c/d"], "benchmarks": ["gsm8k"], "judge": "j/k"}


def test_short_forms_stand_for_long_ones() -> None:
    study = study_of({**LEAST, "benchmarks": ["mmlu", "my/mails.jsonl", "x/gpqa", "f.py@sums"]})
    assert [(part.name, part.task, part.args) for part in study.benchmarks] == [
        ("mmlu", "tiebreak/mmlu", {}),
        ("mails", "tiebreak/prompts", {"prompts": "my/mails.jsonl", "name": "mails"}),
        ("gpqa", "x/gpqa", {}),
        ("sums", "f.py@sums", {}),
    ]
    assert [protocol.label for protocol in study.protocols] == ["round_robin"]
    assert study.asked == ("j/k",)
    peers = study_of({"answers": ["logs"], "peers": ["a/b", "c/d"]})
    assert [protocol.label for protocol in peers.protocols] == ["peer_review"]


REFUSED = cases(__file__, "refused")


@pytest.mark.parametrize("more", REFUSED)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, more: str) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(f"models: [a/b, c/d]\nbenchmarks:\n  - gsm8k\njudge: j/k\n{more}\n")
    with pytest.raises(StudyError) as error:
        read_study(path)
    assert str(error.value).startswith(f"{path} is not a study: ")
    assert REFUSED[more] in str(error.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"models": ["a/b"]}, "two models at least"),
        ({"models": ["a/b", "a/b"]}, "the model a/b is there twice"),
        ({"benchmarks": ["gsm8k", "tiebreak/gsm8k"]}, "the benchmark gsm8k is there twice"),
        ({"benchmarks": [{"task": "x", "name": "a/b"}]}, "benchmarks.0.name: must be letters"),
        ({"judge": None}, "nobody judges"),
        ({"models": ["a/b", {"model": "c/d", "task_args": {"x": 1}}]}, "give a model with"),
    ],
)
def test_what_does_not_fit_together(given: dict[str, Any], words: str) -> None:
    with pytest.raises(StudyError, match=words):
        study_of({**LEAST, **given})


def test_a_study_is_kept_as_it_was(tmp_path: Path) -> None:
    named = {"model": "c/d", "name": "warm", "config": {"temperature": 0.8}}
    study = study_of({**LEAST, "models": ["a/b", named], "budget": 2.5})
    path = tmp_path / "study.yaml"
    path.write_text(yaml_text(study.model_dump(mode="json", exclude_defaults=True)))
    assert read_study(path) == study
    # What a command line says goes before the file.
    assert read_study(path, budget=4.0, calls=None).budget == 4.0


def test_a_file_that_holds_no_study(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    for text, words in (("- a", "must be a mapping"), ("a: [", "line 1: "), (None, "not exist")):
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        with pytest.raises(StudyError, match=words):
            read_study(path)


def test_the_schema_names_all_fields() -> None:
    fields = schema()["properties"]
    assert fields.keys() == Study.model_fields.keys()
    assert {"type": "string"} in fields["models"]["items"]["anyOf"]
    json.dumps(schema())
