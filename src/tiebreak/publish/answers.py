"""The answers behind a run, read from the logs that they came from.

They are published on request only. A pool with other answers than the judged ones is refused,
because judging it again would judge something else.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tiebreak.candidates import (
    ANSWERS_KEY,
    Candidate,
    CandidateError,
    CandidatePool,
    ItemKey,
    load_candidates,
    same_answer,
    write_parquet,
)
from tiebreak.candidates.hub import is_on_hub
from tiebreak.candidates.inspect_files import read_header
from tiebreak.candidates.lm_eval_runs import SAMPLES_ENDS
from tiebreak.paths import AnyPath
from tiebreak.publish.errors import PublishError
from tiebreak.publish.facts import file_name, without_folders
from tiebreak.publish.runs import Run
from tiebreak.publish.secrets import refuse_secrets, score_secrets
from tiebreak.publish.tables import from_parquet, to_parquet
from tiebreak.ranking_logs.votes_file import open_votes_file
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.text import count, listed

# Number of items that a message names, beside their count.
LISTED = 5


def judged_pool(run: Run, places: Sequence[Sequence[AnyPath]]) -> CandidatePool:
    """The pool of a run, restricted to the judged items and models.

    Sources are bare file names, metadata contain no folders of a machine, and models have their
    public names. `places` are paths for `load_candidates`, tried one after the other.

    Raises:
        PublishError: no place has the judged answer of every model to every judged item, or the
            pool would contain a secret of the logs that it came from.
    """
    misses: list[str] = []
    unlike: list[str] = []
    for paths in places:
        shown = listed([str(path) for path in paths], most=LISTED)
        try:
            # Gaps of other models do not matter; gaps in judged rows are found below.
            pool = load_candidates(paths, mode="intersect")
        except CandidateError as error:
            misses.append(f"{shown}: {' '.join(str(error).split())}")
            continue
        if missing := list(_missing(run, pool)):
            misses.append(f"{shown}: {_in_words(missing, len(run.judged))} not there")
        elif other := list(_changed_answers(run, pool)):
            unlike.append(
                f"{shown} holds other answers than {run.log.path} judged, to "
                f"{_in_words(other, len(run.judged))}: another run of these models. Give the files "
                "that were judged: --candidates PATH"
            )
        else:
            return _refuse_secrets(_cut(run, pool), pool)
    if unlike:
        raise PublishError(unlike[0])
    looked = "".join(f"\n  {miss}" for miss in misses)
    raise PublishError(
        f"The answers that {run.log.path} judged cannot be found:{looked or ' no place is known'}\n"
        "Give the folder or files that they were judged from: --candidates PATH"
    )


def places_of(
    run: Run, given: Sequence[AnyPath], paths: Iterable[AnyPath]
) -> list[Sequence[AnyPath]]:
    """Places where the answers of a run may be, in the order in which to try them.

    They are the user's paths, if given; otherwise the folders of the logs, then the sources that
    the logs name, then the task's argument.
    """
    if given:
        return [list(given)]
    places: list[Sequence[AnyPath]] = [[path for path in paths if Path(path).is_dir()]]
    sources: set[str] = set()
    arguments: set[str] = set()
    for path in run.log.files:
        if run.log.seconds:
            with open_votes_file(Path(path)) as file:
                sources |= set(file.meta.sources)
            continue
        spec = read_header(path).eval
        sources |= set(map(str, (spec.metadata or {}).get("candidate_sources") or ()))
        sources |= {path} if ANSWERS_KEY in (spec.metadata or {}) else set()
        argument = spec.task_args.get("candidates") or ()
        arguments |= set(map(str, argument if isinstance(argument, list) else [argument]))
    for named in (sources, arguments):
        places.append([path for path in sorted(named) if is_on_hub(path) or Path(path).exists()])
    return [place for place in places if place]


def pool_file(pool: CandidatePool) -> tuple[str, bytes]:
    """Path of a pool in the dataset, named by a hash of its content, and its bytes."""
    digest = hashlib.sha256()
    for item, row in pool:
        parts = [asdict(item), [asdict(row[model]) for model in sorted(row)]]
        digest.update(json.dumps(parts, sort_keys=True).encode())
    with TemporaryDirectory() as folder:
        written = write_parquet(pool, Path(folder) / "pool.parquet")
        # In small row groups, like the other tables.
        content = to_parquet(from_parquet(written.read_bytes()))
    return f"candidates/{digest.hexdigest()[:16]}.parquet", content


def _missing(run: Run, pool: CandidatePool) -> Iterator[str]:
    hashes = {item.key: item.input_hash for item in pool.items}
    for item in run.ballots:
        key = _key(item)
        answered = pool.candidates.get(key, {})
        asked = hashes.get(key) == item.input_hash
        if not asked or not set(_models(run, item)) <= set(answered):
            yield item.item_id


def _changed_answers(run: Run, pool: CandidatePool) -> Iterator[str]:
    """Ids of the items to which a pool has other answers than the judged ones.

    Of identical answers only one was judged, and they may differ in white space. A log without the
    texts still tells which answers are identical, and how long the judged ones are.
    """
    for sample in run.again():
        item, texts = sample.ballots, sample.answers
        assert item is not None
        row = pool.candidates[_key(item)]
        answers = {name: row[run.names.get(name, name)].answer for name in item.models}
        alike = all(
            same_answer(
                answers[name],
                texts.get(run.names.get(group[0], group[0]), "") if texts else answers[group[0]],
            )
            for group in item.groups
            for name in group
        )
        lengths = {} if texts else item.lengths
        if not alike or any(len(answers[name]) != n for name, n in lengths.items()):
            yield item.item_id


def _cut(run: Run, pool: CandidatePool) -> CandidatePool:
    public = {old: new for new, old in run.names.items()}
    wanted = {_key(item): _models(run, item) for item in run.ballots}
    rows: dict[ItemKey, dict[str, Candidate]] = {}
    for key, models in wanted.items():
        candidates = {public.get(name, name): pool.candidates[key][name] for name in models}
        # Answers are left verbatim: they were judged in this form.
        rows[key] = {
            name: replace(
                candidates[name],
                model=name,
                native_metric=without_folders(candidates[name].native_metric),
                source=file_name(candidates[name].source),
            )
            for name in sorted(candidates)
        }
    items = [
        replace(item, metadata=without_folders(item.metadata))
        for item in pool.items
        if item.key in rows
    ]
    return CandidatePool(tuple(items), rows)


def _refuse_secrets(public: CandidatePool, loaded: CandidatePool) -> CandidatePool:
    """Return the public pool; refuse it if it contains a secret of the logs that it comes from."""
    sources = {candidate.source for row in loaded.candidates.values() for candidate in row.values()}
    # lm-eval's summaries beside the answers contain the model's arguments.
    summaries = {
        str(summary)
        for path in sources
        if path.endswith(SAMPLES_ENDS)
        for summary in Path(path).parent.glob("results*.json*")
    }
    secrets = [secret for path in sorted(sources | summaries) for secret in score_secrets(path)]
    if secrets:
        refuse_secrets(dict([pool_file(public)]), secrets)
    return public


def _key(item: ItemBallots) -> ItemKey:
    return ItemKey(item.benchmark, item.item_id)


def _models(run: Run, item: ItemBallots) -> list[str]:
    """The models of an item, by their names in its log and the pool."""
    return [run.names.get(name, name) for name in item.models]


def _in_words(names: Sequence[str], total: int) -> str:
    named = listed(sorted(set(names)), most=LISTED)
    return f"{len(names):,} of {count(total, 'judged item')} ({named})"
