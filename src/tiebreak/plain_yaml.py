"""YAML that people write: plain data, in which a key stands once.

PyYAML alone keeps the last of two equal keys, lets a few lines of aliases stand for more values
than there is memory for, and fails in many ways on a file that is none.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from tiebreak.paths import AnyPath, problem_with

MOST_CHARACTERS: Final = 500_000
"""The longest text that is read; PyYAML takes up to ten seconds for it."""

_MOST_VALUES: Final = 1_000_000
_SHOWN: Final = 80
# What PyYAML's constructors raise for a value that its tag does not fit, as in `!!bool x`.
_UNFIT: Final = (TypeError, LookupError, AttributeError, OverflowError)


def read_yaml(text: str) -> Any:
    """The value in a text; a ValueError is to be said after the name of the text."""
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
    """The value in a file.

    Raises:
        ValueError: the file cannot be read, or holds none; the message is to be said after its
            name.
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
    """The value in a YAML file that comes with the package, beside a module (`__file__`).

    It needs no check, so it is read in C where PyYAML has libyaml, ten times as fast.
    """
    fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return fast(Path(module).with_name(name).read_text(encoding="utf-8")).get_single_data()


def line_of(text: str, place: Sequence[str | int]) -> int:
    """The line, from 1 on, of the value at a place in a text that `read_yaml` can read.

    Keys and positions lead to the value; where one is missing, it is what should hold it.
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
    """Plain data as YAML, keys in their order."""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


class _Loader(yaml.SafeLoader):
    """YAML in which a key stands once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if (name := str(key.value)) in seen:
                problem = f"the key {repr(name)[:_SHOWN]} is there twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


def _count(node: yaml.Node | None, counts: dict[int, int]) -> int:
    """How many values a node stands for, with each alias in full.

    Raises:
        yaml.MarkedYAMLError: too many, or half of a character, which no file can hold.
    """
    if node is None:
        return 0
    if id(node) in counts:
        return counts[id(node)]
    if isinstance(node, yaml.ScalarNode):
        node.value = _joined(node)
        return 1
    counts[id(node)] = _MOST_VALUES + 1  # until it is known: an alias to what it stands in
    total = 1
    for part in node.value:
        for child in part if isinstance(part, tuple) else (part,):
            total += _count(child, counts)
    if total > _MOST_VALUES:
        raise _problem(node, f"its aliases stand for more than {_MOST_VALUES:,} values")
    counts[id(node)] = total
    return total


def _joined(node: yaml.ScalarNode) -> str:
    """A scalar's text; JSON writes a character such as an emoji as two halves."""
    text: str = node.value
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise _problem(node, "a text holds half of a character") from None


def _problem(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
