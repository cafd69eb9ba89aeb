"""The schedule of votes: every pair and side equally often, nothing identical, each in turn."""

from collections import Counter
from itertools import combinations
from math import comb
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.people.serving import votes_file, votes_item
from tiebreak.people.turns import BallotBox, Turn, Turns, next_turn
from tiebreak.ranking_logs.votes_file import Choice, PersonVote, VotesItem, VotesKind, VotesMeta

SHORT = settings(max_examples=40)


def items(n: int, n_models: int, benchmark: str = "sums") -> list[VotesItem]:
    names = [f"m{k}" for k in range(n_models)]
    return [votes_item(i, {name: f"{i} {name}" for name in names}, benchmark) for i in range(n)]


def schedule(
    voted: list[VotesItem],
    *,
    kind: VotesKind = "matches",
    seed: int = 0,
    shared_every: int = 5,
    only: dict[str, tuple[tuple[str, str], ...]] | None = None,
) -> Turns:
    meta = VotesMeta(
        kind=kind, seed=seed, created="", sources=(), shared_every=shared_every, open=only
    )
    return Turns(meta, [item.ballots for item in voted])


def all_turns(turns: Turns) -> list[Turn]:
    return [turn for number in range(len(turns)) if (turn := turns.turn(number))]


@SHORT
@given(st.integers(1, 40), st.integers(2, 7), st.integers(0, 5))
def test_all_pairs_of_all_items_once(n: int, n_models: int, seed: int) -> None:
    turns = all_turns(schedule(items(n, n_models), seed=seed))
    met = Counter((turn.item, frozenset((turn.first, turn.second))) for turn in turns)
    pairs = [frozenset(pair) for pair in combinations([f"m{k}" for k in range(n_models)], 2)]
    assert met == Counter((item, pair) for item in range(n) for pair in pairs)
    assert {turn.weight for turn in turns} == {1.0}
    assert all(turn.asked for turn in turns)


@SHORT
@given(st.integers(1, 40), st.integers(2, 7), st.integers(0, 5))
def test_every_beginning_is_balanced(n: int, n_models: int, seed: int) -> None:
    """Within the first pass pairs differ by one, and the sides of a pair by two."""
    turns = all_turns(schedule(items(n, n_models), seed=seed))
    pairs: Counter[frozenset[str]] = Counter()
    sides: Counter[tuple[str, str]] = Counter()
    for number, turn in enumerate(turns[:n], start=1):
        pairs[frozenset((turn.first, turn.second))] += 1
        sides[turn.first, turn.second] += 1
        assert max(pairs.values()) - number // comb(n_models, 2) <= 1
        assert all(abs(count - sides[b, a]) <= 2 for (a, b), count in sides.items())
    assert len({turn.item for turn in turns[:n]}) == n


def test_orders_are_drawn_by_the_seed() -> None:
    voted = items(60, 4)
    orders = [
        [(turn.item, turn.first, turn.second) for turn in all_turns(schedule(voted, seed=seed))]
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]


def test_what_is_identical_is_never_asked() -> None:
    voted = [
        votes_item(0, {"a": "1", "b": "1", "c": "2", "d": "2"}),
        votes_item(1, {"a": "1", "b": "1", "c": "1", "d": "1"}),
    ]
    turns = all_turns(schedule(voted))
    asked = [turn for turn in turns if turn.asked]
    # Of the first item the same two answers would meet four times, of the second never.
    assert [(turn.item, {turn.first, turn.second} & {"a", "b"} != set()) for turn in asked] == [
        (0, True)
    ]
    assert len(turns) == 12


def test_stars_rate_every_answer_once() -> None:
    voted = [votes_item(0, {"a": "1", "b": "1", "c": "2"}), *items(4, 3, "other")]
    turns = all_turns(schedule(voted, kind="stars"))
    assert {turn.second for turn in turns} == {""}
    asked = Counter(turn.item for turn in turns if turn.asked)
    assert asked == {0: 2, 1: 3, 2: 3, 3: 3, 4: 3}


def test_open_pairs_carry_how_much_oftener_they_are_asked() -> None:
    voted = [*items(6, 4), *items(3, 4, "other")]
    turns = all_turns(schedule(voted, only={"sums": (("m1", "m0"), ("m2", "m3"))}))
    assert Counter(frozenset((turn.first, turn.second)) for turn in turns) == {
        frozenset(("m0", "m1")): 6,
        frozenset(("m2", "m3")): 6,
    }
    assert {turn.weight for turn in turns} == {2 / 6}
    assert {voted[turn.item].ballots.benchmark for turn in turns} == {"sums"}


def voting(turns: Turns, raters: str, choice: Choice = "first") -> list[PersonVote]:
    """The votes of raters who answer in this order."""
    votes: list[PersonVote] = []
    for rater in raters:
        turn, passed = next_turn(turns, votes, rater)
        given: list[tuple[Turn, Choice]] = [(other, "identical") for other in passed]
        for entry, said in given + ([(turn, choice)] if turn else []):
            about = {"item": entry.item, "first": entry.first, "second": entry.second}
            votes.append(
                PersonVote(**about, turn=entry.number, choice=said, rater=rater, at="")  # type: ignore[arg-type]
            )
    return votes


@SHORT
@given(st.text("abc", min_size=1, max_size=60), st.integers(0, 6), st.integers(0, 3))
def test_raters_have_one_of_so_many_in_common(order: str, every: int, seed: int) -> None:
    turns = schedule(items(12, 3), shared_every=every, seed=seed)
    votes = voting(turns, order)
    assert len({(vote.rater, vote.turn) for vote in votes}) == len(votes)
    for turn, raters in Counter(vote.turn for vote in votes).items():
        assert raters == 1 or turns.shared(turn)
    for rater in "abc":
        shared = [turns.shared(vote.turn) for vote in votes if vote.rater == rater]
        # They see shared turns in the same order, the first at once, and then each in its turn.
        if every and len(votes) < 30:
            assert sum(shared) == -(-len(shared) // every)


def test_everything_is_asked_in_the_end_and_passed_where_it_is_identical() -> None:
    voted = [votes_item(0, {"a": "1", "b": "1", "c": "2"}), *items(3, 3, "other")]
    turns = schedule(voted, shared_every=0)
    votes = voting(turns, "ab" * 10)
    # One of the two meetings of the same two answers, and the other pair, are passed.
    n_asked = sum(turn.asked for turn in all_turns(turns))
    assert Counter(vote.choice for vote in votes)["first"] == n_asked == 10
    assert next_turn(turns, votes, "c")[0] is None


def test_what_is_passed_after_the_last_vote_is_kept(tmp_path: Path) -> None:
    twins = [votes_item(0, {"a": "1", "b": "1"})]
    with votes_file(tmp_path / "stars.db", twins, kind="stars", shared_every=0) as file:
        box = BallotBox(file)
        asked = box.question("ann")
        assert asked is not None
        assert box.keep("ann", asked.turn, "3")
        assert [box.question("ann") for _ in range(2)] == [None, None]
        assert [vote.choice for vote in file.votes()] == ["3", "identical"]
        assert {vote.first for vote in file.votes()} == {"a", "b"}


def test_what_is_skipped_or_looked_at_goes_as_it_should() -> None:
    turns = schedule(items(3, 2), shared_every=0)
    [skipped] = voting(turns, "a", "skip")
    mine, _ = next_turn(turns, [skipped], "a")
    other, _ = next_turn(turns, [skipped], "b")
    assert mine is not None
    assert other is not None
    assert (other.number, mine.number) == (skipped.turn, skipped.turn + 1)
    later, _ = next_turn(turns, [skipped], "c", handed=[other.number])
    assert later == mine


@pytest.mark.slow
def test_a_large_board_is_quick_enough_to_vote_on(tmp_path: Path) -> None:
    turns = schedule(items(2_000, 20))
    assert len(voting(turns, "ab" * 20)) == 40
