"""Preference pairs for training: two answers to an item, one of which a judge preferred.

    matches of ranking logs → two different answers each → gates, one after the other → pairs

A match is fit for training if its result does not depend on the order of presentation, no other
match of the logs has the opposite result, and no verified score contradicts it. A match that
several gates leave out is counted for the first of them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from os import PathLike

from tiebreak.analysis.calibration import Concordance, calibration_of
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.frames import Row
from tiebreak.analysis.labelled import JudgeLabel, Key, by_name, join
from tiebreak.analysis.leaderboard import judges_of
from tiebreak.candidates import CONTEST_KEY, same_answer
from tiebreak.paths import Paths
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason, Remark
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.match import in_one_order, judges_in
from tiebreak.tables.human import HumanLabels, read_human_labels
from tiebreak.text import count, natural_key


@dataclass(frozen=True, eq=False, slots=True)
class PreferencePairs:
    """Pairs by benchmark, item and models, and how many of `n_matches` each gate left out.

    A row has the task as judges read it (`prompt`), both answers, and the evidence for the choice:
    `margin` is the mean principle margin of the chosen answer, in [-1, 1], 0 or less if the
    checklist decided; `orders_agreed` is whether it won in both orders of presentation, None if it
    was not judged in both; `people_agreed` whether more people preferred it, None if nobody was
    asked. `judges` are compared with people, empty without people's votes; `logs` are the files.
    """

    rows: tuple[Row, ...]
    n_matches: int
    left_out: Mapping[str, int]
    judges: tuple[Concordance, ...]
    logs: tuple[str, ...]
    notes: tuple[Remark, ...]


_Played = tuple[ItemBallots, Row, str]
"""A match: its item, its row as a pair, and the gate that leaves it out ("" for none)."""


def preference_pairs(
    paths: Paths,
    people: HumanLabels | str | PathLike[str] | None = None,
    *,
    judge_agreement: float = 0.0,
    both_orders: bool = True,
    min_margin: float = 0.0,
) -> PreferencePairs:
    """Pairs of answers with a judge's preference, for training.

    People who voted are numbers, as where results are published.

    Args:
        paths: ranking logs, and folders that hold some, of protocols with matches.
        people: people's preferences of pairs, or their file (see `read_human_labels`).
        judge_agreement: smallest share of labels in which every judge must agree with people (as
            `calibrate` measures it), in [0, 1].
        both_orders: keep only pairs that were judged in both orders, with the same winner.
        min_margin: smallest margin, in [0, 1].

    Raises:
        RankingLogError: a path holds no ranking log.
        TableError: the people's file cannot be read.
        AnalysisError: the logs have no matches, or lack the answers; no match passes the gates; a
            judge agrees too little with people, or it is unknown; people judged no item of these.
    """
    logs = read_ranking_logs(paths, with_metadata=True, with_votes=False, rater_names=False)
    labels = None if people is None else read_human_labels(people)
    judges = _beside_people(logs, labels, judge_agreement)
    parts = (part for log in logs for part in log.parts())
    played = [match for part in parts for match in _played(part, both_orders, min_margin)]
    kept, left_out = _filtered_matches(played)
    if not kept:
        gates = ", ".join(f"{gate}: {n:,}" for gate, n in left_out.items()) or "none"
        asked_once = left_out["one order"] and not left_out["orders differ"]
        by_people = all(item.by_people for item, _, _ in played)
        raise AnalysisError(
            f"No pair is left of {count(len(played), 'match', 'matches')} (left out: {gates}). "
            + "Pairs come from matches between two answers" * (not played)
            + "Lower what is asked for" * (bool(played) and not asked_once)
            + "Take what was judged in one order with --any-order" * asked_once
            + ", or judge with -T swap=always" * (asked_once and not by_people)
        )
    agreed = _people_agreed(kept, labels) if labels else {}
    for number, prefers in agreed.items():
        kept[number][1]["people_agreed"] = prefers
    return PreferencePairs(
        rows=tuple(sorted((row for _, row, _ in kept), key=_place)),
        n_matches=len(played),
        left_out=left_out,
        judges=judges,
        logs=tuple(file for log in logs for file in log.files),
        notes=(
            *(f"{log.path}: {note}" for log in logs for note in log.notes),
            *(labels.remarks if labels else ()),
        ),
    )


def _beside_people(
    logs: Sequence[RankingLog], labels: HumanLabels | None, least: float
) -> tuple[Concordance, ...]:
    """The judges compared with people; raises AnalysisError if one agrees with them too rarely."""
    if labels is None or labels.kind != "preferences":
        if labels or least:
            raise AnalysisError(
                "Agreement about pairs takes people's votes: a file with item_id, model_a, model_b "
                f"and winner{f', and {labels.source} holds {labels.kind}' if labels else ''}"
            )
        return ()
    calibration = calibration_of(logs, labels)
    for note in calibration.notes if least else ():
        if isinstance(note, Reason) and note.kind == "no_usable_label" and note["n"] == note["of"]:
            raise AnalysisError(
                f"{labels.source} has no label of what {note['judge']} judged, so nobody knows "
                "their agreement: let people judge some of it, or leave its logs out"
            )
    judges = tuple(cell for judge in calibration.judges if (cell := calibration.cell(judge)))
    for cell in judges:
        share = cell.agreement
        if not share.value >= least:  # also for NaN
            raise AnalysisError(
                f"{cell.judge} says what people say of {share.value:.1%} of {cell.n} pairs (95% "
                f"interval {share.lower:.1%} to {share.upper:.1%}), and {least:.1%} were asked "
                "for: nothing is written. Ask for less, or use another judge's logs"
            )
    return judges


def _played(log: RankingLog, both_orders: bool, min_margin: float) -> Iterator[_Played]:
    """The matches of one benchmark and protocol with their gates, in the order of the log."""
    called = ", ".join(judges_of(log.items))
    for sample in log.samples:
        item, contest, texts = sample.ballots, sample.metadata.get(CONTEST_KEY), sample.answers
        if item is None or not sample.judged:
            continue
        prompt = contest.get("task") if isinstance(contest, Mapping) else None
        for match in item.matches:
            if not isinstance(prompt, str) or not {match.high, match.low} <= texts.keys():
                raise AnalysisError(
                    f"{log.path} does not hold the task and the answers of {sample.id}, of which "
                    "pairs are made: give the log as the judging wrote it, or leave it out"
                )
            won, lost = match.winner, match.loser
            row: Row = {
                **{"prompt": prompt, "chosen": texts[won], "rejected": texts[lost]},
                "margin": (match.margin or 0.0) * (1 if won == match.high else -1),
                "judge": ", ".join(filter(None, judges_in(match))) or called,
                **{"benchmark": item.benchmark, "item_id": item.item_id},
                **{"chosen_model": won, "rejected_model": lost},
                **{"orders_agreed": _orders_agreed(match), "people_agreed": None},
                "chosen_native": item.native.get(won),
                "rejected_native": item.native.get(lost),
            }
            gates = {  # in order: a match counts for the first one that applies
                "unscored": match.result is None,
                "tie": match.tied,
                "identical": same_answer(texts[won], texts[lost]),
                "media": bool(item.media),
                "unverified": _verified(item, won) < _verified(item, lost),
                "one order": both_orders and row["orders_agreed"] is None,
                "orders differ": both_orders and row["orders_agreed"] is False,
                "margin": min_margin > 0 and row["margin"] < min_margin,
            }
            yield item, row, next((gate for gate, applies in gates.items() if applies), "")


def _verified(ballots: ItemBallots, model: str) -> int:
    """2 for an answer that passed, 0 for one that failed, 1 for one that was not verified."""
    return 2 * ballots.passed[model] if model in ballots.passed else 1


def _orders_agreed(match: Match) -> bool | None:
    """Whether both orders of presentation name the winner; None unless both have a verdict."""
    scored = {verdict.first for verdict in match.verdicts if verdict.margin is not None}
    if len(scored) < 2 or match.result is None:
        return None
    return all(in_one_order(match, order).result == match.result for order in (0, 1))


def _filtered_matches(played: Sequence[_Played]) -> tuple[list[_Played], Counter[str]]:
    """One match for each pair of answers that passes all gates, and counts of those left out.

    Two gates depend on other matches: "contradicted" if one of them chose the other answer, and
    "repeated" if the pair of answers is already included.
    """
    groups: dict[object, list[_Played]] = defaultdict(list)
    for item, row, gate in played:
        answers = frozenset((row["chosen"], row["rejected"]))
        groups[item.benchmark, item.item_id, item.input_hash, answers].append((item, row, gate))
    kept: list[_Played] = []
    left_out: Counter[str] = Counter()
    for matches in groups.values():
        before = len(kept)
        chosen = {row["chosen"] for _, row, gate in matches if gate not in ("unscored", "tie")}
        for item, row, gate in matches:
            if len(chosen) > 1 and gate not in ("unscored", "tie"):
                gate = "contradicted"
            elif not gate and len(kept) > before:
                gate = "repeated"
            if gate:
                left_out[gate] += 1
            else:
                kept.append((item, row, gate))
    return kept, left_out


def _people_agreed(kept: Sequence[_Played], labels: HumanLabels) -> dict[int, bool]:
    """Whether more people preferred the chosen answer, by index in `kept`."""
    judge_labels: dict[Key, list[JudgeLabel]] = defaultdict(list)
    for number, (item, row, _) in enumerate(kept):
        members = {group[0]: group for group in item.groups}
        for pair in product(members[row["chosen_model"]], members[row["rejected_model"]]):
            models, label, texts = by_name(pair, 2, (row["chosen"], row["rejected"]))
            question = item.cluster or item.item_id
            judge_label = JudgeLabel(label, question, item.subject, texts, number)
            judge_labels[item.benchmark, item.item_id, models].append(judge_label)
    lead: Counter[int] = Counter()
    for case in join({"": judge_labels}, labels, Counter())[0]:
        lead[case.row] += int((case.people[2] - case.people[0]) * (case.judges[""] - 1))
    return {row: votes > 0 for row, votes in lead.items()}


def _place(row: Row) -> tuple[object, ...]:
    models = sorted((row["chosen_model"], row["rejected_model"]))
    return row["benchmark"], natural_key(row["item_id"]), models, row["chosen"], row["rejected"]
