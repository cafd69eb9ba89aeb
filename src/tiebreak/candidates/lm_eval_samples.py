"""Read lm-eval's `samples_<task>_<date>.jsonl`, one file for one task and one model.

The file may be compressed, as `samples_<task>_<date>.jsonl.gz` or `.zst`.

A row holds the document, the prompt, the raw responses and the metrics of one filter; a task with
F filters writes F rows per document. The model's name is in the `results_<date>.json` beside it.

Summaries of runs hold the template of each task (`doc_to_text`: Jinja, or the name of a column),
and anyone can write a summary. A template is therefore rendered only if all it does is to join
columns, and rendering stops when the text is longer than the prompt in which it should occur.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Template, TemplateError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tiebreak.candidates.identity import input_hash
from tiebreak.candidates.lm_eval_runs import Run, run_of, summaries_of, task_of
from tiebreak.candidates.native import (
    Native,
    choice_note,
    choose_metric,
    finite,
    missing,
    problem_note,
    shortened,
)
from tiebreak.candidates.pool import Candidate, Item, ItemKey, Medium, Note
from tiebreak.candidates.question import (
    PARAGRAPH,
    Asked,
    Turn,
    are_places,
    bare_id,
    function_names,
    judged_by,
    questions,
    tools_of,
    turns_of,
    without_tools,
)
from tiebreak.candidates.records import (
    LogRecord,
    Reading,
    ReadOptions,
    Row,
    item_name,
    unique_rows,
)
from tiebreak.candidates.settings import HARNESS, setting_text
from tiebreak.rows import json_rows
from tiebreak.text import count, natural_key

_NEEDED = ("doc_id", "doc", "resps")
_NO_METRIC = {*_NEEDED, "target", "arguments", "filtered_resps", "filter", "metrics"}
_HOW_ASKED = ("shots", "delimiter", "template")
_NO_SCORE = "bypass"  # the only metric with --predict_only


def read_lm_eval_samples(path: Path, options: ReadOptions) -> Reading:
    """Read one samples file; any damaged line makes the whole file unreadable."""
    source = options.shown(path)
    try:
        rows = list(_rows(path))
    except ValueError as error:
        return Reading(problems=(Note("unreadable_log", source, str(error)),))
    if not rows:
        return Reading(problems=(Note("unreadable_log", source, "holds no rows"),))
    if not _is_written(rows[0]):
        message = "holds log-likelihoods of given continuations, not written answers"
        return Reading(problems=(Note("not_written", source, message),))
    return _Reader(path, options, rows).read()


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield rows; raise ValueError that names the first damaged line and the reason."""
    for place, row in json_rows(path):
        try:
            yield _checked(row)
        except ValueError as error:
            raise ValueError(f"{place} {error}") from error


def _checked(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict) or any(key not in row for key in _NEEDED):
        needed = f"(needs {', '.join(_NEEDED)})"
        raise ValueError(
            f"is not an lm-eval sample {needed}, nor an answer (prompt, model, answer)"
        )
    if not isinstance(row["doc_id"], int | str) or isinstance(row["doc_id"], bool):
        raise ValueError("is not an lm-eval sample (its doc_id is neither a number nor text)")
    responses = row["resps"]
    if not isinstance(responses, list) or not all(
        isinstance(response, list) for response in responses
    ):
        raise ValueError("is not an lm-eval sample (its resps are not lists of responses)")
    return row


def _is_written(row: Mapping[str, Any]) -> bool:
    """Whether a row holds generated text rather than log-likelihoods.

    The request of a generation has a dict of options. A response alone does not tell, because
    lm-eval writes numbers as text, but a list (log-likelihood and greedy flag) is no text.
    """
    responses = row["resps"]
    if responses and responses[0] and isinstance(responses[0][0], list):
        return False
    try:
        return isinstance(row["arguments"]["gen_args_0"]["arg_1"], dict)
    except (KeyError, TypeError):
        # Older files have no `gen_args_0`, and the response is taken as text. A `gen_args_0` with
        # `arg_0` alone is a rolling log-likelihood.
        arguments = row.get("arguments")
        return not (isinstance(arguments, dict) and "gen_args_0" in arguments)


class _Reader:
    def __init__(self, path: Path, options: ReadOptions, rows: list[dict[str, Any]]) -> None:
        self.source = options.shown(path)
        self.options = options
        self.task = task_of(path)
        self.benchmark = options.benchmark(self.task)
        self.notes: list[Note] = []
        self.problems: list[Note] = []
        self.run, self.model = self._run(path)
        documents = len({row["doc_id"] for row in rows})
        if documents < (asked := self.run.of(self.task, "asked", 0)):
            message = f"holds {documents:,} of the {asked:,} documents that its run was asked"
            self.notes.append(Note("rows_missing", self.source, message))
        _name_filters(rows, self.run.of(self.task, "filters", []))
        wanted = self._filter(rows)
        self.clashing = self._clashing(rows) if wanted is not None else set()
        self.rows = [row for row in rows if _filter_of(row) == wanted]
        filtered = {row["doc_id"] for row in self.rows}
        self.unfiltered = {row["doc_id"]: row for row in rows if row["doc_id"] not in filtered}
        self.metrics = list(dict.fromkeys(name for row in self.rows for name in _metrics(row)))

    def read(self) -> Reading:
        if not self.rows:
            return Reading(notes=tuple(self.notes), problems=tuple(self.problems))
        if note := choice_note(self.metrics, self.options.native, self.source):
            self.notes.append(note)
        repeats = max((len(row["resps"][0]) for row in self.rows if row["resps"]), default=1)
        if repeats > 1:
            # lm-eval has one score for all repeats, so they cannot be separate candidates.
            message = f"{repeats} repeats of each document, the first is kept"
            self.notes.append(Note("epochs", self.source, message))
        items = self._items([*self.rows, *self.unfiltered.values()])
        rows = [
            *map(self._row, self.rows, items),
            *map(self._without_filter, items[len(self.rows) :]),
        ]
        answered, twice = unique_rows(rows, self.source)
        ids = [bare_id(_doc(row)) for row in self.rows]
        record = LogRecord(
            self.source,
            "lm-eval",
            self.task,
            self.benchmark,
            self.model,
            answered,
            settings=self._settings(),
            metrics=tuple(self.metrics),
            positional=None in ids or are_places(ids, self.run.of(self.task, "asked", 0)),
        )
        return Reading((record,), tuple(self.notes), (*dict.fromkeys(self.problems), *twice))

    def _run(self, path: Path) -> tuple[Run, str]:
        runs = [run_of(summary) for summary in summaries_of(path)]
        run = next((run for run in runs if run.model), Run())
        if name := self.options.name_of(self.source) or run.model:
            return run, name
        folder = path.resolve().parent.name
        message = (
            f"no results_*.json of the same run; the model is named after its folder, {folder!r}"
        )
        self.notes.append(Note("model_name", self.source, message))
        return run, folder

    def _items(self, rows: Sequence[Mapping[str, Any]]) -> list[Item]:
        """Make an item of each row; the question is the part of the prompt from the document."""
        columns = ("doc_id", "doc", "doc_hash", "target")
        how = (self.benchmark, *(self.run.of(self.task, name, None) for name in _HOW_ASKED))

        def asked() -> list[tuple[Item, Asked]]:
            # Models differ in chat templates, but the conversation between the marks is the same.
            turns = [turns_of(_request(row)[0]) for row in rows]
            conversations = [
                (*parts[:-2], turn, parts[-1]) for parts, turn in zip(shown, turns, strict=True)
            ]
            return self.options.once(
                ("turns", *how), conversations, lambda: self._asked(rows, turns)
            )

        shown = [(*map(row.get, columns), *_request(row)[::2]) for row in rows]
        pairs = self.options.once(("prompts", *how), shown, asked)
        self._note_doubts([row["doc_id"] for row in rows], [asked for _, asked in pairs])
        return [item for item, _ in pairs]

    def _asked(
        self, rows: Sequence[Mapping[str, Any]], prompts: Sequence[Sequence[Turn]]
    ) -> list[tuple[Item, Asked]]:
        docs = [_doc(row) for row in rows]
        shots = self.run.of(self.task, "shots", None)
        template = self.run.of(self.task, "template", "")
        rendered = [
            render(template, doc, sum(len(turn.text) for turn in turns))
            for doc, turns in zip(docs, prompts, strict=True)
            if template and shots != 0
        ]
        asked = questions(
            [without_tools(doc) for doc in docs],
            prompts,
            rendered=rendered,
            functions=[function_names(tools_of(doc)) for doc in docs],
            shots=shots,
            delimiter=self.run.of(self.task, "delimiter", PARAGRAPH),
        )
        pairs = zip(rows, asked, strict=True)
        return [(_item(row, self.benchmark, question), question) for row, question in pairs]

    def _note_doubts(self, ids: Sequence[int | str], asked: Sequence[Asked]) -> None:
        """Note documents whose question was not found in the prompt or may be incomplete."""
        unknown = [id for id, question in zip(ids, asked, strict=True) if not question.known]
        if unknown and self.run.of(self.task, "shots", None) != 0:
            message = (
                f"no column of {count(len(unknown), 'document')} is in the prompt as it stands, "
                f"such as that of document {unknown[0]}: the question is the last turn of the "
                "prompt, with whatever stands there"
            )
            self.notes.append(Note("question", self.source, message))
        if unsure := [id for id, question in zip(ids, asked, strict=True) if not question.complete]:
            message = (
                f"where the examples of {count(len(unsure), 'document')} end is told by blank "
                f"lines only, such as those of document {unsure[0]}: the question may lack its "
                "beginning"
            )
            self.notes.append(Note("question", self.source, message))

    def _settings(self) -> dict[str, str]:
        options = _request(self.rows[0])[1]
        given = options if isinstance(options, dict) else {}
        return {
            HARNESS: "lm-eval",
            **self.run.of(self.task, "settings", {}),
            **{str(name).replace("_", " "): setting_text(value) for name, value in given.items()},
        }

    def _filter(self, rows: Iterable[Mapping[str, Any]]) -> str | None:
        """The filter whose rows are used; None, with a problem, if the wanted one is missing."""
        present = list(dict.fromkeys(_filter_of(row) for row in rows))
        wanted = self.options.filter
        if wanted is not None and present == ["none"]:
            message = f"has no filters, {wanted!r} neither; its score is taken as it is"
            self.notes.append(Note("filter_choice", self.source, message))
            return "none"
        if wanted is not None and wanted not in present:
            message = f"has no filter {wanted!r}; its filters: {shortened(present)}"
            self.problems.append(Note("filter", self.source, message))
            return None
        if len(present) > 1 and wanted is None:
            message = f"native score after filter {present[0]!r}, out of {shortened(present)}"
            self.notes.append(
                Note("filter_choice", self.source, f"{message} (choose with --filter)")
            )
        return wanted if wanted is not None else present[0]

    def _clashing(self, rows: Iterable[Mapping[str, Any]]) -> set[Any]:
        responses: dict[Any, Any] = {}
        clashing = {
            row["doc_id"]
            for row in rows
            if responses.setdefault(row["doc_id"], row["resps"]) != row["resps"]
        }
        for doc in sorted(clashing, key=lambda doc: natural_key(str(doc))):
            message = f"document {doc} has rows with different responses"
            self.problems.append(Note("filter", self.source, message))
        return clashing

    def _row(self, row: Mapping[str, Any], item: Item) -> Row:
        name = item_name(item.key)
        text = self._text(row, name)
        if text is None or row["doc_id"] in self.clashing:
            return Row(item, None)
        native = self._native(row)
        if native.problem:
            how = (name, self.metrics, self.options.native, self.source)
            self.problems.append(problem_note(native, *how))
        candidate = Candidate(
            key=item.key,
            model=self.model,
            text=text,
            native_score=native.value,
            native_metric=native.metric,
            source=self.source,
        )
        return Row(item, candidate)

    def _without_filter(self, item: Item) -> Row:
        message = f"{item_name(item.key)} has no row of the filter that is taken"
        self.problems.append(Note("filter", self.source, message))
        return Row(item, None)

    def _text(self, row: Mapping[str, Any], name: str) -> str | None:
        """First response, before any filter; None, with a problem, unless there is one request."""
        responses = row["resps"]
        if len(responses) > 1:
            message = f"{name} has {len(responses)} requests, one is expected"
            self.problems.append(Note("sample_error", self.source, message))
        elif not responses or not responses[0] or not isinstance(responses[0][0], str):
            self.problems.append(Note("missing_output", self.source, f"{name} has no output"))
        else:
            return str(responses[0][0])
        return None

    def _native(self, row: Mapping[str, Any]) -> Native:
        if not self.metrics:
            return Native(math.nan, None)
        present = _metrics(row)
        metric = choose_metric(present, self.options.native)
        if metric is None:
            return missing(present, self.options.native)
        name, after = metric, _filter_of(row)
        if after != "none":
            name = f"{metric},{after}"  # as lm-eval writes it in its results
        return finite(row.get(metric), name, words={})


def _filter_of(row: Mapping[str, Any]) -> str:
    return str(row.get("filter", "none"))


def _metrics(row: Mapping[str, Any]) -> list[str]:
    """Names of a row's metrics; older files do not list them, there all other columns count."""
    listed = row.get("metrics")
    if isinstance(listed, list):
        names = [name for name in listed if isinstance(name, str) and name in row]
    else:
        names = [key for key in row if key not in _NO_METRIC and not key.endswith("_hash")]
    return [name for name in names if name != _NO_SCORE]


def _doc(row: Mapping[str, Any]) -> dict[str, Any]:
    return row["doc"] if isinstance(row["doc"], dict) else {"question": row["doc"]}


def _request(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Prompt, options and media of a row's first request, each None if absent.

    `arguments` is a dict of dicts, in lm-eval 0.4.2 a list of lists.
    """
    requests = row.get("arguments")
    if isinstance(requests, dict):
        requests = list(requests.values())
    first = requests[0] if isinstance(requests, list) and requests else None
    first = list(first.values()) if isinstance(first, dict) else first
    values = tuple(first) if isinstance(first, list) else ()
    return (*values, None, None, None)[:3]


def _media(row: Mapping[str, Any]) -> tuple[Medium, ...]:
    """Images and recordings of a request; lm-eval logs their number, not their content."""
    shown = _request(row)[2]
    kinds = {"visual": "image", "audio": "audio"}
    parts = shown if isinstance(shown, dict) else {}
    lists = {kind: parts.get(name) for name, kind in kinds.items()}
    return tuple(
        Medium(kind, "", "")
        for kind, values in lists.items()
        if isinstance(values, list)
        for _ in values
    )


def _item(row: Mapping[str, Any], benchmark: str, asked: Asked) -> Item:
    doc, tools = _doc(row), tools_of(_doc(row))
    target = row.get("target", "")
    if isinstance(target, list):
        target = "\n".join(map(str, target))
    target = str(target)
    id, media, content = bare_id(doc), _media(row), _content_hash(row, doc)
    # The content of an image is not logged, so only the document's hash tells images apart.
    shown = [content] if media else []
    return Item(
        key=ItemKey(benchmark, str(row["doc_id"] if id is None else id)),
        input_hash=input_hash(asked.text, asked.choices, tools, judged_by(doc, target), shown),
        prompt=asked.text,
        target=target,
        choices=asked.choices,
        tools=tools,
        metadata=doc,
        media=media,
        content_hash=content,
    )


def _content_hash(row: Mapping[str, Any], doc: Mapping[str, Any]) -> str:
    """Hash of a document as lm-eval computes it; computed here for 0.4.2, which did not log it."""
    if isinstance(logged := row.get("doc_hash"), str) and logged:
        return logged
    text = json.dumps(doc, indent=2, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _name_filters(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    """Set the filter of each row in files whose rows do not name it.

    lm-eval up to 0.4.5 wrote a row for each filter of a document, in the order of the task's
    configuration. `names` are the filters from the summary; without them, filters are numbered.
    """
    if any("filter" in row for row in rows):
        return
    seen: Counter[Any] = Counter()
    for row in rows:
        seen[row["doc_id"]] += 1
        row["filter"] = str(seen[row["doc_id"]])
    most = max(seen.values())
    known = dict(zip(map(str, range(1, most + 1)), names, strict=False))
    for row in rows:
        row["filter"] = "none" if most == 1 else known.get(row["filter"], row["filter"])


def count_documents(samples: Path) -> int:
    """Number of documents in a samples file, which has a row for each document and filter.

    Raises:
        OSError: it cannot be opened.
        ValueError: it is damaged.
    """
    return len({row["doc_id"] for row in _rows(samples)})


_NODES: Final = (
    *(nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Assign, nodes.Keyword),
    *(nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Compare, nodes.Operand, nodes.Test),
    *(nodes.If, nodes.CondExpr, nodes.Not, nodes.And, nodes.Or, nodes.Sub),
)
# None of these makes a text longer: chained filters that do can grow a text exponentially.
_FILTERS: Final = {
    *("trim", "lower", "upper", "capitalize", "title", "first", "last", "length", "list", "int"),
    *("default", "d", "safe", "sort", "items"),
}
_METHODS: Final = {
    *("strip", "lstrip", "rstrip", "lower", "upper", "capitalize", "title", "split", "rsplit"),
    *("splitlines", "startswith", "endswith", "items", "keys", "values", "get", "index", "count"),
    *("removeprefix", "removesuffix"),
}
# A few short separators cannot make a text much longer.
_MOST_JOINS, _LONGEST_JOINT = 2, 20
_LONGEST_TEMPLATE: Final = 20_000


def render(template: str, doc: Mapping[str, Any], longest: int) -> str | None:
    """Render a template with a document; None if the template is refused, fails or gets too long.

    The template is Jinja, or the name of a column; the rendering of a Jinja template may have at
    most `longest` characters.
    """
    if isinstance(column := doc.get(template), str):
        return column
    compiled = _compiled(template)
    if compiled is None:
        return None
    pieces, size = [], 0
    try:
        for piece in compiled.generate(doc):
            pieces.append(piece)
            size += len(piece)
            if size > longest:
                return None
    except Exception:  # a template may raise anything on a document that it was not made for
        return None
    return "".join(pieces)


@lru_cache(maxsize=64)
def _compiled(template: str) -> Template | None:
    if len(template) > _LONGEST_TEMPLATE or "{{" not in template:
        return None
    environment = ImmutableSandboxedEnvironment(keep_trailing_newline=True)
    try:
        tree = environment.parse(template)
        return environment.from_string(template) if _is_plain(tree) else None
    except TemplateError:
        return None


def _is_plain(tree: nodes.Template) -> bool:
    """Whether a template is cheap to render: no nested loops, nothing that makes long texts."""
    loops = list(tree.find_all(nodes.For))
    nested = any(node.find(nodes.For) for loop in loops for node in loop.body)
    joins = [node for node in _below(tree) if _name_of(node) == "join"]
    return not nested and len(joins) <= _MOST_JOINS and all(map(_is_allowed, _below(tree)))


def _below(node: nodes.Node) -> Iterator[nodes.Node]:
    for child in node.iter_child_nodes():
        yield child
        yield from _below(child)


def _name_of(node: nodes.Node) -> str | None:
    if isinstance(node, nodes.Filter):
        return node.name
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
        return node.node.attr
    return None


def _is_allowed(node: nodes.Node) -> bool:
    match node:
        case nodes.Filter() | nodes.Call() if _name_of(node) in ("join", "replace"):
            return _is_short(node)
        case nodes.Filter():
            return node.name in _FILTERS
        case nodes.Call():
            return _name_of(node) in _METHODS
        case nodes.Tuple() if node.ctx == "store":
            return True
        case nodes.List() | nodes.Tuple():
            return all(isinstance(item, nodes.Const) for item in node.items)
        case nodes.Dict() | nodes.Pair():
            return all(isinstance(part, nodes.Const | nodes.Pair) for part in _below(node))
        case nodes.For():
            return not node.recursive
        case _:
            return isinstance(node, _NODES)


def _is_short(node: nodes.Filter | nodes.Call) -> bool:
    """Whether a join has a short separator, or a replacement does not make the text longer."""
    given = [argument.value for argument in node.args if isinstance(argument, nodes.Const)]
    if len(given) != len(node.args) or not all(isinstance(text, str) for text in given):
        # `", ".join(options)`: the separator is the text before the dot.
        joint = node.node.node if isinstance(node.node, nodes.Getattr) else None
        given = [joint.value] if isinstance(joint, nodes.Const) else [" " * (_LONGEST_JOINT + 1)]
    if _name_of(node) == "join":
        return all(len(text) <= _LONGEST_JOINT for text in given)
    return len(given) == 2 and 0 < len(given[0]) >= len(given[1])
