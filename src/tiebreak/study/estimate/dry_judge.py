"""The dry judge: renders and counts every prompt, and makes up a valid reply.

    question.prompt()  →  a reply drawn from its schema  →  question.parse(reply)

So a protocol runs to the last call as in reality, without asking a model. Unknown in advance is how
the judge will answer: the share of close verdicts, and the number of words it writes. A `Habit`
fixes both, and an estimate runs over several habits.

Tokens are counted by the judge's vocabulary if it is available, else by rule. `tiktoken` comes with
Inspect and has OpenAI's vocabularies, which it downloads once. Other models' tokenizers split the
same text into 0.95 to 1.3 times as many tokens as `o200k_base`: Inspect adds 10% for the
vocabularies of Qwen, DeepSeek and Llama 3, and others need more tokens still.

Without a vocabulary a rule counts: a token is at most eight letters with the space before them,
three digits, two marks. Its counts relative to `o200k_base` are within 10% (0.93 to 1.09) on
English prose, Python, C, tool schemas, HumanEval, MMLU and GSM8K with its solutions; 1.15 on HTML,
1.3 on German, 1.4 on JSON schemas, 0.8 on dense LaTeX and on Chinese.
"""

import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from inspect_ai.util import JSONSchema

from tiebreak.scorers.ballots import Call, Reviewer, Side
from tiebreak.scorers.judge import Judge, Prompt, Question, Reply
from tiebreak.scorers.match import CLOSE_MARGIN
from tiebreak.scorers.questions import MatchQuestion
from tiebreak.scorers.replies import ListSchema, ReplyError
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.prices import PricedModel

T = TypeVar("T")

WORDS: Final = tuple(
    """the of a and to in is that response answer value case number step result list function
    returns handles checks empty negative correct wrong missing states computes explains both left
    right side input output edge error example first second total sum with without only before
    after where because while same other more less than task asks requirement complete""".split()  # noqa: SIM905 - a text
)


class Habit(NamedTuple):
    """A judge's way of answering.

    `close` is the share of verdicts with a close margin, `tie` the share of even verdicts, which
    are part of it; both in [0, 1]. `words` is the length of every requested text. `indent` is the
    indentation of the reply's JSON, None for a reply on one line.
    """

    close: float
    tie: float
    words: int
    indent: int | None = None


CountCall = Callable[[Question[Any], Prompt, str], tuple[float, float]]
"""Counts the tokens of a call: (question, prompt, reply) → in and out."""
CountAnswer = Callable[[Question[Any], str], float]
"""Counts the tokens of one answer in a prompt: (question, answer) → tokens."""


class _DryReply(NamedTuple):
    """A made-up reply, tokens of the prompt without the two answers, and tokens of the reply."""

    value: Any
    frame: float
    tokens_out: float


class DryJudge(Judge):
    """Answers all questions about one item without delay.

    Its verdicts in matches are consistent with a random order of the answers. For each kind of
    match, `made_up` matches are rendered, and represent all others of that kind in the item.

    Args:
        habit: the judge's way of answering.
        count_call: counts the tokens of a call.
        count_answer: counts the tokens of an answer in a prompt.
        models: models that are billed, by role or by the reviewer's name.
        rng: source of all draws.
        reviewers: the reviewers in peer review.
    """

    made_up: ClassVar[int] = 16

    def __init__(
        self,
        habit: Habit,
        count_call: CountCall,
        count_answer: CountAnswer,
        models: Mapping[str, PricedModel],
        rng: Random,
        reviewers: tuple[Reviewer, ...] = (),
    ) -> None:
        self.reviewers = reviewers
        self._habit = habit
        self._count_call = count_call
        self._count_answer = count_answer
        self._models = models
        self._rng = rng
        # A separate source, so that verdicts do not depend on the number of replies written.
        self._texts = Random(rng.random())
        self._quality: dict[str, float] = {}
        self._matches: dict[Hashable, list[_DryReply]] = {}

    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        """Make up a valid reply.

        Raises:
            EstimateError: no model is billed for the question, its schema cannot be filled, or it
                refuses a reply that fits its schema.
        """
        role = question.reviewer or question.role
        if role not in self._models:
            known = ", ".join(self._models) or "none"
            raise EstimateError(
                f"{type(question).__name__} asks {role!r}; the roles here: {known}."
            )
        billed = self._models[role]
        value, tokens_in, tokens_out = self._answered(question)
        call = Call(
            kind=question.kind,
            role=question.role,
            model=billed.model,
            reviewer=question.reviewer,
            attempt=attempt,
            input_tokens=round(tokens_in),
            output_tokens=round(tokens_out),
            cost=billed.cost(tokens_in, tokens_out),
            depth=depth,
        )
        return Reply(value, None, (call,), depth + 1)

    def _answered(self, question: Question[Any]) -> tuple[Any, float, float]:
        """The reply, and the tokens in and out.

        If an item has hundreds of matches, only some prompts are rendered. Others of the same kind
        differ only in the two answers, so their tokens are those of the frame plus the answers.
        """
        verdict = _verdict(self._habit, self._rng, self._better(question))
        if not isinstance(question, MatchQuestion):
            return self._dry_reply(question, verdict)
        answers = question.contest.answers
        shown = sum(
            self._count_answer(question, answers[name]) for name in (question.left, question.right)
        )
        checklist = tuple(item.id for item in question.checklist)
        noted = question.differences is not None
        alike = self._matches.setdefault((verdict, checklist, question.votes, noted), [])
        if len(alike) >= self.made_up:
            other = self._texts.choice(alike)
            return other.value, other.frame + shown, other.tokens_out
        value, tokens_in, tokens_out = self._dry_reply(question, verdict)
        alike.append(_DryReply(value, tokens_in - shown, tokens_out))
        return value, tokens_in, tokens_out

    def _dry_reply(
        self, question: Question[Any], verdict: tuple[Side, float, float]
    ) -> tuple[Any, float, float]:
        prompt = question.prompt()
        made_up = _filled(prompt.schema.json_schema, self._habit.words, verdict, self._texts)
        text = json.dumps(made_up, indent=self._habit.indent)
        try:
            value = question.parse(text)
        except ReplyError as error:
            raise EstimateError(
                f"No reply can be made up for {type(question).__name__}: one that fits its schema "
                f"was refused ({error})."
            ) from error
        return value, *self._count_call(question, prompt, text)

    def _better(self, question: Question[Any]) -> Side:
        """The better side of a match; for another question a random side."""
        if not isinstance(question, MatchQuestion):
            return self._rng.choice(("left", "right"))
        left, right = (
            self._quality.setdefault(candidate, self._rng.random())
            for candidate in (question.left, question.right)
        )
        return "left" if left > right else "right"


def _verdict(habit: Habit, rng: Random, better: Side) -> tuple[Side, float, float]:
    """The side for all votes of a reply, and the range of their confidences.

    The shares of close verdicts and of ties are those of the habit.
    """
    draw = rng.random()
    if draw < habit.tie:
        return "tie", 0.0, 1.0
    # The weights of the principles sum to 1, so the margin is in the range of the confidences.
    if draw < habit.close:
        return better, 0.2 * CLOSE_MARGIN, 0.8 * CLOSE_MARGIN
    return better, 2 * CLOSE_MARGIN, 1.0


def _filled(schema: JSONSchema, words: int, verdict: tuple[Side, float, float], rng: Random) -> Any:
    """Make up a value for a schema; votes are enumerations with "tie", confidences are numbers."""
    side, *confidence = verdict
    if schema.enum:
        return side if side in schema.enum and "tie" in schema.enum else rng.choice(schema.enum)
    match schema.type:
        case "object":
            parts = schema.properties or {}
            return {name: _filled(part, words, verdict, rng) for name, part in parts.items()}
        case "array":
            length = schema.minItems if isinstance(schema, ListSchema) else 1
            entry = schema.items
            return [_filled(entry, words, verdict, rng) for _ in range(length)] if entry else []
        case "string":
            return " ".join(rng.choices(WORDS, k=words))
        case "number":
            lowest, highest = schema.minimum or 0, schema.maximum or 1
            return round(lowest + rng.uniform(*confidence) * (highest - lowest), 2)
        case "integer":
            return rng.randint(int(schema.minimum or 0), int(schema.maximum or 10))
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
        case other:
            raise EstimateError(f"No reply can be made up for a schema of type {other!r}.")


VOCABULARY: Final = "o200k_base"
OTHER_TOKENIZERS: Final = (0.95, 1.3)
RULE_ERROR: Final = (0.9, 1.1)

_RULE: Final = re.compile(
    r"[A-Za-z]{1,8}"
    r"|\d{1,3}"
    r"|[!-/:-@\[-`{-~]{1,2}"
    r"|\n+"
    r"|[\u3000-\u9fff\uac00-\ud7af]{1,2}"
    r"|[^\x00-\x7f\u3000-\u9fff\uac00-\ud7af]{1,3}"
)


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A way of counting tokens.

    The true number is expected between `low` and `high` times `count(text)`; `name` describes the
    way of counting in words.
    """

    name: str
    count: Callable[[str], float]
    low: float = 1.0
    high: float = 1.0


def token_counter(models: Sequence[str]) -> TokenCounter:
    """The best counter available on this machine for the models that will read the prompts."""
    import tiktoken

    names = {_vocabulary(model) for model in models}
    known = len(names) == 1 and None not in names
    vocabulary = names.pop() if known else None
    spread = (1.0, 1.0) if known else OTHER_TOKENIZERS
    about = "" if known else ", other tokenizers 0.95 to 1.3 times that"
    try:
        encoding = tiktoken.get_encoding(vocabulary or VOCABULARY)
    except Exception:  # a failed download can raise errors of several libraries
        low, high = (rule * other for rule, other in zip(RULE_ERROR, spread, strict=True))
        name = f"a rule, within about 10% of {VOCABULARY} on English and code{about}"
        return TokenCounter(name, count_by_paragraph(by_rule), low, high)
    return TokenCounter(
        f"{encoding.name}{about}",
        count_by_paragraph(lambda text: len(encoding.encode(text, disallowed_special=()))),
        *spread,
    )


def by_rule(text: str) -> int:
    """The number of tokens by the rule of this module."""
    return len(_RULE.findall(text))


def count_by_paragraph(count: Callable[[str], int]) -> Callable[[str], float]:
    """A counter that sums over paragraphs and remembers the count of each.

    This is faster because the prompts about one item share most of their text.
    """
    cached = cache(count)

    def total(text: str) -> float:
        # Tokenizers join blank lines to the text before them, so pieces keep their blank lines.
        *pieces, last = text.split("\n\n")
        return sum(cached(f"{piece}\n\n") for piece in pieces) + cached(last)

    return total


def _vocabulary(model: str) -> str | None:
    """Name of the vocabulary of an OpenAI model, None for other models."""
    import tiktoken

    try:
        return tiktoken.encoding_name_for_model(model.rsplit("/", 1)[-1])
    except KeyError:
        return None
