"""What a file is, by its name and by how it begins."""

import json
import re
from codecs import getincrementaldecoder
from pathlib import Path

from tiebreak.candidates.lm_eval_runs import SAMPLES_NAME
from tiebreak.candidates.packed import stream, unpacked_name
from tiebreak.paths import problem_with

# How Inspect names a JSON log, and how one begins, also after a program that sorts its fields.
_INSPECT_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d.*\.json")
_INSPECT_BEGIN = re.compile(r'\s*\{\s*"(version|status|config_updates|error|etag|eval)"')
_INSPECT_EVAL = re.compile(r'"eval"\s*:\s*\{')
_INSPECT_CREATED = re.compile(r'"created"\s*:')
_BLOCK = 2**16

_LM_EVAL_ROW = re.compile(rb'\s*\[?\s*\{(?=.*"doc_id"\s*:)(?=.*"doc"\s*:\s*\{)', re.DOTALL)

# The name of a candidate file, and what a person or a program put after it.
_LIKE_LOG = re.compile(r"(.+\.(eval|jsonl?|ndjson|parquet))(\W.*)?", re.IGNORECASE)
_LIKE_ARCHIVE = re.compile(r".+\.(zip|tar|tgz|tbz2?|txz|7z|rar)(\W.*)?", re.IGNORECASE)
_ADDED = re.compile(
    r"~|.*\W(part|partial|tmp|temp|bak|backup|old|orig|save|copy|download|crdownload|incomplete|"
    r"filepart|aria2|gz|zst|bz2|xz|lz4|br|\d+|\(\d+\))",
    re.IGNORECASE,
)

_HELM = re.compile(rb'.*"(adapter_spec|scenario_spec|train_trial_index)"\s*:', re.DOTALL)
_HELM_NAMES = ("scenario_state.json", "per_instance_stats.json", "run_spec.json")
_OTHERS = {
    # The first line of a record is what was run, all others are events.
    "OpenAI evals": re.compile(
        rb'\s*\{\s*"spec"\s*:\s*\{|(?=[^\n]*"run_id")(?=[^\n]*"event_id")\s*\{[^\n]*"type"'
    ),
    "promptfoo": re.compile(rb'\s*\{.*("evalId"\s*:.*"results"|"promptIdx")\s*:', re.DOTALL),
}


def is_inspect_log(path: Path) -> bool:
    """Whether a file is a log of Inspect, or too damaged to say."""
    name = unpacked_name(path.name)
    if name.endswith(".eval") or _INSPECT_NAME.fullmatch(name):
        return True
    return name.endswith(".json") and _begins_as_inspect_log(path)


def _begins_as_inspect_log(path: Path) -> bool:
    try:
        with stream(path) as file:
            block = bytes(file.read(_BLOCK))
            decode = getincrementaldecoder(json.detect_encoding(block))("replace").decode
            text = decode(block)
            if not _INSPECT_BEGIN.match(text):
                return False
            while block:
                spec = _INSPECT_EVAL.search(text)
                if spec and _INSPECT_CREATED.search(text, spec.end()):
                    return True
                block = bytes(file.read(_BLOCK))
                text = text[-_BLOCK:] + decode(block)
    except (OSError, ValueError):
        return True
    return False


def holds_samples(head: bytes) -> bool:
    """Whether a file that begins so holds samples of lm-eval."""
    return _LM_EVAL_ROW.match(head) is not None


def other_output(path: Path, head: bytes) -> str:
    """A sentence that names another harness which wrote a file; "" of any other file."""
    if not unpacked_name(path.name).endswith((".json", ".jsonl")) or holds_samples(head):
        return ""
    names = [name for name, begin in _OTHERS.items() if begin.match(head)]
    if path.name in _HELM_NAMES and _HELM.match(head):
        names = ["HELM"]
    return (
        f"is output of {names[0]}, which Tiebreak does not read: run the benchmark with Inspect "
        "or lm-eval, or make a pool of its answers (tiebreak.candidates.write_parquet)"
        if names
        else ""
    )


def is_like_candidate(name: str) -> bool:
    """Whether a file may be a candidate file, or look like one, by its name or path."""
    return any(like.fullmatch(name) for like in (_LIKE_LOG, _LIKE_ARCHIVE))


def likeness(path: Path, head: bytes) -> str:
    """Why a file that looks like a candidate file is none; "" of what plainly is no log."""
    if not is_like_candidate(path.name):
        return ""
    if problem := problem_with(path):
        return f"is a link to what {problem}" if path.is_symlink() else problem
    if (match := _LIKE_LOG.fullmatch(path.name)) is None:
        return "is an archive that is not opened: unpack it"
    name, kind, added = match[1], match[2].lower(), _ADDED.fullmatch(match[3] or "")
    zipped = kind == "eval" and (added or head.startswith(b"PK"))
    renamed = not unpacked_name(path.name).endswith(".json")
    if zipped or (kind == "json" and renamed and _begins_as_inspect_log(path)):
        return "looks like an Inspect log, but its name does not end in .eval or .json"
    if kind != "eval" and (holds_samples(head) or (added and SAMPLES_NAME.fullmatch(name))):
        return "looks like lm-eval samples, but is not called samples_<task>_<date>.jsonl"
    return "not a pool of Tiebreak" if kind == "parquet" else ""
