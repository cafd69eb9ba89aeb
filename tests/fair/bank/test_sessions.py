"""Sessions against a model: what may be asked and answered when, and what quotas say of it."""

import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import Engine, select, update

from tests.fair.bank.serving import make_bank
from tiebreak.fair.bank import quotas, sessions
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.question import Question, Session
from tiebreak.fair.bank.quotas import grant
from tiebreak.fair.bank.schema import QUESTIONS, SEEN, SESSION_QUESTIONS, SESSIONS, writing
from tiebreak.fair.bank.sessions import Sampler, TokenHolder

QUESTIONS_IN_BANK, GRANTED = 60, 40


@contextmanager
def refusal() -> Iterator[list[str]]:
    """The kind of the refusal that happens within, if one does."""
    kinds: list[str] = []
    try:
        yield kinds
    except BankError as error:
        kinds.append(error.kind)


class Exam(RuleBasedStateMachine):
    """Two users of one institution, one of another; the model is three plain dictionaries."""

    USERS = (
        TokenHolder("x", "ada", "t1"),
        TokenHolder("x", "bob", "t2"),
        TokenHolder("y", "ada", "t3"),
    )

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.engine = make_bank(Path(self.folder.name) / "bank.db", QUESTIONS_IN_BANK, siblings=2)
        self.sampler = Sampler(self.engine)
        self.left = {"x": GRANTED, "y": GRANTED}
        self.open: dict[TokenHolder, str] = {}
        self.keys: dict[tuple[TokenHolder, int], str] = {}
        self.owner: dict[str, TokenHolder] = {}
        self.k: dict[str, int] = {}
        self.answers: dict[str, list[str]] = {}
        self.asked: dict[str, list[Question]] = {}
        for institution in self.left:
            grant(self.engine, institution, GRANTED)

    def teardown(self) -> None:
        self.engine.dispose()
        self.folder.cleanup()

    @rule(who=st.sampled_from(USERS), k=st.integers(1, 12), key=st.integers(0, 3))
    def create(self, who: TokenHolder, k: int, key: int) -> None:
        known = (who, key) in self.keys
        with refusal() as kinds:
            made, new = sessions.create(self.engine, self.sampler, who, Session(k, "m"), str(key))
        if known:
            same = self.k[self.keys[who, key]] == k
            assert kinds == ([] if same else ["conflict"])
            assert not same or (made.id == self.keys[who, key] and not new)
        elif k > self.left[who.institution]:
            assert kinds == ["refused"]
        elif who in self.open:
            assert kinds == ["conflict"]
        elif not kinds:
            assert new
            self.keys[who, key] = self.open[who] = made.id
            self.owner[made.id], self.k[made.id] = who, k
            self.answers[made.id], self.asked[made.id] = [], []
            self.left[who.institution] -= k
        else:
            # The bank has too few originals with an unseen question.
            assert kinds == ["unusable"]

    @rule(who=st.sampled_from(USERS), number=st.integers(0, 5), position=st.integers(1, 14))
    def ask_any(self, who: TokenHolder, number: int, position: int) -> None:
        if self.owner:
            self.ask(who, list(self.owner)[number % len(self.owner)], position)

    @rule(who=st.sampled_from(USERS), text=st.text("ab", max_size=2), again=st.booleans())
    def go_on(self, who: TokenHolder, text: str, again: bool) -> None:
        if who in self.open:
            session = self.open[who]
            position = len(self.answers[session]) + 1
            self.ask(who, session, position)
            self.answer(who, session, position, text)
            if again:
                self.answer(who, session, position, text)

    @rule(
        who=st.sampled_from(USERS),
        number=st.integers(0, 5),
        position=st.integers(1, 14),
        text=st.text("ab", max_size=2),
    )
    def answer_any(self, who: TokenHolder, number: int, position: int, text: str) -> None:
        if self.owner:
            self.answer(who, list(self.owner)[number % len(self.owner)], position, text)

    @rule(number=st.integers(0, 5))
    def close(self, number: int) -> None:
        if not self.owner:
            return
        session = list(self.owner)[number % len(self.owner)]
        who = self.owner[session]
        complete = len(self.answers[session]) == self.k[session]
        with refusal() as kinds:
            sessions.close(self.engine, session)
        assert kinds == (["conflict"] if complete else [])
        if self.open.get(who) == session:
            del self.open[who]
            self.left[who.institution] += self.k[session] - len(self.asked[session])

    def ask(self, who: TokenHolder, session: str, position: int) -> None:
        with refusal() as kinds, writing(self.engine) as connection:
            got = sessions.ask(connection, session, position, who)
        asked, mine = self.asked[session], self.owner[session] == who
        if not mine or position > self.k[session]:
            assert kinds == ["missing"]
        elif position <= len(asked):
            assert got == asked[position - 1]
        elif session != self.open.get(who) or position > len(self.answers[session]) + 1:
            assert kinds == ["conflict"]
        else:
            assert (got.position, got.of) == (position, self.k[session])
            assert got.question not in [other.question for other in asked]
            asked.append(got)

    def answer(self, who: TokenHolder, session: str, position: int, text: str) -> None:
        with refusal() as kinds, writing(self.engine) as connection:
            stands = sessions.answer(connection, session, position, text, who)
        answers = self.answers[session]
        if self.owner[session] != who or position > self.k[session]:
            assert kinds == ["missing"]
        elif position <= len(answers):
            assert kinds == ([] if answers[position - 1] == text else ["conflict"])
        elif (
            session != self.open.get(who)
            or position > len(answers) + 1
            or position > len(self.asked[session])
        ):
            assert kinds == ["conflict"]
        else:
            answers.append(text)
            complete = position == self.k[session]
            assert stands.next == (None if complete else position + 1)
            if complete:
                del self.open[who]

    @invariant()
    def what_is_kept_is_what_was_said(self) -> None:
        with self.engine.connect() as connection:
            for session, who in self.owner.items():
                found = sessions.session_of(connection, session, who)
                assert found.answered == len(self.answers[session])
                assert (found.state == "open") == (self.open.get(who) == session)
            p = SESSION_QUESTIONS.c
            rows = connection.execute(select(p.session, p.answer).order_by(p.position))
            kept = [(row.session, row.answer) for row in rows if row.answer is not None]
            for session, answers in self.answers.items():
                assert [text for of, text in kept if of == session] == answers

    @invariant()
    def quotas_add_up(self) -> None:
        with self.engine.connect() as connection:
            for institution, left in self.left.items():
                quota = quotas.quota_of(connection, institution)
                pending = sum(
                    self.k[session] - len(self.answers[session])
                    for who, session in self.open.items()
                    if who.institution == institution
                )
                assert (quota.left, quota.pending) == (left, pending)

    @invariant()
    def nothing_is_given_twice(self) -> None:
        with self.engine.connect() as connection:
            joined = SESSION_QUESTIONS.join(SESSIONS)
            columns = (SESSIONS.c.institution, SESSION_QUESTIONS.c.uuid)
            given = connection.execute(select(*columns).select_from(joined)).all()
            seen = connection.execute(select(SEEN.c.institution, SEEN.c.uuid)).all()
        assert sorted(map(tuple, given)) == sorted(map(tuple, seen))
        assert max(Counter(map(tuple, given)).values(), default=1) == 1


TestExam = Exam.TestCase
TestExam.settings = settings(
    max_examples=15,
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow],
)
TestExam = pytest.mark.slow(TestExam)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return make_bank(tmp_path / "bank.db", 200)


def made(engine: Engine, sampler: Sampler, user: str, k: int = 10) -> Session:
    return sessions.create(engine, sampler, TokenHolder("x", user, user), Session(k, "m"), "key")[0]


@pytest.mark.slow
def test_exactly_the_quota_is_granted(engine: Engine) -> None:
    grant(engine, "x", 75)
    sampler, granted, refused = Sampler(engine), [], []

    def one(user: str) -> None:
        try:
            granted.append(made(engine, sampler, user))
        except BankError as error:
            refused.append(error.kind)

    threads = [threading.Thread(target=one, args=(f"user {n}",)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(granted), refused) == (7, ["refused"] * 13)
    with engine.connect() as connection:
        uuids = connection.execute(select(SESSION_QUESTIONS.c.uuid)).scalars().all()
        assert len(uuids) == len(set(uuids)) == 70
        assert quotas.quota_of(connection, "x").left == 5


def test_a_question_withdrawn_meanwhile_is_not_asked(engine: Engine) -> None:
    grant(engine, "x", 200)
    sampler = Sampler(engine)
    sampler.refresh()
    withdrawn = [f"q{number:06}" for number in range(100)]
    with engine.begin() as connection:
        change = update(QUESTIONS).where(QUESTIONS.c.uuid.in_(withdrawn))
        connection.execute(change.values(status="rejected"))
    session = made(engine, sampler, "ada", k=100)
    with engine.connect() as connection:
        chosen = select(SESSION_QUESTIONS.c.uuid).where(SESSION_QUESTIONS.c.session == session.id)
        assert not set(connection.execute(chosen).scalars()) & set(withdrawn)


def test_as_many_changed_and_none_by_number_is_found(engine: Engine) -> None:
    grant(engine, "x", 200)
    with engine.begin() as connection:
        half = QUESTIONS.c.uuid < "q000100"
        connection.execute(update(QUESTIONS).where(half).values(status="draft"))
    sampler = Sampler(engine)
    sampler.refresh()
    with engine.begin() as connection:
        connection.execute(update(QUESTIONS).where(half).values(status="approved"))
        connection.execute(update(QUESTIONS).where(~half).values(status="rejected"))
    session = made(engine, sampler, "ada", k=50)
    with engine.connect() as connection:
        chosen = select(SESSION_QUESTIONS.c.uuid).where(SESSION_QUESTIONS.c.session == session.id)
        assert max(connection.execute(chosen).scalars()) < "q000100"
