"""Data of the lm-eval tasks: a file in the benchmark's own schema.

`--metadata '{"data": "FILE.jsonl"}'` names it; without, the small items that come with the package
are used.
"""

import json
from pathlib import Path
from typing import Any

SMALL_ITEMS = Path(__file__).resolve().parent.parent / "inspect_tasks" / "items" / "gsm8k.jsonl"


def load(data: str | None = None, **_: Any) -> dict[str, Any]:
    """Rows of a JSON-lines file, as the split `test`; lm-eval passes its model's arguments, too.

    Raises:
        FileNotFoundError: there is no such file.
    """
    import datasets

    path = Path(data) if data else SMALL_ITEMS
    if not path.is_file():
        raise FileNotFoundError(f"{path}: --metadata '{{\"data\": …}}' must name a JSON-lines file")
    lines = path.read_text(encoding="utf-8").splitlines()
    return {"test": datasets.Dataset.from_list([json.loads(line) for line in lines if line])}
