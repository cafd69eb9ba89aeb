"""Sessions become pools, and samples files."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from tests.fair.bank.builders import add_session, example_questions, make_bank, run
from tiebreak.candidates.identity import input_hash
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.export import pool_of
from tiebreak.fair.bank.question import item_metadata
from tiebreak.fair.bank.sampling import draw, entries
from tiebreak.fair.bank.schema import SEEN
from tiebreak.fair.tasks.fair import fair

QUESTION = {question.uuid: question for question in example_questions()}


def answered(bank: Engine, name: str, answers: list[str | None], **about: str) -> list[str]:
    uuids = draw(entries(bank), len(answers), name)
    given = dict(zip(uuids, answers, strict=True))
    add_session(bank, name, given, model=f"model {name}", **about)
    return uuids


@pytest.mark.parametrize(
    ("prompting", "benchmark"), [("zero_shot", "fair"), ("step_by_step", "fair_step_by_step")]
)
def test_a_session_is_a_pool(bank: Engine, prompting: str, benchmark: str) -> None:
    uuids = answered(bank, "s", ["one", "", "three"], prompting=prompting)
    pool = pool_of(bank, "s")
    assert [item.item_id for item in pool.items] == uuids
    assert (pool.benchmarks, pool.models, pool.notes) == ((benchmark,), ("model s",), ())
    assert [row["model s"].text for _, row in pool] == ["one", "", "three"]
    for item in pool.items:
        question = QUESTION[item.item_id]
        assert (item.prompt, item.target) == (question.question, question.answer)
        assert (item.choices, item.metadata) == (question.options, item_metadata(question))


def test_items_are_those_of_the_task(bank: Engine, tmp_path: Path) -> None:
    answered(bank, "s", ["x"] * 60)
    items = {item.item_id: item for item in pool_of(bank, "s").items}
    samples = {str(sample.id): sample for sample in fair(str(tmp_path / "bank.db"), k=250).dataset}
    both = items.keys() & samples.keys()
    assert len(both) > 50
    for uuid in both:
        sample = samples[uuid]
        assert items[uuid].metadata == sample.metadata
        assert items[uuid].input_hash == input_hash(
            str(sample.input), sample.choices or (), target=str(sample.target)
        )


def test_what_has_no_answer_is_named(bank: Engine) -> None:
    uuids = answered(bank, "s", ["one", None, "three", None, None])
    answered(bank, "none", [None, None])
    with pytest.raises(BankError, match="no answer to questions 2, 4–5 of 5; --partial leaves"):
        pool_of(bank, "s")
    pool = pool_of(bank, "s", partial=True)
    assert [item.item_id for item in pool.items] == [uuids[0], uuids[2]]
    assert str(pool.notes[0]) == "session s: no answer to questions 2, 4–5 of 5: left out"
    with pytest.raises(BankError, match=r"model none: no answer to questions 1–2 of 2$"):
        pool_of(bank, "none", partial=True)
    with pytest.raises(BankError, match="no session x"):
        pool_of(bank, "x")


def rows(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_sample_holds_keys_only_when_asked(bank: Engine, tmp_path: Path) -> None:
    out = tmp_path / "new" / "sample.jsonl"
    assert run(tmp_path, "sample", "--k", "30", "--out", str(out)).exit_code == 0
    plain = rows(out)
    assert [row["uuid"] for row in plain] == draw(entries(bank), 30, "0")
    assert not {"answer", "hint", "status", "parent", "made_by"} & plain[0].keys()
    keys = tmp_path / "keys.jsonl"
    run(tmp_path, "sample", "--k", "30", "--with-keys", "--out", str(keys))
    for row in rows(keys):
        assert row["answer"] == QUESTION[row["uuid"]].answer


def test_an_institution_is_never_given_a_question_twice(bank: Engine, tmp_path: Path) -> None:
    given: Counter[str] = Counter()
    for number, k in enumerate((100, 100, 54)):
        out = tmp_path / f"{number}.jsonl"
        done = run(tmp_path, "sample", *("--k", str(k), "--institution", "lab", "--out", str(out)))
        assert done.exit_code == 0, done.output
        given.update(row["uuid"] for row in rows(out))
    assert given == Counter(list(QUESTION))
    with bank.connect() as connection:
        assert set(connection.execute(select(SEEN.c.uuid)).scalars()) == set(QUESTION)


def test_a_question_under_review_is_not_asked(tmp_path: Path) -> None:
    questions = [replace(q, status="draft") for q in example_questions()[:200]]
    engine = make_bank(tmp_path / "drafts.db", [*questions, *example_questions()[200:]])
    assert {entry.uuid for entry in entries(engine)} == {
        question.uuid for question in example_questions()[200:]
    }
