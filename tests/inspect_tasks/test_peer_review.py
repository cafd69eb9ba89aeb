"""Peer review by real runs: who reviews, what it costs, what is said about it, going on."""

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai import eval, score
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from inspect_ai.model import Model, get_model
from rich.text import Text

from tests.candidates.builders import write_inspect_log
from tests.harness import BIN, environment, run
from tests.inspect_tasks.runs import (
    ballots_of,
    boards_by_protocol,
    logs_in,
    real_calls,
    without_receipt,
    write_pool,
)
from tiebreak.inspect_tasks.arguments import checked
from tiebreak.inspect_tasks.cast import Cast
from tiebreak.inspect_tasks.judging import run_id
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers import peer_views
from tiebreak.report.peers.panel import Panel, read_panels
from tiebreak.scorers.ballots import Reviewer
from tiebreak.scorers.protocols import find_protocol
from tiebreak.scorers.ranking import ranking

pytestmark = pytest.mark.slow

N, ITEMS = 4, 6
MODELS = [f"m{number}" for number in range(N)]
Roles = Sequence[str | Model]

# Reviewers that differ from item to item, but not from call to call.
NOISY = [f"planted/noise=0.3+seed={number}" for number in range(N)]
# What is planted: m0 prefers itself, m1 prefers m2, the others are fair.
BIASED = ["planted/me=0+self=2", "planted/me=1+friend=2+ally=1", "planted/me=2", "planted/me=3"]


def quality(model: int, item: int) -> float:
    return (model * 7 + item * 3) % 5 / 5 + model / 4


def answer(model: int, item: int) -> str:
    return f"It is {item}. quality={quality(model, item):.2f} author={model}"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pool(tmp_path_factory.mktemp("pool") / "logs", N, ITEMS, answer)


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "calls"
    monkeypatch.setenv("PLANTED_CALLS", str(file))
    return file


def review(
    candidates: Path,
    log_dir: Path,
    peers: Roles = NOISY,
    *,
    eval_args: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> EvalLog:
    """`inspect eval tiebreak/peer_review` in this process; unless told otherwise, by m0, m1, …"""
    [log] = eval(
        "tiebreak/peer_review",
        task_args={"candidates": str(candidates), "reviewers": MODELS, **arguments},
        model_roles={"peers": list(peers)},
        log_dir=str(log_dir),
        log_level="warning",
        **(eval_args or {}),
    )
    return log


def only_panel(folder: Path) -> Panel:
    [panel] = read_panels([folder])
    return panel


def said(log: EvalLog) -> dict[str, dict[str, Any]]:
    return {name: without_receipt(item) for name, item in ballots_of(log).items()}


def ranked(liking: Sequence[float]) -> list[int]:
    """Places of numbers, the highest first."""
    return [1 + sum(other > own for other in liking) for own in liking]


# Who reviews.


@pytest.mark.parametrize(
    ("peers", "given", "reviewers"),
    [
        (
            "[planted/a=1, planted/b=2, planted/c=3]",
            '{"planted/c=3": "m2", "planted/a=1": m0}',
            [("m0", "planted/a=1"), ("planted/b=2", "planted/b=2"), ("m2", "planted/c=3")],
        ),
        (
            "planted/a=1,planted/a=1",
            "[null, m3]",
            [("planted/a=1", "planted/a=1"), ("m3", "planted/a=1")],
        ),
    ],
)
def test_reviewers_on_the_command_line(
    peers: str, given: str, reviewers: list[tuple[str, str]], pool: Path, tmp_path: Path
) -> None:
    run(
        *("inspect", "eval", "tiebreak/peer_review", "-T", f"candidates={pool}"),
        *("--model-role", f"peers={peers}", "-T", f"reviewers={given}"),
        *("--log-dir", "out", "--limit", "1"),
        cwd=tmp_path,
    )
    [log] = logs_in(tmp_path / "out")
    assert log.status == "success"
    [item] = ballots_of(log).values()
    assert [(one.name, one.model) for one in item.reviewers] == reviewers
    assert [one.candidate for one in item.reviewers] == [
        name if name in MODELS else None for name, _ in reviewers
    ]
    assert sorted((call.reviewer, call.model) for call in item.calls) == sorted(reviewers)
    assert {call.role for call in item.calls} == {"peers"}


@pytest.mark.parametrize("peers", ["planted/a=1", ["planted/a=1"]])
def test_a_panel_of_one(peers: Any, pool: Path, tmp_path: Path) -> None:
    """The command line has lists of one for the role, and a text for the candidate."""
    [log] = eval(
        "tiebreak/peer_review",
        task_args={"candidates": str(pool), "reviewers": "m2"},
        model_roles={"peers": peers},
        log_dir=str(tmp_path),
        limit=1,
    )
    [item] = ballots_of(log).values()
    assert item.reviewers == (Reviewer(name="m2", model="planted/a=1", candidate="m2"),)
    assert len(item.calls) == 1


def test_reviewers_are_matched_by_name(tmp_path: Path) -> None:
    # As Inspect and lm-eval call the same models; and one that nobody is.
    for number, name in enumerate(["planted/a=1", "b=2", "acme/c"]):
        rows = [{"id": "q", "question": "?", "answer": f"quality={number}", "native": 1.0}]
        write_inspect_log(tmp_path / "logs" / f"{number}.eval", name, rows)
    peers = ["planted/b=2", "planted/a=1", "planted/x"]
    log = review(tmp_path / "logs", tmp_path / "out", peers, reviewers=None)
    [item] = ballots_of(log).values()
    assert item.reviewers == (
        Reviewer(name="b=2", model="planted/b=2", candidate="b=2"),
        Reviewer(name="planted/a=1", model="planted/a=1", candidate="planted/a=1"),
        Reviewer(name="planted/x", model="planted/x"),
    )
    panel = only_panel(tmp_path / "out")
    assert panel.models == ("acme/c", "b=2", "planted/a=1")
    assert panel.own == (1, 2, None)
    assert np.array_equal(panel.ranks, [[[1, 2, 3]] * 3])


@pytest.mark.parametrize(
    ("roles", "arguments", "words"),
    [
        ({}, {}, "Add --model-role peers=…"),
        ({"judge": "planted/x"}, {}, "--model-role peers=openai/gpt-5,anthropic/"),
        ({"peers": ["planted/m9", "planted/x"]}, {"reviewers": ["m9", None]}, "no candidate 'm9'"),
        ({"peers": ["planted/x"]}, {"reviewers": {"planted/y": "m0"}}, "-T reviewers='{"),
        ({"peers": ["planted/m0", "planted/x/m0"]}, {}, "2 reviewers would be the candidate 'm0'"),
        ({"peers": ["planted/x"]}, {"degree": 1}, "degree is 1: it must be a whole number of at"),
        ({"peers": ["planted/x"]}, {"degree": 2.5}, "degree is 2.5"),
        ({"peers": ["planted/x"]}, {"degree": "x"}, "degree is 'x'"),
        ({"peers": ["planted/x"]}, {"degree": True}, "degree is True"),
        ({"peers": ["planted/x"]}, {"degree": 2}, "degree is 2: "),
        ({"peers": ["planted/x"] * 4}, {"degree": 5}, "degree is 5: "),
        ({"peers": ["planted/x"]}, {"method": "schulze"}, "'schulze': it must be one of average,"),
        ({"peers": ["planted/x"]}, {"method": ["borda", "irv"]}, "it must be one of average,"),
        ({"peers": ["planted/x"]}, {"method": "kendall", "degree": 2}, "complete rankings only"),
        ({"peers": ["planted/x"]}, {"method": "kendall", "degree": 3}, "complete rankings only"),
        ({"peers": ["planted/x"]}, {"swap": "never"}, "There is no argument 'swap'"),
        ({"peers": ["planted/x"]}, {"candidates": None}, "-T candidates=PATH"),
        ({"peers": ["planted/x"]}, {"max_cost": 1}, "No price is known for planted/x"),
    ],
)
def test_what_cannot_be_is_explained(
    roles: dict[str, Any], arguments: dict[str, Any], words: str, pool: Path, tmp_path: Path
) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        eval(
            "tiebreak/peer_review",
            task_args={"candidates": str(pool), **arguments},
            model_roles=roles,
            log_dir=str(tmp_path / "out"),
        )
    message = str(caught.value.message)
    assert words in message
    # Inspect's console takes a [word] for a colour, and would not show it.
    assert Text.from_markup(message).plain == message
    assert not (tmp_path / "out").exists()


def test_a_name_that_fits_two_candidates_is_refused_until_it_is_said(tmp_path: Path) -> None:
    pool, out = tmp_path / "logs", tmp_path / "out"
    for number, name in enumerate(["a/planted/m", "b/planted/m"]):
        rows = [{"id": "q", "question": "?", "answer": f"quality={number}", "native": 1.0}]
        write_inspect_log(pool / f"{number}.eval", name, rows)
    with pytest.raises(PrerequisiteError) as caught:
        review(pool, out, ["planted/m"], reviewers=None)
    words = str(caught.value.message)
    assert "planted/m could be a/planted/m or b/planted/m" in words
    assert "-T reviewers=" in words
    log = review(pool, out, ["planted/m"], reviewers={"planted/m": "b/planted/m"})
    [item] = ballots_of(log).values()
    assert item.reviewers[0].candidate == "b/planted/m"


# What reviewers say, and what is made of it.


def expected_ranks(biases: Sequence[Mapping[int, float]]) -> np.ndarray[Any, Any]:
    """What planted reviewers say, shape (items, reviewers, models): the best first, by hand."""
    return np.array(
        [
            [ranked([quality(m, i) + bias.get(m, 0) for m in range(N)]) for bias in biases]
            for i in range(ITEMS)
        ]
    )


def test_planted_preferences_are_in_the_data(pool: Path, tmp_path: Path) -> None:
    log = review(pool, tmp_path / "out", [*BIASED, "planted/order=1"], reviewers=[*MODELS, None])
    assert log.status == "success"
    panel = only_panel(tmp_path / "out")
    assert panel.models == tuple(MODELS)
    assert panel.own == (0, 1, 2, 3, None)
    assert panel.item_ids == tuple(f"q{i}" for i in range(ITEMS))
    assert panel.degree is None
    assert panel.aggregator == "kemeny_young"
    assert np.array_equal(panel.native, np.ones((ITEMS, N)))
    ranks = expected_ranks([{0: 2}, {2: 1}, {}, {}])
    assert np.array_equal(panel.ranks[:, :4], ranks)
    # One that looks at nothing repeats what it was shown, each time in another order.
    assert np.array_equal(panel.ranks[:, 4], panel.shown[:, 4])
    assert len({tuple(row) for row in panel.shown.reshape(-1, N)}) > 10  # of 30, from 24

    # The gap of m0: it always has itself first, the others' mean is over four.
    views = peer_views(panel.ranks, panel.own)
    others = panel.ranks[:, 1:, 0].mean(axis=1)
    assert np.allclose(views.gaps[:, 0], others - 1)
    assert views.gap[0] > 1
    # m1's friend gains by it, which no self-preference shows.
    friendly = (panel.ranks[:, 1, 2] < panel.ranks[:, 2, 2]).sum()
    assert friendly >= 3
    assert views.gap[1] < 0.5


def test_leaving_out_self_assigned_ranks_undoes_self_preference(pool: Path, tmp_path: Path) -> None:
    fair = [f"planted/me={m}+noise=0.2+seed={m}" for m in range(N)]
    selfish = ["planted/me=0+self=2+noise=0.2+seed=0", *fair[1:]]
    review(pool, tmp_path / "fair", fair)
    review(pool, tmp_path / "selfish", selfish)
    views = [
        peer_views(panel.ranks, panel.own)
        for panel in (only_panel(tmp_path / "fair"), only_panel(tmp_path / "selfish"))
    ]
    # Its own rank aside, m0 says the same about the others.
    assert np.array_equal(views[0].self_free, views[1].self_free)
    assert views[1].gap[0] - views[0].gap[0] > 0.5
    assert views[1].sia[0] < views[0].sia[0]


def test_the_method_that_was_asked_for_makes_the_scores(pool: Path, tmp_path: Path) -> None:
    log = review(pool, tmp_path / "out", method="average")
    assert {item.aggregator for item in ballots_of(log).values()} == {"average"}
    panel = only_panel(tmp_path / "out")
    assert panel.aggregator == "average"
    for sample, ranks in zip(log.samples or [], panel.ranks, strict=True):
        [found] = (sample.scores or {}).values()
        # Better than k others, and level with j: (k + j/2) / (N - 1).
        means = ranks.mean(axis=0)
        better = (means[:, None] < means - 1e-9).sum(axis=1)
        level = (abs(means[:, None] - means) < 1e-9).sum(axis=1) - 1
        expected = dict(zip(MODELS, (better + level / 2) / (N - 1), strict=True))
        assert found.value == pytest.approx(expected)


def test_scores_can_be_computed_again(pool: Path, tmp_path: Path, calls: Path) -> None:
    log = review(pool, tmp_path / "out")
    paid = len(real_calls(calls))
    again = score(log, ranking(), action="overwrite")
    assert again.results is not None
    assert log.results is not None
    assert [(one.name, one.metrics) for one in again.results.scores] == [
        (one.name, one.metrics) for one in log.results.scores
    ]
    assert len(real_calls(calls)) == paid == N * ITEMS


def test_unusable_and_partial_replies(pool: Path, tmp_path: Path, calls: Path) -> None:
    peers = ["planted/stranger=1", "planted/missing=0.4+seed=2", "planted/malformed=1", "planted/x"]
    log = review(pool, tmp_path / "out", peers)
    assert log.status == "success"
    items = ballots_of(log).values()
    strange, partial, silent, sound = (
        [one for item in items for one in item.listings if one.reviewer == name] for name in MODELS
    )
    assert all("none of R1, R2, R3, R4" in (one.unscored or "") for one in strange)
    assert all("no JSON object" in (one.unscored or "") for one in silent)
    assert not any(one.groups for one in (*strange, *silent))
    assert all(len(one.groups) == N for one in sound)
    # Labels that are left out are no mistake, unless fewer than two are left.
    assert {len(one.groups) for one in partial if one.unscored is None} >= {2, 3}
    turns = Counter((call.reviewer, call.repair) for item in items for call in item.calls)
    assert turns["m0", True] == turns["m2", True] == ITEMS
    assert turns["m3", True] == 0
    assert len(real_calls(calls)) == sum(turns.values())
    # Those who say nothing usable leave the ranking to the others.
    board = boards_by_protocol(tmp_path / "out")["peer_review"]
    assert board.n_items == ITEMS
    ranks = only_panel(tmp_path / "out").ranks
    assert np.isnan(ranks[:, [0, 2]]).all()
    assert np.array_equal(ranks[:, 3], expected_ranks([{}])[:, 0])


def test_a_small_context_leaves_out_the_longest(tmp_path: Path, calls: Path) -> None:
    def lengthy(model: int, item: int) -> str:
        return answer(model, item) + " at great length" * (100 if model == 1 and item > 2 else 0)

    pool = write_pool(tmp_path / "logs", N, ITEMS, lengthy)
    peers = [*NOISY[:3], "planted/context=2500"]
    log = review(pool, tmp_path / "out", peers)
    assert log.status == "success"
    items = ballots_of(log)
    assert {name: item.listings[3].left_out for name, item in items.items()} == {
        **dict.fromkeys(["q0", "q1", "q2"], ()),
        **dict.fromkeys(["q3", "q4", "q5"], ("m1",)),
    }
    for item in items.values():
        *others, small = item.listings
        assert not any(one.left_out for one in others)
        assert sorted((*small.shown, *small.left_out)) == MODELS
        assert small.unscored is None
        calls_of = [call for call in item.calls if call.reviewer == "m3"]
        assert len(calls_of) == len(small.left_out) + 1
        assert not any(call.repair for call in calls_of)
    panel = only_panel(tmp_path / "out")
    assert np.array_equal(np.isnan(panel.shown), np.isnan(panel.ranks))
    # The question that was too long is not asked again either.
    paid = len(real_calls(calls))
    assert said(review(pool, tmp_path / "again", peers)) == said(log)
    assert len(real_calls(calls)) == paid


def test_sparse_reviews(pool: Path, tmp_path: Path, calls: Path) -> None:
    log = review(pool, tmp_path / "out", degree=2)
    assert len(real_calls(calls)) == N * ITEMS
    panel = only_panel(tmp_path / "out")
    assert panel.degree == 2
    seen = ~np.isnan(panel.shown)
    assert (seen.sum(axis=2) == 2).all()
    assert (seen.sum(axis=1) == 2).all()
    assert not seen[:, range(N), range(N)].any()
    assert len({row.tobytes() for row in seen}) > 1  # drawn for each item
    board = boards_by_protocol(tmp_path / "out")["peer_review"]
    assert board.n_items == ITEMS
    assert said(review(pool, tmp_path / "again", degree=2)) == said(log)


# Reviewers that fail.


def test_one_reviewer_failing_throughout(pool: Path, tmp_path: Path, calls: Path) -> None:
    peers = [*NOISY[:3], "planted/fails=1"]
    log = review(pool, tmp_path / "out", peers)
    assert log.status == "success"
    for item in ballots_of(log).values():
        *others, failed = item.listings
        assert failed.reviewer == "m3"
        assert (failed.unscored or "").startswith("error: planted/fails=1: the provider fails")
        assert failed.groups == ()
        assert [one.unscored for one in others] == [None] * 3
        assert {call.reviewer for call in item.calls} == {"m0", "m1", "m2"}
    panel = only_panel(tmp_path / "out")
    assert np.isnan(panel.ranks[:, 3]).all()
    assert not np.isnan(panel.ranks[:, :3]).any()
    assert boards_by_protocol(tmp_path / "out")["peer_review"].n_items == ITEMS
    # The same command again asks the one that failed, and nobody else.
    review(pool, tmp_path / "again", peers)
    asked = Counter(line.split(":")[0] for line in real_calls(calls))
    assert asked == {**dict.fromkeys((p.split("/")[1] for p in peers[:3]), ITEMS), "fails=1": 12}
    # The others say what they say without it.
    three = review(pool, tmp_path / "three", peers[:3], reviewers=MODELS[:3])
    for name, item in ballots_of(three).items():
        assert item.listings == ballots_of(log)[name].listings[:3]


def test_an_item_about_which_nobody_can_be_asked(tmp_path: Path, calls: Path) -> None:
    def bad(model: int, item: int) -> str:
        return answer(model, item) + (" PROVIDER FAILS" if (model, item) == (2, 1) else "")

    pool = write_pool(tmp_path / "logs", N, 3, bad)
    log = review(pool, tmp_path / "out")
    assert log.status == "error"
    assert [sample.id for sample in log.samples or [] if sample.error] == ["q1"]
    items = ballots_of(log)
    assert [item.complete for item in items.values()] == [True, False, True]
    assert [(one.unscored or "")[:6] for one in items["q1"].listings] == ["error:"] * N
    board = boards_by_protocol(tmp_path / "out")["peer_review"]
    assert board.n_items == 2
    # Sparse reviewers may not be shown the answer at fault, and then nothing fails.
    sparse = review(pool, tmp_path / "sparse", degree=2)
    assert sparse.status == "success"
    failed = [one for one in ballots_of(sparse)["q1"].listings if one.unscored]
    assert len(failed) == 2
    assert all("m2" in one.shown for one in failed)


# The same again, more of it, and parts of it.


def test_the_same_again_pays_nothing_and_says_the_same(
    pool: Path, tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = review(pool, tmp_path / "first")
    made = real_calls(calls)
    assert len(made) == len(set(made)) == N * ITEMS
    assert said(review(pool, tmp_path / "again")) == said(first)
    assert len(real_calls(calls)) == len(made)
    # One more reviewer is all that is new.
    more = review(pool, tmp_path / "more", [*NOISY, "planted/x"], reviewers=[*MODELS, None])
    assert len(real_calls(calls)) == len(made) + ITEMS
    for name, item in ballots_of(more).items():
        assert item.listings[:N] == ballots_of(first)[name].listings
    # Another seed shows the answers in another order; another repetition asks the same afresh.
    other = review(pool, tmp_path / "seed", seed=1)
    assert len(real_calls(calls)) >= len(made) + ITEMS + N * ITEMS - 3
    for name, item in ballots_of(other).items():
        before = [one.shown for one in ballots_of(first)[name].listings]
        assert [one.shown for one in item.listings] != before
    paid = len(real_calls(calls))
    again = review(pool, tmp_path / "repeat", repeat=2)
    assert len(real_calls(calls)) == paid + N * ITEMS
    for name, item in ballots_of(again).items():
        before = [one.shown for one in ballots_of(first)[name].listings]
        assert [one.shown for one in item.listings] == before
    # One at a time, on a machine without the cache: the same bytes.
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    slow = review(pool, tmp_path / "slow", eval_args={"max_samples": 1, "max_connections": 1})
    assert said(slow) == said(first)


def test_epochs_are_rows_of_the_same_items(pool: Path, tmp_path: Path, calls: Path) -> None:
    log = review(pool, tmp_path / "out", eval_args={"epochs": 2})
    assert log.status == "success"
    panel = only_panel(tmp_path / "out")
    assert panel.ranks.shape == (2 * ITEMS, N, N)
    assert Counter(panel.items.tolist()) == dict.fromkeys(range(ITEMS), 2)
    for number in range(ITEMS):
        one, other = panel.ranks[panel.items == number]
        assert np.array_equal(one, other)  # from the cache, or asked at the same time
    assert len(set(real_calls(calls))) == N * ITEMS


def test_a_budget_ends_a_run_well(pool: Path, tmp_path: Path, calls: Path) -> None:
    complete, paid = [], 0
    for number in range(10):
        log = review(pool, tmp_path / f"{number}", max_calls=10)
        before, paid = paid, len(real_calls(calls))
        assert log.status == "success"
        assert paid - before <= 10
        items = ballots_of(log).values()
        complete.append(sum(item.complete for item in items))
        # What was paid for stands in the log, of items that were cut short as well.
        assert sum(not call.cached for item in items for call in item.calls) == paid - before
        if complete[-1] == ITEMS:
            break
    assert complete[0] == 2  # two of four calls each, in ten
    made = real_calls(calls)
    assert len(made) == len(set(made)) == N * ITEMS
    assert said(log) == said(review(pool, tmp_path / "whole"))
    board = boards_by_protocol(tmp_path / "0")["peer_review"]
    assert board.n_items == 2
    assert "budget" in board.unranked[0].reason


def test_a_call_whose_repair_the_budget_refuses_stands_in_the_log(
    pool: Path, tmp_path: Path, calls: Path
) -> None:
    first: dict[str, Any] = {"eval_args": {"limit": 1}}
    log = review(
        pool, tmp_path / "out", ["planted/malformed=1"], reviewers=[None], max_calls=1, **first
    )
    [item] = ballots_of(log).values()
    assert not item.complete
    assert item.listings == ()
    assert [call.repair for call in item.calls] == [False]
    assert len(real_calls(calls)) == 1


def test_shards_are_one_run(pool: Path, tmp_path: Path) -> None:
    whole = review(pool, tmp_path / "whole", degree=2)
    parts = [review(pool, tmp_path / "parts", degree=2, shard=f"{k}/2") for k in (2, 1)]
    assert {name: item for part in parts for name, item in said(part).items()} == said(whole)
    one, other = only_panel(tmp_path / "whole"), only_panel(tmp_path / "parts")
    order = [other.item_ids.index(item) for item in one.item_ids]
    assert np.array_equal(one.ranks, other.ranks[order], equal_nan=True)
    boards = [boards_by_protocol(tmp_path / name)["peer_review"] for name in ("whole", "parts")]
    assert repr(boards[0].rows) == repr(boards[1].rows)


def test_another_panel_is_another_run() -> None:
    """The fingerprint by which shards find each other knows who reviews, and how."""

    def run_of(models: Sequence[str] = NOISY, names: Sequence[str] = MODELS, **how: Any) -> str:
        cast = Cast({name: get_model(m) for name, m in zip(names, models, strict=False)})
        settings = {"degree": None, "method": "kemeny_young", **how}
        return run_id(find_protocol("peer_review"), settings, checked({}), [], lambda: cast)

    runs = [
        run_of(),
        run_of([*NOISY[:3], "planted/x"]),
        run_of(NOISY[:3]),
        run_of(names=MODELS[::-1]),
        run_of(names=[*MODELS[:3], NOISY[3]]),
        run_of(degree=2),
        run_of(method="borda"),
    ]
    assert len(set(runs)) == len(runs)
    assert run_of(NOISY[::-1], MODELS[::-1]) == run_of()


def test_a_run_that_settles_stops_asking(tmp_path: Path, calls: Path) -> None:
    pool = write_pool(tmp_path / "logs", 3, 30)
    log = review(
        pool, tmp_path / "out", ["planted/a=1", "planted/b=2"], reviewers=None, settle=True,
        eval_args={"max_samples": 1},
    )  # fmt: skip
    items = ballots_of(log).values()
    judged = [item for item in items if item.complete]
    assert 3 < len(judged) < 30
    assert all(item.skipped for item in items if not item.complete)
    assert only_panel(tmp_path / "out").ranks.shape == (len(judged), 2, 3)


def test_identical_answers_are_shown_once(tmp_path: Path, calls: Path) -> None:
    def twins(model: int, item: int) -> str:
        return "four" if item == 1 else answer(0 if model == 1 else model, item)

    pool = write_pool(tmp_path / "logs", N, 2, twins)
    log = review(pool, tmp_path / "out")
    items = ballots_of(log)
    assert items["q1"].calls == ()
    assert len(real_calls(calls)) == N
    assert all(sorted(one.shown) == ["m0", "m2", "m3"] for one in items["q0"].listings)
    panel = only_panel(tmp_path / "out")
    assert np.array_equal(panel.ranks[0, :, 0], panel.ranks[0, :, 1])
    assert [one.name for one in panel.reviewers] == MODELS
    assert np.isnan(panel.ranks[1]).all()
    # Three others there are not: all are shown, as without a degree.
    assert said(review(pool, tmp_path / "sparse", degree=3)) == said(log)
    assert len(real_calls(calls)) == N


def test_killed_and_retried_nothing_is_lost_or_paid_twice(
    pool: Path, tmp_path: Path, calls: Path
) -> None:
    peers = [f"planted/noise=0.3+malformed=0.2+delay=0.1+seed={m}" for m in range(N)]
    whole = review(pool, tmp_path / "whole", peers)
    wanted = real_calls(calls)

    env = {"PLANTED_CALLS": str(tmp_path / "more"), "INSPECT_CACHE_DIR": str(tmp_path / "cache")}
    command = ["inspect", "eval", "tiebreak/peer_review", "-T", f"candidates={pool}"]
    command += ["-T", f"reviewers=[{', '.join(MODELS)}]"]
    command += ["--model-role", f"peers=[{', '.join(peers)}]", "--max-samples", "1"]
    killed = subprocess.Popen(
        [str(BIN / command[0]), *command[1:], "--log-dir", "out"],
        cwd=tmp_path,
        env=environment(PWD=str(tmp_path), **env),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(real_calls(tmp_path / "more")) < len(wanted) // 2:
        assert killed.poll() is None, "ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    [first] = list_eval_logs(str(tmp_path / "out"))
    assert read_eval_log(first, header_only=True).status == "started"

    # It knows the reviewers, and which candidates they are, from the log.
    run("inspect", "eval-retry", first.name, "--log-dir", "out", cwd=tmp_path, code=0, **env)
    log = max(logs_in(tmp_path / "out"), key=lambda one: one.eval.created)
    assert log.status == "success"
    assert said(log) == said(whole)
    made = real_calls(tmp_path / "more")
    assert set(made) == set(wanted)
    # As many as are asked at the same time may have been under way when the process died.
    assert len(made) - len(set(made)) <= N
