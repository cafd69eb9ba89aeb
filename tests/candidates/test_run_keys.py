import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.candidates.run_keys import Shard


@pytest.mark.parametrize(("text", "shard"), [("3/8", (3, 8)), ("1/1", (1, 1)), ("10/10", (10, 10))])
def test_reading(text: str, shard: tuple[int, int]) -> None:
    assert Shard.parse(text) == shard
    assert str(Shard.parse(text)) == text


@pytest.mark.parametrize(
    "bad", ["0/8", "9/8", "3", "3/", "/8", "3/0", "-1/8", " 3/8", "3/8\n", "3/8/2", "٣/8", 3, None]
)
def test_anything_else_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match=r"it must be K/N, part K of N parts, such as 1/8"):
        Shard.parse(bad)


def test_every_eighth_item() -> None:
    assert Shard(3, 8).part_of(range(1, 21)) == [3, 11, 19]
    assert Shard(3, 8).part_of("ab") == []


@pytest.mark.slow
@given(st.integers(0, 50), st.integers(1, 12))
def test_shards_are_a_partition_into_even_parts(n_items: int, total: int) -> None:
    parts = [Shard(number, total).part_of(range(n_items)) for number in range(1, total + 1)]
    assert sorted(item for part in parts for item in part) == list(range(n_items))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
