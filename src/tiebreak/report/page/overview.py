"""Several boards side by side: what they say together, and every model's place on each."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.analysis.stars import StarBoard
from tiebreak.report.cells import UNDEFINED, Cell, decimal, rank, words
from tiebreak.report.page.view import BoardHead, Overview, Part
from tiebreak.report.sheet import one_line
from tiebreak.words import count

Board = Leaderboard | StarBoard

# Of more models than these a sentence says only how many.
_NAMED: Final = 4
_LEGEND = (
    "In each cell the place, the score and the tier: models with a tier in common are not told "
    "apart on that board. Rows are in the order of the first board."
)
_STARS = " Scores by stars are 0 to 100, all others 0 to 1."


class Shown(NamedTuple):
    """A board of the page: the name of its protocol or run, and the part that shows it."""

    board: Board
    name: str
    part: Part


def overview_of(boards: Sequence[Shown]) -> Overview:
    """All boards of a page."""
    found = [one.board for one in boards]
    heads = (
        BoardHead(one_line(name), one.part.anchor, _trust(one.board))
        for name, one in zip(_names(boards), boards, strict=True)
    )
    mixed = any(isinstance(board, StarBoard) for board in found)
    return Overview(
        tuple(_sentences(found)),
        tuple(heads),
        tuple(_rows(found)),
        f"{_LEGEND}{_STARS if mixed else ''}",
    )


def _names(boards: Sequence[Shown]) -> list[str]:
    """What tells the boards apart: the protocol, the benchmark, or both."""
    if len({one.board.benchmark for one in boards}) == 1:
        return [one.name for one in boards]
    if len({one.name for one in boards}) == 1:
        return [one.board.benchmark for one in boards]
    return [f"{one.board.benchmark} · {one.name}" for one in boards]


def _trust(board: Board) -> str:
    return board.verdict.trust.state if board.judges else ""


def _sentences(boards: Sequence[Board]) -> Iterator[str]:
    """Who stands first on how many boards, and how far their judges can be trusted."""
    ranked = [board for board in boards if board.rows]
    first = Counter(row.model for board in ranked for row in board.rows if row.rank == 1)
    even = sum(len(board.verdict.tiers) < 2 for board in ranked)
    if even == len(ranked) > 0:
        which = "neither board" if even == 2 else f"none of the {even} boards"
        yield f"On {which} are two models told apart: no order of a board is a ranking."
    elif first:
        yield _first(ranked, first)
        if even:
            yield f"On {even} of them no two models are told apart."
    trust = Counter(state for board in boards if (state := _trust(board)))
    if trust:
        states = ("fine", "unknown", "doubtful")
        said = ", ".join(f"{state} on {trust[state]}" for state in states if trust[state])
        yield f"The judge: {said} of {count(trust.total(), 'judged board')}."


def _first(boards: Sequence[Board], first: Counter[str]) -> str:
    model, times = min(first.items(), key=lambda one: (-one[1], one[0]))
    if times == len(boards):
        every = "both boards" if len(boards) == 2 else f"all {len(boards)} boards"
        alone = sum(board.verdict.tiers[:1] == ((model,),) for board in boards)
        which = {0: "none", len(boards): "each"}.get(alone, str(alone))
        apart = f"on {which} of them is it told apart from every other model"
        return f"{model} stands first on {every}; {apart}."
    ordered = sorted(first.items(), key=lambda one: (-one[1], one[0]))
    said = [f"{name} on {n}" for name, n in ordered[:_NAMED]]
    if len(ordered) > _NAMED:
        said.append(count(len(ordered) - _NAMED, "other model"))
    return f"No model stands first on all {len(boards)} boards: {', '.join(said)}."


def _rows(boards: Sequence[Board]) -> Iterator[tuple[Cell, ...]]:
    places = [{row.model: row for row in board.rows} for board in boards]
    tiers = [_tiers(board) for board in boards]
    for model in dict.fromkeys(row.model for board in boards for row in board.rows):
        cells = []
        for board, rows, tier in zip(boards, places, tiers, strict=True):
            row = rows.get(model)
            if row is None:
                cells.append(Cell(UNDEFINED))
                continue
            digits = 1 if isinstance(board, StarBoard) else 3
            place = rank(row.rank)
            text = f"{place.text} · {decimal(row.value, digits)}"
            cells.append(Cell(text, place.key, under=tier.get(model, "")))
        yield words(one_line(model)), *cells


def _tiers(board: Board) -> dict[str, str]:
    """The tiers of each model in words, where there are several."""
    tiers = board.verdict.tiers
    if len(tiers) < 2:
        return {}
    told = {}
    for model in (row.model for row in board.rows):
        own = [number for number, tier in enumerate(tiers, start=1) if model in tier]
        if own:
            told[model] = f"tier {own[0]}" if len(own) == 1 else f"tiers {own[0]}–{own[-1]}"
    return told
