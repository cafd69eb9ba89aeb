"""The fields of Inspect's logs that are read, under Inspect's names; others are ignored.

Inspect's own types validate every field of a log, and importing Inspect takes longer than reading
most logs. These types need only pydantic. Only logs in the form of current releases fit them; logs
of earlier releases are first migrated by Inspect.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

MEDIA: Final = ("image", "audio", "video", "document", "data")
"""Kinds of content that are not text."""

_Scalar = str | int | float | bool


class Part(BaseModel):
    """Base of all parts of a log."""

    model_config = ConfigDict(extra="ignore", protected_namespaces=())


class Failure(Part):
    """Why a run or a sample ended."""

    message: str


class Invalidation(Part):
    """Author and reason of the decision that a sample does not count."""

    author: str = ""
    reason: str | None = None


class LogContent(Part, extra="allow"):
    """A part of a message; its content is in the field named like its type."""

    type: Literal["text", "reasoning", "image", "audio", "video", "document", "data", "tool_use"]

    @property
    def held(self) -> Any:
        """Its text, or the data or address of an image or other medium; "" for a tool use."""
        return "" if self.type == "tool_use" else getattr(self, self.type, None)

    @model_validator(mode="after")
    def _is_held(self) -> Self:
        if not isinstance(self.held, dict if self.type == "data" else str):
            raise ValueError(f"its {self.type} is missing")
        return self


class _Message(Part):
    content: str | list[LogContent]

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.held for part in self.content if part.type == "text")


class _Turn(_Message):
    role: Literal["system", "user", "assistant", "tool"]


class ToolCall(Part):
    """A call to a tool."""

    id: str
    function: str
    arguments: dict[str, Any]


class _Answer(_Message):
    tool_calls: list[ToolCall] | None = None


class _Choice(Part):
    message: _Answer
    stop_reason: Literal[
        "stop", "max_tokens", "model_length", "tool_calls", "content_filter", "unknown"
    ] = "unknown"


class _Usage(Part):
    input_tokens: int = 0
    output_tokens: int = 0


class _Output(Part):
    choices: list[_Choice] = []
    completion: str = ""
    usage: _Usage | None = None

    @property
    def text(self) -> str:
        return self.completion or (self.choices[0].message.text if self.choices else "")


class Score(Part):
    """A score of a sample."""

    value: _Scalar | list[_Scalar] | dict[str, _Scalar | None]


class RecordedScore(Score, extra="allow"):
    """A score with all its fields."""


class _Limit(Part):
    type: Literal[
        "context", "time", "working", "message", "token", "turn", "cost", "operator", "custom"
    ]


class LogSample(Part):
    """A sample with its answer; one with `score` or `transcript` (very old) is left to Inspect."""

    id: int | str
    epoch: int
    input: str | list[_Turn]
    choices: list[str] | None = None
    target: str | list[str]
    files: list[str] | None = None
    output: _Output = Field(default_factory=_Output)
    scores: dict[str, Score] | None = None
    metadata: dict[str, Any] = {}
    error: Failure | None = None
    invalidation: Invalidation | None = None
    limit: _Limit | None = None
    score: None = None
    transcript: None = None

    @property
    def contents(self) -> list[LogContent | str]:
        """Parts of the input; plain texts, and content of messages that is one text, as `str`."""
        given = [self.input] if isinstance(self.input, str) else [m.content for m in self.input]
        return [part for parts in given for part in ([parts] if isinstance(parts, str) else parts)]


class RecordedSample(LogSample):
    """A sample with all fields of its scores."""

    scores: dict[str, RecordedScore] | None = None  # type: ignore[assignment]


# Errors of these two validators are not shown: Inspect migrates a log that does not fit.
def _of_today(config: dict[str, Any]) -> dict[str, Any]:
    if isinstance(config.get("reasoning_history"), bool):
        raise ValueError("the form of an earlier version")
    return {name: value for name, value in config.items() if value is not None}


def _utc(text: str) -> str:
    if datetime.fromisoformat(text).astimezone(UTC).isoformat() != text:
        raise ValueError("a time of another zone")
    return text


_Config = Annotated[dict[str, Any], AfterValidator(_of_today)]


class LogModel(Part):
    """A model in a role, with its settings and arguments."""

    model: str
    config: _Config = {}
    base_url: str | None = None
    args: dict[str, Any] = {}


class _Dataset(Part):
    name: str | None = None
    samples: int | None = None
    sample_ids: list[str] | list[int] | list[str | int] | None = None


class _EvalConfig(Part):
    limit: int | tuple[int, int] | None = None
    sample_shuffle: bool | int | None = None
    sample_id: str | int | list[str] | list[int] | list[str | int] | None = None
    epochs: int | None = None
    message_limit: int | None = None
    token_limit: int | None = None
    turn_limit: int | None = None
    time_limit: int | None = None
    working_limit: int | None = None
    cost_limit: float | None = None
    max_messages: None = None


class _Revision(Part):
    origin: str = ""


class _Spec(Part):
    created: Annotated[str, AfterValidator(_utc)]
    eval_id: str = Field(min_length=1)
    task: str
    task_id: str = ""
    task_version: int | str = 0
    task_args: dict[str, Any] = {}
    task_args_passed: dict[str, Any]
    dataset: _Dataset
    model: str
    model_generate_config: _Config = {}
    model_base_url: str | None = None
    model_args: dict[str, Any] = {}
    model_roles: dict[str, LogModel | list[LogModel]] | None = None
    config: _EvalConfig
    revision: _Revision | None = None
    packages: dict[str, str] = {}
    scorers: list[dict[str, Any]] | None = None
    metadata: dict[str, Any] | None = None


class _Step(Part):
    solver: str
    params_passed: dict[str, Any]


class _Plan(Part):
    steps: list[_Step] = []
    config: _Config = {}


class _Edit(Part):
    type: Literal["tags", "metadata"]
    metadata_set: dict[str, Any] = {}
    metadata_remove: list[str] = []


class _Update(Part):
    edits: list[_Edit] = []


class _Results(Part):
    scores: list[dict[str, Any]] = []


class LogHeader(Part):
    """Header of a log: status, specification, plan and results of its run."""

    status: Literal["started", "success", "cancelled", "error"] = "started"
    eval: _Spec
    plan: _Plan = Field(default_factory=_Plan)
    results: _Results | None = None
    error: Failure | None = None
    log_updates: list[_Update] | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata of the run after all later edits."""
        metadata = dict(self.eval.metadata or {})
        for edit in (edit for update in self.log_updates or [] for edit in update.edits):
            if edit.type == "metadata":
                kept = {k: v for k, v in metadata.items() if k not in edit.metadata_remove}
                metadata = kept | edit.metadata_set
        return metadata
