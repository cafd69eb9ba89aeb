"""What must not leave: the credentials of this machine and of the logs.

The allow list of `facts` is the first net. This one knows the secrets themselves, which `search`
looks for in all that is to leave; so it also finds one that a model answered or that somebody put
into a name.
"""

import json
import os
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelConfig

from tiebreak.candidates.discover import discover
from tiebreak.candidates.packed import unpacked, unpacked_name
from tiebreak.publish.credentials import SHORTEST, Called, called_by, credentials, is_word
from tiebreak.publish.errors import PublishError
from tiebreak.publish.facts import file_name


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that must not leave, and where it came from; its value is never shown."""

    source: str
    value: str

    def __repr__(self) -> str:
        return f"Secret({self.source!r})"


def environment_secrets(environment: Mapping[str, str] = os.environ) -> Iterator[Secret]:
    """What looks like a credential in the variables, by name or by value, part by part."""
    for name, value in sorted(environment.items()):
        for found in sorted(credentials(name, value)):
            yield Secret(f"the environment variable {name}", found)


def without_secrets(error: Exception, secrets: Iterable[Secret]) -> Exception:
    """An error whose words hold no secret, and whose causes show none either.

    Only a `PublishError` is another one then: an error of ours must come through as it is.
    """
    if not isinstance(error, PublishError):
        return error
    values = sorted({one.value for one in secrets}, key=len, reverse=True)
    words = str(error)
    for value in values:
        words = words.replace(value, "[hidden]")
    told = PublishError(words)
    causes = "".join(traceback.format_exception(error.__cause__)) if error.__cause__ else ""
    if not any(value in causes for value in values):
        told.__cause__ = error.__cause__
    return told


def log_secrets(path: str) -> Iterator[Secret]:
    """Values in a log's header that must stay private.

    All arguments of models, headers and extra bodies; credentials in addresses, and in arguments
    and metadata of the task. What is part of a model's own name is not one: `hf/llama` is public
    on purpose. Nor is a plain word, unless it is called like a secret.
    """
    log = read_eval_log(path, header_only=True)
    names = [log.eval.model, *(model.model for _, model in _models(log))]
    for where, value, called in _private(log):
        told = called in ("key", "password")
        if told or not (is_word(value) or any(value in name for name in names)):
            kind = called if told else "password"
            yield from _usable(f"{where} in {file_name(path)}", value, kind)
    for where, value, called in _public(log):
        yield from _usable(f"{where} in {file_name(path)}", value, called or "id")


def score_secrets(path: str) -> Iterator[Secret]:
    """What must stay private of a file that scores were read from: a log of either harness.

    Of lm-eval's summary these are the credentials among the model's arguments.
    """
    packed = Path(path)
    if not unpacked_name(path).endswith((".eval", ".json")) or not packed.is_file():
        return
    with unpacked(packed) as file:
        if any(found.kind == "inspect" for found in discover([file]).files):
            yield from log_secrets(str(file))
            return
        for where, value, called in _strings("a model argument", _model_args(file.read_bytes())):
            yield from _usable(f"{where} in {file_name(path)}", value, called)


def _model_args(summary: bytes) -> Any:
    """The model's arguments in a summary of lm-eval; None: it is none, or has none."""
    try:
        given = json.loads(summary)["config"]["model_args"]
    except (ValueError, LookupError, TypeError):
        return None
    if isinstance(given, str):
        return dict(part.partition("=")[::2] for part in given.split(","))
    return given


def _private(log: EvalLog) -> Iterator[tuple[str, str, Called]]:
    """Where, value, and what it is called: of these values all must stay."""
    yield from _strings("a model argument", log.eval.model_args)
    for config in (log.eval.model_generate_config, log.plan.config):
        for part in (config.extra_headers, config.extra_body):
            yield from _strings("the model's request", part or {})
    for role, model in _models(log):
        yield from _strings(f"an argument of the role {role}", model.args)
        for part in (model.config.extra_headers, model.config.extra_body):
            yield from _strings(f"requests of the role {role}", part or {})


def _public(log: EvalLog) -> Iterator[tuple[str, str, Called]]:
    """The same of values that may hold credentials, and many an id, which is public."""
    yield from _strings("the model's base_url", log.eval.model_base_url)
    for role, model in _models(log):
        yield from _strings(f"the base_url of the role {role}", model.base_url)
    if log.eval.revision is not None:
        yield from _strings("the git remote", log.eval.revision.origin)
    yield from _strings("a task argument", log.eval.task_args)
    yield from _strings("a metadata", log.eval.metadata)


def _models(log: EvalLog) -> Iterator[tuple[str, ModelConfig]]:
    for role, bound in (log.eval.model_roles or {}).items():
        yield from ((role, one) for one in (bound if isinstance(bound, list) else [bound]))


def _strings(where: str, value: Any, called: Called = "") -> Iterator[tuple[str, str, Called]]:
    """All texts inside some arguments, with the names under which they stand."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            place = f"{where} ({name})" if "(" not in where else where
            yield from _strings(place, inner, called_by(str(name)) or called)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(where, inner, called)
    elif isinstance(value, str):
        yield where, value, called


def _usable(source: str, value: str, called: Called) -> Iterator[Secret]:
    value = value.strip()
    whole = {value} if called == "password" and len(value) >= SHORTEST else set()
    for found in sorted(whole | credentials("", value, called=called)):
        yield Secret(source, found)
