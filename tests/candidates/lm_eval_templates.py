"""Every generative task that lm-eval ships, rendered over made documents and read by Tiebreak.

Nearly all tasks are copies: `task_types` groups them by template, whose words do not count: readers
compare documents, and know no words but the letters of options. `Spy` documents show which columns
a template reads, and `MadeText` gives each a value of its own for every document.
lm-eval itself renders the prompts (`written`, in a process without network), those of a type in two
of `SETTINGS`, which take turns.
What a judge reads of them is compared in `lm_eval_readers`.
"""

import json
import re
import signal
import socket
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from importlib.util import find_spec
from os.path import normpath
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import yaml

from tests.candidates.builders import write_lm_eval_run
from tests.candidates.lm_eval_documents import MadeText, Spy, SpyDocument
from tests.cases import some
from tests.harness import ROOT, run

DOCUMENTS = 4
SHOTS = 3
SYSTEM = "You are a careful assistant who answers in the form that the task asks for."
MARK = "<|im_start|>"
MODULE = "tests.candidates.lm_eval_templates"


class Setting(NamedTuple):
    """How lm-eval is asked to build prompts: shots, and none, JSON or text for chat messages."""

    shots: int
    chat: str = ""
    turns: bool = True  # each example is a turn; else all are in the user's one message


SETTINGS = {
    "plain": Setting(0),
    "plain, shots": Setting(SHOTS),
    "messages": Setting(0, "json"),
    "messages, shots": Setting(SHOTS, "json"),
    "messages, shots in one": Setting(SHOTS, "json", turns=False),
    "ChatML": Setting(0, "ChatML"),
    "ChatML, shots": Setting(SHOTS, "ChatML"),
}


# ---- The tasks -------------------------------------------------------------------------------


class Function(NamedTuple):
    """A `!function` of a task file: the file's folder, and `module.name`."""

    folder: str
    name: str

    def load(self) -> Any:
        from lm_eval.tasks._yaml_loader import _import_func_in_yml

        return _import_func_in_yml(self.name, Path(self.folder))


class TaskType(NamedTuple):
    """The tasks that build their prompts in the same way."""

    tasks: tuple[str, ...]
    config: Mapping[str, Any]

    @property
    def label(self) -> str:
        return self.tasks[0] + (f" (and {len(self.tasks) - 1} more)" if self.tasks[1:] else "")


_FIELDS = ("doc_to_text", "doc_to_target", "doc_to_choice", "description", "gen_prefix", "class")
_DELIMITERS = ("target_delimiter", "fewshot_delimiter")
_EXAMPLES = ("samples", "sampler", "gen_prefix", *_DELIMITERS)


def task_types() -> list[TaskType]:
    """The types of all generative tasks of the installed lm-eval, those of most tasks first."""
    package = some(find_spec("lm_eval"))
    assert package.origin is not None
    groups: defaultdict[str, list[str]] = defaultdict(list)
    configs = {}
    for path in sorted((Path(package.origin).parent / "tasks").rglob("*.yaml")):
        task = _task_file(path)
        name = task.get("task")
        if isinstance(name, str) and task.get("output_type", "generate_until") == "generate_until":
            config = _prompt_config(task)
            key = json.dumps(_without_words(config), sort_keys=True, default=str)
            groups[key].append(name)
            configs[key] = config
    types = [TaskType(tuple(names), configs[key]) for key, names in groups.items()]
    return sorted(types, key=lambda kind: -len(kind.tasks))


def _without_words(value: Any) -> Any:
    """A part of a configuration whose words are all the same, but for letters and placeholders."""
    if isinstance(value, str):
        words, *more = re.split(r"(\{\{.*?\}\}|\{%.*?%\})", value, flags=re.DOTALL)
        texts = [words, *more][::2]
        plain = [re.sub(r"\w{3,}(?: \w{3,})*", "word", text) for text in texts]
        return [*plain, *more[::2]]
    if isinstance(value, dict):
        return {key: _without_words(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_words(part) for part in value]
    return value


def _prompt_config(task: Mapping[str, Any]) -> dict[str, Any]:
    """What of a task's configuration its prompts depend on."""
    config = {key: task[key] for key in (*_FIELDS, *_DELIMITERS) if key in task}
    shots = task.get("fewshot_config") or {}
    config["fewshot_config"] = {k: shots[k] for k in (*_FIELDS, *_EXAMPLES) if k in shots}
    asked = task.get("test_split") or task.get("validation_split")
    examples = shots.get("split", task.get("fewshot_split"))
    # Examples may be other documents of those that are asked.
    config["fewshot_split"] = "test" if examples == asked else "train"
    if "samples" in config["fewshot_config"]:
        config["fewshot_split"] = None
    return config


class _Loader(yaml.CSafeLoader):
    folder = ""


def _function(loader: Any, node: Any) -> Function:
    return Function(loader.folder, str(loader.construct_scalar(node)))


_Loader.add_constructor("!function", _function)


@cache
def _task_file(path: Path) -> Mapping[str, Any]:
    """A task file over the files that it includes, as lm-eval's `load_yaml` joins them."""
    _Loader.folder = str(path.parent)
    content = yaml.load(path.read_bytes(), Loader=_Loader)
    included = content.pop("include", [])
    task: dict[str, Any] = {}
    for name in included if isinstance(included, list) else [included]:
        task |= _task_file(Path(normpath(path.parent / name)))
    return {**task, **content}


def loaded(value: Any) -> Any:
    """A part of a configuration with its functions imported."""
    if isinstance(value, Function):
        return value.load()
    if isinstance(value, dict):
        return {key: loaded(part) for key, part in value.items()}
    return [loaded(part) for part in value] if isinstance(value, list) else value


# ---- The prompts -----------------------------------------------------------------------------


class Columns(NamedTuple):
    """The columns that a template reads, and the places of the texts that its question reads."""

    spies: SpyDocument
    asked: set[tuple[str, ...]]

    def document(self, number: int) -> dict[str, Any]:
        made = MadeText(number)
        columns = {name: made.value(spy, (name,)) for name, spy in self.spies.items()}
        return columns | {"made_target": made.text(("answer",)), "made_number": number}

    def texts(self, document: Mapping[str, Any], question: str) -> list[str]:
        """The texts of a document that stand in its question."""
        compared = {text for spy in _all_spies(self.spies.values()) for text in spy.compared}
        texts = [text for place in sorted(self.asked) for text in texts_at(document, place)]
        parsed = [name for name, spy in self.spies.items() if spy.is_parsed]
        texts += [text for name in parsed for text in json.loads(document[name])]
        return [text for text in texts if is_in(text, question) and text not in compared]


def _all_spies(spies: Iterable[Spy]) -> Iterator[Spy]:
    for spy in spies:
        yield spy
        yield from _all_spies(spy.keys_read.values())
        yield from _all_spies([spy.element] if spy.element is not None else [])


def texts_at(value: Any, place: Sequence[str]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from texts_at(part, place[1:])
    elif isinstance(value, dict) and place and place[0] in value:
        yield from texts_at(value[place[0]], place[1:])


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)


@lru_cache(maxsize=10_000)
def words(text: str) -> str:
    return " ".join(text.split())


def is_in(part: str, whole: str) -> bool:
    return bool(part.strip()) and words(part) in words(whole)


def columns_of(config: Mapping[str, Any]) -> Columns:
    """The columns of a loaded configuration; raises what the function of its question raises."""
    spies = SpyDocument()
    _read(config["doc_to_text"], spies)
    for spy in list(_all_spies(spies.values())):
        for text in sorted(spy.compared)[:6]:
            spy.acts_as = text
            _read(config["doc_to_text"], spies)
        spy.acts_as = None
    asked = spies.leaves()
    examples = config["fewshot_config"]
    for part in (config, examples):
        for field in _FIELDS[:-1]:
            with suppress(Exception):  # lm-eval's own rendering shows what is missing
                _read(part.get(field), spies, bare=field.startswith("doc_to"))
    return Columns(spies, asked)


def _read(field: Any, spies: SpyDocument, *, bare: bool = True) -> None:
    if callable(field):
        field(spies)
    elif isinstance(field, str) and bare and field.isidentifier():
        spies[field]  # the name of a column
    elif isinstance(field, str):
        from lm_eval.utils import env

        names = _names_in(field)
        env.from_string(field).render(**{name: spies[name] for name in names})


@cache
def _names_in(template: str) -> set[str]:
    from jinja2 import meta
    from lm_eval.utils import env

    return meta.find_undeclared_variables(env.parse(template))


class _Rows(list[dict[str, Any]]):
    @property
    def features(self) -> dict[str, Any]:
        return dict.fromkeys(self[0])


class _Splits(dict[str, _Rows]):
    def __missing__(self, split: str) -> _Rows:
        return self["test"]


class Prompts:
    """A task of lm-eval over made documents."""

    def __init__(self, config: Mapping[str, Any], columns: Columns) -> None:
        from lm_eval.api.task import ConfigurableTask

        examples = [columns.document(DOCUMENTS + i) for i in range(SHOTS + 2)]
        self.documents = [columns.document(i) for i in range(DOCUMENTS)]
        splits = _Splits(test=_Rows(self.documents), train=_Rows(examples))

        def download(task: Any, *_: Any, **__: Any) -> None:
            task.dataset = splits

        base = config.get("class", ConfigurableTask)
        kind = type("MadeTask", (base,), {"download": download})
        known = {key: value for key, value in config.items() if key != "class"}
        splits_used = {"training_split": "train", "test_split": "test"}
        self.task = kind(config={**known, **splits_used, "task": "made", "metric_list": []})
        self.task.set_fewshot_seed(1234)
        self.shots: Sequence[Mapping[str, Any]] = ()
        self._sample = self.task.sampler.sample
        self.task.sampler.sample = self._noted

    def _noted(self, n: int, **options: Any) -> Sequence[Mapping[str, Any]]:
        n = min(n, len(self.task.sampler.fewshot_docs()))
        self.shots = self._sample(n=n, **options)
        return self.shots

    def question(self, document: Mapping[str, Any]) -> str:
        return str(self.task.doc_to_text(document))

    def prompt(self, document: Mapping[str, Any], setting: Setting) -> Any:
        """`arg_0` of a request, and in `shots` the documents of its examples."""
        self.shots = ()
        return self.task.fewshot_context(
            document,
            num_fewshot=setting.shots,
            system_instruction=SYSTEM if setting.chat else None,
            apply_chat_template=bool(setting.chat),
            fewshot_as_multiturn=setting.turns,
            chat_template={"json": as_json, "ChatML": as_chatml}.get(setting.chat),
            gen_prefix=self.task.doc_to_prefix(document),
        )


def as_json(messages: Any, *, add_generation_prompt: bool) -> list[str]:
    """What `JsonChatStr` of lm-eval's API models is in a samples file."""
    return [json.dumps(messages, ensure_ascii=False)]


def as_chatml(messages: Any, *, add_generation_prompt: bool) -> str:
    text = "".join(f"{MARK}{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
    if add_generation_prompt:
        return f"{text}{MARK}assistant\n"
    return text.removesuffix("<|im_end|>\n")


# ---- The files -------------------------------------------------------------------------------


class Case(NamedTuple):
    """What holds of one prompt: the question, its texts, and texts that belong to no question."""

    question: str
    texts: list[str]
    foreign: list[str]
    prompt: str


class Run(NamedTuple):
    """One type of task in one setting, and its folder of lm-eval's files."""

    label: str
    tasks: int
    setting: str
    folder: str
    cases: list[Case]


class Skipped(NamedTuple):
    """A type that lm-eval did not render here, and why."""

    label: str
    tasks: int
    reason: str


def written(folder: Path, types: Iterable[TaskType]) -> tuple[list[Run], list[Skipped]]:
    """Write the runs of each type below a folder."""
    runs: list[Run] = []
    skipped = []
    for number, kind in enumerate(types):
        chosen = [[*SETTINGS][(number + turn) % len(SETTINGS)] for turn in (0, 3)]
        try:
            with in_time(120):
                runs += _runs(kind, folder / str(number), chosen)
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {words(str(error))[:150]}"
            skipped.append(Skipped(kind.label, len(kind.tasks), reason))
    return runs, skipped


def _runs(kind: TaskType, folder: Path, settings: Sequence[str]) -> list[Run]:
    config = loaded(dict(kind.config))
    if "class" in config:
        bare = config["class"].__new__(config["class"])
        methods = ("doc_to_text", "doc_to_target")
        config |= {name: getattr(bare, name) for name in methods}
    columns = columns_of(config)
    try:
        return _in_settings(settings, kind, Prompts(config, columns), columns, folder)
    except (Exception, SystemExit):
        # Only examples show a target: one that no made document fits is replaced.
        config |= {"doc_to_target": "made_target", "doc_to_choice": None}
        for key in ("doc_to_target", "doc_to_choice"):
            config["fewshot_config"].pop(key, None)
        return _in_settings(settings, kind, Prompts(config, columns), columns, folder)


def _in_settings(
    settings: Sequence[str], kind: TaskType, prompts: Prompts, columns: Columns, folder: Path
) -> list[Run]:
    runs = []
    for name in settings:
        setting = SETTINGS[name]
        place = folder / re.sub(r"\W+", "_", name)
        rows, cases = [], []
        for number, document in enumerate(prompts.documents):
            prompt = prompts.prompt(document, setting)
            target = str(prompts.task.doc_to_target(document))
            answer = f"I think it is {number}."
            rows.append(
                {
                    "doc": document,
                    "target": target,
                    "prompt": prompt,
                    "answer": answer,
                    "native": 0.0,
                }
            )
            cases.append(_case(document, prompt, prompts, columns))
        task = kind.tasks[0]
        summary = _summary(task, prompts.task, setting)
        write_lm_eval_run(place, "org/made", rows, task=task, summary=summary)
        runs.append(Run(kind.label, len(kind.tasks), name, str(place), cases))
    return runs


def _case(document: Mapping[str, Any], prompt: Any, prompts: Prompts, columns: Columns) -> Case:
    question = prompts.question(document)
    sent = prompt if isinstance(prompt, str) else "\n".join(texts_in(json.loads(prompt[0])))
    shown = question + (prompts.task.doc_to_prefix(document) or "")
    description = prompts.task.resolve_field(document, prompts.task.config.description) or ""
    others = [SYSTEM, description, *(text for shot in prompts.shots for text in texts_in(shot))]
    foreign = [text for text in others if is_in(text, sent) and not is_in(text, shown)]
    return Case(question, columns.texts(document, question), [*foreign, MARK], sent)


def _summary(task: str, made: Any, setting: Setting) -> dict[str, Any]:
    from lm_eval.utils import handle_non_serializable

    config = {**made.dump_config(), "task": task, "num_fewshot": setting.shots}
    chatml = "{% for message in messages %}{{'<|im_start|>' + message['role'] …"
    return {
        "group_subtasks": {task: []},
        "configs": {task: json.loads(json.dumps(config, default=handle_non_serializable))},
        "versions": {task: 1.0},
        "n-shot": {task: setting.shots},
        "higher_is_better": {task: {"exact_match": True}},
        "n-samples": {task: {"original": DOCUMENTS, "effective": DOCUMENTS}},
        "system_instruction": SYSTEM if setting.chat else None,
        "fewshot_as_multiturn": setting.turns,
        "chat_template": {"ChatML": chatml, "json": ""}.get(setting.chat),
        "lm_eval_version": "0.4.13",
    }


@contextmanager
def in_time(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> NoReturn:
        raise TimeoutError(f"took more than {seconds} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def render(folder: Path) -> tuple[list[Run], list[Skipped]]:
    """`written` by a process of its own, which has no network and may import what it likes."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
    run("python", "-m", MODULE, str(folder), cwd=ROOT, code=0, **offline)
    runs, skipped = json.loads((folder / "runs.json").read_text(encoding="utf-8"))
    return (
        [Run(*run)._replace(cases=[Case(*case) for case in run[-1]]) for run in runs],
        [Skipped(*entry) for entry in skipped],
    )


_MISSING = (
    *("transformers", "transformers.data", "transformers.data.metrics", "bert_score", "radgraph"),
    *("sympy", "sympy.parsing", "sympy.parsing.latex", "math_verify", "rouge_score", "antlr4"),
    *("transformers.data.metrics.squad_metrics", "bleurt"),
)


def _stand_ins() -> None:
    """What tasks import for their scores is not installed, or asks the network for metrics."""
    import ast
    import importlib.metadata
    from unittest.mock import MagicMock

    absent = [name for name in _MISSING if find_spec(name.partition(".")[0]) is None]
    sys.modules.update({name: MagicMock(__version__="9.9") for name in absent})
    version = importlib.metadata.version

    def any_version(distribution_name: str) -> str:
        return "4.11" if distribution_name.startswith("antlr4") else version(distribution_name)

    importlib.metadata.version = any_version
    sys.modules["evaluate"] = MagicMock()
    for module, name in ((json, "loads"), (ast, "literal_eval")):
        setattr(module, name, _noting(getattr(module, name)))


def _noting(parse: Callable[..., Any]) -> Callable[..., Any]:
    def noted(text: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(text, Spy):
            text.is_parsed = True
            return parse(str(text))
        return parse(text, *rest, **options)

    return noted


def write_all(folder: Path) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise OSError("no network in this test")

    socket.socket.connect = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = refuse
    from lm_eval import utils

    _stand_ins()
    utils.env.from_string = lru_cache(maxsize=None)(utils.env.from_string)
    kept = json.dumps(written(folder, task_types()))
    (folder / "runs.json").write_text(kept, encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
