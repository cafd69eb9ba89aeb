"""Reading YAML written by people: plain data with unique keys.

PyYAML alone keeps the last of two equal keys, lets a few lines of aliases expand to more values
than fit into memory, and raises many kinds of errors for invalid files.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from tiebreak.paths import AnyPath, problem_with

MOST_CHARACTERS: Final = 500_000
"""Maximum length of a text; PyYAML takes up to ten seconds for it."""

_MOST_VALUES: Final = 1_000_000
_SHOWN: Final = 80
# Errors that PyYAML's constructors raise if a value does not fit its tag, e.g. `!!bool x`.
_UNFIT: Final = (TypeError, LookupError, AttributeError, OverflowError)


def read_yaml(text: str) -> Any:
    """Parse a YAML text; the message of a ValueError is worded to follow the name of the text."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"has more than {MOST_CHARACTERS:,} characters; so much YAML is not read")
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        _count(node, {})
        return None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ValueError(f"is not valid YAML ({line}{error.problem}); correct it") from error
    except RecursionError as error:
        raise ValueError("is not valid YAML (it is nested too deeply); correct it") from error
    except _UNFIT as error:
        raise ValueError("is not valid YAML (a value does not fit its tag); correct it") from error
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())[:_SHOWN]
        raise ValueError(f"is not valid YAML ({reason}); correct it") from error


def read_yaml_file(path: AnyPath) -> Any:
    """Parse a YAML file.

    Raises:
        ValueError: the file cannot be read or is invalid; the message is worded to follow its name.
    """
    if problem := problem_with(path):
        raise ValueError(problem)
    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except OSError as error:
        raise ValueError(f"cannot be opened ({error.strerror or error}); give a file") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"is not text in UTF-8 (byte {error.start}); save it as UTF-8") from error
    return read_yaml(text)


def packaged(module: str, name: str) -> Any:
    """Parse a YAML file of this package in the folder of a module (its `__file__`).

    It needs no checks, so libyaml reads it if PyYAML has it, ten times as fast.
    """
    fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return fast(Path(module).with_name(name).read_text(encoding="utf-8")).get_single_data()


def line_of(text: str, place: Sequence[str | int]) -> int:
    """Line number, from 1, of the value at `place` in a text that `read_yaml` accepts.

    `place` is a path of keys and indices; if a step is missing, the line is that of its parent.
    """
    node = _Loader(text).get_single_node()
    line = 0
    for step in place:
        if isinstance(node, yaml.MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == str(step)]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            pairs = [(value, value) for value in node.value[step : step + 1]]
        else:
            pairs = []
        if not pairs:
            break
        [(key, node), *_] = pairs
        line = key.start_mark.line
    return line + 1


def yaml_text(value: Any) -> str:
    """Dump plain data as YAML, keeping the order of keys."""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if (name := str(key.value)) in seen:
                problem = f"the key {repr(name)[:_SHOWN]} is there twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


def _count(node: yaml.Node | None, counts: dict[int, int]) -> int:
    """Count the values of a node, with every alias expanded.

    Raises:
        yaml.MarkedYAMLError: there are too many, or a lone surrogate, which cannot be encoded.
    """
    if node is None:
        return 0
    if id(node) in counts:
        return counts[id(node)]
    if isinstance(node, yaml.ScalarNode):
        node.value = _joined(node)
        return 1
    counts[id(node)] = _MOST_VALUES + 1  # refuses aliases to ancestors
    total = 1
    for part in node.value:
        for child in part if isinstance(part, tuple) else (part,):
            total += _count(child, counts)
    if total > _MOST_VALUES:
        raise _problem(node, f"its aliases stand for more than {_MOST_VALUES:,} values")
    counts[id(node)] = total
    return total


def _joined(node: yaml.ScalarNode) -> str:
    """A scalar's text with surrogate pairs joined, as JSON writes e.g. an emoji as two escapes."""
    text: str = node.value
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise _problem(node, "a text holds half of a character") from None


def _problem(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
