"""Have a model expand a material question into true/false statements about its text.

    author    writes n statements on the text's key information, half of them true, each with the
              words of the text that decide it
    checker   reads the text and one statement, without its key: does the text support it?

A statement becomes a draft if its quotation is in the text and the checker agrees with the key.
Otherwise it is kept as rejected, with the reason in its hint, so that it is not made again.

Source: LLMEval-Fair, §2.1 ("decomposed into multiple true/false questions based on key
information"). The prompts and the check are our own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Annotated, Final, Literal, NamedTuple

import anyio
from inspect_ai.model import Model
from inspect_ai.util import JSONSchema
from pydantic import Field, StringConstraints
from sqlalchemy import Engine, select
from typing_extensions import override

from tiebreak.fair.bank import expansion
from tiebreak.fair.bank.prompting import PROMPT_FOLDER
from tiebreak.fair.bank.question import BankQuestion, Remark, storable
from tiebreak.fair.bank.rows import parts
from tiebreak.fair.bank.schema import QUESTIONS, writing
from tiebreak.progress import tracked
from tiebreak.scorers.ballots import Call
from tiebreak.scorers.judge import Judge, ModelFailedError, Prompt, Question
from tiebreak.scorers.model_judge import ModelJudge
from tiebreak.scorers.prompt import Fence, fill, template
from tiebreak.scorers.replies import TEXT, ReplyError, closed, parse_object, reply_schema

METHOD: Final = "statements"

TEXTS_AT_ONCE: Final = 16
"""Number of texts that a model works on at once; their variants are kept when all are done."""


Verdict = Literal["supports", "contradicts", "neither"]

_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


@dataclass(frozen=True)
class Statement:
    """A statement by the author, whether the text supports it, and the quotation that decides."""

    statement: _Line
    truth: bool
    quote: _Line


_STATEMENT: Final = closed({"statement": TEXT, "truth": JSONSchema(type="boolean"), "quote": TEXT})


@dataclass(frozen=True)
class _Statements:
    statements: Annotated[list[Statement], Field(min_length=1)]


@dataclass(frozen=True)
class _Checked:
    verdict: Verdict
    reasoning: str = ""


class Written(NamedTuple):
    """Result for one material: its variants, or the reason why it has none (`refused`).

    Variants are drafts, or rejected if they failed their check; `rejected` has the reasons.
    """

    variants: tuple[BankQuestion, ...] = ()
    rejected: tuple[Remark, ...] = ()
    refused: Remark | None = None
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class StatementsQuestion(Question[list[Statement]]):
    """Asks the author for `n` statements about a text; `key` is the key of the material."""

    text: str
    key: str
    n: int
    kind = "list"
    role = "author"

    @override
    def prompt(self) -> Prompt:
        fence = Fence([self.text], [self.key])
        n_true = self.n // 2
        numbers = {"n": self.n, "n_true": n_true, "n_false": self.n - n_true}
        counts = {name: str(number) for name, number in numbers.items()}
        key = f"\nWhat a good answer about it holds:\n{fence(self.key)}\n" if self.key else ""
        return Prompt(
            fill(
                template("statements.system", PROMPT_FOLDER), fence_rule=template("fence"), **counts
            ),
            fill(
                template("statements.user", PROMPT_FOLDER),
                mark=fence.line,
                text=fence(self.text),
                key=key,
                **counts,
            ),
            reply_schema(METHOD, statements=JSONSchema(type="array", items=_STATEMENT)),
        )

    @override
    def parse(self, text: str) -> list[Statement]:
        statements = parse_object(_Statements, text).statements
        if len(statements) != self.n:
            raise ReplyError(f"it has {len(statements)} statements where {self.n} are asked for")
        if not storable("".join(made.statement + made.quote for made in statements)):
            raise ReplyError("it holds a zero byte or half of a character")
        if len({_plain(made.statement.casefold()) for made in statements}) < self.n:
            raise ReplyError("two statements are the same")
        n_true = sum(statement.truth for statement in statements)
        if n_true != self.n // 2:
            raise ReplyError(f"{n_true} statements are true where {self.n // 2} are asked for")
        return statements


@dataclass(frozen=True)
class CheckQuestion(Question[_Checked]):
    """Asks the checker, without showing the key, whether a text supports a statement."""

    text: str
    statement: str
    kind = "score"
    role = "checker"

    @override
    def prompt(self) -> Prompt:
        fence = Fence([self.text], [self.statement])
        verdicts = JSONSchema(type="string", enum=["supports", "contradicts", "neither"])
        return Prompt(
            fill(template("check.system", PROMPT_FOLDER), fence_rule=template("fence")),
            fill(
                template("check.user", PROMPT_FOLDER),
                mark=fence.line,
                text=fence(self.text),
                statement=fence(self.statement),
            ),
            reply_schema("check", reasoning=TEXT, verdict=verdicts),
        )

    @override
    def parse(self, text: str) -> _Checked:
        return parse_object(_Checked, text)


@dataclass
class StatementWriter:
    """Makes statements of materials, with a model that writes and one that checks.

    All calls are cached without expiry, so that a killed run pays for no call twice.
    """

    author: Model
    checker: Model
    n: int = 4

    def _judge(self) -> Judge:
        return ModelJudge({"author": self.author, "checker": self.checker})

    async def write_all(self, materials: Sequence[BankQuestion]) -> list[Written]:
        """Write the statements of several materials at once; results are in the same order."""
        written: dict[str, Written] = {}

        async def write(material: BankQuestion) -> None:
            written[material.uuid] = await self.write(material)

        await self._judge().side_by_side([partial(write, material) for material in materials])
        return [written[material.uuid] for material in materials]

    async def write(self, material: BankQuestion) -> Written:
        """Write the statements of one material, and check each of them."""
        judge = self._judge()
        calls: list[Call] = []
        try:
            asked = StatementsQuestion(material.question, material.answer, self.n)
            reply = await judge.ask_again(asked, depth=0)
        except ModelFailedError as error:
            return _without(material, f"the author failed: {error}", error.calls)
        calls += reply.calls
        if reply.value is None:
            return _without(material, f"no usable reply of the author: {reply.unscored}", calls)
        checked: dict[int, tuple[BankQuestion, str]] = {}

        async def check(number: int, statement: Statement) -> None:
            why, spent = await _rejection(judge, material.question, statement)
            calls.extend(spent)
            checked[number] = self._variant(material, number, statement, why), why

        await judge.side_by_side(
            [partial(check, number, made) for number, made in enumerate(reply.value, start=1)]
        )
        ordered = [checked[number] for number in sorted(checked)]
        return Written(
            tuple(variant for variant, _ in ordered),
            tuple(Remark(variant.uuid, why) for variant, why in ordered if why),
            calls=tuple(calls),
        )

    def _variant(
        self, parent: BankQuestion, number: int, statement: Statement, why: str
    ) -> BankQuestion:
        language = "zh" if expansion.is_chinese(parent.question) else "en"
        asked = expansion.WORDING[language]["text"]
        return replace(
            parent,
            uuid=expansion.variant_uuid(parent.uuid, METHOD, number),
            type="true_false",
            question=f"{parent.question.rstrip()}\n\n{asked}\n{statement.statement}",
            answer="true" if statement.truth else "false",
            hint="\n".join(filter(None, (statement.quote, f"[rejected: {why}]" if why else ""))),
            options=(),
            status="rejected" if why else "draft",
            parent=parent.uuid,
            made_by=expansion.made_by(METHOD, str(self.author)),
        )


async def _rejection(judge: Judge, text: str, statement: Statement) -> tuple[str, tuple[Call, ...]]:
    """Why a statement is rejected ("" if it is not), and the calls that were made to check it."""
    if _plain(statement.quote) not in _plain(text):
        return "its quotation is not in the text", ()
    try:
        reply = await judge.ask_again(CheckQuestion(text, statement.statement), depth=1)
    except ModelFailedError as error:
        return f"it could not be checked: {error}", error.calls
    if reply.value is None:
        return f"it could not be checked: {reply.unscored}", reply.calls
    expected: Verdict = "supports" if statement.truth else "contradicts"
    if reply.value.verdict == expected:
        return "", reply.calls
    key = "true" if statement.truth else "false"
    verdicts = {"neither": "neither supports nor contradicts"}
    verdict = verdicts.get(reply.value.verdict, reply.value.verdict)
    return f"its key is {key}, and to the checker the text {verdict} it", reply.calls


def _without(material: BankQuestion, why: str, calls: Sequence[Call]) -> Written:
    return Written(refused=Remark(material.uuid, why), calls=tuple(calls))


def _plain(text: str) -> str:
    return " ".join(text.split())


def write_statements(
    engine: Engine, writer: StatementWriter, *, limit: int | None = None
) -> expansion.Expanded:
    """Have statements written on approved materials that have none yet, on at most `limit`."""
    done = expansion.Expanded(METHOD)
    wanted = [
        material
        for materials in expansion.parents_in(engine, "material")
        for material in _without_statement(engine, materials)
    ][:limit]
    some = parts(wanted, TEXTS_AT_ONCE)
    for materials in tracked(some, "writing statements on texts", len(wanted), size=len):
        written = anyio.run(writer.write_all, materials)
        variants = [variant for result in written for variant in result.variants]
        with writing(engine) as connection:
            done = expansion.keep_variants(connection, variants, done)
        done = _billed(done, written)
    return done


def _without_statement(engine: Engine, materials: Sequence[BankQuestion]) -> list[BankQuestion]:
    """The materials that have no statement, not even a rejected one."""
    parents, q = [material.uuid for material in materials], QUESTIONS.c
    wanted = select(q.parent).where(q.parent.in_(parents), q.type == "true_false")
    with engine.connect() as connection:
        written = set(connection.execute(wanted).scalars())
    return [material for material in materials if material.uuid not in written]


def _billed(done: expansion.Expanded, written: Sequence[Written]) -> expansion.Expanded:
    calls = [call for result in written for call in result.calls]
    paid = [call for call in calls if not call.cached]
    known = done.cost is not None and all(call.cost is not None for call in paid)
    return replace(
        done,
        n_questions=done.n_questions + len(written),
        refused=done.refused + tuple(result.refused for result in written if result.refused),
        rejected=done.rejected + tuple(chain.from_iterable(result.rejected for result in written)),
        n_calls=done.n_calls + len(calls),
        n_cached=done.n_cached + len(calls) - len(paid),
        input_tokens=done.input_tokens + sum(call.input_tokens for call in paid),
        output_tokens=done.output_tokens + sum(call.output_tokens for call in paid),
        cost=(done.cost or 0.0) + sum(call.cost or 0.0 for call in paid) if known else None,
    )
