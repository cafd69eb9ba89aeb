import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey
from tiebreak.candidates.hub import unite

MODELS = ("a", "b", "c")


def pool(rows: dict[int, dict[str, str]], *, source: str = "", score: float = 1.0) -> CandidatePool:
    """Item number → model → answer."""
    items = {i: Item(ItemKey("gsm8k", f"q{i}"), f"hash{i}", f"What is {i}?", "") for i in rows}
    candidates = {
        items[i].key: {
            model: Candidate(items[i].key, model, text, native_score=score, source=source)
            for model, text in row.items()
        }
        for i, row in rows.items()
    }
    return CandidatePool(tuple(items.values()), candidates)


def cells(united: CandidatePool) -> dict[tuple[str, str], str]:
    return {(item.item_id, m): c.text for item, row in united for m, c in row.items()}


texts = st.dictionaries(
    st.integers(0, 4), st.dictionaries(st.sampled_from(MODELS), st.sampled_from("xy"), min_size=1)
)


@pytest.mark.slow
@given(st.lists(texts, max_size=4))
def test_the_union_holds_every_first_answer_and_every_contradiction_is_told(
    parts: list[dict[int, dict[str, str]]],
) -> None:
    united, problems = unite({f"file{n}": pool(part) for n, part in enumerate(parts)})
    first: dict[tuple[str, str], tuple[str, int]] = {}
    clashes = set()
    for n, part in enumerate(parts):
        for i, row in part.items():
            for model, text in row.items():
                kept, there = first.setdefault((f"q{i}", model), (text, n))
                if kept != text:
                    clashes.add((model, there, n))
    assert cells(united) == {cell: text for cell, (text, _) in first.items()}
    assert len(problems) == len(clashes)
    for model, there, n in clashes:
        assert any(
            f"'{model}' answered" in p.what and p.what.endswith(f": file{there}, file{n}")
            for p in problems
        )


def test_where_an_answer_came_from_is_no_contradiction_and_no_score_equals_no_score() -> None:
    one = pool({0: {"a": "x"}}, source="a.eval", score=math.nan)
    other = pool({0: {"a": "x"}}, source="b.eval", score=float("nan"))
    united, problems = unite({"p": one, "q": other})
    assert problems == []
    assert united.candidates[ItemKey("gsm8k", "q0")]["a"].source == "a.eval"


def test_another_score_or_another_question_is_a_contradiction() -> None:
    one = pool({0: {"a": "x"}})
    rescored = pool({0: {"a": "x"}}, score=0.0)
    reworded = replace(one, items=(replace(one.items[0], input_hash="other"),))
    for other in (rescored, reworded):
        (problem,) = unite({"p": one, "q": other})[1]
        assert problem.what == "'a' answered item 'q0' in two ways: p, q"
