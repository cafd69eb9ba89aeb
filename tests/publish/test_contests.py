"""Contests as they are published: their rows, their names, the card, records, and what stays."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from tests.publish.fake_hub import WRITE, FakeHub
from tests.publish.hub_client import REPO, impatient
from tests.publish.judged_runs import rows_in, told, write_both
from tests.publish.test_every_eval_ever import APART, metric, validate
from tests.publish.test_every_eval_ever import write as write_files
from tests.publish.test_folder import LOAD
from tests.tables.builders import task_values, write_summary
from tiebreak.analysis.consensus import elect
from tiebreak.analysis.contests import ContestReport, contest_report
from tiebreak.publish.card import README
from tiebreak.publish.contests import METHODS, contest_manifest, contest_of, contest_rows
from tiebreak.publish.dataset import Publication, publish_dataset
from tiebreak.publish.errors import PublishError
from tiebreak.publish.latest import CONTESTS
from tiebreak.publish.records import contest_records
from tiebreak.rankers import AGGREGATORS, Profile, Resampling
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


def to_hub(hub: FakeHub, report: ContestReport) -> Publication:
    return publish_dataset(
        (), REPO, contest=report, token=WRITE, endpoint=hub.url, wait=impatient()
    )


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_rows_are_those_of_the_contest(tmp_path: Path) -> None:
    report = play(table_of(tmp_path, errors=ERRORS), eliminate=(0, 1), performance_tiers=2)
    assert report.sensitivity is not None
    assert report.items is not None
    assert report.tiers is not None
    rows = [row for row in contest_rows(contest_of(report)) if row["method"] == "csd"]
    assert len(rows) == 2 * 4
    for place, result in enumerate(report.sensitivity.contests):
        own = {row["model"]: row for row in rows if row["eliminate"] == place}
        assert [row["rank"] for row in own.values()] == sorted(result.rank)
        for number, model in enumerate(report.models):
            row = own[model]
            assert row["value"] == result.expected_wins[number]
            assert row["standard_error"] == result.standard_error[number]
            assert row["simulation_rank_upper"] == result.rank_upper[number]
            assert row["slope"] == report.sensitivity.slope[number]
            assert row["label"] == report.sensitivity.labels[number]
            # Other items are looked at in the main contest only.
            assert row.get("lower") == (report.items.lower[number] if place == 0 else None)
            assert row.get("rank_upper") == (
                report.items.rank_upper[number] if place == 0 else None
            )
            assert row["tier"] == (report.tiers[number] if place == 0 else None)
            assert row["eliminate_by_round"] == (place,) * 4
            assert (row["n_models"], row["n"], row["iterations"], row["seed"]) == (4, 4, 400, 0)


def test_rows_of_merged_rankings_are_those_of_the_benchmarks_that_are_played(
    tmp_path: Path,
) -> None:
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
    contests = [
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
    names = [contest_of(one).contest_id for one in contests]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("contest-[0-9a-f]{16}", name) for name in names)
    same = (play(table), play(moved), play(table, spoil="ada=maths"))
    assert {contest_of(one).contest_id for one in same} == {names[0]}


def test_published_twice_nothing_changes_and_another_table_adds_its_files(
    hub: FakeHub, tmp_path: Path
) -> None:
    first, better = table_of(tmp_path), table_of(tmp_path, SCORES.replace("dan,1,2", "dan,9,9"))
    fewer = replace(
        first, benchmarks=first.benchmarks[:2], scores=first.scores[:, :2], public_notes=()
    )
    done = to_hub(hub, play(first))
    assert done.sent is not None
    assert done.sent.published == (done.contest,)
    before = dict(hub.repos[REPO].resolve("main").tree)
    again = to_hub(hub, play(first))
    assert again.sent is not None
    assert (again.sent.commit, again.sent.already) == (None, (done.contest,))
    # Another table of the same benchmarks is the latest; a part of them is not; nothing goes back.
    second = to_hub(hub, play(better))
    third = to_hub(hub, play(fewer))
    assert to_hub(hub, play(first)).sent.commit is None  # type: ignore[union-attr]
    tree = hub.repos[REPO].resolve("main").tree
    assert before.items() - tree.items() == {(p, before[p]) for p in (README, CONTESTS)}
    ids = [done.contest, second.contest, third.contest]
    full = {path for path in tree if path.startswith("contests/full/")}
    assert full == {f"contests/full/{name}.parquet" for name in ids}
    latest = list(dict.fromkeys(row["contest_id"] for row in rows_in(tree[CONTESTS])))
    assert latest == [third.contest, second.contest]
    # Now over all benchmarks again: it takes the place of both.
    last = to_hub(hub, play(replace(better, scores=better.scores + np.eye(4))))
    latest_rows = rows_in(hub.repos[REPO].resolve("main").tree[CONTESTS])
    assert {row["contest_id"] for row in latest_rows} == {last.contest}


def test_a_later_version_that_says_more_or_otherwise_is_no_other_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.slow
def test_the_real_load_dataset_gives_the_rows_back(tmp_path: Path) -> None:
    for scores in (SCORES, SCORES.replace("dan,1,2", "dan,9,")):
        table = table_of(tmp_path, scores)
        contest = contest_report(
            table, eliminate=(0, 1), options={"iterations": 400, "missing": "worst"}
        )
        to_folder(tmp_path / "ranks", contest)
    wanted = {
        "contests/latest": CONTESTS,
        "contests/full": "contests/full/*.parquet",
        "scores/full": "scores/*.parquet",
    }
    done = subprocess.run(
        [
            *(sys.executable, "-c", LOAD, str(tmp_path / "ranks")),
            json.dumps([name.split("/") for name in wanted]),
        ],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    for name, pattern in wanted.items():
        files = sorted((tmp_path / "ranks").glob(pattern))
        assert found[name] == [row for path in files for row in rows_in(path.read_bytes())]
        assert found[name]
    assert len(found["scores/full"]) == 2 * 4 * 4
    assert [row["score"] for row in found["scores/full"]].count(None) == 1


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


def test_the_card(tmp_path: Path) -> None:
    names = {"ada": "a|d*a", "ben": "ben<b>"}
    scores = SCORES
    for old, new in names.items():
        scores = scores.replace(old, new)
    report = play(
        table_of(tmp_path, scores, ERRORS.replace("ada", "a|d*a").replace("ben", "ben<b>"))
    )
    done = to_folder(tmp_path / "ranks", report)
    card = (tmp_path / "ranks" / README).read_text()
    rows = {row["model"]: row for row in rows_in((tmp_path / "ranks" / CONTESTS).read_bytes())}
    assert set(rows) == {"a|d*a", "ben<b>", "cleo", "dan"}
    kemeny = {
        row["model"]: row["rank"]
        for row in rows_in((tmp_path / "ranks" / CONTESTS).read_bytes())
        if row["method"] == "kemeny_young"
    }
    [line] = [line for line in card.splitlines() if "| cleo |" in line]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    where = report.models.index("cleo")
    assert report.items is not None
    assert cells[0] == f"{report.result.rank[where]:.0f}"
    assert cells[2] == f"{report.result.expected_wins[where]:.3f}"
    assert cells[3] == f"{report.items.lower[where]:.3f}–{report.items.upper[where]:.3f}"
    assert cells[-1] == str(kemeny["cleo"])
    assert "pairwise disagreements, proven optimal" in card
    assert "a&#124;d&#42;a" in card
    assert "ben&#60;b&#62;" in card
    assert f"[manifest](runs/{done.contest}/manifest.json)" in card
    assert "config_name: contests" in card
    assert "llm-as-a-judge" not in card
    for absent in ("## Leaderboards", "## Judges", "ballots", "Λ is"):
        assert absent not in card


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


def records_of(report: ContestReport) -> dict[str, bytes]:
    return contest_records(contest_of(report), organization="me")


def test_records_for_every_eval_ever(tmp_path: Path) -> None:
    if not APART.is_dir():
        pytest.skip("Every Eval Ever's validator is not installed (make test does)")
    report = play(table_of(tmp_path, errors=ERRORS), eliminate=(0, 1))
    files = records_of(report)
    assert files == records_of(report)
    schema = json.loads((APART / "every_eval_ever/schemas/eval.schema.json").read_text())
    by_model: dict[str, Mapping[str, Any]] = {}
    for content in files.values():
        record = json.loads(content)
        jsonschema.validate(record, schema)
        by_model[record["model_info"]["name"]] = record
    ada, name = by_model["ada"], contest_of(report).contest_id
    assert metric(dict(ada), "maths", "tiebreak.native_score")["score_details"] == {
        "score": 9.0,
        "uncertainty": {"standard_error": {"value": 1.0}},
    }
    assert report.sensitivity is not None
    for place, result in enumerate(report.sensitivity.contests):
        wins = metric(dict(ada), name, f"csd.expected_win_score@T={place}")
        assert wins["score_details"]["score"] == result.expected_wins[0]
        config = wins["metric_config"]
        assert (config["min_score"], config["max_score"]) == (0.0, 4.0)
    rank = metric(dict(ada), name, "kemeny.consensus_rank")
    assert rank["metric_config"]["lower_is_better"] is True
    assert rank["score_details"]["details"]["optimal"] == "True"
    assert ada["eval_library"]["version"] == version("tiebreak")


@pytest.mark.slow
def test_the_validator_accepts_the_records(tmp_path: Path) -> None:
    if not APART.is_dir():
        pytest.skip("Every Eval Ever's validator is not installed (make test does)")
    # One wins every round, one loses every round; one score is missing.
    scores = "model,x,y\norg/a,9,9\nCON/../b,1,1\nc d,5,\n"
    table = table_of(tmp_path, scores)
    report = contest_report(table, options={"iterations": 2000, "missing": "worst"})
    assert validate(write_files(tmp_path, records_of(report))) == []


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
