"""What a reader of an estimate must know: what was assumed, and what is missing from it."""

from collections.abc import Iterator

from tiebreak.estimate.figures import Estimate, Judges
from tiebreak.estimate.prices import Price, model_info
from tiebreak.estimate.totals import Interval
from tiebreak.report.words import count, percent


def assumptions(found: Estimate) -> Iterator[str]:
    """How the figures came about, one sentence each."""
    known, words, close = found.experience, found.words, found.close
    shares = f"{percent(close.likely)} of the verdicts are close ({_percents(close)})"
    if known:
        yield (
            f"Tokens: means of {count(known.n_calls, 'call')} in the log, by kind of question; "
            f"kinds that it lacks are counted by {found.counted_by}"
        )
        yield f"Likely: {shares}" + ("" if known.close is None else ", as in the log")
    else:
        part = "" if found.n_sampled == found.n_items else f" of {found.n_sampled:,} items"
        yield f"Tokens: counted on the prompts{part} by {found.counted_by}"
        yield (
            f"Likely: {words.likely:g} words a text, and {shares}. Low: {words.low:g} words. High: "
            f"{words.high:g} words, and a provider that bills the reply's schema"
        )
    pace = found.pace
    most = f", at most {pace.per_minute:g} begun a minute" if pace.per_minute else ""
    yield f"Time: {pace.connections} calls side by side, {pace.seconds:g} s each{most}"
    replies = "malformed replies as in the log" if known else "no malformed reply"
    yield f"Every protocol as if it ran alone: {replies}, nothing cached here or by the provider"


def notes(found: Estimate) -> Iterator[str]:
    """What is missing, and what to do about it."""
    if found.n_identical:
        yield (
            f"{count(found.n_identical, 'item')} of {found.n_items:,} cost nothing: all answers "
            "are identical"
        )
    if unpriced := unpriced_models(found.judges):
        yield (
            f"No price is known for {' and '.join(unpriced)}: add --price IN,OUT (dollars per "
            "million tokens) or --model-cost-config FILE, as for inspect eval"
        )
    known = found.experience
    models = [m for m in (found.judges.judge, found.judges.meta_judge) if m is not None]
    if known and (others := [model for model in known.models if model not in models]):
        yield f"The log's calls were answered by {', '.join(others)}, which is not asked here"
    for model in models:
        info = model_info(model)
        if info is None:
            continue
        if info.reasoning and not known and not found.reasoning_tokens:
            yield (
                f"{model} reasons: hidden tokens are billed as output and are not in these "
                "figures; add --reasoning-tokens N, or --from-log LOG of a first small run"
            )
        longest = max((row.longest for row in found.protocols), default=0)
        if info.input_tokens and longest > info.input_tokens:
            yield (
                f"The longest prompt has about {longest:,} tokens: {model} takes "
                f"{info.input_tokens:,}, so such items stay unscored"
            )


def judge_line(judges: Judges) -> str:
    """Who would answer, and at what price."""
    line = f"judge: {judges.judge}{_price(judges.price)}"
    if judges.meta_judge is not None:
        line += f" · meta-judge: {judges.meta_judge}{_price(judges.meta_price)}"
    return line


def unpriced_models(judges: Judges) -> list[str]:
    """The models that have no price."""
    asked = [(judges.judge, judges.price), (judges.meta_judge, judges.meta_price)]
    return list(dict.fromkeys(model for model, price in asked if model and price is None))


def _price(price: Price | None) -> str:
    if price is None:
        return ""
    return f" (${price.input:g} in, ${price.output:g} out per million tokens)"


def _percents(share: Interval) -> str:
    return f"{share.low * 100:.0f}–{share.high * 100:.0f}%"
