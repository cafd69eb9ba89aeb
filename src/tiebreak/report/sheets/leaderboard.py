"""Sheets and data of a leaderboard: ranks with their uncertainty, second views, judge, bill.

The judge's figures: position bias, flips, length, cycles, no replies, strengths at equal length.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, get_args

from tiebreak.analysis.judge.biases import Flips, Length, Position
from tiebreak.analysis.judge.canaries import Canaries
from tiebreak.analysis.judge.figures import Correctness
from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.analysis.receipt import Receipt, Settled
from tiebreak.analysis.standing import Placed
from tiebreak.analysis.stars import StarBoard
from tiebreak.analysis.strengths import ControlView, Method, StrengthRow
from tiebreak.analysis.trust import length_gain, position_gain
from tiebreak.analysis.votes import VoteRow
from tiebreak.candidates.settings import differences_in_words
from tiebreak.reason import Reason, Remark
from tiebreak.report.cells import (
    UNDEFINED,
    Cell,
    decimal,
    dollars,
    estimate,
    integer,
    money,
    number,
    percents,
    rank,
    words,
)
from tiebreak.report.columns import COLUMNS
from tiebreak.report.json import document, json_ready, keys_of, only
from tiebreak.report.jury import jury_section
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
from tiebreak.scorers.catalogue import PROTOCOLS
from tiebreak.text import count, listed, percent

SHOWN_UNRANKED = 5

# With more models than this, tiers are given as ranges of places instead of names.
_NAMED = 12

VIEW_COLUMNS = ("strength", "lower", "upper", "rank")
_HEAD = ("benchmark", "protocol", "log", "eval_id", "n_items")
_VIEWS = {"least_squares": "Least squares", "bradley_terry": "Bradley–Terry"}
_DIFFERENCE = {"least_squares": "margin of winning", "bradley_terry": "log-odds of winning"}


def sheets_of(boards: Iterable[Leaderboard]) -> list[Sheet]:
    """One sheet per leaderboard, including its bill."""
    sheets = []
    for board in boards:
        hint = "Who favours itself, and what the panel is worth: tiebreak peers LOG"
        reviewed = [Section.of(lines=[hint])] if board.rule.reviewed else []
        sheets.append(board_sheet(board).plus(*reviewed, *bill_sections(board)))
    return sheets


def data_of(boards: Iterable[Leaderboard]) -> dict[str, Any]:
    """The fields of `Leaderboard` under "tiebreak/leaderboards", version 2, and "resolution_gain".

    The parts have the fields of `BoardVerdict`, `LeaderboardRow`, `Pair`, `StrengthView`,
    `StrengthRow`, `ControlView` ("control", null unless it was asked for), `Covariate`,
    `JudgeFigures`, `Position`, `Flips`, `Length`, `Cycles`, `Correctness`, `JudgeReplies`,
    `Canaries` (null without any), `Persuaded`, `Raters` (null where models judged), `Estimate`,
    `Trust`, `Receipt`, `KindCalls`, `Usage`, `Settled` and `Unranked`.
    """
    return document(
        "tiebreak/leaderboards",
        2,
        leaderboards=[
            {**json_ready(board), "resolution_gain": board.resolution_gain} for board in boards
        ],
    )


def columns_of() -> list[str]:
    """The columns of `rows_of`.

    They are benchmark, protocol, log, eval_id, n_items, then the fields of `LeaderboardRow`, then
    level (of the intervals), then strength, lower, upper and rank for each method of the second
    views, e.g. least_squares_strength and bradley_terry_rank.
    """
    columns = keys_of(LeaderboardRow)
    views = [f"{method}_{column}" for method in get_args(Method) for column in VIEW_COLUMNS]
    return [*_HEAD, *columns, "level", *views]


def rows_of(boards: Iterable[Leaderboard]) -> list[dict[str, Any]]:
    """One row per model and leaderboard, with the columns of `columns_of`."""
    return [row for board in boards for row in _rows(board)]


def board_sheet(board: Leaderboard, name: str | None = None) -> Sheet:
    """The sheet of a leaderboard without its bill; `name` is the run's, by default the protocol."""
    role = "raters" if by_people(board) else "reviewers" if board.rule.reviewed else "judge"
    source = f"{role}: {', '.join(board.judges) or 'no call'} · log: {board.log}"
    ranking = (
        Section.of(
            _ranking(board),
            legend=[*tier_lines(board.verdict.tiers, board.rows), *_intervals(board)],
        )
        if board.rows
        else Section.of(lines=["No item could be ranked."])
    )
    control = control_section(board.control) if board.control else None
    judge = Section.of(lines=[*([_spread_line(board)] if board.rows else []), *judge_lines(board)])
    return Sheet(
        f"{board.benchmark} · {name or board.protocol} · {count(board.n_items, 'item')}",
        (source, *([_settled_line(board.settled)] if board.settled else [])),
        _verdict(board),
        tuple(map(str, board.warnings)),
        tuple(filter(None, [ranking, _views(board), control, judge, jury_section(board)])),
        (*map(str, board.notes), *settings_notes(board), *_unranked_notes(board)),
    )


def tiers_of(tiers: Sequence[Sequence[str]], rows: Sequence[Placed | VoteRow]) -> tuple[str, ...]:
    """The models of each tier: names, or with many models (which the table names) their places."""
    place = {row.model: number for number, row in enumerate(rows, start=1)}
    if len(place) <= _NAMED:
        return tuple(map(", ".join, tiers))
    ends = [(place[tier[0]], place[tier[-1]]) for tier in tiers]
    return tuple(f"places {a}–{b}" if a < b else f"place {a}" for a, b in ends)


def tier_lines(tiers: Sequence[Sequence[str]], rows: Sequence[Placed | VoteRow]) -> Iterator[str]:
    """The tiers of models that are not told apart, unless the verdict already says all of it."""
    if 1 < len(tiers) < len(rows):
        yield f"Tiers, in which no two models are told apart: {' · '.join(tiers_of(tiers, rows))}"


def settings_notes(board: Leaderboard | StarBoard) -> Iterator[str]:
    """A sentence on differences in how the models were asked, if there are any."""
    if sentence := differences_in_words(board.settings_differ):
        yield sentence[0].upper() + sentence[1:]


def _verdict(board: Leaderboard) -> str:
    """The verdict, without its statement on the judge if a warning makes the same one."""
    distrust = ("doubtful_judge", "doubtful_jury")
    if not any(warning.kind in distrust for warning in board.warnings):
        return str(board.verdict.sentence)
    statements = board.verdict.sentence["statements"]
    return str(Reason("verdict", statements=statements[:-1]))


def _intervals(board: Leaderboard) -> Iterator[str]:
    """How intervals are made, and what they leave out if results decide which pairs are judged."""
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


def by_people(board: Leaderboard | StarBoard) -> bool:
    """Whether people judged: there are judges, but no calls of models."""
    return bool(board.judges) and not board.receipt.n_calls


def bill_sections(board: Leaderboard | StarBoard) -> Iterator[Section]:
    """The receipt of a board, or a line that says that people voted."""
    if by_people(board):
        yield Section.of(lines=["No model was asked: people voted"])
    else:
        yield from receipt_sections(board.receipt)


def receipt_sections(receipt: Receipt) -> Iterator[Section]:
    """Calls by their purpose, tokens and money by model, and the totals."""
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
    shown = [column for column in COLUMNS if column.shown(board)]
    return Table.of(
        (column.heading_on(board) for column in shown),
        ((column.cell(row, board) for column in shown) for row in board.rows),
        "Ranking",
    )


def _views(board: Leaderboard) -> Section:
    """Strengths by all matches beside the leaderboard's rank, and why some are undefined."""
    views = [view for view in board.views if view.rows]
    by_model = [{row.model: row for row in view.rows} for view in views]
    columns = strength_columns((_VIEWS[view.method] for view in views), board.level)
    rows = [
        (rank(row.rank), words(row.model), *strength_cells(by_model, row.model))
        for row in board.rows
    ]
    means = ", ".join(
        f"{_VIEWS[view.method]} (difference = {_DIFFERENCE[view.method]}"
        f"{', with implied results' if view.closure else ''}, {view.draws:,} draws)"
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


def _settled_line(settled: Settled) -> str:
    saved = ""
    if not math.isnan(settled.calls_saved):
        saved = f"; about {count(round(settled.calls_saved), 'call')} saved"
    limit = ""
    if settled.settle_for == "these":
        limit = " for these items; other items may rank them differently"
    return (
        f"Settled: {settled.decided} was decided after {settled.after:,} of "
        f"{count(settled.of, 'item')} ({settled.rate}){limit}{saved}"
    )


def _spread_line(board: Leaderboard) -> str:
    """The mean distance between two models' scores, compared with that of native scores."""
    line = f"Mean distance between two models: {decimal(board.spread)}"
    if not any(row.native_n for row in board.rows):
        about = f"the board is about these {count(board.n_items, 'prompt')}, as judges see them"
        return f"{line}. There is no native score: {about}"
    if math.isnan(board.native_spread):
        return f"{line} (native scores: {UNDEFINED})"
    if math.isnan(board.resolution_gain):
        return f"{line} (native scores: all equal)"
    return f"{line} (native scores: {board.native_spread:.3f}, so {board.resolution_gain:.1f}×)"


def _unranked_notes(board: Leaderboard) -> Iterator[str]:
    if board.unranked:
        shown = [f"{item.item_id} ({item.reason})" for item in board.unranked]
        named = listed(shown, "; ", SHOWN_UNRANKED)
        yield f"{count(len(board.unranked), 'item')} not ranked: {named}"


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
    """Tokens and money by role and model, by reviewer in a peer review, by judge in a jury."""
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


def _receipt_lines(receipt: Receipt) -> Iterator[Remark]:
    if receipt.n_calls:
        yield from bill_lines(receipt)
    if receipt.n_calls and not math.isnan(receipt.depth_mean):
        yield Reason("calls_in_a_row", mean=receipt.depth_mean, most=receipt.depth_max)
    if n := receipt.n_items_without_call:
        yield Reason("items_without_call", n=n, of=receipt.n_items)


def bill_lines(receipt: Receipt) -> Iterator[str]:
    """Calls and tokens, their worth, the sum paid, and models without a price in the log."""
    counted = ("n_calls", "n_cached", "input_tokens", "output_tokens")
    yield str(Reason("calls_and_tokens", **only(receipt, *counted)))
    line = f"Money: worth {money(receipt.cost)}, paid in this run {money(receipt.paid)}"
    if receipt.cost is receipt.paid is None:
        line = "Money: unknown"
    if receipt.priced_models:
        line += f" (by --price where the log has none: {', '.join(receipt.priced_models)})"
    if receipt.unpriced_models:
        models = ", ".join(receipt.unpriced_models)
        line += f" (no price known for {models}; rank, report and compare take --price IN,OUT)"
    yield line


_SHOWN: Final = ("rank", "model", "borda", "lower", "native")
_COLUMNS: Final = tuple(column for column in COLUMNS if column.fields[0] in _SHOWN)


def short_sheet(board: Leaderboard, *, verdict: str = "", most: int | None = None) -> Sheet:
    """Rank, model, score, interval and native score of all models, or of the first `most`."""
    rows = board.rows[:most]
    left = len(board.rows) - len(rows)
    table = Table.of(
        (column.heading_on(board) for column in _COLUMNS),
        ((column.cell(row, board) for column in _COLUMNS) for row in rows),
    )
    more = [f"… and {count(left, 'more model')}"] if left else []
    return Sheet(
        f"{board.benchmark} · {board.protocol} · {count(board.n_items, 'item')}",
        verdict=verdict,
        sections=(Section.of(table, lines=more),),
    )


_ASKED = {
    "all": "all of them",
    "close": "those that were close, where flips are to be expected",
    "sample": "a sample drawn by lot",
}


def judge_lines(board: Leaderboard) -> Iterator[Remark]:
    """The judge's figures in sentences; position bias exists only if answers were compared."""
    judge = board.judge
    if board.rule.by_matches:
        yield _position_line(judge.position)
        yield _flips_line(judge.flips)
        yield _length_line(judge.length)
        if judge.cycles.n_triples:
            share = judge.cycles.share
            yield (
                f"Cycles (A beats B, B beats C, C beats A): {percent(share.value)} of "
                f"{count(judge.cycles.n_triples, 'triple')} "
                f"({_rates(share.lower, share.upper)}a coin makes 25%)"
            )
    elif board.rule.asks == "list" and judge.position.n:
        at, many = judge.position, "reviews" if board.rule.reviewed else "lists"
        yield (
            f"Ranked as shown: {percent(at.rate.value)} of pairs of answers in {at.n:,} {many} "
            f"({_rates(at.rate.lower, at.rate.upper)}unbiased: 50%)"
        )
    if judge.correctness.n:
        yield _correctness_line(judge.correctness)
    if board.canaries is not None and board.canaries.n:
        yield canaries_line(board.canaries)
    for reply in judge.replies if board.raters is None else ():
        n, of, rate = reply.n_unscored, reply.n_questions, reply.unscored_rate
        bounds = percents(rate.lower, rate.upper)
        yield Reason(
            "no_reply_from", model=reply.model, n=n, of=of, share=rate.value, bounds=bounds
        )


def _position_line(position: Position) -> Remark:
    if not position.n:
        return f"First answer won: {UNDEFINED} (no verdict preferred a side)"
    rate, gain = position.rate, position_gain(position)
    bounds = percents(rate.lower, rate.upper)
    return Reason("first_won", share=rate.value, n=position.n, bounds=bounds, gain=gain)


def _flips_line(flips: Flips) -> str:
    if not flips.n:
        return f"Flips when the order is swapped: {UNDEFINED} (no match was judged in both orders)"
    line = (
        f"Flips when the order is swapped: {percent(flips.rate.value)} of "
        f"{count(flips.n, 'match', 'matches')} judged in both orders "
        f"({percents(flips.rate.lower, flips.rate.upper)}), {_ASKED[flips.asked]}"
    )
    if flips.n_flipped:
        line += f"; {flips.both_first:,} for the first answer, {flips.both_second:,} for the second"
    if not math.isnan(flips.expected):
        line += f". Noise alone would flip {percent(flips.expected)}; a coin, 50%"
    return line


def _length_line(length: Length) -> Remark:
    gain = length.gain
    if gain.reason is not None:
        return f"Longer answer: {UNDEFINED} ({gain.reason})"
    return Reason(
        "gain_of_length", gain=length_gain(gain), n=length.n_matches, n_items=gain.n_items
    )


def _correctness_line(correctness: Correctness) -> str:
    share = correctness.share
    bounds = "" if math.isnan(share.lower) else f", {percents(share.lower, share.upper)}"
    line = (
        "Against the native score: of an answer that passed (1) and one that failed (0) the one "
        f"that failed was preferred in {correctness.n_against:,} of {count(correctness.n, 'pair')} "
        f"({percent(share.value)}{bounds})"
    )
    if correctness.n_tied:
        line += f", neither in {correctness.n_tied:,}"
    if correctness.n_guarded:
        guarded = count(correctness.n_guarded, "item")
        return f"{line}; in {guarded} the guard places the passed ones first"
    return f"{line}; judging alone ranks them"


def canaries_line(canaries: Canaries) -> str:
    """The result of the canaries (planted answers that talk to the judge) in a sentence."""
    won, plain = (
        sum(getattr(kind, name) for kind in canaries.kinds) for name in ("won", "won_plain")
    )
    gain, bounds = canaries.gain, ""
    if not math.isnan(gain.lower):
        bounds = f", {round(100 * gain.lower)} to {round(100 * gain.upper)}"
    line = (
        f"Planted answers that talk to the judge: preferred to an ordinary one in {won:,} of "
        f"{count(canaries.n, 'pair')}, and in {plain:,} without the attack, so that an attack "
        f"gains {count(round(100 * gain.value), 'point')}{bounds}"
    )
    return f"{line}; {canaries.n_unscored:,} without a verdict" if canaries.n_unscored else line


def _rates(lower: float, upper: float) -> str:
    return "" if math.isnan(lower) else f"{percents(lower, upper)}; "


_CONTROLLED = {"length": "At equal length", "style": "At equal style"}
_TWICE = {
    "length": "twice as long",
    "headings": "with twice as many headings",
    "lists": "with twice as many list entries",
    "bold": "with twice as much in bold",
}


def control_section(control: ControlView) -> Section:
    """Both views in the order of the controlled one, and the effect of each covariate."""
    views = (control.uncontrolled, control.controlled)
    by_model = [{row.model: row for row in view.rows} for view in views]
    order = [row.model for row in (control.controlled.rows or control.uncontrolled.rows)]
    columns = strength_columns(
        ("Bradley–Terry", _CONTROLLED[control.control]), control.controlled.level
    )
    rows = [(words(model), *strength_cells(by_model, model)) for model in order]
    table = Table.of((model_names(), *columns), rows, f"Control for {control.control}")
    return Section.of(table if rows else None, legend=_legend(control), lines=_lines(control))


def strength_columns(titles: Iterable[str], level: float) -> Iterator[Column]:
    """Columns of strength, interval and rank for each view."""
    for title in titles:
        yield Column(title, short=title.replace("–", "–\n"))
        yield Column(interval_heading(level), left=True)
        yield Column("Rank", short="#")


def strength_cells(views: Iterable[Mapping[str, StrengthRow]], model: str) -> Iterator[Cell]:
    """A model's cells in the `strength_columns`; `views` have the rows of each view by model."""
    for rows in views:
        row = rows.get(model)
        if row is None:
            yield from [Cell(UNDEFINED)] * 3
        else:
            yield from (*estimate(row), rank(row.rank))


def _legend(control: ControlView) -> Iterator[Reason]:
    view = control.controlled
    if view.rows:
        yield Reason("controlled", by=control.control, n=view.n_results, draws=view.draws)


def _lines(control: ControlView) -> Iterator[Remark]:
    """The effect of each covariate, and why some are not shown."""
    shown = control.covariates if control.controlled.rows else ()
    for covariate in (covariate for covariate in shown if covariate.n_differ):
        won, lower, upper = covariate.twice
        within = "" if math.isnan(lower) else f" ({percents(lower, upper)})"
        yield (
            f"Of two answers by equal models the one {_TWICE[covariate.name]} wins {percent(won)}"
            f"{within}; they differ in {count(covariate.n_differ, 'result')}"
        )
    if same := [covariate.name for covariate in shown if not covariate.n_differ]:
        yield f"Answers that met do not differ in {', '.join(same)}"
    if control.controlled.reason:
        yield f"Control for {control.control}: {control.controlled.reason}"
    if control.n_left_out and control.controlled.n_results:
        yield Reason("left_out_of_both", n=control.n_left_out)
