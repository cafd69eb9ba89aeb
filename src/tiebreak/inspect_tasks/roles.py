"""The models that judge: those behind Inspect's roles `judge` and `meta_judge`, or `peers`.

Roles are bound when an eval runs, so a task built in Python cannot look them up earlier: a task
gets a function that finds them, given the names of the candidates.
"""

import difflib
import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from logging import getLogger
from typing import Final

import click
from inspect_ai.model import Model, get_model, get_model_info, model_roles
from rich.errors import MarkupError
from rich.text import Text

from tiebreak.candidates import namesakes
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers import RankingError
from tiebreak.rankers.expander import review_graph
from tiebreak.scorers.ballots import Reviewer
from tiebreak.scorers.budget import UnknownPriceError
from tiebreak.scorers.judge import ONE_JUDGE, Jury
from tiebreak.scorers.rules import PlacementRule
from tiebreak.text import count

logger = getLogger(__name__)

NO_JUDGE: Final = (
    "No judge: nothing says which model is to judge. Add --model-role judge=MODEL, for example\n"
    "  --model-role judge=openai/gpt-5\n"
    "and, for a meta-judge of its own, --model-role meta_judge=MODEL."
)
NO_PEERS: Final = (
    "No reviewers: nothing says which models are to review each other. Add --model-role peers=…, "
    "for example\n"
    "  --model-role peers=openai/gpt-5,anthropic/claude-opus-4-5"
)
CONTESTANTS: Final = "contestants"
"""The role of the models that answer in an arena."""

NO_CONTESTANTS: Final = (
    "No contestants: nothing says which models are to answer. Add --model-role contestants=…, for "
    "example\n"
    "  --model-role 'contestants=[openai/gpt-5-mini, anthropic/claude-haiku-4-5]'\n"
    "In Python roles are arguments of inspect_ai.eval."
)
NO_BATCH: Final = (
    "--batch is for the judge alone: %s is asked directly. Add it to the role: "
    "--model-role '%s={model: %s, batch: true}'"
)
HOW_TO_JURY: Final = "Name them: --model-role 'judge=[openai/gpt-5, google/gemini-3-pro]'"
HOW_TO_MATCH: Final = (
    "Say which reviewer is which candidate with\n"
    '  -T reviewers=\'{"openai/gpt-5": "gpt-5", "openai/o3": null}\'   (null: not a candidate)\n'
    "or with a list of candidates in the order of the peers; in an estimate it is --reviewers."
)


@dataclass(frozen=True)
class Roles:
    """The models that answer questions: one for each role, and each of several by its name."""

    models: Mapping[str, Model]
    reviewers: tuple[Reviewer, ...] = ()
    jury: Jury = ONE_JUDGE

    @property
    def task_model(self) -> Model:
        """The model whose connections limit how many items are judged side by side.

        A single judge is the task's own model, so that model options on the command line (--batch,
        --temperature) apply to it. Of several judges or reviewers it is a copy of the one with most
        connections, because Inspect would apply those options to that one alone.
        """
        if self.jury.alone and "judge" in self.models:
            return self.models["judge"]
        # Batches accept any number of calls at once.
        return copy(
            max(
                self.models.values(),
                key=lambda model: (bool(model.config.batch), model.config.max_connections or 0),
            )
        )


FindRoles = Callable[[Sequence[str]], Roles]
"""Finds the models that judge, given the names of the candidates."""


def judges(candidates: Sequence[str]) -> Roles:
    """The models behind the roles `judge`, of which there may be several, and `meta_judge`.

    The judge defaults to the task's own model, the meta-judge to the judge. Questions for a single
    judge (seeding, a list) go to the first of several.

    Raises:
        PrerequisiteError: there is no judge, one of them twice, or several meta-judges.
        ValueError: no eval is running.
    """
    roles = model_roles()
    if isinstance(roles.get("meta_judge"), list):
        raise PrerequisiteError("The role 'meta_judge' takes one model, not a list of them.")
    judge = get_model(role="judge")
    if judge.api.model_name == "none":
        raise PrerequisiteError(NO_JUDGE + _unknown_roles(roles))
    # With `default=` it would be a copy, which Inspect does not recognise as the task's model.
    meta_judge = get_model(role="meta_judge") if "meta_judge" in roles else judge
    models = {"judge": judge, "meta_judge": meta_judge}
    bound = roles.get("judge")
    if not isinstance(bound, list) or len(bound) == 1:
        return Roles(models)
    by_name = _all_different(bound, "The jury")
    return Roles(models | by_name, jury=Jury(tuple(by_name)))


def contestants() -> dict[str, Model]:
    """The models behind the role `contestants` by name, in the given order.

    Raises:
        PrerequisiteError: there is none, or one of them occurs twice.
    """
    bound = model_roles().get(CONTESTANTS) or []
    models = bound if isinstance(bound, list) else [bound]
    if not models:
        raise PrerequisiteError(NO_CONTESTANTS + _unknown_roles(model_roles()))
    return _all_different(models, f"The role {CONTESTANTS!r}")


def _all_different(bound: Sequence[Model], role: str) -> dict[str, Model]:
    """Models by unique names; refuse a model that occurs twice."""
    same = [(str(model), model.config, model.model_args) for model in bound]
    if twice := next((key for number, key in enumerate(same) if key in same[:number]), None):
        raise PrerequisiteError(
            f"{role} has {twice[0]} twice: it would repeat itself, since replies come from the "
            "cache. Name other models, or give them another configuration."
        )
    named = _named([str(model) for model in bound], [None] * len(bound))
    return {reviewer.name: model for reviewer, model in zip(named, bound, strict=True)}


def _unknown_roles(roles: Collection[str]) -> str:
    """Hint for roles that judging does not know, probably misspelt; empty if there are none."""
    known = ("judge", "meta_judge", "peers", CONTESTANTS)
    strays = [repr(name) for name in roles if name not in known]
    given = f"Given was {', '.join(strays)}, which no question goes to: spell the role as above."
    return f"\n{given}" if strays else ""


def as_jury(find: FindRoles, mode: str, quorum: int | None, rule: PlacementRule) -> FindRoles:
    """Wrap `find` so that several judges form a jury as the arguments `jury` and `quorum` say.

    The returned function raises PrerequisiteError if the arguments do not fit the number of judges,
    or the protocol does not accept several judges.
    """

    def find_jury(candidates: Sequence[str]) -> Roles:
        roles = find(candidates)
        names = roles.jury.names
        if roles.jury.alone:
            if mode == "rotate" or (quorum or 1) > 1:
                given = "jury=rotate" if mode == "rotate" else f"quorum={quorum}"
                raise PrerequisiteError(f"{given} is for several judges. {HOW_TO_JURY}")
            return roles
        if rule.asks == "list":
            raise PrerequisiteError(
                f"One judge ranks all answers in a list, and {len(names)} are bound. Name one, or "
                "let several rank and merge their rankings: tiebreak/peer_review --model-role "
                f"'peers=[{', '.join(names)}]'"
            )
        if quorum is not None and (mode == "rotate" or quorum > len(names)):
            judges = count(1 if mode == "rotate" else len(names), "judge")
            raise PrerequisiteError(f"quorum is {quorum}, and a match has {judges}.")
        if mode == "rotate":
            return replace(roles, jury=Jury(names, rotate=True))
        return replace(roles, jury=Jury(names, quorum=quorum or len(names) // 2 + 1))

    return find_jury


def peers(given: object = None, degree: int | None = None) -> FindRoles:
    """A function that finds the models behind the role `peers`, as reviewers.

    It raises PrerequisiteError if no model is bound to the role, only one, or not those that
    `given` names, and if the reviewers are too few to link all candidates with `degree` answers
    each (the sparse mode).

    `given` is the task argument `reviewers`: a mapping from the models' names to candidates, or a
    list of candidates in the order of the peers, in which None means that a reviewer is no
    candidate. Reviewers that it omits are matched by name.
    """

    def find(candidates: Sequence[str]) -> Roles:
        bound = model_roles().get("peers")
        if bound is None:
            # Outside of an eval there are no roles, and this raises ValueError.
            get_model(role="judge")
            raise PrerequisiteError(NO_PEERS + _unknown_roles(model_roles()))
        models = bound if isinstance(bound, list) else [bound]
        reviewers = match_reviewers([str(model) for model in models], candidates, given)
        require_panel([str(model) for model in models])
        if degree is not None:
            require_graph(reviewers, list(candidates), degree)
        named = zip(reviewers, models, strict=True)
        return Roles({reviewer.name: model for reviewer, model in named}, reviewers)

    return find


def require_roles(find: FindRoles, candidates: Sequence[str], *, priced: bool) -> Roles | None:
    """Return the roles of the running eval; refuse them if a model to judge is missing.

    Outside of an eval it is None: a task built in Python gets its roles later, from `eval()`. With
    `priced` the prices of all judging models must be known.

    Raises:
        PrerequisiteError: a role is not bound correctly, a price is unknown, or a name would make
            Inspect's displays fail.
    """
    try:
        roles = find(candidates)
    except ValueError:
        return None
    for name in map(str, roles.models.values()):
        _require_a_name_for_displays(name)
    for model in roles.models.values() if priced else ():
        info = get_model_info(model)
        if info is None or info.cost is None:
            raise PrerequisiteError(str(UnknownPriceError(str(model))))
    # Inspect does not tell a task the eval's options; click knows the command line.
    command = click.get_current_context(silent=True)
    if command and command.params.get("batch"):
        for model in {id(m): m for m in roles.models.values() if not m.config.batch}.values():
            if model is not roles.task_model:
                logger.warning(NO_BATCH, model, model.role, model)
    return roles


def _require_a_name_for_displays(name: str) -> None:
    """Refuse a model name that would crash Inspect's displays after judging has begun."""
    try:
        Text.from_markup(name)
    except MarkupError:
        readable = False
    else:
        readable = name.isprintable()
    if not readable:
        raise PrerequisiteError(
            f"Inspect's displays read the model's name {name!r} as markup or control characters, "
            "and fail: serve the model under another name."
        )


def match_reviewers(
    models: Sequence[str], candidates: Sequence[str], given: object = None
) -> tuple[Reviewer, ...]:
    """Match reviewers with candidates.

    By name: they are equal, or equal without the part before a slash (a candidate from lm-eval may
    be called gpt-5, and the reviewer openai/gpt-5). `given` is as for `peers`.

    Raises:
        PrerequisiteError: `given` has another form or contains unknown names, several candidates
            match a name, or two reviewers would be the same candidate.
    """
    assigned = _assigned(models, given)
    matched: list[str | None] = []
    for number, model in enumerate(models):
        candidate = assigned[number] if number in assigned else _by_name(model, candidates)
        if candidate is not None and candidate not in candidates:
            near = difflib.get_close_matches(candidate, candidates, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise PrerequisiteError(
                f"reviewers: there is no candidate {candidate!r}.{hint} "
                f"There are: {', '.join(candidates)}."
            )
        matched.append(candidate)
    for candidate, times in Counter(matched).items():
        if candidate is not None and times > 1:
            raise PrerequisiteError(
                f"{times} reviewers would be the candidate {candidate!r}. {HOW_TO_MATCH}"
            )
    return _named(models, matched)


def require_panel(models: Sequence[str]) -> None:
    """Raise a PrerequisiteError for a panel of one, which has no peers to weigh its ballots."""
    if len(models) == 1:
        [model] = models
        raise PrerequisiteError(
            f"A panel of one reviewer is not peer review, and {model} is alone. Name at least two: "
            f"--model-role peers={model},MODEL (in an estimate --peers {model},MODEL). "
            "One model that ranks all answers by itself is tiebreak/listwise, with "
            f"--model-role judge={model}"
        )


def require_readable(method: str, degree: int | None) -> None:
    """Raise a PrerequisiteError for a method that cannot use the ballots of the sparse mode."""
    if method == "kendall" and degree is not None:
        raise PrerequisiteError("kendall reads complete rankings only, which degree rules out.")


def require_graph(reviewers: Sequence[Reviewer], candidates: Sequence[str], degree: int) -> None:
    """Refuse a sparse mode in which the reviewers cannot link all candidates.

    Raises:
        PrerequisiteError: the message says why, and which degree would work.
    """
    columns = [
        candidates.index(reviewer.candidate) if reviewer.candidate else None
        for reviewer in reviewers
    ]
    try:
        review_graph(len(candidates), degree, columns, random.Random(0))
    except RankingError as error:
        raise PrerequisiteError(f"degree is {degree}: {error}.") from error


def _assigned(models: Sequence[str], given: object) -> dict[int, str | None]:
    if given is None:
        return {}
    if isinstance(given, str):  # a single name on the command line is a text, not a list
        given = [given]
    if isinstance(given, list):
        if len(given) != len(models):
            raise PrerequisiteError(
                f"reviewers names {len(given)} candidates for {len(models)} peers. {HOW_TO_MATCH}"
            )
        return {number: None if c is None else str(c) for number, c in enumerate(given)}
    if not isinstance(given, Mapping):
        raise PrerequisiteError(f"reviewers is {given!r}. {HOW_TO_MATCH}")
    assigned = {}
    for name, candidate in given.items():
        numbers = [number for number, model in enumerate(models) if model == name]
        if len(numbers) != 1:
            raise PrerequisiteError(
                f"reviewers: {len(numbers)} of the peers are called {name!r}. "
                f"The peers: {', '.join(models)}. {HOW_TO_MATCH}"
            )
        assigned[numbers[0]] = None if candidate is None else str(candidate)
    return assigned


def _by_name(model: str, candidates: Sequence[str]) -> str | None:
    fits = namesakes(model, candidates)
    if len(fits) > 1:
        raise PrerequisiteError(
            f"The reviewer {model} could be {' or '.join(fits)}. {HOW_TO_MATCH}"
        )
    return fits[0] if fits else None


def _named(models: Sequence[str], candidates: Sequence[str | None]) -> tuple[Reviewer, ...]:
    """Reviewers with unique names: a model that is bound twice gets a number."""
    taken = Counter(candidate for candidate in candidates if candidate is not None)
    reviewers = []
    for model, candidate in zip(models, candidates, strict=True):
        name = candidate or model
        if candidate is None:
            taken[model] += 1
            name = model if taken[model] == 1 else f"{model} ({taken[model]})"
        reviewers.append(Reviewer(name=name, model=model, candidate=candidate))
    return tuple(reviewers)
