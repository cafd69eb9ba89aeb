"""Questions that leave the bank in a file, for people who ask elsewhere."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, insert, select

from tiebreak.bank.lookup import questions
from tiebreak.bank.sampling import Share, draw, entries
from tiebreak.bank.schema import SEEN, writing

_KEYS: Final = ("answer", "hint")
_INSIDE: Final = ("status", "parent", "made_by")


def hand_out(
    engine: Engine, k: int, seed: str, institution: str, *, balanced: bool, share: Share
) -> list[str]:
    """Uuids of k questions that the institution was never given, which it has from now on.

    Raises:
        BankError: fewer than k are unseen.
    """
    bank = entries(engine)
    raws = {entry.uuid: entry.raw_uuid for entry in bank}
    # No server may draw for the institution in between.
    with writing(engine) as connection:
        mine = select(SEEN.c.uuid).where(SEEN.c.institution == institution)
        seen = set(connection.execute(mine).scalars())
        uuids = draw(bank, k, seed, seen=seen, balanced=balanced, share=share)
        rows = [
            {"institution": institution, "uuid": uuid, "raw_uuid": raws[uuid]} for uuid in uuids
        ]
        connection.execute(insert(SEEN), rows)
    return uuids


def write_questions(engine: Engine, uuids: list[str], path: Path, *, with_keys: bool) -> None:
    """Write questions as JSON lines that `tiebreak bank import` reads back, if with their keys."""
    left_out = {*_INSIDE, *(() if with_keys else _KEYS)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        for question in questions(engine, uuids):
            row = {name: value for name, value in asdict(question).items() if name not in left_out}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
