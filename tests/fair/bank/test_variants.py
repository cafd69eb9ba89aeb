"""Variants in a bank: made once, kept as people left them."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, select, update

from tests.fair.bank.questions import choice, keep, kept
from tiebreak.fair.bank import expansion
from tiebreak.fair.bank.expansion import expand, expand_bank, variant_uuid
from tiebreak.fair.bank.question import Remark, Session
from tiebreak.fair.bank.quotas import grant
from tiebreak.fair.bank.review import read_review, write_review
from tiebreak.fair.bank.schema import QUESTIONS, REVIEWS
from tiebreak.fair.bank.sessions import Sampler, TokenHolder, create
from tiebreak.progress import Activity, watch


def test_twice_changes_nothing(engine: Engine) -> None:
    own = [choice(uuid=f"q{n}", stem=f"Oslo has ( ) towers of kind {n}.") for n in range(3)]
    odd = choice("Which is NOT a city?", uuid="odd")
    keep(engine, *own, odd)
    first = expand_bank(engine, "true_false")
    assert (first.n_questions, first.n_made, first.n_true, first.n_there) == (4, 12, 3, 0)
    [refused] = first.refused
    assert refused.where == "odd"
    after = kept(engine)
    for question in own:
        made = expand(question, "true_false")
        assert not isinstance(made, Remark)
        assert [after[one.uuid] for one in made] == list(made)
    second = expand_bank(engine, "true_false")
    assert (second.n_made, second.n_there, second.n_other) == (0, 12, 0)
    assert kept(engine) == after
    assert expand_bank(engine, "fill_in").n_made == 3
    assert len(kept(engine)) == 4 + 12 + 3


def test_what_is_approved_while_sessions_are_opened_is_asked(
    engine: Engine, tmp_path: Path
) -> None:
    keep(engine, choice(uuid="q1"))
    grant(engine, "x", 100)
    sampler = Sampler(engine)

    def n_questions() -> int:
        sampler.refresh()
        return len(sampler._there.raws)

    assert n_questions() == 1
    expand_bank(engine, "true_false")
    write_review(engine, tmp_path / "drafts.csv")
    assert n_questions() == 1
    text = (tmp_path / "drafts.csv").read_text(encoding="utf-8-sig")
    (tmp_path / "drafts.csv").write_text(text.replace("draft", "approved", 1), encoding="utf-8")
    read_review(engine, tmp_path / "drafts.csv", "A. Reader")
    assert n_questions() == 2
    expand_bank(engine, "true_false", approve=True)
    assert n_questions() == 1 + 4
    expand_bank(engine, "fill_in", approve=True)
    assert n_questions() == 1 + 4 + 1
    create(engine, sampler, TokenHolder("x", "ada", "t"), Session(1, "m"), "key")
    with engine.connect() as connection:
        reviews = connection.execute(select(REVIEWS)).all()
    assert [(row.reviewer, row.before, row.after) for row in reviews] == [
        ("A. Reader", "draft", "approved"),
        *[("expand/true_false", "draft", "approved")] * 3,
        ("expand/fill_in", "draft", "approved"),
    ]


def test_only_approved_questions_of_people_are_expanded(engine: Engine) -> None:
    draft, rejected = (choice(uuid=s, status=s) for s in ("draft", "rejected"))
    keep(engine, draft, rejected, choice(uuid="v", parent="q0", raw_uuid="q0"))
    assert expand_bank(engine, "true_false").n_questions == 0


def test_what_people_did_to_variants_stays(engine: Engine) -> None:
    keep(engine, choice())
    expand_bank(engine, "true_false")
    uuids = [variant_uuid("q1", "true_false", number) for number in range(1, 5)]
    with engine.begin() as connection:
        own = QUESTIONS.c.uuid
        rejected = update(QUESTIONS).where(own == uuids[0]).values(status="rejected")
        edited = update(QUESTIONS).where(own == uuids[1]).values(question="Are there 5?")
        connection.execute(rejected)
        connection.execute(edited)
        connection.execute(delete(QUESTIONS).where(own == uuids[2]))
    before = kept(engine)
    done = expand_bank(engine, "true_false", approve=True)
    # The missing one is made, and only the draft that is as the method makes it is approved too.
    assert (done.n_made, done.n_there, done.n_other, done.n_approved) == (1, 3, 1, 1)
    after = kept(engine)
    assert [after[uuid].status for uuid in uuids] == ["rejected", "draft", "approved", "approved"]
    assert after[uuids[1]] == before[uuids[1]]
    assert after[uuids[0]] == before[uuids[0]]


def test_the_same_variant_of_another_question_is_refused(engine: Engine) -> None:
    """Two questions of one stem share an option."""
    keep(engine, choice(uuid="a"), choice(uuid="b", options=("7", "11"), answer="A"))
    done = expand_bank(engine, "true_false")
    assert done.n_made == 5
    [refused] = done.refused
    assert refused == Remark(
        "b", f"a variant of it is the same as {variant_uuid('a', 'true_false', 3)}"
    )


def test_many_questions_take_several_transactions(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expansion, "AT_ONCE", 20)
    n = 43
    keep(engine, *(choice(f"Box {k} holds ( ) balls.", uuid=f"q{k}") for k in range(n)))
    seen: list[Activity | None] = []
    with watch(seen.append):
        assert expand_bank(engine, "true_false").n_made == 4 * n
    [expanding, _] = seen
    assert expanding is not None
    assert (expanding.done, expanding.total) == (43, 43)


def test_edited_questions_do_not_change_their_variants(engine: Engine) -> None:
    keep(engine, choice())
    expand_bank(engine, "fill_in")
    before = kept(engine)
    edited = replace(choice(), question="A tree has ( ) nodes.")
    with engine.begin() as connection:
        connection.execute(
            update(QUESTIONS).where(QUESTIONS.c.uuid == "q1").values(question=edited.question)
        )
    done = expand_bank(engine, "fill_in")
    assert (done.n_made, done.n_there, done.n_other) == (0, 1, 1)
    assert kept(engine) == {**before, "q1": edited}
