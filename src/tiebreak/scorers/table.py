"""The tournament of one item as a Markdown table, for people who look at it in Inspect View."""

from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.bracket import rounds
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.seal import round_name

_DECIDED = {
    "principles": "principles",
    "checklist": "checklist",
    "seed_after_tie": "tie → better seed",
    "seed_after_unscored": "**unscored** → better seed",
}


def bracket_table(ballots: ItemBallots) -> str:
    """Ranking, matches (flips and unscored ones marked) and checklist growth of one item."""
    parts = [_ranking(ballots)]
    if ballots.tiering is not None and ballots.tiering.unscored:
        parts.append(f"Seeding **unscored** ({_cell(ballots.tiering.unscored)}): seeds by lot.")
    if ballots.matches:
        parts.append(_matches(ballots))
    added = [r for r in ballots.refinements if r.item_id and r.duplicate_of is None]
    if added:
        lines = [f"- {r.item_id} ({r.principle_id}): {_cell(r.description)}" for r in added]
        parts.append("\n".join(["Checklist items added:", "", *lines]))
    return "\n\n".join(parts)


def _ranking(ballots: ItemBallots) -> str:
    try:
        order = place(ballots).order
    except NotPlacedError as error:
        return f"**Not ranked**: {_cell(str(error))}."
    lines = ["| place | model |", "|---|---|"]
    position = 1
    for group in order:
        lines.append(f"| {position} | {_cell(' = '.join(group))} |")
        position += len(group)
    return "\n".join(lines)


def _matches(ballots: ItemBallots) -> str:
    total = rounds(len(ballots.seeds))
    lines = [
        "| round | better seed | worse seed | margin | decided by | orders | goes on |",
        "|---|---|---|---|---|---|---|",
        *(_match(match, total) for match in ballots.matches),
    ]
    return "\n".join(lines)


def _match(match: Match, total: int) -> str:
    margin = "–" if match.margin is None else f"{match.margin:+.2f}"
    orders = str(len(match.verdicts)) + (" **flipped**" if match.flipped else "")
    decided = _DECIDED[match.decided_by]
    if match.unscored:
        decided += f" ({match.unscored})"
    cells = [
        round_name(match.round, total),
        match.high,
        match.low,
        margin,
        decided,
        orders,
        match.winner,
    ]
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    """Text that can neither leave its table cell nor become markup of another kind."""
    flat = " ".join(text.split())
    return flat.replace("|", "\\|").replace("<", "&lt;")
