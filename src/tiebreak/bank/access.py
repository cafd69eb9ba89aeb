"""Who may do what: roles, their permissions, and whose session it is.

Source: LLMEval-Fair, §2.2.2 ("prevents any cross-session or cross-user data access").
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

from tiebreak.bank.errors import BankError
from tiebreak.bank.schema import Role
from tiebreak.bank.sessions import Holder

Permission = Literal[
    "session:create",
    "session:read",
    "question:read",
    "answer:write",
    "result:read",
    "session:read-any",
    "session:close",
    "result:release",
    "token:write",
    "quota:write",
]
PERMISSIONS: Final[tuple[Permission, ...]] = get_args(Permission)

_EXAMINEE: Final = frozenset[Permission](
    ("session:create", "session:read", "question:read", "answer:write", "result:read")
)
_EXAMINER: Final = frozenset[Permission](
    ("session:read", "session:read-any", "session:close", "result:release")
)
_ADMIN: Final = _EXAMINER | frozenset[Permission](("token:write", "quota:write"))

MAY: Final[Mapping[Role, frozenset[Permission]]] = MappingProxyType(
    {"examinee": _EXAMINEE, "examiner": _EXAMINER, "admin": _ADMIN}
)
"""What a role may do. Who organises takes no exam: nobody but examinees sees a question."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request, as a verified token says.

    `permissions` are those that both the role and the token give; `session` is the only one that
    the token is good for, None: any of the holder's.
    """

    user: str
    institution: str
    role: Role
    permissions: frozenset[Permission]
    token: str
    session: str | None = None

    @property
    def holder(self) -> Holder:
        """The caller as the owner of sessions."""
        return Holder(self.institution, self.user, self.token)


def require(caller: Caller, permission: Permission, session: str | None = None) -> None:
    """That a caller may do something, with a session if one is named.

    Raises:
        BankError: it may not ("refused").
    """
    if permission not in caller.permissions:
        raise BankError(
            f"this token ({caller.role}) may not do that ({permission}): ask the organiser for "
            "one that may",
            kind="refused",
        )
    if caller.session is not None and session != caller.session:
        raise BankError(
            "this token is for another session: ask the organiser for one of your own",
            kind="refused",
        )
