"""The verbs of `bank` about examinees, imports and checks: what each hands on, says, ends with."""

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select

from tests.cli.handed import ENGINE, Enough, Handed, bank, tiebreak
from tests.fair.bank.builders import make_bank
from tests.fair.bank.judged import answered_session
from tiebreak.fair.bank.quotas import Quota
from tiebreak.fair.bank.reading import Fields
from tiebreak.fair.bank.schema import TOKENS, open_bank
from tiebreak.fair.bank.tokens import SECRET, jti_of
from tiebreak.rankers.uncertainty import Resampling

pytestmark = pytest.mark.usefixtures("away_from_banks")


@pytest.mark.parametrize(
    ("asked", "code", "given"),
    [
        ("", 0, {"skip_faulty": False, "near_duplicates": "draft", "most_shown": 20}),
        (
            "--skip-faulty --near keep --show 1 --json",
            1,
            {"skip_faulty": True, "near_duplicates": "keep", "most_shown": 1},
        ),
    ],
)
def test_an_import(no_bank: Handed, asked: str, code: int, given: dict[str, Any]) -> None:
    found = SimpleNamespace(refused=bool(code))
    no_bank.instead("tiebreak.fair.bank.reading.sources_of", ["x"])
    no_bank.instead("tiebreak.fair.bank.importing.import_files", found)
    no_bank.instead("tiebreak.fair.cli.bank.show")
    assert bank("import", "a", "b", *asked.split(), code=code) == ""
    sources, opened, taken, shown = no_bank.made
    assert sources[1] == (("a", "b"),)
    assert opened[1:] == (("bank.db",), {"create": True})
    assert taken[1:] == ((ENGINE, ["x"]), {"bank": "bank.db", "fields": Fields(), **given})
    assert shown[1][::2] == ("json" if "--json" in asked else None, found)


@pytest.mark.parametrize(
    ("asked", "n_wrong", "code", "most"), [("", 0, 0, 20), ("--show 1 --json", 1, 1, 1)]
)
def test_a_check(no_bank: Handed, asked: str, n_wrong: int, code: int, most: int) -> None:
    found = SimpleNamespace(n_wrong=n_wrong)
    no_bank.instead("tiebreak.fair.bank.checks.check_bank", found)
    no_bank.instead("tiebreak.fair.cli.bank.show")
    assert bank("check", *asked.split(), code=code) == ""
    _, checked, shown = no_bank.made
    given = {"bank": "bank.db", "most_shown": most}
    assert checked[1:] == ((ENGINE,), given)
    assert shown[1][::2] == ("json" if "--json" in asked else None, found)


@pytest.mark.parametrize(
    ("asked", "url"),
    [("", "bank.db"), ("--bank postgresql://me:secret@h/b", "postgresql://me:***@h/b")],
)
def test_stats(no_bank: Handed, asked: str, url: str) -> None:
    """The password of a database is not shown."""
    no_bank.instead("tiebreak.fair.bank.stats.bank_stats", "found")
    no_bank.instead("tiebreak.fair.cli.bank.show")
    assert bank("stats", *asked.split()) == ""
    assert no_bank.made[1][1:] == ((ENGINE,), {"bank": url})
    assert no_bank.made[2][1][::2] == (None, "found")


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("", {"state": None, "institution": None}),
        ("--state open --institution lab", {"state": "open", "institution": "lab"}),
    ],
)
def test_sessions(handed: Handed, asked: str, given: dict[str, Any]) -> None:
    make_bank(Path("bank.db"))
    handed.instead("tiebreak.fair.bank.overview.sessions_of", "found")
    handed.instead("tiebreak.fair.cli.bank_serve.show")
    assert bank("sessions", *asked.split()) == ""
    assert handed.made[0][2] == given
    assert handed.made[1][1][::2] == (None, "found")


def test_a_session_is_closed() -> None:
    engine = make_bank(Path("bank.db"))
    session = answered_session(engine, "a", 3, state="open")
    assert bank("close", session) == f"Session {session} is closed, 3 of 3 answered.\n"


@pytest.mark.parametrize(
    ("asked", "shown", "what"), [([], True, "released"), (["--withdraw"], False, "withdrawn")]
)
def test_what_is_held_is_released_or_withdrawn(
    no_bank: Handed, asked: list[str], shown: bool, what: str
) -> None:
    no_bank.instead("tiebreak.fair.bank.results.show")
    assert bank("release", "s", *asked) == f"The results of session s are {what}.\n"
    assert no_bank.made[1] == ("show", (ENGINE, "s"), {"shown": shown})


@pytest.mark.parametrize(("asked", "level"), [("", 0.95), ("--hold --level 0.9 --json", 0.9)])
def test_results_are_released_or_held(no_bank: Handed, asked: str, level: float) -> None:
    result = {"score": 1}
    no_bank.instead("tiebreak.fair.bank.release.result_of", result)
    no_bank.instead("tiebreak.fair.bank.results.keep")
    no_bank.instead("tiebreak.fair.cli.bank_serve.show")
    assert bank("release", "s", "--log", "x", "--log", "y", *asked.split()) == ""
    assert no_bank.made[1:3] == [
        ("result_of", (ENGINE, "s", ("x", "y")), {"how": Resampling(level)}),
        ("keep", (ENGINE, "s", {"score": 1}), {"released": "--hold" not in asked}),
    ]
    assert no_bank.made[3][1][::2] == ("json" if "--json" in asked else None, result)


@pytest.mark.parametrize("asked", ["--withdraw --hold", "--withdraw --log x", "--hold"])
def test_a_release_asked_wrongly(no_bank: Handed, asked: str) -> None:
    done = tiebreak("bank", "release", "s", *asked.split())
    assert (done.exit_code, no_bank.made) == (2, [])
    said = "Error: Give --log, with --hold if you like, or --withdraw alone.\n"
    assert done.stderr.endswith(said)


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("", {"role": "examinee", "session": None, "lifetime": timedelta(days=7)}),
        (
            "--role admin --session s --expires 12h",
            {"role": "admin", "session": "s", "lifetime": timedelta(hours=12)},
        ),
        ("--expires 1m", {"role": "examinee", "session": None, "lifetime": timedelta(minutes=1)}),
        (
            "--expires 99999d",
            {"role": "examinee", "session": None, "lifetime": timedelta(days=99999)},
        ),
    ],
)
def test_what_a_token_is_made_of(no_bank: Handed, asked: str, given: dict[str, Any]) -> None:
    no_bank.instead("tiebreak.fair.bank.tokens.keys_from", "keys")
    no_bank.instead("tiebreak.fair.bank.tokens.issue", Enough())
    with pytest.raises(Enough):
        tiebreak("bank", "token", "--user", "u", "--institution", "lab", *asked.split())
    assert no_bank.made[2][1:] == ((ENGINE, "keys"), {"user": "u", "institution": "lab", **given})


@pytest.mark.parametrize("expires", ["0d", "00h", "7", "d", "1w", "123456d", "-1d", "1.5h"])
def test_what_is_no_time(no_bank: Handed, expires: str) -> None:
    asked = ("--user", "u", "--institution", "lab", "--expires", expires)
    done = tiebreak("bank", "token", *asked)
    assert done.exit_code == 2
    assert f"Error: Invalid value for '--expires': '{expires}' is no time such as 7d" in done.stderr


def test_a_token_is_printed_alone_and_revoked_by_itself_or_its_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = open_bank("bank.db", create=True)
    monkeypatch.setenv(SECRET, "0123456789abcdef" * 2)

    def revoked() -> list[bool]:
        with engine.connect() as connection:
            return [
                one is not None for one in connection.execute(select(TOKENS.c.revoked)).scalars()
            ]

    made = []
    for _ in range(2):
        done = tiebreak("bank", "token", "--user", "u", "--institution", "lab")
        made.append(done.stdout.removesuffix("\n"))
        jti = jti_of(made[-1])
        assert done.stderr == f"Revoke it with: tiebreak bank revoke {jti}\n"
    assert revoked() == [False, False]
    assert bank("revoke", made[0]) == "The token is revoked.\n"
    assert sorted(revoked()) == [False, True]
    assert bank("revoke", jti_of(made[1])) == "The token is revoked.\n"
    assert revoked() == [True, True]


@pytest.mark.parametrize(
    ("n", "now", "said"),
    [
        (
            0,
            Quota("lab", 0, 7, 5),
            "lab: 0 questions granted, 7 allocated (2 pending, 5 completed), 0 left.\n",
        ),
        (
            1,
            Quota("lab", 1, 0, 0),
            "lab: 1 question granted, 0 allocated (0 pending, 0 completed), 1 left.\n",
        ),
        (
            40000,
            Quota("lab", 40000, 6000, 2500),
            "lab: 40,000 questions granted, 6,000 allocated (3,500 pending, 2,500 completed), "
            "34,000 left.\n",
        ),
    ],
)
def test_a_quota(no_bank: Handed, n: int, now: Quota, said: str) -> None:
    no_bank.instead("tiebreak.fair.bank.quotas.grant", now)
    assert bank("quota", "lab", str(n)) == said
    assert no_bank.made[1] == ("grant", (ENGINE, "lab", n), {})


def test_errors_of_a_bank_are_sentences() -> None:
    """Each verb says which bank is not there, and makes none."""
    verbs = [
        *("check", "stats", "expand --to fill_in", "review --out x.csv", "sample --out x.jsonl"),
        *("export s", "export --questions --out q.csv", "sessions", "close s", "release s"),
        *("revoke x", "quota lab 1"),
    ]
    for verb in verbs:
        done = tiebreak("bank", *verb.split())
        assert (done.exit_code, done.stdout) == (1, ""), verb
        assert done.stderr.startswith("Error: bank.db does not exist"), verb
    assert list(Path().iterdir()) == []


def test_a_bank_in_an_own_place(no_bank: Handed) -> None:
    """By option, else by variable, else bank.db."""
    no_bank.instead("tiebreak.fair.bank.stats.bank_stats")
    no_bank.instead("tiebreak.fair.cli.bank.show")
    tiebreak("bank", "stats", env={"TIEBREAK_BANK": "y.db"})
    tiebreak("bank", "stats", "--bank", "x.db", env={"TIEBREAK_BANK": "y.db"})
    tiebreak("bank", "stats")
    opened = [args for name, args, _ in no_bank.made if name == "open_bank"]
    assert opened == [("y.db",), ("x.db",), ("bank.db",)]
