"""Replay: can a model fill in what was taken out of a question? LLMEval-Fair, §3.3, table 4.

inspect eval tiebreak/replay -T data=gsm8k --model openai/gpt-5-mini

A model that can has most likely seen the question. How many it can guess anyway depends on what is
taken out, so data that may be known are compared with questions that were never published, masked
in the same way: `tiebreak contamination`.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from tiebreak.benchmarks import BENCHMARKS, load_questions, origin
from tiebreak.benchmarks.sources import file_rows
from tiebreak.candidates import REPLAY_KEY
from tiebreak.extras import to_install
from tiebreak.inspect_tasks.arguments import one_of, whole
from tiebreak.inspect_tasks.contests import from_working_directory
from tiebreak.inspect_tasks.masking import BLANK, MASKS, MaskKind, mask, same_fill
from tiebreak.prerequisite import PrerequisiteError

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

ATTEMPTS: Final = 3
NEEDED: Final = 2
"""A question counts as recalled when two attempts of three are right (LLMEval-Fair, §3.3)."""

Which = Literal["all", "originals", "expanded"]

_FILES = (".jsonl", ".json", ".gz", ".parquet")
_TEXTS = ("question", "text", "prompt", "input")

PROMPT: Final = f"""\
Somebody took one part out of the question below and left {BLANK} in its place. Do not answer the \
question. If you know it, fill in what stood there, word for word.

{{question}}

Reply with the part that is missing and nothing else."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A question whose text may be known: its name, its text and options, and its original."""

    name: str
    text: str
    options: tuple[str, ...] = ()
    raw_uuid: str = ""


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
        data: A benchmark (gsm8k, humaneval, mmlu, bfcl) from the Hub, a JSON lines or Parquet file
            with question (and id, choices, raw_uuid where it has them), or the address of a bank.
        k: How many questions to draw, at most.
        seed: Seed of the draw, of questions and of what is taken out.
        mask: word (a content word or a number of the text) or option (the text of one option).
            Only runs with the same kind can be compared.
        questions: Of a bank: all, originals, or expanded (those that were made of others).
        name: What to call the data in the log; by default the benchmark or the file's name.
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
    found, called, where = _read(data, questions)
    called = str(name) if name else called
    samples = _samples(found, mask, seed, k)
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


@scorer(metrics=[accuracy(), stderr(cluster="raw_uuid")])
def filled_in() -> Scorer:
    """Whether the reply is what was taken out; case, blanks and outer marks do not count."""

    async def score(state: TaskState, target: Target) -> Score:
        reply = state.output.completion
        right = same_fill(reply, target.text)
        return Score(value=CORRECT if right else INCORRECT, answer=reply.strip()[:200])

    return score


def _samples(found: Iterable[_Known], kind: MaskKind, seed: int, k: int) -> list[Sample]:
    """The first k questions, in an order drawn by the seed, that have a part to take out."""
    drawn = sorted(found, key=lambda one: one.name)
    random.Random(f"replay {seed}").shuffle(drawn)
    samples: list[Sample] = []
    for one in drawn:
        if len(samples) == k:
            break
        masked = mask(one.text, one.options, kind=kind, seed=seed, name=one.name)
        if masked is None:
            continue
        letters = (chr(ord("A") + n) for n in range(len(masked.options)))
        options = [
            f"{letter}) {text}" for letter, text in zip(letters, masked.options, strict=False)
        ]
        question = "\n\n".join([masked.text, *(["\n".join(options)] if options else [])])
        samples.append(
            Sample(
                id=one.name,
                input=PROMPT.replace("{question}", question),
                target=masked.fill,
                metadata={"raw_uuid": one.raw_uuid or one.name},
            )
        )
    return samples


def _read(data: str, which: Which) -> tuple[list[_Known], str, str]:
    """The questions, what their data is called, and where they come from."""
    if data in BENCHMARKS:
        read = load_questions(data)
        known = [_Known(one.id, one.text, tuple(one.choices)) for one in read]
        return known, data, origin(data)
    path = Path(from_working_directory(data))
    if "://" not in data and path.suffix in _FILES:
        return list(_of_file(path)), path.name.partition(".")[0], str(path)
    return _of_bank(data if "://" in data else str(path), which)


def _of_file(path: Path) -> Iterator[_Known]:
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
        yield _Known(name, text, tuple(options), str(row.get("raw_uuid") or ""))


def _of_bank(url: str, which: Which) -> tuple[list[_Known], str, str]:
    from tiebreak.bank.errors import BankError

    try:
        from tiebreak.bank.rows import questions_in
        from tiebreak.bank.schema import QUESTIONS, open_bank, shown

        engine = open_bank(url)
        where: list[ColumnElement[bool]] = [QUESTIONS.c.status == "approved"]
        if which != "all":
            made = QUESTIONS.c.made_by
            where.append(made != "" if which == "expanded" else made == "")
        with engine.connect() as connection:
            found = [
                _Known(one.uuid, one.question, one.options, one.raw_uuid)
                for one in questions_in(connection, *where)
            ]
    except ImportError as error:
        raise PrerequisiteError(f"A bank needs SQLAlchemy: {to_install('bank')}.") from error
    except BankError as error:
        raise PrerequisiteError(str(error)) from error
    called = "bank" if which == "all" else f"bank, {which}"
    return found, called, shown(url)
