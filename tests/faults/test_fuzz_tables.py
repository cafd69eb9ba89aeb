"""Files spoiled at random: each is read in full, or named in an error of ours; nothing else."""

from pathlib import Path

import pytest

from tests.faults.record import Tried, amount, record
from tests.faults.table_files import File, files

LONGEST = 3_000
KINDS = files()
EVERY = {file.name: file for some in KINDS.values() for file in some}


@pytest.mark.parametrize("name", EVERY)
def test_a_sound_file_is_read(name: str, tmp_path: Path) -> None:
    file = EVERY[name]
    found, rows = found_in(file, file.sound, tmp_path), file.rows(file.sound)
    assert found in rows if rows else found is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_spoiled_file_is_read_in_full_or_named(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    each = amount(25, 2_500)
    lost = sum(spoil_and_read(file, seed, tmp_path) for file in KINDS[kind] for seed in range(each))
    tried = each * len(KINDS[kind])
    record(request, Tried(f"spoiled files: {kind}", tried, tried, lost))
    assert lost == 0


def spoil_and_read(file: File, seed: int, folder: Path) -> int:
    """How many rows were lost; any error but the one of this kind of file goes on its way."""
    data = file.spoiled(seed)
    try:
        found = found_in(file, data, folder)
    except file.error as error:
        text = str(error)
        assert len(text) < LONGEST, (file.name, seed)
        text.encode()  # a message with half of a character could not be printed
        return 0
    rows = file.rows(data)
    return 0 if found is None or found in rows or not rows else max(1, max(rows) - found)


def found_in(file: File, data: bytes, folder: Path) -> int | None:
    path = folder / file.name
    path.write_bytes(data)
    return file.read(path)
