"""Documents that show which columns a template reads, and made texts to fill these with."""

import json
import re
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any, NamedTuple

from tests.cases import cases

_LISTS = set(cases(__file__, "lists"))


class Spy(str):
    """A text that may be used as anything, and keeps as what it was used."""

    def __new__(cls, name: str = "") -> "Spy":
        # A list, too, for functions that parse it.
        return super().__new__(cls, f'["The {name or "part"}", "of a document"]')

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.keys_read: dict[str, Spy] = {}
        self.element: Spy | None = None
        self.most = 4 - 1
        self.is_number = self.is_cut = self.is_parsed = False
        self.compared: set[str] = set()
        self.acts_as: str | None = None
        self.fields: list[str] = []

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            self.is_cut = True
            return str(self)[key]
        if isinstance(key, str):
            return self.keys_read.setdefault(str(key), Spy(str(key)))
        self.most = max(self.most, int(key))
        self.element = Spy() if self.element is None else self.element
        return self.element

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(4)])

    def __len__(self) -> int:
        return 4

    def get(self, key: Any, _: Any = None) -> Any:
        return self[key]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and other.strip():
            self.compared.add(str(other))
        self.is_number |= isinstance(other, int)
        return (str(self) if self.acts_as is None else self.acts_as) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __int__(self) -> int:
        self.is_number = True
        return 1

    __index__ = __int__

    def __float__(self) -> float:
        return float(int(self))

    def __add__(self, other: Any) -> Any:
        return str(self) + other if isinstance(other, str) else int(self) + other

    def __radd__(self, other: Any) -> Any:
        return other + str(self) if isinstance(other, str) else other + int(self)

    def __sub__(self, other: Any) -> Any:
        return int(self) - other

    def __gt__(self, other: Any) -> bool:
        return str(self) > other if isinstance(other, str) else int(self) > other

    def __lt__(self, other: Any) -> bool:
        return str(self) < other if isinstance(other, str) else int(self) < other

    def format(self, *_: object, **fields: object) -> str:
        self.fields = [*fields]
        return " ".join(map(str, fields.values()))

    def keys(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.keys_read, "en", "amh"]))

    def values(self) -> Iterator[Any]:
        return (self[key] for key in self.keys())

    def items(self) -> Iterator[tuple[str, Any]]:
        return ((key, self[key]) for key in self.keys())

    def leaves(self, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Places of the texts in it, with "*" for any element of a list."""
        if self.keys_read:
            for key, value in self.keys_read.items():
                yield from value.leaves((*path, key))
        elif self.is_list:
            element = Spy() if self.element is None else self.element
            yield from element.leaves((*path, "*"))
        else:
            yield path

    @property
    def is_list(self) -> bool:
        read = self.element is not None or self.name in _LISTS
        return read and not (self.is_cut or self.is_number or self.is_parsed)


class SpyDocument(dict[str, Spy]):
    """A document that has every column."""

    def __missing__(self, name: str) -> Spy:
        self[name] = Spy(name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, _: Any = None) -> Any:
        return self[name]

    def leaves(self) -> set[tuple[str, ...]]:
        return {leaf for name, spy in self.items() for leaf in spy.leaves((name,))}


_LONG = re.compile("passage|context|article|document|story|dialog|conversation|premise|code")
_SHORT = re.compile(r"[a-j]|.*(option|choice|answer|label|target|solution|ending|gold).*", re.I)
_WORDS = cases(__file__, "words")
_SENTENCES = cases(__file__, "sentences")


class MadeText(NamedTuple):
    """Texts of made documents: words, sentences and passages, the same for the same place."""

    document: int

    def value(self, spy: Spy, path: tuple[str, ...]) -> Any:
        """A value for a column as the spy was used; 0 or 1 for a number."""
        if spy.keys_read:
            return {key: self.value(part, (*path, key)) for key, part in spy.keys_read.items()}
        if spy.is_list:
            part = Spy() if spy.element is None else spy.element
            return [self.value(part, (*path, str(i))) for i in range(spy.most + 1)]
        if spy.is_number:
            return self.document % 2
        if spy.fields:
            return " ".join([*_WORDS[self.document :], *(f"{{{name}}}" for name in spy.fields)])
        if spy.is_parsed:
            return json.dumps([self.text((*path, str(i))) for i in range(4)], ensure_ascii=False)
        if spy.compared and self.document % 2:
            return sorted(spy.compared)[self.document % len(spy.compared)]
        return self.text(path)

    @cache  # noqa: B019 (there are as many as documents)
    def text(self, path: tuple[str, ...]) -> str:
        random = Random(f"{path} {self.document}")
        name = next((part for part in reversed(path) if not part.isdigit()), "")
        if name == "tokens":
            sizes = ("word", "word", "word")
        elif _SHORT.fullmatch(name) or path[-1].isdigit():
            sizes = ("word", "word", "sentence")
        elif _LONG.search(name):
            sizes = ("passage", "passage", "sentence")
        else:
            sizes = ("sentence", "passage", "word")
        size = sizes[self.document % 3]
        if size == "word":
            return str(random.choice(_WORDS))
        if size == "sentence":
            return self._sentence(random)
        paragraphs = [[self._sentence(random) for _ in range(3)] for _ in range(3)]
        return "\n\n".join(" ".join(sentences) for sentences in paragraphs)

    @staticmethod
    def _sentence(random: Random) -> str:
        a, b, c = random.sample(_WORDS, 3)
        return str(random.choice(_SENTENCES)).format(a=a, b=b, c=c, n=random.randint(2, 99_999))
