"""One part of a question, taken out: what a model can only fill in if it remembers the question.

Two kinds of masks. LLMEval-Fair, §3.3, does not say which it took; `option` is that of Deng et al.
2024, "Investigating Data Contamination in Modern Benchmarks", arXiv:2311.09783.

    word     a content word or a number of the question's text
    option   the text of one of its options, right or wrong

A part is only taken where it stands once in the question, and nothing of it is left, so that it
cannot be copied. Which one of those that fit is drawn by seed and question: the same for every
model, whatever other questions there are.
"""

import random
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from tiebreak.words import words_of

MaskKind = Literal["word", "option"]
MASKS: Final[tuple[MaskKind, ...]] = get_args(MaskKind)

BLANK: Final = "[MASK]"

SHORTEST: Final = 5
"""Letters that a word must have: shorter ones are mostly grammar, which anybody can fill in."""

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*|\d+(?:[.,]\d+)*")
# Scripts without spaces: a run of two to four ideographs stands for a word.
_IDEOGRAPHS = re.compile(r"[㐀-䶿一-鿿]{2,}")
_OPENING: Final = 3
# Quotes, brackets and full stops that models set around what they fill in.
_OUTER: Final = " .,;:!?\"'`*“”‘’«»()[]。、，"


@dataclass(frozen=True, slots=True)
class Masked:
    """A question with a blank, and what stood there."""

    text: str
    options: tuple[str, ...]
    fill: str


def mask(
    text: str, options: Sequence[str], *, kind: MaskKind, seed: int, name: str
) -> Masked | None:
    """The question with one part taken out; None where no part fits.

    Args:
        text: the bare question.
        options: texts of its options, in order; empty without.
        kind: what is taken out.
        seed: seed of the draw.
        name: names the question in the draw.
    """
    rng = random.Random(f"replay {kind} {seed} {name}")
    whole = " ".join([text, *options])
    if kind == "option":
        places = [n for n, one in enumerate(options) if _once(one, whole)]
        if not places:
            return None
        place = rng.choice(places)
        left = tuple(BLANK if n == place else one for n, one in enumerate(options))
        return Masked(text, left, options[place])
    spans = [span for span in _spans(text, rng) if _once(text[slice(*span)], whole)]
    if not spans:
        return None
    start, end = rng.choice(spans)
    return Masked(f"{text[:start]}{BLANK}{text[end:]}", tuple(options), text[start:end])


def _spans(text: str, rng: random.Random) -> list[tuple[int, int]]:
    """Content words and numbers of a text; the first words of a question are known to anybody."""
    found = []
    for number, word in enumerate(_WORD.finditer(text)):
        if _IDEOGRAPHS.search(word[0]):
            continue
        if number >= _OPENING and (word[0][0].isdigit() or len(word[0]) >= SHORTEST):
            found.append(word.span())
    for run in _IDEOGRAPHS.finditer(text):
        for start in range(run.start(), run.end() - 1, 4):
            found.append((start, min(run.end(), start + rng.randint(2, 4))))
    return sorted(found)


def _once(part: str, whole: str) -> bool:
    """Whether a part stands once in the whole question: as words, whatever their case."""
    own, all_ = words_of(part), words_of(whole)
    n = len(own)
    if not n:
        return False
    return sum(all_[k : k + n] == own for k in range(len(all_) - n + 1)) == 1


def same_fill(reply: str, fill: str) -> bool:
    """Whether a reply gives what stood there: NFKC, case, blanks and outer marks aside."""
    return bool(found := _plain(reply)) and found == _plain(fill)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(_OUTER)
