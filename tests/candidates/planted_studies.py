"""Studies that are drawn: documents, and how each of 2 to 4 models was run over them.

Two runs differ in all that may differ between two runs of a benchmark (`CHOICES`): harness, ids,
order, cuts, templates, images …
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final, Literal, NamedTuple

from tests.cases import cases

CHOICES: Final[Mapping[str, Sequence[Any]]] = cases(__file__, "choices")
"""How a run may be: each row of the table is a field of `Style`."""

PLAIN: Final[Mapping[str, Any]] = cases(__file__, "plain")
"""What joins the harnesses most often; a part of the draws has it, with a bare question."""

LAYOUTS: Final = ("question", "passage", "instruction", "options", "letters")
HEADS: Final = ("", "Answer the question.", "Think step by step, then answer.")
"""The instruction that begins a template; template 0 is the bare question."""

NOT_KNOWN = "stem"
"""A column that readers do not know as that of the question."""


@dataclass(frozen=True)
class Document:
    """A document of the benchmark. All but `remark` is asked; copies differ by their number.

    `image` is a data URI. `column` names the column of the question; `lettered` options stand in
    columns A to D.
    """

    number: int
    question: str
    target: str
    passage: str = ""
    instruction: str = ""
    options: tuple[str, ...] = ()
    image: str = ""
    remark: str = ""
    column: str = "question"
    lettered: bool = False

    @property
    def text(self) -> tuple[object, ...]:
        return self.instruction, self.passage, self.question, self.options, self.target

    def columns(self) -> dict[str, Any]:
        """The document as the dataset has it."""
        lettered = self.lettered and self.options
        columns = {
            "instruction": self.instruction,
            "text" if self.column == NOT_KNOWN else "passage": self.passage,
            self.column: self.question,
            **(dict(zip("ABCD", self.options, strict=True)) if lettered else {}),
            "choices": [] if lettered else list(self.options),
            "image": self.image,
            "remark": self.remark,
            "answer": self.target,
        }
        return {name: value for name, value in columns.items() if value}


@dataclass(frozen=True)
class Style:
    """How a model was run; the values are those of `CHOICES`."""

    harness: Literal["inspect", "lm-eval"]
    ids: str = "places"
    order: str = "kept"
    cut: str = "none"
    template: int = 0
    epochs: int = 1
    images: str = "data"
    keeps: str = ""
    system: bool = False
    shots: int = 0
    chat: str = ""
    filters: int = 1
    hashed: bool = True
    summary: str = "full"


class Row(NamedTuple):
    """A document in a run: its place in the dataset, from 0, and its id if the dataset has ids."""

    place: int
    document: Document
    id: str | None = None
    answered: bool = True


@dataclass(frozen=True)
class Run:
    model: str
    style: Style
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Study:
    """The logs of all models; `epochs` is how they are loaded."""

    runs: tuple[Run, ...]
    epochs: Literal["first", "all"] = "first"

    @property
    def documents(self) -> dict[int, Document]:
        return {row.document.number: row.document for run in self.runs for row in run.rows}


def draw_study(rng: Random) -> Study:
    """Logs of a few models over one set of documents; most runs have the style of the first."""
    plain = rng.random() < 0.2
    documents = draw_documents(rng, plain)
    usual = {name: rng.choice(values) for name, values in CHOICES.items()}
    usual |= PLAIN if plain else {}
    unusual = rng.choice((0.0, 0.1, 0.4))
    mixed = rng.random() < (0.8 if plain else 0.2)
    runs = []
    for model in "abcd"[: rng.randint(2, 4)]:
        drawn = {
            name: rng.choice(values) if rng.random() < unusual else usual[name]
            for name, values in CHOICES.items()
        }
        drawn |= {"harness": rng.choice(CHOICES["harness"])} if mixed else {}
        style = Style(**drawn)
        runs.append(Run(model, style, _rows(rng, model, documents, style)))
    if rng.random() < 0.15:
        runs[-1] = _contradicting(rng, runs[-1])
    return Study(tuple(runs), rng.choice(("first", "all")))


def draw_documents(rng: Random, plain: bool) -> list[Document]:
    """Up to 8 documents; some repeat an earlier one, whole or but for a single field."""
    layout = "question" if plain else rng.choice(LAYOUTS)
    column = rng.choice(("question", "problem", "query", "input", NOT_KNOWN))
    column = "input" if layout == "instruction" else column
    fields = [name for name in ("image", "remark") if rng.random() < (0 if plain else 0.25)]
    words = rng.random() < 0.5
    repeats = rng.choice((0.0, 0.0, 0.3, 0.7))
    documents: list[Document] = []
    for number in range(1, rng.randint(1, 8) + 1):
        document = _fresh(rng, number, layout, column, fields, words)
        if documents and rng.random() < repeats:
            document = _repeated(rng, rng.choice(documents), document)
        documents.append(document)
    return documents


def _fresh(
    rng: Random, number: int, layout: str, column: str, fields: Sequence[str], words: bool
) -> Document:
    """A document with a question of its own; `words` says that targets are no numbers."""
    optional = layout in ("options", "letters")
    target = rng.choice("ABCD") if optional else f"{'boat' if words else ''} {number * 2}".strip()
    tasks = ("Work this out.", "Work this out, and show every step.")
    return Document(
        number=number,
        question=f"What is {number} + {number}?",
        target=target,
        passage=f"In 190{number} a ship came into the harbour." if layout == "passage" else "",
        instruction=rng.choice(tasks) if layout == "instruction" else "",
        options=tuple(rng.sample(("red", "green", "blue", "grey"), 4)) if optional else (),
        image=f"data:image/png;base64,AAA{number}" if "image" in fields else "",
        remark=f"page {number}" if "remark" in fields else "",
        column=column,
        lettered=layout == "letters",
    )


def _repeated(rng: Random, earlier: Document, fresh: Document) -> Document:
    """An earlier document once more; none or one of the fields that are asked is another."""
    names = ["question", "target", "passage", "instruction", "options", "image"]
    name = rng.choice(["", *(name for name in names if getattr(earlier, name))])
    changed = {name: getattr(fresh, name)} if name else {}
    if name == "question" and rng.random() < 0.5:
        changed = {"question": f"{earlier.question} Why?"}
    return replace(earlier, number=fresh.number, remark=fresh.remark, **changed)


def _rows(rng: Random, model: str, documents: Sequence[Document], style: Style) -> tuple[Row, ...]:
    ordered = list(documents)
    if style.order == "shuffled":
        rng.shuffle(ordered)
    elif style.order == "moved":
        turn = rng.randint(0, len(ordered))
        ordered = ordered[turn:] + ordered[:turn]
    rows = [Row(place, document) for place, document in enumerate(ordered)]
    if style.ids == "true":
        rows = [row._replace(id=f"q{17 + 3 * row.document.number}") for row in rows]
    elif style.ids == "fresh":
        rows = [row._replace(id=f"{model}-{row.place}") for row in rows]
    if style.cut == "limit":
        rows = rows[: rng.randint(1, len(rows))]
    elif style.cut == "gaps":
        rows = [row for row in rows if rng.random() < 0.7] or rows[:1]
    elif style.cut == "failed":
        rows = [row._replace(answered=rng.random() < 0.7) for row in rows]
    return tuple(rows)


def _contradicting(rng: Random, run: Run) -> Run:
    """The run with the ids of two of its rows exchanged; the same run if these ask the same."""
    rows = list(run.rows)
    if run.style.ids != "true" or len(rows) < 2:
        return run
    i, j = rng.sample(range(len(rows)), 2)
    if rows[i].document.text == rows[j].document.text:
        return run
    rows[i], rows[j] = rows[i]._replace(id=rows[j].id), rows[j]._replace(id=rows[i].id)
    return replace(run, rows=tuple(rows))
