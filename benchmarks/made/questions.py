"""Made-up questions: a bank of the size of the paper's, two thirds Chinese (table 6)."""

import random
from collections.abc import Iterator

N_QUESTIONS = 220_000
N_RAW = 75_000
NEARLY = 0.03
"""Probability with which every third raw question repeats an earlier one with one more sign."""

_SUBJECTS = ("Medicine", "Law", "Economics", "Engineering", "Education", "History", "Literature")
_ASKED = (
    "{} Is it correct to place the answer “{}” in the provided space?",
    "{}在空格处填入“{}”，对吗？",
)
_SYLLABLES = (
    *("an", "be", "cor", "di", "el", "fro", "gen", "hu", "in", "jo", "ka", "lim", "mo", "nu", "or"),
    *("pra", "qui", "ren", "sta", "tor", "un", "ver", "wa", "zy"),
)
_WORDS = ["".join(random.Random(k).choices(_SYLLABLES, k=1 + k % 4)) for k in range(4_000)]
_FIRST, _SIGNS = 0x4E00, 3_000


def questions(seed: int = 0) -> Iterator[dict[str, object]]:
    """Yield rows of questions: two to four statements for each raw question, with one key."""
    rng = random.Random(seed)
    earlier: list[tuple[str, list[str]]] = []
    made = 0
    for raw in range(N_RAW):
        chinese = raw % 3 != 0
        n = min(4, max(2, round((N_QUESTIONS - made) / (N_RAW - raw))))
        stem, fills = _stem(rng, chinese), [_fill(rng, chinese) for _ in range(n)]
        if raw % 3 == 1 and earlier and rng.random() < NEARLY:
            stem, fills = rng.choice(earlier)
            stem = f"{stem[:20]}的{stem[20:]}"
        elif raw % 3 == 1:
            earlier = [*earlier[-999:], (stem, fills)]
        right = rng.randrange(len(fills))
        for option, fill in enumerate(fills):
            made += 1
            yield {
                "category": _SUBJECTS[raw % len(_SUBJECTS)],
                "sub_category": "",
                "raw_uuid": f"raw-{raw}",
                "question_uuid": f"question-{raw}-{option}",
                "dialog": [{"role": "user", "content": _ASKED[chinese].format(stem, fill)}],
                "hint": "true" if option == right else "false",
            }


def _fill(rng: random.Random, chinese: bool) -> str:
    return _stem(rng, chinese)[: 4 if chinese else 12]


def _stem(rng: random.Random, chinese: bool) -> str:
    if chinese:
        return "".join(chr(_FIRST + int(_SIGNS * rng.random() ** 2)) for _ in range(45))
    return " ".join(rng.choices(_WORDS, k=22))
