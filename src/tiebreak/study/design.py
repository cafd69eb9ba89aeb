"""The design of a study, as written in `study.yaml`: models, benchmarks, judges, protocols, budget.

    models:
      - openai/gpt-5-mini
      - {model: anthropic/claude-haiku-4-5, name: haiku-warm, config: {temperature: 0.8}}
    benchmarks: [gsm8k, prompts.jsonl]
    judge: openai/gpt-5
    budget: 20

A misspelt field or an invalid value is an error with its line number. Paths are relative to the
working directory, as in Inspect.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Self

from inspect_ai.model import GenerateConfig, Model
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from tiebreak.inspect_tasks.arguments import CommonArguments, checked
from tiebreak.inspect_tasks.own_protocol import load_protocol
from tiebreak.paths import AnyPath
from tiebreak.plain_yaml import line_of, read_yaml_file
from tiebreak.prerequisite import PrerequisiteError, model_named
from tiebreak.scorers.protocols import Variant, read_variant
from tiebreak.scorers.rules import PlacementRule
from tiebreak.scorers.session import ProtocolError
from tiebreak.study import StudyError

OURS: Final = ("gsm8k", "mmlu", "humaneval", "bfcl")
"""Tiebreak's own benchmarks, which can be named without the prefix `tiebreak/`."""

PROMPTS: Final = (".jsonl", ".csv", ".parquet")
"""File name suffixes of files of prompts."""

_FOUND_BY_A_RUN: Final = ("candidates", "shard", "max_calls", "max_cost", "seed")
_FORMS: Final = {
    "name": "must be letters, digits, ., _ and - alone",
    "publish": "must be OWNER/NAME, a dataset on the Hub",
}
"""Error messages for fields whose value does not match their pattern."""
_CONFIG: Final = frozenset(GenerateConfig.model_fields)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelChoice(_Part):
    """A model in Inspect's notation, and how it is asked.

    `config` are options of generation, such as temperature; `args` are options of its provider. A
    contestant with a `name` is shown under that name; only it gets its `task_args`.
    """

    model: str = Field(min_length=1)
    name: str | None = Field(None, min_length=1)
    config: dict[str, Any] = {}
    args: dict[str, Any] = {}
    task_args: dict[str, Any] = {}

    @field_validator("config")
    @classmethod
    def _options(cls, config: dict[str, Any]) -> dict[str, Any]:
        if strange := sorted(config.keys() - _CONFIG):
            raise ValueError(f"{strange[0]} is not an option of generation")
        GenerateConfig.model_validate(config)
        return config

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.task_args and not self.name:
            raise ValueError("give a model with task_args a name")
        return self

    @property
    def shown(self) -> str:
        """The name under which boards show the model."""
        return self.name or self.model

    def build(self) -> Model:
        """The model as an object of Inspect.

        Raises:
            StudyError: Inspect does not know the provider, a key or a package is missing, or the
                provider does not accept the arguments.
        """
        config = GenerateConfig(**self.config)
        return model_named(self.model, StudyError, config=config, **self.args)


class Benchmark(_Part):
    """An Inspect task with its arguments; `name` is the name of its folder."""

    task: str = Field(min_length=1)
    name: str = Field("", pattern=r"^[\w.-]*$")
    args: dict[str, Any] = {}

    @model_validator(mode="after")
    def _named_after_task(self) -> Self:
        if not self.name:
            given = self.args.get("name") if self.task == "tiebreak/prompts" else None
            last = given or re.split("[/@]", self.task)[-1]
            object.__setattr__(self, "name", re.sub(r"[^\w.-]+", "-", str(last)))
        return self


class Protocol(_Part):
    """A protocol with settings, as `round_robin:rounds=2`, and further arguments of its task."""

    label: str
    args: dict[str, Any] = {}

    @model_validator(mode="after")
    def _known(self) -> Self:
        try:
            read_variant(self.label, load_protocol)
        except (ProtocolError, PrerequisiteError) as error:
            raise ValueError(str(error)) from error
        # `reviewers` maps peers to candidates; it belongs to one task, and `_checked` lacks it.
        _checked({name: value for name, value in self.args.items() if name != "reviewers"})
        return self

    @property
    def variant(self) -> Variant:
        """The protocol and its settings, read from the label."""
        return read_variant(self.label, load_protocol)

    @property
    def rule(self) -> PlacementRule:
        """The protocol's placement rule, e.g. whether it asks a judge or several reviewers."""
        return self.variant.protocol.rule


def _of_text(field: str) -> Any:
    return lambda given: {field: given} if isinstance(given, str) else given


def benchmark_of(given: Any) -> Any:
    """A benchmark from its short form: one of `OURS`, a file of prompts, or an Inspect task."""
    if not isinstance(given, str):
        return given
    if given in OURS:
        return {"task": f"tiebreak/{given}", "name": given}
    if given.endswith(PROMPTS) or given.startswith("hf://"):
        return {"task": "tiebreak/prompts", "args": {"prompts": given, "name": Path(given).stem}}
    return {"task": given}


AnyModel = Annotated[
    ModelChoice,
    BeforeValidator(_of_text("model"), json_schema_input_type=str | ModelChoice),
]
AnyBenchmark = Annotated[
    Benchmark, BeforeValidator(benchmark_of, json_schema_input_type=str | Benchmark)
]
AnyProtocol = Annotated[
    Protocol, BeforeValidator(_of_text("label"), json_schema_input_type=str | Protocol)
]


class Study(_Part):
    """The design of a study: who answers what, who judges how, and the budget.

    Either `models` answer `benchmarks` (with the `roles` that these need, such as a grader), or
    `answers` has the paths of logs. `jury` are several judges, `peers` the reviewers of
    peer_review. `judging` are arguments of all judging tasks, such as rubric or jury. `budget`
    limits the cost of answers and judging in US dollars, `calls` the calls of judging, each for the
    whole study. `prices` are IN,OUT or MODEL=IN,OUT in dollars per million tokens. `publish` is the
    OWNER/NAME of a dataset. `made_with` records the versions that ran it and has no effect.
    """

    title: str | None = None
    models: tuple[AnyModel, ...] = ()
    benchmarks: tuple[AnyBenchmark, ...] = ()
    answers: tuple[str, ...] = ()
    roles: dict[str, AnyModel] = {}
    judge: AnyModel | None = None
    jury: tuple[AnyModel, ...] = ()
    meta_judge: AnyModel | None = None
    peers: tuple[AnyModel, ...] = ()
    protocols: tuple[AnyProtocol, ...] = ()
    judging: dict[str, Any] = {}
    budget: float | None = Field(None, gt=0, allow_inf_nan=False)
    calls: int | None = Field(None, gt=0)
    prices: tuple[str, ...] = ()
    price_file: str | None = None
    epochs: int | None = Field(None, gt=0)
    limit: int | None = Field(None, gt=0)
    seed: int = 0
    publish: str | None = Field(None, pattern=r"^[^/\s]+/[^/\s]+$")
    made_with: dict[str, str] = {}

    @field_validator("judging")
    @classmethod
    def _arguments(cls, judging: dict[str, Any]) -> dict[str, Any]:
        return _checked(judging)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if bool(self.benchmarks) == bool(self.answers):
            raise ValueError("give benchmarks that models answer, or answers that there are")
        if self.answers and self.models:
            raise ValueError("models answer benchmarks; with answers leave them out")
        if self.benchmarks and len(self.models) < 2:
            raise ValueError("a ranking takes two models at least")
        for noun, names in (
            ("model", [model.shown for model in self.models]),
            ("benchmark", [benchmark.name for benchmark in self.benchmarks]),
        ):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"the {noun} {twice[0]} is there twice: give one of them a name")
        if self.judge and self.jury:
            raise ValueError("give a judge or a jury")
        if self.budget and self.calls:
            raise ValueError("give a budget in dollars or a number of calls")
        if not self.protocols:
            label = "peer_review" if self.peers else "round_robin"
            object.__setattr__(self, "protocols", (Protocol(label=label),))
        if any(protocol.rule.asks_judge for protocol in self.protocols) and not self.judges:
            raise ValueError("nobody judges: give a judge, a jury, or peers")
        if self.judges and not any(protocol.rule.asks_judge for protocol in self.protocols):
            raise ValueError("no protocol here asks the judge: leave it out, or name one that does")
        if any(protocol.rule.reviewed for protocol in self.protocols) != bool(self.peers):
            raise ValueError("peers and the protocol peer_review go together")
        return self

    @property
    def judges(self) -> tuple[ModelChoice, ...]:
        """The judge, or the jury."""
        return (self.judge,) if self.judge else self.jury

    @property
    def everyone(self) -> tuple[ModelChoice, ...]:
        """All models that answer, judge, refine or review, including those in roles."""
        meta = (self.meta_judge,) if self.meta_judge else ()
        return (*self.models, *self.roles.values(), *self.judges, *meta, *self.peers)

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of all models that judge, refine or review."""
        meta = (self.meta_judge,) if self.meta_judge else ()
        return tuple(dict.fromkeys(model.model for model in (*self.judges, *meta, *self.peers)))


def _checked(judging: dict[str, Any]) -> dict[str, Any]:
    try:
        checked(CommonArguments(**judging))  # type: ignore[typeddict-item]
    except PrerequisiteError as error:
        raise ValueError(str(error)) from error
    if ours := sorted(judging.keys() & {*_FOUND_BY_A_RUN}):
        raise ValueError(f"{ours[0]} is set by the study itself")
    return judging


def study_of(given: Mapping[str, Any], source: str = "", text: str = "") -> Study:
    """Make a study from plain data; `text` is the YAML source, for line numbers in errors.

    Raises:
        StudyError: a field is missing, misspelt or invalid.
    """
    try:
        return Study.model_validate(given)
    except ValidationError as error:
        problems = []
        for problem in error.errors():
            place = [step for step in problem["loc"] if not str(step).startswith("function-")]
            line = f"line {line_of(text, place)}: " if text else ""
            named = f"{'.'.join(map(str, place))}: " if place else ""
            reason = problem["msg"].removeprefix("Value error, ")
            if problem["type"] == "string_pattern_mismatch":
                reason = _FORMS[str(place[-1])]
            if problem["type"] == "extra_forbidden":
                reason = "there is no such field; `tiebreak run --schema` has all"
            problems.append(f"{line}{named}{reason}")
        lead = f"{source} is not a study: " if source else ""
        raise StudyError(lead + "; ".join(problems)) from error


def read_study(path: AnyPath, **more: Any) -> Study:
    """Read a study from a YAML file.

    Args:
        path: the file.
        more: fields that override those of the file, unless None or empty.

    Raises:
        StudyError: it cannot be read, or is not a study; the message has the line of the mistake.
    """
    try:
        given = read_yaml_file(path)
    except ValueError as error:
        raise StudyError(f"{path} {error}") from error
    if not isinstance(given, dict):
        raise StudyError(f"{path} is not a study: it must be a mapping with models and benchmarks")
    options = {name: value for name, value in more.items() if value not in (None, (), {})}
    text = Path(path).read_text(encoding="utf-8-sig")
    return study_of({**given, **options}, str(path), text)


def schema() -> dict[str, Any]:
    """The JSON schema of `study.yaml`, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Study.model_json_schema()}
