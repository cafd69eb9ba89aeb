"""An OpenAI API on loopback for Inspect's real client, and the ways in which it can fail.

It judges as the planted judge does: by the quality that each answer gives away. So the ranking that
a run without faults comes to is known. It answers on 127.0.0.1 only, and ends with its `with`
block.
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from inspect_ai.model import Model, get_model
from tenacity import wait_fixed

from tests.loopback import Handler, answering
from tests.plugin.planted_judge import FENCED, QUALITY

Body = dict[str, Any]
Change = Callable[[str], str | None]
TASK: Final = re.compile(r"What is (\d+)\?")

FAILURES: Final = ("429", "500", "503", "dropped", "stalled", "truncated")
"""No reply comes of these; what Inspect does not repeat, its caller has to."""

MALFORMED: Final[Mapping[str, Change]] = {
    "empty choices": lambda reply: None,
    "two verdicts": lambda reply: reply + "\n" + reply.replace("left", "right"),
    "cut short": lambda reply: reply[: len(reply) // 2],
    "refusal": lambda reply: "I'm sorry, but I can't help with that.",
    "wrong labels": lambda reply: reply.replace('"left"', '"A"').replace('"right"', '"B"'),
    "confidence out of range": lambda reply: re.sub(
        r'("confidence": \[)[\d.]+', r"\g<1>1.5", reply
    ),
    "200 kB": lambda reply: "<p>" * 66_667,
}
"""What becomes of a reply that gets a repair turn."""

ODD: Final[Mapping[str, Change]] = {
    "200 kB of reasons": lambda reply: reply.replace('"r"', f'"{"r" * 200_000}"', 1),
    "prose around JSON": lambda reply: f"Here is my verdict:\n```json\n{reply}\n```\nI hope so.",
}
"""What becomes of a reply that can be read as it is."""

STALL: Final = 2.0
"""Seconds after which a client gives up on a request that is not answered."""

Fault = Callable[[int, int], str]
"""From an item's number, and how often its question was asked before, to a fault's name, or ''.

A repair turn asks the same question.
"""


class FakeOpenAI:
    """What it was asked: `asked` counts the requests by fault, `by_item` by the item's number.

    `largest` is the number of characters of the longest conversation that it was sent.

    Args:
        fault: which fault a request gets.
    """

    def __init__(self, fault: Fault = lambda item, before: "") -> None:
        self.asked: Counter[str] = Counter()
        self.by_item: Counter[int] = Counter()
        self.largest = 0
        self.fault = fault
        self.url = ""
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._over = threading.Event()

    def model(self, name: str = "judge", retries: int = 0) -> Model:
        """The model behind it; `retries` is how often its client repeats a call by itself.

        Its key is in FAKE_API_KEY. Inspect's own retries need not wait for a server on loopback.
        """
        model = get_model(
            f"openai-api/fake/{name}",
            base_url=f"{self.url}/v1",
            client_timeout=STALL,
            max_retries=retries,
            memoize=False,
        )
        model.api.retry_wait = lambda: wait_fixed(0.05)  # type: ignore[method-assign]
        return model

    def which(self, body: Body) -> str:
        """The fault of a request."""
        prompt = body["messages"][1]["content"]
        size = sum(len(message["content"]) for message in body["messages"])
        [item, *_] = TASK.findall(prompt)
        with self._lock:
            before = self._seen[prompt]
            self._seen[prompt] += 1
            fault = self.fault(int(item), before)
            self.asked[fault] += 1
            self.by_item[int(item)] += 1
            self.largest = max(self.largest, size)
        return fault

    def reply(self, body: Body, fault: str) -> Body:
        """What a request gets that is answered."""
        return completion(body, fault)

    @contextmanager
    def running(self) -> Iterator["FakeOpenAI"]:
        """Answers requests until the block ends."""
        api = self

        class Provider(Handler):
            def do_POST(self) -> None:
                body = self.asked()
                fault = api.which(body)
                if fault.isdigit():
                    error = {"error": {"message": f"Fault {fault}", "type": "server_error"}}
                    later = {"Retry-After": "0.01"} if fault == "429" else {}
                    self.answer(json.dumps(error), int(fault), later)
                elif fault == "stalled":
                    api._over.wait(60)
                    self.close_connection = True
                else:
                    text = json.dumps(api.reply(body, fault))
                    text = text[: len(text) // 2] if fault == "truncated" else text
                    self.answer(text, sent=0.5 if fault == "dropped" else 1.0)

        with answering(Provider) as self.url:
            try:
                yield self
            finally:
                self._over.set()


def completion(asked: Body, fault: str = "") -> Body:
    """A verdict as a chat completion; without any choice where that is the fault."""
    text: str | None = verdict(asked["messages"][1]["content"])
    if change := {**MALFORMED, **ODD}.get(fault):
        text = change(str(text))
    return chat(asked, text)


def chat(asked: Body, text: str | None) -> Body:
    """A chat completion of this text."""
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return {
        **{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": asked["model"]},
        "choices": choices if text is not None else [],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def verdict(prompt: str) -> str:
    """Votes for the response of the better quality, on all that the last line asks for."""
    ids = re.findall(r"\b[PC]\d+", prompt.rpartition("\n")[2])
    _, left, right, *_ = [float(found[1]) if (found := QUALITY.search(text)) else 0.0
                          for _, text in FENCED.findall(prompt)]  # fmt: skip
    side = "left" if left > right else "right"
    counts = [sum(one[0] == letter for one in ids) for letter in "PC"]
    return json.dumps(
        {
            part: {"reasoning": ["r"] * n, "vote": [side] * n, "confidence": [1.0] * n}
            for part, n in zip(("principles", "checklist"), counts, strict=True)
            if n
        }
    )
