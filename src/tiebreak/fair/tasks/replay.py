"""Replay: can a model fill in what was taken out of a question? LLMEval-Fair, §3.3, table 4.

inspect eval tiebreak/replay -T data=gsm8k --model openai/gpt-5-mini

A model that can has most likely seen the question. How many parts can be guessed depends on the
mask, so `tiebreak contamination` compares data that may be known with questions that were never
published, masked in the same way.

There are two kinds of masks. LLMEval-Fair, §3.3, does not say which it used; `option` is from Deng
et al. 2024, "Investigating Data Contamination in Modern Benchmarks", arXiv:2311.09783.

    word     a content word or a number of the question's text
    option   the text of one of its options, right or wrong

A part can be masked only if it occurs once in the question, so that it cannot be copied from the
rest. The seed and the question's id decide which one is masked: the same for every model, whatever
other questions there are.
"""

import random
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from inspect_ai import Epochs, Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from tiebreak.benchmarks import BENCHMARKS, load_questions
from tiebreak.benchmarks.question import Question
from tiebreak.benchmarks.sources import file_rows, origin
from tiebreak.candidates import REPLAY_KEY
from tiebreak.fair.bank.prompting import PROMPT_FOLDER
from tiebreak.fair.tasks import bank_errors
from tiebreak.inspect_tasks.arguments import one_of, whole
from tiebreak.inspect_tasks.contests import from_working_directory
from tiebreak.prerequisite import PrerequisiteError, task
from tiebreak.scorers.prompt import template
from tiebreak.text import words_of

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

ATTEMPTS: Final = 3
NEEDED: Final = 2
"""A question counts as recalled when two attempts of three are right (LLMEval-Fair, §3.3)."""

MaskKind = Literal["word", "option"]
MASKS: Final[tuple[MaskKind, ...]] = get_args(MaskKind)

BLANK: Final = "[MASK]"

Which = Literal["all", "originals", "expanded"]

_FILES = (".jsonl", ".json", ".gz", ".parquet")
_TEXTS = ("question", "text", "prompt", "input")

PROMPT: Final = template("replay", PROMPT_FOLDER)


@task
def replay(
    data: str | None = None,
    k: int = 1000,
    seed: int = 0,
    mask: MaskKind = "word",
    questions: Which = "all",
    name: str | None = None,
) -> Task:
    """Fill in what was taken out of a question, three times; recalled when two are right.

    Args:
        data: a benchmark (gsm8k, humaneval, mmlu, bfcl) from the Hub, a JSON lines or Parquet file
            with question (and, optionally, id, choices, raw_uuid), or the address of a bank.
        k: how many questions to draw, at most.
        seed: seed of the draws, of the questions and of the part that is taken out.
        mask: word (a content word or a number of the text) or option (the text of one option).
            Only runs with the same kind can be compared.
        questions: which questions of a bank: all, originals, or expanded (made from others).
        name: what to call the data in the log; by default the benchmark or the file's name.
    """
    if not (isinstance(data, str) and data):
        raise PrerequisiteError(
            "No data: add -T data=NAME, a benchmark (" + ", ".join(BENCHMARKS) + "), a JSON lines "
            "file with questions, or the address of a bank."
        )
    whole("k", k, 1)
    whole("seed", seed)
    one_of("mask", mask, MASKS)
    one_of("questions", questions, get_args(Which))
    known, called, where = _read(data, questions)
    called = str(name) if name else called
    samples = _samples(known, mask, seed, k)
    if not samples:
        part = "option" if mask == "option" else "word"
        raise PrerequisiteError(
            f"{where}: no question has {part} to take out"
            + ("; try -T mask=word." if mask == "option" else ".")
        )
    kept = {"data": called, "mask": mask, "seed": seed, "questions": questions, "k": k}
    return Task(
        dataset=MemoryDataset(samples, name=called, location=where),
        solver=generate(),
        scorer=filled_in(),
        epochs=Epochs(ATTEMPTS, f"at_least_{NEEDED}"),
        metadata={REPLAY_KEY: kept},
    )


# Variants of one question are not independent, so the standard error is clustered by original.
@scorer(metrics=[accuracy(), stderr(cluster="raw_uuid")])
def filled_in() -> Scorer:
    """Score whether the reply is the part taken out, whatever its case, spaces and outer marks."""

    async def score(state: TaskState, target: Target) -> Score:
        reply = state.output.completion
        right = same_fill(reply, target.text)
        return Score(value=CORRECT if right else INCORRECT, answer=reply.strip()[:200])

    return score


def _samples(questions: Iterable[Question], kind: MaskKind, seed: int, k: int) -> list[Sample]:
    """The first k questions, in an order drawn by the seed, that have a part to take out."""
    drawn = sorted(questions, key=lambda question: question.id)
    random.Random(f"replay {seed}").shuffle(drawn)
    samples: list[Sample] = []
    for known in drawn:
        if len(samples) == k:
            break
        masked = mask(known.text, known.choices, kind=kind, seed=seed, name=known.id)
        if masked is None:
            continue
        text, left, fill = masked
        options = [f"{chr(ord('A') + n)}) {option}" for n, option in enumerate(left)]
        question = "\n\n".join([text, *(["\n".join(options)] if options else [])])
        samples.append(
            Sample(
                id=known.id,
                input=PROMPT.replace("{question}", question),
                target=fill,
                metadata={"raw_uuid": known.details.get("raw_uuid") or known.id},
            )
        )
    return samples


def _read(data: str, subset: Which) -> tuple[list[Question], str, str]:
    """Read the questions; returns them with the name and the location of their data."""
    if data in BENCHMARKS:
        return list(load_questions(data)), data, origin(data)
    path = Path(from_working_directory(data))
    if "://" not in data and path.suffix in _FILES:
        return list(_of_file(path)), path.name.partition(".")[0], str(path)
    return _of_bank(data if "://" in data else str(path), subset)


def _of_file(path: Path) -> Iterator[Question]:
    names: set[str] = set()
    for number, (place, row) in enumerate(file_rows(path)):
        text = next((row[name] for name in _TEXTS if isinstance(row.get(name), str)), "")
        if not text.strip():
            raise PrerequisiteError(f"{place}: it lacks 'question', a text.")
        options = row.get("choices") or row.get("options") or ()
        if not isinstance(options, list | tuple) or not all(isinstance(o, str) for o in options):
            raise PrerequisiteError(f"{place}: its choices are not a list of texts.")
        name = str(row.get("id") or row.get("question_uuid") or f"row-{number}")
        if name in names:
            raise PrerequisiteError(f"{place}: the id {name!r} occurs twice.")
        names.add(name)
        original = {"raw_uuid": str(row.get("raw_uuid") or "")}
        yield Question(name, text, target="", choices=tuple(options), details=original)


def _of_bank(url: str, subset: Which) -> tuple[list[Question], str, str]:
    with bank_errors():
        from tiebreak.fair.bank.rows import questions_in
        from tiebreak.fair.bank.schema import QUESTIONS, open_bank, shown

        engine = open_bank(url)
        where: list[ColumnElement[bool]] = [QUESTIONS.c.status == "approved"]
        if subset != "all":
            made = QUESTIONS.c.made_by
            where.append(made != "" if subset == "expanded" else made == "")
        with engine.connect() as connection:
            known = [
                Question(
                    id=question.uuid,
                    text=question.question,
                    target=question.answer,
                    choices=question.options,
                    details={"raw_uuid": question.raw_uuid},
                )
                for question in questions_in(connection, *where)
            ]
    called = "bank" if subset == "all" else f"bank, {subset}"
    return known, called, shown(url)


SHORTEST: Final = 5
"""Least letters of a word to mask: shorter ones are mostly grammar, which anybody can fill in."""

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*|\d+(?:[.,]\d+)*")
# Scripts without spaces: a run of two to four ideographs stands for a word.
_IDEOGRAPHS = re.compile(r"[㐀-䶿一-鿿]{2,}")
_OPENING: Final = 3
# Quotes, brackets and full stops that models set around what they fill in.
_OUTER: Final = " .,;:!?\"'`*“”‘’«»()[]。、，"


class MaskedQuestion(NamedTuple):
    """A question with a blank in its text or options, and `fill`, the part taken out."""

    text: str
    options: tuple[str, ...]
    fill: str


def mask(
    text: str, options: Sequence[str], *, kind: MaskKind, seed: int, name: str
) -> MaskedQuestion | None:
    """Take one part out of a question's text or options; returns None if no part fits.

    The part is drawn by `seed` and `name`, the question's id.
    """
    rng = random.Random(f"replay {kind} {seed} {name}")
    bare = " ".join([text, *options])
    if kind == "option":
        places = [n for n, option in enumerate(options) if _once(option, bare)]
        if not places:
            return None
        place = rng.choice(places)
        left = tuple(BLANK if n == place else option for n, option in enumerate(options))
        return MaskedQuestion(text, left, options[place])
    spans = [span for span in _spans(text, rng) if _once(text[slice(*span)], bare)]
    if not spans:
        return None
    start, end = rng.choice(spans)
    return MaskedQuestion(f"{text[:start]}{BLANK}{text[end:]}", tuple(options), text[start:end])


def _spans(text: str, rng: random.Random) -> list[tuple[int, int]]:
    """Spans of content words and numbers, but not of the first words, which anybody can guess."""
    spans = []
    for number, word in enumerate(_WORD.finditer(text)):
        if _IDEOGRAPHS.search(word[0]):
            continue
        if number >= _OPENING and (word[0][0].isdigit() or len(word[0]) >= SHORTEST):
            spans.append(word.span())
    for run in _IDEOGRAPHS.finditer(text):
        for start in range(run.start(), run.end() - 1, 4):
            spans.append((start, min(run.end(), start + rng.randint(2, 4))))
    return sorted(spans)


def _once(part: str, text: str) -> bool:
    """Whether the words of a part occur exactly once in the text, whatever their case."""
    words, all_ = words_of(part), words_of(text)
    n = len(words)
    if not n:
        return False
    return sum(all_[k : k + n] == words for k in range(len(all_) - n + 1)) == 1


def same_fill(reply: str, fill: str) -> bool:
    """Whether a reply equals the part taken out, up to NFKC, case, spaces and outer marks."""
    return bool(plain := _plain(reply)) and plain == _plain(fill)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(_OUTER)
