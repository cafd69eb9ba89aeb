"""A multiple-choice question with n options becomes other questions, without a model.

    true_false   n statements, one for each option: may it stand in the blank? (figure 7)
    fill_in      the stem with its blank, whose fill is the right option's text

The paper's text has n fill-in-the-blank variants for n options (§2.1), its figure shows n questions
of whether an option is right. Both are offered, but there is one `fill_in` question: without its
options a stem asks one thing and has one key, and n wordings of it would be one question n times.

Expansion changes scores. One of n statements is true, so who says "false" to everything is right in
n − 1 of n; and siblings give each other away, which is why they are never handed out together.

The signs in stems are data, in English and Chinese. They rather refuse a question too many: one
that is refused stays in the bank as it is, and one that became nonsense is found by nobody.

Source: LLMEval-Fair, §2.1, A.2.2 and figure 7. The wording of the questions is our own.
"""

import re
import unicodedata
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any, Final, Literal, NamedTuple, get_args

from sqlalchemy import Connection, Engine, func, insert, select, update

from tiebreak.fair.bank.question import BLANK, BankQuestion, faults_of, n_blanks
from tiebreak.fair.bank.review import Change, note_changes
from tiebreak.fair.bank.rows import COLUMNS, by_uuid, parts, question_from, rows_of
from tiebreak.fair.bank.schema import QUESTIONS, writing
from tiebreak.progress import tracked
from tiebreak.text import words_of

Method = Literal["true_false", "fill_in"]
Form = Literal["blank", "question", "open"]
"""A stem has a blank, is a question, or breaks off where its answer belongs."""

ANSWERS_MARK: Final = "____"
"""The blank at the end of a stem that has none of its own."""


class Sign(NamedTuple):
    """What is looked for in a text, and why a question that has it is refused."""

    pattern: re.Pattern[str]
    why: str


def _sign(why: str, *patterns: str, cased: bool = False) -> Sign:
    return Sign(re.compile("|".join(patterns), 0 if cased else re.IGNORECASE), why)


# "Of the following", where that means the options.
_THESE = (
    r"\b(?:the following|(?:of|among|are|is) (?:these|those)|options?|choices|alternatives|"
    r"which (?:statement|sentence|one|answer|pair)|(?:listed|given|shown) below)\b|"
    r"下列|以下|下面|下述|选项|哪(?:一)?[项个些种]"
)
_NOT = (
    r"\b(?:not|never|neither|cannot|incorrect(?:ly)?|false|wrong(?:ly)?|untrue|inaccurate|"
    r"unlikely|impossible|exclud\w+|lacks?)\b|\w+n['’]t\b|(?<!\bat )\bleast\b|"
    r"不|非|未|没|错误|有误|无|除"
)
_BEST = (
    r"\b(?:most|best|better|more|fewest|fewer|less|largest|larger|smallest|smaller|biggest|highest|"
    r"higher|lowest|lower|greatest|greater|strongest|weakest|closest|nearest|farthest|longest|"
    r"longer|shortest|shorter|oldest|newest|earliest|latest|fastest|slowest|first|last)\b|"
    r"最|更|较"
)
_LETTER = r"\(?(?-i:[A-H])\)?"
_AND = r"\s*(?:,|&|\+|/|and|or|nor)\s*"
_OR = r"\s*(?:[、和与及或,，+/])\s*"

HARMLESS: Final = re.compile(
    r"\b(?:the )?following (?:code|program|snippet|function|query|statement (?:in|of) \w+|text|"
    r"passage|equation|expression|sequence|list|array|data|tree|graph|reaction|experiment)s?\b|"
    r"\bnot only\b|\bnot gates?\b|"
    r"(?:下列|以下|下面)(?:的)?(?:代码|程序|语句段|函数|算法|数列|方程|反应|文字|材料|数据)|"
    r"非金属|非洲|非线性|非常|非法|不等式|不锈钢|不动产|不定积分|不可抗力|不当得利|不饱和|无机|无穷|无限|"
    r"无线|无产|无罪|未来|未成年|未遂|未知数|除法|除数|消除|解除|清除|去除|排除|删除|免除|扣除",
    re.IGNORECASE,
)
"""Words that only look like a sign."""

IN_QUESTION: Final[tuple[Sign, ...]] = (
    _sign(
        "it asks which option is not right, so that true and false change places",
        r"\b(?:NOT|EXCEPT|LEAST|INCORRECT|FALSE|CANNOT|NEVER)\b(?! gate)",
        cased=True,
    ),
    _sign(
        "it asks which option is not right, so that true and false change places",
        rf"(?:{_THESE}|\b(?:which|what|who)\b).*?(?:{_NOT})",
        rf"(?:{_NOT}).*?(?:{_THESE})",
        r"\bexcept(?:ing| for)?\b|\bother than\b|\bwith the exception\b",
        r"(?:不\w{1,3}|错误|有误|无关|没有\w{0,6})的?(?:一[项组个句]|选项)?(?:是|有|为)?\W*$",
        r"除\w{1,16}?(?:外|之外|以外)",
    ),
    _sign(
        "its key depends on what the other options are",
        rf"(?:{_THESE}).*?(?:{_BEST})",
        rf"(?:{_BEST}).*?(?:{_THESE})",
    ),
    _sign(
        "it asks for several options",
        r"\b(?:select|choose|mark|tick|check) (?:all|two|three|every)\b|\ball that apply\b|"
        r"\bwhich (?:two|three|four)\b|多选|不定项|(?:两|三|四|几|多)[项个]正确",
    ),
    _sign(
        "it names options by their letters",
        rf"\b(?:options?|choices?|answers?) {_LETTER}(?:\b|$)",
        rf"选项\s*{_LETTER}|{_LETTER}\s*(?:选项|项)",
    ),
)
"""Looked for in the sentence that asks."""

NEEDS_OPTIONS: Final = _sign(
    "without its options it does not say what it asks for",
    _THESE,
    r"\bwhich (?:is|are|was|were|of)\b|(?:正确|恰当|合适|属于\w{0,4})的(?:是|有)\W*$",
)
"""Looked for in the sentence that asks, where no option will be shown."""

IN_TEXT: Final = _sign(
    "its text lists the options itself",
    r"(?:^|\s)[(（]?A[).．、:：）](?=.*(?:^|\s)[(（]?B[).．、:：）])",
    cased=True,
)
"""Looked for in the whole text."""

IN_OPTION: Final = _sign(
    "option {letter} speaks of other options",
    r"\b(?:all|none|any|both|neither|either|some|two|three|more than one)\s+(?:of\s+)?(?:the\s+)?"
    r"(?:above|below|these|those|them|foregoing|preceding|previous|others|(?:other )?(?:options|"
    r"choices|answers|statements))\b",
    r"^\W*(?:all|none|both|neither|either)\W*$",
    rf"\b(?:options?|choices?|answers?|statements?) {_LETTER}(?:\b|$)",
    r"\bno (?:correct |right )?(?:answer|option|choice)s?\b|\bthe (?:above|others)\b",
    rf"^\W*(?:both |neither |either |only )?{_LETTER}(?:{_AND}{_LETTER})+(?:\W|only|both|are|is|"
    r"correct|right|true|false|wrong|incorrect)*$",
    rf"^\W*(?:只有|仅|选项)?{_LETTER}(?:{_OR}{_LETTER})+\s*(?:[两三四]?[项者个]|选项)?(?:都|均|皆)?\w{{0,4}}\W*$",
    r"(?:以上|上述|上面|前述)\w{0,3}(?:选项|[各三]项|答案|都|均|皆|全|不|无)",
    r"(?:其他|其它|其余|所有|全部)\w{0,2}(?:选项|[各三]项|答案)",
    r"^\W*(?:全部?|都|均|皆|两者|二者|三者)(?:都|均|皆)?(?:不|没)?(?:是|对|错|正确|错误)\W*$",
    r"(?:没有|无)(?:正确|合适)?(?:的)?(?:答案|选项)",
)
"""Looked for in each option."""

# No sentence ends after a short word, which may be an abbreviation: that rather refuses too much.
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
    """How a stem says where its answer belongs; None where it does not."""
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
    # A sentence may end in front of its blank: "… is the root. ( )"
    kept = [part for part in with_blank if words_of(BLANK.sub(" ", part))]
    return (kept or sentences or [""])[-1]


def refusal(stem: str, method: Method) -> str:
    """Why a stem cannot be turned into other questions; empty where it can."""
    blanks = n_blanks(stem)
    if len(words_of(BLANK.sub(" ", stem))) < _FEWEST_WORDS:
        return "it has no stem that says what is asked"
    if blanks > 1:
        return f"it has {blanks} blanks, and an option may fill several"
    if form_of(stem) is None:
        return "it has neither a blank nor a question"
    if IN_TEXT.pattern.search(stem):
        return IN_TEXT.why
    asking = HARMLESS.sub(" ", " ".join(BLANK.sub(" ", asking_part(stem)).split()))
    signs = (*IN_QUESTION, *([NEEDS_OPTIONS] if method == "fill_in" else []))
    return next((sign.why for sign in signs if sign.pattern.search(asking)), "")


def is_chinese(text: str) -> bool:
    """Whether a text is asked in Chinese: at least half of its words are ideographs."""
    words = words_of(text)
    return 2 * sum(_IDEOGRAPH.match(word) is not None for word in words) >= max(len(words), 1)


METHODS: Final[tuple[Method, ...]] = get_args(Method)

_NAMESPACE = uuid.UUID("b0b6d1a4-0c3e-5d0e-8a35-6a4e2d2f7c11")

_ASKED = {
    "en": {
        "blank": 'Does "{option}" fill the blank correctly? Answer true or false.',
        "question": 'Is "{option}" the right answer? Answer true or false.',
    },
    "zh": {
        "blank": "空格处填“{option}”对吗？请回答“正确”（true）或“错误”（false）。",
        "question": "答案是“{option}”，对吗？请回答“正确”（true）或“错误”（false）。",
    },
}
_KEY = {"en": 'Right is "{option}".', "zh": "正确的是“{option}”。"}


@dataclass(frozen=True, slots=True)
class Refused:
    """A question that makes no others, and why."""

    uuid: str
    why: str


def made_by(method: str, model: str = "") -> str:
    """The name of an expansion, as its variants carry it."""
    return f"expand/{method} {model}".rstrip()


def variant_uuid(parent: str, method: str, number: int) -> str:
    """The id of a variant: the same whenever, wherever and however often it is made."""
    return str(uuid.uuid5(_NAMESPACE, f"{parent}\x1f{method}\x1f{number}"))


def expand(question: BankQuestion, method: Method) -> tuple[BankQuestion, ...] | Refused:
    """The variants of a multiple-choice question, as drafts; any other one is refused.

    `true_false` gives one variant for each option, in their order, of which exactly one is true;
    `fill_in` gives one. Variants have the question's `raw_uuid`, category, source and date, and its
    uuid as `parent`; their hint says what is right, so it gives away all siblings.
    """
    if why := _refusal(question, method):
        return Refused(question.uuid, why)
    form = form_of(question.question)
    mark = {"blank": "", "question": "", "open": f" {ANSWERS_MARK}"}[form or "open"]
    stem = question.question.rstrip() + mark
    language = "zh" if is_chinese(question.question) else "en"
    right = question.options[ascii_uppercase.index(question.answer)]
    if method == "fill_in":
        if form == "question":
            stem += f" {ANSWERS_MARK}"
        return (_variant(question, method, 1, stem, right, question.hint),)
    asked = _ASKED[language]["question" if form == "question" else "blank"]
    hint = "\n".join(filter(None, (_KEY[language].format(option=right), question.hint)))
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
    """An option without what does not tell it from another; signs do: -5 is not 5."""
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
"""How many questions are expanded in one transaction."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """What an expansion did.

    Of `n_questions` looked at (approved ones that are no variants themselves), those in `refused`
    make no variants. `n_there` variants were in the bank before; `n_other` of these are not as they
    would be made now: they, or their question, were edited since. `n_approved` earlier drafts were
    approved. `rejected` are statements that failed their check. The tokens and the cost (US
    dollars; None: a price is unknown) are those of calls that were made now, not of cached ones.
    """

    method: str
    n_questions: int = 0
    n_made: int = 0
    n_true: int = 0
    n_there: int = 0
    n_other: int = 0
    n_approved: int = 0
    refused: tuple[Refused, ...] = ()
    rejected: tuple[Refused, ...] = ()
    n_calls: int = 0
    n_cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0


def expand_bank(engine: Engine, method: Method, *, approve: bool = False) -> Expanded:
    """Make the variants of all approved multiple-choice questions.

    With `approve` the method's word counts for a human's: its variants, and earlier drafts that are
    exactly as it makes them, are approved, and the approvals kept as reviews of its own. What was
    edited or rejected stays.
    """
    done = Expanded(method)
    families = parents_in(engine, "multiple_choice")
    with engine.connect() as connection:
        counted = select(func.count()).select_from(QUESTIONS).where(*_wanted("multiple_choice"))
        total = connection.execute(counted).scalar_one()
    for parents in tracked(families, "expanding questions", total, size=len):
        made = [expand(parent, method) for parent in parents]
        refused = tuple(result for result in made if isinstance(result, Refused))
        variants = [
            variant for family in made if not isinstance(family, Refused) for variant in family
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
    """Insert the variants that are new, and count."""
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
        # A variant may read like its own question, as a stem with its fill does.
        if uuid == row["uuid"] or raw_uuid == row["raw_uuid"]:
            to_approve = approve and row["status"] == "draft"
            new.append({**row, "status": "approved"} if to_approve else row)
        else:
            refused.append(Refused(row["parent"], f"a variant of it is the same as {uuid}"))
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
    """Approved questions of a type that are no variants, some at a time, in the order of ids."""
    last = ""
    wanted = select(*COLUMNS).where(*_wanted(kind)).order_by(QUESTIONS.c.uuid).limit(AT_ONCE)
    while True:
        with engine.connect() as connection:
            rows = connection.execute(wanted.where(QUESTIONS.c.uuid > last)).all()
        if not rows:
            return
        last = rows[-1].uuid
        yield [question_from(row) for row in rows]
