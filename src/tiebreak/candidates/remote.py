"""Logs that are elsewhere (`s3://…`, `hf://buckets/…`), fetched through fsspec as Inspect does."""

from collections.abc import Callable
from pathlib import Path

from tiebreak.candidates.errors import CandidateError
from tiebreak.candidates.lm_eval_runs import SAMPLES_ENDS, SUMMARY_NAME
from tiebreak.candidates.packed import place_below
from tiebreak.paths import MISSING


def fetch(address: str, folder: Path, wanted: Callable[[str], bool]) -> Path:
    """Fetch a file, or those files of a folder and its subfolders that have a wanted name.

    Returns:
        The file or the folder, below `folder`.

    Raises:
        CandidateError: A driver is missing, there is nothing, or it cannot be reached.
    """
    # Importing fsspec takes a while, and its drivers more.
    import fsspec  # type: ignore[import-untyped]

    try:
        system, root = fsspec.core.url_to_fs(address, use_listings_cache=False)
        if system.info(root)["type"] == "directory":
            base, name = root.rstrip("/"), ""
            names = list(filter(wanted, system.find(root)))
        else:
            base, _, name = root.rpartition("/")
            names = [root]
        if name.endswith(SAMPLES_ENDS):  # the model's name is in the summary beside it
            beside = system.ls(base, detail=False)
            names += [one for one in beside if SUMMARY_NAME.fullmatch(one.rpartition("/")[2])]
        # Models without a name of their own are named after their folder.
        there = place_below(folder, base.rpartition("/")[2])
        places = [place_below(there, one[len(base) :].lstrip("/")) for one in names]
        for place in (there / "_", *places):
            place.parent.mkdir(parents=True, exist_ok=True)
        system.get(names, list(map(str, places)))
        return there / name
    except FileNotFoundError as error:
        raise CandidateError.of("missing_path", address, MISSING) from error
    except Exception as error:  # each driver has errors of its own
        raise CandidateError.of("remote_path", address, _why_not(error)) from error


def _why_not(error: Exception) -> str:
    if isinstance(error, ImportError) and (package := getattr(error.__cause__, "name", None)):
        return f"needs a package that is not installed: pip install {package}"
    said = (str(error).strip() or type(error).__name__).partition("\n")[0][:200]
    return f"cannot be reached ({said})"
