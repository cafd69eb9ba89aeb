"""All protocols side by side: what they ask, what they find, and how one gets its name."""

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.cases import cases
from tests.expected import check
from tests.scorers.judges import ONCE, NotingJudge, contest_of, judged, ladder, names, words
from tests.scorers.tournament import planted_contest, play_all
from tiebreak.scorers import protocols
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.bracket import rounds
from tiebreak.scorers.catalogue import ONE_JUDGE, PROTOCOLS
from tiebreak.scorers.placement import place
from tiebreak.scorers.protocols import (
    find_protocol,
    protocol,
    read_variant,
    split_labels,
)
from tiebreak.scorers.ranking import ballots_table
from tiebreak.scorers.session import ProtocolError, Session

Count = Callable[[int], int]


def swiss_rounds(n: int, wanted: int) -> int:
    """n candidates have n - 1 opponents each, and one that sits out has a round more."""
    return min(wanted, n - 1 if n % 2 == 0 else n)


# Protocol, settings beside those of ONCE, calls for n candidates, and how many follow each other.
COUNTS: list[tuple[str, dict[str, Any], Count, Count]] = [
    ("original", {}, lambda n: 0, lambda n: 0),
    ("pointwise", {}, lambda n: n, lambda n: 1),
    ("fixed_rubric", {}, lambda n: n + 1, lambda n: 2),
    ("listwise", {}, lambda n: 1, lambda n: 1),
    ("flat_bracket", {}, lambda n: 1 + (n - 1), lambda n: 1 + rounds(n)),
    ("flat_bracket", {"tiers": 1}, lambda n: n - 1, rounds),
    ("flat_bracket", {"swap": "always"}, lambda n: 1 + 2 * (n - 1), lambda n: 1 + rounds(n)),
    ("seal", {}, lambda n: 1 + (n - 1), lambda n: 1 + rounds(n)),
    ("round_robin", {}, lambda n: n // 2, lambda n: 1),
    ("full_pairwise", {}, lambda n: n * (n - 1) // 2, lambda n: 1),
    ("full_pairwise", {"swap": "always"}, lambda n: n * (n - 1), lambda n: 1),
    ("full_pairwise", {"swap": "sample"}, lambda n: n * (n - 1) // 2 + 1, lambda n: 1),
    *(
        (
            "swiss",
            {"rounds": wanted},
            lambda n, wanted=wanted: 1 + swiss_rounds(n, wanted) * (n // 2),
            lambda n, wanted=wanted: 1 + swiss_rounds(n, wanted),
        )
        for wanted in (1, 2, 3)
    ),
]


@pytest.mark.parametrize(
    ("name", "settings", "calls", "depth"), COUNTS, ids=[f"{c[0]} {c[1] or ''}" for c in COUNTS]
)
@pytest.mark.parametrize("twins", [0, 3])
def test_calls_and_depth(
    name: str, settings: dict[str, Any], calls: Count, depth: Count, twins: int
) -> None:
    if name == "round_robin" and twins:
        pytest.skip("who meets whom depends on models there, not on answers: test_round_robin.py")
    for n in range(2, 11):
        # Models that gave the best candidate's answer again cost nothing.
        more = {names(n)[0]: [f"twin{i}" for i in range(twins)]}
        judge = NotingJudge(ladder(n))
        contest = contest_of(n, twins=more)
        ballots = judged(name, contest, judge, **{**ONCE.get(name, {}), **settings})
        assert len(judge.asked) == len(ballots.calls) == calls(n), n
        assert max((call.depth + 1 for call in ballots.calls), default=0) == depth(n), n
        assert ballots.complete
        # Who sat out the only round has met nobody.
        sat_out = not PROTOCOLS[name].ranks_everyone and settings.get("rounds", 1) == 1 and n % 2
        assert len(place(ballots).ranks) == n + twins - sat_out


def test_everything_that_may_be_asked_is_covered_here() -> None:
    assert {case[0] for case in COUNTS} | {"sorted"} == set(ONE_JUDGE)  # test_baselines.py


@pytest.mark.parametrize("name", ONE_JUDGE)
def test_identical_answers_share_the_rank_that_they_earn(name: str) -> None:
    contest = planted_contest({"a": 9.0, "b": 5.0, "c": 1.0}, twins={"b": ("x", "y")})
    contest = replace(contest, native={"a": 1.0, "b": 0.5, "x": 0.5, "y": 0.5, "c": 0.0})
    all_pairs = {"rounds": 5} if name == "round_robin" else {}
    judge = NotingJudge({"a": 9.0, "b": 5.0, "c": 1.0})
    ranks = place(judged(name, contest, judge, **all_pairs)).ranks
    assert ranks["b"] == ranks["x"] == ranks["y"]
    # Places 2 to 4 for the three: mean 3.
    assert not PROTOCOLS[name].orders_all or ranks == {"a": 1, "b": 3, "x": 3, "y": 3, "c": 5}


# Where protocols part: a > b > … > h, but the seeding call takes a for the worst, so that the two
# best meet in the first round (with this seed: b c d e f g h a); the ranking call puts c first. The
# margin of a match is 1/8 for neighbours, 2/8 for the next ones, and so on.
STRENGTH = {name: 9.0 - place for place, name in enumerate("abcdefgh")}
SEEDING = {**STRENGTH, "a": 0.0}
LISTING = {**STRENGTH, "c": 9.5}
# b, the second best, loses to a at once and is fifth: the best of those who lost their first match
# (margins b -1/8 and f -1/8, of which b is the better seed, g -3/8, h -5/8). Of those who lost the
# second, d has the mean margin (3/8 - 1/8) / 2 and e (1/8 - 4/8) / 2.
BRACKET = "a c d e b f g h"
GOLDEN: list[tuple[str, dict[str, Any], str]] = [
    ("original", {}, "a=b=c=d=e=f=g=h"),
    ("pointwise", {}, "a b c d e f g h"),
    ("fixed_rubric", {}, "a b c d e f g h"),
    ("listwise", {}, "c a b d e f g h"),
    ("flat_bracket", {}, BRACKET),
    ("seal", {}, BRACKET),
    # After two rounds c and a have won twice, and c is two tiers above a.
    ("swiss", {"rounds": 2}, "c a d b e g f h"),
    # The third lets a meet c, and b meet d: only e is better than it should be, having met g.
    ("swiss", {"rounds": 3}, "a b c e d f g h"),
    ("sorted", {}, "a b c d e f g h"),
    ("full_pairwise", {}, "a b c d e f g h"),
]


def in_words(ballots: ItemBallots) -> str:
    return " ".join("=".join(sorted(group)) for group in place(ballots).order)


@pytest.mark.parametrize(("name", "settings", "order"), GOLDEN)
def test_where_protocols_part(name: str, settings: dict[str, Any], order: str) -> None:
    judge = NotingJudge(STRENGTH, tiers=SEEDING, places=LISTING, scale=8)
    contest = planted_contest(STRENGTH, seed=1)
    ballots = judged(name, contest, judge, **{**ONCE.get(name, {}), **settings})
    if ballots.seeds:
        assert "".join(ballots.seeds) == "bcdefgha"
    assert in_words(ballots) == order


@pytest.mark.parametrize("name", ONE_JUDGE)
def test_the_same_words_for_the_same_pair(name: str) -> None:
    """What a protocol asks about a pair in its first round is what full_pairwise asks about it."""
    asked = NotingJudge(ladder(8))
    judged("full_pairwise", contest_of(8), asked, **ONCE["full_pairwise"])
    everything = words(asked)
    assert len(everything) == 28
    judge = NotingJudge(ladder(8))
    settings = {**ONCE.get(name, {}), **({"refine": True} if name in ("seal", "swiss") else {})}
    ballots = judged(name, contest_of(8), judge, **settings)
    first = {frozenset((m.high, m.low)) for m in ballots.matches if m.round == 1}
    told = words(judge)
    for pair in told:
        if pair in first or name in ("flat_bracket", "sorted"):
            assert told[pair] == everything[pair]


@pytest.mark.slow
def test_what_one_protocol_asked_the_next_one_finds_in_the_cache(tmp_path: Path) -> None:
    contests = [planted_contest(ladder(8))]
    paid = {}
    for name in ("full_pairwise", "flat_bracket", "seal", "swiss", "sorted"):
        [ballots] = play_all(contests, tmp_path, protocol=name, settings=ONCE[name])
        paid[name] = [call.kind for call in ballots.calls if not call.cached]
    # All pairs have been asked about, and after the bracket the seeding as well.
    assert len(paid.pop("full_pairwise")) == 28
    assert paid == {"flat_bracket": ["seed"], "seal": [], "swiss": [], "sorted": []}


@pytest.mark.parametrize("name", ONE_JUDGE)
def test_a_seed_fixes_every_byte(name: str) -> None:
    def run(seed: int) -> str:
        # Two equal pairs, so that lots matter.
        qualities = {**ladder(6), "m06": 3.0, "m07": 3.0}
        judge = NotingJudge(qualities, scale=8)  # small margins: swaps and refinements happen
        contest = planted_contest(qualities, seed=seed)
        text = judged(name, contest, judge).model_dump_json(exclude={"seed"})
        return text + "".join(str(question.prompt()) for question in judge.asked)

    assert run(1) == run(1)
    # Who is graded on its own, too: the fence's mark has the seed for its salt.
    assert (run(1) != run(2)) == (name != "original")


@pytest.mark.parametrize("name", ONE_JUDGE)
def test_a_judge_that_says_nothing_gives_no_ranking(name: str) -> None:
    judge = NotingJudge(ladder(4), silent=lambda question: True)
    ballots = judged(name, contest_of(4), judge)
    assert ballots.complete
    assert ballots.matches == () or all(match.unscored for match in ballots.matches)
    table = ballots_table(ballots)
    assert ("**Not ranked**" in table) == (name != "original")
    assert ("silent" in table) == (name != "original")


# The registry.


@pytest.fixture
def registry() -> Iterator[dict[str, Any]]:
    before = dict(protocols._registered)
    yield protocols._registered
    protocols._registered.clear()
    protocols._registered.update(before)


async def all_meet(item: Any, candidates: Any, judge: Session, *, pairs: int = 99) -> ItemBallots:
    for first, second in list(combinations(candidates, 2))[:pairs]:
        await judge.match(first, second)
    return judge.ballots


def test_a_protocol_of_ones_own(registry: dict[str, Any]) -> None:
    assert protocol("all_meet", placed_by="win_rate")(all_meet) is all_meet
    ballots = judged("all_meet", contest_of(4), NotingJudge(ladder(4)))
    assert (ballots.protocol, ballots.placed_by) == ("all_meet", "win_rate")
    assert place(ballots).order == (("m00",), ("m01",), ("m02",), ("m03",))
    assert len(judged("all_meet", contest_of(4), NotingJudge(ladder(4)), pairs=2).calls) == 2


def test_two_functions_cannot_share_a_name(registry: dict[str, Any]) -> None:
    protocol("all_meet", placed_by="win_rate")(all_meet)
    protocol("all_meet", placed_by="least_squares")(all_meet)  # the same again is fine
    assert find_protocol("all_meet").placed_by == "least_squares"

    async def other(item: Any, candidates: Any, judge: Session) -> ItemBallots:
        return judge.ballots

    with pytest.raises(ProtocolError, match="'all_meet' is registered already, by"):
        protocol("all_meet", placed_by="win_rate")(other)
    assert find_protocol("all_meet").run is all_meet


@pytest.mark.parametrize("name", ONE_JUDGE)
@pytest.mark.parametrize("module", ["mine", "mine.scorers.seal", "scorers.swiss"])
def test_names_of_built_in_protocols_are_taken(
    name: str, module: str, registry: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.pop(name, None)  # even before it is loaded
    monkeypatch.setattr(all_meet, "__module__", module)
    with pytest.raises(ProtocolError, match="is a built-in protocol: choose another name"):
        protocol(name, placed_by="win_rate")(all_meet)


def test_an_unknown_name_is_answered_with_a_near_one() -> None:
    with pytest.raises(ProtocolError, match=r"No protocol 'swis'\. Did you mean swiss\?"):
        find_protocol("swis")
    with pytest.raises(ProtocolError) as caught:
        find_protocol("xyzzy")
    assert "Did you mean" not in str(caught.value)
    assert all(name in str(caught.value) for name in PROTOCOLS)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "'own' returned NoneType: end it with `return judge.ballots`."),
        (contest_of(2, item_id="other").ballots("own", "win_rate"), "of another item (other)"),
    ],
)
def test_a_protocol_that_returns_something_else_is_told_so(
    returned: ItemBallots | None, words: str, registry: dict[str, Any]
) -> None:
    @protocol("own", placed_by="win_rate")
    async def own(item: Any, candidates: Any, judge: Session) -> Any:
        await judge.match(*candidates)
        return returned

    with pytest.RaisesGroup(pytest.RaisesExc(ProtocolError, match=re.escape(words))):
        judged("own", contest_of(2), NotingJudge(ladder(2)))


@pytest.mark.parametrize(
    "ask",
    [
        lambda judge: judge.match("m00", "zebra"),
        lambda judge: judge.scores(["zebra"]),
        lambda judge: judge.listing(["m00", "zebra"]),
        lambda judge: judge.reviews({"m00": ["m01", "zebra"]}),
    ],
)
def test_a_protocol_that_asks_about_an_unknown_candidate_is_told_so(
    ask: Callable[[Session], Awaitable[Any]], registry: dict[str, Any]
) -> None:
    @protocol("own", placed_by="win_rate")
    async def own(item: Any, candidates: Any, judge: Session) -> ItemBallots:
        await ask(judge)
        return judge.ballots

    words = r"'own' asks about 'zebra', .* Here they are: m00, m01\."
    with pytest.RaisesGroup(pytest.RaisesExc(ProtocolError, match=words)):
        judged("own", contest_of(2), NotingJudge(ladder(2)))


# Labels: what is read, and what is refused and how.


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("seal", ["seal"]),
        ("seal,full_pairwise", ["seal", "full_pairwise"]),
        (" seal , seal,", ["seal"]),
        (
            "seal,swiss:rounds=3,refine=false,sorted:swap=always",
            ["seal", "swiss:rounds=3,refine=false", "sorted:swap=always"],
        ),
        ("swiss:rounds=2,swiss:rounds=3", ["swiss:rounds=2", "swiss:rounds=3"]),
        ("swiss:rounds=3,all", ["swiss:rounds=3", *ONE_JUDGE]),
        ("", []),
    ],
)
def test_split(text: str, labels: list[str]) -> None:
    assert split_labels(text) == labels


@pytest.mark.parametrize(
    ("label", "name", "settings"),
    [
        ("seal", "seal", {}),
        ("seal:swap=never,refine=false,tiers=2", "seal",
         {"swap": "never", "refine": False, "tiers": 2}),
        ("seal:tiers=null", "seal", {"tiers": None}),
        ("swiss:rounds=3", "swiss", {"rounds": 3}),
        ("fixed_rubric", "fixed_rubric", {}),
    ],
)  # fmt: skip
def test_read(label: str, name: str, settings: dict[str, object]) -> None:
    variant = read_variant(label)
    assert variant.protocol is find_protocol(name)
    assert (variant.label, variant.settings) == (label, settings)


REFUSED = cases(__file__, "refused")


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests register protocols of their own.
    registered = protocols._registered.items()
    built_in = {name: protocol for name, protocol in registered if name in PROTOCOLS}
    monkeypatch.setattr(protocols, "_registered", built_in)
    lines = []
    for label in REFUSED:
        with pytest.raises(ProtocolError) as caught:
            read_variant(label)
        lines.append(f"{label} | {caught.value}\n".replace("[" * 1_000, "[…"))
    check(__file__, "refused_labels.txt", "".join(lines))


def test_the_name_may_hold_a_path() -> None:
    asked = []

    def find(name: str) -> object:
        asked.append(name)
        return find_protocol("swiss")

    variant = read_variant("C:\\my files\\p.py@swiss:rounds=4", find)  # type: ignore[arg-type]
    assert asked == ["C:\\my files\\p.py@swiss"]
    assert variant.settings == {"rounds": 4}
