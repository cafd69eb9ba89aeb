"""Whole leaderboards, comparisons and the like, figure by figure; see `test_whole_stars`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from benchmarks.claims import juries
from benchmarks.claims.worlds import FAIR, judged, position_bound, ranking_log
from tests.analysis.judge.test_canaries import judged as planted
from tests.analysis.whole import told
from tests.expected import check
from tests.ranking_logs.builders import (
    all_pairs,
    by_native,
    call,
    graded,
    item,
    listed,
    match,
    skipped,
    write_log,
)
from tiebreak.analysis.comparison import compare
from tiebreak.analysis.frames import ballots_df, leaderboard_df, rankings_df
from tiebreak.analysis.leaderboard import board_of, leaderboards
from tiebreak.analysis.pair import compare_pair
from tiebreak.analysis.stability import stability
from tiebreak.candidates import CONTEST_KEY
from tiebreak.rankers import Resampling
from tiebreak.scorers.ballots import ItemBallots, Tiering

HOW = Resampling(level=0.9, draws=20, seed=1)
DAY = "2026-01-{:02}T00:00:00+00:00"
NATIVE = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.5}


def brackets(n: int = 14) -> list[ItemBallots]:
    """Brackets of four seeds in three tiers: some ties, flips, unscored and unseeded ones."""
    random = Random(3)
    found = []
    for k in range(n):
        seeds = random.sample("abcd", 4)
        worth = {model: random.gauss(-i, 1.5) for i, model in enumerate("abcd")}

        played, winners = [], []
        for slot, (high, low) in enumerate([(seeds[0], seeds[3]), (seeds[1], seeds[2])]):
            margin = None if k == 5 and slot else 0.0 if k == 6 else _gap(worth, high, low)
            second = -margin / 2 if margin and abs(margin) < 0.2 else None
            first = match(high, low, margin, first=(high, low)[(k + slot) % 2], second_order=second)
            played.append(replace(first, slot=slot))
            winners.append(first.winner)
        one, other = winners
        played.append(match(one, other, _gap(worth, one, other), round=2, first=winners[k % 2]))
        calls = [
            call("seed", cost=0.02, depth=0),
            *(call(cost=0.01, depth=1 + own.round, cached=k % 4 == 0) for own in played),
        ]
        tiers = Tiering(tiers=dict(zip(seeds, (1, 1, 2, 3), strict=True)))
        ballots = item(
            f"q{k}",
            played,
            groups=[[seed] for seed in seeds],
            calls=calls,
            native=NATIVE if k % 3 else dict.fromkeys("abcd", 1.0),
        )
        lengths = {m: random.randint(1, 9) for m in "abcd"} if k != 2 else {}
        update = {"tiering": tiers if k != 4 else Tiering(unscored="no tiers"), "lengths": lengths}
        found.append(ballots.model_copy(update=update))
    same = item("same", groups=[("a", "b"), ("c", "d")], matches=[match("a", "c", 0.3)])
    return [*found, same, item("all", groups=[tuple("abcd")])]


def _gap(worth: Mapping[str, float], one: str, other: str) -> float:
    return round(max(-1.0, min(1.0, (worth[one] - worth[other]) / 4)), 3)


def seal(folder: Path) -> Any:
    log = write_log(
        folder / "seal.eval",
        [*brackets(), item("half", complete=False, calls=[call(cost=1.0)])],
        expected=20,
        status="cancelled",
    )
    return leaderboards(log, how=HOW, closure=True, control="length")


def settled(folder: Path) -> Any:
    later = [skipped(f"q{k}", 14, 20, top=2, settle_for="these") for k in (16, 17)]
    earlier = [skipped(f"q{k}", 12, 20) for k in (18, 19)]
    first = brackets(8)[:8]
    log = write_log(folder / "s.eval", [*first, *earlier, *later])
    return [(one.settled, one.verdict.sentence) for one in leaderboards(log, how=HOW)]


def world(*fields: Any, rng: int = 4, **options: Any) -> list[ItemBallots]:
    return judged(np.random.default_rng(rng), *fields, **options)


def jury() -> Any:
    rng = np.random.default_rng(6)
    items = juries.judged(rng, [FAIR, FAIR, position_bound(0.9)], 0.5, 15, "sample")
    board = board_of(ranking_log(items), how=HOW, views=False)
    return {"judge": board.judge, "jury": board.jury, "verdict": board.verdict}


def canaries() -> Any:
    """Two canaries of some items; the judge is persuaded by one kind of attack."""
    won = [(0.5, -0.5), (0.5, -0.2), (0.5, 0.5), (-0.5, 0.5), (0.2, -0.1), (None, 0.1), (0.3, -0.4)]
    planted_ones = []
    for number, margins in enumerate(won):
        kind = ("role", "null")[number % 2]
        for margin, control in zip(margins, (False, True), strict=True):
            one = planted(number, margin, control=control, kind=kind)
            assert one.ballots
            attack = one.ballots.canary.model_copy(update={"attack": f"x{number % 3}"})  # type: ignore[union-attr]
            update = {"canary": attack, "item_id": f"q{number // 2}", "calls": (call(cost=0.5),)}
            planted_ones.append(replace(one, ballots=one.ballots.model_copy(update=update)))
    log = replace(ranking_log(brackets(6)[:6]), canaries=tuple(planted_ones))
    board = board_of(log, how=HOW, views=False)
    return {"canaries": board.canaries, "receipt": board.receipt, "trust": board.trust}


def styled() -> Any:
    """Texts with headings, lists and bold words, of which d has none to be read."""
    log = ranking_log(brackets())
    random = Random(8)
    texts = ("plain", "# Head\n\nmore words", "- one\n- two\n- three", "**bold** and __bold__\n# H")
    samples = []
    for n, one in enumerate(log.samples):
        models = "abcd" if n % 5 else "abc"
        answers = {m: random.choice(texts) * random.randint(1, 4) for m in models}
        samples.append(replace(one, metadata={CONTEST_KEY: {"answers": answers}}))
    return board_of(replace(log, samples=tuple(samples)), how=HOW, control="style").control


def orders(n: int, shift: int) -> list[str]:
    random = Random(shift)
    return [
        "".join(sorted("abcd", key=lambda m: "abcd".index(m) + random.gauss(0, 1.5)))
        for _ in range(n)
    ]


def compared(folder: Path) -> Path:
    """Logs of two benchmarks: all pairs in both orders, three times, and other protocols."""
    for number, (name, args, items) in enumerate(_logs([call(cost=0.02)] * 6), start=1):
        ids: dict[str, Any] = {
            "task_id": f"T{number}",
            "eval_id": f"E{number}",
            "created": DAY.format(number),
        }
        write_log(folder / f"{name}.eval", items, task_args=args, **ids)
    return folder


def _logs(pairs: Sequence[Any]) -> list[tuple[str, dict[str, object], list[ItemBallots]]]:
    first, second, third = orders(9, 1), orders(9, 2), orders(9, 3)
    full = [
        all_pairs(f"q{k}", one, swapped=other, native=NATIVE, calls=pairs)
        for k, (one, other) in enumerate(zip(first, second, strict=True))
    ]
    again = [
        all_pairs(f"q{k}", one, native=NATIVE, calls=[call(cost=None, cached=k < 2)] * 6)
        for k, one in enumerate(third)
    ]
    shown: dict[str, Any] = {"groups": list("abcd"), "native": NATIVE}
    asked = [call("list", cost=0.05)]
    lists = [listed(f"q{k}", one, calls=asked, **shown) for k, one in enumerate(second[:7])]
    random = Random(5)
    points = [
        graded(f"q{k}", {m: round(random.random(), 2) for m in "abc"}, native=NATIVE)
        for k in range(9)
    ]
    other: dict[str, Any] = {"benchmark": "mmlu", "native": NATIVE}
    full += [all_pairs(f"m{k}", one, **other) for k, one in enumerate(first[:4])]
    lists += [listed(f"m{k}", one, **shown | other) for k, one in enumerate(third[:4])]
    cached = [one.model_copy(update={"calls": (call(cached=True),)}) for one in again]
    return [
        ("full", {}, full),
        ("again", {"repeat": 2}, again),
        ("cached", {"repeat": 2}, cached),
        ("lists", {}, lists),
        ("points", {}, points),
        ("native", {}, [by_native(f"q{k}", NATIVE) for k in range(9)]),
        ("nothing", {}, [listed("q1", None, groups=list("abcd"), protocol="mine")]),
    ]


def comparison(folder: Path) -> Any:
    found = compare(compared(folder), how=HOW)
    short = [
        replace(one, logs=tuple(replace(log, board=None) for log in one.logs))  # type: ignore[arg-type]
        for one in found.benchmarks
    ]
    return replace(found, benchmarks=tuple(short))


def all_swapped() -> Any:
    """All pairs in both orders, of answers that differ in length; some are identical."""
    items = world([0.6, 0.3, 0.0, -0.4], 12, protocol="full_pairwise", swap="always", traits=FAIR)
    board = board_of(ranking_log(items), how=HOW)
    return replace(board, receipt=None)  # type: ignore[arg-type]


def frames(folder: Path) -> Any:
    """The three data frames of two logs; one item was cut short, one names nobody."""
    first = brackets(5)[:5]
    write_log(folder / "1.eval", [*first, item("half", [match("a", "b", 0.2)], complete=False)])
    rest = [graded("p1", {"a": 0.75, "b": None}), listed("l1", ["a", "bc"], calls=[call("list")])]
    write_log(folder / "2.eval", rest, eval_id="E2", task_id="T2")
    made = (leaderboard_df(folder, how=HOW), rankings_df(folder), ballots_df(folder))
    return [one.astype(object).to_dict("list") for one in made]


CASES: dict[str, Callable[[Path], Any]] = {
    "board_seal": seal,
    "board_settled": settled,
    "board_jury": lambda folder: jury(),
    "board_canaries": lambda folder: canaries(),
    "board_style": lambda folder: styled(),
    "board_all_pairs": lambda folder: all_swapped(),
    "comparison": comparison,
    "stability": lambda folder: stability(compared(folder), shares=(0.5, 1.0), n_seeds=5),
    "frames": frames,
    "pairs": lambda folder: compare_pair(compared(folder), "b", "c", level=0.8),
}


@pytest.mark.parametrize("name", CASES)
def test_every_figure(name: str, tmp_path: Path) -> None:
    check(__file__, f"{name}.txt", told(CASES[name](tmp_path), tmp_path))
