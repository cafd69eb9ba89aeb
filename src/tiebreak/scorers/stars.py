"""STARS: 0 to 3 stars for each answer, by the key of its item (LLMEval-Fair, figure 11).

    0  wrong answer, wrong explanation      2  correct answer, partially reasonable explanation
    1  wrong answer, partially reasonable   3  correct answer, reasonable explanation

The user's prompt is the paper's verbatim, with foreign text inside fences. If the key is true or
false and an answer states one of the two, a rule decides whether it is correct, and the judge
chooses only between two star ratings. Without any explanation there is nothing to judge: a wrong
answer then has 0 stars and a correct one 2, the lowest rating for a correct answer.

The rule reads an answer strictly and without a model, in English and Chinese:

    stated_truth("False: it only skips the rest of this turn.")   False
    stated_truth("The statement is not true.")                    False
    stated_truth("True, but only for some loops.")                None

A verdict is a sentence consisting only of a truth value, the beginning of the answer, or a truth
value announced anywhere as the answer or about the statement. All verdicts of an answer must agree.
If they do not, or one is hedged, or there is none, the result is None and a judge decides.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from typing_extensions import override

from tiebreak.scorers.ballots import ItemBallots, PointScore
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Prompt, Question
from tiebreak.scorers.prompt import fill, template
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.replies import ALL_STARS, parse_stars, stars_schema
from tiebreak.scorers.session import Session

_WORDS: Final = {True: "correct", False: "wrong"}
_BARE: Final = {True: 2, False: 0}
_POSSIBLE: Final[Mapping[bool | None, tuple[int, ...]]] = {
    None: ALL_STARS,
    True: (2, 3),
    False: (0, 1),
}


@protocol("stars", placed_by="stars", keyed=True)
async def stars(
    item: Contest, candidates: Sequence[str], judge: Session, *, rule: bool = True
) -> ItemBallots:
    """STARS: rate each candidate by the key, correctness first (LLMEval-Fair, §2.2 and figure 11).

    With `rule` a rule decides correctness if both key and answer are plainly true or false.
    """
    decided = {name: correctness(item, name) if rule else None for name in candidates}
    questions = {}
    for name, correct in decided.items():
        if correct is not None and is_bare(item.answers[name]):
            judge.keep(scores=(*judge.ballots.scores, _without_judge(name, correct)))
        else:
            questions[name] = partial(StarsQuestion, item, name, correct)
    await judge.points(questions, lambda rated: rated)
    known = (
        score.model_copy(update={"correct": decided[score.candidate]})
        for score in judge.ballots.scores
    )
    judge.keep(scores=tuple(known))  # also of the answers that stayed unscored
    return judge.ballots


def correctness(item: Contest, candidate: str) -> bool | None:
    """Whether an answer is plainly correct or wrong; None where only a judge can say."""
    key = key_truth(item.target, item.question_type)
    stated = None if key is None else stated_truth(item.answers[candidate])
    return None if stated is None else stated == key


def rated_by_rule(item: Contest, candidate: str) -> bool:
    """Whether the rule alone rates an answer, without a judge."""
    return correctness(item, candidate) is not None and is_bare(item.answers[candidate])


def _without_judge(candidate: str, correct: bool) -> PointScore:
    reason = f"A rule decided: the answer is {_WORDS[correct]}, and there is no explanation."
    return PointScore(candidate=candidate, **_rated(_BARE[correct], reason))


def _rated(stars: int, reason: str) -> dict[str, Any]:
    return {"stars": stars, "score": stars / 3, "reason": reason}


@dataclass(frozen=True)
class StarsQuestion(Question[Mapping[str, Any]]):
    """Rate one answer against the key; `correct` is the rule's decision, None if it has none."""

    contest: Contest
    candidate: str
    correct: bool | None = None
    reviewer: str = ""
    kind = "score"

    @property
    def possible(self) -> tuple[int, ...]:
        """The star ratings that are possible for this answer."""
        return _POSSIBLE[self.correct]

    @override
    def prompt(self) -> Prompt:
        contest = self.contest
        fence = contest.fence.around([contest.target])
        return Prompt(
            system=fill(template("stars.system"), fence_rule=template("fence")),
            user=fill(
                template("stars.user"),
                mark=fence.line,
                task=fence(contest.task),
                response=fence(contest.answers[self.candidate]),
                key=fence(contest.target),
                decided=self._decided(),
            ),
            schema=stars_schema(self.possible),
            images=contest.images,
        )

    def _decided(self) -> str:
        if self.correct is None:
            return ""
        low, high = self.possible
        return (
            f"\nA rule has compared the response with it: the answer is {_WORDS[self.correct]}, so "
            f"that it has {low} or {high} stars.\n"
        )

    @override
    def parse(self, text: str) -> Mapping[str, Any]:
        stars, reason = parse_stars(text, self.possible)
        return _rated(stars, reason)


_KEYS: Final = {
    **dict.fromkeys(("true", "正确", "对", "是"), True),
    **dict.fromkeys(("false", "错误", "错", "否"), False),
}
_LETTERS: Final = {"t": True, "f": False}


def key_truth(key: str, question_type: str = "") -> bool | None:
    """The truth value of a key that is exactly true or false; None for any other key.

    If the question's type is known and is not `true_false`, no key is a truth value. If it is
    unknown, T and F are none either: they may be options.
    """
    if question_type not in ("", "true_false"):
        return None
    known = {**_KEYS, **_LETTERS} if question_type else _KEYS
    return known.get(unicodedata.normalize("NFKC", key).casefold().strip(" \n\t.。"))


def stated_truth(text: str) -> bool | None:
    """The truth value that an answer states; None if missing, hedged or contradictory."""
    statements = _statements(text)
    verdicts = {
        verdict
        for n, statement in enumerate(statements)
        for verdict in _verdicts(statement, first=not n)
    }
    if len(verdicts) != 1 or any(_TAKEN_BACK.search(statement) for statement in statements):
        return None
    [truth] = verdicts
    # Remarks in passing ("it is false") are no verdicts, but may contradict one.
    against = (match for statement in statements for match in _IN_PASSING.finditer(statement))
    return None if any(_truth(match) != truth for match in against) else truth


def is_bare(text: str) -> bool:
    """Whether an answer consists of verdicts only, without any explanation."""
    statements = _statements(text)
    return bool(statements) and all(_WHOLE.fullmatch(statement) for statement in statements)


def _verdicts(statement: str, *, first: bool) -> Iterator[bool | None]:
    """Truth values that a sentence states about the question; None for a hedged one."""
    if verdict := _WHOLE.fullmatch(statement):
        yield _truth(verdict)
        return
    if first and (opening := _OPENING.match(statement)):
        yield None if _HEDGE.search(statement, opening.end()) else _truth(opening)
    for match in _ANNOUNCED.finditer(statement):
        if not _SUPPOSED.search(statement, 0, match.start()):
            yield None if _CONDITION.match(statement, match.end()) else _truth(match)


def _truth(match: re.Match[str]) -> bool:
    return (match["word"] in _POSITIVE) != bool(match["no"])


def _statements(text: str) -> list[str]:
    """The sentences and lines of an answer, without questions, labels and quotations."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_STRAIGHT)
    plain = _MARKUP.sub("", _BOXED.sub(r"\1", plain)).replace("n't", " not")
    plain = _CHOICE.sub("…", _QUOTED.sub(_unquoted, _BULLET.sub("", plain)))
    asserted = (part.strip() for part in _ENDS.split(plain) if not part.rstrip().endswith("?"))
    parts = (part.strip(" \t,:…").rstrip(".!;。 ") for part in asserted)
    return [part for part in parts if part and not _LABEL.fullmatch(part)]


def _unquoted(quoted: re.Match[str]) -> str:
    """Keep a quoted truth value; replace any other quotation by an ellipsis."""
    inside = quoted[0][1:-1].strip(" .。")
    return inside if inside in _KEYS else "…"


_POSITIVE: Final = frozenset(("true", "t", "correct", "right", "正确", "对", "是", "真", "没错"))
_ENGLISH = "true|correct|right|false|incorrect|wrong|untrue"
_CHINESE = "正确|对|是|真|错误|错|否|假|没错"


def _verdict(more: str = "") -> str:
    """Pattern of a truth value, perhaps negated; `more` adds alternatives to the usual words."""
    # A Chinese word must end there: 对 starts many other words.
    end = r"(?=的?\s*(?:$|[,.;:!?()。、—–…-]|因为|由于))"
    words = rf"\b(?:{_ENGLISH}{more})\b(?![/'-])|(?:{_CHINESE}){end}"
    return rf"(?P<no>not\s+|并?不(?=正确|对|是|真))?(?P<word>{words})的?"


_SO = (
    r"(?:(?:so|therefore|thus|hence|overall|(?:in )?conclusion|因此|所以|综上(?:所述)?|故|总之)"
    r"\s*[,:]?\s*)?"
)
_SURELY = r"(?:(?:clearly|definitely|therefore|thus|indeed|simply|completely|absolutely)\s+)?"
_THE_ANSWER = (
    r"(?:(?:the|my|final|correct|right)\s+)*(?:answer|verdict|judge?ment)\s*(?:is|:|=)\s*:?\s*"
)
_THE_STATEMENT = (
    r"(?:the|this|that)\s+(?:(?:given|above|following|original)\s+)?"
    rf"(?:statement|claim|assertion|proposition)\s+(?:(?:above|given|…)\s+)?is\s+{_SURELY}"
)
_ZH_ANSWER = r"(?:最终|正确|我的)?(?:答案|判断|结论|回答|答)\s*(?:应该是|应为|是|为|:)\s*:?\s*"
_ZH_STATEMENT = (
    r"(?:这个|这一|这种|上述|以上|题中|题目中?|[该此这本])?的?"
    r"(?:说法|陈述|命题|论断|论述|表述|观点|叙述|题目|句子|语句|句话)"
    r"…?\s*(?:应该是|应为|是|为|:)?\s*(?:完全|显然|明显)?"
)
_IT = rf"(?:it|this|that)(?:\s+is|'s)\s+{_SURELY}"
_SOURCES = rf"{_THE_ANSWER}|{_THE_STATEMENT}|{_ZH_ANSWER}|{_ZH_STATEMENT}"
_WHOLE = re.compile(
    rf"{_SO}(?:{_SOURCES}|{_IT}|(?:statement|claim)\s*(?::|is)\s*)?{_verdict('|t|f')}"
)
_OPENING = re.compile(
    rf"{_SO}(?:{_SOURCES}|{_IT})?{_verdict()}(?=\s*(?:[,;:(—–…-]|(?:because|since|as)\b|因为|由于))"
)
_ANNOUNCED = re.compile(
    rf"(?<!of )(?:\b(?:{_THE_ANSWER}|{_THE_STATEMENT})|{_ZH_ANSWER}|{_ZH_STATEMENT}){_verdict()}"
)
_IN_PASSING = re.compile(rf"\b{_IT}{_verdict()}(?!\s+that\b)")
# A hedge after a truth value, or a condition, makes it undecided; after an assumption or a doubt it
# is not the answer's own statement.
_HEDGE = re.compile(
    r"\b(?:but|however|although|though|except|unless|partly|partially|sometimes|mostly|depend\w*"
    r"|only (?:if|when|for|in)|in (?:some|most|certain|many) cases?"
    r"|not (?:always|entirely|necessarily))\b|但|不过|然而|除非|部分|有时|仅"
)
_CONDITION = re.compile(
    r"[\s,]*(?:(?:only|if|when|unless|in (?:some|certain|most|many|part)|to (?:some|a certain)"
    r"|for (?:some|certain|most)|under|sometimes|depend\w*|but|or|and|as long|provided)\b|但|部分)"
)
_SUPPOSED = re.compile(
    r"\b(?:if|whether|suppos\w+|assum\w+|unless|would|argue\w*|claims?|believes?|some|part|half"
    r"|not (?:the case|think|believe|say|mean|clear|sure|know)|cannot|doubt|hardly)\b"
    r"|如果|若|假设|假如|有人|部分|为什么|不能说|不认为|未必|并非"
)
_TAKEN_BACK = re.compile(
    r"(?:no,? )?wait\b|on second thought|correction|scratch that|更正|等等|等一下"
)
_STRAIGHT: Final = str.maketrans("‘’“”「」『』", "''" + '"' * 6)
_BOXED = re.compile(r"\\boxed\{\s*(?:\\text\{)?([^{}]*)\}+")
_MARKUP = re.compile(r"[*_`#>~$]")
_BULLET = re.compile(r"^\s*(?:[-•–]|\(?\d{1,2}[.)、])\s+", re.MULTILINE)
_QUOTED = re.compile(rf"""\"[^"\n]*\"|'(?:{_ENGLISH})[.]?'""")
_CHOICE = re.compile(
    rf"\b(?:{_ENGLISH}|t|f)(?:\s*/\s*|\s+n?or\s+|-or-)(?:{_ENGLISH}|not|t|f)\b"
    r"|(?:正确|对)\s*(?:/|、|或者?|还是)?\s*(?:错误|错|否|不正确|不对)|正确与否"
    r"|是\s*(?:/|、|或者?|还是)?\s*(?:否|不是)"
)
_ENDS = re.compile(r"\n+|(?<=[!?;。])|\.(?=\s|$)")
_LABEL = re.compile(
    r"(?:(?:the|my|final|correct)\s+)*(?:answer|verdict|judge?ment|conclusion|reason|explanation)"
    r"|(?:最终|正确|我的)?(?:答案|判断|结论|回答|答|理由|原因|解释|解析)"
)
