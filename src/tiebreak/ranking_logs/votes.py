"""Read a file of people's votes as a ranking log, with votes as ballots and raters as judges.

    several raters of a pair    one match with a verdict by each; boards use the mean result
    both bad                    a tie
    skip                        no ballot
    twice by one rater          the last vote counts
    two models' same answer     needs no vote; the pair counts as met
    stars of a shared answer    count only for the models whose turn it was, because an answer of
                                several models is drawn more often, and is more often right

Votes cost nothing, so there are no calls and no bill.
"""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import mean, median
from typing import Final

from tiebreak.candidates import CONTEST_KEY
from tiebreak.ranking_logs.log import JudgedItem, Kept, RankingLog, ranked_sample
from tiebreak.ranking_logs.votes_file import PersonVote, VotesItem, open_votes_file
from tiebreak.scorers.ballots import VOTES, ItemBallots, Match, PointScore, Verdict
from tiebreak.text import count

_RESULTS: Final = {"first": 1, "second": -1, "tie": 0, "both_bad": 0}


def read_votes_log(
    path: str, *, with_metadata: Kept = False, rater_names: bool = True
) -> RankingLog:
    """Read a votes file, and rank the items that people voted on.

    Without `rater_names` raters are called "rater 1", "rater 2", … in order of their first vote.

    Raises:
        RankingLogError: the file is not a votes file, is damaged or in use, has no votes, or was
            written by a newer Tiebreak.
    """
    with open_votes_file(Path(path)) as file:
        file.require_votes()
        meta, votes = file.meta, file.votes()
        raters = dict.fromkeys(vote.rater for vote in votes)
        names = {
            name: name if rater_names else f"rater {k}" for k, name in enumerate(raters, start=1)
        }
        last = {(vote.rater, vote.item, _shown(vote)): vote for vote in votes}  # the last counts
        by_item: dict[int, list[PersonVote]] = defaultdict(list)
        for vote in last.values():
            if vote.choice != "skip":
                by_item[vote.item].append(replace(vote, rater=names[vote.rater]))
        items = [(file.item(number), of_item) for number, of_item in sorted(by_item.items())]
        if meta.kind == "stars":
            items = [(_stars_in_turn(item, of_item), of_item) for item, of_item in items]
    kept = with_metadata if callable(with_metadata) else dict
    samples = tuple(
        ranked_sample(
            JudgedItem(
                id=item.id,
                epoch=item.epoch,
                ballots=_ballots(item.ballots, of_item),
                target=item.target,
                metadata=kept({CONTEST_KEY: dict(item.contest)}) if with_metadata else {},
            )
        )
        for item, of_item in items
    )
    run, content = (
        hashlib.sha256(repr(parts).encode()).hexdigest()[:22]  # as long as Inspect's ids
        for parts in ((meta.seed, meta.created), votes)
    )
    seconds: dict[str, list[float]] = defaultdict(list)
    for vote in chain.from_iterable(by_item.values()):
        seconds[vote.rater] += [vote.seconds] if vote.seconds is not None else []
    return RankingLog(
        path=path,
        files=(path,),
        task="vote",
        eval_id=content,
        task_id=run,
        created=meta.created,
        status="success",
        protocol=VOTES,
        benchmark=VOTES,
        run="",
        shard=None,
        arguments={"seed": meta.seed, "schedule": meta.schedule},
        planned=tuple(sample.id for sample in samples),
        n_expected=len(samples),
        samples=samples,
        notes=tuple(_notes(votes)),
        seconds={rater: median(times) if times else math.nan for rater, times in seconds.items()},
    )


def _notes(votes: Sequence[PersonVote]) -> Iterator[str]:
    """Notes on votes that are not a plain choice: both bad, skipped, or changed later."""
    counts = Counter(vote.choice for vote in votes)
    if n := counts["both_bad"]:
        yield f"Votes that both answers are bad, which count as ties: {n:,}"
    if n := counts["skip"]:
        yield f"Skipped, which is no vote: {count(n, 'question')}"
    winners: dict[object, set[str]] = defaultdict(set)
    for vote in votes:
        winner = {"first": vote.first, "second": vote.second}.get(vote.choice, vote.choice)
        winners[vote.rater, vote.item, _shown(vote)].add(winner)
    if n := sum(len(of_pair - {"skip"}) > 1 for of_pair in winners.values()):
        yield f"A rater voted otherwise the second time, and the last vote counts: {n:,}"


def _shown(vote: PersonVote) -> frozenset[str]:
    return frozenset((vote.first, vote.second))


def _stars_in_turn(item: VotesItem, votes: Sequence[PersonVote]) -> VotesItem:
    """The item with each group split in two: models whose turn came get the stars, others none."""
    came = {vote.first for vote in votes}
    parts = [
        (group[0], tuple(model for model in group if (model in came) is on_turn))
        for group in item.ballots.groups
        for on_turn in (True, False)
    ]
    leader = {part[0]: first for first, part in parts if part}
    known = item.ballots.lengths
    lengths = {name: known[first] for name, first in leader.items() if first in known}
    update = {"groups": tuple(part for _, part in parts if part), "lengths": lengths}
    answers = {name: item.answers[first] for name, first in leader.items()}
    ballots = item.ballots.model_copy(update=update)
    return replace(item, ballots=ballots, contest={**item.contest, "answers": answers})


def _ballots(empty: ItemBallots, votes: Sequence[PersonVote]) -> ItemBallots:
    leader = {model: group[0] for group in empty.groups for model in group} | {"": ""}
    update: dict[str, object] = {"protocol": VOTES, "complete": True}
    pairs: dict[tuple[str, str], list[PersonVote]] = defaultdict(list)
    for vote in votes:
        if vote.choice != "identical":
            high, low = sorted((leader[vote.first], leader[vote.second]), reverse=not vote.second)
            pairs[high, low].append(vote)
    if empty.placed_by == "stars":
        scores = tuple(_points(model, of_model) for (model, _), of_model in sorted(pairs.items()))
        return empty.model_copy(update={**update, "scores": scores})
    met = dict.fromkeys((*sorted((vote.first, vote.second)),) for vote in votes)
    matches = tuple(
        _match(slot, high, low, of_pair, leader)
        for slot, ((high, low), of_pair) in enumerate(sorted(pairs.items()))
    )
    return empty.model_copy(update={**update, "matches": matches, "scheduled": tuple(met)})


def _match(
    slot: int, high: str, low: str, votes: Sequence[PersonVote], leader: Mapping[str, str]
) -> Match:
    firsts = [leader[vote.first] for vote in votes]
    margins = [_RESULTS[vote.choice] for vote in votes]
    lead = mean(m if first == high else -m for first, m in zip(firsts, margins, strict=True))
    return Match(
        round=1,
        slot=slot,
        high=high,
        low=low,
        verdicts=tuple(
            Verdict(first=first, judge=vote.rater, margin=margin)
            for first, vote, margin in zip(firsts, votes, margins, strict=True)
        ),
        margin=lead,
        winner=low if lead < 0 else high,
        decided_by="votes" if lead else "tie",
    )


def _points(model: str, votes: Sequence[PersonVote]) -> PointScore:
    stars = [(int(vote.choice), vote.rater) for vote in votes]
    parts = [PointScore(candidate=model, stars=n, score=n / 3, judge=rater) for n, rater in stars]
    return PointScore.of_jury(parts, quorum=1)
