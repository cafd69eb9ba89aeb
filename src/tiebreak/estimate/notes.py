"""What a reader of an estimate must know: what was assumed, and what is missing from it."""

from collections.abc import Iterator, Sequence

from tiebreak.estimate.figures import Estimate, Judges
from tiebreak.estimate.prices import Price, model_info
from tiebreak.estimate.totals import Interval
from tiebreak.words import count, percent


def assumptions(found: Estimate) -> Iterator[str]:
    """How the figures came about, one sentence each."""
    known, words, close = found.experience, found.words, found.close
    shares = f"{percent(close.likely)} of the verdicts are close ({_percents(close)})"
    if known:
        yield (
            f"Tokens: means of {count(known.n_calls, 'call')} in the log, by kind of question"
            f"{' and by reviewer' if known.reviews else ''}; "
            f"what it lacks is counted by {found.counted_by}"
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
    together = ", of all peers together" if found.reviewers else ""
    yield f"Time: {pace.connections} calls side by side{together}, {pace.seconds:g} s each{most}"
    replies = "malformed replies as in the log" if known else "no malformed reply"
    yield f"Every protocol as if it ran alone: {replies}, nothing cached here or by the provider"


def notes(found: Estimate) -> Iterator[str]:
    """What is missing, and what to do about it."""
    if found.n_identical:
        yield (
            f"{count(found.n_identical, 'item')} of {found.n_items:,} cost nothing: all answers "
            "are identical"
        )
    if unpriced := [m for m, price in found.judges.prices.items() if price is None]:
        yield (
            f"No price is known for {_names(unpriced)}: add --price IN,OUT (dollars per "
            "million tokens) or --model-cost-config FILE, as for inspect eval"
        )
    yield from _about_reviewers(found)
    known = found.experience
    asked = found.judges.prices
    if known and (others := [model for model in known.models if model not in asked]):
        yield f"The log's calls were answered by {', '.join(others)}, which is not asked here"
    if reasoning := [model for model in asked if _hides_tokens(found, model)]:
        yield (
            f"{_names(reasoning)} {'reasons' if len(reasoning) == 1 else 'reason'}: hidden tokens "
            "are billed as output and are not in these figures; add --reasoning-tokens N, or "
            "--from-log LOG of a first small run"
        )
    yield from _too_long(found)


def who_is_asked(judges: Judges) -> Iterator[str]:
    """Who would answer, and at what price: a line for the judges, one for the peers."""
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
        yield "nobody is asked"


def _about_reviewers(found: Estimate) -> Iterator[str]:
    if outsiders := [one.name for one in found.reviewers if one.candidate is None]:
        one = len(outsiders) == 1
        is_none, who = ("is no candidate", "it") if one else ("are no candidates", "they")
        yield (
            f"By name, {_names(outsiders)} {is_none}: {who} would rank the answers of others only. "
            "If that is wrong, say which candidate each peer is with --reviewers"
        )


def _hides_tokens(found: Estimate, model: str) -> bool:
    """Whether a model is billed for tokens that nothing here tells of."""
    known = found.experience
    reviews = any(peer.model == model for peer in found.judges.peers)
    if found.reasoning_tokens or (known and (not reviews or model in known.reviews)):
        return False
    info = model_info(model)
    return info is not None and bool(info.reasoning)


def _too_long(found: Estimate) -> Iterator[str]:
    """The prompts that do not fit who gets them, and what would happen to them."""
    longest: dict[tuple[str, bool], int] = {}
    for row in found.protocols:
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


def _names(models: Sequence[str]) -> str:
    """A, B and C."""
    *most, last = models
    return f"{', '.join(most)} and {last}" if most else last


def _price(price: Price | None) -> str:
    if price is None:
        return ""
    return f" (${price.input:g} in, ${price.output:g} out per million tokens)"


def _percents(share: Interval) -> str:
    return f"{share.low * 100:.0f}–{share.high * 100:.0f}%"
