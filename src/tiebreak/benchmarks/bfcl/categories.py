"""The parts of BFCL that one reply can answer, and the parts that are left out."""

import re
from collections.abc import Mapping
from typing import Final

CATEGORIES: Final = (
    "simple",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
)
NO_CALL: Final = frozenset({"irrelevance", "live_irrelevance"})
"""Here the right answer calls nothing."""
ANY_CALL: Final = frozenset({"live_relevance"})
"""Here any call is right."""

_OTHER_NAMES: Final = {"simple_python": "simple"}
_JAVA: Final = "its calls are Java or JavaScript, and its types are not those of JSON"
_EXECUTED: Final = "its calls are run, some of them against services on the network"
_AGENT: Final = "it takes several turns with BFCL's own simulated services"

LEFT_OUT: Final[Mapping[str, str]] = {
    "multi_turn": _AGENT,
    "memory": _AGENT,
    "web_search": "it takes several turns with a paid web search",
    "format_sensitivity": "it asks the same questions again in 26 other wordings",
    "simple_java": _JAVA,
    "simple_javascript": _JAVA,
    "java": _JAVA,
    "javascript": _JAVA,
    "exec": _EXECUTED,
    "rest": _EXECUTED,
    "sql": "BFCL itself no longer scores it",
    "chatable": "it has no right answer, and BFCL itself no longer scores it",
}
"""What is left out and why, by name or by the beginning of the name."""


def category_named(name: str) -> str:
    """The category of this name, whatever release of BFCL the name is from.

    Raises:
        ValueError: there is no such category, or it is left out; the message says which and why.
    """
    category = _OTHER_NAMES.get(name, name)
    if category in CATEGORIES:
        return category
    if reason := left_out(name):
        raise ValueError(f"BFCL's category {name} is left out: {reason}")
    raise ValueError(f"BFCL has no category {name!r}. There are: {', '.join(CATEGORIES)}")


def left_out(name: str) -> str | None:
    """Why a category is left out; None for any other name."""
    for start, reason in LEFT_OUT.items():
        if name == start or name.startswith(f"{start}_"):
            return reason
    return None


def category_in(item_id: str) -> str | None:
    """The category in the name of an item, such as `live_simple_3-2-0`, or None.

    Raises:
        ValueError: the item is of a category that is left out.
    """
    # The first release of the live categories put a version before the name.
    name = re.sub(r"\Av\d+_|_[\d-]+\Z", "", item_id)
    known = _OTHER_NAMES.get(name, name) in CATEGORIES or left_out(name)
    return category_named(name) if known else None
