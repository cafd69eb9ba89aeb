"""An estimate as a sheet, and as data: figures, assumptions, and notes on missing costs."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tiebreak.prices import Price
from tiebreak.ranking_logs.joins import files_in_words
from tiebreak.report.cells import UNDEFINED, Cell, words
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import Section, Sheet, Table, names, numbers
from tiebreak.study.estimate.cost import few_models
from tiebreak.study.estimate.estimate import Estimate, Judges, ProtocolEstimate
from tiebreak.study.estimate.experience import Experience
from tiebreak.study.estimate.prices import model_info, reasons
from tiebreak.study.estimate.totals import Range
from tiebreak.text import all_of, count, percent

_FIGURES = ("calls", "calls_per_item", "tokens_in", "tokens_out", "cost", "depth", "hours")


def sheets_of(estimate: Estimate) -> list[Sheet]:
    """A sheet with a row per protocol, likely figures above their ranges, and assumptions."""
    return [
        Sheet(
            title(estimate),
            tuple(judges_and_prices(estimate.judges)),
            sections=(Section.of(_table(estimate)), Section.of(legend=assumptions(estimate))),
            notes=tuple(notes(estimate)),
        )
    ]


def title(estimate: Estimate) -> str:
    """Names of benchmarks, with numbers of models and items."""
    size = f"{count(len(estimate.models), 'model')} · {count(estimate.n_items, 'item')}"
    return f"{', '.join(estimate.benchmarks)} · {size}"


def data_of(estimate: Estimate) -> dict[str, Any]:
    """The fields of `Estimate` under "tiebreak/estimate", version 1.

    Every figure has low, likely and high.
    """
    data: dict[str, Any] = json_ready(estimate)
    reviewers = data.pop("reviewers")
    data["judges"]["peers"] = [
        {**reviewer, "price": peer["price"]}
        for reviewer, peer in zip(reviewers, data["judges"]["peers"], strict=True)
    ]
    more = {
        "experience": estimate.experience and _experience(estimate.experience),
        "protocols": [_row(row) for row in estimate.protocols],
        "assumptions": assumptions(estimate),
        "notes": notes(estimate),
    }
    return document("tiebreak/estimate", 1, **{**data, **more})


def rows_of(estimate: Estimate) -> list[dict[str, Any]]:
    """One row of CSV per protocol, with low, likely and high of every figure."""
    return [
        {"protocol": row.label}
        | {
            f"{figure}_{end}": getattr(getattr(row, figure), end, None)
            for figure in _FIGURES
            for end in Range._fields
        }
        for row in estimate.protocols
    ]


def _table(estimate: Estimate) -> Table:
    longest = max((row.hours.high for row in estimate.protocols), default=0.0)
    unit, size = ("hours", 1) if longest >= 1 else ("minutes", 60)
    columns = (
        names("Protocol", 13),
        *numbers("Per item", "Calls", "Tokens in", "Tokens out"),
        *numbers("Money", "Depth", f"Time, {unit}"),
    )
    rows = [
        (
            words(row.label),
            _cell(row.calls_per_item, _number),
            _cell(row.calls, _integer),
            _cell(row.tokens_in, _tokens),
            _cell(row.tokens_out, _tokens),
            Cell(UNDEFINED) if row.cost is None else _cell(row.cost, money),
            _cell(row.depth, _integer),
            _cell(Range(*(size * hours for hours in row.hours)), _number),
        )
        for row in estimate.protocols
    ]
    return Table.of(columns, rows, "What judging would cost")


def _cell(figure: Range, write: Callable[[float], str]) -> Cell:
    """The likely value, and below it the range if its ends differ."""
    if figure.low == figure.high:
        return Cell(write(figure.likely), figure.likely)
    short = _calls if write is _integer else write
    low, high = short(figure.low), short(figure.high)
    if low[-1] == high[-1] and low[-1].isalpha():
        low = low[:-1]  # write a common unit once: 1.2–3k
    return Cell(write(figure.likely), figure.likely, under=f"{low}–{high.removeprefix('$')}")


def _integer(number: float) -> str:
    return f"{number:,.0f}"


def _calls(number: float) -> str:
    """A number of calls with all digits up to 9,999, then with a unit as tokens."""
    return _integer(number) if number < 10_000 else _tokens(number)


def _tokens(number: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= 0.9995 * size:
            return f"{_number(number / size)}{unit}"
    return _integer(number)


def money(dollars: float) -> str:
    """An amount in US dollars, with cents below 100."""
    if 0 < dollars < 0.01:
        return f"${dollars:.1g}"
    return f"${dollars:,.0f}" if dollars >= 100 else f"${dollars:.2f}"


def _number(value: float) -> str:
    """A number with two digits, or all digits before the point if these are more."""
    if value >= 9.95 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.095 else f"{value:.1g}"


def _row(row: ProtocolEstimate) -> dict[str, Any]:
    return {
        "protocol": row.label,
        "fixed": row.fixed,
        **only(row, *_FIGURES),
        "longest_prompt": max(row.longest.values(), default=0),
    }


def _experience(known: Experience) -> dict[str, Any]:
    def by(tokens: Mapping[Any, tuple[Range, Range]]) -> dict[str, Any]:
        return {name: dict(zip(("in", "out"), both, strict=True)) for name, both in tokens.items()}

    return {
        **only(known, "models", "n_calls", "repairs", "logs"),
        "tokens": by(known.tokens),
        "reviews": by(known.reviews),
    }


def assumptions(estimate: Estimate) -> Iterator[str]:
    """The assumptions behind the figures, one sentence each."""
    yield from how_counted(estimate)
    pace = estimate.pace
    most = f", at most {pace.per_minute:g} begun a minute" if pace.per_minute else ""
    sharing = ", of all peers together" if estimate.reviewers else ""
    yield f"Time: {pace.connections} calls side by side{sharing}, {pace.seconds:g} s each{most}"
    replies = "malformed replies as in the log" if estimate.experience else "no malformed reply"
    yield f"Every protocol as if it ran alone: {replies}, nothing cached here or by the provider"


def how_counted(estimate: Estimate) -> Iterator[str]:
    """The sources of tokens and calls, one sentence each."""
    known, words, close = estimate.experience, estimate.words, estimate.close
    bounds = f"{close.low * 100:.0f}–{close.high * 100:.0f}%"
    shares = f"{percent(close.likely)} of the verdicts are close ({bounds})"
    if known is None or known.close is None:
        shares += ", between 15% of SEAL's paper and 90% of a near-tied pool"
    if known:
        if known.logs:
            yield (
                f"The log: {files_in_words(known.logs, 'log')}, by the same models on the same "
                "benchmark; --from-log takes another"
            )
        yield (
            f"Tokens: means of {count(known.n_calls, 'call')} in the log, by kind of question"
            f"{' and by reviewer' if known.reviews else ''}; "
            f"what it lacks is counted by {estimate.counted_by}"
        )
        yield f"Likely: {shares}" + ("" if known.close is None else ", as in the log")
    else:
        part = "" if estimate.n_sampled == estimate.n_items else f" of {estimate.n_sampled:,} items"
        yield f"Tokens: counted on the prompts{part} by {estimate.counted_by}"
        yield (
            f"Likely: {words.likely:g} words a text, and {shares}. Low: {words.low:g} words. High: "
            f"{words.high:g} words, and a provider that bills the reply's schema"
        )


def notes(estimate: Estimate, hidden: str = "are not in these figures") -> Iterator[str]:
    """Notes on missing costs and what to do; `hidden` ends the note on reasoning tokens."""
    for verb in ("reason", "may reason"):
        models = [model for model in estimate.hiding if bool(reasons(model)) == (verb == "reason")]
        if models:
            verb += "s" if verb == "reason" and len(models) == 1 else ""
            yield (
                f"{all_of(models)} {verb}: hidden tokens are billed as output and {hidden}; add "
                "--reasoning-tokens N, or --from-log LOG of a first small run"
            )
    if estimate.n_identical:
        yield (
            f"{count(estimate.n_identical, 'item')} of {estimate.n_items:,} cost nothing: all "
            "answers are identical"
        )
    if estimate.n_media:
        yield (
            f"Images or files belong to {estimate.n_media:,} of {count(estimate.n_items, 'item')}: "
            "the figures are those of -T media=mark; the images of -T media=show are not in the "
            "tokens"
        )
    if few := few_models(estimate):
        yield few
    if unpriced := [m for m, price in estimate.judges.prices.items() if price is None]:
        yield (
            f"No price is known for {all_of(unpriced)}: add --price IN,OUT (dollars per "
            "million tokens) or --model-cost-config FILE, as for inspect eval"
        )
    yield from _about_reviewers(estimate)
    known = estimate.experience
    asked = estimate.judges.prices
    if known and (strangers := [model for model in known.models if model not in asked]):
        yield f"The log's calls were answered by {', '.join(strangers)}, which is not asked here"
    if estimate.judges.judge is not None and reasons(estimate.judges.judge):
        yield (
            "The judge's reasoning_effort is the largest lever on the price: --model-role "
            f"'judge={{model: {estimate.judges.judge}, reasoning_effort: low}}'"
        )
    yield from _too_long(estimate)


def judges_and_prices(judges: Judges) -> Iterator[str]:
    """The models that would answer with prices: a line for the judges and one for the peers."""
    roles = (
        ("judge", judges.judge, judges.price),
        ("meta-judge", judges.meta_judge, judges.meta_price),
    )
    if named := [f"{role}: {model}{_price(price)}" for role, model, price in roles if model]:
        yield " · ".join(named)
    if judges.peers:
        named = [f"{peer.model}{_price(peer.price)}" for peer in judges.peers]
        yield f"{count(len(named), 'peer')}: {', '.join(named)}"
    if not judges.prices:
        yield "no model is asked"


def _about_reviewers(estimate: Estimate) -> Iterator[str]:
    outsiders = [reviewer.name for reviewer in estimate.reviewers if reviewer.candidate is None]
    if outsiders:
        alone = len(outsiders) == 1
        is_none, pronoun = ("is no candidate", "it") if alone else ("are no candidates", "they")
        yield (
            f"By name, {all_of(outsiders)} {is_none}: {pronoun} would rank the answers of others "
            "only. If that is wrong, say which candidate each peer is with --reviewers"
        )


def _too_long(estimate: Estimate) -> Iterator[str]:
    """Notes on prompts that are too long for a model's context, with the consequence."""
    longest: dict[tuple[str, bool], int] = {}
    for row in estimate.protocols:
        for model, tokens in row.longest.items():
            longest[model, row.by_peers] = max(tokens, longest.get((model, row.by_peers), 0))
    for (model, by_peers), tokens in longest.items():
        info = model_info(model)
        if info is not None and info.input_tokens and tokens > info.input_tokens:
            then = (
                "it would not see the longest answers" if by_peers else "such items stay unscored"
            )
            yield (
                f"The longest prompt has about {tokens:,} tokens: {model} takes "
                f"{info.input_tokens:,}, so {then}"
            )


def _price(price: Price | None) -> str:
    if price is None:
        return ""
    return f" (${price.input:g} in, ${price.output:g} out per million tokens)"
