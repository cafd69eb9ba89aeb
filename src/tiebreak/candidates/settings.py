"""Compare the settings with which models were asked, as scores may differ because of them."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Final

from tiebreak.text import listed

Settings = Mapping[str, Mapping[str, str]]
"""Known settings of each model, by name and as text."""

Different = Mapping[str, Mapping[str, Sequence[str]]]
"""Settings that differ, by name: the models with each value; "" stands for not set."""

HARNESS: Final = "harness"
"""Setting with the name of the harness by which a model was asked."""

_NAMED: Final = 3
_KEPT: Final = 1_000
_SHOWN: Final = 80


def setting_text(value: object) -> str:
    """A setting as text; a longer one is cut to 1,000 characters and marked with a hash."""
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return _marked(" ".join(text.split()), _KEPT)


def _marked(text: str, longest: int) -> str:
    """A text of at most `longest` characters; a longer one is cut, with a hash of the whole."""
    if len(text) <= longest:
        return text
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{text[: longest - 10]}… ({mark})"  # "… (123456)" has 10 characters


def different(known: Settings) -> Different:
    """Settings in which the models of a benchmark differ; models without any are not compared."""
    settings: dict[str, dict[str, list[str]]] = {}
    # Harnesses have different names for settings, so only models of one harness are compared.
    for harness in sorted({given[HARNESS] for given in known.values() if HARNESS in given}):
        alike = {model: given for model, given in known.items() if given.get(HARNESS) == harness}
        for name in sorted({name for given in alike.values() for name in given}):
            values = {model: alike[model].get(name, "") for model in sorted(alike)}
            if len({*values.values()}) > 1:
                for model, value in values.items():
                    settings.setdefault(name, {}).setdefault(value, []).append(model)
    return settings


def differences_in_words(settings: Different) -> str:
    """Sentence with the settings that differ, naming a few models for each value; "" if none."""
    parts = []
    for name, values in settings.items():
        start = _alike(filter(None, values))
        shown = [
            f"{_shown(value, start)} ({listed(models, most=_NAMED)})"
            for value, models in values.items()
        ]
        parts.append(f"{name}: {', '.join(shown)}")
    return f"the models were asked in different ways: {'; '.join(parts)}" if parts else ""


def _alike(values: Iterable[str]) -> int:
    """Length of the texts' common beginning, up to the end of a word; 0 if all are short."""
    texts = list(values)
    if len(texts) < 2 or max(map(len, texts)) <= _SHOWN:
        return 0
    columns = takewhile(lambda column: len({*column}) == 1, zip(*texts, strict=False))
    start = "".join(column[0] for column in columns)
    return len(start) - len(re.split("[ /,]", start)[-1])


def _shown(value: str, start: int) -> str:
    """A value without the first `start` characters, which all values share."""
    if not value:
        return "not set"
    return ("…" if start else "") + _marked(value[start:], _SHOWN)
