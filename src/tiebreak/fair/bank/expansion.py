"""Expand a multiple-choice question with n options into other questions, without a model.

    true_false   n statements, one for each option: does it fit into the blank? (figure 7)
    fill_in      the stem with its blank, whose fill is the right option's text

The paper's text has n fill-in-the-blank variants for n options (§2.1); its figure shows n questions
whether an option is right. Both are offered, but only one `fill_in` question: without its options a
stem asks one thing and has one key, so n wordings of it would be the same question n times.

Expansion changes scores. One of n statements is true, so that always answering "false" is right in
n − 1 of n; and siblings reveal each other's keys, so they are never asked in the same session.

The signs in stems (`signs.yaml`) refuse rather too many questions: a refused question stays in the
bank unchanged, but nobody would notice one that became nonsense.

Source: LLMEval-Fair, §2.1, A.2.2 and figure 7. The wording of the questions is our own.
"""

import re
import unicodedata
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import Connection, Engine, func, insert, select, update

from tiebreak.fair.bank.question import BLANK, BankQuestion, Remark, faults_of, n_blanks
from tiebreak.fair.bank.review import Change, note_changes
from tiebreak.fair.bank.rows import COLUMNS, by_uuid, parts, question_from, rows_of
from tiebreak.fair.bank.schema import QUESTIONS, writing
from tiebreak.plain_yaml import packaged
from tiebreak.progress import tracked
from tiebreak.text import words_of

Method = Literal["true_false", "fill_in"]
Form = Literal["blank", "question", "open"]
"""A stem has a blank, is a question, or is open: it breaks off where its answer belongs."""

ANSWERS_MARK: Final = "____"
"""The blank that is added to a stem without one."""


class Sign(NamedTuple):
    """A pattern in a text, and the reason why a question that has it is refused."""

    pattern: re.Pattern[str]
    why: str


def _signs() -> dict[str, tuple[Sign, ...]]:
    """The signs in `signs.yaml`, by the part of a question in which they are searched for."""
    signs = packaged(__file__, "signs.yaml")
    parts = {name: "|".join(patterns) for name, patterns in signs.pop("parts").items()}

    def sign(patterns: list[str], why: str = "", cased: bool = False) -> Sign:
        pattern = "|".join(patterns)
        for name, part in parts.items():
            pattern = pattern.replace(f"{{{name}}}", part)
        return Sign(re.compile(pattern, 0 if cased else re.IGNORECASE), why)

    return {place: tuple(sign(**entry) for entry in entries) for place, entries in signs.items()}


_BY_PLACE: Final = _signs()
IN_QUESTION: Final = _BY_PLACE["in_question"]
[HARMLESS] = _BY_PLACE["harmless"]
[NEEDS_OPTIONS] = _BY_PLACE["needs_options"]
[IN_TEXT] = _BY_PLACE["in_text"]
[IN_OPTION] = _BY_PLACE["in_option"]

# A full stop after a short word does not end a sentence, because it may be an abbreviation.
_SENTENCE = re.compile(r"(?<=[。！？!?])|(?<=\w\w\w\w\.)(?<!Prof\.)\s+(?=[^a-z])")
_ASKS = re.compile(
    r"^\W*(?:(?:in|on|at|for|to|from|by|of|with) )?"
    r"(?:which|what|who|whom|whose|when|where|why|how)\b"
    r"|(?:什么|哪|谁|何|几|多少|怎样|怎么|如何|为什么|是否)\w*$",
    re.IGNORECASE,
)
_IDEOGRAPH = re.compile(r"[\u3400-\u9fff]")
_FEWEST_WORDS = 2


def form_of(stem: str) -> Form | None:
    """How a stem shows where its answer belongs, or None if it does not."""
    if n_blanks(stem):
        return "blank"
    asking = asking_part(stem)
    if asking.endswith(("?", "？")) or _ASKS.search(asking.rstrip(" :：,，")):
        return "question"
    return None if asking.endswith((".", "。", "!", "！", ";", "；")) else "open"


def asking_part(stem: str) -> str:
    """The sentence with the blank, or the last one."""
    sentences = [part.strip() for part in _SENTENCE.split(stem) if part and part.strip()]
    with_blank = [part for part in sentences if BLANK.search(part)]
    # A sentence may end before its blank: "… is the root. ( )"
    kept = [part for part in with_blank if words_of(BLANK.sub(" ", part))]
    return (kept or sentences or [""])[-1]


def refusal(stem: str, method: Method) -> str:
    """Why a stem cannot be turned into other questions; "" if it can."""
    blanks = n_blanks(stem)
    if len(words_of(BLANK.sub(" ", stem))) < _FEWEST_WORDS:
        return "it has no stem that says what is asked"
    if blanks > 1:
        return f"it has {blanks} blanks, and an option may fill several"
    if form_of(stem) is None:
        return "it has neither a blank nor a question"
    if IN_TEXT.pattern.search(stem):
        return IN_TEXT.why
    asking = HARMLESS.pattern.sub(" ", " ".join(BLANK.sub(" ", asking_part(stem)).split()))
    signs = (*IN_QUESTION, *([NEEDS_OPTIONS] if method == "fill_in" else []))
    return next((sign.why for sign in signs if sign.pattern.search(asking)), "")


def is_chinese(text: str) -> bool:
    """Whether a text is Chinese: at least half of its words are ideographs."""
    words = words_of(text)
    return 2 * sum(_IDEOGRAPH.match(word) is not None for word in words) >= max(len(words), 1)


_NAMESPACE = uuid.UUID("b0b6d1a4-0c3e-5d0e-8a35-6a4e2d2f7c11")  # another would change all ids

WORDING: Final[dict[str, dict[str, str]]] = packaged(__file__, "wording.yaml")


def made_by(method: str, model: str = "") -> str:
    """Name of an expansion in the field `made_by` of its variants."""
    return f"expand/{method} {model}".rstrip()


def variant_uuid(parent: str, method: str, number: int) -> str:
    """Id of a variant, the same each time that it is made."""
    return str(uuid.uuid5(_NAMESPACE, f"{parent}\x1f{method}\x1f{number}"))


def expand(question: BankQuestion, method: Method) -> tuple[BankQuestion, ...] | Remark:
    """Make the variants of a multiple-choice question, as drafts, or a remark why it has none.

    `true_false` gives one variant for each option, in their order, exactly one of them true;
    `fill_in` gives one. Variants have the question's `raw_uuid`, category, source and date, and its
    uuid as `parent`. Their hint names the right option, and so reveals the keys of all siblings.
    """
    if why := _refusal(question, method):
        return Remark(question.uuid, why)
    form = form_of(question.question)
    mark = {"blank": "", "question": "", "open": f" {ANSWERS_MARK}"}[form or "open"]
    stem = question.question.rstrip() + mark
    language = "zh" if is_chinese(question.question) else "en"
    right = question.options[ascii_uppercase.index(question.answer)]
    if method == "fill_in":
        if form == "question":
            stem += f" {ANSWERS_MARK}"
        return (_variant(question, method, 1, stem, right, question.hint),)
    asked = WORDING[language]["question" if form == "question" else "blank"]
    hint = "\n".join(filter(None, (WORDING[language]["right"].format(option=right), question.hint)))
    return tuple(
        _variant(
            question,
            method,
            number,
            f"{stem}\n{asked.format(option=option)}",
            "true" if option == right else "false",
            hint,
        )
        for number, option in enumerate(question.options, start=1)
    )


def _refusal(question: BankQuestion, method: Method) -> str:
    if question.type != "multiple_choice":
        return f"its type is {question.type}, and only multiple_choice has options"
    if faults := faults_of(question):
        return "; ".join(faults)
    if len(set(map(_plain, question.options))) < len(question.options):
        return "two options say the same"
    if why := refusal(question.question, method):
        return why
    for letter, option in zip(ascii_uppercase, question.options, strict=False):
        if IN_OPTION.pattern.search(option):
            return IN_OPTION.why.format(letter=letter)
    return ""


def _plain(option: str) -> str:
    """An option without case, extra blanks and final punctuation; signs stay: -5 is not 5."""
    folded = unicodedata.normalize("NFKC", option).casefold()
    return " ".join(folded.split()).rstrip(".,;。、")


def _variant(
    parent: BankQuestion, method: Method, number: int, text: str, key: str, hint: str
) -> BankQuestion:
    return replace(
        parent,
        uuid=variant_uuid(parent.uuid, method, number),
        type=method,
        question=text,
        answer=key,
        hint=hint,
        options=(),
        status="draft",
        parent=parent.uuid,
        made_by=made_by(method),
    )


AT_ONCE: Final = 500
"""Number of questions that are expanded in one transaction."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """Result of an expansion.

    Of the `n_questions` examined (approved ones that are not variants), those in `refused` have no
    variants. `n_there` variants were in the bank before; `n_other` of these differ from those that
    would be made now, because they, or their question, were edited. `n_approved` earlier drafts
    were approved. `rejected` are statements that failed their check. Tokens and cost (US dollars;
    None if a price is unknown) are those of calls made now, not of cached ones.
    """

    method: str
    n_questions: int = 0
    n_made: int = 0
    n_true: int = 0
    n_there: int = 0
    n_other: int = 0
    n_approved: int = 0
    refused: tuple[Remark, ...] = ()
    rejected: tuple[Remark, ...] = ()
    n_calls: int = 0
    n_cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0


def expand_bank(engine: Engine, method: Method, *, approve: bool = False) -> Expanded:
    """Make the variants of all approved multiple-choice questions.

    With `approve` no human has to approve: the variants, and earlier drafts that equal them, are
    approved, with reviews by the method. Edited or rejected variants are not changed.
    """
    done = Expanded(method)
    families = parents_in(engine, "multiple_choice")
    with engine.connect() as connection:
        counted = select(func.count()).select_from(QUESTIONS).where(*_wanted("multiple_choice"))
        total = connection.execute(counted).scalar_one()
    for parents in tracked(families, "expanding questions", total, size=len):
        made = [expand(parent, method) for parent in parents]
        refused = tuple(result for result in made if isinstance(result, Remark))
        variants = [
            variant for family in made if not isinstance(family, Remark) for variant in family
        ]
        with writing(engine) as connection:
            done = keep_variants(connection, variants, done, approve=approve)
        done = replace(
            done, n_questions=done.n_questions + len(parents), refused=done.refused + refused
        )
    return done


def keep_variants(
    connection: Connection,
    variants: Sequence[BankQuestion],
    done: Expanded,
    *,
    approve: bool = False,
) -> Expanded:
    """Insert the new variants, and return `done` with all variants counted."""
    kept = by_uuid(connection, [variant.uuid for variant in variants])
    rows = rows_of([variant for variant in variants if variant.uuid not in kept])
    columns = QUESTIONS.c
    wanted = select(columns.digest, columns.uuid, columns.raw_uuid)
    taken = {
        row.digest: (row.uuid, row.raw_uuid)
        for part in parts([row["digest"] for row in rows])
        for row in connection.execute(wanted.where(columns.digest.in_(part)))
    }
    new, refused = [], []
    for row in rows:
        uuid, raw_uuid = taken.setdefault(row["digest"], (row["uuid"], row["raw_uuid"]))
        # A variant may equal a question of its family, e.g. a stem whose blank is to be filled in.
        if uuid == row["uuid"] or raw_uuid == row["raw_uuid"]:
            to_approve = approve and row["status"] == "draft"
            new.append({**row, "status": "approved"} if to_approve else row)
        else:
            refused.append(Remark(row["parent"], f"a variant of it is the same as {uuid}"))
    if new:
        connection.execute(insert(QUESTIONS), new)
    as_made = [
        variant.uuid for variant in variants if approve and kept.get(variant.uuid) == variant
    ]
    for part in parts(as_made):
        drafts = update(QUESTIONS).where(QUESTIONS.c.uuid.in_(part))
        connection.execute(drafts.values(status="approved"))
    approved = [*(row["uuid"] for row in new if row["status"] == "approved"), *as_made]
    changes = [Change(uuid, "status", "draft", "approved") for uuid in approved]
    note_changes(connection, changes, made_by(done.method))
    n_same = sum(
        variant.uuid in kept and replace(kept[variant.uuid], status=variant.status) == variant
        for variant in variants
    )
    return replace(
        done,
        n_made=done.n_made + len(new),
        n_true=done.n_true + sum(row["answer"] == "true" for row in new),
        n_there=done.n_there + len(kept),
        n_other=done.n_other + len(kept) - n_same,
        n_approved=done.n_approved + len(as_made),
        refused=done.refused + tuple(refused),
    )


def _wanted(kind: str) -> tuple[Any, ...]:
    columns = QUESTIONS.c
    return columns.type == kind, columns.status == "approved", columns.parent == ""


def parents_in(engine: Engine, kind: str) -> Iterator[list[BankQuestion]]:
    """Yield approved questions of a type that are not variants, in batches, by id."""
    last = ""
    wanted = select(*COLUMNS).where(*_wanted(kind)).order_by(QUESTIONS.c.uuid).limit(AT_ONCE)
    while True:
        with engine.connect() as connection:
            rows = connection.execute(wanted.where(QUESTIONS.c.uuid > last)).all()
        if not rows:
            return
        last = rows[-1].uuid
        yield [question_from(row) for row in rows]
