"""What organisers see of sessions, results, tokens and requests, in both kinds of database."""

import pytest
from sqlalchemy import Engine, insert

from tests.fair.bank.judged import answered_session
from tests.fair.bank.serving import token
from tiebreak.fair.bank import results
from tiebreak.fair.bank.overview import log_of, results_of, sessions_of, tokens_of
from tiebreak.fair.bank.schema import ACCESS_LOG, now
from tiebreak.fair.bank.tokens import jti_of

pytestmark = pytest.mark.slow


def test_a_page_at_a_time(engine: Engine) -> None:
    ids = {answered_session(engine, f"s{number}", 3) for number in range(5)}
    still_open = answered_session(engine, "o", 3, state="open")
    results.keep(engine, min(ids), {"score": 50.0}, released=False)
    results.keep(engine, max(ids), {"score": 60.0}, released=False)
    results.show(engine, max(ids), shown=True)
    jti = jti_of(token(engine))
    line = {
        "at": now(),
        "user": "ann",
        "method": "GET",
        "path": "/",
        "address": "::1",
        "request": "r",
    }
    with engine.begin() as connection:
        connection.execute(insert(ACCESS_LOG), [{**line, "status": 200 + k} for k in range(7)])
    with engine.connect() as connection:
        first = sessions_of(connection, state="complete", most=2)
        rest = sessions_of(connection, state="complete", start=2)
        assert (len(first.rows), first.total, rest.total) == (2, 5, 5)
        assert {one.id for one in (*first.rows, *rest.rows)} == ids
        [mine] = sessions_of(connection, state="open", institution="lab").rows
        assert (mine.id, mine.ended, mine.results) == (still_open, None, None)
        shown = {row.id: (row.results, row.released) for row in results_of(connection, 0, 9).rows}
        assert shown == {
            min(ids): ({"score": 50.0}, False),
            max(ids): ({"score": 60.0}, True),
        }
        assert [row.jti for row in tokens_of(connection, 0, 1).rows] == [jti]
        last = log_of(connection, 1, 2)
        assert ([one.status for one in last.rows], last.total) == ([205, 204], 7)
