"""The scorer: ballots in the sample's store → `{model: normalized Borda}`, and tables of them.

The scorer makes no calls, so `inspect score LOG --scorer tiebreak/ranking --action overwrite`
recomputes all scores from the stored ballots.

Every metric covers all models at once. For metrics by model, `{"*": [mean()]}`, Inspect would copy
every sample's score and metadata once per model, several times a run. Markdown tables explain the
judging of an item in Inspect View.

A model's own log, into which its ranks were written back, has its own metrics: every ranked sample
has a score `{"rank": 2.0, "borda": 0.86}`. `evals_df` shows them as `score_tiebreak_seal_borda`,
`…_stderr` and `…_place`, whatever reduces the epochs of the log, because only the judged epoch has
a score. Inspect recomputes metrics by name, so their names must differ.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState
from numpy.typing import NDArray
from rich.markup import escape

from tiebreak.candidates import ROSTER_KEY
from tiebreak.rankers import Profile, RankingError, Resampling, kemeny_young
from tiebreak.rankers import spread as mean_gap
from tiebreak.rankers.massey import least_squares as fit_least_squares
from tiebreak.scorers.ballots import (
    STORE_KEY,
    DecidedBy,
    ItemBallots,
    Listing,
    Match,
    restore_ballots,
)
from tiebreak.scorers.bracket import round_name, rounds
from tiebreak.scorers.digits import exact, rounded, three_digits
from tiebreak.scorers.placement import NotPlacedError, place, results, review_ranks
from tiebreak.scorers.rules import RULES
from tiebreak.text import count, visible

RESULTS_KEY = "results"
"""Score metadata: results of an item's matches, as one text that is fast to copy and read.

Three numbers for each: the positions of the two models among the sorted names of the score's
models, and the first model's result, 1, 0.5 or 0.
"""

LONGEST_NAME: Final = 40
"""Longest model name in a metric's name: Inspect's tables in 80 columns have no more room."""


@metric
def borda_by_model() -> Metric:
    """Mean normalized Borda score of every model over its items, in [0, 1] (SEAL, §2.3)."""

    def compute(scores: list[SampleScore]) -> Value:
        return {name: three_digits(_mean(column)) for name, column in _best_first(scores)}

    return compute


@metric
def stderr_by_model() -> Metric:
    """Standard error of every model's mean over items; NaN below two items."""

    def compute(scores: list[SampleScore]) -> Value:
        # The prefix distinguishes these rows from those of other metrics.
        errors = ((name, _standard_error(column)) for name, column in _best_first(scores))
        return {f"stderr:{name}": three_digits(error) for name, error in errors}

    return compute


@metric
def spread() -> Metric:
    """Mean absolute gap between the models' mean Borda scores, over all pairs."""

    def compute(scores: list[SampleScore]) -> float:
        means = [_mean(column) for column in _values(scores)[1].T]
        return three_digits(mean_gap([mean for mean in means if not math.isnan(mean)]))

    return compute


@metric
def least_squares() -> Metric:
    """Strength of every model by least squares over the results of all matches of all items.

    A second view of a log with matches: it uses every result, while a bracket's placement uses the
    round of elimination. Empty without matches, and if some models never met the others.
    """

    def compute(scores: list[SampleScore]) -> Value:
        models = _models(scores)
        first, second, result = _results(scores, models)
        # Models without any match would make the others' strengths undefined.
        met = np.bincount(np.concatenate([first, second]), minlength=len(models)) > 0
        column = np.cumsum(met) - 1
        try:
            fit = fit_least_squares(
                column[first],
                column[second],
                result,
                np.zeros(result.shape, np.int64),  # one sum over all items
                n_models=int(met.sum()),
                # The strengths are needed, but no intervals.
                how=Resampling(draws=1),
            )
        except RankingError:
            return {}
        named = zip(np.array(_shown(models))[met].tolist(), fit.score.tolist(), strict=True)
        strengths = {name: three_digits(strength) for name, strength in named}
        order = [name for name, _ in _best_first(scores) if name in strengths]
        return {f"least_squares:{name}": strengths[name] for name in order}

    return compute


def _models(scores: Sequence[SampleScore]) -> list[str]:
    held = (score.score.value for score in scores)
    return list(dict.fromkeys(name for value in held if isinstance(value, dict) for name in value))


def _shown(models: Sequence[str]) -> list[str]:
    """Model names as unique names of metrics, escaped because Inspect's displays parse rich markup.

    Long names are shortened here because a display would cut off their ends, where models often
    differ. Scores of samples and ballots keep the full names.
    """
    shown = [escape(name) for name in _short([visible(model) for model in models])]
    times = Counter(shown)
    return [
        f"{name} ({number})" if times[name] > 1 else name
        for number, name in enumerate(shown, start=1)
    ]


def _short(names: Sequence[str]) -> list[str]:
    """Shorten names if some are long: drop the common path before a slash, then the middle."""
    if max(map(len, names), default=0) <= LONGEST_NAME:
        return list(names)
    parts = [name.split("/") for name in names]
    columns = zip(*(part[:-1] for part in parts), strict=False)
    same = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
    dropped = same if len(names) > 1 else 0
    kept = ["…" * bool(dropped) + "/".join(part[dropped:]) for part in parts]
    half = LONGEST_NAME // 2
    return [
        name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}" for name in kept
    ]


def rounded_score(
    values: Mapping[str, float],
    metadata: Mapping[str, Any],
    answer: str | None = None,
    explanation: str | None = None,
) -> Score:
    """A score with values rounded for Inspect View; its metadata keep all digits."""
    shown, kept = rounded(values, metadata)
    return Score(value=dict(shown), answer=answer, explanation=explanation, metadata=kept)


def exact_values(score: Score) -> dict[str, float]:
    """The values of a score by model, with all digits; empty if it has no values by model."""
    return exact(score.value, score.metadata) if isinstance(score.value, dict) else {}


def _values(scores: Sequence[SampleScore]) -> tuple[list[str], NDArray[np.float64]]:
    """Models and their values, shape (samples, models); NaN for a missing value."""
    models = _models(scores)
    held = [exact_values(score.score) for score in scores if isinstance(score.score.value, dict)]
    rows = [[values.get(model, math.nan) for model in models] for values in held]
    return models, np.array(rows, np.float64).reshape(len(held), len(models))


def _best_first(scores: Sequence[SampleScore]) -> list[tuple[str, NDArray[np.float64]]]:
    """Models' metric names with their values, best mean first; those without values last."""
    models, values = _values(scores)
    named = zip(_shown(models), values.T, strict=True)
    return sorted(named, key=lambda pair: (math.isnan(_mean(pair[1])), -_mean(pair[1])))


def _results(
    scores: Sequence[SampleScore], models: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """All results as columns: positions of both models in `models`, and the first's 1 / ½ / 0."""
    position = {model: number for number, model in enumerate(models)}
    parts = [np.empty((0, 3))]
    for score in scores:
        text, value = (score.score.metadata or {}).get(RESULTS_KEY), score.score.value
        if isinstance(text, str) and isinstance(value, dict):
            rows = np.fromstring(text, sep=" ").reshape(-1, 3)
            columns = np.array([position[model] for model in sorted(value)])
            rows[:, :2] = columns[rows[:, :2].astype(np.int64)]
            parts.append(rows)
    first, second, result = np.concatenate(parts).T
    return first.astype(np.int64), second.astype(np.int64), result


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(np.mean(known)) if known.size else math.nan


def _standard_error(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(np.std(known, ddof=1) / math.sqrt(known.size)) if known.size > 1 else math.nan


@scorer(metrics=[spread(), borda_by_model(), stderr_by_model(), least_squares()])
def ranking() -> Scorer:
    """Normalized Borda of every model on this item; unscored if the ballots give no ranking."""

    async def score(state: TaskState, target: Target) -> Score:
        return score_ballots(state.store.get(STORE_KEY), state.metadata.get(ROSTER_KEY, ()))

    return score


def score_ballots(stored: Any, roster: tuple[str, ...] | list[str]) -> Score:
    """Score of one item from its stored ballots; `roster` lists all models of the run."""
    try:
        ballots = restore_ballots(stored)
    except ValueError as error:
        return Score.unscored(reason="no_ballots", explanation=f"Not ranked: {error}.")
    table = ballots_table(ballots)
    if ballots.canary:
        return Score.unscored(reason="canary", explanation=f"Planted, and not ranked.\n\n{table}")
    try:
        placement = place(ballots)
    except NotPlacedError as error:
        return Score.unscored(reason="not_placed", explanation=f"{error}\n\n{table}")
    # All models of the run, so that every sample has the same columns.
    value = dict.fromkeys((*roster, *ballots.models), math.nan) | dict(placement.borda)
    best = placement.order[0][0]
    # An item with identical answers has ties and no match; include it if other items have matches.
    by_matches = RULES[ballots.placed_by].by_matches
    position = {model: number for number, model in enumerate(sorted(value))}
    played = " ".join(
        f"{position[first]} {position[other]} {result:g}"
        for first, other, result in (results(ballots) if by_matches else ())
    )
    return rounded_score(value, answer=best, explanation=table, metadata={RESULTS_KEY: played})


def ballots_table(ballots: ItemBallots) -> str:
    """Markdown of the ranking, matches (flips and unscored marked), reviews, points, checklist."""
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
    """One row; `total` is the number of rounds of a bracket, None for other tournaments."""
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
    """The method that merged the reviews; for Kemeny–Young also its cost and proof."""
    if ballots.aggregator != "kemeny_young":
        return f"Merged by {ballots.aggregator}."
    reviews = review_ranks(ballots, ballots.models)
    try:
        order = kemeny_young(Profile.from_ranks(reviews[:, ~np.isnan(reviews).all(axis=0)]))
    except RankingError:
        return "No review can be merged."
    proven = "proven optimal" if order.optimal else "not proven"
    several = {True: "the only optimal order", False: "one of several optimal orders"}
    alone = f"; {several[order.unique]}" if order.unique is not None else ""
    return f"Merged by Kemeny–Young: {count(order.cost, 'pairwise disagreement')}, {proven}{alone}."


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
    """Stars (of a jury: their mean) with the rule's decision and the judges' reasons."""
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
    """Escape text so that it cannot leave its table cell or become a link, an image or HTML."""
    flat = " ".join(text.split())
    for mark in "\\|[`":
        flat = flat.replace(mark, "\\" + mark)
    return flat.replace("<", "&lt;")


# Metrics for a model's own log.


@metric(scores="unreduced")
def borda() -> Metric:
    """Mean normalized Borda score over the ranked samples, in [0, 1] (SEAL, §2.3)."""

    def compute(scores: list[SampleScore]) -> float:
        return _mean(_bordas(scores))

    return compute


@metric(name="stderr", scores="unreduced")
def borda_stderr() -> Metric:
    """Standard error of that mean over samples; NaN below two samples."""

    def compute(scores: list[SampleScore]) -> float:
        return _standard_error(_bordas(scores))

    return compute


@metric(name="place", scores="unreduced")
def board_place(value: int | None, of: int) -> Metric:
    """The model's place on the leaderboard, 1 = best; a single model's log cannot determine it.

    Args:
        value: the place; None if the leaderboard has none, which gives NaN.
        of: number of models on the leaderboard.
    """

    def compute(scores: list[SampleScore]) -> float:
        return math.nan if value is None else float(value)

    return compute


def _bordas(scores: list[SampleScore]) -> NDArray[np.float64]:
    values = [exact_values(score.score) for score in scores]
    return np.array([value["borda"] for value in values if value], np.float64)
