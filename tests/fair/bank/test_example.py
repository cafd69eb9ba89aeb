"""The bank that ships: what every question of it holds."""

import sqlite3
from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.fair.bank.builders import example_questions
from tiebreak.cli.verbs import main
from tiebreak.fair.bank.question import TYPES, BankQuestion, faults_of


def keys_of(kind: str) -> Counter[str]:
    return Counter(question.answer for question in example_questions() if question.type == kind)


def test_enough_of_every_kind() -> None:
    originals = [question for question in example_questions() if not question.parent]
    assert len(originals) >= 200
    assert {question.type for question in originals} == set(TYPES)
    of_category = Counter(question.category for question in originals)
    assert len(of_category) >= 6
    assert min(of_category.values()) >= 10
    chinese = [question for question in originals if "\u4e00" <= question.question[0] <= "\u9fff"]
    assert len(chinese) >= 20


def test_every_question_is_whole() -> None:
    for question in example_questions():
        check(question)


def check(question: BankQuestion) -> None:
    assert faults_of(question) == ()
    assert question.raw_uuid == question.uuid
    assert (question.source, question.date) == ("Tiebreak example bank", "2026-11")
    for field in fields(question):
        value = getattr(question, field.name)
        if isinstance(value, str):
            assert value == value.strip()
            assert value or field.name in ("parent", "made_by")
    match question.type:
        case "multiple_choice":
            assert len({option.casefold() for option in question.options}) == 4
            assert question.question.count("____") == 1 or question.question.endswith(("?", "？"))
        case "true_false":
            assert question.question.startswith(("True or false? ", "判断正误："))
        case "fill_in":
            assert question.answer not in question.question
        case "material":
            assert "\n\nMaterial: " in question.question
            assert "\n\nQuestion: " in question.question


def test_keys_tell_nothing() -> None:
    letters = keys_of("multiple_choice")
    assert max(letters.values()) - min(letters.values()) <= 1
    verdicts = keys_of("true_false")
    assert verdicts["true"] == verdicts["false"]
    # Whoever always takes the longest option is hardly better than chance.
    choices = [question for question in example_questions() if question.options]
    longest = [max("ABCD", key=lambda k: len(q.options["ABCD".index(k)])) for q in choices]
    right = sum(key == q.answer for key, q in zip(longest, choices, strict=True))
    assert right / len(choices) < 0.35


@pytest.mark.slow
def test_it_is_imported_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["bank", "import", "example", "--json"])
    assert done.exit_code == 0, done.output
    with sqlite3.connect("bank.db") as bank:
        [(n, approved)] = bank.execute("SELECT count(*), sum(status = 'approved') FROM questions")
    # None of them looks like another: near duplicates would be drafts.
    assert n == approved == len(example_questions())
    Path("example").write_text("", encoding="utf-8")
    own = CliRunner().invoke(main, ["bank", "import", "example"])
    assert own.exit_code != 0
    assert "example is none of" in own.output
