"""Find exact and near duplicates of questions.

Exact duplicates have equal normalised texts and options, in any order (`digest_of`).

For near duplicates, MinHash signatures of character shingles give candidates (datasketch's scheme
affine32, computed for thousands of questions at once). Shingles need no words and so suit Chinese.
Each pair is then compared directly (`alike`): by Jaccard's index of the shingles, and by what makes
questions with the same stem different: numbers, quotations, negations and keys. Siblings share
their stem and do not count as near duplicates of each other. Phrases that only say how to answer
("Judge whether …") do not count. The tests measure how often `alike` is right.

Source: LLMEval-Fair, A.2.2 ("redundancy checks"); Broder (1997) for MinHash.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from string import ascii_uppercase
from typing import TYPE_CHECKING, Final

import numpy as np

from tiebreak.fair.bank.question import BLANK, BankQuestion
from tiebreak.plain_yaml import packaged

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHINGLE: Final = 3
"""Number of characters of a shingle."""

PERMUTATIONS: Final = 64
ROWS: Final = 3
"""Values in a band. Of 21 bands, a pair with Jaccard's index 0.6 shares one with p = 0.99."""

THRESHOLD: Final = 0.6
"""Minimum Jaccard index of two questions that are alike."""

KEY_THRESHOLD: Final = 0.2
"""Minimum Jaccard index of their keys in free text, which people word differently."""

NEIGHBOURS: Final = 32
"""Number of questions in the same band that each is compared with; more just share a phrase."""

SEED: Final = 1  # stored signatures depend on it

_SHORT_KEYS = frozenset({"true_false", "multiple_choice", "fill_in"})  # must be equal

_START, _END = "\x02", "\x03"  # which no normalised text has
_BRACKET = re.compile(r"[_＿(（\[【]")
_PROSE = re.compile(
    r"[\x00-\x1f\s\u200b-\u200d\ufeff\u00ad"  # controls, blanks and invisible characters
    r"!?;:'\"…。、‘’“”「」『』《》〈〉【】\[\]()]+"
)
_POINT = re.compile(r"[.,](?!\d)")  # not that of a number
_PHRASES = packaged(__file__, "phrases.yaml")
_HOW_TO_ANSWER = re.compile("|".join(_PHRASES["how_to_answer"]))
_SAYS_HOW = tuple(chain.from_iterable(_PHRASES["says_how"]))
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_QUOTED = re.compile(r"[\"“「『《]([^\"”」』》]+)[\"”」』》]")
_NEGATION = re.compile("|".join(_PHRASES["negation"]), re.IGNORECASE)
_TRUE_OR_FALSE = re.compile(r"true\s*(?:or|/)\s*false|(?:正确|对)\s*(?:或|/)\s*(?:错误|错)", re.I)


def normal(text: str) -> str:
    """A text in NFKC without what retyping may change: case, blanks, punctuation of prose."""
    if _BRACKET.search(text):
        text = BLANK.sub("_", text)
    folded = unicodedata.normalize("NFKC", text).casefold()
    for dash in "−–—":
        folded = folded.replace(dash, "-")
    return _POINT.sub("", _PROSE.sub("", folded))


def normal_parts(question: BankQuestion) -> tuple[str, ...]:
    """The normalised text, then the normalised options in the order of the alphabet."""
    return (normal(question.question), *sorted(map(normal, question.options)))


def digest_of(parts: Sequence[str]) -> str:
    """SHA-256 of `normal_parts`; equal for exact duplicates."""
    return hashlib.sha256(_END.join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def key_of(question: BankQuestion) -> str:
    """The normalised key; for a choice the option's text, because letters depend on the order."""
    if question.type == "true_false":
        return question.answer
    place = ascii_uppercase.find(question.answer) if len(question.answer) == 1 else -1
    if question.type == "multiple_choice" and 0 <= place < len(question.options):
        return normal(question.options[place])
    return normal(question.answer)


def alike(first: BankQuestion, other: BankQuestion) -> bool:
    """Whether two questions are near duplicates (see above), or exact ones with the same key."""
    if first.raw_uuid == other.raw_uuid or first.type != other.type:
        return False
    keys = key_of(first), key_of(other)
    if first.type in _SHORT_KEYS and keys[0] != keys[1]:
        return False
    (numbers, quoted, negations), marks = _marks(first), _marks(other)
    # Names may be in quotation marks or not, so no quotation differs from none.
    same_quoted = quoted == marks[1] or not (quoted and marks[1])
    if not (numbers == marks[0] and same_quoted and negations == marks[2]):
        return False
    if jaccard(shingles(first), shingles(other)) < THRESHOLD:
        return False
    if first.type in _SHORT_KEYS:
        return True
    return jaccard(*({*_windows(f"{_START}{key}{_END}")} for key in keys)) >= KEY_THRESHOLD


def jaccard(first: set[str], other: set[str]) -> float:
    """Size of the intersection over that of the union, in [0, 1]; 1 for two empty sets."""
    union = len(first | other)
    return len(first & other) / union if union else 1.0


@lru_cache(maxsize=4_096)
def shingles(question: BankQuestion) -> set[str]:
    """Runs of `SHINGLE` characters of the text and of each option, with their ends marked."""
    parts = _padded(normal_parts(question))[1:-1].split(_END + _START)
    return {window for part in parts for window in _windows(f"{_START}{part}{_END}")}


def _windows(text: str) -> Iterator[str]:
    for start in range(max(1, len(text) - SHINGLE + 1)):
        yield text[start : start + SHINGLE]


def _padded(parts: Sequence[str]) -> str:
    text, *options = parts
    if any(word in text for word in _SAYS_HOW):
        text = _HOW_TO_ANSWER.sub("", text) or text
    return "".join(f"{_START}{part or '_'}{_END}" for part in (text, *options))


@lru_cache(maxsize=4_096)
def _marks(question: BankQuestion) -> tuple[list[str], list[str], int]:
    """Numbers, quotations and count of negations, by which questions with one stem can differ."""
    text = unicodedata.normalize("NFKC", "\n".join((question.question, *sorted(question.options))))
    quoted = sorted(normal(quotation) for quotation in _QUOTED.findall(text))
    negations = _NEGATION.findall(_TRUE_OR_FALSE.sub("", text))
    return sorted(_NUMBER.findall(text)), quoted, len(negations)


def signatures(questions: Sequence[Sequence[str]]) -> "NDArray[np.uint32]":
    """MinHash of each `normal_parts`, equal to datasketch's: shape (questions, PERMUTATIONS)."""
    hashes, starts = _hashes([_padded(parts) for parts in questions])
    signed = np.empty((len(questions), PERMUTATIONS), dtype=np.uint32)
    factors, summands = _permutations()
    for place, (factor, summand) in enumerate(zip(factors, summands, strict=True)):
        signed[:, place] = np.minimum.reduceat(hashes * factor + summand, starts)
    return signed


@cache
def _permutations() -> "NDArray[np.uint32]":
    from datasketch import MinHash

    made = MinHash(num_perm=PERMUTATIONS, seed=SEED, scheme="affine32").permutations
    return np.array(made, dtype=np.uint32)


def _hashes(texts: Sequence[str]) -> tuple["NDArray[np.uint32]", "NDArray[np.intp]"]:
    """Hashes of all shingles, mixed as by datasketch, and the start of each text's hashes."""
    encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(encoded, dtype=np.uint32)
    first, middle, last = codes[:-2], codes[1:-1], codes[2:]
    start, end = ord(_START), ord(_END)
    # A shingle has a start only as its first character, and an end only as its last.
    inside = (first != end) & (middle != end) & (middle != start) & (last != start)
    lengths = np.fromiter(map(len, texts), dtype=np.intp, count=len(texts))
    places = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    before = np.concatenate(([0], np.cumsum(inside)))
    hashes = shingle_hash(first[inside], middle[inside], last[inside])
    # MurmurHash3's final mix, which datasketch applies to hashes first.
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashes = (hashes ^ (hashes >> np.uint32(shift))) * np.uint32(factor)
    hashes ^= hashes >> np.uint32(16)
    return hashes, before[places].astype(np.intp)


def shingle_hash(
    first: "NDArray[np.uint32]", middle: "NDArray[np.uint32]", last: "NDArray[np.uint32]"
) -> "NDArray[np.uint32]":
    """A hash of three code points, modulo 2³²."""
    factors = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D], dtype=np.uint32)
    hashes: NDArray[np.uint32] = first * factors[0] + middle * factors[1] + last * factors[2]
    return hashes


def near_pairs(
    ids: Sequence[tuple[str, str]],
    signed: "NDArray[np.uint32]",
    fetch: Callable[[Sequence[str]], Mapping[str, BankQuestion]],
    *,
    first_new: int = 0,
) -> Iterator[tuple[str, str]]:
    """Yield the id of each near duplicate once, with the id of an earlier question.

    `ids` are `uuid` and `raw_uuid` of each question, `signed` their signatures, shape (len(ids),
    PERMUTATIONS). Questions before `first_new` are not compared with each other.
    """
    numbers: dict[str, int] = {}
    families = np.array([numbers.setdefault(raw, len(numbers)) for _, raw in ids], dtype=np.int64)
    pairs = near_candidates(signed, families, first_new=first_new)
    doubles: set[int] = set()
    for start in range(0, len(pairs), 1_000):
        some = pairs[start : start + 1_000]
        questions = fetch(sorted({ids[place][0] for pair in some for place in pair}))
        for earlier, later in some:
            first, other = ids[earlier][0], ids[later][0]
            if later not in doubles and alike(questions[first], questions[other]):
                doubles.add(later)
                yield other, first


def near_candidates(
    signed: "NDArray[np.uint32]", families: "NDArray[np.int64]", *, first_new: int = 0
) -> list[tuple[int, int]]:
    """Pairs of questions that may be alike, each once, the earlier first, in order of the later.

    `families`, shape (n,), has the same number for siblings, which are not paired. For the other
    arguments see `near_pairs`.
    """
    pairs = [
        places
        for keys in _band_keys(signed)
        for places in _in_band(keys, signed, families, first_new)
    ]
    if not pairs:
        return []
    unique = np.unique(np.concatenate(pairs))
    later, earlier = np.divmod(unique, len(signed))
    return list(zip(earlier.tolist(), later.tolist(), strict=True))


def _band_keys(signed: "NDArray[np.uint32]") -> Iterator["NDArray[np.uint64]"]:
    for start in range(0, PERMUTATIONS - ROWS + 1, ROWS):
        keys = np.zeros(len(signed), dtype=np.uint64)
        for column in range(start, start + ROWS):
            keys = keys * np.uint64(0x9E3779B97F4A7C15) + signed[:, column]
        yield keys


def _in_band(
    keys: "NDArray[np.uint64]",
    signed: "NDArray[np.uint32]",
    families: "NDArray[np.int64]",
    first_new: int,
) -> Iterable["NDArray[np.int64]"]:
    """Yield pairs with equal keys, at most `NEIGHBOURS` apart, coded as later × n + earlier."""
    order = np.argsort(keys, kind="stable")
    keys, families = keys[order], families[order]
    # Mean − 2σ of the values shared at the threshold; one such pair in fifty shares fewer.
    least = int(PERMUTATIONS * THRESHOLD - 2 * (PERMUTATIONS * THRESHOLD * (1 - THRESHOLD)) ** 0.5)
    for apart in range(1, min(NEIGHBOURS, len(keys) - 1) + 1):
        same = keys[apart:] == keys[:-apart]
        if not same.any():
            return
        [places] = np.nonzero(same & (families[apart:] != families[:-apart]))
        earlier, later = order[places], order[places + apart]
        fresh = later >= first_new
        earlier, later = earlier[fresh], later[fresh]
        close = _shared(signed, earlier, later) >= least
        yield later[close].astype(np.int64) * len(signed) + earlier[close]


def _shared(
    signed: "NDArray[np.uint32]", ones: "NDArray[np.intp]", seconds: "NDArray[np.intp]"
) -> "NDArray[np.intp]":
    """Number of signature values that the questions of each pair share, shape (pairs,)."""
    step = 20_000  # pairs at a time, 10 MB
    counts = [np.empty(0, dtype=np.intp)]
    for start in range(0, len(ones), step):
        some = slice(start, start + step)
        counts.append((signed[ones[some]] == signed[seconds[some]]).sum(axis=1))
    return np.concatenate(counts)
