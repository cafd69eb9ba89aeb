"""What the words mean: said here once, for the report's page and for `docs/glossary.md`.

Definitions are plain English with two marks: `code` and *emphasis*.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Term:
    """A word and its meaning.

    `id` is where the page has it, "term-borda" say. `spellings` is a pattern of the words in
    headings and sentences that lead there, "" where none does. `see` is where the documentation
    says more: a title, and a page of `docs`.
    """

    name: str
    meaning: str
    id: str
    spellings: str = ""
    see: tuple[str, str] | None = None


GLOSSARY: Final = (
    Term(
        "Aggregator",
        "What makes one ranking of several: Kemeny–Young, Borda, Copeland and others.",
        "aggregator",
        "[Aa]ggregators?",
        ("CSD and Kemeny", "how-to/rankings.md"),
    ),
    Term(
        "Ballot",
        "One judge's verdict as data: a match, a list, tiers, points or stars. A question without "
        "a usable reply is a ballot too, *unscored*, and never a tie, a zero or a loss.",
        "ballot",
        "[Bb]allots?",
    ),
    Term(
        "Borda score, normalized",
        "(N − rank) / (N − 1) on an item, and its mean over items: the share of the other models "
        "that a model beats. 1 is always first, 0 always last, ties share their mean rank.",
        "borda",
        "Borda(?: scores?)?",
    ),
    Term(
        "Canary",
        "A planted weak answer that talks to the judge, to see whether it can be persuaded.",
        "canary",
    ),
    Term("Candidate", "One model's answer to an item, with its native score.", "candidate"),
    Term(
        "Contest",
        "In CSD, a Swiss-system tournament of models over a sequence of benchmarks.",
        "contest",
        "[Cc]ontests?",
    ),
    Term(
        "Expected wins",
        "In CSD, the wins of a model in a contest, as a mean over many draws of pairs, byes and "
        "eliminations.",
        "expected-wins",
        "[Ee]xpected wins",
    ),
    Term(
        "Failure sensitivity (Λ)",
        "In CSD, how much a model's expected wins change with the number eliminated in each round.",
        "failure-sensitivity",
        "[Ff]ailure sensitivity|Λ",
    ),
    Term(
        "Flip",
        "A match whose winner is another one when the two answers are shown in the other order. "
        "Noise alone flips close matches.",
        "flip",
        "[Ff]lips?",
    ),
    Term(
        "Interval",
        "Where a figure lies on other items like these: the bootstrap resamples items. Whether two "
        "models differ is said by the tests of all pairs, not by whether intervals overlap.",
        "interval",
        "[Ii]ntervals?",
    ),
    Term("Item", "One question of a benchmark.", "item"),
    Term(
        "Judge, jury, meta-judge",
        "The model that compares answers; several of them; and in SEAL the one that adds checklist "
        "items after close matches.",
        "judge",
    ),
    Term(
        "Kemeny–Young",
        "The order with the fewest pairwise disagreements with the ballots; exact, with a proof.",
        "kemeny-young",
        "Kemeny–Young",
    ),
    Term(
        "Leaderboard, or board",
        "The models of a benchmark in order, with intervals and a verdict.",
        "leaderboard",
    ),
    Term(
        "Margin",
        "The sum of a match's votes on principles, each by its weight and confidence, from −1 to "
        "1.",
        "margin",
    ),
    Term(
        "Native score",
        "The benchmark's own score of an answer. Judging never replaces it.",
        "native-score",
        "[Nn]ative(?: scores?)?",
    ),
    Term(
        "Near-tie",
        "Models whose true means are closer than the items at hand can show.",
        "near-tie",
    ),
    Term(
        "Noise ceiling",
        "How well a second run of the reference agrees with the first: no protocol can be expected "
        "above it.",
        "noise-ceiling",
        "[Nn]oise ceiling",
    ),
    Term("Pool", "Items × models, aligned by item and by a fingerprint of the question.", "pool"),
    Term(
        "Protocol",
        "How ballots are asked for: round_robin, seal, listwise and others.",
        "protocol",
        "[Pp]rotocols?",
        ("protocols compared", "protocols.md"),
    ),
    Term(
        "Rank range",
        "The places that the tests of all pairs leave open for a model, for all models at once.",
        "rank-range",
        "Ranks",
    ),
    Term(
        "Ranking log", "The Inspect log of a judging task, which holds the ballots.", "ranking-log"
    ),
    Term("Rubric", "Principles with weights, and a checklist, by which a judge votes.", "rubric"),
    Term(
        "Saturated",
        "A benchmark whose native scores tell no two of the models apart.",
        "saturated",
    ),
    Term(
        "Second views",
        "Strengths by all matches at once, beside the board's own order: least squares (a "
        "difference is a margin of winning) and Bradley–Terry (log-odds of winning).",
        "second-views",
        "[Ss]econd views|[Ll]east squares|Bradley–Terry",
    ),
    Term(
        "Sensitive to length",
        "A board whose leader, or a pair that it tells apart, changes at equal length.",
        "sensitive-to-length",
        "sensitive to length",
        ("the judge", "reading.md#the-judge"),
    ),
    Term("Shard", "A part of a run's items, judged on another machine.", "shard"),
    Term(
        "SR, PR, SIA, SFA",
        "In peer review: a model's rank by itself; by its peers; in the consensus with its own "
        "vote; in the consensus without it.",
        "peer-views",
        "SR|PR|SIA|SFA",
    ),
    Term(
        "Stars",
        "A judge's 0 to 3 for an answer alone (LLMEval-Fair). The absolute score is the share of "
        "all stars, the relative one its share of the reference's.",
        "stars",
        "[Ss]tars",
    ),
    Term(
        "Tier",
        "Models of which no two are told apart. In SEAL's seeding also a group of answers of about "
        "the same quality.",
        "tier",
        "[Tt]iers?",
    ),
    Term(
        "Trust in the judge",
        "On one board. *Doubtful*: a check found a fault that a fair judge shows in at most 1% of "
        "leaderboards, 1.5% over all checks. *Fine*: none did, there were verdicts enough to find "
        "one, and verified answers are preferred. Else *unknown*.",
        "trust",
        see=("the judge", "reading.md#the-judge"),
    ),
    Term(
        "Unscored",
        "Without a usable verdict, after a repair turn and a repeated question. Never counted as a "
        "tie, a zero or a loss.",
        "unscored",
        "[Uu]nscored",
    ),
    Term(
        "Verdict",
        "The sentence that a board begins with: who leads, against whom that holds, and whether "
        "the judge can be trusted.",
        "verdict",
    ),
    Term(
        "Verified pair",
        "Two judged answers of which one passed (native score 1) and one failed (0): what shows "
        "whether a judge prefers right answers.",
        "verified-pair",
        "verified pairs?",
    ),
)
"""All words, in the order of the alphabet."""

Kind = Literal["", "code", "em"]

_MARKS: Final = re.compile(r"`([^`]+)`|\*([^*]+)\*")


def markdown() -> str:
    """The glossary as the page of the documentation."""
    blocks = ["# Glossary\n"]
    for term in GLOSSARY:
        meaning = term.meaning
        if term.see:
            title, page = term.see
            meaning = f"{meaning.removesuffix('.')} ([{title}]({page}))."
        blocks.append(f"**{term.name}**\n:   {meaning}\n")
    return "\n".join(blocks)


def pieces(meaning: str) -> Iterator[tuple[Kind, str]]:
    """A meaning as texts, each with the element that it stands in."""
    start = 0
    for mark in _MARKS.finditer(meaning):
        yield "", meaning[start : mark.start()]
        yield ("code", mark[1]) if mark[1] else ("em", mark[2])
        start = mark.end()
    yield "", meaning[start:]


def terms_in(text: str) -> Iterator[tuple[re.Match[str], Term]]:
    """Where a text names terms, each the first time."""
    named = set()
    for match in _pattern().finditer(text):
        term = _terms()[match.lastgroup or ""]
        if term not in named:
            named.add(term)
            yield match, term


@cache
def _terms() -> dict[str, Term]:
    """The terms that have spellings, by a name for a group of a pattern."""
    return {term.id.replace("-", "_"): term for term in GLOSSARY if term.spellings}


@cache
def _pattern() -> re.Pattern[str]:
    """All spellings, as whole words."""
    groups = (f"(?P<{name}>{term.spellings})" for name, term in _terms().items())
    return re.compile(rf"(?<![\w-])(?:{'|'.join(groups)})(?![\w-])")
