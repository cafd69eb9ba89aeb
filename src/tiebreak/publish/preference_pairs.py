"""Preference pairs as files that TRL's trainers load: Parquet, JSON lines or CSV.

`prompt`, `chosen` and `rejected` are TRL's preference type with an explicit prompt, in its
conversational form: [{"role": "user", "content": …}], to which trainers apply a chat template. CSV,
which has no lists, contains texts, TRL's standard form. The file contains answers, so it is
searched for secrets like everything published.
"""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Final

from tiebreak.analysis.frames import Row
from tiebreak.analysis.preference_pairs import PreferencePairs
from tiebreak.paths import whole_file
from tiebreak.publish.errors import PublishError
from tiebreak.publish.facts import public_names
from tiebreak.publish.secrets import environment_secrets, log_secrets, refuse_secrets
from tiebreak.publish.tables import parquet_of, schema
from tiebreak.ranking_logs.votes_file import is_votes_file

_ROLES: Final = {"prompt": "user", "chosen": "assistant", "rejected": "assistant"}
_FORMS: Final = (".parquet", ".jsonl", ".csv")


def write_pairs(pairs: PreferencePairs, path: str | Path) -> Path:
    """Write pairs to one file, a row each, replaced atomically; the suffix sets the format.

    Raises:
        PublishError: another suffix, or a secret of this machine or the logs in the content.
        OSError: the file cannot be written.
    """
    file = Path(path)
    if file.suffix not in _FORMS:
        raise PublishError(f"{file} ends in none of {', '.join(_FORMS)}: name one of these forms")
    content = _content(_rows(pairs, file.suffix != ".csv"), file.suffix)
    # Votes files have no header that could contain secrets.
    logs = (log for log in pairs.logs if not is_votes_file(Path(log)))
    of_logs = (secret for log in logs for secret in log_secrets(log))
    refuse_secrets({file.name: content}, [*environment_secrets(), *of_logs])
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as draft:
        draft.write_bytes(content)
    return file


def _rows(pairs: PreferencePairs, messages: bool) -> Iterator[Row]:
    """Rows with the models' public names, and chat messages instead of texts if wanted."""
    named = [
        (row["chosen_model"], row["rejected_model"], *row["judge"].split(", "))
        for row in pairs.rows
    ]
    public = {given: name for name, given in public_names(chain(*named)).items()}
    for row, names in zip(pairs.rows, named, strict=True):
        chosen, rejected, *judges = (public.get(name, name) for name in names)
        labels = {"judge": ", ".join(judges), "chosen_model": chosen, "rejected_model": rejected}
        messages_of = {n: [{"role": role, "content": row[n]}] for n, role in _ROLES.items()}
        yield row | labels | (messages_of if messages else {})


def _content(rows: Iterator[Row], suffix: str) -> bytes:
    if suffix == ".parquet":
        return parquet_of("pairs", rows)
    if suffix == ".jsonl":
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()
    target = StringIO(newline="")
    writer = csv.DictWriter(target, schema("pairs").names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue().encode()
