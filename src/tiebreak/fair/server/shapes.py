"""Bodies of requests and responses, as the OpenAPI page shows them."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tiebreak.fair.bank.prompting import Prompting
from tiebreak.fair.bank.question import State
from tiebreak.fair.bank.schema import Role


def _no_control(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be printable")
    return text


def _storable(text: str) -> str:
    # PostgreSQL cannot store NUL, and no database can store a lone surrogate.
    if "\0" in text:
        raise ValueError("must not contain the character NUL")
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ValueError("must be characters of Unicode, and no lone surrogates")
    return text


Name = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_no_control)]

MOST_QUESTIONS: Final = 100_000


class _Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class NewSession(_Sent):
    """The request to open a session."""

    k: int = Field(ge=1, le=MOST_QUESTIONS, description="Number of questions.")
    model: Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_no_control)]
    prompting: Prompting = "zero_shot"


class NewAnswer(_Sent):
    """An answer."""

    answer: Annotated[str, AfterValidator(_storable)]


class NewToken(_Sent):
    """The request to issue a token."""

    user: Name
    institution: Name
    role: Role
    session: Annotated[str, Field(pattern="^[0-9a-f]{32}$")] | None = None
    expires: int = Field(
        default=7 * 86400, ge=60, le=366 * 86400, description="Seconds that it is good for."
    )


class NewQuota(_Sent):
    """The total number of questions an institution may get."""

    granted: int = Field(ge=0, le=2**31 - 1, description="Number of questions.")


class SessionState(BaseModel):
    """State of a session; `next` is the next question, null once the session has ended."""

    id: str
    k: int
    state: State
    answered: int
    next: int | None
    model: str
    prompting: Prompting


class SessionStateReleased(SessionState):
    """State of a session, with whether its results are released."""

    released: bool


class AnswerKept(BaseModel):
    """The answer is stored; `next` is the next question."""

    position: int
    next: int | None
    state: State


class TokenMade(BaseModel):
    """A token and its id, with which it can be revoked."""

    token: str
    jti: str


class QuotaState(BaseModel):
    """An institution's quota, in questions."""

    institution: str
    granted: int
    allocated: int
    pending: int
    completed: int


class Health(BaseModel):
    """The server runs and its bank can be reached."""

    status: Literal["ok"]


class Problem(BaseModel):
    """Why a request was refused, and what to do."""

    detail: str
