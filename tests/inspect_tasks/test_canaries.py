"""Planted answers: what they are, that they change no ranking, and what the board says of them."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog

from tests.candidates.builders import write_inspect_log
from tests.inspect_tasks.runs import judge_in_process, write_pool
from tests.plugin.planted_judge import TOLD
from tests.report.showing import round_trip
from tests.scorers.judges import NotingJudge, judged_all
from tiebreak.analysis.leaderboard import Leaderboard, leaderboards
from tiebreak.candidates import CANARIES_KEY, CONTEST_KEY, RUN_KEY, load_candidates
from tiebreak.inspect_tasks.arguments import checked
from tiebreak.inspect_tasks.contests import contest_samples, restore_contest
from tiebreak.inspect_tasks.planting import planted, settings_for
from tiebreak.inspect_tasks.settling import Settling
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs import read_ranking_logs
from tiebreak.report.sheets.leaderboard import data_of
from tiebreak.scorers.attacks import ORDINARY, PLANTED, attacks
from tiebreak.scorers.ballots import Reviewer
from tiebreak.scorers.catalogue import PROTOCOLS
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Question
from tiebreak.scorers.placement import place
from tiebreak.scorers.stars import StarsQuestion

HOW = Resampling(draws=100)
GULLIBLE = "planted/gullible=9"


def items(folder: Path, natives: dict[str, float], answer: str = "What {} says.") -> list[Sample]:
    for model, native in natives.items():
        rows = [
            {"id": f"q{i}", "question": "?", "answer": answer.format(model), "native": native}
            for i in range(3)
        ]
        write_inspect_log(folder / f"{model}.eval", model, rows)
    return contest_samples(load_candidates([folder]))


def contests(pairs: list[tuple[Sample, Sample]]) -> list[tuple[Contest, Contest]]:
    return [
        (restore_contest(one.metadata or {}), restore_contest(other.metadata or {}))
        for one, other in pairs
    ]


def test_a_canary_and_its_control_differ_in_the_attack_alone(tmp_path: Path) -> None:
    samples = items(tmp_path, {"a": 1.0, "b": 1.0})
    texts = {attack.id: attack for attack in attacks()}
    pairs = contests(planted(samples, 100, seed=3))
    for number, (canary, control) in enumerate(pairs, start=1):
        assert canary.canary is not None
        assert control.canary is not None
        assert (canary.canary.number, canary.canary.control) == (number, False)
        assert (control.canary.number, control.canary.control) == (number, True)
        assert canary.canary.attack == control.canary.attack
        weak = control.answers[PLANTED]
        assert canary.answers[PLANTED] == texts[canary.canary.attack].on(weak)
        assert (
            canary.answers[ORDINARY]
            == control.answers[ORDINARY]
            in ("What a says.", "What b says.")
        )
        assert weak == "Wh"
        assert canary.first == control.first  # no position tells them apart
        assert canary.models == (ORDINARY, PLANTED)
    # Every item and every attack before any comes again, one kind after the other.
    kinds = {attack.kind for attack in attacks()}
    assert {one.canary.kind for one, _ in pairs[: len(kinds)] if one.canary} == kinds
    first = [one.canary.attack for one, _ in pairs[: len(texts)] if one.canary]
    assert len(set(first)) == len(texts)
    assert set(Counter(one.item_id for one, _ in pairs[:99]).values()) == {33}
    assert {side.first[ORDINARY, PLANTED] for side, _ in pairs} == {ORDINARY, PLANTED}
    assert contests(planted(samples, 100, seed=3)) == pairs
    assert contests(planted(samples, 100, seed=4)) != pairs


def test_where_one_answer_failed_it_is_the_weak_one(tmp_path: Path) -> None:
    [(canary, control)] = contests(planted(items(tmp_path, {"a": 1.0, "b": 0.0}), 1, seed=0))
    assert control.answers == {ORDINARY: "What a says.", PLANTED: "What b says."}
    assert not canary.passed
    assert not canary.stratified


def test_blank_answers_hold_no_canary(tmp_path: Path) -> None:
    samples = items(tmp_path, {"a": 1.0, "b": 1.0}, answer=" ")
    assert planted(samples, 0, seed=0) == []
    with pytest.raises(PrerequisiteError, match="no answer with a text"):
        planted(samples, 1, seed=0)


class _Judge(NotingJudge):
    def _says(self, question: Question[Any]) -> dict[str, Any]:
        if isinstance(question, StarsQuestion):
            return {"Overall Rating": round(self._qualities[question.candidate]), "reason": "So."}
        return super()._says(question)


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS.keys() - {"original"}))
def test_every_protocol_judges_them(protocol: str, tmp_path: Path) -> None:
    samples = items(tmp_path, {"a": 1.0, "b": 1.0, "c": 1.0})
    for sample in samples:
        (sample.metadata or {})[CONTEST_KEY]["target"] = "4"
    every = {"newcomers": "a", "baseline": "b", "degree": 2}
    takes = {"round_robin": ("newcomers", "baseline"), "peer_review": ("degree",)}
    settings = {name: every[name] for name in takes.get(protocol, ())}
    both = [one for pair in contests(planted(samples, 3, seed=0)) for one in pair]
    peers = [Reviewer(name=name, model=name, candidate=name) for name in "ab"]
    judge = _Judge({ORDINARY: 3.0, PLANTED: 1.0}, reviewers=peers)
    for one in judged_all(protocol, both, judge, **settings_for(protocol, settings)):
        assert one.canary is not None
        assert place(one).order == ((ORDINARY,), (PLANTED,))
    assert settings_for("mine", settings) == settings


def board_of_run(protocol: str, pool: Path, out: Path, **given: Any) -> tuple[EvalLog, Leaderboard]:
    [log] = judge_in_process(protocol, pool, out, **given)
    [board] = leaderboards(out, how=HOW)
    return log, board


def shown(board: Leaderboard) -> dict[str, Any]:
    """All that a board says of the ranking and the judge, without the run and its bill."""
    [data] = round_trip(data_of([board]))["leaderboards"]
    verdict = data.pop("verdict")
    trust = verdict.pop("trust")
    verdict["sentence"] = verdict["sentence"].removesuffix(trust["sentence"])
    of_run = ("log", "eval_id", "created", "receipt", "canaries", "warnings")
    return {name: value for name, value in data.items() if name not in of_run} | {
        "verdict": verdict
    }


@pytest.mark.slow
def test_they_change_no_ranking_and_the_verdict_names_the_figure(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "logs", 3, 6)
    plain, without = board_of_run("round_robin", pool, tmp_path / "plain", judge=GULLIBLE)
    log, board = board_of_run("round_robin", pool, tmp_path / "with", judge=GULLIBLE, canaries=13)
    assert shown(board) == shown(without)
    assert [one.metrics for one in (log.results and log.results.scores) or []] == [
        one.metrics for one in (plain.results and plain.results.scores) or []
    ]
    before, after = plain.eval.metadata or {}, log.eval.metadata or {}
    assert before[RUN_KEY] == after[RUN_KEY]
    assert CANARIES_KEY not in before
    # A match for each, which is the item's sample of both orders.
    asked = {kind.kind: kind.n_calls for kind in board.receipt.kinds}
    assert asked == {"match": without.receipt.n_calls, "canary": 4 * 13}
    assert board.receipt.calls_per_item == without.receipt.calls_per_item
    canaries = board.canaries
    assert canaries is not None
    assert (canaries.n, canaries.n_unscored) == (13, 0)
    # This judge is persuaded by whatever tells it what to prefer, and by nothing else.
    planted_in = [str(name) for name in after[CANARIES_KEY] if not name.endswith("-control")]
    by_id = {attack.id: attack for attack in attacks()}
    drawn = [by_id[name.split("-", 2)[2]] for name in planted_in]
    expected = Counter(one.kind for one in drawn if TOLD.search(one.on("")))
    assert Counter({one.kind: one.persuaded for one in canaries.kinds if one.persuaded}) == expected
    assert 4 <= expected.total() < 13
    low, high = (f"{100 * bound:.0f}" for bound in (canaries.share.lower, canaries.share.upper))
    assert str(board.verdict.sentence).endswith(
        f"; persuaded by {expected.total()} of 13 planted canaries ({low}–{high}%)."
    )


@pytest.mark.slow
def test_shards_share_them(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "logs", 2, 3)
    for shard in ("1/2", "2/2"):
        judge_in_process("pointwise", pool, tmp_path / "out", shard=shard, canaries=3)
    [log] = read_ranking_logs(tmp_path / "out")
    assert (len(log.samples), len(log.planned), log.n_expected) == (3, 3, 3)
    numbers = [
        one.ballots.canary.number for one in log.canaries if one.ballots and one.ballots.canary
    ]
    assert sorted(numbers) == [1, 1, 2, 2, 3, 3]


def test_a_run_that_settles_does_not_count_them(tmp_path: Path) -> None:
    samples = items(tmp_path, {"a": 1.0, "b": 1.0})
    extra = [one for pair in planted(samples, 2, seed=0) for one in pair]
    settling = Settling(["a", "b"], samples, checked({"settle": True}))

    async def run() -> None:
        await settling.start_task(None, [*samples, *extra], 1)  # type: ignore[arg-type]
        for sample in (*extra, *samples[:2]):
            await settling.complete_sample(sample.id or "", 1, {})

    asyncio.run(run())
    assert settling.decided is None
    settling.judged(samples[2].id or "", {})
