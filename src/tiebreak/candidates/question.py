"""Extract the question that a model was asked from a document and the prompt made of it.

A prompt is a template filled with a document's columns, with examples, instructions and the marks
of a chat template around it. Which columns belong to the question is not guessed by their names:

    prompt   … examples …   Passage: <passage>   Question: <question>   Answer:
    region                  |<-- the last one of the prompts in a row ------->|
    question                         |<-- from the first column to the last -->|

Text before or after the columns that is the same in all prompts of a file belongs to the template
and is left out; text that differs from item to item belongs to the question.

A document's tools, tests and id are looked up by the usual column names, because lm-eval's samples
and Inspect's metadata keep the columns of the dataset, and these differ between datasets.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, takewhile, zip_longest
from typing import Any, Final, NamedTuple

from tiebreak.json_text import parse_json

PARAGRAPH: Final = "\n\n"
"""Separator of turns, and of lm-eval's examples unless the task sets another one."""

# The marks of common chat templates, with the name of the role that follows some of them.
_MARK: Final = re.compile(
    r"(?:<[|｜][^<>|｜\n]{1,40}[|｜]>|</?s>|<bos>|<eos>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>)"
    r"(?:(?P<role>system|user|assistant|model)\b)?"
)


class Turn(NamedTuple):
    """A message of a conversation."""

    role: str
    text: str


def conversation(turns: Sequence[Turn]) -> str:
    """A conversation as text: a single user message unchanged, otherwise turns with their roles."""
    if len(turns) == 1 and turns[0].role == "user":
        return turns[0].text
    return PARAGRAPH.join(f"{turn.role.capitalize()}: {turn.text}" for turn in turns)


def turns_of(prompt: Any) -> list[Turn]:
    """Parse a logged prompt into a conversation.

    lm-eval logs a text, which may contain the marks of a chat template, or the JSON of the messages
    as a text or as the single text of a list.
    """
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if isinstance(prompt, str):
        messages = parsed(prompt)
        if isinstance(messages, list) and all(
            isinstance(m, dict) and "role" in m for m in messages
        ):
            prompt = messages
    if isinstance(prompt, str):
        return _unmarked(prompt)
    return list(messages_in(prompt))


def messages_in(value: Any) -> Iterator[Turn]:
    """Yield the messages of a list, nested or not: some datasets have a list for each turn."""
    for message in value if isinstance(value, list) else []:
        yield from messages_in(message)
        if isinstance(message, Mapping) and "role" in message:
            content = message.get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
            text = "\n".join(text for text in texts if isinstance(text, str))
            yield Turn(str(message.get("role", "user")), text)


def _unmarked(prompt: str) -> list[Turn]:
    marks = list(_MARK.finditer(prompt))
    # A question itself may hold such marks; a template has them at the start or end of the prompt.
    if not marks or (prompt[: marks[0].start()].strip() and prompt[marks[-1].end() :].strip()):
        return [Turn("user", prompt)]
    turns = [Turn("user", prompt[: marks[0].start()])]
    role = "user"
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        role = _role_after(mark, role)
        turns.append(Turn(role, prompt[mark.end() : after.start() if after else None].strip()))
    return [turn for turn in turns if turn.text.strip()]


def _role_after(mark: re.Match[str], role: str) -> str:
    """Role of the text after a mark: the role named after or in the mark, else the current one."""
    name = mark["role"] or mark[0].strip("<>|｜[]/ ").lower()
    names = {"model": "assistant", "inst": "user", "sys": "system"}
    if mark[0] == "[/INST]":
        return "assistant"
    if mark[0] == "<</SYS>>":
        return "user"
    name = names.get(name, name)
    return name if name in ("system", "user", "assistant") else role


def parsed(text: str) -> Any:
    """The value of a text that is a JSON list or object; None for any other text."""
    try:
        return parse_json(text) if text.lstrip().startswith(("[", "{")) else None
    except ValueError:
        return None


_LONG = 20
"""Texts of at least so many characters do not occur in a prompt by chance."""

_LABEL: Final = re.compile(r"\W*(?:\w{1,2}|[Oo]ption \w{1,2})?\W*")
_MOST_CHOICES = 26  # one for each letter


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was asked.

    `choices` are the options that were shown with letters; the text is without them. `known` says
    whether any column of the document was found in the prompt, `complete` whether it is certain
    that the text is the whole question (its beginning may have been taken for an example).
    """

    text: str
    choices: tuple[str, ...] = ()
    known: bool = True
    complete: bool = True


class _Span(NamedTuple):
    start: int
    end: int


class _Parts(NamedTuple):
    """A prompt's last region; the question is its text and the lines of head and tail that vary."""

    head: str
    text: str
    choices: tuple[str, ...]
    tail: str
    known: bool = True
    complete: bool = True


def questions(
    docs: Sequence[Mapping[str, Any]],
    prompts: Sequence[Sequence[Turn]],
    *,
    rendered: Sequence[str | None] = (),
    functions: Sequence[Iterable[str]] = (),
    shots: int | None = None,
    delimiter: str = PARAGRAPH,
    share: float = 0.9,
) -> list[Asked]:
    """Extract the questions of one file, all of whose prompts were made by one template.

    Args:
        docs: document of each item.
        prompts: conversation that the model was sent for each item.
        rendered: task's template rendered with each document, None if unknown.
        functions: names of the functions on offer for each item. Lines of JSON about them are not
            part of the question, because tools are kept separately.
        shots: number of examples in a prompt; None if unknown.
        delimiter: separator of examples.
        share: share of the prompts that must have a line at the same place for it to belong to the
            template. Less than 1 for templates that word a few documents differently.
    """
    texts = rendered or [None] * len(docs)
    parts = [
        _split_prompt(*triple, shots, delimiter)
        for triple in zip(docs, prompts, texts, strict=True)
    ]
    if any(functions):
        pairs = zip(parts, functions, strict=True)
        parts = [part._replace(head=_without(part.head, set(names))) for part, names in pairs]
    known = [part for part in parts if part.known]
    heads = _template([part.head.splitlines() for part in known], share)
    tails = _template([part.tail.splitlines()[::-1] for part in known], share)
    return [_asked(part, heads, tails) for part in parts]


def _without(text: str, names: set[str]) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(
        line for line in lines if not ("{" in line and any(f'"{name}"' in line for name in names))
    )


def _asked(part: _Parts, heads: Sequence[str], tails: Sequence[str]) -> Asked:
    """A question with the text around it that does not belong to the template.

    `heads` and `tails` are the template's lines, from the start and from the end of the prompt.
    """
    head, tail = part.head.splitlines(keepends=True), part.tail.splitlines(keepends=True)
    before = "".join(head[_n_shared(head, heads) :])
    after = "".join(tail[: len(tail) - _n_shared(tail[::-1], tails)])
    if not before.strip():
        before = ""
    return Asked((before + part.text + after).strip(), part.choices, part.known, part.complete)


def _template(texts: Sequence[Sequence[str]], share: float) -> list[str]:
    """Stripped lines with which at least `share` of the texts begin; stop at the first other."""
    lines: list[str] = []
    for column in zip_longest(*texts):
        stripped = Counter(None if line is None else line.strip() for line in column)
        line, n = stripped.most_common(1)[0]
        if line is None or n < share * len(texts):
            break
        lines.append(line)
    return lines


def _n_shared(lines: Sequence[str], template: Sequence[str]) -> int:
    pairs = zip(lines, template, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].strip() == pair[1], pairs))


class _Page:
    """A prompt as one text, with the offsets of its turns."""

    def __init__(self, prompt: Sequence[Turn]) -> None:
        self.turns = [turn for turn in prompt if turn.text.strip()] or [Turn("user", "")]
        self.text = PARAGRAPH.join(turn.text for turn in self.turns)
        sizes = [len(turn.text) + len(PARAGRAPH) for turn in self.turns]
        self.starts = [0, *accumulate(sizes[:-1])]

    def turn_at(self, place: int) -> int:
        """Index of the turn at an offset of the text."""
        return bisect_right(self.starts, place) - 1

    def part(self, span: _Span) -> str:
        """A part of the text; if it spans several turns, each with its role."""
        first, last = self.turn_at(span.start), self.turn_at(max(span.start, span.end - 1))
        if first == last:
            return self.text[span.start : span.end]
        starts = [span.start, *self.starts[first + 1 : last + 1]]
        ends = [start - len(PARAGRAPH) for start in starts[1:]] + [span.end]
        placed = zip(self.turns[first : last + 1], starts, ends, strict=True)
        return conversation([Turn(turn.role, self.text[a:b]) for turn, a, b in placed])

    def last(self, column: str) -> _Span | None:
        """Last occurrence of a column, with any whitespace for its whitespace; None without one."""
        start = self.text.rfind(column)
        if start >= 0:
            return _Span(start, start + len(column))
        words = column.split()
        if " ".join(words) not in self.collapsed:
            return None
        *_, place = re.finditer(r"\s+".join(map(re.escape, words)), self.text)
        return _Span(*place.span())

    @cached_property
    def collapsed(self) -> str:
        """The text with one space for each run of blanks."""
        return " ".join(self.text.split())


def _split_prompt(
    doc: Mapping[str, Any],
    prompt: Sequence[Turn],
    rendered: str | None,
    shots: int | None,
    delimiter: str,
) -> _Parts:
    if dialogue := _dialogue(doc, prompt):
        return _Parts("", conversation(dialogue), (), "")
    page, columns = _Page(prompt), list(dict.fromkeys(leaves(doc)))
    region = _rendered(page, rendered)
    anchors = _anchors(page, columns, region)
    if not anchors:
        turn = region or _Span(page.starts[-1], len(page.text))
        return _Parts("", page.part(turn), (), "", region is not None)
    complete = True
    if region is None:
        begin, complete = _begin(page, anchors, columns, shots, delimiter)
        region = _Span(begin, len(page.text))
    text = page.text[: region.end]
    spans = [*anchors, *_fields(text, region.start, columns)]
    choices = _choices(text, region.start, doc)
    # Options after all other columns become `choices`; anywhere else they stay in the text.
    block = _Span(choices[0][1].start, choices[-1][1].end) if choices else None
    if block is not None:
        outside = [span for span in spans if span.start < block.start or span.end > block.end]
        spans, block = (
            (outside, block)
            if outside and all(span.end <= block.start for span in outside)
            else ([*outside, block], None)
        )
    span = _Span(min(span.start for span in spans), max(span.end for span in spans))
    rest = block.end if block else span.end
    options = tuple(choice for choice, _ in choices) if block else ()
    head = text[region.start : span.start]
    return _Parts(head, page.part(span), options, text[rest:], complete=complete)


def _dialogue(doc: Mapping[str, Any], prompt: Sequence[Turn]) -> list[Turn]:
    for column in doc.values():
        turns = list(messages_in(parsed(column) if isinstance(column, str) else column))
        if len(turns) > 1 and all(
            any(turn.text.strip() in shown.text for shown in prompt) for turn in turns
        ):
            return turns
    return []


def _rendered(page: _Page, rendered: str | None) -> _Span | None:
    wanted = (rendered or "").strip()
    start = page.text.rfind(wanted) if wanted else -1
    return _Span(start, start + len(wanted)) if start >= 0 else None


def _anchors(page: _Page, columns: Sequence[str], region: _Span | None) -> list[_Span]:
    """Spans of columns that are in the prompt for certain: long ones, or those that fill a turn.

    The last occurrence counts, because examples come before the question. If there is none, the
    span of the last short column that fills a line, or a line after its label.
    """
    inside = region or _Span(0, len(page.text))
    long = [column for column in columns if len(column) >= _LONG]
    short = {column for column in columns if len(column) < _LONG}
    spans = [span for column in long if (span := page.last(column)) is not None]
    turns = {
        turn.text.strip(): _Span(start, start + len(turn.text))
        for turn, start in zip(page.turns, page.starts, strict=True)
        if turn.role != "assistant"
    }
    spans += [span for text, span in turns.items() if text in short]
    spans = [span for span in spans if inside.start <= span.start and span.end <= inside.end]
    if spans:
        return spans
    fields = _fields(page.text[: inside.end], inside.start, list(short))
    return [max(fields)] if fields else []


def _begin(
    page: _Page, anchors: Sequence[_Span], columns: Sequence[str], shots: int | None, delimiter: str
) -> tuple[int, bool]:
    """Earliest start of the question (its turn, or the last example's end); whether it is certain.

    Examples may be separate turns. Within one text they end with a delimiter, which a question may
    contain too: a paragraph before it that equals a column belongs to the question. A paragraph
    with a column in one of its lines may belong to it, and the start is then not certain.
    """
    if shots == 0:
        return 0, True
    first = min(anchor.start for anchor in anchors)
    number = page.turn_at(first)
    turn = page.starts[number]
    if any(turn.role == "assistant" for turn in page.turns[:number]):
        return turn, True
    edge = page.text.rfind(delimiter, turn, first)
    begin = turn if edge < 0 else edge + len(delimiter)
    while begin > turn:
        edge = page.text.rfind(delimiter, turn, begin - len(delimiter))
        before = turn if edge < 0 else edge + len(delimiter)
        end = begin - len(delimiter)
        if page.text[before:end].strip() not in columns:
            return begin, not _fields(page.text[:end], before, columns)
        begin = before
    return begin, True


def _fields(text: str, begin: int, columns: Sequence[str]) -> list[_Span]:
    """Spans of short columns that fill a line of the question, or a line after label or letter."""
    short = [column for column in columns if len(column) < _LONG]
    return [span for column in short for span in _as_fields(text, begin, column)]


def _as_fields(text: str, begin: int, column: str) -> Iterator[_Span]:
    start = text.find(column, begin)
    while start >= 0:
        end = start + len(column)
        label = text[max(begin, text.rfind("\n", 0, start) + 1) : start]
        if text[end : end + 1] in ("", "\n") and (label[-2:] == ": " or _LABEL.fullmatch(label)):
            yield _Span(start, end)
        start = text.find(column, end)


def _choices(text: str, begin: int, doc: Mapping[str, Any]) -> list[tuple[str, _Span]]:
    """Options of a document with their spans, if shown one after another with their letters.

    A column holds them as a list of texts, or as ARC's `{"text": [...], "label": [...]}`.
    """
    for column in doc.values():
        listed = column.get("text") if isinstance(column, Mapping) else column
        if not isinstance(listed, list) or not 2 <= len(listed) <= _MOST_CHOICES:
            continue
        options = [str(option) for option in listed if isinstance(option, str | int | float)]
        if len(options) == len(listed) and (shown := _consecutive_places(text, begin, options)):
            return shown
    return []


def _consecutive_places(text: str, begin: int, options: Sequence[str]) -> list[tuple[str, _Span]]:
    """Last place of texts that follow each other with nothing but letters or labels between."""
    bare = [option.strip() for option in options]
    start = text.rfind(bare[0], begin) if bare[0] else -1
    while start >= 0:
        spans = [_Span(start, start + len(bare[0]))]
        for option in bare[1:]:
            place = text.find(option, spans[-1].end)
            gap = text[spans[-1].end : place]
            if not option or place < 0 or len(gap) > 40 or not _LABEL.fullmatch(gap):
                break
            spans.append(_Span(place, place + len(option)))
        else:
            return list(zip(options, spans, strict=True))
        start = text.rfind(bare[0], begin, start)
    return []


def leaves(value: Any) -> Iterator[str]:
    """Yield all texts in a document, in order and stripped.

    Some datasets keep nested columns as JSON text; the texts in it follow the JSON itself.
    """
    if isinstance(value, str):
        if text := value.strip():
            yield text
            if text[0] in "[{":
                yield from leaves(parsed(text))
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part)


_TOOLS = ("tools", "functions", "function")
_ID = ("id", "task_id", "question_id")


def bare_id(doc: Mapping[str, Any]) -> str | int | None:
    """The document's own id, or None."""
    for name in _ID:
        value = doc.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return value
    return None


def are_places(ids: Sequence[int | str | None], size: int) -> bool:
    """Whether the ids of a log are positions in a dataset: integers from 0 or 1 up to its size.

    A text is an id of the user's own. `size` is the logged size of the dataset, 0 if unknown; the
    log may hold only a part of the dataset.
    """
    size = max(size, len(ids))
    return all(isinstance(id, int) and 0 <= id <= size for id in ids)


def tools_of(doc: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Tool schemas of a function-calling document; empty for other documents."""
    return next((tools for name in _TOOLS if (tools := tools_from(doc.get(name)))), ())


def function_names(tools: Iterable[Mapping[str, Any]]) -> set[str]:
    """Names of functions, as spelt in their schemas."""
    schemas = [
        tool["function"] if isinstance(tool.get("function"), dict) else tool for tool in tools
    ]
    return {str(schema["name"]) for schema in schemas if "name" in schema}


def without_tools(doc: Mapping[str, Any]) -> Mapping[str, Any]:
    """Columns of a document without those that hold tool schemas."""
    return {name: doc[name] for name in doc if not (name in _TOOLS and tools_from(doc[name]))}


def tools_from(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Tool schemas in a list of dicts, one dict, or either as JSON text; empty for all else."""
    if value is None:
        return ()
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError:
            return ()
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return ()
    # BFCL keeps some schemas as a list of JSON texts.
    tools = [parsed for entry in value for parsed in _tool(entry)]
    return tuple(tools) if len(tools) == len(value) else ()


def _tool(entry: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(entry, str):
        return tools_from(entry)
    if isinstance(entry, dict) and ("name" in entry or "function" in entry):
        return (entry,)
    return ()


def judged_by(doc: Mapping[str, Any], target: str) -> str:
    """The text that answers are checked against: the tests of a program, otherwise the target.

    Harnesses disagree on whether the target of a program is a solution or its tests.
    """
    tests = doc.get("test")
    return tests if isinstance(tests, str) and "def check(" in tests else target
