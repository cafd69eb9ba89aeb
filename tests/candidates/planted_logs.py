"""Logs with the truth inside: every answer names the document that it is really to.

Studies that are drawn (`planted_studies`) are written as logs. An answer holds `TRUTH=<number of
its document>`. `check` loads the logs and says what is wrong:

- a *wrong pair* is an item of the pool whose answers are to different documents;
- a *needless refusal* is a document that all models answered, that nothing else in the logs can be
  taken for (`due`), and that is not in the pool;
- a *conflict* is an id that stands for two questions and was accepted.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

from tests.candidates.builders import write_lm_eval_run
from tests.candidates.planted_studies import (
    HEADS,
    NOT_KNOWN,
    Document,
    Row,
    Run,
    Study,
    Style,
)
from tiebreak.candidates import Candidate, CandidateError, CandidatePool, Mode, load_candidates

TASK = "sums"

# Writing ------------------------------------------------------------------------------------------


def write_study(study: Study, folder: Path) -> Path:
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
    size = {"original": len(run.rows), "effective": len(run.rows)}
    full = {
        "n-shot": {TASK: run.style.shots},
        "n-samples": {TASK: size},
        "configs": {TASK: {"fewshot_delimiter": "\n\n"}},
    }
    rows = [
        _sample_row(run, row, name)
        for row in run.rows
        for name in ("strict", "loose")[: run.style.filters]
    ]
    summary = full if run.style.summary == "full" else {}
    path = write_lm_eval_run(folder, run.model, rows, task=TASK, summary=summary)
    if not run.style.hashed:
        path.write_text(re.sub(r'"doc_hash": "\w+", ', "", path.read_text(encoding="utf-8")))
    return path


def _sample_row(run: Run, row: Row, filter_name: str) -> dict[str, Any]:
    document, style = row.document, run.style
    columns = _columns(run, document)
    request: dict[str, Any] = {"arg_0": _request(run, document), "arg_1": {"until": []}}
    if document.image:
        request["arg_2"] = {"visual": [_image(run, document)]}
    return {
        "doc_id": row.place,
        "doc": columns if row.id is None else {"id": row.id, **columns},
        "target": document.target,
        "arguments": {"gen_args_0": request},
        "resps": [[_answer(run, document)] * style.epochs if row.answered else []],
        "filter": filter_name,
        "native": 1.0,
    }


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


@dataclass(frozen=True)
class Outcome:
    """What loading made of a study, and what is wrong with that.

    `joined` are the documents in the pool of `intersect`, `kinds` those of notes and problems, each
    after its mode.
    """

    joined: set[int]
    kinds: set[str]
    faults: list[str]


def check(study: Study, folder: Path) -> Outcome:
    """Load the logs of a study in both modes, and compare the pools with the truth."""
    conflicts = conflicting(study)
    every: set[str] = set()
    faults = []
    for mode in ("strict", "intersect"):
        pool, kinds = _loaded(folder, mode, study.epochs)
        every |= {f"{mode}: {kind}" for kind in kinds}
        answers = {key: _truths(row.values()) for key, row in pool.candidates.items()}
        joined = {(number, key.epoch) for key, numbers in answers.items() for number in numbers}
        faults += [
            f"{mode}: item {key.item_id!r} (epoch {key.epoch}) joins documents {numbers}"
            for key, numbers in answers.items()
            if len(set(numbers)) > 1 and not _alike(study, set(numbers))
        ]
        wanted = due(study) if mode == "intersect" or _whole(study) else set()
        faults += [
            f"{mode}: document {number} (epoch {epoch}) is due; notes: {sorted(kinds)}"
            for number, epoch in sorted(wanted - joined)
        ]
        accepted = sorted(conflicts & {number for number, _ in joined})
        faults += [f"{mode}: document {number} has a conflict" for number in accepted]
        if mode == "strict" and conflicts and "question_conflict" not in kinds:
            faults.append(f"strict: no question_conflict among {sorted(kinds)}")
    return Outcome({number for number, _ in joined}, every, faults)


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
