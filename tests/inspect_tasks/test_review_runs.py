"""Peer reviews that fail in part, that are run again or in parts, or are cut short."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.inspect_tasks.reviews import ITEMS, MODELS, NOISY, N, answer, only_panel, review, said
from tests.inspect_tasks.runs import ballots_of, boards_by_protocol, real_calls, write_pool
from tiebreak.scorers.model_judge import ATTEMPTS

pytestmark = pytest.mark.slow


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
    failing = {"fails=1": 2 * ITEMS * ATTEMPTS}
    assert asked == {**dict.fromkeys((p.split("/")[1] for p in peers[:3]), ITEMS), **failing}
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


def test_a_call_whose_repair_the_budget_refuses_stands_in_the_log(
    pool: Path, tmp_path: Path, calls: Path
) -> None:
    first: dict[str, Any] = {"eval_args": {"limit": 1}}
    peers = ["planted/malformed=1", "planted/malformed=1+seed=1"]
    log = review(pool, tmp_path / "out", peers, reviewers=[None] * 2, max_calls=2, **first)
    [item] = ballots_of(log).values()
    assert not item.complete
    assert item.listings == ()
    assert [call.repair for call in item.calls] == [False] * 2
    assert len(real_calls(calls)) == 2


def test_shards_are_one_run(pool: Path, tmp_path: Path) -> None:
    whole = review(pool, tmp_path / "whole", degree=2)
    parts = [review(pool, tmp_path / "parts", degree=2, shard=f"{k}/2") for k in (2, 1)]
    assert {name: item for part in parts for name, item in said(part).items()} == said(whole)
    one, other = only_panel(tmp_path / "whole"), only_panel(tmp_path / "parts")
    order = [other.item_ids.index(item) for item in one.item_ids]
    assert np.array_equal(one.ranks, other.ranks[order], equal_nan=True)
    boards = [boards_by_protocol(tmp_path / name)["peer_review"] for name in ("whole", "parts")]
    assert repr(boards[0].rows) == repr(boards[1].rows)
