"""Stars by real runs: what they cost, one model alone, juries, and items that differ by model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from inspect_ai.event import ModelEvent, SpanBeginEvent
from inspect_ai.log import read_eval_log
from inspect_ai.util import DisplayType

from tests.candidates.builders import write_inspect_log
from tests.harness import run
from tests.inspect_tasks.runs import ballots_of, judge_in_process, real_calls
from tiebreak.analysis.frames import ballots_df
from tiebreak.analysis.leaderboard import Leaderboard, leaderboards
from tiebreak.candidates import CONTEST_KEY, load_candidates, write_parquet
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers import Resampling
from tiebreak.study.estimate.cost import estimate_cost

ITEMS = 12


def row(model: int, i: int) -> dict[str, Any]:
    """Even items are true/false, every third of them with a bare answer; m0 is always right."""
    judged = i % 2 == 0
    key = ("false" if i % 4 else "true") if judged else f"fill {i}"
    right = model == 0 or i % (model + 1) > 0
    verdict = key if right else "true" if key == "false" else "false"
    answer = f"{verdict.title()}: because of {model}. quality={3 - model}"
    if not judged:
        answer = f"It is {i} for {model}. quality={3 if right else 0}"
    elif i % 3 == 0:
        answer = f"{verdict.title()}."
    details = {
        "type": "true_false" if judged else "fill_in",
        "category": "Law",
        "raw_uuid": f"r{i}",
    }
    question = f"What is {i}?"
    return {
        "id": f"q{i}",
        "question": question,
        "target": key,
        "answer": answer,
        "metadata": details,
    }


def write(folder: Path, items: Mapping[int, Sequence[int]], **more: Any) -> Path:
    for model, own in items.items():
        rows = [{**row(model, i), **more} for i in own]
        write_inspect_log(folder / f"m{model}.eval", f"acme/m{model}", rows, task="fair")
    return folder


def board_of(folder: Path) -> Leaderboard:
    [board] = leaderboards([folder], how=Resampling(draws=100))
    return board


def truth(model: int, i: int) -> int:
    """The stars that an answer deserves, by what the planted judge reads and a rule decides."""
    given = row(model, i)
    right = model == 0 or i % (model + 1) > 0
    quality = given["answer"].partition("quality=")[2]
    if not quality:
        return 2 if right else 0
    if i % 2:
        return int(quality)
    return max(2, int(quality)) if right else min(1, int(quality))


@pytest.mark.slow
def test_a_run_gives_the_stars_that_answers_deserve(tmp_path: Path, calls: Path) -> None:
    logs = write(tmp_path / "logs", dict.fromkeys(range(3), range(ITEMS)))
    expected = estimate_cost([logs], "stars", judge="planted/x", sample=None)
    [log] = judge_in_process("stars", logs, tmp_path / "out")
    assert log.status == "success"
    n_calls = len(real_calls(calls))
    assert expected.protocols[0].calls == (n_calls,) * 3
    # Two items have bare answers, and no call.
    assert n_calls == (ITEMS - 2) * 3
    for sample in log.samples or []:
        # The viewer shows an item's calls in one section.
        spans = [event for event in sample.events if isinstance(event, SpanBeginEvent)]
        [section] = [span.id for span in spans if span.type == "scores"]
        asked_in = {event.span_id for event in sample.events if isinstance(event, ModelEvent)}
        assert asked_in <= {section}
    for name, item in ballots_of(log).items():
        leaders = {model: group[0] for group in item.groups for model in group}
        stars = {one.candidate: one.stars for one in item.scores}
        for model in range(3):
            assert stars[leaders[f"acme/m{model}"]] == truth(model, int(name[1:]))
        assert item.subject == "Law"
    board = board_of(tmp_path / "out")
    means = {f"acme/m{m}": sum(truth(m, i) for i in range(ITEMS)) / 3 / ITEMS for m in range(3)}
    assert {one.model: one.borda for one in board.rows} == pytest.approx(means)
    assert {one.model: one.points for one in board.rows} == pytest.approx(means)
    frame = ballots_df([tmp_path / "out"])
    assert set(frame["stars"]) == {0, 1, 2, 3}
    assert set(frame["correct"].dropna()) == {True, False}

    # From a file of the pool the same is asked, and all of it is in the cache.
    file = tmp_path / "pool.parquet"
    write_parquet(load_candidates([logs]), file)
    [again] = judge_in_process("stars", file, tmp_path / "again")
    assert len(real_calls(calls)) == n_calls
    assert board_of(tmp_path / "again").rows == board.rows
    # Without the rule a judge reads the bare answers, too: two of each item are the same.
    judge_in_process("stars", logs, tmp_path / "judged", rule=False)
    asked = [item.calls for item in ballots_of(again).values()]
    assert sum(map(len, asked)) == n_calls
    assert board_of(tmp_path / "judged").receipt.n_calls > n_calls


@pytest.mark.slow
def test_one_model_alone(tmp_path: Path, calls: Path) -> None:
    logs = write(tmp_path / "logs", {1: range(ITEMS)})
    expected = estimate_cost([logs], "stars", judge="planted/x")
    [log] = judge_in_process("stars", logs, tmp_path / "out")
    assert log.status == "success"
    assert expected.protocols[0].calls == (len(real_calls(calls)),) * 3 == (ITEMS - 2,) * 3
    board = board_of(tmp_path / "out")
    [only] = board.rows
    assert only.borda == pytest.approx(sum(truth(1, i) for i in range(ITEMS)) / 3 / ITEMS)
    assert "acme/m1 alone" in str(board.verdict.sentence)
    with pytest.raises(PrerequisiteError, match="only one model"):
        judge_in_process("pointwise", logs, tmp_path / "other")


@pytest.mark.slow
def test_items_that_differ_by_model(tmp_path: Path, calls: Path) -> None:
    """A linked design: items 0 to 3 for both, the others for one."""
    logs = write(tmp_path / "logs", {0: range(8), 1: [*range(4), *range(8, 12)]})
    [log] = judge_in_process("stars", logs, tmp_path / "out", mode="union")
    assert log.status == "success"
    models = {name: item.models for name, item in ballots_of(log).items()}
    assert len(models) == ITEMS
    assert models["q0"] == ("acme/m0", "acme/m1")
    assert models["q5"] == ("acme/m0",)
    assert models["q9"] == ("acme/m1",)
    board = board_of(tmp_path / "out")
    answered = {0: range(8), 1: [*range(4), *range(8, 12)]}
    means = {f"acme/m{m}": sum(truth(m, i) for i in answered[m]) / 3 / 8 for m in answered}
    assert {one.model: one.borda for one in board.rows} == pytest.approx(means)
    expected = estimate_cost([logs], "stars", judge="planted/x", mode="union")
    assert expected.protocols[0].calls.likely == len(real_calls(calls))
    with pytest.raises(PrerequisiteError, match="ranks the answers to an item against each other"):
        judge_in_process("round_robin", logs, tmp_path / "other", mode="union")


@pytest.mark.slow
@pytest.mark.parametrize("jury", ["all", "rotate"])
def test_juries(jury: str, tmp_path: Path, calls: Path) -> None:
    logs = write(tmp_path / "logs", dict.fromkeys(range(2), range(ITEMS)))
    roles = {"judge": ["planted/a", "planted/noise=1+b"]}
    [log] = judge_in_process(
        "stars", logs, tmp_path / "out", eval_args={"model_roles": roles}, jury=jury
    )
    assert log.status == "success"
    each = 2 if jury == "all" else 1
    assert len(real_calls(calls)) == (ITEMS - 2) * 2 * each
    for item in ballots_of(log).values():
        for one in item.scores:
            given = [part.stars for part in one.parts or (one,) if part.stars is not None]
            assert one.score == pytest.approx(sum(given) / len(given) / 3)
    assert len(board_of(tmp_path / "out").rows) == 2


@pytest.mark.slow
def test_malformed_replies_are_no_zero(tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", dict.fromkeys(range(2), range(ITEMS)))
    [log] = judge_in_process("stars", logs, tmp_path / "out", "planted/malformed=0.9")
    board = board_of(tmp_path / "out")
    assert 2 <= board.n_items < ITEMS  # there are two with bare answers
    kept = [one for item in ballots_of(log).values() for one in item.scores if one.unscored]
    assert {one.score for one in kept} == {None}
    assert {one.correct for one in kept} == {True, False, None}


@pytest.mark.parametrize("without_key", ["refuse", "drop"])
def test_without_a_key_nothing_is_rated(without_key: str, tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", dict.fromkeys(range(2), range(4)), target="")
    with pytest.raises(PrerequisiteError, match=r"4 items of 4 without a key \(target\): fair q0"):
        judge_in_process("stars", logs, tmp_path / "out", without_key=without_key)


@pytest.mark.slow
def test_other_protocols_never_see_the_key(tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", dict.fromkeys(range(2), range(2)))
    [log] = judge_in_process("pointwise", logs, tmp_path / "out")
    for sample in read_eval_log(log.location).samples or []:
        assert not {"target", "question_type"} & sample.metadata[CONTEST_KEY].keys()


def one_without_a_key(folder: Path) -> Path:
    for model in range(2):
        rows = [{**row(model, i), **({"target": ""} if i == 3 else {})} for i in range(8)]
        write_inspect_log(folder / f"m{model}.eval", f"acme/m{model}", rows, task="fair")
    return folder


@pytest.mark.slow
def test_items_without_a_key_are_left_out_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    logs = one_without_a_key(tmp_path / "logs")
    [log] = judge_in_process("stars", logs, tmp_path / "out", without_key="drop")
    assert log.status == "success"
    assert list(ballots_of(log)) == [f"q{i}" for i in range(8) if i != 3]
    note = "fair: 1 item left out for lack of a key: q3"
    assert note in caplog.text
    assert note in (log.eval.metadata or {})["candidate_notes"]
    assert note in board_of(tmp_path / "out").notes
    # Protocols that read no key judge all items.
    [log] = judge_in_process("pointwise", logs, tmp_path / "all", without_key="drop")
    assert len(ballots_of(log)) == 8


STARS = ("tiebreak/stars", "-T", "candidates=logs", "--model-role", "judge=planted/x")
REFUSED = {
    STARS: "1 item of 8 without a key (target): fair q3. Answers are rated by it",
    ("tiebreak/fair", "--model", "mockllm/model"): "No questions: add -T bank=FILE",
    ("tiebreak/own",): "No protocol",
    ("tiebreak/replay", "--model", "mockllm/model"): "data",
}


@pytest.mark.slow
@pytest.mark.parametrize("display", get_args(DisplayType))
def test_an_error_is_said_under_every_display(display: str, tmp_path: Path) -> None:
    one_without_a_key(tmp_path / "logs")
    tasks = REFUSED if display == "none" else [STARS]
    for task in tasks:
        done = run("inspect", "eval", *task, "--display", display, cwd=tmp_path, code=1)
        said = " ".join(done.stderr.split())
        assert REFUSED[task] in said
        assert "Traceback" not in said
        assert done.stdout.strip() == ""
    assert "-T without_key=drop" in said or display == "none"
