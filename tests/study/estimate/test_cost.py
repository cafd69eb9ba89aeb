"""`estimate_cost`: files or a pool, and plain names."""

from pathlib import Path
from typing import Any

import pytest

from tests.candidates.builders import make_rows, write_inspect_log
from tiebreak.candidates import CandidateError, load_candidates
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.cost import estimate_cost


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for model in "abc":
        rows = make_rows(4, answer=f"{model}: {{i}}")
        write_inspect_log(tmp_path / "logs", model, rows[: 4 if model != "c" else 3])
    return tmp_path / "logs"


@pytest.mark.slow
def test_files_and_a_pool_cost_the_same(logs: Path) -> None:
    how: dict[str, Any] = {"mode": "intersect", "rename": {"gsm8k": "maths"}}
    options: dict[str, Any] = {"judge": "openai/gpt-5", "prices": ["1,10"]}
    protocols = "full_pairwise,peer_review"
    pool = load_candidates(logs, **how)
    by_pool = estimate_cost(pool, protocols, peers="x/a,y/b,z/c", **options)
    peers = ["x/a", "y/b", "z/c"]
    by_files = estimate_cost(str(logs), protocols.split(","), peers=peers, **how, **options)
    assert by_files == by_pool
    assert by_pool.benchmarks == ("maths",)
    # Three items of three pairs, one in both orders; three reviews of each item.
    assert [row.calls.likely for row in by_pool.protocols] == [12, 9]
    # What is asked wrongly is said before anything is loaded.
    with pytest.raises(EstimateError, match="asks a judge"):
        estimate_cost(logs / "nowhere", "seal")
    with pytest.raises(CandidateError, match="does not exist"):
        estimate_cost(logs / "nowhere", "seal", judge="openai/gpt-5")


@pytest.mark.slow
def test_reviewers_as_a_mapping_or_as_text(logs: Path) -> None:
    panel: dict[str, Any] = {"peers": "x/1,x/2,x/3", "mode": "intersect"}
    as_text = estimate_cost(logs, "peer_review", reviewers="{x/1: a, x/2: b, x/3: c}", **panel)
    mapping = {"x/1": "a", "x/2": "b", "x/3": "c"}
    as_mapping = estimate_cost(logs, "peer_review", reviewers=mapping, **panel)
    assert as_text == as_mapping
    assert [one.candidate for one in as_text.reviewers] == ["a", "b", "c"]
