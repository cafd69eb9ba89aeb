"""The verbs of `bank`: what each hands on, says and ends with. What a bank does is tested there.

`expected/handed.txt` has the commands, each with the calls that it comes to, and what it prints.
"""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tests import expected
from tests.cli.handed import ENGINE, Enough, Handed, Result, bank, tiebreak
from tests.fair.bank.builders import make_bank
from tests.fair.bank.judged import answered_session
from tests.fair.bank.questions import MATERIAL, choice, keep
from tests.fair.bank.test_checks import SOUND
from tests.fair.bank.test_stats import QUESTIONS
from tiebreak.fair.bank.expansion import Expanded
from tiebreak.fair.bank.question import Remark
from tiebreak.fair.bank.quotas import Quota
from tiebreak.fair.bank.schema import TOKENS, open_bank
from tiebreak.fair.bank.tokens import SECRET, jti_of

pytestmark = pytest.mark.usefixtures("away_from_banks")
STATEMENT = replace(MATERIAL, uuid="s1", raw_uuid="s", type="true_false", answer="true")


class Pool:
    """As much of a pool as the verb looks at."""

    models = ("m", "n")
    notes = ("left out: 1", "left out: 2")

    def __len__(self) -> int:
        return 2

    def __repr__(self) -> str:
        return "<pool>"


RESULTS: dict[str, object] = {
    "tiebreak.prerequisite.get_model": Result("model"),
    "tiebreak.fair.bank.checks.check_bank": Result("check", n_wrong=0),
    "tiebreak.fair.bank.expansion.expand_bank": Enough(),
    "tiebreak.fair.bank.export.export_questions": 1,
    "tiebreak.fair.bank.export.draw_unseen": ["u1"],
    "tiebreak.fair.bank.export.pool_of": Pool(),
    "tiebreak.fair.bank.export.write_questions": None,
    "tiebreak.fair.bank.importing.import_files": Result("report", refused=False),
    "tiebreak.fair.bank.material.StatementWriter": Result("writer"),
    "tiebreak.fair.bank.material.write_statements": Enough(),
    "tiebreak.fair.bank.overview.sessions_of": Result("sessions"),
    "tiebreak.fair.bank.quotas.grant": Quota("lab", 40000, 6000, 2500),
    "tiebreak.fair.bank.reading.sources_of": ["x"],
    "tiebreak.fair.bank.results.keep": None,
    "tiebreak.fair.bank.results.result_of": {"score": 1},
    "tiebreak.fair.bank.results.show": None,
    "tiebreak.fair.bank.sampling.draw": ["u1"],
    "tiebreak.fair.bank.sampling.entries": ("e",),
    "tiebreak.fair.bank.sampling.linked": ["u1"],
    "tiebreak.fair.bank.schema.open_bank": ENGINE,
    "tiebreak.fair.bank.stats.bank_stats": Result("stats"),
    "tiebreak.fair.bank.tokens.issue": Enough(),
    "tiebreak.fair.bank.tokens.keys_from": Result("keys"),
    "tiebreak.fair.cli.bank.show": None,
    "tiebreak.fair.cli.bank_serve.show": None,
}


def test_what_verbs_of_a_bank_hand_on(handed: Handed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiebreak.candidates.parquet.write_parquet", lambda pool, path: path)
    commands = expected.commands(__file__, "handed.txt")
    expected.check(__file__, "handed.txt", handed.recorded(commands, RESULTS))


WRITING = "--to statements --model mockllm/model"
BILL: dict[str, Any] = {
    "n_calls": 3,
    "n_cached": 1,
    "input_tokens": 1234,
    "output_tokens": 56,
    "cost": 0.25,
}
EXPANDED: list[tuple[str, Expanded]] = [
    ("--to true_false", Expanded("true_false")),
    ("--to true_false", Expanded("true_false", 1, 4, 1)),
    ("--to true_false --approve", Expanded("true_false", 1200, 2400, 1800, 7, 2, 1)),
    ("--to fill_in", Expanded("fill_in", 2, 1, refused=(Remark("q1", "it is odd"),))),
    (WRITING, Expanded("statements", 1, 2, 1, rejected=(Remark("s1", "it is false"),), **BILL)),
    (WRITING, Expanded("statements", 2, n_calls=1, cost=None)),
]


def expands_to(handed: Handed, done: Expanded) -> None:
    handed.instead("tiebreak.fair.bank.expansion.expand_bank", done)
    handed.instead("tiebreak.fair.bank.material.write_statements", done)


def test_what_an_expansion_did(no_bank: Handed) -> None:
    printed = []
    for asked, done in EXPANDED:
        expands_to(no_bank, done)
        printed.append(f"bank expand {asked}\n\n{bank('expand', *asked.split())}")
        data = json.loads(bank("expand", *asked.split(), "--json"))
        remarks = {
            name: [remark._asdict() for remark in getattr(done, name)]
            for name in ("refused", "rejected")
        }
        assert data == asdict(done) | remarks
    expected.check(__file__, "expansions.txt", "\n\n".join(printed))


@pytest.mark.parametrize(("n", "more"), [(10, []), (11, ["… and 1 more; --json names all."])])
def test_ten_refused_questions_are_named(no_bank: Handed, n: int, more: list[str]) -> None:
    refused = tuple(Remark(f"q{k}", "odd" if k else "even") for k in range(n))
    expands_to(no_bank, Expanded("fill_in", n, refused=refused))
    lines = bank("expand", "--to", "fill_in").splitlines()
    # The reason that most have comes first.
    assert [line.split() for line in lines[6:8]] == [["odd", str(n - 1)], ["even", "1"]]
    named = [f"Refused: q{k}: {'odd' if k else 'even'}" for k in range(10)]
    assert lines[8:] == [*named, *more]
    assert len(json.loads(bank("expand", "--to", "fill_in", "--json"))["refused"]) == n


def review_bank() -> None:
    drafts = [choice(uuid="q1", status="draft"), replace(STATEMENT, status="draft")]
    make_bank(Path("bank.db"), [*drafts, choice("Is it ( )?", uuid="q3")])


def session_bank() -> None:
    engine = make_bank(Path("bank.db"))
    answered_session(engine, "b", 2, state="open", model="x\u202e\x1b[31m")
    answered_session(engine, "a", 4)


def done_by(line: str) -> str:
    """What a line of a story prints, and how it ends; `replace` edits a file."""
    words = shlex.split(line)
    if words[0] == "replace":
        _, file, old, new = words
        Path(file).write_text(Path(file).read_text("utf-8-sig").replace(old, new, 1), "utf-8")
        return f"$ {line}\n"
    done = tiebreak(*words)
    return f"$ {line}\n{done.output}({done.exit_code})\n"


BANKS: dict[str, Callable[[], object]] = {
    "review": review_bank,
    "sessions": session_bank,
    "samples": session_bank,
    "counts": lambda: keep(open_bank("bank.db", create=True), *QUESTIONS),
    "nothing": lambda: open_bank("bank.db", create=True),
    "wrong": lambda: keep(open_bank("bank.db", create=True), *SOUND[1:]),
}


def test_stories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`expected/stories.txt` has the commands, one after the other, and the files that are left."""
    kept = (Path(__file__).with_name("expected") / "stories.txt").read_text("utf-8")
    texts = []
    for story in kept.split("== ")[1:]:
        (folder := tmp_path / story.partition("\n")[0]).mkdir()
        monkeypatch.chdir(folder)
        BANKS[folder.name]()
        lines = [line[2:] for line in story.splitlines() if line.startswith("$ ")]
        printed = "".join(map(done_by, lines))
        files = sorted(str(file) for file in Path().rglob("*.*") if "bank.db" not in file.name)
        texts.append(f"== {folder.name}\n{printed}files: {', '.join(files)}\n")
    text = re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.+]+", "TIME", "\n".join(texts))
    expected.check(__file__, "stories.txt", re.sub(r"(?m) +$", "", text))


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


def test_every_verb_names_the_bank_that_is_missing() -> None:
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
