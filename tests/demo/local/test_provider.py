"""The provider without a model: requests to the runtime, and how its replies are read."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from tests.cases import cases
from tests.expected import check
from tiebreak.demo.local import provider
from tiebreak.demo.local.provider import LocalAPI, bounded, chat_request, grammar
from tiebreak.prerequisite import PrerequisiteError


@pytest.fixture
def gguf(tmp_path: Path) -> str:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF")
    return str(file)


def reply(gguf: str, monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any]) -> ModelOutput:
    class Runtime:
        def chat(self, request: dict[str, Any]) -> dict[str, Any]:
            return answer

    monkeypatch.setattr(provider, "shared_copies", lambda settings, most: Runtime())
    api = LocalAPI("mine", path=gguf)
    output, _ = asyncio.run(
        api.generate([ChatMessageUser(content="?")], [], "auto", GenerateConfig())
    )
    return output


CALL = ToolCall(id="1", function="f", arguments={"x": 1})
TOOLS = [ToolInfo(name="f", description="d", parameters=ToolParams())]
SCHEMA = ResponseSchema(name="x", json_schema=JSONSchema(type="boolean"))
SET = GenerateConfig(max_tokens=5, temperature=0.8, seed=3, top_p=0.5, top_k=9, stop_seqs=["x"])
REQUESTS: dict[str, tuple[list[ChatMessage], list[ToolInfo], GenerateConfig]] = {
    "nothing is left to chance": ([ChatMessageUser(content="Hi")], [], GenerateConfig()),
    "settings": ([], [], SET),
    "a schema is a grammar, which goes before tools": (
        *([], TOOLS, GenerateConfig(response_schema=SCHEMA)),
    ),
    "tools": (
        [
            ChatMessageAssistant(content="", tool_calls=[CALL]),
            ChatMessageTool(content="2", tool_call_id="1"),
        ],
        TOOLS,
        GenerateConfig(),
    ),
}


def test_what_is_asked_for() -> None:
    texts = []
    for name, (messages, tools, config) in REQUESTS.items():
        request = chat_request(messages, tools, "any" if tools else "auto", config)
        texts.append(f"({name})\n{json.dumps(request, indent=1)}\n")
    check(__file__, "requests.txt", "\n".join(texts))


def test_tools_come_back(gguf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [
        {"id": "1", "function": {"name": "f", "arguments": '{"x": 1}'}},
        {"id": "2", "function": {"name": "f", "arguments": "{"}},
    ]
    output = reply(gguf, monkeypatch, answered(tool_calls=given, finish_reason="tool_calls"))
    assert output.stop_reason == "tool_calls"
    good, bad = output.message.tool_calls or []
    assert good == CALL
    assert "not valid JSON" in (bad.parse_error or "")


def answered(finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "choices": [{"finish_reason": finish_reason, "message": message}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
    }


def test_a_reply(gguf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    output = reply(gguf, monkeypatch, answered(content="Yes"))
    assert (output.completion, output.stop_reason, output.model) == ("Yes", "stop", "mine")
    assert output.usage is not None
    assert (output.usage.input_tokens, output.usage.output_tokens) == (7, 2)
    assert output.usage.total_cost == 0.0


def test_a_prompt_that_does_not_fit(gguf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"type": "exceed_context_size_error", "message": "too long"}
    output = reply(gguf, monkeypatch, {"error": error})
    assert (output.completion, output.stop_reason) == ("", "model_length")


def test_any_other_refusal_is_one(gguf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="bad grammar"):
        reply(gguf, monkeypatch, {"error": {"type": "invalid", "message": "bad grammar"}})


def test_the_cache_tells_files_apart_but_not_ports(gguf: str) -> None:
    assert LocalAPI("mine", path=gguf).base_url == Path(gguf).as_uri()


@pytest.mark.parametrize(("arguments", "words"), cases(__file__, "arguments"))
def test_wrong_arguments_are_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(PrerequisiteError, match=words):
        LocalAPI(**arguments)


@pytest.mark.parametrize("given", ["0", "two", "-1", ""])
def test_threads_must_be_a_number(gguf: str, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIEBREAK_LOCAL_THREADS", given)
    with pytest.raises(PrerequisiteError, match="positive whole number"):
        LocalAPI("mine", path=gguf)


def test_copies_are_connections(gguf: str) -> None:
    assert LocalAPI("mine", path=gguf, copies=3).max_connections() == 3


CASES: list[tuple[dict[str, Any], dict[str, Any]]] = cases(__file__, "cases")


@pytest.mark.parametrize(("schema", "expected"), CASES)
def test_bounds(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert bounded(schema) == expected


@pytest.mark.parametrize(("strings", "length"), [(1, 120), (2, 60), (4, 30), (6, 20), (30, 16)])
def test_strings_share_a_budget(strings: int, length: int) -> None:
    schema = {"type": "object", "properties": {str(i): {"type": "string"} for i in range(strings)}}
    found = bounded(schema)["properties"].values()
    assert {part["maxLength"] for part in found} == {length}


def test_the_grammar_has_one_layout() -> None:
    text = grammar({"type": "boolean"})
    assert text.startswith("%llguidance {}\nstart: %json {")
    assert '"whitespace_flexible": false' in text
