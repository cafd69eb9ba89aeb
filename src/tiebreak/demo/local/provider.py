"""The embedded model as an ordinary Inspect model: `tiebreak-local/smollm2-135m`.

It runs inside this process, without a port or a key, and works in any task and role:

    inspect eval TASK --model tiebreak-local/smollm2-135m
    inspect eval TASK --model tiebreak-local/mine -M path=/models/mine.gguf

A small model that may write free text does so until the token budget ends, and the JSON is never
closed. So every unbounded part of a schema gets a bound before it becomes a grammar, and whitespace
is fixed. The bounded schema is a subset of the original, so a valid reply stays valid.
"""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import anyio.to_thread
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    Logprobs,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    StopReason,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo

from tiebreak.demo.local.server import (
    DEFAULT_MODEL,
    LOCAL,
    PROVIDER,
    ServerSettings,
    custom_weights,
    default_threads,
    find_weights,
    shared_copies,
)
from tiebreak.prerequisite import PrerequisiteError

TEXT_BUDGET: Final = 120
"""Total characters for all unbounded strings of a schema; each is within the two limits below."""
SHORTEST_TEXT: Final = 16
LONGEST_TEXT: Final = 120
MOST_ITEMS: Final = 6
LARGEST_NUMBER: Final = 1_000_000_000
NUMBER_STEP: Final = 0.01

_LAYOUT: Final = {
    "whitespace_flexible": False,
    "item_separator": ",",
    "key_separator": ":",
}
_IRRELEVANT: Final = {"description", "default", "title", "examples"}


def grammar(schema: Mapping[str, Any]) -> str:
    """Grammar in llguidance's format for the bounded schema in a single layout."""
    compact = {**bounded(schema), "x-guidance": _LAYOUT}
    return f"%llguidance {{}}\nstart: %json {json.dumps(compact, ensure_ascii=False)}\n"


def bounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Copy of a schema with bounds on every string, number and array.

    Strings without a bound share `TEXT_BUDGET` characters; numbers get two decimals; an object with
    named properties allows no others. An object without named properties stays open.
    """
    free = sum(_is_free_text(part) for part in _parts(schema))
    text = min(LONGEST_TEXT, max(SHORTEST_TEXT, TEXT_BUDGET // max(1, free)))
    return _bounded(schema, text)


def _bounded(schema: Mapping[str, Any], text: int) -> dict[str, Any]:
    result = {key: value for key, value in schema.items() if key not in _IRRELEVANT}
    if "properties" in schema:
        result["properties"] = {
            name: _bounded(part, text) for name, part in schema["properties"].items()
        }
        result.setdefault("additionalProperties", False)
    for key in ("additionalProperties", "items"):
        if isinstance(schema.get(key), Mapping):
            result[key] = _bounded(schema[key], text)
    if "anyOf" in schema:
        result["anyOf"] = [_bounded(part, text) for part in schema["anyOf"]]
    if "enum" in schema or "const" in schema:
        return result
    kinds = _kinds(schema)
    if _is_free_text(schema):
        result["maxLength"] = text
    if "array" in kinds:
        result.setdefault("maxItems", max(MOST_ITEMS, schema.get("minItems", 0)))
    if kinds & {"integer", "number"}:
        result.setdefault("minimum", -LARGEST_NUMBER)
        result.setdefault("maximum", LARGEST_NUMBER)
    if "number" in kinds:
        result.setdefault("multipleOf", NUMBER_STEP)
    return result


def _is_free_text(schema: Mapping[str, Any]) -> bool:
    ends = {"maxLength", "pattern", "format", "enum", "const"}
    return "string" in _kinds(schema) and not ends & set(schema)


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    kind = schema.get("type")
    return {kind} if isinstance(kind, str) else set(kind or ())


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema and all schemas inside it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for part in (*inner, schema.get("items"), schema.get("additionalProperties")):
        if isinstance(part, Mapping):
            yield from _parts(part)


DEFAULT_MAX_TOKENS: Final = 1024

_OPTIONS: Final = {
    *("top_p", "top_k", "frequency_penalty", "presence_penalty", "logprobs", "top_logprobs")
}
_STOP_REASONS: Final[dict[str, StopReason]] = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
}


class LocalAPI(ModelAPI):
    """llama.cpp in this process. Settings have fixed defaults, so that replies are reproducible."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - immutable use, Inspect's own form
        path: str | None = None,
        copies: int | None = None,
        threads: int = 1,
        context: int = 4096,
        **unknown: Any,
    ) -> None:
        """Check names and numbers; the model itself is loaded with the first request.

        Args:
            model_name: `smollm2-135m`, or any name for a GGUF file of the user's own.
            base_url: ignored.
            api_key: ignored.
            config: generation settings.
            path: GGUF file of the user's own (`-M path=FILE`), else `TIEBREAK_LOCAL_WEIGHTS`.
            copies: number of copies of the model that answer in parallel, and of connections; by
                default `TIEBREAK_LOCAL_THREADS`, else one per core.
            threads: CPU threads of each copy.
            context: tokens of prompt and reply together.
            unknown: any other argument is refused by name.

        Raises:
            PrerequisiteError: an argument is wrong, or the model file is missing.
        """
        if unknown:
            raise PrerequisiteError(f"{PROVIDER} has no argument {', '.join(map(repr, unknown))}.")
        self._copies = default_threads() if copies is None else copies
        if min(self._copies, context, threads) < 1:
            raise PrerequisiteError(f"{PROVIDER}: copies, threads and context must be at least 1.")
        custom = custom_weights(path)
        if custom is None and model_name != DEFAULT_MODEL:
            raise PrerequisiteError(
                f"{PROVIDER} has one model of its own, {LOCAL}. For {model_name!r} add the file: "
                "-M path=/path/to/model.gguf"
            )
        # Inspect's cache identifies models by name and base_url: a user's file must not get the
        # cached replies of another file with the same name.
        super().__init__(model_name, base_url=custom.as_uri() if custom else None, config=config)
        self._settings = ServerSettings(
            weights=find_weights(path), threads=threads, context=context
        )

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """Answer one request in a worker thread.

        A prompt that does not fit into the context gives an empty completion with the stop reason
        `model_length`, so that the caller can continue.

        Raises:
            RuntimeError: the runtime refused the request for another reason.
        """
        request = chat_request(input, tools, tool_choice, config)
        copies = shared_copies(self._settings, self._copies)
        reply = await anyio.to_thread.run_sync(copies.chat, request)
        return self._output(reply), ModelCall.create(request, reply)

    def max_connections(self) -> int:
        """One request per copy."""
        return self._copies

    def max_tokens(self) -> int | None:
        """Maximum length of a reply, in tokens, if the task does not set one."""
        return DEFAULT_MAX_TOKENS

    def connection_key(self) -> str:
        """A key that is equal for instances that share copies, and thus connections."""
        return f"{self._settings} × {self._copies}"

    def _output(self, reply: dict[str, Any]) -> ModelOutput:
        if (error := reply.get("error")) is not None:
            if error.get("type") == "exceed_context_size_error":
                return ModelOutput.from_content(
                    self.model_name, "", stop_reason="model_length", error=str(error["message"])
                )
            raise RuntimeError(str(error.get("message", error)))
        return ModelOutput(
            model=self.model_name,
            choices=[self._choice(choice) for choice in reply["choices"]],
            usage=ModelUsage(
                input_tokens=reply["usage"]["prompt_tokens"],
                output_tokens=reply["usage"]["completion_tokens"],
                total_tokens=reply["usage"]["total_tokens"],
                total_cost=0.0,
            ),
        )

    def _choice(self, choice: dict[str, Any]) -> ChatCompletionChoice:
        message = choice["message"]
        return ChatCompletionChoice(
            message=ChatMessageAssistant(
                content=message.get("content") or "",
                tool_calls=[_tool_call(call) for call in message.get("tool_calls") or ()] or None,
                model=self.model_name,
                source="generate",
            ),
            stop_reason=_STOP_REASONS.get(choice.get("finish_reason") or "", "unknown"),
            logprobs=Logprobs.model_validate(choice["logprobs"]) if "logprobs" in choice else None,
        )


@modelapi(name=PROVIDER)
def tiebreak_local() -> type[ModelAPI]:
    """The provider's entry in Inspect's registry."""
    return LocalAPI


def chat_request(
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolInfo],
    tool_choice: ToolChoice,
    config: GenerateConfig,
) -> dict[str, Any]:
    """A request in OpenAI's chat format, with explicit temperature and seed."""
    request: dict[str, Any] = {
        "messages": [_message(message) for message in messages],
        "max_tokens": config.max_tokens or DEFAULT_MAX_TOKENS,
        "temperature": config.temperature or 0.0,
        "seed": config.seed or 0,
        **config.model_dump(include=_OPTIONS, exclude_none=True),
    }
    if config.stop_seqs is not None:
        request["stop"] = config.stop_seqs
    if config.response_schema is not None:
        schema = config.response_schema.json_schema
        # Serialize actual types, not those that Inspect declares: bounded lists keep their bounds.
        shape = schema.model_dump(exclude_none=True, serialize_as_any=True)
        request["grammar"] = grammar(shape)
    elif tools and tool_choice != "none":
        request["tools"] = [_tool(tool) for tool in tools]
        forced = isinstance(tool_choice, ToolFunction) or tool_choice == "any"
        request["tool_choice"] = "required" if forced else "auto"
    return request


def _message(message: ChatMessage) -> dict[str, Any]:
    shown: dict[str, Any] = {"role": message.role, "content": message.text}
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        shown["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if isinstance(message, ChatMessageTool):
        shown["tool_call_id"] = message.tool_call_id
    return shown


def _tool(tool: ToolInfo) -> dict[str, Any]:
    shown = {"name", "description", "parameters"}
    return {"type": "function", "function": tool.model_dump(include=shown, exclude_none=True)}


def _tool_call(call: dict[str, Any]) -> ToolCall:
    name, given = call["function"]["name"], call["function"].get("arguments") or "{}"
    arguments, problem = {}, None
    try:
        arguments = json.loads(given)
        if not isinstance(arguments, dict):
            arguments, problem = {}, f"the arguments of {name} are not a JSON object: {given}"
    except json.JSONDecodeError as error:
        problem = f"the arguments of {name} are not valid JSON ({error}): {given}"
    return ToolCall(
        id=call.get("id") or uuid.uuid4().hex,
        function=name,
        arguments=arguments,
        parse_error=problem,
    )
