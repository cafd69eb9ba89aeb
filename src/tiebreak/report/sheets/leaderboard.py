"""A leaderboard: ranks with their uncertainty, second views, the judge's reliability, the bill."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.analysis.receipt import Receipt, Settled
from tiebreak.analysis.stars import StarBoard
from tiebreak.analysis.strengths import Method, StrengthRow
from tiebreak.candidates.settings import ways
from tiebreak.report.cells import (
    UNDEFINED,
    Cell,
    decimal,
    dollars,
    integer,
    money,
    number,
    rank,
    signed_bounds,
    words,
)
from tiebreak.report.columns import COLUMNS
from tiebreak.report.json import document, json_ready, keys_of, only
from tiebreak.report.sheet import (
    Column,
    Section,
    Sheet,
    Table,
    interval_heading,
    model_names,
    names,
    numbers,
)
from tiebreak.report.sheets.judge import control_section, judge_lines, jury_section
from tiebreak.scorers.catalogue import PROTOCOLS
from tiebreak.words import count

SHOWN_UNRANKED = 5

# Of more models than this tiers are places.
_NAMED = 12

VIEW_COLUMNS = ("strength", "lower", "upper", "rank")
_HEAD = ("benchmark", "protocol", "log", "eval_id", "n_items")
_VIEWS = {"least_squares": "Least squares", "bradley_terry": "Bradley–Terry"}
_DIFFERENCE = {"least_squares": "margin of winning", "bradley_terry": "log-odds of winning"}


def sheets_of(boards: Iterable[Leaderboard]) -> list[Sheet]:
    """One sheet a leaderboard, its bill included."""
    sheets = []
    for board in boards:
        hint = "Who favours itself, and what the panel is worth: tiebreak peers LOG"
        reviewed = [Section.of(lines=[hint])] if board.rule.reviewed else []
        sheets.append(board_sheet(board).plus(*reviewed, *receipt_sections(board.receipt)))
    return sheets


def data_of(boards: Iterable[Leaderboard]) -> dict[str, Any]:
    """The fields of `Leaderboard` under "tiebreak/leaderboards", version 2, and "resolution_gain".

    The parts have the fields of `BoardVerdict`, `LeaderboardRow`, `ModelPair`, `StrengthView`,
    `StrengthRow`, `ControlView` ("control", null unless it was asked for), `Covariate`,
    `JudgeFigures`, `Position`, `Flips`, `Length`, `Cycles`, `Correctness`, `JudgeReplies`,
    `Canaries` (null without any), `Persuaded`, `Trust`, `Receipt`, `KindCalls`, `Usage`, `Settled`
    and `Unranked`.
    """
    return document(
        "tiebreak/leaderboards",
        2,
        leaderboards=[
            {**json_ready(board), "resolution_gain": board.resolution_gain} for board in boards
        ],
    )


def columns_of() -> list[str]:
    """The columns of the rows.

    They are benchmark, protocol, log, eval_id, n_items, then the fields of `LeaderboardRow`, then
    level (of the intervals), then for each method of the second views strength, lower, upper and
    rank, as in least_squares_strength and bradley_terry_rank.
    """
    own = keys_of(LeaderboardRow)
    views = [f"{method}_{column}" for method in get_args(Method) for column in VIEW_COLUMNS]
    return [*_HEAD, *own, "level", *views]


def rows_of(boards: Iterable[Leaderboard]) -> list[dict[str, Any]]:
    """One row per model and leaderboard, with the columns of `columns_of`."""
    return [row for board in boards for row in _rows(board)]


def board_sheet(board: Leaderboard, name: str | None = None) -> Sheet:
    """A leaderboard without its bill; `name` is that of the run, by default the protocol."""
    who = "reviewers" if board.rule.reviewed else "judge"
    source = f"{who}: {', '.join(board.judges) or 'no call'} · log: {board.log}"
    ranking = (
        Section.of(_ranking(board), legend=[*tier_lines(board), *_intervals(board)])
        if board.rows
        else Section.of(lines=["No item could be ranked."])
    )
    control = control_section(board.control) if board.control else None
    judge = Section.of(lines=[*([_spread_line(board)] if board.rows else []), *judge_lines(board)])
    return Sheet(
        f"{board.benchmark} · {name or board.protocol} · {count(board.n_items, 'item')}",
        (source, *([_settled_line(board.settled)] if board.settled else [])),
        _verdict(board),
        board.warnings,
        tuple(filter(None, [ranking, _views(board), control, judge, jury_section(board)])),
        (*board.notes, *settings_notes(board), *_unranked_notes(board)),
    )


def tiers_of(board: Leaderboard | StarBoard) -> tuple[str, ...]:
    """The models of each tier by name; of many models, which the table names, their places."""
    place = {row.model: number for number, row in enumerate(board.rows, start=1)}
    if len(place) <= _NAMED:
        return tuple(map(", ".join, board.verdict.tiers))
    ends = [(place[tier[0]], place[tier[-1]]) for tier in board.verdict.tiers]
    return tuple(f"places {a}–{b}" if a < b else f"place {a}" for a, b in ends)


def tier_lines(board: Leaderboard | StarBoard) -> Iterator[str]:
    """Which models cannot be told apart, unless the verdict says all of it."""
    if 1 < len(board.verdict.tiers) < len(board.rows):
        yield f"Tiers, in which no two models are told apart: {' · '.join(tiers_of(board))}"


def settings_notes(board: Leaderboard | StarBoard) -> Iterator[str]:
    """In which ways models were asked differently."""
    if sentence := ways(board.settings_differ):
        yield sentence[0].upper() + sentence[1:]


def _verdict(board: Leaderboard) -> str:
    """The verdict, without what the first warning repeats."""
    doubt = board.trust.sentence
    said = any(warning.startswith(doubt) for warning in board.warnings)
    return board.verdict.sentence.removesuffix(doubt).rstrip() if said else board.verdict.sentence


def _intervals(board: Leaderboard) -> Iterator[str]:
    """How intervals are made, and what they leave out where results decide who meets whom."""
    if all(math.isnan(row.lower) for row in board.rows):
        return
    yield f"Intervals: bootstrap over items, {board.draws:,} draws, seed {board.seed}"
    protocol = PROTOCOLS.get(board.protocol)
    if protocol is None or protocol.holds_all_pairs is None:
        return
    measured = protocol.holds_all_pairs.get(board.placed_by or "")
    held = "the score that judging all pairs gives may lie outside"
    if measured:
        held = f"on real verdicts the score of judging all pairs lay in {measured} of them"
    yield f"They are about this protocol's own score over other items; {held}"


def receipt_sections(receipt: Receipt) -> Iterator[Section]:
    """Calls by what they were for, tokens and money by model, and the sums."""
    if receipt.n_calls:
        yield Section.of(_kinds(receipt))
        yield Section.of(_usage(receipt))
    if lines := Section.of(lines=_receipt_lines(receipt)):
        yield lines


def _rows(board: Leaderboard) -> Iterator[dict[str, Any]]:
    strengths = {
        (view.method, row.model): only(row, *VIEW_COLUMNS)
        for view in board.views
        for row in view.rows
    }
    for row in board.rows:
        views = {
            f"{method}_{column}": strengths.get((method, row.model), {}).get(column)
            for method in get_args(Method)
            for column in VIEW_COLUMNS
        }
        yield {**only(board, *_HEAD), **json_ready(row), "level": board.level, **views}


def _ranking(board: Leaderboard) -> Table:
    """The ranking, with the columns that its protocol gives numbers to."""
    shown = [column for column in COLUMNS if column.shown(board)]
    return Table.of(
        (column.heading_on(board) for column in shown),
        ((column.cell(row, board) for column in shown) for row in board.rows),
        "Ranking",
    )


def _views(board: Leaderboard) -> Section:
    """Strengths by all matches, beside the leaderboard's own rank, and why some have none."""
    views = [view for view in board.views if view.rows]
    by_model = [{row.model: row for row in view.rows} for view in views]
    columns = [
        column
        for view in views
        for column in (
            Column(_VIEWS[view.method], short=_VIEWS[view.method].replace("–", "–\n")),
            Column(interval_heading(board.level), left=True),
            Column("Rank", short="#"),
        )
    ]
    rows = [
        (
            *(rank(row.rank), words(row.model)),
            *(cell for rows in by_model for cell in _strength(rows, row.model)),
        )
        for row in board.rows
    ]
    means = ", ".join(
        f"{_VIEWS[view.method]} (difference = {_DIFFERENCE[view.method]}, {view.draws:,} draws)"
        for view in views
    )
    undefined = (
        f"{_VIEWS[view.method]}: {view.reason}"
        for view in board.views
        if not view.rows or view.undefined
    )
    table = Table.of((Column("#"), model_names(), *columns), rows, "Strengths")
    return Section.of(
        table if views else None,
        legend=[f"Second views, by all matches at once: {means}"] if views else [],
        lines=undefined,
    )


def _strength(rows: Mapping[str, StrengthRow], model: str) -> Sequence[Cell]:
    row = rows.get(model)
    if row is None:
        return [Cell(UNDEFINED)] * 3
    strength, span = number(row.strength, 2), signed_bounds(row.lower, row.upper)
    return [strength, span, rank(row.rank)]


def _settled_line(settled: Settled) -> str:
    """Why the run stopped before its last item."""
    what = "the ranking" if settled.top is None else f"the top {settled.top}"
    saved = ""
    if not math.isnan(settled.calls_saved):
        saved = f"; about {count(round(settled.calls_saved), 'call')} saved"
    limit = ""
    if settled.settle_for == "these":
        limit = " for these items; other items may rank them differently"
    return (
        f"Settled: {what} was decided after {settled.after:,} of {count(settled.of, 'item')} "
        f"({settled.rate}){limit}{saved}"
    )


def _spread_line(board: Leaderboard) -> str:
    """How far the models are apart, beside their native scores."""
    line = f"Mean distance between two models: {decimal(board.spread)}"
    if math.isnan(board.native_spread):
        return f"{line} (native scores: {UNDEFINED})"
    if math.isnan(board.resolution_gain):
        return f"{line} (native scores: all equal)"
    return f"{line} (native scores: {board.native_spread:.3f}, so {board.resolution_gain:.1f}×)"


def _unranked_notes(board: Leaderboard) -> Iterator[str]:
    """The first items without a rank, and why."""
    if board.unranked:
        shown = [f"{item.item_id} ({item.reason})" for item in board.unranked[:SHOWN_UNRANKED]]
        rest = len(board.unranked) - len(shown)
        more = f"; and {rest} more" if rest else ""
        yield f"{count(len(board.unranked), 'item')} not ranked: {'; '.join(shown)}{more}"


def _kinds(receipt: Receipt) -> Table:
    columns = numbers("Per item", "Total", "Repairs", "Repeats", "Cached")
    counted = ("n_calls", "n_repairs", "n_repeats", "n_cached")
    rows = [
        (
            *(words(kind.kind), number(kind.per_item, 1)),
            *map(integer, only(kind, *counted).values()),
        )
        for kind in receipt.kinds
    ]
    total = (
        *(words("all"), number(receipt.calls_per_item, 1), integer(receipt.n_calls)),
        integer(sum(kind.n_repairs for kind in receipt.kinds)),
        integer(sum(kind.n_repeats for kind in receipt.kinds)),
        integer(receipt.n_cached),
    )
    return Table.of(
        (Column("Calls", numeric=False), *columns),
        [*rows, total],
        "Calls by what they were for",
        rules=[len(rows)],
    )


def _usage(receipt: Receipt) -> Table:
    """Tokens and money by role and model, in peer review by reviewer, in a jury by judge."""
    reviewed = any(use.reviewer and use.role == "peers" for use in receipt.usage)
    columns = (names("Reviewer" if reviewed else "Role", 4), model_names())
    return Table.of(
        (*columns, *numbers("Tokens in", "Tokens out", "Worth", "Paid")),
        (
            (
                words(use.reviewer or use.role if reviewed else use.role),
                words(use.model if reviewed else use.reviewer or use.model),
                *(integer(use.input_tokens), integer(use.output_tokens)),
                *(dollars(use.cost), dollars(use.paid)),
            )
            for use in receipt.usage
        ),
        "Tokens and money by model",
    )


def _receipt_lines(receipt: Receipt) -> Iterator[str]:
    """The bill in sentences."""
    if receipt.n_calls:
        yield (
            f"Calls: {receipt.n_calls:,}, of which {receipt.n_cached:,} from the cache · tokens: "
            f"{receipt.input_tokens:,} in, {receipt.output_tokens:,} out"
        )
        yield _money_line(receipt)
    if receipt.n_calls and not math.isnan(receipt.depth_mean):
        yield (
            "Calls that wait for each other, per item: "
            f"{decimal(receipt.depth_mean, 1)} on average, at most {receipt.depth_max}"
        )
    if receipt.n_items_without_call:
        yield (
            f"{count(receipt.n_items_without_call, 'item')} of {receipt.n_items} needed no call: "
            "all answers identical"
        )


def _money_line(receipt: Receipt) -> str:
    line = f"Money: worth {money(receipt.cost)}, paid in this run {money(receipt.paid)}"
    if receipt.unpriced_models:
        models = ", ".join(receipt.unpriced_models)
        line += f" (no price known for {models}; give prices with --model-cost-config FILE)"
    return line
