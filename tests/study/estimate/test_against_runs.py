"""The estimate against what real runs with the planted judge were billed."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from unittest.mock import patch

import pytest
from inspect_ai import eval
from inspect_ai.model import get_model

from tests.candidates.builders import make_rows, write_inspect_log
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.analysis.receipt import Receipt
from tiebreak.candidates import PROTOCOL_KEY, load_candidates
from tiebreak.inspect_tasks.contests import contest_samples, restore_contest
from tiebreak.scorers.catalogue import ONE_JUDGE
from tiebreak.scorers.contest import Contest
from tiebreak.study.estimate.cost import read_experience, read_protocols
from tiebreak.study.estimate.dry_judge import TokenCounter
from tiebreak.study.estimate.estimate import Estimate, Judges, ProtocolEstimate, estimate
from tiebreak.study.estimate.experience import Experience
from tiebreak.study.estimate.prices import PricedModel
from tiebreak.study.estimate.totals import Range

pytestmark = pytest.mark.slow

JUDGE = "planted/noise=0.3+scale=1"
# As the planted judge counts.
QUARTERS = TokenCounter("a quarter of the characters", lambda text: len(text) // 4)
UNEVEN = ("flat_bracket", "seal", "swiss", "sorted", "round_robin")
"""Protocols whose calls differ between items with as many answers: by results, or by the schedule,
which may let two models with the same answer meet."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of six models, some answers the same, and a ranking log of each protocol."""
    folder = tmp_path_factory.mktemp("runs")
    for model in range(5):
        rows = make_rows(10)
        for i, row in enumerate(rows):
            quality = (model * 7 + i * 3) % 5 / 5 + (model if i % 4 else model // 2)
            row["answer"] = f"{'Because. ' * (i % 7 * (model + 1))}quality={quality:.2f}"
        write_inspect_log(folder / "logs", f"acme/model-{model}", rows)
    logs = eval(
        [f"tiebreak/{protocol}" for protocol in ONE_JUDGE],
        task_args={"candidates": str(folder / "logs")},
        model_roles={"judge": JUDGE},
        log_dir=str(folder / "out"),
        log_realtime=False,
    )
    for log in logs:
        assert log.status == "success"
        shutil.copy(log.location, folder / f"{(log.eval.metadata or {})[PROTOCOL_KEY]}.eval")
    return folder


@pytest.fixture(scope="module")
def billed(folder: Path) -> Mapping[str, Receipt]:
    return {name: leaderboards([folder / f"{name}.eval"])[0].receipt for name in ONE_JUDGE}


def contests_of(logs: Path) -> list[Contest]:
    samples = contest_samples(load_candidates([logs]))
    return [restore_contest(sample.metadata or {}) for sample in samples]


def estimated(folder: Path, protocols: str, log: str | None = None, seed: int = 0) -> Estimate:
    return estimate(
        contests_of(folder / "logs"),
        read_protocols(protocols),
        Judges(JUDGE),
        QUARTERS,
        experience=read_experience(str(folder / f"{log}.eval")) if log else None,
        seed=seed,
    )


@pytest.fixture(scope="module")
def rows(folder: Path) -> Mapping[str, ProtocolEstimate]:
    # As often as the planted judge's are, of all pairs: refined checklists make prompts longer.
    with patch("tiebreak.study.estimate.estimate.CLOSE", Range(0.0, 0.04, 1.0)):
        return {row.label: row for row in estimated(folder, "all").protocols}


@pytest.mark.parametrize("protocol", ONE_JUDGE)
def test_calls(
    protocol: str, rows: Mapping[str, ProtocolEstimate], billed: Mapping[str, Receipt]
) -> None:
    row, bill = rows[protocol], billed[protocol]
    if protocol in UNEVEN:
        assert row.calls.low <= bill.n_calls <= row.calls.high
    else:
        assert row.calls == (bill.n_calls,) * 3
    assert row.depth.low <= bill.depth_max <= row.depth.high


# The planted judge's rubric is a few words, which come back in every prompt of `fixed_rubric`.
@pytest.mark.parametrize("protocol", [name for name in ONE_JUDGE if name != "fixed_rubric"])
def test_input_tokens(
    protocol: str, rows: Mapping[str, ProtocolEstimate], billed: Mapping[str, Receipt]
) -> None:
    row, bill = rows[protocol], billed[protocol]
    if protocol in ("original", "pointwise", "listwise", "full_pairwise"):
        # The very same prompts.
        assert row.tokens_in.likely == pytest.approx(bill.input_tokens, rel=1e-9)
    else:
        # Its critiques and new checklist items are brief as well.
        assert 0.97 * row.tokens_in.low <= bill.input_tokens <= row.tokens_in.high
    per_call = bill.input_tokens / max(bill.n_calls, 1)
    likely = row.tokens_in.likely / max(row.calls.likely, 1)
    assert likely == pytest.approx(per_call, rel=0.1)


# In the adaptive ones other matches are close than were in the run.
@pytest.mark.parametrize(("protocol", "within"), [("full_pairwise", 0.01), ("swiss", 0.12)])
def test_from_the_log_of_the_run_itself(
    protocol: str, within: float, folder: Path, billed: Mapping[str, Receipt]
) -> None:
    bill = billed[protocol]
    rows = [estimated(folder, protocol, protocol, seed=seed).protocols[0] for seed in range(5)]
    tokens_in, tokens_out = (
        median(getattr(row, name).likely for row in rows) for name in ("tokens_in", "tokens_out")
    )
    assert tokens_in == pytest.approx(bill.input_tokens, rel=within)
    assert tokens_out == pytest.approx(bill.output_tokens, rel=within)
    for row in rows:
        assert row.tokens_out.low <= bill.output_tokens <= row.tokens_out.high


def test_a_pilot_tells_what_another_protocol_costs(
    folder: Path, billed: Mapping[str, Receipt]
) -> None:
    """How often matches are close is learnt from all pairs, and holds for brackets."""
    [row] = estimated(folder, "swiss", "full_pairwise").protocols
    assert row.calls.likely == pytest.approx(billed["swiss"].n_calls, rel=0.15)


PEERS = tuple(f"planted/noise=0.3+seed={seed}" for seed in range(4))
OUTSIDER = "planted/noise=1"


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of five models, of which four and a stranger review, and the logs of their reviews."""
    folder = tmp_path_factory.mktemp("panel")
    for number, model in enumerate((*PEERS, "acme/silent")):
        rows = make_rows(8)
        for i, row in enumerate(rows):
            # The fewer bits count, the more answers are the same.
            quality = number >> i % 3
            row["answer"] = f"{'Because. ' * (i * quality)}quality={quality}"
        write_inspect_log(folder / "logs", model, rows)
    for degree in (None, 2, 4):
        [log] = eval(
            "tiebreak/peer_review",
            task_args={"candidates": str(folder / "logs"), "degree": degree},
            model_roles={"peers": [get_model(model) for model in (*PEERS, OUTSIDER)]},
            log_dir=str(folder / "out"),
            log_realtime=False,
        )
        assert log.status == "success"
        shutil.copy(log.location, folder / f"{degree}.eval")
    return folder


@pytest.mark.parametrize("degree", [None, 2, 4])
def test_peer_review(degree: int | None, panel: Path) -> None:
    """The very same prompts, in sparse mode too: the graphs come from the items' seed."""
    log = panel / f"{degree}.eval"
    bill = leaderboards([log])[0].receipt

    def row(experience: Experience | None) -> ProtocolEstimate:
        [found] = estimate(
            contests_of(panel / "logs"),
            read_protocols(f"peer_review:degree={degree or 'null'}"),
            Judges(peers=tuple(map(PricedModel, (*PEERS, OUTSIDER)))),
            QUARTERS,
            experience=experience,
        ).protocols
        return found

    counted, learnt = row(None), row(read_experience(str(log)))
    assert counted.calls == learnt.calls == (bill.n_calls,) * 3 == (8 * 5,) * 3
    assert counted.depth == (bill.depth_max,) * 3
    assert counted.tokens_in.likely == bill.input_tokens
    # Means by reviewer, rounded for every call.
    assert learnt.tokens_in.likely == pytest.approx(bill.input_tokens, abs=bill.n_calls / 2)
    assert learnt.tokens_out.likely == pytest.approx(bill.output_tokens, abs=bill.n_calls / 2)
