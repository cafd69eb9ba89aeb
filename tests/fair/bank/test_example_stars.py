"""The answers that ship with their stars: of questions of the bank that ships, and of no others."""

import hashlib
import json

import pytest

from tests.harness import ROOT
from tiebreak.candidates import read_parquet
from tiebreak.tables.human import read_human_labels

EXAMPLE = ROOT / "src" / "tiebreak" / "fair" / "bank" / "example"


@pytest.mark.slow
def test_stars_are_of_the_answers_that_ship() -> None:
    pool = read_parquet(EXAMPLE / "answers.parquet")
    rows = map(json.loads, (EXAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    bank = {row["uuid"]: row for row in rows}
    answers = {}
    for item, candidates in pool:
        row = bank[item.item_id]
        assert item.benchmark == "fair"
        assert item.prompt == row["question"]
        assert item.choices == tuple(row.get("options", ()))
        assert item.target == row["answer"]
        assert item.metadata["category"] == row["category"]
        for model, candidate in candidates.items():
            answers[item.item_id, model] = hashlib.sha256(candidate.answer.encode()).hexdigest()
    people = read_human_labels(EXAMPLE / "stars.csv")
    assert people.notes == ()
    for label in people.labels:
        [digest] = label.digests
        assert answers[label.item_id, label.models[0]].startswith(digest)
    raters = {label.rater for label in people.labels}
    assert len(raters) == 2
    assert len(people.labels) == 2 * len(answers)
    assert {label.value for label in people.labels} == {0, 1, 2, 3}


def test_they_are_small() -> None:
    files = [path for path in EXAMPLE.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 400_000
