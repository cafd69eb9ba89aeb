"""Conversations: the turns of a prompt, in whatever way a harness logged them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tiebreak.candidates.json_text import parse_json

PARAGRAPH: Final = "\n\n"
"""What stands between turns, and between lm-eval's examples unless a task says otherwise."""

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
    """The text of a conversation: that of a single message by the user, else each with its role."""
    if len(turns) == 1 and turns[0].role == "user":
        return turns[0].text
    return PARAGRAPH.join(f"{turn.role.capitalize()}: {turn.text}" for turn in turns)


def turns_of(prompt: Any) -> list[Turn]:
    """The conversation that a prompt holds.

    lm-eval logs a text, in which a chat template may have put its marks; or a list with a single
    text, the JSON of the messages.
    """
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if isinstance(prompt, str):
        messages = parsed(prompt)
        prompt = messages if _are_messages(messages) else prompt
    if isinstance(prompt, str):
        return _unmarked(prompt)
    return list(messages_in(prompt))


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(m, dict) and "role" in m for m in value)


def messages_in(value: Any) -> Iterator[Turn]:
    """The messages in a list of any nesting: some datasets have a list for each turn."""
    for message in value if isinstance(value, list) else []:
        yield from messages_in(message)
        if isinstance(message, Mapping) and "role" in message:
            content = message.get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
            text = "\n".join(text for text in texts if isinstance(text, str))
            yield Turn(str(message.get("role", "user")), text)


def _unmarked(prompt: str) -> list[Turn]:
    """The turns of a text between the marks of a chat template."""
    marks = list(_MARK.finditer(prompt))
    # A question may hold such marks itself; a template puts them at an end of the prompt.
    if not marks or (prompt[: marks[0].start()].strip() and prompt[marks[-1].end() :].strip()):
        return [Turn("user", prompt)]
    turns = [Turn("user", prompt[: marks[0].start()])]
    role = "user"
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        role = _role_after(mark, role)
        turns.append(Turn(role, prompt[mark.end() : after.start() if after else None].strip()))
    return [turn for turn in turns if turn.text.strip()]


def _role_after(mark: re.Match[str], role: str) -> str:
    """Whose words follow a mark: its own name of a role, or that in the mark itself."""
    name = mark["role"] or mark[0].strip("<>|｜[]/ ").lower()
    names = {"model": "assistant", "inst": "user", "sys": "system"}
    if mark[0] == "[/INST]":
        return "assistant"
    if mark[0] == "<</SYS>>":
        return "user"
    name = names.get(name, name)
    return name if name in ("system", "user", "assistant") else role


def parsed(text: str) -> Any:
    """What a text holds that is a JSON list or object; None for any other text."""
    try:
        return parse_json(text) if text.lstrip().startswith(("[", "{")) else None
    except ValueError:
        return None
