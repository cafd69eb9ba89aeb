"""The items of a report: the index matches the ballots, and nothing that was said is missing."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalSample

from tests.analysis.peers.builders import reviews
from tests.cases import cases, some
from tests.expected import check
from tests.ranking_logs.builders import (
    all_pairs,
    bracket,
    call,
    graded,
    item,
    listed,
    match,
    sample,
    skipped,
)
from tests.report.page.logs import RUBRIC, Folder, judged, whole
from tests.report.page.sample_report import played
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs.log import placement_of
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.report.page.contents import Contents, contents_of
from tiebreak.report.page.items import ChunkWriter, _first, items_view, short, unpack, without_calls
from tiebreak.report.page.view import ItemsView
from tiebreak.scorers.ballots import ItemBallots


def contents(path: Path) -> Contents:
    return contents_of([path], how=Resampling(draws=1))


def view_of(path: Path) -> ItemsView:
    return some(items_view(contents(path), ChunkWriter()))


def told(view: ItemsView) -> list[dict[str, Any]]:
    """The items of the index, with their stories."""
    chunks = [unpack(chunk) for chunk in view.chunks]
    index: Any = view.index
    texts, stories = (
        [piece for _, chunk in index[kind] for piece in chunks[chunk]]
        for kind in ("texts", "stories")
    )
    return [
        item | spelt(story, [texts[number] for number in story["texts"]])
        for item, story in zip(index["items"], stories, strict=True)
    ]


def spelt(story: Any, texts: list[str]) -> Any:
    """A story with its texts, also where votes only say which."""
    if isinstance(story, list):
        return [spelt(part, texts) for part in story]
    if not isinstance(story, dict):
        return story
    written = {"texts": texts} if "texts" in story else {}
    if isinstance(place := story.get("reasoning"), int):
        written["reasoning"] = texts[place]  # type: ignore[assignment]
    return {name: spelt(part, texts) for name, part in story.items()} | written


def runs(view: ItemsView) -> list[dict[str, Any]]:
    found: Any = view.index["runs"]
    return list(found)


@pytest.mark.slow
def test_every_ballot_of_every_log_is_there(tmp_path: Path) -> None:
    view = view_of(whole(tmp_path))
    shown = {}
    for one in told(view):
        assert one["runs"] == sorted({story["run"] for story in one["stories"]})
        for story in one["stories"]:
            run = runs(view)[story["run"]]
            assert run["benchmark"] == one["benchmark"]
            shown[run["log"], one["id"]] = story
    n_ballots = 0
    for log in read_ranking_logs([tmp_path]):
        for ballots in log.items:
            n_ballots += 1
            story = shown[Path(log.path).name, ballots.item_id]
            assert ItemBallots.model_validate(story["ballots"]) == ballots.model_copy(
                update={"calls": ()}
            )
            assert story["ranks"] == placement_of(ballots).ranks
            assert story["unranked"] is None
    # Six logs of four items; those of gsm8k are the same four.
    assert n_ballots == len(shown) == 24
    assert len(view.rows) == 8


Q, P = bracket("q", "a", "b", "c"), bracket("p", "c", "b", "a")
TIED = item("q", [match("a", "b", 0.0), match("b", "c", None, round=2)])
MORE = {**RUBRIC, "checklist": [*RUBRIC["checklist"], {"id": "C2", "principle": "P2"}]}
LOGS: dict[str, list[list[EvalSample | ItemBallots]]] = {
    "other answers": [
        [judged(Q, answers={"c": "I am b."})],
        [judged(all_pairs("q", "abc"), answers={"a": "I have changed."})],
    ],
    "two rubrics": [
        [
            judged(bracket(f"q{n}", "a", "b", "c"), rubric=rubric)
            for n, rubric in enumerate((RUBRIC, MORE, RUBRIC))
        ]
    ],
    "a log that does not say what was asked": [[sample(Q)]],
    # Of q4 and q5 nobody said anything.
    "no ranking": [
        [
            bracket("q0", "a", "b", "c"),
            item("q1", [match("a", "b", None)], groups=(("a",), ("b",))),
            judged(bracket("q2", "a", "b", "c"), error="out of memory"),
            judged(bracket("q3", "a", "b", "c", complete=False), limit="token"),
            skipped("q4", 3, 5),
            sample(None, "q5", error="nothing at all"),
        ]
    ],
    "natural order": [
        [bracket(name, "a", "b", "c") for name in ("q10", "q2", "q1", "a", "q2b", "q02", "7", "10")]
    ],
    "epochs of answers, which are items, and of judging, which are not": [
        [
            judged(Q, sample_id="gsm8k:q"),
            judged(Q, sample_id="gsm8k:q", epoch=2),
            judged(Q, sample_id="gsm8k:q#2", answers={"a": "Again."}),
        ]
    ],
    "ties and what was not scored": [
        [judged(TIED, task=f"What\n is  it? {'x' * 200}"), judged(P, task="Short")],
        [graded("q", {"a": 0.5, "b": None, "c": 0.25}), graded("p", {"a": 0.1, "c": 0.9})],
    ],
}


def lines_of(view: ItemsView) -> Iterator[str]:
    """Runs, rubrics, rows with what they sort by, and stories without their ballots."""
    for number, run in enumerate(runs(view)):
        yield f"run {number}: {json.dumps(run)}"
    rubrics: Any = view.index["rubrics"]
    yield f"rubrics: {[[entry['id'] for entry in rubric['checklist']] for rubric in rubrics]}"
    yield " | ".join(column.heading for column in view.columns)
    for row in view.rows:
        yield " | ".join(f"{cell.text} ({cell.key})" for cell in row.cells) + f" → {row.index}"
    for entry in told(view):
        yield f"{entry['id']}: {entry['task']!r} {entry['texts']}"
        for story in entry["stories"]:
            shown = {name: story[name] for name in ("run", "epoch", "rubric", "answers", "ranks")}
            yield f"  {json.dumps(shown)} {story['unranked'] or ''}".rstrip()


def test_what_the_index_says(tmp_path: Path) -> None:
    texts = []
    for name, logs in LOGS.items():
        (tmp_path / name).mkdir()
        folder = Folder(tmp_path / name)
        for samples in logs:
            folder.add(samples)
        texts.append("\n".join([f"== {name}", *lines_of(view_of(folder.path)), ""]))
    texts.append("\n".join(["== all protocols", *lines_of(view_of(whole(tmp_path / "whole"))), ""]))
    check(__file__, "items.txt", "\n".join(texts))


def texts_in(data: Any) -> set[str]:
    return set(re.findall(r'"(?:[^"\\]|\\.)*"', json.dumps(data)))


def test_every_text_is_there(tmp_path: Path) -> None:
    hostile = "</script><!-- \x00\x1b[31m\u202e\u2028 &amp; ‹"
    ballots = played([*"abcde"], why=hostile)
    answers = {"a": f"answer {hostile}"}
    Folder(tmp_path).add([judged(ballots, task=f"task {hostile}", answers=answers)])
    [one] = told(view_of(tmp_path))
    asked = texts_in([json_of(ballots), answers, f"task {hostile}"])
    expected = {text for text in asked if "script" in text}
    assert len(expected) > 8
    assert expected <= texts_in(one)
    assert one["target"] == "answer"


@pytest.mark.parametrize(("contest", "known"), cases(__file__, "metadata_that_no_task_would_write"))
def test_metadata_of_no_task(tmp_path: Path, contest: object, known: dict[str, Any]) -> None:
    odd = judged(bracket("q", "a", "b", "c")).model_copy(update={"metadata": {"contest": contest}})
    Folder(tmp_path).add([odd])
    view = view_of(tmp_path)
    [one] = told(view)
    [story] = one["stories"]
    named = {name: one["texts"][place] for name, place in story["answers"].items()}
    assert named == known.get("answers", {})
    assert one["task"] == known.get("task")
    assert view.index["rubrics"] == ([known["rubric"]] if "rubric" in known else [])


@pytest.mark.parametrize(("runs", "first"), cases(__file__, "who_is_first_and_by_which_run"))
def test_who_is_first_and_by_which_run(runs: list[Any], first: str) -> None:
    stories = [{"run": run, "epoch": epoch, "ranks": ranks} for run, epoch, ranks in runs]
    names = ["seal", "swiss", "stars"] if any(run for run, *_ in runs) else ["seal"]
    assert _first(stories, names) == first


def test_nothing_was_judged(tmp_path: Path) -> None:
    Folder(tmp_path).add([sample(None, "q", error="no")])
    assert items_view(contents(tmp_path), ChunkWriter()) is None


@pytest.mark.parametrize("with_metadata", [True, False])
def test_metadata_is_kept_for_who_asks(tmp_path: Path, with_metadata: bool) -> None:
    Folder(tmp_path).add([bracket("q", "a", "b", "c")])
    [log] = read_ranking_logs([tmp_path], with_metadata=with_metadata)
    assert [bool(one.metadata) for one in log.samples] == [with_metadata]


KINDS = {
    "seal": played(["a", "b", "c", "d", "e"], why="because"),
    "bracket": bracket("q", "a", "b", "c"),
    "pairs": all_pairs("q", "abcd", swapped="bacd"),
    "points": graded("q", {"a": 0.9, "b": 0.5, "c": 0.1}, native={"a": 1, "b": 0, "c": None}),
    "listing": listed("q", [["a", "b"], ["c"]]),
    "reviews": reviews("q", {"a": "abc", "b": "bac", "c": "cab"}),
}


def json_of(ballots: ItemBallots) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(ballots.model_dump_json())
    return stored


def six_decimals(number: str) -> float:
    return round(float(number), 6)


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_read_again_as_they_were(kind: str) -> None:
    stored = json_of(KINDS[kind].model_copy(update={"calls": (call(), call())}))
    found = without_calls(stored, str)
    assert "calls" not in found
    shortened = json.loads(json.dumps(stored | {"calls": []}), parse_float=six_decimals)
    assert ItemBallots.model_validate(found) == ItemBallots.model_validate(shortened)
    said = json.dumps(found["matches"]) if "matches" in found else ""
    assert [empty for empty in ('""', "null", "[]") if empty in said] == []


def test_a_falsehood_and_a_zero_are_said() -> None:
    stored = json_of(all_pairs("q", "ab", swapped="ab"))
    stored["matches"][0] |= {"flipped": False, "margin": 0.0, "critique": None}
    [match] = without_calls(stored, str)["matches"]
    assert (match["flipped"], match["margin"]) == (False, 0.0)
    assert "critique" not in match


@pytest.mark.parametrize("odd", [None, 7, "left", ["left", 0.5]])
def test_votes_of_another_form_stay_as_they_are(odd: object) -> None:
    stored = json_of(KINDS["seal"])
    [verdict, *_] = stored["matches"][0]["verdicts"]
    verdict["principles"]["P1"], verdict["checklist"] = odd, odd
    [match, *_] = without_calls(stored, str)["matches"]
    assert match["verdicts"][0]["principles"]["P1"] == odd
    assert match["verdicts"][0].get("checklist") == odd


@pytest.mark.parametrize(("number", "kept"), cases(__file__, "numbers"))
def test_numbers(number: float | None, kept: float | None) -> None:
    assert short({"a": number}) == {"a": kept}
    stored = json_of(bracket("q", "a", "b", "c")) | {"native": {"a": number}}
    stored["matches"][0]["verdicts"][0]["margin"] = number
    found = without_calls(stored, str)
    assert found["native"] == {"a": kept}
    if kept is not None:
        assert found["matches"][0]["verdicts"][0]["margin"] == kept
