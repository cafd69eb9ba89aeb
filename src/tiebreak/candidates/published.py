"""Pools that somebody published, read as one.

Every published run brings the pool that it judged, so two pools of a dataset may overlap: what is
equal in both is one answer. Two different answers of one model to one item cannot be united.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tiebreak.candidates.errors import CandidateError, UnreadablePoolError
from tiebreak.candidates.hub import HubAddress, download
from tiebreak.candidates.parquet import is_pool, pool_reading, read_parquet
from tiebreak.candidates.pool import Candidate, CandidatePool, Item, ItemKey, Note
from tiebreak.candidates.records import Reading, ReadOptions, item_name


def read_published(path: str, options: ReadOptions) -> Reading:
    """Read the candidates at `hf://datasets/OWNER/NAME[@REVISION][/FILE]`.

    Raises:
        CandidateError: They cannot be downloaded, or there are none; see `hub.download`.
    """
    address = HubAddress.parse(path)
    found = download(address)
    files = [found] if found.is_file() else sorted(found.rglob("*.parquet"))
    pools: dict[str, CandidatePool] = {}
    notes: list[Note] = []
    problems: list[Note] = []
    for file in files:
        where = _where(address, found, file)
        try:
            if is_pool(file):
                pools[where] = read_parquet(file)
            else:
                notes.append(Note("ignored_file", where, "no pool of Tiebreak"))
        except UnreadablePoolError as error:
            problems += [Note("unreadable_log", where, note.what) for note in error.notes]
    if not pools and not problems:
        raise CandidateError.of("not_published", str(address), "holds no pool of Tiebreak")
    united, differences = unite(pools)
    read = pool_reading(united, str(address), options)
    return Reading(read.records, (*notes, *read.notes), (*problems, *differences))


def _where(address: HubAddress, found: Path, file: Path) -> str:
    """Address of one file: paths in a cache tell nobody anything."""
    inside = found.name if file == found else f"{found.name}/{file.relative_to(found).as_posix()}"
    return str(address._replace(file=address.file if file == found else inside))


def unite(pools: Mapping[str, CandidatePool]) -> tuple[CandidatePool, list[Note]]:
    """One pool of several that agree where they overlap.

    Args:
        pools: Pools by where they come from.

    Returns:
        All items and all answers, each once, in the order of the pools; and a problem for every
        model and pair of pools that contradict each other. Of these the first pool's answer is
        kept. Where an answer came from (`source`) is no contradiction.
    """
    items: dict[ItemKey, tuple[Item, str]] = {}
    answers: dict[ItemKey, dict[str, Candidate]] = {}
    origin: dict[tuple[ItemKey, str], str] = {}
    differences: dict[tuple[str, str, str, str], ItemKey] = {}
    for where, pool in pools.items():
        for item, row in pool:
            asked, asker = items.setdefault(item.key, (item, where))
            kept = answers.setdefault(item.key, {})
            for model, candidate in row.items():
                first = kept.setdefault(model, candidate)
                there = origin.setdefault((item.key, model), where)
                if asked.input_hash != item.input_hash:
                    differences.setdefault((item.benchmark, model, asker, where), item.key)
                elif not _same(first, candidate):
                    differences.setdefault((item.benchmark, model, there, where), item.key)
    problems = [
        Note(
            "duplicate_model",
            benchmark,
            f"{model!r} answered {item_name(key)} in two ways: {first}, {second}",
        )
        for (benchmark, model, first, second), key in differences.items()
    ]
    notes = tuple(dict.fromkeys(note for pool in pools.values() for note in pool.notes))
    return CandidatePool(tuple(item for item, _ in items.values()), answers, notes), problems


def _same(one: Candidate, other: Candidate) -> bool:
    # As text, because an undefined score (NaN) is not equal to itself.
    return repr(replace(one, source="")) == repr(replace(other, source=""))
