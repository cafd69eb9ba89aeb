"""All tables and the manifest of a run, and of a contest, as a whole."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.peers.builders import reviews
from tests.expected import check
from tests.publish import test_contests
from tests.publish.judged_runs import run_of
from tests.publish.test_contests import ERRORS, SCORES, play
from tests.publish.test_whole_records import HOW, PAID, judged_twice
from tests.publish.whole import rounded
from tests.ranking_logs.builders import by_native, graded, item, listed, match
from tiebreak.analysis.frames import votes_of
from tiebreak.publish.bundle import as_json, manifest
from tiebreak.publish.contests import contest_manifest, contest_of, contest_rows, score_rows
from tiebreak.publish.records import contest_records, stem_of
from tiebreak.publish.runs import Run
from tiebreak.publish.tables import ballot_rows, leaderboard_rows, ranking_rows, table_of, text_rows
from tiebreak.report.json import json_ready
from tiebreak.scorers.ballots import Criterion, Refinement, Tiering, Verdict, Vote


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """What all rows say once, in front; then a line per row with what only some of them say."""
    found = [rounded(json_ready(dict(row))) for row in rows]
    names = list(dict.fromkeys(name for row in found for name in row))
    shared = {
        name: found[0].get(name)
        for name in names
        if all(row.get(name) == found[0].get(name) for row in found)
    }
    own = [{name: row[name] for name in names if name in row.keys() - shared} for row in found]
    return "\n".join(map(_json, [shared, *own])) + "\n"


def _json(data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False)
    text = re.sub(r'"[0-9a-f]{64}"', '"(sha256)"', text)
    # Numbers as text, in details.
    return re.sub(r'"(-?[0-9]+\.[0-9]{6,})"', lambda one: f'"{float(one[1]):.6g}"', text)


def _folded(data: Any) -> str:
    return _json(rounded(data)).replace("}, ", "},\n")


def tables_of(run: Run) -> str:
    tables = (leaderboard_rows, ranking_rows, ballot_rows, text_rows)
    texts = ((table.__name__, [{**row, **votes_of(row)} for row in table(run)]) for table in tables)
    return "\n".join(f"{name}\n{lines(rows) if rows else ''}" for name, rows in texts)


def test_tables_of_a_run_of_two_benchmarks(tmp_path: Path) -> None:
    check(__file__, "tables.txt", tables_of(judged_twice(tmp_path)))


def test_tables_of_a_peer_review(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        reviews("q0", {"a": "abc", "b": "bac", "c": None, "Panel": "abc"}),
        reviews(
            "q1", {"a": "b=ac", "b": "bac", "c": "abc", "Panel": "ca"}, left_out={"Panel": "b"}
        ),
        reviews(
            "q2", {"a": "ac", "b": "ac", "c": "ca", "Panel": None}, models="abc", groups=["ab"]
        ),
        how=HOW,
    )
    check(__file__, "review_tables.txt", tables_of(run))


def test_tables_of_every_other_kind_of_ballot(tmp_path: Path) -> None:
    """Votes, a checklist that grew, both orders, tiers, points, lists, and what went wrong.

    Words of a judge, planted into every field with room for some, stand in a table of their own.
    """
    words = map("words {}".format, range(20))
    verdict = Verdict(
        first="b",
        margin=-0.5,
        checklist_margin=0.25,
        principles={"correct": Vote(vote="left", confidence=0.75, reasoning=next(words))},
        checklist={"checks": Vote(vote="tie", confidence=0.5, reasoning=next(words))},
    )
    lost = Verdict(first="a", unscored="no JSON, see /home/me/run.log")
    close = match("a", "b", 0.125, second_order=-0.25)
    judged = replace(
        close, verdicts=(verdict, close.verdicts[1]), discarded=(lost,), critique=next(words)
    )
    asked = Refinement(
        round=1,
        slot=0,
        item_id="checks",
        principle_id="correct",
        description=next(words),
        differentiator=next(words),
        anchor_split="4 vs 3",
        higher_snippet=next(words),
        lower_snippet=next(words),
    )
    marks = Criterion(principle_id="correct", full=next(words), half=next(words), none=next(words))
    grown = item("q0", [judged, match("a", "c", None, round=2)], calls=PAID).model_copy(
        update={
            "tiering": Tiering(tiers={"b": 1, "a": 1, "c": 2}, reasoning=next(words)),
            "refinements": (asked, Refinement(round=2, slot=1, unscored="no item")),
            "criteria": (marks,),
        }
    )
    run = run_of(
        tmp_path,
        grown,
        item("q1", [match("a", "b", 0.0)], groups=(("a", "c"), ("b",)), unseeded="no tiers"),
        item("q2", [match("a", "b", 0.5)], complete=False, calls=PAID[:1]),
        graded("p0", {"a": 0.5, "b": None, "c": 1.0}, benchmark="points"),
        listed("l0", [["a"], ["b", "c"]], benchmark="lists"),
        listed("l1", None, benchmark="lists"),
        by_native("n0", {"a": 1.0, "b": 0.0}, benchmark="native"),
        how=HOW,
    )
    assert "words" not in str(table_of("ballots", ballot_rows(run)).to_pylist())
    texts = [row["text"] for row in text_rows(run)]
    assert set(texts) == {f"words {n}" for n in range(len(texts))}
    assert len(texts) == 11
    check(__file__, "kinds_tables.txt", tables_of(run))


def test_the_manifest_of_a_run(tmp_path: Path) -> None:
    text = as_json(manifest(judged_twice(tmp_path))).decode()
    assert text.endswith("}\n")
    check(__file__, "manifest.txt", _folded(json.loads(text)) + "\n")


@pytest.mark.parametrize(
    ("name", "errors", "more"),
    [
        ("contest.txt", ERRORS, {"eliminate": (0, 1), "performance_tiers": 2}),
        ("contest_alone.txt", None, {"eliminate": {0: 0, 1: 1, 2: 0, 3: 0}}),
    ],
)
def test_all_about_a_contest(
    name: str, errors: str | None, more: dict[str, Any], tmp_path: Path
) -> None:
    contest = contest_of(play(test_contests.table_of(tmp_path, SCORES, errors), **more))
    rows, manifest = contest_rows(contest), json.loads(as_json(contest_manifest(contest)))
    text = lines(rows) + lines(score_rows(contest)) + _folded(manifest) + "\n"
    for path, content in [*contest_records(contest, organization="me").items()][:1]:
        record = json.loads(content)
        assert path == f"{stem_of(contest.contest_id, contest.table.models[0])}.json"
        assert content.decode() == json.dumps(record, indent=2) + "\n"
        text += _folded(record) + "\n"
        for word in (record["retrieved_timestamp"], record["eval_library"]["version"]):
            text = text.replace(f'"{word}"', '"(then)"').replace(f"/{word}", "/(then)")
    check(__file__, name, text.replace(contest.contest_id, "(id)"))
