"""Settings of the server, and how they reach its worker processes."""

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Final

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.tokens import Keys, keys_from

VARIABLE: Final = "TIEBREAK_BANK_SERVER"
"""The environment variable with a worker's settings as JSON, without keys."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the server.

    Rates have the format of the package `limits` ("100/second"); each worker counts its own.
    """

    bank: str
    keys: Keys | None = field(default=None, repr=False)
    balanced: bool = False
    # Per token, and per address whatever its tokens.
    token_rate: str = "100/second"
    address_rate: str = "2000/second"
    # Per address, requests with no or an invalid token.
    stranger_rate: str = "20/second"
    most_body: int = 256 * 1024
    # Seconds within which a request's body has to arrive.
    body_timeout: float = 30.0
    # Whether SQLite waits for the disk at each commit, so that answers survive a power cut.
    durable: bool = True

    def exported(self) -> str:
        """JSON for the environment of worker processes, without the keys."""
        values = {name: value for name, value in asdict(self).items() if name != "keys"}
        return json.dumps(values)


def from_environment() -> Settings:
    """The settings that `bank serve` passed to this process; a BankError if there are none."""
    if VARIABLE not in os.environ:
        raise BankError(f"{VARIABLE} is not set: start the server with tiebreak bank serve")
    return Settings(keys=keys_from(), **json.loads(os.environ[VARIABLE]))
