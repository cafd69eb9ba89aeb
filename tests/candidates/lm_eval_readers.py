"""What a judge reads of lm-eval's prompts, compared with what stood in the question.

* complete: every text of the document that the template put into the question is shown;
* clean: nothing of a few-shot example, of the system message or of a chat template is.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.candidates.lm_eval_templates import Run, is_in, texts_in
from tiebreak.candidates import load_candidates
from tiebreak.inspect_tasks.contests import task_text


class Shown(NamedTuple):
    """What a judge reads of one run: its prompts, the whole tasks, and the notes on questions."""

    prompts: list[str]
    tasks: list[str]
    notes: list[str] = []  # noqa: RUF012


Reader = Callable[[Run], Shown]


def read_by_tiebreak(run: Run) -> Shown:
    # The file alone: folders are searched in other tests.
    pool = load_candidates([*Path(run.folder).glob("*/samples_*.jsonl")], alone=True)
    items = sorted(pool.items, key=lambda item: int(item.metadata["made_number"]))
    tools = ["\n".join(texts_in(list(map(dict, item.tools)))) for item in items]
    return Shown(
        [item.prompt for item in items],
        [f"{task_text(item)}\n{tool}" for item, tool in zip(items, tools, strict=True)],
        [str(note) for note in pool.notes if note.kind == "question"],
    )


def read_question(run: Run) -> Shown:
    """The reader that knows: the measure must find it complete and clean."""
    return Shown(*[[case.question for case in run.cases]] * 2)


def read_prompt(run: Run) -> Shown:
    """The reader that shows the whole prompt: complete, and clean only where nothing is added."""
    return Shown(*[[case.prompt for case in run.cases]] * 2)


class Fault(NamedTuple):
    """A text that a judge does not see, or should not."""

    text: str
    case: int
    shown: str


class Measure(NamedTuple):
    run: Run
    lost: list[Fault]
    added: list[Fault]
    notes: list[str]

    @property
    def is_silent(self) -> bool:
        """Whether something is lost and no note tells of it."""
        return bool(self.lost) and not self.notes


def measured(run: Run, reader: Reader = read_by_tiebreak) -> Measure:
    shown = reader(run)
    lost, added = [], []
    for number, case in enumerate(run.cases):
        task, prompt = shown.tasks[number], shown.prompts[number]
        lost += [Fault(text, number, task) for text in case.texts if not is_in(text, task)]
        added += [Fault(text, number, prompt) for text in case.foreign if is_in(text, prompt)]
    return Measure(run, lost, added, shown.notes)


class Share(NamedTuple):
    """Tasks of one setting: all, those read completely, and those read cleanly."""

    tasks: int
    complete: int
    clean: int


def shares(measures: Sequence[Measure]) -> dict[str, Share]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for run, lost, added, _ in measures:
        counts[run.setting] += Counter(
            tasks=run.tasks, complete=run.tasks * (not lost), clean=run.tasks * (not added)
        )
    return {name: Share(*(count[part] for part in Share._fields)) for name, count in counts.items()}
