"""The verbs of `bank`: what each hands on, says and ends with. What a bank does is tested there."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tests import expected
from tests.cli.handed import ENGINE, Enough, Handed, bank, tiebreak
from tests.fair.bank.builders import make_bank
from tests.fair.bank.questions import MATERIAL, choice
from tiebreak.fair.bank.expansion import Expanded, Refused

pytestmark = pytest.mark.usefixtures("away_from_banks")
STATEMENT = replace(MATERIAL, uuid="s1", raw_uuid="s", type="true_false", answer="true")


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
    ("--to fill_in", Expanded("fill_in", 2, 1, refused=(Refused("q1", "it is odd"),))),
    (WRITING, Expanded("statements", 1, 2, 1, rejected=(Refused("s1", "it is false"),), **BILL)),
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
        assert data == json.loads(json.dumps(asdict(done)))
    expected.check(__file__, "expansions.txt", "\n\n".join(printed))


@pytest.mark.parametrize(("n", "more"), [(10, []), (11, ["… and 1 more; --json names all."])])
def test_ten_refused_questions_are_named(no_bank: Handed, n: int, more: list[str]) -> None:
    refused = tuple(Refused(f"q{k}", "odd" if k else "even") for k in range(n))
    expands_to(no_bank, Expanded("fill_in", n, refused=refused))
    said = bank("expand", "--to", "fill_in").splitlines()
    # The reason that most have comes first.
    assert [line.split() for line in said[6:8]] == [["odd", str(n - 1)], ["even", "1"]]
    named = [f"Refused: q{k}: {'odd' if k else 'even'}" for k in range(10)]
    assert said[8:] == [*named, *more]
    assert len(json.loads(bank("expand", "--to", "fill_in", "--json"))["refused"]) == n


@pytest.mark.parametrize(
    ("asked", "models", "n", "limit"),
    [
        ("", ["m/w", "m/w"], 4, None),
        ("--checker m/c --statements 2 --limit 1", ["m/w", "m/c"], 2, 1),
    ],
)
def test_who_writes_statements(
    no_bank: Handed,
    monkeypatch: pytest.MonkeyPatch,
    asked: str,
    models: list[str],
    n: int,
    limit: int | None,
) -> None:
    monkeypatch.setattr("inspect_ai.model.get_model", str.upper)
    no_bank.instead("tiebreak.fair.bank.material.StatementWriter", "writer")
    no_bank.instead("tiebreak.fair.bank.material.write_statements", Enough())
    with pytest.raises(Enough):
        tiebreak("bank", "expand", "--to", "statements", "--model", "m/w", *asked.split())
    assert no_bank.made[1][1] == (*map(str.upper, models), n)
    assert no_bank.made[2][1:] == ((ENGINE, "writer"), {"limit": limit})


@pytest.mark.parametrize("approve", [False, True])
def test_what_is_expanded(no_bank: Handed, approve: bool) -> None:
    no_bank.instead("tiebreak.fair.bank.expansion.expand_bank", Enough())
    with pytest.raises(Enough):
        tiebreak("bank", "expand", "--to", "fill_in", *(["--approve"] if approve else []))
    assert no_bank.made == [
        ("open_bank", ("bank.db",), {}),
        ("expand_bank", (ENGINE, "fill_in"), {"approve": approve}),
    ]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("--to statements", "--to statements needs --model"),
        ("--to fill_in --model m", "--to statements is the only one that takes --model"),
        (
            "--to statements --model m --approve",
            "Statements of a model are read by people first: bank review",
        ),
    ],
)
def test_an_expansion_used_wrongly(asked: str, said: str) -> None:
    done = tiebreak("bank", "expand", *asked.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith(f"Error: {said}\n")


def test_a_review() -> None:
    drafts = [choice(uuid="q1", status="draft"), replace(STATEMENT, status="draft")]
    make_bank(Path("bank.db"), [*drafts, choice("Is it ( )?", uuid="q3")])
    assert bank("review", "--out", "a.csv") == "a.csv: 2 questions, with their keys.\n"
    asked = ("--status", "approved", "--status", "rejected", "--json")
    assert json.loads(bank("review", "--out", "b.csv", *asked)) == {
        **{"file": "b.csv", "questions": 1}
    }
    assert json.loads(bank("review", "--out", "c.csv", "--status", "rejected", "--json")) == {
        **{"file": None, "questions": 0}
    }
    none = bank("review", "--out", "c.csv", "--status", "rejected")
    assert none == "No question is rejected; no file was written.\n"
    assert not Path("c.csv").exists()
    text = Path("a.csv").read_text("utf-8-sig")
    Path("a.csv").write_text(re.sub("draft", "approved", text, count=1), "utf-8")
    back = ("--in", "a.csv", "--reviewer", "A. Reader")
    assert bank("review", *back) == "2 rows: 1 approved, 1 unchanged.\n"
    again = json.loads(bank("review", *back, "--json"))
    counted = ("n_rows", "approved", "rejected", "draft_again", "edited", "unchanged")
    assert [again[name] for name in counted] == [2, 0, 0, 0, 0, 2]
    assert bank("review", "--out", "d.csv", "--status", "approved").startswith("d.csv: 2 ")
    text = Path("d.csv").read_text("utf-8-sig").replace("approved", "draft")
    Path("a.csv").write_text(text.replace("Is it", "Was it"), "utf-8")
    assert bank("review", "--in", "a.csv") == "2 rows: 2 draft again, 1 edited.\n"


@pytest.mark.parametrize("asked", [[], ["--out", "a.csv", "--in", "b.csv"]])
def test_a_review_goes_one_way(asked: list[str]) -> None:
    done = tiebreak("bank", "review", *asked)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (
        2,
        "Error: Give one of --out and --in.",
    )


SAMPLED = {"balanced": False, "share": "equal"}


@pytest.mark.parametrize(
    ("asked", "name", "args", "given"),
    [
        ("", "draw", (("e",), 1000, "0"), SAMPLED),
        (
            "--k 3 --seed s --balanced --share proportional",
            "draw",
            (("e",), 3, "s"),
            {"balanced": True, "share": "proportional"},
        ),
        (
            "--k 3 --institution lab --balanced",
            "hand_out",
            (ENGINE, 3, "0", "lab"),
            {"balanced": True, "share": "equal"},
        ),
        (
            "--k 3 --anchors 0.5 --session a",
            "linked",
            (("e",), 3, "0", "a"),
            {"anchors": 0.5, **SAMPLED},
        ),
        (
            "--anchors 0 --session a",
            "linked",
            (("e",), 1000, "0", "a"),
            {"anchors": 0.0, **SAMPLED},
        ),
        (
            "--anchors 1 --session a",
            "linked",
            (("e",), 1000, "0", "a"),
            {"anchors": 1.0, **SAMPLED},
        ),
    ],
)
@pytest.mark.parametrize("keys", [False, True])
def test_what_is_sampled(
    no_bank: Handed,
    asked: str,
    name: str,
    args: tuple[Any, ...],
    given: dict[str, Any],
    keys: bool,
) -> None:
    for one in ("draw", "linked"):
        no_bank.instead(f"tiebreak.fair.bank.sampling.{one}", ["u1"])
    no_bank.instead("tiebreak.fair.bank.sampling.entries", ("e",))
    no_bank.instead("tiebreak.fair.bank.export.hand_out", ["u1"])
    no_bank.instead("tiebreak.fair.bank.export.write_questions")
    said = bank("sample", *asked.split(), "--out", "x.jsonl", *(["--with-keys"] if keys else []))
    k = args[1]
    assert said == f"x.jsonl: {k:,} questions{' with their keys' if keys else ''}\n"
    assert [one for one in no_bank.made if one[0] not in ("open_bank", "entries")] == [
        (name, args, given),
        ("write_questions", (ENGINE, ["u1"], Path("x.jsonl")), {"with_keys": keys}),
    ]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("--anchors 0", "--anchors and --session go together"),
        ("--session a", "--anchors and --session go together"),
        (
            "--anchors 0.5 --session a --institution b",
            "--institution draws what is unseen: anchors are seen by all",
        ),
        ("--institution b", "x.jsonl is there already: give --out another name"),
    ],
)
def test_a_sample_asked_wrongly(asked: str, said: str) -> None:
    Path("x.jsonl").touch()
    done = tiebreak("bank", "sample", "--out", "x.jsonl", *asked.split())
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, f"Error: {said}")


class Pool:
    """As much of a pool as the verb looks at."""

    models = ("m", "n")
    notes = ("left out: 1", "left out: 2")

    def __len__(self) -> int:
        return 2


@pytest.mark.parametrize(
    ("asked", "files", "partial"),
    [
        ("s t", ["s.parquet", "t.parquet"], False),
        ("s t --out p --partial", ["p/s.parquet", "p/t.parquet"], True),
        ("s --out one.parquet", ["one.parquet"], False),
    ],
)
def test_sessions_become_pools(
    no_bank: Handed, monkeypatch: pytest.MonkeyPatch, asked: str, files: list[str], partial: bool
) -> None:
    no_bank.instead("tiebreak.fair.bank.export.pool_of", Pool())
    monkeypatch.setattr("tiebreak.candidates.parquet.write_parquet", lambda pool, path: path)
    notes = "left out: 1\nleft out: 2\n"
    assert bank("export", *asked.split()) == "".join(
        f"{file}: 2 answers of m\n{notes}" for file in files
    )
    assert no_bank.made[1:] == [
        ("pool_of", (ENGINE, session), {"partial": partial}) for session in "st"[: len(files)]
    ]


@pytest.mark.parametrize(("asked", "status"), [("", None), ("--status draft", "draft")])
def test_questions_are_exported(no_bank: Handed, asked: str, status: str | None) -> None:
    no_bank.instead("tiebreak.fair.bank.export.export_questions", 1)
    assert bank("export", "--questions", "--out", "q.jsonl", *asked.split()) == (
        "q.jsonl: 1 question\n"
    )
    assert no_bank.made[1] == ("export_questions", (ENGINE, "q.jsonl", status), {})


WHAT = "Give sessions, or --questions, which --status goes with."


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("", WHAT),
        ("s --questions --out q.csv", WHAT),
        ("s --status draft", WHAT),
        ("--questions", "--questions needs --out FILE."),
        (
            "s t --out one.parquet",
            "sessions have different questions, so each is a pool of its own: give --out a folder",
        ),
    ],
)
def test_an_export_asked_wrongly(asked: str, said: str) -> None:
    done = tiebreak("bank", "export", *asked.split())
    assert done.exit_code == 2
    assert " ".join(done.stderr.split()).endswith(f"Error: {said}")
