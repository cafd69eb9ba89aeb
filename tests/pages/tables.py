"""What is put in place of words on the pages, and the commands that are not run."""

import re
import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

from tests.fair.bank.serving import KEYS
from tests.pages.shell import Shell

NOT_RUN: Final[Mapping[str, str]] = {
    "pip install": "tests/test_packaging.py",
    "make demo": "tests/demo/test_demo.py",
    "make test": "CONTRIBUTING.md",
    "docker compose": "tests/fair/bank/test_deploy.py",
    "flow run": "tests/test_examples.py",
    "tiebreak rank study/judged": "tests/test_examples.py",
}
"""How commands begin that are not run, and the file that says or does what there is instead.

Packages are installed from locks before any test; this is `make test`'s and `make demo`'s machine;
and it has no Docker.
"""

MADE: Final = "docs/reference/command-line/:tiebreak"
REMOVED: Final[Mapping[str, tuple[str, ...]]] = {
    "docs/fair.md": ("bank.db", "answers", "stars"),
    "docs/organisers.md": ("bank.db",),
    "docs/how-to/clusters.md": ("ranking",),
    "docs/how-to/prompts.md": ("mail-ranking",),
    f"{MADE} bank": ("bank.db",),
    f"{MADE} bank import": ("bank.db",),
    f"{MADE} bank sample": ("questions.jsonl",),
    f"{MADE} bank export": ("questions.jsonl",),
}
"""What the commands of a page make themselves, so that it is not there before."""

GIVEN: Final[Mapping[str, Mapping[str, str]]] = {
    "docs/papers.md": {"TIEBREAK_JWT_SECRET": KEYS.verifying}
}
"""What is in the environment beforehand, since another page speaks of it."""

Replacement = str | Callable[[Shell], str]


def session(number: int, state: str = "complete") -> Callable[[Shell], str]:
    """The id of a session of the bank, counted from the newest."""

    def found(shell: Shell) -> str:
        query = "SELECT id FROM sessions WHERE state = ? ORDER BY created DESC, id"
        with sqlite3.connect(shell.folder / "bank.db") as connection:
            return str(connection.execute(query, [state]).fetchall()[number][0])

    return found


def stars_log(shell: Shell) -> str:
    """The newest log of stars in logs/."""
    found = max(
        (shell.folder / "logs").glob("*_stars_*.eval"), key=lambda path: path.stat().st_mtime
    )
    return f"logs/{found.name}"


def token(shell: Shell) -> str:
    """A new token of the bank."""
    return shell.run("tiebreak bank token --user bea --institution example.org").strip()


def jti(shell: Shell) -> str:
    """The id of a token of the bank."""
    with sqlite3.connect(shell.folder / "bank.db") as connection:
        return str(connection.execute("SELECT jti FROM tokens").fetchone()[0])


_TWICE = " && ".join(
    rf"\1--model one_answer --model_args pretrained={name} --limit 2 \2" for name in "ab"
)
PUT: Final[Mapping[str, Replacement]] = {
    # Fewer items, pools and questions than a reader wants.
    r"k=1000\b": "k=30",
    r"(-T prompting=\w+)": r"\1 -T k=30",
    r"^tiebreak simulate": "tiebreak simulate --repeats 2",
    # The page is opened, and votes.db has the votes that people would give there.
    r"^(tiebreak vote .*) --out votes.db": r"\1 --out new.db",
    # No number of votes tells the models of the stage apart.
    r"^(tiebreak vote .*) --goal logs/": r"\1 --goal 120",
    # Votes on the stage are by nobody.
    r"^tiebreak pairs (.*) --judge-agreement 0.7": r"tiebreak pairs \1 --judge-agreement 0.2",
    r"^tiebreak canary (.*) -n 200": r"tiebreak canary \1 -n 20",
    r"^inspect eval tiebreak/replay": "inspect eval tiebreak/replay --limit 20",
    # A package that is not installed, and no terminal to confirm a price on.
    r"^tiebreak run inspect_evals/gpqa_diamond": "tiebreak run tiebreak/mmlu",
    r"^tiebreak run prompts.jsonl": "tiebreak run prompts.jsonl --yes",
    # No Docker.
    r"^tiebreak run (?=gsm8k)": "tiebreak run --limit 8 ",
    r"^(inspect eval tiebreak/humaneval)": (r"\1 --limit 2 -T sandbox=bubblewrap"),
    r"^tiebreak score-code": "tiebreak score-code --sandbox bubblewrap",
    # What only the reader knows.
    r"'peers=\[…\]'": "'peers=[openai/gpt-5, anthropic/claude-opus-4-5]'",
    r"logs/…_seal_….eval": "logs/2026-11-21_seal.eval",
    r"TIEBREAK_TOKEN=…": lambda shell: f"TIEBREAK_TOKEN={token(shell)}",
    r"(lm_eval run .*)--model … (.*)": _TWICE,
    r'--model local-chat-completions --model_args "model=MODEL,base_url=…"': (
        "--model one_answer --model_args pretrained=a --limit 2"
    ),
    r"bank close 3f2a…": lambda shell: f"bank close {session(0, 'open')(shell)}",
    r"logs/stars\.eval": stars_log,
    r"\bSESSION\b|\b3f2a…": session(0),
    r"\b77c1…": session(1),
    r"\b0f8e5bd2f8b04f1e9a4c7d2b6a3e1c90\b": jti,
    r"\$SLURM_ARRAY_TASK_ID/8": "1/8",
    r"https://exam\.example\.org|http://127\.0\.0\.1:8080": lambda shell: shell.address,
    r"postgresql://me@host/bank": lambda shell: shell.database,
    r"\bMODEL\b": "openai/gpt-5",
    r"\bA,B\b": "openai/gpt-5,anthropic/claude",
    r"\bLOG\b": "logs/2026-11-21_seal.eval",
}
"""Patterns, and what is put in place of what they match."""


def why_not_run(line: str) -> str | None:
    """What there is in place of running this command; None where it is run."""
    return next((why for start, why in NOT_RUN.items() if line.startswith(start)), None)


def put(line: str, shell: Shell) -> str:
    """A line with what is put in place of its words."""
    for pattern, new in PUT.items():
        if re.search(pattern, line):
            text = new if isinstance(new, str) else new(shell)
            line = re.sub(pattern, text, line)
    return line
