"""Consensus rankings and contests: as tables on a terminal, and as data for JSON.

Names come from files: in tables and lines they are shown as plain text, as `console.plain` does.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from rich import box
from rich.table import Table

from tiebreak.rankers.aggregation import Consensus
from tiebreak.rankers.contests.expected_wins import CsdResult
from tiebreak.rankers.contests.sensitivity import FailureSensitivity
from tiebreak.rankers.kemeny.result import Certificate, KemenyResult
from tiebreak.report.cells import UNDEFINED, ranks, whole
from tiebreak.report.terminal import plain
from tiebreak.words import count

# Cycles, and pairs that may be swapped, that lines on the terminal name; --json has all of them.
LISTED = 3
# Candidates of a cycle that a line on the terminal names.
NAMED = 8


def consensus_as_dict(
    names: Sequence[str], consensus: Consensus, kemeny: KemenyResult | None = None
) -> dict[str, Any]:
    """A consensus as data that `json.dumps(…, allow_nan=False)` accepts; undefined is null.

    The shape, with columns replaced by names; what each number means is said at the dataclasses::

        {"method", "ascending", "used", "dropped",
         "ranking": [{"rank", "candidate", "score"}],          best first; equal rank = tied
         "kemeny": null or {"order": [], "cost", "lower_bound", "gap", "optimal", "complete",
                            "unique", "n_optima", "margin", "method", "orders": [[]],
                            "interchangeable": [[]], "condorcet_winner", "cycles": [[]],
                            "certificate": {"cycles": [{"cycle": [], "weight"}], "denominator",
                                            "value"}}}

    Args:
        names: the candidates, in the order of the columns.
        consensus: what any method returned.
        kemeny: the full result of `kemeny_young`, where that is the method.
    """
    ranking = [
        {
            "rank": float(consensus.ranks[column]),
            "candidate": names[column],
            "score": _number(consensus.scores[column]),
        }
        for group in consensus.groups
        for column in group
    ]
    return {
        "method": consensus.method,
        "ascending": consensus.ascending,
        "used": consensus.used,
        "dropped": consensus.dropped,
        "ranking": ranking,
        "kemeny": None if kemeny is None else _kemeny_as_dict(names, kemeny),
    }


def consensus_table(names: Sequence[str], consensus: Consensus) -> Table:
    """The ranking, best first; "2=" says that several candidates share places from 2 on."""
    table = new_table("#", "Candidate", "Score")
    for column, place in places(consensus).items():
        table.add_row(place, plain(names[column]), _shown(consensus.scores[column]))
    return table


def places(consensus: Consensus) -> dict[int, str]:
    """Place of every column, best first: "1", "2=", "2=", "4", where "=" says that it is shared."""
    shown: dict[int, str] = {}
    for group in consensus.groups:
        place = f"{len(shown) + 1}{'=' if len(group) > 1 else ''}"
        shown |= dict.fromkeys(group, place)
    return shown


def consensus_lines(
    names: Sequence[str], consensus: Consensus, kemeny: KemenyResult | None = None
) -> Iterator[str]:
    """Sentences to print with the table, each through `console.plain`."""
    better = "lower" if consensus.ascending else "higher"
    dropped = f", {consensus.dropped:,} dropped" if consensus.dropped else ""
    used = count(consensus.used, "ballot")
    yield f"{consensus.method}: {used} counted{dropped}; a {better} score is better"
    if kemeny is None:
        return
    yield _cost_line(kemeny)
    if kemeny.condorcet_winner is not None:
        yield f"{names[kemeny.condorcet_winner]} beats every other candidate by majority"
    for cycle in kemeny.cycles[:LISTED]:
        yield f"Majorities go round among {_listed([names[column] for column in cycle], NAMED)}"
    if len(kemeny.cycles) > LISTED:
        yield f"{count(len(kemeny.cycles), 'such cycle')} in all"
    for above, below in kemeny.interchangeable[:LISTED]:
        yield f"{names[above]} and {names[below]} may swap places at no cost"
    if len(kemeny.interchangeable) > LISTED:
        yield f"{count(len(kemeny.interchangeable), 'such pair')} of neighbours in all"


def csd_as_dict(models: Sequence[str], result: CsdResult) -> dict[str, Any]:
    """A contest as data for JSON; undefined is null. Fields as in `CsdResult`, one row a model."""
    rows = [
        {
            "rank": _whole(result.rank[row]),
            "model": models[row],
            "expected_wins": _number(result.expected_wins[row]),
            "standard_error": _number(result.standard_error[row]),
            "rank_lower": _whole(result.rank_lower[row]),
            "rank_upper": _whole(result.rank_upper[row]),
        }
        for row in _best_first(result.expected_wins)
    ]
    return {
        "iterations": result.iterations,
        "seed": result.seed,
        "eliminate": list(result.eliminate),
        "level": result.level,
        "control_variate": result.control_variate,
        "reason": result.reason,
        "rows": rows,
    }


def csd_table(models: Sequence[str], result: CsdResult) -> Table:
    """Expected wins with their Monte Carlo error and the ranks that it leaves open."""
    table = new_table("#", "Model", "E[wins]", "± (MC)", f"{result.level * 100:g}% ranks")
    for row in _best_first(result.expected_wins):
        lower, upper = _whole(result.rank_lower[row]), _whole(result.rank_upper[row])
        table.add_row(
            whole(_whole(result.rank[row])),
            plain(models[row]),
            _shown(result.expected_wins[row]),
            _shown(result.standard_error[row], 4),
            ranks(lower, upper),
        )
    return table


def sensitivity_as_dict(models: Sequence[str], result: FailureSensitivity) -> dict[str, Any]:
    """A failure sensitivity analysis as data for JSON; undefined is null.

    One row a model, fields as in `FailureSensitivity`; `expected_wins` and `standard_error` are
    lists over the values of `eliminate`.
    """
    rows = [
        {
            "model": models[row],
            "expected_wins": [_number(value) for value in result.expected_wins[:, row]],
            "standard_error": [_number(value) for value in result.standard_error[:, row]],
            "slope": _number(result.slope[row]),
            "slope_error": _number(result.slope_error[row]),
            "delta": _number(result.delta[row]),
            "delta_error": _number(result.delta_error[row]),
            "label": result.labels[row],
        }
        for row in _best_first(result.expected_wins[0])
    ]
    return {
        "iterations": result.iterations,
        "seed": result.seed,
        "eliminate": list(result.eliminate),
        "level": result.level,
        "rows": rows,
    }


def sensitivity_table(models: Sequence[str], result: FailureSensitivity) -> Table:
    """Expected wins for every T, the slope Λ with its Monte Carlo error, and the label."""
    table = new_table("Model", *(f"T = {t}" for t in result.eliminate), "Λ", "± (MC)", "Label")
    for row in _best_first(result.expected_wins[0]):
        table.add_row(
            plain(models[row]),
            *(_shown(value) for value in result.expected_wins[:, row]),
            _shown(result.slope[row]),
            _shown(result.slope_error[row], 4),
            result.labels[row],
        )
    return table


def new_table(*headings: str) -> Table:
    """An empty table in the style of all reports; names may fold, numbers may not."""
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for heading in headings:
        if heading in ("Candidate", "Model"):
            table.add_column(heading, overflow="fold", min_width=12)
        else:
            side: Literal["left", "right"] = "left" if heading == "Label" else "right"
            table.add_column(plain(heading), justify=side, no_wrap=True)
    return table


def _kemeny_as_dict(names: Sequence[str], kemeny: KemenyResult) -> dict[str, Any]:
    def named(columns: Sequence[int]) -> list[str]:
        return [names[column] for column in columns]

    winner = kemeny.condorcet_winner
    return {
        "order": named(kemeny.order),
        "cost": kemeny.cost,
        "lower_bound": kemeny.lower_bound,
        "gap": kemeny.gap,
        "optimal": kemeny.optimal,
        "complete": kemeny.complete,
        "unique": kemeny.unique,
        "n_optima": kemeny.n_optima,
        "margin": kemeny.margin,
        "method": kemeny.method,
        "orders": [named(order) for order in kemeny.orders],
        "interchangeable": [named(pair) for pair in kemeny.interchangeable],
        "condorcet_winner": None if winner is None else names[winner],
        "cycles": [named(cycle) for cycle in kemeny.cycles],
        "certificate": _certificate_as_dict(names, kemeny.certificate),
    }


def _certificate_as_dict(names: Sequence[str], certificate: Certificate) -> dict[str, Any]:
    return {
        "cycles": [
            {"cycle": [names[column] for column in cycle], "weight": weight}
            for cycle, weight in sorted(certificate.cycles.items())
        ],
        "denominator": certificate.denominator,
        "value": certificate.value,
    }


def _listed(names: Sequence[str], most: int) -> str:
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {count(len(names) - most, 'other')}"


def _cost_line(kemeny: KemenyResult) -> str:
    cost = f"Cost: {count(kemeny.cost, 'pairwise disagreement')}"
    if not kemeny.optimal:
        return f"{cost}, not proven: an optimal order may cost up to {kemeny.gap:,} less"
    if kemeny.unique:
        more = "" if kemeny.margin is None else f"; any other costs at least {kemeny.margin:,} more"
        return f"{cost}, proven optimal, by this order alone{more}"
    if kemeny.n_optima is None:
        others = "others are" if kemeny.unique is False else "others may be"
        return f"{cost}, proven optimal; {others} optimal, too"
    return f"{cost}, proven optimal; one of {kemeny.n_optima:,} optimal orders"


def _best_first(scores: np.ndarray[Any, Any]) -> list[int]:
    """Rows by score, the highest first; equal ones in the order of the table."""
    rows: list[int] = np.argsort(-scores, kind="stable").tolist()
    return rows


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _whole(value: float) -> int | None:
    return int(value) if math.isfinite(value) else None


def _shown(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else UNDEFINED
