"""Logs with the truth inside: every answer names the document that it is really to.

Documents are drawn, and written as the logs of 2 to 4 models, with all that may differ between two
runs of a benchmark (`CHOICES`): harness, ids, order, cuts, templates, images … An answer holds
`TRUTH=<number of its document>`. `check` loads the logs and says what is wrong:

- a *wrong pair* is an item of the pool whose answers are to different documents;
- a *needless refusal* is a document that all models answered, that nothing else in the logs can be
  taken for (`due`), and that is not in the pool;
- a *conflict* is an id that stands for two questions and was accepted.

    python -m tests.candidates.planted_logs --draws 20000 --seed 1
    python -m tests.candidates.planted_logs --replay 1000017
"""

import argparse
import json
import re
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Final, Literal, NamedTuple
from zlib import crc32

from tests.candidates.builders import lm_eval_row
from tiebreak.candidates import Candidate, CandidateError, CandidatePool, Mode, load_candidates

CHOICES: Final[Mapping[str, tuple[Any, ...]]] = {
    "harness": ("inspect", "lm-eval"),
    "ids": ("places", "places", "true", "fresh"),  # "true": the same for all models
    "order": ("kept", "shuffled", "moved"),
    "cut": ("none", "none", "none", "limit", "gaps", "failed"),
    "template": (0, 0, 1, 2),
    "epochs": (1, 1, 2),
    "images": ("data", "data", "attachment", "removed", "file"),
    # of Inspect
    "keeps": ("", "", "question", "prompt", "shared", "record"),  # what is in the metadata
    "system": (False, False, True),
    # of lm-eval
    "shots": (0, 3),
    "chat": ("", "message", "turns"),
    "filters": (1, 2),
    "hashed": (True, True, False),
    "summary": ("full", "full", "short"),
}
"""How a run may be: each row of the table is a field of `Style`."""

PLAIN: Final = {"images": "data", "keeps": "question", "system": False}
"""What joins the harnesses most often; a part of the draws has it, with a bare question."""

LAYOUTS: Final = ("question", "passage", "instruction", "options", "letters")
HEADS: Final = ("", "Answer the question.", "Think step by step, then answer.")
"""The instruction that begins a template; template 0 is the bare question."""

TASK = "sums"
DATE = "2026-01-01T00-00-00.000000"
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
        """What is asked, without the image."""
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
    """The log of a model."""

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


# Drawing ------------------------------------------------------------------------------------------


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


# Writing ------------------------------------------------------------------------------------------


def write_study(study: Study, folder: Path) -> Path:
    """Write the logs of a study into a folder."""
    for run in study.runs:
        if run.style.harness == "inspect":
            write_inspect_text(run, folder)
        else:
            write_lm_eval_text(run, folder)
    return folder


def write_inspect_text(run: Run, folder: Path) -> Path:
    """An Inspect log as the fields that its reader needs: a tenth of the time of Inspect's."""
    folder.mkdir(parents=True, exist_ok=True)
    samples = [
        _sample(run, row, epoch) for epoch in range(1, run.style.epochs + 1) for row in run.rows
    ]
    log = {
        "version": 2,
        "status": "success",
        "eval": {
            "created": "2026-01-01T00:00:00+00:00",
            "task": TASK,
            "dataset": {"name": TASK, "samples": len(run.rows)},
            "model": run.model,
            "config": {"epochs": run.style.epochs},
        },
        "samples": samples,
    }
    path = folder / f"{run.model}.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    return path


def _sample(run: Run, row: Row, epoch: int) -> dict[str, Any]:
    document, style = row.document, run.style
    listed = bool(document.options) and not style.template
    sample: dict[str, Any] = {
        "id": row.place + 1 if row.id is None else row.id,
        "epoch": epoch,
        "input": prompt_of(document, style),
        "target": document.target,
        "metadata": _metadata(run, document),
        "messages": [],
        "scores": {"match": {"value": 1.0}},
    }
    if listed:
        sample["choices"] = list(document.options)
    if style.system or document.image:
        attached: dict[str, str] = {}
        sample |= {"input": list(_messages(run, document, attached)), "attachments": attached}
    if row.answered:
        message = {"role": "assistant", "content": _answer(run, document)}
        choice = {"message": message, "stop_reason": "stop"}
        return sample | {"output": {"model": run.model, "choices": [choice]}}
    error = {"message": "it broke", "traceback": "", "traceback_ansi": ""}
    return sample | {"output": {"model": "", "choices": []}, "error": error}


def _messages(run: Run, document: Document, attached: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The input as messages; the system's holds passage and instruction where there are any."""
    style = run.style
    if style.system:
        told = f"{document.instruction}\n{document.passage}".strip()
        yield {"role": "system", "content": told or "You are helpful."}
        document = replace(document, instruction="", passage="")
    text: dict[str, Any] = {"type": "text", "text": prompt_of(document, style)}
    if not document.image:
        yield {"role": "user", "content": text["text"]}
        return
    image = _image(run, document)
    if style.images == "attachment":
        digest = f"{crc32(image.encode()):032x}"
        attached[digest] = image
        image = f"attachment://{digest}"
    yield {"role": "user", "content": [text, {"type": "image", "image": image}]}


def _image(run: Run, document: Document) -> str:
    """How a log has an image; without its content in the words of the harness."""
    match run.style.images, run.style.harness:
        case "file", _:
            return f"images/{crc32(document.image.encode())}.png"
        case "removed", "inspect":
            return "<base64-data-removed>"
        case "removed", _:
            address = crc32(f"{run.model} {document.number}".encode())
            return f"<PIL.PngImagePlugin.PngImageFile image mode=RGB size=8x8 at 0x7F{address:08X}>"
    return document.image


def _metadata(run: Run, document: Document) -> dict[str, Any]:
    match run.style.keeps:
        case "question" | "prompt" as name:
            return {name: document.question}
        case "shared" if run.style.template:
            return {"prompt": HEADS[run.style.template]}
        case "record":
            return _columns(run, document)
    return {}


def _columns(run: Run, document: Document) -> dict[str, Any]:
    return replace(document, image=document.image and _image(run, document)).columns()


def prompt_of(document: Document, style: Style) -> str:
    """The text of a document as its template asks it."""
    options = [f"{letter}) {text}" for letter, text in zip("ABCD", document.options, strict=False)]
    if style.harness == "inspect" and not style.template:
        options = []  # they are the sample's choices
    parts = [document.instruction, document.passage, document.question, *options]
    text = "\n".join(part for part in parts if part)
    match style.template:
        case 1:
            return f"{HEADS[1]}\n\n{text}\n\nAnswer:"
        case 2:
            return f"{HEADS[2]}\nQuestion: {text}"
    return text


def _answer(run: Run, document: Document) -> str:
    return f"{run.model} thinks: TRUTH={document.number}."


def write_lm_eval_text(run: Run, folder: Path) -> Path:
    """An lm-eval output: one row for each filter of each document, and the summary."""
    folder = folder / run.model
    folder.mkdir(parents=True, exist_ok=True)
    summary: dict[str, Any] = {"results": {TASK: {}}, "model_name": run.model}
    if run.style.summary == "full":
        summary |= {
            "n-shot": {TASK: run.style.shots},
            "n-samples": {TASK: {"original": len(run.rows), "effective": len(run.rows)}},
            "configs": {TASK: {"fewshot_delimiter": "\n\n"}},
        }
    (folder / f"results_{DATE}.json").write_text(json.dumps(summary), encoding="utf-8")
    path = folder / f"samples_{TASK}_{DATE}.jsonl"
    lines = [
        json.dumps(_sample_row(run, row, name))
        for row in run.rows
        for name in ("strict", "loose")[: run.style.filters]
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _sample_row(run: Run, row: Row, filter_name: str) -> dict[str, Any]:
    document, style = row.document, run.style
    columns = _columns(run, document)
    request: dict[str, Any] = {"arg_0": _request(run, document), "arg_1": {"until": []}}
    if document.image:
        request["arg_2"] = {"visual": [_image(run, document)]}
    written = lm_eval_row(
        {
            "doc": columns if row.id is None else {"id": row.id, **columns},
            "target": document.target,
            "arguments": {"gen_args_0": request},
            "resps": [[_answer(run, document)] * style.epochs if row.answered else []],
            "filter": filter_name,
            "native": 1.0,
        },
        row.place,
    )
    if not style.hashed:
        del written["doc_hash"]
    return written


def _request(run: Run, document: Document) -> str | list[str]:
    """A prompt after its examples: as one text, or as messages in JSON."""
    style = run.style
    shots = [row.document for row in run.rows if row.document != document]
    shots += [replace(document, question=f"What is {n} + {n}?") for n in (91, 92, 93)]
    asked = [(prompt_of(shot, style), shot.target) for shot in shots[: style.shots]]
    prompt = prompt_of(document, style)
    if style.chat == "turns":
        pairs = zip(("user", "assistant") * style.shots, sum(asked, ()), strict=True)
        messages = [*pairs, ("user", prompt)]
    else:
        text = "\n\n".join([*(" ".join(example) for example in asked), prompt])
        if not style.chat:
            return text
        messages = [("user", text)]
    return [json.dumps([{"role": role, "content": content} for role, content in messages])]


# Judging ------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What loading made of a study; the lists say what is wrong.

    `joined` are the documents in the pool of `intersect`, `kinds` those of notes and problems.
    """

    items: int = 0
    joined: set[int] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    needless: list[str] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    @property
    def faults(self) -> list[str]:
        return [*self.wrong, *self.needless, *self.accepted]


def check(study: Study, folder: Path) -> Outcome:
    """Load the logs of a study in both modes, and compare the pools with the truth."""
    outcome = Outcome()
    conflicts = conflicting(study)
    for mode in ("intersect", "strict"):
        pool, kinds = _loaded(folder, mode, study.epochs)
        outcome.kinds.update(f"{mode}: {kind}" for kind in kinds)
        answers = {key: _truths(row.values()) for key, row in pool.candidates.items()}
        joined = {(number, key.epoch) for key, numbers in answers.items() for number in numbers}
        wrong = [
            f"item {key.item_id!r} (epoch {key.epoch}) joins documents {numbers}"
            for key, numbers in answers.items()
            if len(set(numbers)) > 1 and not _alike(study, set(numbers))
        ]
        outcome.wrong += [what for what in wrong if what not in outcome.wrong]
        wanted = due(study) if mode == "intersect" or _whole(study) else set()
        outcome.needless += [
            f"{mode}: document {number} (epoch {epoch}) is due; notes: {sorted(kinds)}"
            for number, epoch in sorted(wanted - joined)
        ]
        accepted = sorted(conflicts & {number for number, _ in joined})
        outcome.accepted += [f"{mode}: document {number} has a conflict" for number in accepted]
        if mode == "strict" and conflicts and "question_conflict" not in kinds:
            outcome.accepted.append(f"strict: no question_conflict among {sorted(kinds)}")
        if mode == "intersect":
            outcome.joined = {number for number, _ in joined}
            outcome.items = len(answers)
    return outcome


def _loaded(
    folder: Path, mode: Mode, epochs: Literal["first", "all"]
) -> tuple[CandidatePool, set[str]]:
    """The pool, and the kinds of what was noted, or of the problems where there is no pool."""
    try:
        pool = load_candidates(folder, mode, epochs=epochs)
    except CandidateError as error:
        return CandidatePool((), {}), {note.kind for note in error.notes}
    return pool, {note.kind for note in pool.notes}


def _truths(row: Iterable[Candidate]) -> list[int]:
    return [int(re.findall(r"TRUTH=(\d+)", candidate.text)[0]) for candidate in row]


def shown(document: Document, style: Style) -> tuple[object, ...]:
    """What a log shows of what is asked."""
    image = document.image and style.images.replace("attachment", "data")
    return *document.text, image, "" if image == "removed" else document.image


def _alike(study: Study, numbers: set[int]) -> bool:
    """Whether nothing tells documents apart: they look the same, and no log has two of them."""
    documents = study.documents
    looks = set()
    for run in study.runs:
        if not any(row.answered for row in run.rows):
            continue  # `intersect` leaves such a log out
        here = {row.document.number for row in run.rows} & numbers
        if len(here) > 1:
            return False
        looks |= {shown(documents[number], run.style) for number in here}
    return len(looks) == 1


def due(study: Study) -> set[tuple[int, int]]:
    """Documents, with their epochs, that have to be in the pool."""
    if not _comparable(study.runs):
        return set()
    mixed = len({run.style.harness for run in study.runs}) > 1
    sure = set(study.documents) - _renamed(study.runs)
    for run in study.runs:
        contents = {
            row: row.document.question if mixed else shown(row.document, run.style)
            for row in run.rows
        }
        counts = Counter(contents.values())
        sure &= {
            row.document.number for row in run.rows if row.answered and counts[contents[row]] == 1
        }
    return {(number, epoch) for number in sure for epoch in range(1, min(_epochs(study)) + 1)}


def _epochs(study: Study) -> set[int]:
    """Numbers of epochs that logs have, after loading."""
    every = study.epochs == "all"
    return {
        run.style.epochs if every and run.style.harness == "inspect" else 1 for run in study.runs
    }


def _whole(study: Study) -> bool:
    """Whether all documents that any model was asked are due, so that `strict` has to load."""
    asked = {number for number, _ in due(study)}
    answered = all(row.answered for run in study.runs for row in run.rows)
    return asked == set(study.documents) and answered and len(_epochs(study)) == 1


def _comparable(runs: Sequence[Run]) -> bool:
    """Whether these logs certainly show what is the same document."""
    styles = [run.style for run in runs]
    documents = [row.document for run in runs for row in run.rows]
    images = any(document.image for document in documents)
    if images and not {style.images for style in styles} <= {"data", "attachment"}:
        return False
    known = documents[0].column != NOT_KNOWN
    match sorted({style.harness for style in styles}):
        case ["inspect"]:
            return len({(style.template, style.keeps, style.system) for style in styles}) == 1
        case ["lm-eval"]:
            return _equal_documents(styles) or (
                not images
                and all(style.summary == "full" or not style.shots for style in styles)
                and len({style.template for style in styles}) == 1
                and (known or len({(style.shots, style.chat) for style in styles}) == 1)
            )
    asked = {(s.template, s.keeps, s.system) for s in styles if s.harness == "inspect"}
    if len(asked) > 1:
        return False  # what is the same in all inputs of a log may be an instruction or a passage
    texts = {name for document in documents for name in document.columns()}
    return known and texts == {documents[0].column, "answer"} and all(map(_bare, runs))


def _equal_documents(styles: Sequence[Style]) -> bool:
    """Whether lm-eval's hash of a document is the same in all logs."""
    ids = {style.ids for style in styles}
    return all(style.hashed for style in styles) and len(ids) == 1 and ids != {"fresh"}


def _bare(run: Run) -> bool:
    """Whether a log has the bare questions: as input, or in the metadata beside one template."""
    style = run.style
    if style.harness == "lm-eval":
        return True
    kept = style.keeps in ("question", "prompt")
    several = len({row.document.question for row in run.rows}) > 1
    return not style.system and ((kept and several) or (not style.template and not style.keeps))


def _named(runs: Sequence[Run], *, answered: bool = False) -> dict[str, list[Document]]:
    """The documents that each id stands for, or those that were `answered`."""
    named: dict[str, list[Document]] = defaultdict(list)
    for run in runs:
        for row in run.rows:
            if row.id is not None and row.answered >= answered:
                named[row.id].append(row.document)
    return named


def _renamed(runs: Sequence[Run]) -> set[int]:
    """Documents that have an id which also stands for another."""
    groups = [{document.number for document in same} for same in _named(runs).values()]
    return {number for group in groups if len(group) > 1 for number in group}


def conflicting(study: Study) -> set[int]:
    """Documents under an id that stands for different texts in the logs of one harness."""
    numbers = set()
    for harness in ("inspect", "lm-eval"):
        runs = [run for run in study.runs if run.style.harness == harness]
        for same in _named(runs, answered=True).values():
            if len({document.text for document in same}) > 1:
                numbers |= {document.number for document in same}
    return numbers


# The command --------------------------------------------------------------------------------------


def try_draw(seed: int, folder: Path) -> Outcome:
    """Draw, write and check the study of a seed; whatever else is raised is a fault, too."""
    study = draw_study(Random(seed))
    try:
        return check(study, write_study(study, folder))
    except Exception as error:
        return Outcome(wrong=[f"raised {error!r}"[:300]])


def run_draws(draws: int, seed: int, most_shown: int) -> int:
    """Many draws; prints what came of them. Returns the number of draws with a fault."""
    total, shown_seeds, faulty = Outcome(), 0, Counter[str]()
    start = time.process_time()
    for number in range(seed * 1_000_000, seed * 1_000_000 + draws):
        with tempfile.TemporaryDirectory() as folder:
            outcome = try_draw(number, Path(folder))
        total.items += outcome.items
        total.kinds.update(outcome.kinds)
        for name in ("wrong", "needless", "accepted"):
            getattr(total, name).extend(getattr(outcome, name))
            faulty[name] += bool(getattr(outcome, name))
        faulty["any"] += bool(outcome.faults)
        if outcome.faults and shown_seeds < most_shown:
            shown_seeds += 1
            print(f"--replay {number}", *outcome.faults[:4], sep="\n    ")
    print(f"{draws:,} draws, {total.items:,} items joined, {time.process_time() - start:.0f} s CPU")
    print(f"wrong pairs: {len(total.wrong):,} in {faulty['wrong']:,} draws")
    print(f"needless refusals: {len(total.needless):,} in {faulty['needless']:,} draws")
    print(f"accepted conflicts: {len(total.accepted):,} in {faulty['accepted']:,} draws")
    print("draws with notes or problems of a kind:")
    for kind, times in sorted(total.kinds.items()):
        print(f"    {kind}: {times:,}")
    return faulty["any"]


def replay(seed: int) -> int:
    """One draw in full; its logs are left in a folder. Returns the number of faults."""
    folder = Path(tempfile.gettempdir()) / f"planted-logs-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    outcome = try_draw(seed, folder)
    print(description(draw_study(Random(seed))))
    print(f"logs: {folder}", *outcome.kinds, *outcome.faults, sep="\n")
    return len(outcome.faults)


def description(study: Study) -> str:
    """A study in lines: its documents, then every run and its rows."""
    lines = [f"epochs={study.epochs!r}", *map(str, study.documents.values())]
    for run in study.runs:
        lines += [f"{run.model}: {run.style}"]
        for place, document, id, answered in run.rows:
            failed = "" if answered else ", failed"
            lines.append(f"    {place} {id or ''} TRUTH={document.number}{failed}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5, help="failing draws that are printed")
    parser.add_argument("--replay", type=int, metavar="SEED", help="print one draw in full")
    given = parser.parse_args()
    if given.replay is not None:
        return int(replay(given.replay) > 0)
    return int(run_draws(given.draws, given.seed, given.show) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
