"""The difference of two texts, against the textbook's dynamic programme."""

from itertools import accumulate, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.cases import cases
from tests.report.page.browser import opened
from tests.report.page.sample_report import HOSTILE

Segments = list[dict[str, Any]]

BY_HAND = [*cases(__file__, "by_hand"), (HOSTILE, HOSTILE[::-1])]


def drawn(n: int) -> list[tuple[str, str]]:
    """Pairs of texts over few words, so that much of them is common; every second is an edit."""
    random = Random(0)
    pairs = []
    for number in range(n):
        vocabulary = ["a", "b", "c d", "\n", ". ", "x1"][: random.randint(1, 6)]
        left = random.choices(vocabulary, k=random.randint(0, 12))
        right = random.choices(vocabulary, k=random.randint(0, 12))
        if number % 2:
            right = [word for word in left if random.random() < 0.7] + right[:2]
        pairs.append((" ".join(left), " ".join(right)))
    return pairs


def compare(browser: Browser, path: Path, pairs: list[tuple[str, str]]) -> list[Any]:
    """Segments and both lists of words of every pair."""
    with opened(browser, path) as page:
        found: list[Any] = page.evaluate(
            """(pairs) => pairs.map(([left, right]) =>
              [tiebreak.diff(left, right), tiebreak.words(left), tiebreak.words(right)])""",
            [list(pair) for pair in pairs],
        )
    return found


def longest_common(left: list[str], right: list[str]) -> int:
    """Length of a longest common subsequence (Wagner and Fischer, 1974)."""
    row = [0] * (len(right) + 1)
    for one in left:
        before = row
        row = [0]
        for at, other in enumerate(right):
            longer = before[at] + 1 if one == other else max(before[at + 1], row[at])
            row.append(longer)
    return row[-1]


@pytest.mark.slow
def test_segments_are_exact_and_as_much_as_possible_equal(browser: Browser, plain: Path) -> None:
    pairs = [*BY_HAND, *drawn(400)]
    for (left, right), (segments, left_words, right_words) in zip(
        pairs, compare(browser, plain, pairs), strict=True
    ):
        assert "".join(left_words) == left
        assert "".join(right_words) == right
        assert "".join(one["left"] for one in segments) == left
        assert "".join(one["right"] for one in segments) == right
        assert all((one["left"] == one["right"]) == one["same"] for one in segments)
        # Neighbours are joined: equal and different segments take turns.
        kinds = [one["same"] for one in segments]
        assert all(one != other for one, other in pairwise(kinds))
        assert equal_words(segments, left_words) == longest_common(left_words, right_words)


def equal_words(segments: Segments, words: list[str]) -> int:
    """How many words of the left text lie in segments that are the same."""
    ends = set(accumulate(len(one["left"]) for one in segments))
    same = [one["same"] for one in segments for _ in one["left"]]
    places = [0, *accumulate(map(len, words))]
    assert ends <= set(places), "a segment ends within a word"
    return sum(same[start] for start in places[:-1])


WORDS = cases(__file__, "words")


@pytest.mark.slow
def test_words(browser: Browser, plain: Path) -> None:
    found = compare(browser, plain, [(text, "") for text in WORDS])
    assert [words for _, words, _ in found] == list(WORDS.values())


@pytest.mark.slow
def test_long_answers_do_not_freeze_and_stay_exact(browser: Browser, plain: Path) -> None:
    random = Random(1)
    vocabulary = [f"word{n}" for n in range(2_000)]

    def text(lines: int) -> str:
        return "\n".join(" ".join(random.choices(vocabulary, k=12)) for _ in range(lines))

    long = text(2_500)
    lines = long.split("\n")
    lines[::25] = [line.replace("word1", "WORD") for line in lines[::25]]
    edited = "\n".join(lines)
    pairs = {
        "edited": (long, edited),
        "unrelated": (long, text(2_500)),
        "shifted": (long, text(1_500) + "\n" + long),
        "one word": ("a " * 60_000, "b " * 60_000),
        "periods": ("ab " * 40_000, "ab ba " * 20_000),
        "no blanks": ("x" * 300_000, "x" * 150_000 + "y" + "x" * 150_000),
    }
    with opened(browser, plain) as page:
        for name, pair in pairs.items():
            found, milliseconds = page.evaluate(
                """([left, right]) => {
                  const start = performance.now();
                  const found = tiebreak.diff(left, right);
                  return [found, performance.now() - start];
                }""",
                list(pair),
            )
            assert "".join(one["left"] for one in found) == pair[0], name
            assert "".join(one["right"] for one in found) == pair[1], name
            # Under 300 ms on an idle core; the rest is for machines that do other things, too.
            assert milliseconds < 120_000, name
            if name == "edited":
                changed = [one for one in found if not one["same"]]
                assert max(len(one["left"]) for one in changed) < 20
                assert sum(one["right"].count("WORD") for one in changed) == edited.count("WORD")
            if name == "shifted":
                assert sum(not one["same"] for one in found) == 1
