"""Replies of judges: the JSON schema that is asked for, and the validation of what came back.

Every kind of question has its schema (for providers that can enforce one) and a parser that accepts
only a complete and valid reply. A parser raises `ReplyError`; it never fills a gap. The error never
quotes the judge's text, which would come back to the judge as if it were ours.

Votes and grades come as lists in the order of the ids in the question, which takes a third fewer
tokens than an object for each. A list of the wrong length is invalid. Places and tiers keep their
labels, because a reply may have many and a reviewer may leave some out.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated, Any, Final, Literal, Self, TypeVar, get_args

from inspect_ai.model import ResponseSchema
from inspect_ai.util import JSONSchema
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator
from typing_extensions import override

from tiebreak.errors import TiebreakError
from tiebreak.scorers.ballots import AnchorSplit, Criterion, Vote
from tiebreak.scorers.rubric import TOP_GRADE, Rubric

_M = TypeVar("_M")

_LONGEST_LINE: Final = 400
"""Maximum characters of a sentence that a model adds to later prompts."""


ALL_STARS: Final = (0, 1, 2, 3)
RATING: Final = "Overall Rating"


class ReplyError(TiebreakError, ValueError):
    """A judge's reply does not have the form that was asked for; the message says what is wrong."""


class PairReply(BaseModel):
    """Votes of a pairwise judge, complete over the ids that were asked about."""

    model_config = ConfigDict(frozen=True)
    principles: dict[str, Vote] = Field(default_factory=dict)
    checklist: dict[str, Vote] = Field(default_factory=dict)


class CritiqueReply(BaseModel):
    """The distinguishing features of each of two responses."""

    model_config = ConfigDict(frozen=True)
    left: str
    right: str


class RefineReply(BaseModel):
    """A proposed checklist item with its anchor split and demonstration pair.

    The split names two neighbouring levels of a five-level scale as a single value, so that no
    reply can name levels that are not neighbours.
    """

    model_config = ConfigDict(frozen=True)
    principle_id: str
    description: str = Field(min_length=1, max_length=_LONGEST_LINE)
    differentiator: str
    anchor_split: AnchorSplit
    higher_snippet: str
    lower_snippet: str

    @field_validator("description", mode="before")
    @classmethod
    def _one_line(cls, value: object) -> object:
        # It becomes one line of the checklist; line breaks would let it add further items.
        return " ".join(value.split()) if isinstance(value, str) else value


_Line = Annotated[str, Field(max_length=_LONGEST_LINE, pattern=r"\S")]


class _Proposed(BaseModel, frozen=True):
    name: _Line
    description: _Line
    weight: float = Field(gt=0, le=1_000, allow_inf_nan=False)
    checklist: list[_Line] = Field(min_length=1, max_length=5)


class _Proposal(BaseModel, frozen=True):
    principles: list[_Proposed] = Field(min_length=2, max_length=8)


def parse_proposal(text: str) -> Rubric:
    """Read a rubric that a model wrote; assign its ids, and scale its weights to sum to 1."""
    principles = _validate(_Proposal, _json_object(text)).principles
    total = sum(principle.weight for principle in principles)
    # A rubric's weights must be above 0.
    weights = [max(0.01, round(principle.weight / total, 2)) for principle in principles]
    # Rounding may leave a remainder, which goes to the largest weight.
    weights[weights.index(max(weights))] += 1 - sum(weights)
    items = [(f"P{n}", item) for n, p in enumerate(principles, 1) for item in p.checklist]
    written = {
        "principles": [
            {**p.model_dump(exclude={"checklist"}), "id": f"P{n}", "weight": round(weight, 2)}
            for n, (p, weight) in enumerate(zip(principles, weights, strict=True), 1)
        ],
        "checklist": [
            {"id": f"C{n}", "principle": principle, "description": item}
            for n, (principle, item) in enumerate(items, 1)
        ],
    }
    return _validate(Rubric, {"version": 1, "task_type": "own", **written})


def parse_levels(text: str, part: str, labels: Sequence[str], k: int) -> dict[str, int]:
    """Read a whole number from 1 to k for each label: its tier or its place."""
    levels = _object(_json_object(text).get(part), part)
    _require(part, levels, labels)
    return {label: _whole_number(levels[label], f"{part} {label}", 1, k) for label in labels}


def parse_places(text: str, labels: Sequence[str]) -> dict[str, int]:
    """Read a place for each label that the reply names, at least two.

    A label that the reply leaves out has no place; an unknown or repeated label is an error.
    """
    places = _object(_json_object(text).get("places"), "places")
    if any(label not in labels for label in places):
        raise ReplyError(f"places names a response that is none of {', '.join(labels)}")
    if len(places) < 2:
        raise ReplyError("places must give at least two responses a place")
    return {
        label: _whole_number(place, f"places {label}", 1, len(labels))
        for label, place in places.items()
    }


def parse_grades(text: str, principle_ids: Sequence[str]) -> dict[str, int]:
    """Read a grade from 0 to `TOP_GRADE` for each principle."""
    graded = _rows(_json_object(text), "the reply", principle_ids, "grade")
    return {p: _whole_number(row["grade"], f"{p} grade", 0, TOP_GRADE) for p, row in graded.items()}


def parse_stars(text: str, allowed: Sequence[int] = ALL_STARS) -> tuple[int, str]:
    """Read stars and the reason, as JSON or in the lines that the paper's prompt asks for."""
    if plain := _PLAIN_STARS.fullmatch(text.strip()):
        stars, reason = int(plain[1]), plain[2].strip()
    else:
        reply = _json_object(text)
        _require("the reply", reply, (RATING, "reason"))
        stars, reason = _whole_number(reply[RATING], RATING, 0, 3), reply["reason"]
    if not isinstance(reason, str):
        raise ReplyError("reason must be a text")
    if stars not in allowed:
        correct = "correct" if max(allowed) == 3 else "wrong"
        raise ReplyError(
            f"{RATING} is {stars}, and the answer is known to be {correct}: it can only be "
            f"{' or '.join(map(str, allowed))}"
        )
    return stars, reason


def parse_rubric(text: str, principle_ids: Sequence[str]) -> tuple[Criterion, ...]:
    """Read the definition of full, half and no marks for every principle."""
    reply = _json_object(text)
    _require("the rubric", reply, principle_ids)
    levels = {p: _object(reply[p], p) for p in principle_ids}
    return tuple(
        Criterion(
            principle_id=p, **{name: _line(level.get(name), f"{p} {name}") for name in _LEVELS}
        )
        for p, level in levels.items()
    )


def parse_votes(text: str, principle_ids: Sequence[str], checklist_ids: Sequence[str]) -> PairReply:
    """Read votes for the given ids; anything else in the reply is ignored."""
    reply = _json_object(text)
    votes = {}
    for part, ids in _asked(principle_ids, checklist_ids).items():
        rows = _rows(_object(reply.get(part), part), part, ids, *_VOTE_FIELDS)
        votes[part] = {i: _validate(Vote, row, f"{part} {i}: ") for i, row in rows.items()}
    return PairReply(**votes)


def parse_refinement(text: str, principle_ids: Sequence[str]) -> RefineReply:
    """Read a proposed checklist item, which must belong to a known principle."""
    reply = _validate(RefineReply, _json_object(text))
    if reply.principle_id not in principle_ids:
        raise ReplyError(f"principle_id is not one of {', '.join(principle_ids)}")
    return reply


def parse_object(model: type[_M], text: str) -> _M:
    """Read a reply into a dataclass or a pydantic model."""
    return _validate(model, _json_object(text))


def levels_schema(part: str, labels: Sequence[str], k: int) -> ResponseSchema:
    """Schema of a reply that gives every label a whole number from 1 to k."""
    level = JSONSchema(type="integer", enum=list(range(1, k + 1)))
    return reply_schema(part, reasoning=TEXT, **{part: closed(dict.fromkeys(labels, level))})


@cache
def grades_schema(principle_ids: tuple[str, ...]) -> ResponseSchema:
    """Schema of a reply that grades one response on every principle."""
    grade = JSONSchema(type="integer", enum=list(range(TOP_GRADE + 1)))
    return reply_schema("grades", **_lists(len(principle_ids), reasoning=TEXT, grade=grade))


@cache
def stars_schema(allowed: tuple[int, ...] = ALL_STARS) -> ResponseSchema:
    """Schema of a reply that gives stars and the reason for them."""
    rating = JSONSchema(type="integer", enum=list(allowed))
    return reply_schema("stars", **{RATING: rating, "reason": TEXT})


def rubric_schema(principle_ids: Sequence[str]) -> ResponseSchema:
    """Schema of a reply that defines the grades of a benchmark."""
    levels = closed(dict.fromkeys(_LEVELS, TEXT))
    return reply_schema("rubric", **dict.fromkeys(principle_ids, levels))


@lru_cache
def votes_schema(principle_ids: tuple[str, ...], checklist_ids: tuple[str, ...]) -> ResponseSchema:
    """Schema of the pairwise reply: principles, checklist or both; reasons for the first part."""
    parts, reasons = {}, {"reasoning": TEXT}
    for part, ids in _asked(principle_ids, checklist_ids).items():
        parts[part] = closed(_lists(len(ids), **reasons, **_VOTE_FIELDS))
        reasons = {}
    return reply_schema("votes", **parts)


def critique_schema() -> ResponseSchema:
    """Schema of the critique reply."""
    return reply_schema("critique", left=TEXT, right=TEXT)


def proposal_schema() -> ResponseSchema:
    """Schema of a proposed rubric."""
    lines = JSONSchema(type="array", items=TEXT)
    weight = JSONSchema(type="number")
    principle = closed({"name": TEXT, "description": TEXT, "weight": weight, "checklist": lines})
    return reply_schema("proposal", principles=JSONSchema(type="array", items=principle))


def refinement_schema(principle_ids: Sequence[str]) -> ResponseSchema:
    """Schema of the refinement reply."""
    chosen = {
        "principle_id": JSONSchema(type="string", enum=list(principle_ids)),
        "anchor_split": JSONSchema(type="string", enum=list(get_args(AnchorSplit))),
    }
    return reply_schema("checklist_item", **dict.fromkeys(RefineReply.model_fields, TEXT) | chosen)


TEXT = JSONSchema(type="string")
# The rating must appear once: a reason that repeats the phrase is not accepted.
_PLAIN_STARS = re.compile(
    r'"?Overall Rating"?:[ "]*([0-3])(?: stars?)?[".,]*\s+'
    r'"?The reason why you gave this rating"?:((?:(?!overall rating)[^{}])*)',
    re.DOTALL | re.IGNORECASE,
)
_LEVELS = ("full", "half", "none")
_VOTE_FIELDS = {
    "vote": JSONSchema(type="string", enum=["left", "right", "tie"]),
    "confidence": JSONSchema(type="number", minimum=0, maximum=1),
}


def _asked(
    principle_ids: Sequence[str], checklist_ids: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    parts = {"principles": principle_ids, "checklist": checklist_ids}
    return {part: ids for part, ids in parts.items() if ids}


class ListSchema(JSONSchema):
    """A list with a fixed number of entries.

    Inspect's schemas have no lengths, and some providers refuse them, so Inspect omits them from
    its requests. Models in this process and judges that invent replies use them.
    """

    type: Literal["array"] = "array"
    minItems: int
    maxItems: int


def _lists(length: int, **entries: JSONSchema) -> dict[str, JSONSchema]:
    return {
        name: ListSchema(items=entry, minItems=length, maxItems=length)
        for name, entry in entries.items()
    }


def closed(properties: Mapping[str, JSONSchema]) -> JSONSchema:
    """An object with exactly these properties, all required."""
    return JSONSchema(
        type="object",
        properties=dict(properties),
        required=list(properties),
        additionalProperties=False,
    )


class _Schema(ResponseSchema):
    """A schema that is never copied: Inspect deep-copies a call's configuration five times."""

    @override
    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self


def reply_schema(name: str, **properties: JSONSchema) -> ResponseSchema:
    """Schema of a reply that is an object with these properties."""
    return _Schema(name=name, json_schema=closed(properties), strict=True)


def _json_object(text: str) -> dict[str, Any]:
    """Extract the JSON object of a reply, which may be in a Markdown fence or between words."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise ReplyError("it holds no JSON object" if text.strip() else "it is empty")
    try:
        value = _READER.decode(text[start : end + 1])
    except ReplyError:
        raise
    except (ValueError, RecursionError) as error:  # e.g. a number with too many digits for Python
        raise ReplyError(f"it is not valid JSON ({error})") from error
    return _object(value, "the reply")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ReplyError("it names a key more than once")
    return values


_READER = json.JSONDecoder(object_pairs_hook=_no_repeats)


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ReplyError(f"{name} must be a JSON object")
    return value


def _require(part: str, given: Mapping[str, Any], ids: Sequence[str]) -> None:
    if missing := [i for i in ids if i not in given]:
        raise ReplyError(f"{part} lacks {', '.join(missing)}")


def _rows(
    lists: Mapping[str, Any], part: str, ids: Sequence[str], *names: str
) -> dict[str, dict[str, Any]]:
    """Turn lists with one entry per id, in the order of `ids`, into a mapping by id.

    The list of reasons may be absent, but not shorter: its entries would belong to other ids.
    """
    _require(part, lists, names)
    names = (*names, *({"reasoning"} & lists.keys()))
    for name in names:
        entries = lists[name]
        if not isinstance(entries, list) or len(entries) != len(ids):
            problem = f"has {len(entries)} entries" if isinstance(entries, list) else "is no list"
            raise ReplyError(
                f"{name} of {part} {problem}: it must be a list with one entry for each of "
                f"{', '.join(ids)}"
            )
    return {i: {name: lists[name][n] for name in names} for n, i in enumerate(ids)}


def _whole_number(value: Any, name: str, lowest: int, highest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        given = f"{value!r:.20}" if isinstance(value, int | float | None) else "something else"
        raise ReplyError(f"{name} is {given}, not a whole number from {lowest} to {highest}")
    return value


def _line(value: Any, name: str) -> str:
    """Check a line of text that is short enough for later prompts."""
    line = " ".join(value.split()) if isinstance(value, str) else ""
    if not 0 < len(line) <= _LONGEST_LINE:
        raise ReplyError(f"{name} must be a text of at most {_LONGEST_LINE} characters")
    return line


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""Cached, because making an adapter takes longer than validating with it."""


def _validate(model: type[_M], value: dict[str, Any], about: str = "") -> _M:
    try:
        valid: _M = _adapter(model).validate_python(value)
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False)
        listed = "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in problems)
        raise ReplyError(about + listed) from error
    return valid
