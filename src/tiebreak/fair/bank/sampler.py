"""Draws from a bank that is being served: what may be asked is kept in memory."""

import threading
from collections.abc import Collection

from sqlalchemy import Connection, Engine, func, select

from tiebreak.fair.bank.sampling import Originals, draw, entries
from tiebreak.fair.bank.schema import IMPORTS, QUESTIONS


class Sampler:
    """Draws of questions that are approved now. Its methods may be called from any thread.

    What may be asked is read when the number of approved questions or of imports has changed. A
    change that leaves both as they were is found by `approved`, which looks at what was drawn.
    """

    def __init__(self, engine: Engine, *, balanced: bool = False) -> None:
        """Of a bank; `balanced` as for `sampling.draw`. Nothing is read yet."""
        self._engine = engine
        self._balanced = balanced
        self._lock = threading.Lock()
        self._read_at: tuple[int, int] | None = None
        self._there = Originals(())

    def draw(self, k: int, seed: str, seen: Collection[str]) -> dict[str, str]:
        """The raw uuid of each uuid, in the order in which they are asked; `refresh` came before.

        Raises:
            BankError: too few questions are unseen.
        """
        there = self._there  # `refresh` may put others there, because draws do not lock
        uuids = draw(there, k, seed, seen=seen, balanced=self._balanced)
        return {uuid: there.raws[uuid] for uuid in uuids}

    def refresh(self) -> None:
        """Read what may be asked, if it has changed."""
        with self._lock:
            with self._engine.connect() as connection:
                approved = select(func.count()).where(QUESTIONS.c.status == "approved")
                n_imports = connection.execute(select(func.count()).select_from(IMPORTS))
                found = (connection.execute(approved).scalar_one(), n_imports.scalar_one())
            if found != self._read_at:
                self._there = Originals(entries(self._engine))
                self._read_at = found

    def approved(self, connection: Connection, uuids: Collection[str]) -> bool:
        """Whether all may still be asked; if not, all is read anew at the next `refresh`."""
        q = QUESTIONS.c
        # Were the status asked for, SQLite would look through all approved questions.
        chosen = select(q.status).where(q.uuid.in_(list(uuids)))
        if list(connection.execute(chosen).scalars()) == ["approved"] * len(uuids):
            return True
        self._read_at = None
        return False
