"""The verbs `lm-eval-tasks` and `lm-eval-cache`, which print paths for lm-eval's command line."""

import hashlib
import json
import os
import re
from pathlib import Path

import click

import tiebreak
from tiebreak.cli._options import File, option, verb


@verb("lm-eval-tasks")
def lm_eval_tasks() -> None:
    """Print the folder of the lm-eval tasks, for --include_path.

    It holds tiebreak_gsm8k, tiebreak_mmlu, tiebreak_humaneval, tiebreak_bfcl, and the group
    tiebreak of all four.

    \b
    Example:
      lm_eval run --include_path "$(tiebreak lm-eval-tasks)" --tasks tiebreak --model … \\
        --use_cache "$(tiebreak lm-eval-cache MODEL)" --log_samples --output_path OUT
    """
    click.echo(Path(tiebreak.__file__).resolve().parent / "benchmarks" / "lm_eval_tasks")


@verb("lm-eval-cache")
def lm_eval_cache(
    model: str,
    *,
    model_args: str = option(
        "What lm_eval gets as --model_args, where more in it than the model's name changes the "
        "answers: quantisation, server, reasoning effort, seed. Only a digest of it is in the "
        "path.",
        default="",
        show_default=False,
        metavar="TEXT",
    ),
    root: File | None = option(
        "Folder of the caches. [default: tiebreak/lm-eval in $XDG_CACHE_HOME or ~/.cache]",
        metavar="FOLDER",
    ),
) -> None:
    """Print a cache path for lm-eval that belongs to MODEL alone.

    Give it to the option --use_cache. lm-eval looks up an answer by its prompt and generation
    settings, not by the model: if two models share a path, the second gets the answers of the
    first.

    \b
    Example:
      lm_eval run --model local-chat-completions --model_args "model=MODEL,base_url=…" \\
        --use_cache "$(tiebreak lm-eval-cache MODEL)" \\
        --include_path "$(tiebreak lm-eval-tasks)" --tasks tiebreak --apply_chat_template \\
        --log_samples --output_path OUT
    """
    if not model.strip():
        raise click.BadParameter("it is empty", param_hint="MODEL")
    folder = default_root() if root is None else Path(root).expanduser().absolute()
    click.echo(folder / cache_name(model, model_args))


def default_root() -> Path:
    """The folder of caches in `$XDG_CACHE_HOME`, or else in `~/.cache`."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG Base Directory Specification requires that relative paths are ignored.
    return (given if given.is_absolute() else Path.home() / ".cache") / "tiebreak" / "lm-eval"


def cache_name(model: str, model_args: str = "") -> str:
    """A file name that is unique to a model: the readable part of its name, and a digest.

    Args:
        model: name of the model, of any length and with any characters.
        model_args: everything else that the answers depend on; it may contain keys, so only its
            digest is used.

    Returns:
        At most 77 characters from `[A-Za-z0-9._-]`, to which lm-eval adds `_rank0.db`.
    """
    digest = hashlib.sha256(json.dumps([model, model_args]).encode("ascii")).hexdigest()[:16]
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", model)[:60].strip("-.")
    return f"{readable or 'model'}-{digest}"
