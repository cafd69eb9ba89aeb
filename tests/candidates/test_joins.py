"""Joins of drawn logs whose answers name the document that they are really to."""

import tempfile
from pathlib import Path
from pprint import pformat
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from inspect_ai.log import read_eval_log, write_eval_log

from tests.candidates.planted_logs import check, write_inspect_text, write_study
from tests.candidates.planted_studies import Document, Row, Run, Study, Style, draw_study
from tiebreak.candidates import load_candidates

INSPECT, LM_EVAL = Style("inspect"), Style("lm-eval")


class Case(NamedTuple):
    """Logs of which an earlier reader joined answers to different documents."""

    runs: tuple[Run, ...]
    joined: set[int]
    problem: str | None  # in `strict`


def run(model: str, style: Style, *documents: Document, ids: str = "") -> Run:
    """A log whose rows stand in this order; `ids` has a letter for each of them."""
    names: list[str | None] = [*ids] or [None] * len(documents)
    rows = zip(range(len(documents)), documents, names, strict=True)
    return Run(model, style, tuple(Row(*row) for row in rows))


def sums(n: int) -> list[Document]:
    return [Document(i, f"What is {i} + {i}?", f"{2 * i}") for i in range(1, n + 1)]


def with_images(n: int) -> list[Document]:
    uris = [f"data:image/png;base64,AAA{i}" for i in range(1, n + 1)]
    return [Document(i, "What is this?", "boat", image=uri) for i, uri in enumerate(uris, 1)]


def with_passages(n: int) -> list[Document]:
    passages = [f"In 190{i} a ship came." for i in range(1, n + 1)]
    return [Document(i, "When?", "then", passage=text) for i, text in enumerate(passages, 1)]


def repeated() -> list[Document]:
    return [*sums(2), Document(3, "What is 1 + 1?", "2")]


SHARED = Style("inspect", template=1, keeps="shared")
ATTACHED = Style("inspect", images="attachment")
CASES = {
    "automatic ids, shuffled, an instruction in metadata.prompt": Case(
        (run("a", SHARED, *sums(6)), run("b", SHARED, *reversed(sums(6)))), {*range(1, 7)}, None
    ),
    "one text, other images, shuffled": Case(
        (run("a", ATTACHED, *with_images(3)), run("b", ATTACHED, *reversed(with_images(3)))),
        {1, 2, 3},
        None,
    ),
    "moved by one row, one question, other passages": Case(
        (run("a", LM_EVAL, *with_passages(4)), run("b", LM_EVAL, *with_passages(5)[1:])),
        {2, 3, 4},
        "hole",
    ),
    "a question that is there twice, in both harnesses": Case(
        (run("a", INSPECT, *repeated()), run("b", LM_EVAL, *reversed(repeated()))),
        {2},
        "repeated_question",
    ),
    "ids that stand for other questions": Case(
        (run("a", INSPECT, *sums(3), ids="xyz"), run("b", INSPECT, *sums(3), ids="yxz")),
        {3},
        "question_conflict",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_answers_to_different_documents_are_not_joined(tmp_path: Path, name: str) -> None:
    runs, joined, problem = CASES[name]
    outcome = check(study := Study(runs), write_study(study, tmp_path))
    assert outcome.faults == []
    assert outcome.joined == joined
    assert problem is None or f"strict: {problem}" in outcome.kinds


@pytest.mark.slow
@settings(
    max_examples=150,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.randoms(use_true_random=False))
def test_drawn_logs_join_by_document_and_without_needless_refusals(rng: Any) -> None:
    study = draw_study(rng)
    note(pformat(study))
    with tempfile.TemporaryDirectory() as folder:
        assert check(study, write_study(study, Path(folder))).faults == []


@pytest.mark.slow
def test_logs_of_seeds_join_by_document(tmp_path: Path) -> None:
    """As above; Hypothesis prefers extreme draws, a generator of seeds does not."""
    faults: dict[str, list[str]] = {}
    for seed in range(300):
        study = draw_study(Random(seed))
        outcome = check(study, write_study(study, tmp_path / f"{seed}"))
        faults |= {f"seed {seed}": outcome.faults} if outcome.faults else {}
    assert faults == {}


@pytest.mark.slow
def test_the_text_of_planted_logs_is_read_as_a_log_that_inspect_wrote(tmp_path: Path) -> None:
    read = 0
    for seed in range(30):
        for planted in draw_study(Random(seed)).runs:
            answered = any(row.answered for row in planted.rows)
            if planted.style.harness == "inspect" and answered:
                text = write_inspect_text(planted, tmp_path / f"{seed}-text")
                (folder := tmp_path / f"{seed}-log").mkdir(exist_ok=True)
                log = folder / text.with_suffix(".eval").name
                write_eval_log(read_eval_log(str(text)), str(log))
                assert answers(text) == answers(log)
                read += 1
    assert read > 30


def answers(path: Path) -> dict[Any, Any]:
    """Every item and its answer, but for the file that it came from, in both files."""
    pool = load_candidates(path, "intersect", epochs="all", alone=True)
    return {
        item.key: (item.input_hash, item.prompt, item.choices, [c.text for c in row.values()])
        for item, row in pool
    }


def test_a_wrong_pair_and_a_needless_refusal_are_noticed(tmp_path: Path) -> None:
    study = Study((run("a", INSPECT, *sums(2)), run("b", INSPECT, *sums(2))))
    log = write_study(study, tmp_path) / "b.json"
    assert check(study, tmp_path).faults == []
    text = log.read_text()
    log.write_text(text.replace("TRUTH=1", "TRUTH=2"))
    assert [fault for fault in check(study, tmp_path).faults if "joins" in fault] == [
        f"{mode}: item '1' (epoch 1) joins documents [1, 2]" for mode in ("strict", "intersect")
    ]
    log.write_text(text.replace("What is 1", "What was 1"))
    needless = [fault.partition(" is")[0] for fault in check(study, tmp_path).faults]
    assert needless == [
        "strict: document 1 (epoch 1)",  # it has no pool at all
        "strict: document 2 (epoch 1)",
        "intersect: document 1 (epoch 1)",
    ]
