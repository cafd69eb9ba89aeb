"""The folder of a study and the files in it.

    study.yaml      the design, with the versions it was run by
    plans.json      each confirmed judging, with its log once that is finished
    answers/        a folder for each benchmark, and in it one for each named model
    ranking/        a folder for each benchmark, and in it one for each protocol
    report/         the page

A folder has one study: models can be added and the budget changed; all else makes it another.
"""

import json
import math
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout
from inspect_ai.log import list_eval_logs, read_eval_log
from pydantic import BaseModel, ConfigDict, TypeAdapter

import tiebreak
from tiebreak.paths import whole_file
from tiebreak.plain_yaml import yaml_text
from tiebreak.study import StudyError
from tiebreak.study.design import ModelChoice, Protocol, Study, read_study
from tiebreak.study.tasks import TaskRun, drawn

_DESIGN: Final = "study.yaml"
_PLANS: Final = "plans.json"
_MAY_CHANGE: Final = frozenset(
    {"title", "models", "budget", "calls", "prices", "price_file", "publish", "made_with"}
)


class Judging(BaseModel):
    """One run of a judging task, as planned.

    `place` is its folder in `ranking/`. `candidates` are the logs of `models`. With `newcomers`,
    only their matches are asked, over `rounds` if that is fewer than the others played. `n_items`
    items are judged (None: all): a random sample, or the first ones if answers were `drawn` at
    random; or those of `sample_ids`. `share` limits all judging at its place, in US dollars or
    calls, infinite without a limit; `limits` is the unspent part as arguments of the task.
    `attempt` counts how often its place was replanned. `log` is the finished log.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: str
    label: str
    args: dict[str, Any]
    candidates: tuple[str, ...]
    models: tuple[str, ...]
    newcomers: tuple[str, ...] = ()
    rounds: int | None = None
    n_items: int | None = None
    drawn: bool = False
    sample_ids: tuple[str, ...] = ()
    share: float = math.inf
    limits: dict[str, float] = {}
    attempt: int = 0
    log: str | None = None

    @property
    def folder(self) -> str:
        """The folder of its logs in `ranking/`.

        Each attempt has its own: given equal arguments, Inspect would take logs of an earlier plan
        for those of this one, although models or budget changed.
        """
        return f"{self.place}/{self.attempt}" if self.attempt else self.place

    @property
    def rounds_to_join(self) -> int:
        """The number of opponents of a newcomer on an item, by default as many as the others had.

        With an odd number of models one sits out in each round. A plan can have fewer (`rounds`).
        """
        if self.rounds is not None:
            return self.rounds
        rounds: int = Protocol(label=self.label).variant.settings.get("rounds", 1)
        members = len(self.models) - len(self.newcomers)
        return max(1, round(rounds * (1 - (members % 2) / members)))

    def task(self, study: Study, log_dir: Path) -> TaskRun:
        """The task that does the planned judging."""
        name, _, _ = self.label.rpartition("@")
        protocol = Protocol(label=self.label)
        task, settings = protocol.variant.protocol.name, dict(protocol.variant.settings)
        if self.newcomers:
            settings |= {"newcomers": list(self.newcomers), "rounds": self.rounds_to_join}
        if name:
            task, settings = "own", {"protocol": f"{name}@{task}", "settings": settings}
        common = {"candidates": list(self.candidates), "seed": study.seed}
        arguments = {**common, **self.args, **self.limits, **settings}
        roles: dict[str, tuple[ModelChoice, ...]] = {}
        if protocol.rule.reviewed:
            roles["peers"] = study.peers
        elif protocol.rule.asks_judge:
            roles["judge"] = study.judges
            roles |= {"meta_judge": (study.meta_judge,)} if study.meta_judge else {}
        items: dict[str, Any] = {}
        if self.sample_ids:
            items = {"sample_id": list(self.sample_ids)}
        elif self.n_items is not None:
            by_lot = drawn(study.seed, self.n_items)
            items = {"limit": self.n_items} if self.drawn else by_lot
        options = {"model": None, "model_roles": roles, **items}
        return TaskRun(f"tiebreak/{task}", log_dir, arguments, options)


_JUDGINGS: Final = TypeAdapter(tuple[Judging, ...])


@dataclass(frozen=True)
class StudyFolder:
    """The folder of a study, with methods to read and write its files."""

    path: Path

    def ranking(self, folder: str) -> Path:
        """The path of the logs of a judging, or of all attempts at a place."""
        return self.path / "ranking" / folder

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock out other processes. A new folder is removed if nothing was written to its folders.

        Raises:
            StudyError: another process runs this study.
        """
        new = not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.path / ".lock", timeout=0):
                try:
                    yield
                finally:
                    # Inspect writes a dot file with the id of a set before any log; skip it.
                    files = (path for path in self.path.glob("*/**/[!.]*") if path.is_file())
                    if new and not any(files):
                        shutil.rmtree(self.path, ignore_errors=True)
        except Timeout:
            raise StudyError(
                f"Another process runs the study in {self.path}: wait for its end."
            ) from None

    def require_same(self, study: Study) -> None:
        """Refuse a study if the folder has logs of another one.

        Raises:
            StudyError: the folder has another study; the message says what differs.
        """
        design = self.path / _DESIGN
        if not design.exists() or not list_eval_logs(str(self.path)):
            return
        kept = read_study(design)
        elsewhere = "give this one another folder, --out FOLDER"
        for name in Study.model_fields:
            if name not in _MAY_CHANGE and getattr(kept, name) != getattr(study, name):
                raise StudyError(
                    f"{self.path} holds another study, with other {name}: {elsewhere}."
                )
        models = {model.shown: model for model in study.models}
        for model in kept.models:
            if models.get(model.shown) != model:
                raise StudyError(
                    f"{self.path} holds a study in which {model.shown} is a model, too: name it "
                    f"as there, or {elsewhere}."
                )

    def keep(self, study: Study) -> None:
        """Write the design, with the versions of Tiebreak, Inspect and Python that run it."""
        made_with = {
            "tiebreak": tiebreak.__version__,
            "inspect_ai": version("inspect_ai"),
            "python": platform.python_version(),
        }
        data = study.model_copy(update={"made_with": made_with}).model_dump(
            mode="json", exclude_defaults=True
        )
        with whole_file(self.path / _DESIGN) as draft:
            draft.write_text(yaml_text(data), encoding="utf-8")

    def plans(self) -> tuple[Judging, ...]:
        """Read the confirmed judgings.

        Raises:
            StudyError: the file is damaged.
        """
        path = self.path / _PLANS
        if not path.exists():
            return ()
        try:
            return _JUDGINGS.validate_json(path.read_bytes())
        except ValueError as error:
            raise StudyError(
                f"{path} cannot be read: take it away, and judging is planned anew; what "
                "was paid for is in Inspect's cache"
            ) from error

    def keep_plans(self, plans: tuple[Judging, ...]) -> None:
        """Write the confirmed judgings."""
        data = [plan.model_dump(mode="json", exclude_defaults=True) for plan in plans]
        with whole_file(self.path / _PLANS) as draft:
            draft.write_text(json.dumps(data, indent=1), encoding="utf-8")

    def paid(self, place: str) -> tuple[int, float]:
        """Calls and US dollars paid by the finished judgings of a place that had a budget."""
        calls, cost = 0, 0.0
        for info in list_eval_logs(str(self.ranking(place))):
            results = read_eval_log(info, header_only=True).results
            if results and results.early_stopping:
                paid: Any = results.early_stopping.metadata.get("paid") or {}
                calls, cost = calls + paid.get("calls", 0), cost + paid.get("cost", 0.0)
        return calls, cost
