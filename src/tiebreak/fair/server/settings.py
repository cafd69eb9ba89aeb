"""How a bank is served, and how its worker processes hear of it."""

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Final

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.tokens import Keys, keys_from

VARIABLE: Final = "TIEBREAK_BANK_SERVER"
"""The settings of a worker process, as JSON. Keys are not among them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a bank is served.

    Rates are those of the package `limits` ("100/second"); every worker process counts for itself.
    """

    bank: str
    keys: Keys | None = field(default=None, repr=False)
    balanced: bool = False
    # Of one token, and of one address with any token or none.
    token_rate: str = "100/second"
    address_rate: str = "2000/second"
    # Of one address that shows no token, or one that does not hold.
    stranger_rate: str = "20/second"
    most_body: int = 256 * 1024
    # Seconds in which a request's body has to be there.
    body_timeout: float = 30.0
    # SQLite waits for the disk at every commit, so that an answer survives a power cut, too.
    durable: bool = True

    def exported(self) -> str:
        """For the environment of worker processes, without the keys."""
        values = {name: value for name, value in asdict(self).items() if name != "keys"}
        return json.dumps(values)


def from_environment() -> Settings:
    """What `bank serve` passed to this process; a BankError if that is nothing."""
    if VARIABLE not in os.environ:
        raise BankError(f"{VARIABLE} is not set: start the server with tiebreak bank serve")
    return Settings(keys=keys_from(), **json.loads(os.environ[VARIABLE]))
