"""An Anthropic API on loopback for Inspect's real client: messages, and batches of them.

It answers on 127.0.0.1 only, and ends with its `with` block. Requests wait for each other, so that
a test sees how many a run has under way: each is held until `together` have come.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.loopback import Handler, answering

Body = dict[str, Any]


class FakeAnthropic:
    """What was asked: `direct` requests, and the `batches` with their requests.

    Args:
        reply: the model's reply to the parameters of a request.
        together: how many requests are held at a time; `peak` is how many there were.
        first: how many requests are not held, at the beginning.
        patience: seconds after which a request that was held is answered anyway.
    """

    def __init__(
        self,
        reply: Callable[[Body], str],
        together: int = 1,
        patience: float = 60.0,
        first: int = 0,
    ) -> None:
        self.reply = reply
        self.direct: list[Body] = []
        self.batches: list[list[Body]] = []
        self.peak = 0
        self.url = ""
        self._together, self._patience, self._first = together, patience, first
        self._under_way = 0
        self._results: list[list[Body]] = []
        self._changed = threading.Condition()

    def message(self, asked: Body) -> Body:
        usage = {"input_tokens": 100, "output_tokens": 10}
        content = [{"type": "text", "text": self.reply(asked)}]
        return {
            **{"id": "m", "type": "message", "role": "assistant", "model": asked["model"]},
            **{"content": content, "stop_reason": "end_turn", "usage": usage},
        }

    def post(self, path: str, body: Body) -> Body:
        if path.endswith("/batches"):
            self.batches.append(body["requests"])
            self._results.append([self._result(one) for one in body["requests"]])
            return self._batch(len(self.batches) - 1)
        with self._changed:
            self.direct.append(body)
            self._under_way += 1
            self.peak = max(self.peak, self._under_way)
            self._changed.notify_all()
            if len(self.direct) > self._first:
                self._changed.wait_for(lambda: self.peak >= self._together, self._patience)
            self._under_way -= 1
        return self.message(body)

    def get(self, path: str) -> Body | list[Body]:
        number, *results = path.partition("/batches/")[2].split("/")
        if not results:
            return self._batch(int(number))
        return self._results[int(number)]

    def _result(self, asked: Body) -> Body:
        result = {"type": "succeeded", "message": self.message(asked["params"])}
        return {"custom_id": asked["custom_id"], "result": result}

    def _batch(self, number: int) -> Body:
        counts = dict.fromkeys(("processing", "errored", "canceled", "expired"), 0)
        when = "2026-01-01T00:00:00Z"
        return {
            **{"id": str(number), "type": "message_batch", "processing_status": "ended"},
            **{"request_counts": {**counts, "succeeded": len(self.batches[number])}},
            **{"created_at": when, "expires_at": when, "ended_at": when},
            "results_url": f"{self.url}/v1/messages/batches/{number}/results",
        }

    @contextmanager
    def running(self) -> Iterator["FakeAnthropic"]:
        api = self

        class Provider(Handler):
            def do_POST(self) -> None:
                body = self.asked()
                try:
                    found = api.post(self.path.partition("?")[0], body)
                except Exception as error:  # so that the client need not wait for a reply
                    refusal = {"type": "invalid_request_error", "message": repr(error)}
                    self.answer(json.dumps({"error": refusal}), 400)
                    return
                if body.get("stream"):
                    self.answer(
                        "".join(_streamed(found)), headers={"Content-Type": "text/event-stream"}
                    )
                else:
                    self.answer(json.dumps(found))

            def do_GET(self) -> None:
                found = api.get(self.path.partition("?")[0])
                lines = found if isinstance(found, list) else [found]
                self.answer("\n".join(map(json.dumps, lines)))

        with answering(Provider) as self.url:
            yield self


def _streamed(message: Body) -> Iterator[str]:
    """A message of one text as the events of a stream."""
    [content] = message["content"]
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events: list[tuple[str, Body]] = [
        ("message_start", {"message": {**message, "content": [], "stop_reason": None}}),
        ("content_block_start", {"index": 0, "content_block": {**content, "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {**content, "type": "text_delta"}}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": stop, "usage": message["usage"]}),
        ("message_stop", {}),
    ]
    for kind, event in events:
        yield f"event: {kind}\ndata: {json.dumps({'type': kind, **event})}\n\n"
