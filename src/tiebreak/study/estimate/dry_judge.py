"""The dry judge: renders every prompt, counts it, and answers with a valid reply that it makes up.

    question.prompt()  →  a reply drawn from its schema  →  question.parse(reply)

So a protocol runs as it would, to the last call, without asking a model. What cannot be known
before is how the judge will answer: how often two answers are close to it, and how many words it
writes. A `Habit` states both, and an estimate runs over several.

Tokens are counted by the judge's vocabulary where it is at hand, else by rule. `tiktoken` comes
with Inspect and has OpenAI's vocabularies, which it downloads once. Other models' tokenizers cut
the same text into 0.95 to 1.3 times as many tokens as `o200k_base`: Inspect adds 10% for the
vocabularies of Qwen, DeepSeek and Llama 3, those of others are coarser still.

Without a vocabulary a rule counts: a token is at most eight letters with the space before them,
three digits, two marks. It was held against `o200k_base`: within 10% (0.93 to 1.09) on English
prose, Python, C, tool schemas, HumanEval, MMLU and GSM8K with its solutions; 1.15 on HTML, 1.3 on
German, 1.4 on JSON schemas, 0.8 on dense LaTeX and on Chinese.
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
    """How a judge answers.

    `close` is the share of verdicts whose margin is close, `tie` the part of it that is even; both
    in [0, 1]. `words` is the length of every text that is asked for. `indent` puts every field of a
    reply on a line of its own.
    """

    close: float
    tie: float
    words: int
    indent: int | None = None


CountCall = Callable[[Question[Any], Prompt, str], tuple[float, float]]
"""Counts the tokens of a call: (question, prompt, reply) → in and out."""
CountAnswer = Callable[[Question[Any], str], float]
"""Counts those of an answer in it."""


class _DryReply(NamedTuple):
    """The reply to a question, its tokens, and those of the prompt without the two answers."""

    value: Any
    frame: float
    tokens_out: float


class DryJudge(Judge):
    """Answers all questions about one item, and never waits.

    In a match it never contradicts itself: the answers have an order of its own making. So many
    matches as `made_up` says are rendered for each verdict, and stand for others of the item.

    Args:
        habit: how it answers.
        count_call: counts the tokens of a call.
        count_answer: counts those of an answer in it.
        models: who is billed, by role or by the reviewer's name.
        rng: source of all draws.
        reviewers: who can be asked in peer review.
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
        # Of their own: how it decides does not depend on how many replies are written.
        self._texts = Random(rng.random())
        self._quality: dict[str, float] = {}
        self._matches: dict[Hashable, list[_DryReply]] = {}

    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        """Make up a valid reply.

        Raises:
            EstimateError: no model is billed for the question, its schema cannot be filled, or it
                refuses what fits it.
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
        """The reply, and its tokens in and out.

        Of hundreds of matches of an item only some prompts are rendered: the others hold two other
        answers, and are counted by these.
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
        """The better side of a match; of another question drawn by lot."""
        if not isinstance(question, MatchQuestion):
            return self._rng.choice(("left", "right"))
        left, right = (
            self._quality.setdefault(candidate, self._rng.random())
            for candidate in (question.left, question.right)
        )
        return "left" if left > right else "right"


def _verdict(habit: Habit, rng: Random, better: Side) -> tuple[Side, float, float]:
    """The side that all votes of a reply name, and the range of their confidences.

    It is close, or a tie, as often as the habit says.
    """
    draw = rng.random()
    if draw < habit.tie:
        return "tie", 0.0, 1.0
    # The weights of the principles sum to 1: the margin lies where the confidences lie.
    if draw < habit.close:
        return better, 0.2 * CLOSE_MARGIN, 0.8 * CLOSE_MARGIN
    return better, 2 * CLOSE_MARGIN, 1.0


def _filled(schema: JSONSchema, words: int, verdict: tuple[Side, float, float], rng: Random) -> Any:
    """A value that fits a schema: votes are enumerations with "tie", confidences are numbers."""
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
    """How tokens are counted.

    The true number is expected between `low` and `high` times `count(text)`; `name` says in words
    which way of counting this is.
    """

    name: str
    count: Callable[[str], float]
    low: float = 1.0
    high: float = 1.0


def token_counter(models: Sequence[str]) -> TokenCounter:
    """The best counter that works on this machine for the models that will read the prompts."""
    import tiktoken

    names = {_vocabulary(model) for model in models}
    known = len(names) == 1 and None not in names
    vocabulary = names.pop() if known else None
    spread = (1.0, 1.0) if known else OTHER_TOKENIZERS
    about = "" if known else ", other tokenizers 0.95 to 1.3 times that"
    try:
        encoding = tiktoken.get_encoding(vocabulary or VOCABULARY)
    except Exception:  # whatever a download without a network raises
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
    """The same count, paragraph by paragraph, each distinct one counted once.

    The prompts about one item share most of their text.
    """
    cached = cache(count)

    def total(text: str) -> float:
        # Tokenizers join blank lines to what stands before them, so they stay with it.
        *pieces, last = text.split("\n\n")
        return sum(cached(f"{piece}\n\n") for piece in pieces) + cached(last)

    return total


def _vocabulary(model: str) -> str | None:
    """Name of the vocabulary that OpenAI's tokenizer has for a model; None for other models."""
    import tiktoken

    try:
        return tiktoken.encoding_name_for_model(model.rsplit("/", 1)[-1])
    except KeyError:
        return None
