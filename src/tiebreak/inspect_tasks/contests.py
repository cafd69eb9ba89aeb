"""From a pool to samples: every item becomes a contest that can be restored from its log.

Media of a question are refused, shown to the judge, or reported as missing. Images are part of a
sample's input: Inspect loads image addresses there before the sample starts and logs their content
once, as an attachment; metadata it would write out twice.
"""

import json
import math
import mimetypes
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from logging import getLogger
from pathlib import Path
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageUser, ContentImage

from tiebreak.candidates import (
    CONTEST_KEY,
    LEFT_OUT,
    ROSTER_KEY,
    Candidate,
    CandidateError,
    CandidatePool,
    Item,
    Medium,
    Mode,
    Note,
    identical_groups,
    is_saturated,
    load_by_models,
    load_candidates,
    passed,
)
from tiebreak.inspect_tasks.arguments import CommonArguments, Media, one_of
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.attacks import Canary
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import with_images
from tiebreak.scorers.protocols import Protocol
from tiebreak.scorers.rubric import Rubric, RubricError, builtin_rubrics, load_rubric, rubric_for
from tiebreak.text import count, listed, split_names

logger = getLogger(__name__)

_TASK_ARGUMENTS = {
    "intersect": "-T mode=intersect",
    "same_settings": "-T same_settings=true",
}

NO_CANDIDATES = (
    "No candidates: add -T candidates=PATH, the folder (or files, separated by commas) with the "
    "Inspect logs or lm-eval samples of the models to be ranked."
)


def load_pools(common: CommonArguments, protocol: Protocol) -> tuple[CandidatePool, ...]:
    """Load the pool that `candidates` names; with mode `union` there may be several pools.

    Raises:
        PrerequisiteError: there is no path, the mode is unknown or unsuitable for the protocol, or
            the candidates cannot be judged; the message says what and where.
    """
    candidates, mode, same_settings = common["candidates"], common["mode"], common["same_settings"]
    if not candidates:
        raise PrerequisiteError(NO_CANDIDATES)
    # YAML on the command line turns a folder named 2026 into a number.
    given = candidates if isinstance(candidates, list) else split_names(str(candidates))
    paths = [from_working_directory(str(path)) for path in given if path != ""]
    one_of("mode", mode, ("strict", "intersect", "union"))
    require_comparable(mode, protocol, same_settings)
    try:
        if mode == "union":
            pools = load_by_models(paths)
        else:
            kept: Mode = "strict" if mode == "strict" else "intersect"
            alone = protocol.rule.judges_one
            pools = (load_candidates(paths, mode=kept, alone=alone, same_settings=same_settings),)
    except CandidateError as error:
        raise PrerequisiteError(_to_inspect(error)) from error
    drops = protocol.keyed and common["without_key"] == "drop"
    return _with_keys(pools) if drops else pools


def _to_inspect(error: CandidateError) -> str:
    """The message for a user who gave `-T candidates=…` to Inspect."""
    message = error.message(_TASK_ARGUMENTS)
    if error.options:
        message += (
            f"\nWith {', '.join(error.options)}: `tiebreak candidates … --out pool.parquet`, and "
            "then -T candidates=pool.parquet."
        )
    return message


def require_comparable(mode: str, protocol: Protocol, same_settings: bool = False) -> None:
    """Refuse mode `union` if the protocol compares answers, or if settings are to be compared."""
    if mode == "union" and not protocol.rule.by_grades:
        raise PrerequisiteError(
            f"Mode union keeps items that only some models answered, and {protocol.name} ranks the "
            "answers to an item against each other: a model without an answer would be left out of "
            "some comparisons. It is for protocols that grade answers one by one (stars, "
            "pointwise); here use mode intersect."
        )
    if mode == "union" and same_settings:
        raise PrerequisiteError("Mode union does not compare settings: use mode intersect.")


def from_working_directory(path: str) -> str:
    """Resolve a path relative to the directory in which the user gave the command.

    While Inspect loads a task file by path it changes to that file's directory, and only PWD still
    names the shell's. An address (hf://…) is returned unchanged.
    """
    if "://" in path:
        return path
    loading_by_path = Path.cwd() == Path(__file__).resolve().parent
    return str(Path(os.environ.get("PWD", "")) / path) if loading_by_path else path


def contest_samples(
    *pools: CandidatePool,
    task_type: str | None = None,
    rubric: str | None = None,
    seed: int = 0,
    saturated_only: bool = False,
    merge_identical: bool = True,
    keyed: bool = False,
    stratified: bool = True,
    media: Media = "mark",
) -> list[Sample]:
    """One sample per item, whose metadata describe the contest for the judge and for the log.

    With `keyed` they include the key and the type of the question. Images are in the input.

    Raises:
        PrerequisiteError: an unknown rubric or task type, no saturated item, with `keyed` an item
            without a key, or items with media if `media` is "refuse".
    """
    several = len({benchmark for pool in pools for benchmark in pool.benchmarks}) > 1
    roster = models_of(pools)
    samples = []
    judged = [
        (item, candidates)
        for pool in pools
        for item, candidates in pool
        if not saturated_only or is_saturated(candidates.values())
    ]
    if keyed:
        _require_keys([item for item, _ in judged])
    given = [item for item, _ in judged if item.media]
    if media == "refuse" and given:
        raise PrerequisiteError(refusal(given, len(judged)))
    n_items = Counter(item.benchmark for item, _ in judged)
    position: Counter[str] = Counter()
    for item, candidates in judged:
        name, chosen = _rubric(rubric, task_type, item.benchmark)
        shown = images_of(item) if media == "show" else ()
        content = with_images(item.prompt, [image.source for image in shown])
        contest = {
            "benchmark": item.benchmark,
            "item_id": item.item_id,
            "input_hash": item.input_hash,
            "task": task_text(item, shown),
            "rubric_name": name,
            "rubric": chosen.model_dump(mode="json"),
            "seed": seed,
            "models": sorted(candidates),
            "native": {
                m: None if math.isnan(answer.native_score) else answer.native_score
                for m, answer in sorted(candidates.items())
            },
            **judged_answers(candidates, merge_identical=merge_identical),
            **{name: part for name, part in _parts(item, shown, keyed).items() if part},
            "passed": {
                m: known
                for m, answer in sorted(candidates.items())
                if (known := passed(answer.native_metric, answer.native_score)) is not None
            },
            "stratified": stratified,
            "position": position[item.benchmark],
            "n_items": n_items[item.benchmark],
        }
        position[item.benchmark] += 1
        samples.append(
            Sample(
                id=sample_id(item, with_benchmark=several),
                input=[ChatMessageUser(content=content)] if shown else item.prompt,
                target=item.target,
                metadata={CONTEST_KEY: contest, ROSTER_KEY: roster},
            )
        )
    if not samples:
        raise PrerequisiteError(
            "No item is saturated (all native scores known and equal): "
            "leave out -T saturated_only=true to judge all items."
        )
    return samples


def judged_answers(candidates: Mapping[str, Candidate], *, merge_identical: bool) -> dict[str, Any]:
    """Groups of identical answers (single ones if not merged), and each representative's answer."""
    groups = identical_groups(candidates) if merge_identical else tuple((m,) for m in candidates)
    return {
        "groups": [list(group) for group in groups],
        "answers": {group[0]: candidates[group[0]].answer for group in groups},
    }


def models_of(pools: Sequence[CandidatePool]) -> list[str]:
    """Names of all models, sorted."""
    return sorted({model for pool in pools for model in pool.models})


def restore_contest(metadata: dict[str, Any], input: str | list[ChatMessage] = "") -> Contest:
    """Restore the contest that a sample's metadata and input describe."""
    stored = dict(metadata[CONTEST_KEY])
    parts = (
        [] if isinstance(input, str) else [part for message in input for part in message.content]
    )
    stored["images"] = tuple(part.image for part in parts if isinstance(part, ContentImage))
    stored["rubric"] = Rubric.model_validate(stored["rubric"])
    stored["models"] = tuple(stored["models"])
    canary = stored.get("canary")
    stored["canary"] = None if canary is None else Canary.model_validate(canary)
    stored["groups"] = tuple(tuple(group) for group in stored["groups"])
    return Contest(**stored)


def sample_id(item: Item, *, with_benchmark: bool) -> str:
    """Id of an item's sample: the item's id, with benchmark and epoch added if needed."""
    epoch = f"#{item.key.epoch}" if item.key.epoch > 1 else ""
    return (f"{item.benchmark}:" if with_benchmark else "") + item.item_id + epoch


def _parts(item: Item, shown: Sequence[Medium], keyed: bool) -> dict[str, str]:
    details = item.metadata
    return {
        "subject": str(details.get("subject") or details.get("category") or ""),
        "cluster": str(details.get("raw_uuid") or ""),
        "content_hash": item.content_hash,
        "media": "" if not item.media else "show" if len(shown) == len(item.media) else "mark",
        "unseen": task_text(item) if shown else "",
        "target": item.target if keyed else "",
        "question_type": str(details.get("type") or "") if keyed else "",
    }


def _with_keys(pools: Sequence[CandidatePool]) -> tuple[CandidatePool, ...]:
    """Drop items without a key and note their names; keep all items if none has a key."""
    kept = []
    for pool in pools:
        keyed = tuple(item for item in pool.items if item.target.strip())
        notes = pool.notes
        if names := [item.item_id for item in pool.items if not item.target.strip()]:
            message = f"{count(len(names), 'item')} {LEFT_OUT}: {listed(names, most=50)}"
            notes = (*notes, Note("without_key", ", ".join(pool.benchmarks), message))
            logger.warning("%s", notes[-1])
        kept.append(replace(pool, items=keyed, notes=notes))
    return tuple(kept if any(map(len, kept)) else pools)


def _require_keys(items: Sequence[Item]) -> None:
    without = [f"{item.benchmark} {item.item_id}" for item in items if not item.target.strip()]
    if without:
        raise PrerequisiteError(
            f"{count(len(without), 'item')} of {len(items)} without a key (target): "
            f"{listed(without, most=3)}. Answers are rated by it: export the pool with its keys "
            "(tiebreak bank export), leave these items out with -T without_key=drop, or use a "
            "protocol that needs none, such as tiebreak/pointwise."
        )


def _rubric(path: str | None, task_type: str | None, benchmark: str) -> tuple[str, Rubric]:
    """Name and content of the rubric for an item: the user's own, by task type, or guessed."""
    if path is None and task_type is not None and task_type not in builtin_rubrics():
        raise PrerequisiteError(
            f"task_type is {task_type!r}: it must be one of {', '.join(builtin_rubrics())}. "
            "A rubric file of your own goes into -T rubric=FILE."
        )
    name = from_working_directory(str(path)) if path else task_type or rubric_for(benchmark)
    try:
        return name, load_rubric(name)
    except RubricError as error:
        raise PrerequisiteError(str(error)) from error


def task_text(item: Item, shown: Sequence[Medium] = ()) -> str:
    """The task as judges read it: question, choices, available functions, notes on its media."""
    parts = [item.prompt]
    if item.choices:
        letters = (chr(ord("A") + i) for i in range(len(item.choices)))
        parts.append("\n".join(f"{a}) {c}" for a, c in zip(letters, item.choices, strict=False)))
    if item.tools:
        parts.append(
            "Available functions:\n"
            + "\n".join(json.dumps(tool, ensure_ascii=False) for tool in item.tools)
        )
    hidden = [medium for medium in item.media if medium not in shown]
    marks = ((shown, "shown above"), (hidden, "not shown"))
    parts += [note(media, how) for media, how in marks if media]
    return "\n\n".join(parts)


def refusal(given: Sequence[Item], n_items: int) -> str:
    """Explain why items with media are not judged, and how they can be."""
    benchmarks = ", ".join(dict.fromkeys(item.benchmark for item in given))
    media = _listed([medium for item in given for medium in item.media])
    return (
        f"{benchmarks}: {len(given):,} of {count(n_items, 'item')}, such as {given[0].item_id}, "
        f"came with {media}: add -T media=mark to judge by the text, with a mark of what is not "
        "shown, or -T media=show to show images that the logs hold to a judge that can see."
    )


def images_of(item: Item) -> tuple[Medium, ...]:
    """The images of an item that can be shown: stored in its log, on the web, or readable here."""
    return tuple(m for m in item.media if m.kind == "image" and _can_be_read(m.source))


def _can_be_read(source: str) -> bool:
    """Whether an image is accessible. A log may name any file: only images go to a provider."""
    if source.startswith(("data:", "http://", "https://")):
        return True
    path = Path(source.removeprefix("file://"))
    kind = mimetypes.guess_type(path.name, strict=False)[0] or ""
    # A relative path was relative to another folder; unlike os.path, pathlib fails for long names.
    return kind.startswith("image/") and path.is_absolute() and os.path.isfile(path)  # noqa: PTH113


def note(media: Sequence[Medium], how: str) -> str:
    """Note for a judge about images and files: `how` is "not shown" or "shown above"."""
    were = "was given; it is" if len(media) == 1 else "were given; they are"
    return f"({_listed(media)} {were} {how})"


def _listed(media: Sequence[Medium]) -> str:
    kinds = dict.fromkeys(medium.kind for medium in media)
    *most, last = (_counted(kind, [m.source for m in media if m.kind == kind]) for kind in kinds)
    return f"{', '.join(most)} and {last}" if most else last


def _counted(kind: str, sources: Sequence[str]) -> str:
    noun = {"audio": "recording", "data": "data part"}.get(kind, kind)
    n, article = len(sources), "an" if noun[0] in "aeiou" else "a"
    counted = f"{article} {noun}" if n == 1 else count(n, noun)
    return f"{counted} ({', '.join(sources[:3])}{', …' * (n > 3)})" if kind == "file" else counted
