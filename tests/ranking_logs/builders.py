"""Small rankings as ballots, and as the Inspect logs that hold them."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalSample,
    EvalSampleLimit,
    EvalSpec,
    ProvenanceData,
    write_eval_log,
)

from tiebreak.candidates import PROTOCOL_KEY, RUN_KEY, SHARD_KEY
from tiebreak.rankers.settlement import SettleFor
from tiebreak.scorers.ballots import (
    STORE_KEY,
    Call,
    CallKind,
    DecidedBy,
    ItemBallots,
    Listing,
    Match,
    PointScore,
    Skipped,
    Tiering,
    Verdict,
    ballots_text,
)
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import settle

CREATED = "2026-01-01T00:00:00+00:00"


def match(
    high: str,
    low: str,
    margin: float | None,
    *,
    round: int = 1,
    first: str | None = None,
    second_order: float | None = None,
    decided_by: DecidedBy | None = None,
    won: Literal["high", "low"] | None = None,
) -> Match:
    """A match with one verdict, or two when `second_order` gives the margin of the swapped one.

    Both margins are positive when `high` is better; None is a verdict without a score. `won` is who
    won where that is not the sign of the margin.
    """
    shown = first or high
    verdicts = [_verdict(shown, high, margin)]
    flipped = None
    if second_order is not None and margin is not None:
        verdicts.append(_verdict(low if shown == high else high, high, second_order))
        flipped = margin * second_order < 0
        margin = (margin + second_order) / 2
    if decided_by is None:
        by_margin: DecidedBy = "principles" if margin else "tie"
        decided_by = "unscored" if margin is None else by_margin
    return Match(
        round=round,
        slot=0,
        high=high,
        low=low,
        verdicts=tuple(verdicts),
        margin=margin,
        winner=low if won == "low" or (not won and (margin or 0) < 0) else high,
        decided_by=decided_by,
        flipped=flipped,
    )


def _verdict(first: str, high: str, margin: float | None) -> Verdict:
    if margin is None:
        return Verdict(first=first, unscored="no JSON in the reply")
    return Verdict(first=first, margin=margin if first == high else -margin)


def call(kind: CallKind = "match", **fields: Any) -> Call:
    usual: dict[str, Any] = {"role": "judge", "model": "j/judge"}
    usual |= {"input_tokens": 100, "output_tokens": 10}
    return Call(kind=kind, **usual | fields)


def item(
    item_id: str,
    matches: Sequence[Match] = (),
    *,
    groups: Sequence[Sequence[str]] = (("a",), ("b",), ("c",)),
    native: Mapping[str, float | None] | None = None,
    calls: Sequence[Call] = (),
    benchmark: str = "gsm8k",
    protocol: str = "seal",
    unseeded: str | None = None,
    complete: bool = True,
) -> ItemBallots:
    """Ballots of one item; seeds in the order of the groups."""
    models = tuple(sorted(model for group in groups for model in group))
    return ItemBallots(
        protocol=protocol,
        benchmark=benchmark,
        item_id=item_id,
        input_hash="0",
        task_type="math_reasoning",
        rubric="math_reasoning",
        seed=0,
        models=models,
        native=dict(native or dict.fromkeys(models, 1.0)),
        groups=tuple(tuple(group) for group in groups),
        tiering=Tiering(unscored=unseeded),
        seeds=tuple(group[0] for group in groups),
        matches=tuple(matches),
        calls=tuple(calls),
        complete=complete,
    )


def sample(
    ballots: ItemBallots | None,
    sample_id: str = "",
    *,
    error: str | None = None,
    invalid: str | None = None,
    limit: Literal["token", "time"] | None = None,
    store: dict[str, Any] | None = None,
) -> EvalSample:
    held = {} if ballots is None else {STORE_KEY: ballots_text(ballots)}
    # A log holds one sample per id and epoch, so the id must tell benchmarks apart.
    own_id = f"{ballots.benchmark}:{ballots.protocol}:{ballots.item_id}" if ballots else "x"
    return EvalSample(
        id=sample_id or own_id,
        epoch=1,
        input="question",
        target="answer",
        metadata={"candidates": {"a": "long text"}},
        store=held if store is None else store,
        error=EvalError(message=error, traceback="", traceback_ansi="") if error else None,
        invalidation=ProvenanceData(author="someone", reason=invalid) if invalid else None,
        limit=EvalSampleLimit(type=limit, limit=1) if limit else None,
    )


def write_log(
    path: Path,
    samples: Sequence[EvalSample | ItemBallots],
    *,
    status: Literal["started", "success", "cancelled", "error"] = "success",
    expected: int | None = None,
    eval_id: str = "E1",
    task_id: str = "T1",
    created: str = CREATED,
    metadata: dict[str, Any] | None = None,
    task_args: dict[str, Any] | None = None,
    model: str = "none/none",
) -> Path:
    """Write a ranking log; `expected` samples were planned (default: those that there are)."""
    written = [one if isinstance(one, EvalSample) else sample(one) for one in samples]
    ids: list[str | int] = [one.id for one in written]
    ids += [f"planned{number}-{task_id}" for number in range((expected or 0) - len(ids))]
    log = EvalLog(
        status=status,
        eval=EvalSpec(
            created=created,
            task="seal",
            eval_id=eval_id,
            task_id=task_id,
            dataset=EvalDataset(name="candidates", samples=len(ids), sample_ids=ids),
            model=model,
            config=EvalConfig(),
            task_args=task_args or {},
            metadata={"tiebreak_protocol": "seal"} if metadata is None else metadata,
        ),
        samples=written,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(log, str(path))
    return path


def write_shards(
    folder: Path, parts: Sequence[Sequence[EvalSample | ItemBallots]], *, run: str = "f00d"
) -> list[Path]:
    """Write what each of several machines judged as the shards of one run: 1.eval, 2.eval, …"""
    paths = []
    for number, part in enumerate(parts, start=1):
        ids = {"eval_id": f"E{number}", "task_id": f"{run}-T{number}"}
        created = f"2026-01-01T00:00:{number:02}+00:00"
        metadata = shard_metadata(number, len(parts), run=run)
        path = folder / f"{number}.eval"
        paths.append(write_log(path, part, created=created, metadata=metadata, **ids))  # type: ignore[arg-type]
    return paths


def shard_metadata(number: int, total: int, *, run: str = "f00d") -> dict[str, Any]:
    return {PROTOCOL_KEY: "seal", SHARD_KEY: f"{number}/{total}", RUN_KEY: run}


def bracket(item_id: str, best: str, middle: str, last: str, **fields: Any) -> ItemBallots:
    """Three candidates: the first seed `best` waits, then `middle` beats `last` and loses."""
    return item(
        item_id,
        [match(middle, last, 0.4), match(best, middle, 0.2, round=2)],
        groups=((best,), (middle,), (last,)),
        **fields,
    )


def graded(item_id: str, points: Mapping[str, float | None], **fields: Any) -> ItemBallots:
    """Points for every candidate on its own; None is a grade that the judge did not give."""
    scores = tuple(
        PointScore(candidate=name, score=own, unscored="no grades" if own is None else None)
        for name, own in points.items()
    )
    fields = {"protocol": "pointwise", "groups": tuple((name,) for name in points)} | fields
    return item(item_id, **fields).model_copy(
        update={"placed_by": "grades", "scores": scores, "tiering": None, "seeds": ()}
    )


def starred(
    item_id: str,
    stars: Mapping[str, int | None] | Mapping[str, Mapping[str, int | None]],
    **fields: Any,
) -> ItemBallots:
    """Stars for every candidate on its own, 0 to 3, by a judge or by the name of each of a jury.

    None is a reply that could not be used.
    """
    by_judge: dict[str, Mapping[str, Any]]
    by_judge = {name: own for name, own in stars.items() if isinstance(own, Mapping)} or {"": stars}
    names = tuple(next(iter(by_judge.values())))
    scores = tuple(
        PointScore.of_jury([_stars(name, own[name], who) for who, own in by_judge.items()], 1)
        for name in names
    )
    update = {"placed_by": "stars", "scores": scores, "tiering": None, "seeds": ()}
    update |= {name: fields.pop(name, "") for name in ("subject", "cluster")}
    fields = {"protocol": "stars", "groups": tuple((name,) for name in names)} | fields
    return item(item_id, **fields).model_copy(update=update)


def _stars(candidate: str, stars: Any, judge: str) -> PointScore:
    score, unscored = (None, "no stars") if stars is None else (stars / 3, None)
    return PointScore(candidate=candidate, stars=stars, score=score, unscored=unscored, judge=judge)


def listed(item_id: str, order: Sequence[Sequence[str]] | None, **fields: Any) -> ItemBallots:
    """All candidates ranked in one call; without an order the reply could not be used."""
    listing = Listing(groups=tuple(map(tuple, order)), unscored=None) if order else None
    return item(item_id, **{"protocol": "listwise"} | fields).model_copy(
        update={
            "placed_by": "listing",
            "listings": (listing or Listing(unscored="no places"),),
            "tiering": None,
            "seeds": (),
        }
    )


def by_native(item_id: str, native: Mapping[str, float | None], **fields: Any) -> ItemBallots:
    """Ranked by the benchmark's own score; nobody is asked."""
    fields = {"protocol": "original", "groups": tuple((name,) for name in native)} | fields
    return item(item_id, native=native, **fields).model_copy(
        update={"placed_by": "native", "tiering": None, "seeds": ()}
    )


def skipped(
    item_id: str, after: int, of: int, *, top: int | None = None, settle_for: SettleFor = "new"
) -> ItemBallots:
    """An item that was not judged, because the ranking was decided."""
    why = Skipped(after=after, of=of, error=0.05, top=top, settle_for=settle_for)
    return item(item_id, complete=False).model_copy(update={"skipped": why})


def all_pairs(
    item_id: str,
    order: Sequence[str],
    *,
    swapped: Sequence[str] = "",
    protocol: str = "full_pairwise",
    **fields: Any,
) -> ItemBallots:
    """Every pair of models judged once, as `order` says (best first; one string: of letters).

    With `swapped` every pair is judged in the second order too, and there as that says.
    """
    models = sorted(order)
    matches = []
    for slot, (one, other) in enumerate(combinations(models, 2)):
        # Either is shown first as often, so that nothing looks like position bias.
        left, right = (one, other) if slot % 2 else (other, one)
        verdicts = [_pair(left, right, order)]
        verdicts += [_pair(right, left, swapped)] if swapped else []
        matches.append(settle(Pairing(1, slot, one, other), verdicts))
    played = item(item_id, matches, groups=[[m] for m in models], protocol=protocol, **fields)
    return played.model_copy(update={"placed_by": "win_rate"})


def _pair(first: str, second: str, order: Sequence[str]) -> Verdict:
    better = order.index(first) < order.index(second)
    return Verdict(first=first, margin=0.5 if better else -0.5, checklist_margin=0.0)
