"""Who reviews whom in a peer review: roles, names, and what is refused."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai.model import get_model

from tests.candidates.builders import write_inspect_log
from tests.harness import run_here
from tests.inspect_tasks.reviews import MODELS, NOISY, only_panel, review
from tests.inspect_tasks.runs import ballots_of, logs_in
from tiebreak.inspect_tasks.arguments import checked
from tiebreak.inspect_tasks.judging import run_id
from tiebreak.inspect_tasks.roles import Roles
from tiebreak.scorers.ballots import Reviewer
from tiebreak.scorers.protocols import find_protocol

pytestmark = pytest.mark.slow


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
    run_here(
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


def test_another_panel_is_another_run() -> None:
    """The fingerprint by which shards find each other knows who reviews, and how."""

    def run_of(models: Sequence[str] = NOISY, names: Sequence[str] = MODELS, **how: Any) -> str:
        roles = Roles({name: get_model(m) for name, m in zip(names, models, strict=False)})
        settings = {"degree": None, "method": "kemeny_young", **how}
        return run_id(find_protocol("peer_review"), settings, checked({}), [], lambda: roles)

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
