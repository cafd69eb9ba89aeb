"""Names of models as folders: portable on every system, and the same for everybody."""

import re
from typing import Final

UNSPECIFIED: Final = "unspecified"
"""Developer of a model whose name does not tell."""

_NOT_PORTABLE = re.compile(r'[<>:"\\|?*\x00-\x1f\x7f-\x9f\ud800-\udfff]')
_RESERVED: Final = {"CON", "PRN", "AUX", "NUL", "DATA", "UNKNOWN"} | {
    f"{name}{number}" for name in ("COM", "LPT") for number in range(1, 10)
}


def model_id(model: str) -> str:
    """A model's name as a path of portable parts: `openai/gpt-5`, or `my-run` alone."""
    return "/".join(_part(part) for part in model.split("/") if part.strip(". ")) or (UNSPECIFIED)


def flattened(model: str) -> tuple[str, str]:
    """Developer and model, each the name of one folder: `azure/openai/x` is `azure`, `openai_x`."""
    developer, _, name = model_id(model).partition("/")
    return (developer, name.replace("/", "_")) if name else (UNSPECIFIED, developer)


def _part(text: str) -> str:
    name = _NOT_PORTABLE.sub("_", " ".join(text.split())).strip(". ")[:100].rstrip(". ")
    reserved = name.split(".", 1)[0].upper() in _RESERVED
    return f"_{name}" if reserved or not name else name
