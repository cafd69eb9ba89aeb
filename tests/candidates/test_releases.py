"""Logs that releases of the two harnesses wrote: each answer reaches the item that it is to.

`releases/README.md` says how they were made. Prompts and answers hold the same QID.
"""

import math
import re
from pathlib import Path

import pytest

from tests.candidates.releases.make_inspect import IMAGES, LONG, SHAPE
from tests.candidates.releases.make_lm_eval import DOCUMENTS
from tiebreak.candidates import CandidatePool, load_candidates

RELEASES = Path(__file__).parent / "releases"
INSPECT = ("0.3.50", "0.3.80", "0.3.110", "0.3.150", "0.3.200", "0.3.250", "0.3.285")
# Some releases keep only the beginning of a long message in the input of a sample.
LONG_TEXT = ("0.3.50", "0.3.150", "0.3.200", "0.3.285")
LM_EVAL = tuple(f"0.4.{patch}" for patch in (2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13))
# From 0.4.7 on rows name their filter.
NAMED_FILTERS = LM_EVAL[4:]
# variant: the native score of each answer of alpha
VARIANTS = {"one_filter": 1.0, "two_filters": 0.0, "predict_only": math.nan}


def inspect_pool(release: str, log: str) -> CandidatePool:
    return load_candidates(RELEASES / f"inspect-{release}" / log, alone=True)


def lm_eval_pool(release: str, variant: str, filter: str | None = None) -> CandidatePool:
    folder = RELEASES / f"lm-eval-{release}" / variant
    return load_candidates(folder, alone=True, filter=filter)


def qids(text: str) -> list[str]:
    return re.findall(r"QID=\d+", text)


def check_answers(pool: CandidatePool) -> None:
    """Each item has one QID, and its answers have the same."""
    for item, row in pool:
        [qid] = qids(item.prompt)
        assert [qids(answer.text) for answer in row.values()] == [[qid]] * len(row)


def hashes(pool: CandidatePool) -> set[str]:
    return {item.input_hash for item in pool.items}


@pytest.mark.parametrize("log", ["eval", "json"])
@pytest.mark.parametrize("release", INSPECT)
def test_inspect(release: str, log: str) -> None:
    pool = inspect_pool(release, log)
    assert (pool.benchmarks, pool.models, pool.notes) == (("shapes",), ("reader/alpha",), ())
    assert {item.item_id for item in pool.items} == {"text", "system", *IMAGES}
    check_answers(pool)
    answers = [row["reader/alpha"] for _, row in pool]
    assert {(answer.native_metric, answer.native_score) for answer in answers} == {("includes", 1)}
    assert {(answer.input_tokens, answer.output_tokens) for answer in answers} == {(7, 11)}


@pytest.mark.parametrize("log", ["eval", "json"])
@pytest.mark.parametrize("release", INSPECT)
def test_inspect_images(release: str, log: str) -> None:
    """Two items differ by nothing but their images."""
    pool = inspect_pool(release, log)
    items = [item for item in pool.items if item.item_id in IMAGES]
    assert [item.prompt for item in items] == [SHAPE] * 2
    assert len({item.input_hash for item in items}) == 2
    for item in items:
        [medium] = item.media
        assert (medium.kind, medium.source) == ("image", IMAGES[item.item_id])
        assert f", {item.item_id}. " in pool.candidates[item.key]["reader/alpha"].text
    assert len({item.media[0].digest for item in items} - {""}) == 2


@pytest.mark.parametrize("release", LONG_TEXT)
def test_inspect_long_text(release: str) -> None:
    pool = inspect_pool(release, "long_text")
    [item] = pool.items
    assert item.prompt == LONG
    check_answers(pool)


def test_all_releases_of_inspect_have_the_same_items() -> None:
    logs = [(release, log) for release in INSPECT for log in ("eval", "json")]
    items = [hashes(inspect_pool(*log)) for log in logs]
    assert all(others == items[-1] for others in items)
    assert len(items[-1]) == 4


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("release", LM_EVAL)
def test_lm_eval(release: str, variant: str) -> None:
    pool = lm_eval_pool(release, variant)
    assert pool.benchmarks == ("passages",)
    assert len(pool) == len(DOCUMENTS)
    check_answers(pool)
    documents = {qids(passage)[0]: (passage, *rest) for passage, *rest in DOCUMENTS}
    for item, row in pool:
        passage, question, target = documents[qids(item.prompt)[0]]
        assert passage in item.prompt
        assert question in item.prompt
        assert item.target == target
        score = row["study/alpha"].native_score
        assert score == pytest.approx(VARIANTS[variant], nan_ok=True)
        assert (row["study/alpha"].native_metric is None) == math.isnan(score)


@pytest.mark.parametrize("release", LM_EVAL)
def test_two_models_of_lm_eval_join(release: str) -> None:
    pool = lm_eval_pool(release, "one_filter")
    assert pool.models == ("study/alpha", "study/beta")
    scores = [[row[model].native_score for model in pool.models] for _, row in pool]
    assert scores == [[1.0, 0.0]] * len(DOCUMENTS)


@pytest.mark.parametrize("release", NAMED_FILTERS)
def test_a_filter_of_lm_eval_can_be_chosen(release: str) -> None:
    pool = lm_eval_pool(release, "two_filters", "flexible-extract")
    check_answers(pool)
    assert [row["study/alpha"].native_score for _, row in pool] == [1.0] * len(DOCUMENTS)


def test_all_releases_of_lm_eval_have_the_same_items() -> None:
    runs = [(release, variant) for release in LM_EVAL for variant in VARIANTS]
    items = [hashes(lm_eval_pool(*run)) for run in runs]
    assert all(others == items[-1] for others in items)
    assert len(items[-1]) == len(DOCUMENTS)
