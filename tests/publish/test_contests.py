"""Contests as they are published: their rows, their names, the card, records, and what stays."""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.publish.judged_runs import contents, rows_in, told, write_both
from tests.tables.builders import task_values, write_summary
from tiebreak.analysis.consensus import Election, elect
from tiebreak.analysis.contests import ContestReport, contest_report
from tiebreak.publish import contests
from tiebreak.publish.card import README
from tiebreak.publish.contests import (
    METHODS,
    contest_manifest,
    contest_of,
    contest_rows,
    score_rows,
)
from tiebreak.publish.dataset import Publication, publish_dataset
from tiebreak.publish.errors import PublishError
from tiebreak.publish.latest import CONTESTS
from tiebreak.rankers import AGGREGATORS, Profile, Resampling
from tiebreak.rankers.contests.expected_wins import CsdOptions
from tiebreak.tables import ScoreTable, read_order, read_rounds, read_scores
from tiebreak.tables.ballots import BallotFile

pytestmark = pytest.mark.usefixtures("no_plots")

SCORES = """model,maths,code,law,art
ada,9,8,1,3
ben,7,9,8,1
cleo,5,6,7,1
dan,1,2,3,2
"""
ERRORS = """model,maths,code,law,art
ada,1,1,1,1
ben,1,1,1,1
cleo,1,1,1,1
dan,1,1,1,1
"""
# What must not be found in anything that leaves.
FOLDER, TOKEN = "secret-project", "hf_abcdefgh12345678"


def table_of(folder: Path, scores: str = SCORES, errors: str | None = None) -> ScoreTable:
    path = folder / FOLDER / f"{TOKEN}.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text(scores)
    if errors is not None:
        (folder / FOLDER / "errors.csv").write_text(errors)
    return read_scores(path, stderr=folder / FOLDER / "errors.csv" if errors else None)


def play(table: ScoreTable, **more: Any) -> ContestReport:
    return contest_report(table, options={"iterations": 400}, **more)


def to_folder(folder: Path, report: ContestReport) -> Publication:
    return publish_dataset((), "me/rankings", contest=report, folder=folder)


def test_rows_of_merged_rankings_are_of_the_benchmarks_played(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    contest = contest_of(play(table, rounds=read_order("law,code,maths", table.benchmarks)))
    # All but the last column are played; each is a ballot.
    ballots = BallotFile("", "", Profile.from_scores(table.scores[:, :3].T, table.models))
    election = elect(ballots, METHODS)
    assert {*METHODS} == {name for name, one in AGGREGATORS.items() if not one.slow}
    for method, consensus in election.consensuses.items():
        rows = [row for row in contest_rows(contest) if row["method"] == method]
        assert {row["model"]: row["value"] for row in rows} == dict(
            zip(table.models, consensus.scores, strict=True)
        )
        for row in rows:
            # Competition ranks: one more than those that are ahead.
            mean = consensus.ranks[table.models.index(row["model"])]
            assert row["rank"] == 1 + sum(consensus.ranks < mean)
        assert rows == sorted(rows, key=lambda row: row["rank"])
        assert {row["higher_is_better"] for row in rows} == {not consensus.ascending}
        assert {tuple(row["benchmarks"]) for row in rows} == {("maths", "code", "law")}
    assert election.kemeny is not None
    [proven] = {
        (row["cost"], row["optimal"], row["unique"])
        for row in contest_rows(contest)
        if row["method"] == "kemeny_young"
    }
    assert proven == (election.kemeny.cost, True, election.kemeny.unique)


def test_what_a_contest_was_made_of_names_it(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    errors = table_of(tmp_path, errors=ERRORS)
    (tmp_path / "rounds.yaml").write_text("- [maths, code]\n- law\n- art\n")
    rounds = read_rounds(tmp_path / "rounds.yaml", table.benchmarks)
    moved = replace(table, sources=("elsewhere.csv",), notes=("elsewhere.csv: read",))
    other = replace(table, scores=table.scores + np.eye(4))
    reports = [
        play(table),
        play(other),
        play(errors),
        play(table, eliminate=(1,)),
        play(table, eliminate=(0, 1)),
        play(table, performance_tiers=2),
        play(table, rounds=rounds),
        play(table, rounds=read_order("code,maths,law,art", table.benchmarks)),
        contest_report(table, options={"iterations": 401}),
        contest_report(table, options={"iterations": 400, "seed": 1}),
        contest_report(table, options={"iterations": 400, "level": 0.9}),
        contest_report(table, options={"iterations": 400, "missing": "worst"}),
        contest_report(table, options={"iterations": 400, "weights": [1, 2, 3, 4]}),
    ]
    names = [contest_of(one).contest_id for one in reports]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("contest-[0-9a-f]{16}", name) for name in names)
    same = (play(table), play(moved), play(table, spoil="ada=maths"))
    assert {contest_of(one).contest_id for one in same} == {names[0]}


def test_a_later_version_says_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = play(table_of(tmp_path))
    to_folder(tmp_path / "ranks", report)
    before = contents(tmp_path / "ranks")
    monkeypatch.setattr(
        "tiebreak.publish.bundle.contest_manifest",
        lambda contest: {**contest_manifest(contest), "notes": ["said otherwise"], "more": 1},
    )
    done = to_folder(tmp_path / "ranks", report)
    assert contents(tmp_path / "ranks") == before
    assert not any(file.new for file in done.folder)
    # But scores under that name are these scores.
    [scores] = (tmp_path / "ranks" / "scores").iterdir()
    scores.write_bytes(b"")
    with pytest.raises(PublishError, match=r"holds another scores/contest-"):
        to_folder(tmp_path / "ranks", report)


@pytest.mark.slow
def test_beside_runs(tmp_path: Path) -> None:
    """Logs and scores in one commit; then the card has both, and each can come first."""
    log, report = write_both(tmp_path), play(table_of(tmp_path))
    how = Resampling(draws=20)
    both = publish_dataset([log], None, contest=report, folder=tmp_path / "both", how=how)
    assert both.contest is not None
    card = (tmp_path / "both" / README).read_text()
    assert card.index("## Leaderboards") < card.index("## Over many benchmarks")
    to_folder(tmp_path / "turns", report)
    publish_dataset([log], "me/rankings", folder=tmp_path / "turns", how=how)
    one, other = contents(tmp_path / "both"), contents(tmp_path / "turns")
    assert {k: v for k, v in one.items() if k != README} == {
        k: v for k, v in other.items() if k != README
    }


def test_no_path_and_no_name_of_a_file_leaves(tmp_path: Path) -> None:
    """Names of models are those in public, notes are those on numbers, and keys stay."""
    folder = tmp_path / FOLDER / TOKEN
    folder.mkdir(parents=True)
    for number, model in enumerate(("/home/me/llama", "org/m", "/srv/llama")):
        for date in (1.0, 2.0):  # the same run twice, which the reader says with both files
            path = folder / f"results_2026-01-0{number + 1}T00-00-0{date:g}.json"
            values = {"wiki": task_values(perplexity=2.0 + number), "law": task_values(acc=0.5)}
            directions = {"wiki": {"perplexity": False}}
            write_summary(path, model, values, date=date, directions=directions)
    (folder / "results_2026-01-09T00-00-00.json").write_text("{")
    table = read_scores(tmp_path)
    # Why there are no intervals over items names a model, too.
    assert table.errors is not None
    table = replace(table, errors=np.where(np.eye(3, 2) == 1, np.nan, table.errors))
    (folder / "rounds.yaml").write_text("- wiki\n")
    report = play(table, rounds=read_rounds(folder / "rounds.yaml", table.benchmarks))
    said = " ".join(map(str, report.notes))
    assert "/srv/llama" in str(report.items_reason)
    assert "Of several runs the newest counts" in said
    assert TOKEN in said
    done = to_folder(tmp_path / "ranks", report)
    assert TOKEN in " ".join(done.notes)  # the publisher is told all
    publish_dataset((), None, contest=report, every_eval_ever=tmp_path / "eee")
    found = contents(tmp_path / "ranks") | contents(tmp_path / "eee")
    texts = [*found, *(told(content, path) for path, content in found.items())]
    for word in (FOLDER, TOKEN, str(tmp_path), "/home/me", "/srv", "results_", ".json:", "api_key"):
        assert not [text for text in texts if word in text and text not in found], word
    rows = rows_in(found[CONTESTS])
    assert {row["model"] for row in rows} == {"llama", "llama (2)", "org/m"}
    card = found[README].decode()
    assert "wiki: a lower perplexity is better; its scores have a minus sign" in card
    assert "In no round, so not used: law" in card


def test_a_key_that_a_model_is_called_by_stops_everything(tmp_path: Path) -> None:
    key = "sk-0123456789abcdef"
    config = {"config": {"model_args": f"pretrained=x,api_key={key}"}}
    for number, model in enumerate((f"m-{key}", "n")):
        path = tmp_path / f"results_{number}.json"
        write_summary(path, model, {"law": task_values(acc=0.1 * number)}, **config)  # type: ignore[arg-type]
    with pytest.raises(PublishError, match="a model argument") as found:
        to_folder(tmp_path / "ranks", play(read_scores(tmp_path)))
    assert key not in str(found.value)
    assert not (tmp_path / "ranks").exists()


def test_a_contest_of_somebody_else_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    report = play(table_of(tmp_path))
    to_folder(tmp_path / "ranks", report)
    [folder] = (tmp_path / "ranks" / "runs").iterdir()
    (folder / "manifest.json").write_text('{"notes": [["x"], 1], "proof": {}, "warnings": "no"}')
    (tmp_path / "ranks" / CONTESTS).write_bytes(b"cut")
    done = to_folder(tmp_path / "ranks", report)
    assert {file.path for file in done.folder if file.new} == {README, CONTESTS}
    card = (tmp_path / "ranks" / README).read_text()
    assert "pairwise disagreements" not in card
    assert "| 1 |" in card


def test_nothing_to_publish_is_said(tmp_path: Path) -> None:
    report = play(table_of(tmp_path))
    for paths, more, why in (
        ((), {}, "nothing to publish"),
        ((), {"contest": report, "with_candidates": True}, "are of ranking logs"),
        ((), {"contest": report, "community_evals": tmp_path}, "are of ranking logs"),
        ((), {"contest": replace(report, table=None)}, "does not hold its scores"),
    ):
        with pytest.raises(PublishError, match=why):
            publish_dataset(paths, "me/rankings", folder=tmp_path / "ranks", **more)


def test_rows_of_scores(tmp_path: Path) -> None:
    """In the table's order, with the round that each benchmark is in; a hole stays one."""
    table = table_of(tmp_path, "model,maths,code,law\nada,9,8,\nben,7,,1\ncleo,5,6,7\n")
    rounds = read_order("law,maths", table.benchmarks)
    options: CsdOptions = {"iterations": 400, "missing": "worst"}
    contest = contest_of(contest_report(table, rounds, options=options))
    rows = score_rows(contest)
    places = {"maths": 2, "code": None, "law": 1}
    assert [(row["model"], row["benchmark"], row["round"]) for row in rows] == [
        (model, *place) for model in ("ada", "ben", "cleo") for place in places.items()
    ]
    assert str([row["score"] for row in rows]) == "[9.0, 8.0, nan, 7.0, nan, 1.0, 5.0, 6.0, 7.0]"
    assert all(math.isnan(row["standard_error"]) for row in rows)
    assert {row["contest_id"] for row in rows} == {contest.contest_id}
    assert contest.played == ("maths", "law")
    assert "In no round, so not used: code" in contest.notes


def test_standard_errors_stand_beside_the_scores(tmp_path: Path) -> None:
    errors = ERRORS.replace("ben,1,1,1,1", "ben,1,2,3,4")
    rows = score_rows(contest_of(play(table_of(tmp_path, errors=errors))))
    assert [one["standard_error"] for one in rows] == [1, 1, 1, 1, 1, 2, 3, 4, *[1] * 8]
    assert [one["round"] for one in rows] == [1, 2, 3, 4] * 4


def test_only_a_proven_order_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine may be quicker, and what is published never changes."""
    given: dict[str, Any] = {}

    def unproven(ballots: Any, methods: Any, **options: Any) -> Election:
        given.update(options, methods=methods)
        found = elect(ballots, methods, **options)
        assert found.kemeny is not None
        return replace(found, kemeny=replace(found.kemeny, optimal=False))

    report = play(table_of(tmp_path))
    usual = contest_of(report)
    monkeypatch.setattr(contests, "elect", unproven)
    contest = contest_of(report)
    assert given["time_limit"] == 120
    assert "dodgson" not in given["methods"]
    assert set(usual.election.consensuses) - set(contest.election.consensuses) == {"kemeny_young"}
    assert contest.left_out == (
        *usual.left_out,
        "kemeny_young: no result: no order was proven optimal in 120 s",
    )
    manifest = contest_manifest(contest)
    assert (manifest["proof"], manifest["notes"][-1]) == ([], contest.left_out[-1])
    assert contest_manifest(usual)["proof"] != []
    assert "kemeny_young" not in {one["method"] for one in contest_rows(contest)}
    assert contest.contest_id == usual.contest_id


def test_both_zeros_are_one(tmp_path: Path) -> None:
    table = table_of(tmp_path, errors=ERRORS)
    assert table.errors is not None
    zeros = [
        replace(
            table,
            scores=np.where(table.scores == 9, zero, table.scores),
            errors=np.where(np.eye(4) == 1, zero, table.errors),
        )
        for zero in (0.0, -0.0)
    ]
    first, second = (contest_of(play(one)).contest_id for one in zeros)
    assert first == second != contest_of(play(table)).contest_id


def test_a_contest_keeps_its_name(tmp_path: Path) -> None:
    """What was published under it is looked for under it by every later version."""
    plain, errors = table_of(tmp_path), table_of(tmp_path, errors=ERRORS)
    names = [contest_of(play(one)).contest_id for one in (plain, errors)]
    assert names == ["contest-1174eb930ffa3336", "contest-0ba7207f00c173b1"]
