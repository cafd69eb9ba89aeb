"""A small report with one item of every kind of protocol, and the same with hostile texts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.cases import cases
from tests.ranking_logs.builders import all_pairs, graded, item, listed
from tiebreak.report.cells import Cell, Tone, integer, number, words
from tiebreak.report.page.build import render
from tiebreak.report.page.items import ChunkWriter, pack, without_calls
from tiebreak.report.page.view import (
    BoardRow,
    BoardVerdictView,
    DrawnBoard,
    FigureView,
    ItemRow,
    ItemsView,
    Overview,
    Page,
    PageSection,
    Part,
)
from tiebreak.report.sheet import Column, Section, Sheet, Table, names, numbers
from tiebreak.scorers.ballots import (
    Criterion,
    ItemBallots,
    Listing,
    Refinement,
    Reviewer,
    Tiering,
    Verdict,
    Vote,
)
from tiebreak.scorers.bracket import Bye, Pairing, first_round
from tiebreak.scorers.match import settle
from tiebreak.scorers.placement import NotPlacedError, place

SCRIPT = "<script>window.hit=1;alert(1)</script>"
HANDLER = "<img src=x onerror=\"window.hit=2;alert(2)\"><svg onload='alert(3)'>"
END = "</script></style><!--<script>"
ANSI = "\x1b[31mred\x1b[0m\x07\x00"
RTL = "abc\u202etxt.exe\u202c \u2066x\u2069 zero\u200bwidth \U000e0041tag"
HOSTILE = f"{SCRIPT}{HANDLER}{END}{ANSI}{RTL}\"'`${{7*7}}{{{{7*7}}}}"

RUBRIC = cases(__file__, "rubric")


def verdict(first: str, votes: str, confidence: float = 0.8, *, why: str = "") -> Verdict:
    """A verdict on P1, P2, C1, C2 (and C3, …) by letters: l, r, t; margins as SEAL has them."""
    sides = {"l": "left", "r": "right", "t": "tie"}
    cast = [Vote(vote=sides[v], confidence=confidence, reasoning=why) for v in votes]  # type: ignore[arg-type]
    sign = [{"l": 1, "r": -1, "t": 0}[v] * confidence for v in votes]
    return Verdict(
        first=first,
        principles={"P1": cast[0], "P2": cast[1]},
        checklist={f"C{n}": vote for n, vote in enumerate(cast[2:], start=1)},
        margin=0.6 * sign[0] + 0.4 * sign[1],
        checklist_margin=0.6 * sign[2] + 0.4 * sign[3],
    )


def played(
    models: Sequence[str], item_id: str = "7", why: str = "", benchmark: str = "gsm8k"
) -> ItemBallots:
    """A bracket of five by name, best first: byes, a flip, a checklist win, an unscored match."""
    a, b, c, d, e = models
    unscored = Verdict(first=c, unscored=f"no JSON in the reply {why}")
    opening = first_round(models)
    assert [p for p in opening if isinstance(p, Pairing)] == [Pairing(1, 1, d, e)]
    assert [p.high for p in opening if isinstance(p, Bye)] == [a, b, c]
    matches = [
        settle(Pairing(1, 1, d, e), [verdict(e, "tlll", 0.5, why=why), verdict(d, "ltlt", 0.4)]),
        settle(Pairing(2, 0, a, d), [verdict(a, "lltl", why=why or "Every step is shown.")]),
        settle(Pairing(2, 1, b, c), [unscored], [unscored]),
        settle(
            Pairing(3, 0, a, b),
            [verdict(a, "ttllt", 0.9, why=why or "Both reach 42; only one says why.")],
            differences={a: f"It shows its work. {why}", b: "It only states the result."},
        ),
    ]
    refinements = [
        Refinement(
            round=1,
            slot=1,
            item_id="C3",
            principle_id="P2",
            description=f"Units are carried through. {why}",
            differentiator=f"One names the unit. {why}",
            anchor_split="4 vs 3",
            higher_snippet=f"42 apples {why}",
            lower_snippet="42",
        ),
        Refinement(
            round=2,
            slot=0,
            item_id="C4",
            principle_id="P1",
            description="The number is right.",
            duplicate_of="C1",
        ),
        Refinement(round=2, slot=1, unscored=f"not a JSON object {why}"),
    ]
    ballots = item(item_id, matches, groups=[[m] for m in models], benchmark=benchmark)
    tiers = dict(zip(models, (1, 2, 2, 3, 4), strict=True))
    return ballots.model_copy(
        update={
            "seeds": tuple(models),
            "tiering": Tiering(tiers=tiers, reasoning=f"The first is complete. {why}"),
            "refinements": tuple(refinements),
        }
    )


def reviewed(models: Sequence[str], item_id: str = "9") -> ItemBallots:
    """Every model has reviewed all; the last one's reply could not be used."""
    listings = [
        Listing(reviewer=m, groups=tuple((x,) for x in models), shown=tuple(reversed(models)))
        for m in models[:-1]
    ]
    listings.append(Listing(reviewer=models[-1], unscored="too long", left_out=(models[0],)))
    reviewers = [Reviewer(name=m, model=f"x/{m}", candidate=m) for m in models]
    return item(item_id, groups=[[m] for m in models], protocol="peer_review").model_copy(
        update={
            "placed_by": "consensus",
            "aggregator": "borda",
            "listings": tuple(listings),
            "reviewers": tuple(reviewers),
            "tiering": None,
            "seeds": (),
        }
    )


def scored(models: Sequence[str], item_id: str = "10") -> ItemBallots:
    """Grades for each answer alone, one of them unscored, with criteria."""
    points = dict(zip(models, (0.9, 0.6, None), strict=False))
    ballots = graded(item_id, points)
    scores = [
        one.model_copy(update={"grades": {"P1": 9, "P2": 8}}) if one.score is not None else one
        for one in ballots.scores
    ]
    criteria = [Criterion(principle_id="P1", full="right", half="nearly", none="wrong")]
    return ballots.model_copy(update={"scores": tuple(scores), "criteria": tuple(criteria)})


def story(
    run: int, ballots: ItemBallots, answers: Mapping[str, str], texts: list[str]
) -> dict[str, Any]:
    """One run's story of an item, in the shape of the store; its texts go into the list."""

    def at(text: str) -> int:
        texts.append(text)
        return len(texts) - 1

    try:
        ranks, unranked = dict(place(ballots).ranks), None
    except NotPlacedError as error:
        ranks, unranked = {}, str(error)
    return {
        "run": run,
        "log": "a run.eval",
        "sample": f"gsm8k:a/{ballots.item_id}",
        "epoch": 1,
        "rubric": 0,
        "answers": {n: at(answers[n]) for n in ballots.representatives if n in answers},
        "ranks": ranks,
        "unranked": unranked,
        "ballots": without_calls(ballots.model_dump(mode="json"), at),
    }


def entry(
    ballots: Sequence[tuple[int, ItemBallots]], answers: Mapping[str, str], task: str
) -> dict[str, Any]:
    """An item of the store with one story per run."""
    texts: list[str] = []
    stories = [story(run, one, answers, texts) for run, one in ballots]
    return {"task": task, "target": "42", "texts": texts, "stories": stories}


def items(
    entries: Sequence[tuple[str, str, dict[str, Any]]],
    runs: Sequence[Mapping[str, object]],
    rows: int = 0,
    shelf: ChunkWriter | None = None,
) -> ItemsView:
    """The items' view; `rows` more rows at the end open the first item."""
    shelf = shelf or ChunkWriter()
    packed = pack([one for _, _, one in entries], shelf.put, size=2_000)
    index = {
        "runs": list(runs),
        "rubrics": [RUBRIC],
        "items": [
            {"benchmark": benchmark, "id": item_id, "runs": [0]}
            for benchmark, item_id, _ in entries
        ],
        "stories": packed.stories,
        "texts": packed.texts,
        "files": shelf.names,
    }
    columns = (*map(names, ("Item", "Benchmark", "First")), Column("Matches"))
    table = [
        ItemRow(
            number, (*map(words, (item_id, benchmark, _first(one))), _matches(one)), str(number)
        )
        for number, (benchmark, item_id, one) in enumerate(entries)
    ]
    table += [
        ItemRow(
            0, (*map(words, (f"extra {n}", "more" if n % 2 else "gsm8k", "x")), integer(1)), "0"
        )
        for n in range(rows)
    ]
    chunks = tuple(shelf.chunks)
    return ItemsView("Open an item.", columns, tuple(table), index, chunks, shelf.summary)


def _first(one: Mapping[str, Any]) -> str:
    ranks = one["stories"][0]["ranks"]
    return min(ranks, key=ranks.__getitem__, default="")


def _matches(one: Mapping[str, Any]) -> Cell:
    return integer(sum(len(s["ballots"].get("matches", ())) for s in one["stories"]))


BORDA = (("opus", 0.75), ("sonnet", 0.5), ("haiku", None), ("flash", 0.125), ("mini", 1.0))


def board(hostile: str = "") -> Table:
    """A leaderboard with an undefined number, and enough rows to filter."""
    rows = [
        (integer(n), words(name + hostile), number(math.nan if b is None else b))
        for n, (name, b) in enumerate((*BORDA, *((f"model-{n}", n / 100) for n in range(8))), 1)
    ]
    columns = (Column("#"), names("Model"), Column("Borda"))
    return Table.of(columns, rows, f"Ranking {hostile}")


def matrix(n: int = 30) -> Table:
    """Every model against every other one: more columns than any screen has room for."""
    columns = [Column(f"{k}.", meaning=f"model-{k}") for k in range(1, n + 1)]
    rows = [
        (words(f"{k}. model-{k}"), *(_difference(other - k) for other in range(1, n + 1)))
        for k in range(1, n + 1)
    ]
    return Table.of((names("Model"), *columns), rows, "Differences between all pairs of models")


def _difference(gap: int) -> Cell:
    """Models that are far apart are told apart."""
    if not gap:
        return Cell("")
    far = abs(gap) > 5
    tone: Tone = ("good" if gap > 0 else "bad") if far else ""
    return Cell(f"{gap / 100:+.3f}{'*' if far else ''}", gap / 100, tone, "p < .001")


def summed() -> Table:
    """Numbers with their sum below a rule."""
    rows = [(words(name), integer(n)) for name, n in (("seed", 2), ("match", 9), ("all", 11))]
    return Table.of((names("Calls"), *numbers("Total")), rows, "Calls", rules=(2,))


PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="160" viewBox="0 0 640 160">'
    "<style>text,line{fill:#222;stroke:none}line{stroke:#0072B2;stroke-width:3}"
    "@media (prefers-color-scheme:dark){text{fill:#ddd}}</style>"
    '<text x="20" y="60">opus</text><line x1="120" y1="55" x2="500" y2="55"/>'
    '<text x="20" y="110">sonnet</text><line x1="90" y1="105" x2="400" y2="105"/></svg>'
)


def report(
    hostile: str = "", rows: int = 12, shelf: ChunkWriter | None = None, *, folded: bool = False
) -> Page:
    """A report; `hostile` is put into every text that can come from a log.

    Only where its boards are `folded`, as those of several are, have all four of them a part.
    """
    boards = tuple(replace(one, folded=folded) for one in _boards(hostile))[: 4 if folded else 2]
    leaderboards = PageSection(
        "leaderboards", "Leaderboards", "Who is first, and how sure that is.", boards
    )
    money = ("Money: worth $1.20",)
    bill = Sheet("seal", sections=(Section.of(summed()), Section.of(lines=money)))
    receipt = PageSection("receipt", "Receipt", "What it cost.", (Part("receipt-seal", bill),))
    return Page(
        title=f"Which model writes best?{hostile}",
        version="0.1.0",
        made=f"6 items · judged by x/judge{hostile} · 2026-01-01",
        verdicts=_verdicts(hostile),
        overview=_overview(hostile),
        sections=(leaderboards, receipt),
        items=_items(hostile, rows, shelf),
    )


def _verdicts(hostile: str) -> tuple[BoardVerdictView, ...]:
    """One in every state of trust, and one without a judge."""
    first, board, why = f"opus is first.{hostile}", drawn(hostile), f"no bias found{hostile}"
    even = "No two models can be told apart."
    return (
        BoardVerdictView(
            f"gsm8k · seal{hostile}", "gsm8k-seal", first, board, "fine", why, "plots/board.svg"
        ),
        BoardVerdictView("mmlu · seal", "mmlu-seal", even, board, "unknown"),
        BoardVerdictView("gsm8k · seal again", "again", first, board, "doubtful"),
        BoardVerdictView("gsm8k · original", "original", first, board),
    )


def drawn(hostile: str = "") -> DrawnBoard:
    """Three models in two tiers that overlap; the last has no interval and no native score."""
    rows = (
        BoardRow("1", f"opus{hostile}", "0.750", "ranks 1–2", "75%", "65%", "85%", "90%",
                 ("first", ""), True, f"Borda 0.750 · Ranks 1–2{hostile}"),
        BoardRow("2", "sonnet", "0.500", "ranks 1–3", "50%", "40%", "60%", "90%",
                 ("last", "first"), True, "Borda 0.500 · Ranks 1–3"),
        BoardRow("3", "haiku", "0.125", "", "12.5%", "", "", "",
                 ("", "last"), False, "Borda 0.125 · Ranks –"),
    )  # fmt: skip
    return DrawnBoard(
        rows, (("0", "0%"), ("1", "100%")), "short", f"Dot: Borda score{hostile} · tiers"
    )


def _overview(hostile: str) -> Overview:
    """Links lead to folded boards."""
    states = ("fine", "unknown", "doubtful", "")
    parts = ("gsm8k-seal-detail", "mmlu-seal-detail", "again-detail", "original-detail")
    linked = enumerate(zip(parts, states, strict=True), start=1)
    heads = tuple(
        BoardVerdictView(f"board {n}{hostile}", part, "", drawn(hostile), state)
        for n, (part, state) in linked
    )
    return Overview((f"opus is first on all 4 boards.{hostile}",), heads)


def single() -> Page:
    """A report with one board: its verdict stands at the top."""
    page = report()
    boards, receipt = page.sections
    alone = replace(boards, parts=boards.parts[:1])
    return replace(page, verdicts=page.verdicts[:1], overview=None, sections=(alone, receipt))


def _boards(hostile: str) -> tuple[Part, ...]:
    """A part with something of everything, and some with tables alone."""
    alt = f"opus 0.75 {hostile}"
    figure = FigureView("borda", f"Borda {hostile}", alt, PICTURE, 640, 160, "plots/borda.svg")
    spread = f"Mean distance between two models: 0.071{hostile}"
    legend = f"Intervals: bootstrap{hostile}"
    sheet = Sheet(
        title=f"gsm8k · seal{hostile}",
        subtitle=(f"judge: x/judge · log: seal.eval{hostile}",),
        verdict=f"Settled: the ranking{hostile}",
        warnings=(f"3 of 12 verdicts are unscored{hostile}",),
        sections=(Section.of(board(hostile), legend=[legend]), Section.of(lines=[spread])),
        notes=(f"2 items not ranked: 11, 12{hostile}",),
    )
    alone = Sheet("mmlu · seal", sections=(Section.of(board()), Section.of(matrix())))
    others = (("mmlu-seal", alone), ("again", replace(alone, title="gsm8k · seal again")))
    last = Sheet("gsm8k · original", sections=(Section.of(summed()),))
    return (
        Part("gsm8k-seal", sheet, (figure,)),
        *(Part(id, one) for id, one in others),
        Part("original", last),
    )


def _items(hostile: str, rows: int, shelf: ChunkWriter | None) -> ItemsView:
    models = [f"{name}{hostile}" for name, _ in BORDA]
    three, alone = models[:3], [[m] for m in models]
    answers = {
        name: f"There are {n} boxes.\nEach holds 6 apples, so the answer is {n * 6}.{hostile}"
        for n, name in enumerate(models, start=5)
    }
    letters = {name: f"Answer of {name}" for name in "abcd"}
    bracket = (0, played(models, why=hostile))
    listing = (1, listed("7", alone, groups=alone))
    pairs = (2, all_pairs("8", "abcd", swapped="bacd"))
    cut_short = (0, item("12", complete=False))
    entries = [
        (f"gsm8k{hostile}", f"7{hostile}", entry([bracket, listing], answers, f"Apples?{hostile}")),
        ("gsm8k", "8", entry([pairs], letters, "All pairs")),
        ("gsm8k", "9", entry([(3, reviewed(three))], answers, "Peer review")),
        ("mmlu", "10", entry([(4, scored(three))], answers, "Grades")),
        ("mmlu", "11", entry([(0, item("11", groups=[three]))], answers, "Identical")),
        ("mmlu", "12", entry([cut_short], {}, "Cut short")),
    ]
    runs = [
        {
            "name": f"{protocol}{hostile}",
            "protocol": protocol,
            "benchmark": "gsm8k",
            "judges": [f"x/judge{hostile}"],
            "log": f"{protocol}.eval{hostile}",
        }
        for protocol in ("seal", "listwise", "full_pairwise", "peer_review", "pointwise")
    ]
    return items(entries, runs, rows, shelf)


def written(folder: Path, page: Page) -> Path:
    """A page as a file of its own."""
    path = folder / "index.html"
    path.write_text(render(page), encoding="utf-8", errors="replace")
    return path
