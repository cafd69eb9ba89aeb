"""A contest over many benchmarks as it is published, with the merged rankings of its scores.

A contest has no log and no date: its name is derived from the scores, their standard errors and the
settings. So the same contest has the same files everywhere, and another one never replaces it. Only
scores, names and numbers are published, but no folders or names of the files with the scores.
"""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import numpy as np

from tiebreak.analysis.consensus import Election, elect
from tiebreak.analysis.contests import ContestReport, played_ballots
from tiebreak.analysis.frames import Row
from tiebreak.analysis.standing import whole
from tiebreak.publish.errors import PublishError
from tiebreak.publish.facts import public_names, public_reason
from tiebreak.rankers import competition_ranks
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheets.consensus import election_data, kemeny_lines
from tiebreak.report.sheets.contest import data_of
from tiebreak.tables.scores import ScoreTable, unlike_scales

CSD: Final = "csd"
"""Method of a contest's own rows; rows of merged rankings have the aggregator's name."""

PREFIX: Final = "contest-"
OF_CONTESTS: Final = ("contests/full/", f"runs/{PREFIX}")
"""Prefixes of files whose names determine their content: a hash of scores and settings."""

# An allow list of a contest's data: fields added there later stay private.
_PLAYED: Final = (
    *("rounds", "order_from", "weights", "largest_eliminate"),
    *("contest", "sensitivity"),
)

# The aggregator that takes minutes for a hundred models is left out.
METHODS: Final = tuple(rule.name for rule in AGGREGATORS.values() if not rule.slow)
# Seconds for an exact order. An order that is not proven in time is left out, because a faster
# machine might prove it, and published files never change.
_TIME_LIMIT: Final = 120.0


@dataclass(frozen=True, eq=False, slots=True)
class Contest:
    """A contest with public names, and the rankings merged from the benchmarks in its rounds.

    `table` holds all scores; `notes` name no file. `sources` are the files that were read; they are
    not published, and secrets in them must not be.
    """

    contest_id: str
    report: ContestReport
    table: ScoreTable
    election: Election
    notes: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def played(self) -> tuple[str, ...]:
        """The benchmarks that are in a round, in the table's order."""
        played = {name for names in self.report.rounds for name in names}
        return tuple(name for name in self.table.benchmarks if name in played)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The aggregators without a ranking, and why."""
        failed = self.election.failed.items()
        return tuple(f"{method}: no result: {reason}" for method, reason in failed)


def contest_of(report: ContestReport) -> Contest:
    """The publishable part of a contest, which excludes effects of spoilt scores.

    Raises:
        PublishError: the report does not contain its scores.
        RankingError: no aggregator can use them.
        TableError: no benchmark has scores of two models.
    """
    if report.table is None:
        raise PublishError("The contest does not hold its scores: make it with contest_report(…)")
    sources, table = report.table.sources, _public_table(report.table)
    benchmarks = dict(zip(report.benchmarks, table.benchmarks, strict=True))
    report = replace(
        report,
        models=table.models,
        benchmarks=table.benchmarks,
        rounds=tuple(tuple(benchmarks[name] for name in names) for names in report.rounds),
        table=table,
        spoilt=(),
        notes=(),
        items_reason=public_reason(str(report.items_reason)) if report.items_reason else None,
    )
    election = _proven_ballots(report, table)
    return Contest(
        contest_id=_contest_id(report, table),
        report=report,
        table=table,
        election=election,
        notes=(*_notes(report, table), *map(str, election.notes)),
        sources=sources,
    )


def contest_rows(contest: Contest) -> list[Row]:
    """Contest × method × T × model, best first."""
    return [*_csd_rows(contest), *_merged_rows(contest)]


def score_rows(contest: Contest) -> list[Row]:
    """Contest × model × benchmark, in the table's order; a missing score is null."""
    table = contest.table
    rounds = enumerate(contest.report.rounds, start=1)
    places = {name: number for number, names in rounds for name in names}
    return [
        {
            "contest_id": contest.contest_id,
            "model": model,
            "benchmark": benchmark,
            "round": places.get(benchmark),
            "score": float(table.scores[row, column]),
            "standard_error": math.nan if table.errors is None else table.errors[row, column],
        }
        for row, model in enumerate(table.models)
        for column, benchmark in enumerate(table.benchmarks)
    ]


def contest_manifest(contest: Contest) -> dict[str, Any]:
    """The contest as a whole, with the keys of `csd --json` and `aggregate --json`."""
    played, merged = data_of(contest.report), election_data(contest.election)
    kemeny = contest.election.kemeny
    return document(
        "tiebreak/contest",
        1,
        contest_id=contest.contest_id,
        models=contest.report.models,
        benchmarks=contest.report.benchmarks,
        missing=contest.report.missing,
        csd={name: played[name] for name in _PLAYED},
        merged={name: merged[name] for name in ("candidates", "failed", "results")},
        proof=list(kemeny_lines(contest.election.names, kemeny)) if kemeny else [],
        warnings=list(map(str, contest.report.warnings)),
        notes=[*contest.notes, *contest.left_out],
    )


def _public_table(table: ScoreTable) -> ScoreTable:
    models, benchmarks = (
        {old: new for new, old in public_names(names).items()}
        for names in (table.models, table.benchmarks)
    )
    return replace(
        table,
        models=tuple(models.get(name, name) for name in table.models),
        benchmarks=tuple(benchmarks.get(name, name) for name in table.benchmarks),
        sources=(),
        notes=table.public_notes,
    )


def _proven_ballots(report: ContestReport, table: ScoreTable) -> Election:
    """Merge the benchmarks in the rounds, as ballots; keep only proven results."""
    election = elect(played_ballots(table, report.rounds), METHODS, time_limit=_TIME_LIMIT)
    if election.kemeny is None or election.kemeny.optimal:
        return election
    proven = {k: v for k, v in election.consensuses.items() if k != "kemeny_young"}
    reason = f"no order was proven optimal in {_TIME_LIMIT:g} s"
    failed = {**election.failed, "kemeny_young": reason}
    return replace(election, kemeny=None, consensuses=proven, failed=failed)


def _contest_id(report: ContestReport, table: ScoreTable) -> str:
    made_of = {
        **only(table, "models", "benchmarks"),
        # Adding 0 turns −0.0 into 0.0, so that equal scores have the same hash.
        "scores": table.scores + 0.0,
        "errors": None if table.errors is None else table.errors + 0.0,
        **only(report, "rounds", "weights", "missing"),
        **only(report.result, "iterations", "seed", "level"),
        "eliminate": [result.eliminate for result in report.results],
        "tiers": report.tiers,
        "methods": METHODS,
    }
    text = json.dumps(json_ready(made_of), sort_keys=True)
    return PREFIX + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _notes(report: ContestReport, table: ScoreTable) -> Iterator[str]:
    yield from filter(None, map(public_reason, table.public_notes))
    yield from unlike_scales(table, report.rounds)
    played = {name for names in report.rounds for name in names}
    if unused := [name for name in table.benchmarks if name not in played]:
        yield f"In no round, so not used: {', '.join(unused)}"


def _csd_rows(contest: Contest) -> Iterator[Row]:
    report, sensitivity = contest.report, contest.report.sensitivity
    for number, result in enumerate(report.results):
        # Only the main contest has tiers and intervals over items.
        items, tiers = (report.items, report.tiers) if number == 0 else (None, None)
        ts = set(result.eliminate)
        shared = _shared(contest, CSD, len(contest.played)) | {
            **only(result, "level", "iterations", "seed"),
            "eliminate": ts.pop() if len(ts) == 1 else None,
            "eliminate_by_round": result.eliminate,
        }
        for row in np.argsort(-result.expected_wins, kind="stable").tolist():
            figures: dict[str, Any] = {
                "model": report.models[row],
                "rank": whole(result.rank[row]),
                "value": result.expected_wins[row],
                "standard_error": result.standard_error[row],
                "simulation_rank_lower": whole(result.rank_lower[row]),
                "simulation_rank_upper": whole(result.rank_upper[row]),
                "tier": None if tiers is None else int(tiers[row]),
            }
            if items is not None:
                figures |= {
                    "lower": items.lower[row],
                    "upper": items.upper[row],
                    "rank_lower": whole(items.rank_lower[row]),
                    "rank_upper": whole(items.rank_upper[row]),
                }
            if sensitivity is not None:
                figures |= {
                    "slope": sensitivity.slope[row],
                    "slope_error": sensitivity.slope_error[row],
                    "label": sensitivity.labels[row],
                }
            yield shared | figures


def _merged_rows(contest: Contest) -> Iterator[Row]:
    names, kemeny = contest.election.names, contest.election.kemeny
    for method, consensus in contest.election.consensuses.items():
        shared = _shared(contest, method, consensus.used)
        shared["higher_is_better"] = not consensus.ascending
        if kemeny is not None and method == "kemeny_young":
            shared |= only(kemeny, "cost", "optimal", "unique")
        ranks = competition_ranks(-consensus.ranks)
        for column in chain.from_iterable(consensus.groups):
            yield shared | {
                "model": names[column],
                "rank": whole(ranks[column]),
                "value": consensus.scores[column],
            }


def _shared(contest: Contest, method: str, n: int) -> dict[str, Any]:
    return {
        "contest_id": contest.contest_id,
        "method": method,
        "higher_is_better": True,
        "n_models": len(contest.report.models),
        "n": n,
        "benchmarks": contest.played,
        **only(contest.report, "rounds", "weights", "missing", "order_from"),
    }
