"""Credentials as they stand in environments: their shapes are real, what they hold is made up.

They are put together at run time: a scanner that reads this file finds none.
"""

import base64
import json
import random
import re
import string
import uuid
from dataclasses import dataclass
from functools import cache
from urllib.parse import quote

from tests.cases import cases

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
LETTERS = {
    "LETTERS": string.ascii_letters,
    "ALNUM": ALNUM,
    "B64": ALNUM + "+/",
    "URL64": ALNUM + "-_",
    "AZURE": ALNUM + ".~_-",
    "HEX": HEX,
    "UPPER_HEX": HEX.upper(),
    "LOWER": string.ascii_lowercase,
    "LOWER36": string.ascii_lowercase + string.digits,
    "UPPER32": string.ascii_uppercase + "234567",
    "DIGITS": "123456789",
    "HIGH_DIGITS": "3456789",
}


@dataclass(frozen=True)
class Shape:
    """A variable that holds credentials: `parts` are what must not be found in what is published.

    `neutral` shapes are told by their look alone, whatever the variable is called.
    """

    name: str
    variable: str
    value: str
    parts: tuple[str, ...]
    neutral: bool


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def filled(self, form: str) -> str:
        """A form with letters in its places, drawn from left to right."""
        return re.sub(r"{(\w+):(\d+)}", lambda place: self.drawn(place[1], int(place[2])), form)

    def drawn(self, kind: str, n: int) -> str:
        if kind == "UUID":
            return str(uuid.UUID(bytes=self.random.randbytes(16), version=4))
        return "".join(self.random.choices(LETTERS[kind], k=n))

    def jwt(self) -> str:
        def part(data: dict[str, object]) -> str:
            return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")

        claims = {"sub": self.drawn("HEX", 12), "exp": 1800000000, "scope": "write"}
        return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{self.drawn('URL64', 43)}"

    def pem(self, kind: str, n: int) -> str:
        body = base64.b64encode(self.random.randbytes(n)).decode()
        lines = [body[at : at + 64] for at in range(0, len(body), 64)]
        return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])


@cache
def shapes(seed: int = 0) -> tuple[Shape, ...]:
    """All shapes, with contents of this seed."""
    make = _Maker(seed)
    made: list[Shape] = []

    def add(name: str, variable: str, value: str, *parts: str, neutral: bool = True) -> None:
        made.append(Shape(name, variable, value, parts or (value,), neutral))

    def add_all(table: str) -> None:
        for name, (variable, form, *named) in cases(__file__, table).items():
            value = make.filled(form)
            parts = re.findall("<<(.*?)>>", value)
            add(name, variable, re.sub("<<|>>", "", value), *parts, neutral=not named)

    add_all("providers")
    private = make.pem("PRIVATE KEY", 1216)
    account = {
        "type": "service_account",
        "project_id": "lab-evaluations",
        "private_key_id": make.drawn("HEX", 40),
        "private_key": private,
        "client_email": "ranker@lab-evaluations.iam.gserviceaccount.com",
        "token_uri": "https://oauth2.googleapis.com/token",
    }
    lines, text = private.split("\n"), json.dumps(account)
    parts = (private, lines[9], account["private_key_id"])
    add("Google service account", "GOOGLE_CREDENTIALS", text, *parts)
    add("Google service account, neutral", "GCP_JSON", text, lines[5])
    add_all("services")
    token = make.jwt()
    add("JWT", "SESSION", token, token, token.rpartition(".")[2])
    add("JWT in a header", "EXTRA_HEADERS", f"Authorization: Bearer {token}", token)
    add_all("addresses")
    spoken = make.filled("{LOWER:6} {LOWER:7}!")
    dsn = f"host=db.example.org user=ranker password='{spoken}' dbname=ranks"
    add("libpq", "PG_CONNECTION", dsn, spoken)
    sql = make.filled("{ALNUM:6}#{ALNUM:4}")
    add("SQL Server", "CONNECTION", f"Server=tcp:db.example.org;User ID=r;Password={sql};", sql)
    signed = quote(make.filled("{B64:43}="), safe="")
    sas = f"https://lab.blob.core.windows.net/logs?sv=2024-11-04&se=2027-01-01&sig={signed}"
    add("Azure SAS", "LOG_STORE", sas, signed)
    key = make.pem("OPENSSH PRIVATE KEY", 330)
    add("private key", "DEPLOY", key, key, key.split("\n")[5])
    add("private key on one line", "DEPLOY_1", key.replace("\n", "\\n"), key.split("\n")[4])
    add_all("lists")
    keys = [make.filled("sk-{HEX:32}") for _ in range(2)]
    add("list of keys, spaced", "KEYS_OF_THE_LAB", "; ".join(keys), *keys)
    add("JSON list of keys", "POOL", json.dumps(keys), *keys)
    short = [make.filled("{ALNUM:4}-{ALNUM:5}") for _ in range(2)]
    teams = ",".join(f"team{number}:{key}" for number, key in enumerate(short))
    add("named keys", "API_KEYS", teams, *short, neutral=False)
    pair = make.filled("ada:{ALNUM:12}")
    encoded = base64.b64encode(pair.encode()).decode()
    add("basic auth, encoded", "AUTH_BASIC", f"Basic {encoded}", encoded, neutral=False)
    add("in JSON", "SETTINGS", json.dumps({"db": {"password": spoken}}), spoken)
    add_all("passwords")
    return tuple(made)
