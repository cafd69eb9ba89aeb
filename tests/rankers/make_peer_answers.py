"""Write `peer_answers.json`: what pref_voting and svvamp answer on random profiles.

They cannot be installed beside this package's dependencies, so they get an environment of their
own. With Python 3.11, from the repository's root:

    python3.11 -m venv /tmp/peers
    /tmp/peers/bin/pip install pref_voting==1.18.2 svvamp==0.15.2
    PYTHONPATH=. /tmp/peers/bin/python tests/rankers/make_peer_answers.py

Each case is {"kind", "ranks", "answers"}: whole-number ranks, one row per ballot, 0 = not ranked.
The answers, by name:

    borda        pref_voting's Borda scores: Σ N − rank on complete strict ballots; with ties or
                 holes its symmetric score, (ranked below) − (ranked above), where a candidate that
                 a ballot does not rank counts as below all that it ranks.
    copeland     pref_voting's Copeland scores, wins − losses. Pairs that a ballot does not rank in
                 full are ignored (its default).
    irv          pref_voting's instant-runoff ranking, 1 = best, equal = tied: all candidates with
                 the fewest first places go out together. It exists for strict complete ballots.
    irv_put      pref_voting's instant-runoff winners over all ways to break ties for the fewest
                 first places, one candidate at a time; strict complete only.
    irv_winners  pref_voting's instant-runoff winners where ballots have ties or holes: the vote of
                 a ballot is split among its tied tops, all with the fewest votes go out together.
    dodgson      pref_voting's Dodgson scores (an integer program on SCIP); strict complete only.
    kemeny       pref_voting's winners of any Kemeny–Young order; pairs that are not ranked in full
                 are ignored.
    svvamp_*     svvamp's winner, where the profile leaves it no choice: it breaks ties by index,
                 so only profiles are kept on which reversing the columns gives the same winner.
                 Strict complete ballots only.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import svvamp  # type: ignore[import-not-found]
from pref_voting import iterative_methods, other_methods  # type: ignore[import-not-found]
from pref_voting.profiles import Profile  # type: ignore[import-not-found]
from pref_voting.profiles_with_ties import ProfileWithTies  # type: ignore[import-not-found]

from tests.rankers.ballots import FloatArray, mallows, partial, tied, uniform

Answers = dict[str, Any]
SVVAMP = {
    "svvamp_borda": svvamp.RuleBorda,
    "svvamp_copeland": svvamp.RuleCopeland,
    "svvamp_irv": svvamp.RuleIRV,
    "svvamp_kemeny": svvamp.RuleKemeny,
}


def main() -> None:
    """Draw the profiles, ask both peers, write the file."""
    rng = np.random.default_rng(20261122)
    cases = []
    for number in range(300):
        n, ballots = int(rng.integers(2, 7)), int(rng.integers(1, 10))
        ranks = uniform(rng, ballots, n) if number % 2 else mallows(rng, ballots, n, 0.7)
        kind = ("strict", "tied", "partial", "partial and tied")[number // 2 % 4]
        if "tied" in kind:
            ranks = tied(ranks, max(1, n - 2))
        if "partial" in kind:
            ranks = partial(ranks, rng)
            ranks = ranks[~np.isnan(ranks).all(axis=1)]
        answers = strict(ranks) if kind == "strict" else weak(ranks)
        table = np.nan_to_num(ranks).astype(int).tolist()
        cases.append({"kind": kind, "ranks": table, "answers": answers})
    path = Path(__file__).with_name("peer_answers.json")
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def strict(ranks: FloatArray) -> Answers:
    """Answers on strict complete ballots."""
    n = ranks.shape[1]
    profile = Profile([[int(column) for column in row.argsort()] for row in ranks])
    ranking = iterative_methods.instant_runoff_ranking(profile)
    some = iterative_methods.instant_runoff_put(profile)
    scores = [other_methods._dodgson_score(profile, column) for column in range(n)]
    return {
        "borda": [int(profile.borda_scores()[column]) for column in range(n)],
        "copeland": [int(profile.copeland_scores()[column]) for column in range(n)],
        "irv": [int(ranking.rmap[column]) for column in range(n)],
        "irv_put": [int(column) for column in some],
        "dodgson": [int(score) for score in scores],
        "kemeny": [int(column) for column in other_methods.kemeny_young(profile)],
        **svvamp_winners(ranks),
    }


def svvamp_winners(ranks: FloatArray) -> Answers:
    """Winners that do not depend on the order of the columns."""
    winners = {}
    for name, rule in SVVAMP.items():
        one = int(rule()(svvamp.Profile(preferences_rk=ranks.argsort(axis=1))).w_)
        other = int(rule()(svvamp.Profile(preferences_rk=ranks[:, ::-1].argsort(axis=1))).w_)
        if one == ranks.shape[1] - 1 - other:
            winners[name] = one
    return winners


def weak(ranks: FloatArray) -> Answers:
    """Answers on ballots with ties or holes."""
    n = ranks.shape[1]
    ballots = [
        {column: int(rank) for column, rank in enumerate(row) if not np.isnan(rank)}
        for row in ranks
    ]
    profile = ProfileWithTies(ballots, candidates=list(range(n)))
    winners = iterative_methods.instant_runoff(profile, score_method="split")
    return {
        "borda": [int(profile.borda_scores()[column]) for column in range(n)],
        "copeland": [int(profile.copeland_scores()[column]) for column in range(n)],
        "irv_winners": [int(column) for column in winners],
        "kemeny": [int(column) for column in other_methods.kemeny_young(profile)],
    }


if __name__ == "__main__":
    main()
