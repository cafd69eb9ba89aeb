"""Votes files as ranking logs: what people said is a board like any other; bad files are named."""

import csv
import re
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.ranking_logs.builders import match, write_log
from tests.ranking_logs.planted_votes import MODELS, items_of, votes_of, write_votes
from tiebreak.analysis.anchored import anchored_boards
from tiebreak.analysis.calibration import calibrate
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.leaderboard import Leaderboard, leaderboards
from tiebreak.analysis.pair import compare_pair
from tiebreak.analysis.stars import star_report
from tiebreak.rankers.pairwise_tests import paired_p
from tiebreak.ranking_logs import RankingLogError
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.ranking_logs.votes import read_votes_log
from tiebreak.ranking_logs.votes_file import Choice, PersonVote, VotesItem, open_votes_file
from tiebreak.report.jury import jury_section
from tiebreak.report.sheets import leaderboard as sheets
from tiebreak.report.sheets.stars import board_sheet
from tiebreak.tables.errors import TableError
from tiebreak.tables.human import read_human_labels

ITEMS = items_of(60)
VOTES = list(votes_of(ITEMS, ("ann", "ben")))
STARS: tuple[Choice, ...] = ("0", "1", "2", "3")
RESULT = {"first": 1.0, "second": 0.0, "tie": 0.5, "both_bad": 0.5, "identical": 0.5}


@pytest.fixture
def votes_db(tmp_path: Path) -> Path:
    return write_votes(tmp_path / "votes.db", ITEMS, VOTES)


def scores_by_hand(items: Sequence[VotesItem], votes: Sequence[PersonVote]) -> dict[str, float]:
    """Mean over opponents of a pair's mean result: known where answers are the same, else voted."""
    on_item: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for vote in votes:
        if vote.choice not in ("skip", "identical"):
            for one, other, won in (
                (vote.first, vote.second, RESULT[vote.choice]),
                (vote.second, vote.first, 1 - RESULT[vote.choice]),
            ):
                on_item[one, other][vote.item].append(won)
    seen = {vote.item for vote in votes if vote.choice != "skip"}
    mean: dict[tuple[str, str], float] = {}
    for pair in (pair for two in combinations(MODELS, 2) for pair in (two, two[::-1])):
        alike = sum(any({*pair} <= {*group} for group in items[n].ballots.groups) for n in seen)
        voted = np.mean([np.mean(results) for results in on_item[pair].values()])
        mean[pair] = (0.5 * alike + (len(seen) - alike) * voted) / len(seen)
    return {m: float(np.mean([mean[m, other] for other in MODELS if other != m])) for m in MODELS}


def board_of(path: Path) -> Leaderboard:
    [board] = leaderboards(path)
    return board


@pytest.mark.parametrize("raters", [("ann",), ("ann", "ben"), ("ann", "ben", "cleo")])
def test_scores_are_those_of_the_votes(tmp_path: Path, raters: Sequence[str]) -> None:
    votes = list(votes_of(ITEMS, raters, error=0.3))
    board = board_of(write_votes(tmp_path / "votes.db", ITEMS, votes))
    by_hand = scores_by_hand(ITEMS, votes)
    assert {row.model: row.borda for row in board.rows} == pytest.approx(by_hand)
    assert board.judges == raters
    assert board.raters is not None
    assert board.receipt.n_calls == 0
    assert (board.protocol, board.n_items, board.benchmark) == ("votes", 60, "gsm8k")


def test_people_are_told_apart_from_a_judge(votes_db: Path) -> None:
    board = board_of(votes_db)
    assert [row.model for row in board.rows] == ["ash", "birch", "cedar"]
    [sheet] = sheets.sheets_of([board])
    text = " ".join([*sheet.subtitle, str(board.verdict.sentence), *map(str, sheet.sections)])
    for words in ("raters: ann, ben", "The raters on this board", "No model was asked"):
        assert words in text
    [log] = read_ranking_logs(votes_db)
    assert log.seconds == {"ann": 4.0, "ben": 6.0}
    assert all(entry.flipped is None for item in log.items for entry in item.matches)
    numbered = read_votes_log(str(votes_db), rater_names=False)
    assert list(numbered.seconds) == ["rater 1", "rater 2"]
    assert not re.search(r"\bann\b", repr(numbered))
    assert [one.placement for one in numbered.samples] == [one.placement for one in log.samples]


def judged_log(folder: Path, given: Sequence[VotesItem] = ITEMS) -> Path:
    """A judge's log of the same items, whose judge prefers birch wherever it meets."""
    items = []
    for item in given:
        names = [group[0] for group in item.ballots.groups]
        matches = tuple(
            match(a, b, 0.5 if a == "birch" else -0.5) for a, b in combinations(names, 2)
        )
        ballots = item.ballots.model_copy(
            update={"protocol": "full_pairwise", "matches": matches, "complete": True}
        )
        items.append(ballots)
    return write_log(folder / "judge.eval", items)


def write_csv(path: Path, votes: Sequence[PersonVote]) -> Path:
    winners = {"first": "a", "second": "b"}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "model_a", "model_b", "winner", "rater"])
        for vote in votes:
            if vote.choice not in ("skip", "identical"):
                winner = winners.get(vote.choice, "tie")
                writer.writerow([f"q{vote.item}", vote.first, vote.second, winner, vote.rater])
    return path


def test_votes_are_to_a_judge_what_the_same_votes_in_csv_are(
    tmp_path: Path, votes_db: Path
) -> None:
    log, table = judged_log(tmp_path), write_csv(tmp_path / "votes.csv", VOTES)
    [of_votes], [of_table] = anchored_boards(log, votes_db), anchored_boards(log, table)
    assert of_votes.rows == of_table.rows
    assert of_votes.n_labels == len([vote for vote in VOTES if vote.choice != "identical"])
    found = calibrate(log, votes_db)
    assert found.n_raters == 2
    assert repr(found.cells) == repr(calibrate(log, table).cells)
    assert calibrate(votes_db, table).judges == ("ben", "ann")
    labels = read_human_labels(votes_db)
    assert all(len(digest) == 64 for label in labels.labels for digest in label.digests)
    items = {vote.item for vote in VOTES if vote.choice != "identical"}
    assert calibrate(log, labels).n == len(items)


def test_stars_are_a_star_board(tmp_path: Path) -> None:
    items = items_of(20, "stars")
    votes = [
        replace(
            VOTES[0], item=n, first=group[0], second="", choice=STARS[(n + k + r) % 4], rater=rater
        )
        for n, item in enumerate(items)
        for k, group in enumerate(item.ballots.groups)
        for r, rater in enumerate(("ann", "ben"))
    ]
    path = write_votes(tmp_path / "stars.db", items, votes, kind="stars")
    [board] = star_report(path).boards
    assert board.judges == ("ann", "ben")
    assert "board: ann, ben: answers were graded one by one" in str(board.verdict.sentence)
    for row in board.rows:
        given: dict[int, list[int]] = defaultdict(list)
        for vote in votes:
            groups = items[vote.item].ballots.groups
            if any({row.model, vote.first} <= {*group} for group in groups):
                given[vote.item].append(int(vote.choice))
        means = [np.mean(stars) / 3 for stars in given.values()]
        assert row.value == pytest.approx(100 * np.mean(means))
    labels = read_human_labels(path)
    assert (labels.kind, len(labels.labels)) == ("stars", len(votes))
    assert board.raters is not None
    assert board.raters.n_shared == len(votes) / 2
    section = jury_section(board)
    assert section.table is not None
    columns = [column.heading for column in section.table.columns]
    assert columns[:4] == ["Rater", "Votes", "Seconds", "Agrees"]
    assert "answers that several gave stars: Krippendorff's α" in section.lines[0]


def test_stars_of_a_shared_answer_are_of_the_models_whose_turn_came(tmp_path: Path) -> None:
    """Else an answer that several models gave, mostly a right one, would be drawn oftener."""
    items, asked = items_of(60, "stars"), replace(VOTES[0], second="", seconds=None)
    truth = {
        "ash": (2, 3),
        "birch": (1, 3),
        "cedar": (0, 1),
    }  # alone, and where ash and birch agree
    turns = [(n, model) for n in range(60) for k, model in enumerate(MODELS) if (n + k) % 2]
    votes, rated = [], set()
    for n, model in turns:
        shared = len(items[n].ballots.groups) < len(MODELS)
        answer = "ash" if shared and model == "birch" else model
        choice: Choice = "identical" if (n, answer) in rated else STARS[truth[model][shared]]
        rated.add((n, answer))
        votes.append(replace(asked, item=n, first=model, choice=choice))
    path = write_votes(tmp_path / "stars.db", items, votes, kind="stars")
    labels = read_human_labels(path).labels
    assert sorted((int(label.item_id[1:]), *label.models) for label in labels) == sorted(turns)
    assert all(len(digest) == 64 for label in labels for digest in label.digests)
    [board] = star_report(path).boards
    for row in board.rows:
        given = [truth[row.model][n % 10 == 9] for n, model in turns if model == row.model]
        assert row.value == pytest.approx(100 * np.mean(given) / 3)
        assert row.n_items - row.n_unscored == len(given)
        assert np.mean([v.value for v in labels if v.models == (row.model,)]) == np.mean(given)
    sheet = board_sheet(board)
    assert "so models are scored on different ones" in sheet.subtitle[1]
    tables = [part.table for part in sheet.sections if part.table and part.table.caption == "Stars"]
    assert [table.columns[-1].heading for table in tables] == ["Not rated"]


def test_what_is_no_plain_choice_is_said(tmp_path: Path) -> None:
    first = VOTES[0]
    votes = [
        *VOTES,
        replace(first, choice="both_bad", item=1, turn=61),
        replace(first, choice="skip", item=2, turn=62, rater="cleo"),
        replace(first, choice="first", item=0, turn=63, rater="dan"),
        replace(first, choice="second", item=0, turn=64, rater="dan"),
    ]
    log = read_votes_log(str(write_votes(tmp_path / "votes.db", ITEMS, votes, schedule="open")))
    said = ["Votes that both answers are bad", "Skipped", "A rater voted otherwise the second time"]
    assert [note.split(",")[0].split(":")[0] for note in log.notes] == said
    assert "cleo" not in log.seconds
    [entry] = [m for m in log.items[0].matches if {m.high, m.low} == {first.first, first.second}]
    [last] = [verdict for verdict in entry.verdicts if verdict.judge == "dan"]
    assert last.margin == -1


def test_open_pairs_are_tested_by_their_own_votes(tmp_path: Path) -> None:
    asked = [vote for vote in VOTES if {vote.first, vote.second} != {"ash", "cedar"}]
    path = write_votes(tmp_path / "votes.db", ITEMS, asked, schedule="open")
    board = board_of(path)
    assert board.warnings[0].kind == "pairs_chosen"
    for pair in board.pairs:
        by_item = defaultdict(list)
        for vote in asked:
            if {vote.first, vote.second} == {pair.above, pair.below} and vote.choice in RESULT:
                won = RESULT[vote.choice] if vote.first == pair.above else 1 - RESULT[vote.choice]
                if vote.choice != "identical":
                    by_item[vote.item].append(2 * won - 1)
        leads = [*map(np.mean, by_item.values())]
        assert (pair.n_items, pair.untested) == (len(leads), None if leads else "no common item")
        assert pair.p == pytest.approx(paired_p(leads), nan_ok=True)
        if leads:
            assert pair.difference == pytest.approx(np.mean(leads))
            [alone] = compare_pair(path, pair.above, pair.below)
            assert (alone.p, alone.difference.value) == pytest.approx((pair.p, pair.difference))
    assert np.isnan([row.lower for row in board.rows]).all()
    labels = read_human_labels(path)
    assert "only pairs that a board left open" in labels.notes[0]
    with pytest.raises(AnalysisError, match="votes on pairs that a board left open"):
        anchored_boards(judged_log(tmp_path), labels)


def test_models_that_nobody_was_asked_about_have_no_rank(tmp_path: Path) -> None:
    asked = [vote for vote in VOTES if {vote.first, vote.second} == {"ash", "birch"}]
    board = board_of(write_votes(tmp_path / "votes.db", ITEMS, asked, schedule="open"))
    assert [(row.model, row.rank is None) for row in board.rows][-1] == ("cedar", True)
    assert [(pair.above, pair.below) for pair in board.pairs] == [
        tuple(row.model for row in board.rows[:2])
    ]


def test_votes_among_other_logs(tmp_path: Path, votes_db: Path) -> None:
    judged_log(tmp_path)
    with sqlite3.connect(tmp_path / "bank.db") as other:
        other.execute("CREATE TABLE questions (id)")
    newer = write_votes(tmp_path / "newer.db", ITEMS, VOTES)
    with sqlite3.connect(newer) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'version'")
    logs = read_ranking_logs(tmp_path)
    assert {log.protocol for log in logs} == {"votes", "seal"}
    [note] = logs[0].notes
    assert "newer.db was written by a newer Tiebreak" in note
    text = tmp_path / "text.db"
    text.write_text("no database")
    for read in (read_ranking_logs, read_human_labels):
        with pytest.raises((RankingLogError, TableError), match="database, but not a votes file"):
            read(tmp_path / "bank.db")
        with pytest.raises((RankingLogError, TableError), match=r"text\.db is not a votes file"):
            read(text)


def test_no_vote_yet_or_too_few(tmp_path: Path) -> None:
    path = write_votes(tmp_path / "votes.db", ITEMS, [])
    for read in (leaderboards, read_human_labels):
        with pytest.raises((RankingLogError, TableError), match="holds no vote yet: vote first"):
            read(path)
    log = judged_log(tmp_path)
    [board] = leaderboards(tmp_path)
    assert board.notes == (f"Left out: {path} holds no vote yet: vote first",)
    few = write_votes(tmp_path / "few.db", ITEMS, VOTES[:5])
    with pytest.raises(AnalysisError, match="at least 6 items that both people and a judge"):
        anchored_boards(log, few)
    other = write_votes(tmp_path / "other.db", items_of(60, benchmark="mmlu"), VOTES)
    with pytest.raises(AnalysisError, match="labels of items that no log judged"):
        anchored_boards(log, other)
    # One rater says that agreement is unknown.
    votes = [vote for vote in VOTES if vote.rater == "ann"]
    section = jury_section(board_of(write_votes(tmp_path / "ann.db", ITEMS, votes)))
    assert any("no two raters voted on the same" in line for line in section.lines)


def test_reading_while_the_page_runs(votes_db: Path) -> None:
    with open_votes_file(votes_db, write=True) as page:
        before = read_votes_log(str(votes_db))
        page.add(replace(VOTES[0], rater="cleo", turn=99))
        after = read_votes_log(str(votes_db))
    assert "cleo" in after.seconds.keys() - before.seconds.keys()
    assert (before.task_id, before.eval_id != after.eval_id) == (after.task_id, True)


def test_renamed_models_are_named(tmp_path: Path, votes_db: Path) -> None:
    renamed = {"ash": "oak", "birch": "elm", "cedar": "cedar"}
    items = []
    for item in ITEMS:
        groups = tuple(tuple(renamed[m] for m in group) for group in item.ballots.groups)
        matches = tuple(match(a[0], b[0], 0.5) for a, b in combinations(groups, 2))
        changed = {"models": tuple(renamed.values()), "native": {}, "groups": groups}
        items.append(
            item.ballots.model_copy(update=changed | {"matches": matches, "complete": True})
        )
    with pytest.raises(AnalysisError, match="of models that no log judged: ash, birch"):
        anchored_boards(write_log(tmp_path / "renamed.eval", items), votes_db)
