"""The judging of one item as Markdown tables, for people who look at it in Inspect View."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tiebreak.rankers import Profile, RankingError, kemeny_young
from tiebreak.scorers.ballots import DecidedBy, ItemBallots, Listing, Match
from tiebreak.scorers.bracket import round_name, rounds
from tiebreak.scorers.orders import review_ranks
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.rules import RULES
from tiebreak.text import count


def ballots_table(ballots: ItemBallots) -> str:
    """Ranking, matches (flips and unscored ones marked), reviews, points, checklist growth."""
    parts = [_ranking(ballots)]
    alone = len(ballots.groups) == 1 and not RULES[ballots.placed_by].judges_one
    if ballots.complete and alone:
        parts.append("All answers are identical: nobody was asked.")
    if ballots.tiering is not None and ballots.tiering.unscored:
        parts.append(f"Seeding **unscored** ({_cell(ballots.tiering.unscored)}): seeds by lot.")
    if ballots.matches:
        parts.append(_matches(ballots))
    if ballots.reviewers and ballots.listings:
        parts += [_reviews(ballots), _consensus(ballots)]
    if ballots.scores:
        parts.append(_points(ballots))
    added = [r for r in ballots.refinements if r.item_id and r.duplicate_of is None]
    if added:
        lines = [f"- {r.item_id} ({r.principle_id}): {_cell(r.description)}" for r in added]
        parts.append("\n".join(["Checklist items added:", "", *lines]))
    return "\n\n".join(parts)


def _ranking(ballots: ItemBallots) -> str:
    try:
        placement = place(ballots)
    except NotPlacedError as error:
        return f"**Not ranked**: {_cell(str(error))}."
    rows = []
    position = 1
    for group in placement.order:
        rows.append((str(position), " = ".join(group)))
        position += len(group)
    rows += [("–", model) for model in ballots.models if model not in placement.ranks]
    return _table(("place", "model"), rows)


def _matches(ballots: ItemBallots) -> str:
    total = rounds(len(ballots.seeds)) if RULES[ballots.placed_by].knockout else None
    headings = ("round", "candidate", "opponent", "margin", "decided by", "orders", "winner")
    return _table(headings, [_match(match, total) for match in ballots.matches])


def _match(match: Match, total: int | None) -> tuple[str, ...]:
    """One row; `total` is the number of rounds where the winner of a match goes on."""
    margin = "–" if match.margin is None else f"{match.margin:+.2f}"
    orders = str(len({v.first for v in match.verdicts})) + (" **flipped**" if match.flipped else "")
    decided, winner = _outcome(match.decided_by, match.winner, goes_on=total is not None)
    if match.unscored:
        decided += f" ({match.unscored})"
    name = f"Round {match.round}" if total is None else round_name(match.round, total)
    return name, match.high, match.low, margin, decided, orders, winner


def _outcome(decided_by: DecidedBy, winner: str, *, goes_on: bool) -> tuple[str, str]:
    if decided_by in ("principles", "checklist"):
        return decided_by, winner
    word = "tie" if decided_by == "tie" else "**unscored**"
    return (f"{word} → better seed", winner) if goes_on else (word, "–")


def _reviews(ballots: ItemBallots) -> str:
    headings = ("reviewer", "its ranking, best first", "shown in this order")
    rows = [
        (listing.reviewer, _ranked(listing), ", ".join(listing.shown))
        for listing in ballots.listings
    ]
    return _table(headings, rows)


def _ranked(listing: Listing) -> str:
    ranked = " > ".join(" = ".join(tied) for tied in listing.groups)
    if listing.unscored:
        ranked = f"**unscored** ({listing.unscored})"
    if listing.left_out:
        ranked += f"; did not fit its context: {', '.join(listing.left_out)}"
    return ranked


def _consensus(ballots: ItemBallots) -> str:
    """By which method the reviews were merged; for Kemeny–Young what the order costs, and proof."""
    if ballots.aggregator != "kemeny_young":
        return f"Merged by {ballots.aggregator}."
    reviews = review_ranks(ballots, ballots.models)
    try:
        found = kemeny_young(Profile.from_ranks(reviews[:, ~np.isnan(reviews).all(axis=0)]))
    except RankingError:
        return "No review can be merged."
    proven = "proven optimal" if found.optimal else "not proven"
    several = {True: "the only optimal order", False: "one of several optimal orders"}
    alone = f"; {several[found.unique]}" if found.unique is not None else ""
    return f"Merged by Kemeny–Young: {count(found.cost, 'pairwise disagreement')}, {proven}{alone}."


def _points(ballots: ItemBallots) -> str:
    if ballots.placed_by == "stars":
        return _stars(ballots)
    rows = []
    for score in ballots.scores:
        given: Mapping[str, int | str] = score.grades or {
            p.judge: "–" if p.score is None else f"{p.score:.2f}" for p in score.parts
        }
        grades = ", ".join(f"{name} {grade}" for name, grade in given.items())
        points = f"**unscored** ({score.unscored})" if score.score is None else f"{score.score:.2f}"
        rows.append((score.candidate, points, grades))
    return _table(("candidate", "points", "grades"), rows)


def _stars(ballots: ItemBallots) -> str:
    """Stars, of a jury their mean, with what a rule decided and the reasons that judges gave."""
    rows = []
    for score in ballots.scores:
        stars = (
            f"**unscored** ({score.unscored})" if score.score is None else f"{3 * score.score:.3g}"
        )
        known = {None: "–", True: "correct", False: "wrong"}[score.correct]
        reasons = [
            f"{part.judge}: {'–' if part.stars is None else part.stars} {part.reason}"
            for part in score.parts
        ]
        rows.append((score.candidate, stars, known, "; ".join(reasons) or score.reason))
    return _table(("candidate", "stars", "by rule", "reason"), rows)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in (headings, *rows)]
    lines.insert(1, "|---" * len(headings) + "|")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Text that can neither leave its table cell nor become a link, an image or HTML."""
    flat = " ".join(text.split())
    for mark in "\\|[`":
        flat = flat.replace(mark, "\\" + mark)
    return flat.replace("<", "&lt;")
