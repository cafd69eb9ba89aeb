"""Newcomers: a log of their matches, and the log of all others, are one run of all models.

`inspect eval tiebreak/round_robin -T newcomers=MODEL` asks only what is missing: matches of the new
model. Its log says who is new. A log of the same items and judges that has all others, and in which
no result decided who met whom, is completed by it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tiebreak.ranking_logs.log import JudgedItem, RankingLog, ranked_sample
from tiebreak.ranking_logs.shards import together
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.rules import fits
from tiebreak.words import count, split_names

Key = tuple[str, str, str]
"""Benchmark, item and the hash of its question."""


def join_newcomers(logs: Sequence[RankingLog]) -> list[RankingLog]:
    """Put each log of newcomers' matches together with the log that it completes; others stay.

    Of several logs that it would complete the one with most judged items counts, of equals the
    latest. Where there is none the log stays by itself, with a note. Newcomers may join one after
    the other.
    """
    whole = [log for log in logs if not newcomers_of(log)]
    added = [log for log in logs if newcomers_of(log)]
    for log in sorted(added, key=lambda log: (len(_models(log)), log.age)):
        fitting = [one for one in whole if _completes(log, one)]
        if not fitting:
            names = ", ".join(newcomers_of(log))
            note = (
                f"Only matches of {names} were judged here: give the ranking log of the others, on "
                "the same items and by the same judge, as well"
            )
            whole.append(replace(log, notes=(*log.notes, note)))
            continue
        best = max(fitting, key=lambda one: (one.n_judged, one.created))
        whole = [one for one in whole if one is not best]
        whole.append(_joined(best, log))
    return whole


def newcomers_of(log: RankingLog) -> tuple[str, ...]:
    """The models whose matches alone were asked; empty for other logs."""
    given = log.arguments.get("newcomers")
    if isinstance(given, str):
        return tuple(split_names(given))
    return tuple(map(str, given)) if isinstance(given, list | tuple) else ()


def _completes(new: RankingLog, old: RankingLog) -> bool:
    """Whether a log has the same items, judges and rubric, and all models but the newcomers."""
    return (
        not old.arguments.get("baseline")
        and _models(old) == _models(new) - {*newcomers_of(new)}
        and _judges(old) == _judges(new)
        and {*_by_key(old)} & {*_by_key(new)} != set()
        and all(_anyone_may_meet(item) for item in old.items)
    )


def _anyone_may_meet(item: ItemBallots) -> bool:
    """Whether no result decided who met whom."""
    return fits("points", item)


def _models(log: RankingLog) -> set[str]:
    return {model for item in log.items for model in item.models}


def _judges(log: RankingLog) -> set[tuple[str, str]]:
    """Judges, with the rubric by which they judge."""
    return {
        (call.model, item.rubric)
        for item in log.items
        for call in item.calls
        if call.kind == "match"
    }


def _by_key(log: RankingLog) -> dict[Key, JudgedItem]:
    return {
        (one.ballots.benchmark, one.ballots.item_id, one.ballots.input_hash): one
        for one in log.samples
        if one.ballots and one.judged
    }


def _joined(old: RankingLog, new: RankingLog) -> RankingLog:
    before, after = _by_key(old), _by_key(new)
    files = (*old.files, *new.files)
    return replace(
        old,
        path=together(files, "log"),
        files=files,
        eval_id=new.eval_id,
        task_id=new.task_id,
        status=old.status if new.status == "success" else new.status,
        protocol=new.protocol,
        run=new.run,
        arguments=new.arguments,
        settings=new.settings or old.settings,
        planned=new.planned,
        n_expected=new.n_expected,
        samples=tuple(_joined_samples(before, after)),
        canaries=(*old.canaries, *new.canaries),
        notes=(*old.notes, *new.notes, *_missing(before, after)),
    )


def _joined_samples(
    before: dict[Key, JudgedItem], after: dict[Key, JudgedItem]
) -> Iterator[JudgedItem]:
    for key, sample in after.items():
        if key in before:
            one, other = before[key].ballots, sample.ballots
            assert one is not None
            assert other is not None
            yield ranked_sample(replace(sample, ballots=_joined_ballots(one, other)))


def _joined_ballots(old: ItemBallots, new: ItemBallots) -> ItemBallots:
    """The ballots of all models: matches of the old ones under the names that now stand for them.

    A newcomer may have given an answer that others gave before: then its matches are theirs.
    """
    leader = {model: group[0] for group in new.groups for model in group}
    renamed = [
        replace(
            match,
            high=leader[match.high],
            low=leader[match.low],
            winner=leader[match.winner],
        )
        for match in old.matches
    ]
    met = {frozenset((match.high, match.low)) for match in renamed}
    added = [match for match in new.matches if frozenset((match.high, match.low)) not in met]
    pairs = old.scheduled or tuple(
        (one, other) for one in old.models for other in old.models if one < other
    )
    return new.model_copy(
        update={
            "matches": (*renamed, *added),
            "scheduled": (*pairs, *new.scheduled),
            "calls": (*old.calls, *new.calls),
            "lengths": {**{leader[one]: n for one, n in old.lengths.items()}, **new.lengths},
        }
    )


def _missing(before: dict[Key, JudgedItem], after: dict[Key, JudgedItem]) -> Iterator[str]:
    alone = len({*before} ^ {*after})
    if alone:
        yield f"{count(alone, 'item')} that only one of the logs judged to the end left out"
