"""Cost of judging, counted without calls: dollars, cacheable input and reply tokens by protocol.

Run `python benchmarks/price.py` (half a minute), or `make bench`; `--out docs/price.md` renews the
tables there. `--quick` counts fewer items.

The items are made up: questions as long as those of the four benchmarks, and answers of eight
models, all different. Every protocol runs on them with the judge of `tiebreak estimate`, which
renders and counts every prompt, and makes up a reply with sentences of 18 words; 15% of its
verdicts are close and 5% even. Tokens are those of o200k_base if it can be loaded, else counted by
the rule of `tiebreak.study.estimate.prices`. Hidden reasoning of a judge is not counted, nor is the
schema of replies, which some providers bill (170 tokens for a match).
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import json
from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from os.path import commonprefix
from random import Random
from statistics import fmean
from typing import Any, Final, TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from tiebreak.prices import Price
from tiebreak.scorers.catalogue import ONE_JUDGE
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Prompt, Question, Reply
from tiebreak.scorers.protocols import in_event_loop, judge_item, read_variant
from tiebreak.scorers.questions import MatchQuestion, ScoreQuestion
from tiebreak.scorers.rubric import load_rubric
from tiebreak.study.estimate.dry_judge import (
    WORDS,
    DryJudge,
    Habit,
    TokenCounter,
    token_counter,
)
from tiebreak.study.estimate.prices import PricedModel
from tools.marks import renew

T = TypeVar("T")
MARKS: Final = ("<!-- written by benchmarks/price.py -->", "<!-- end -->")
MODELS, ITEMS, PER = 8, 24, 1_000
PRICE: Final = Price(2.0, 17.0)
"""Dollars per million tokens, in and out: those of SEAL, §3.5."""
LEAST, STEP = 1_024, 128
"""Tokens of the shortest prefix that providers cache, and the steps in which it grows."""
HABIT: Final = Habit(close=0.15, tie=0.05, words=18)
PAPER: Final = {
    "listwise": 42,
    "pointwise": 106,
    "fixed_rubric": 157,
    "flat_bracket": 294,
    "seal": 362,
    "full_pairwise": 1_073,
}
"""Dollars per 1,000 items of HumanEval, with the judge's hidden reasoning (SEAL, table 6)."""
KINDS: Final = {
    "GSM8K": "math_reasoning",
    "MMLU": "general_qa",
    "HumanEval": "code_generation",
    "BFCL": "tool_calling",
    "long answers": "general_qa",
}
"""Benchmarks whose lengths the items have, and task types. Long answers have 1,000 words."""
TIES: Final = ("seal:checklist=ties", "full_pairwise:checklist=ties")
LEAST_SAVED = 0.3
"""Least share of the tokens of a match's reply that lists are to save."""


def labels() -> list[str]:
    """Labels of all protocols that ask one judge, with a round robin of three lengths."""
    rounds = [f"round_robin:rounds={number}" for number in (1, 2, MODELS - 1)]
    names = [name for name in ONE_JUDGE if name != "original"]
    return [label for name in names for label in (rounds if name == "round_robin" else [name])]


@dataclass(frozen=True)
class Asked:
    """A call about `item`; `depth` counts the calls on which it depends, `text` is the prompt."""

    question: Question[Any]
    item: int
    depth: int
    text: str
    reply: str


@dataclass(frozen=True)
class Bill:
    """Calls and tokens of a protocol for `PER` items.

    `again` is the share of input tokens in prefixes shared with an earlier call of the run.
    `served` counts only prefixes that providers cache (`LEAST`, `STEP`), of calls that have ended:
    those of earlier items, and those of the same item before this call can start.
    """

    calls: float
    tokens_in: float
    tokens_out: float
    again: float
    served: float

    @property
    def dollars(self) -> float:
        return (self.tokens_in * PRICE.input + self.tokens_out * PRICE.output) / 1e6


def prose(rng: Random, words: int) -> str:
    """Text of so many words, in sentences of twelve."""
    text = [" ".join(rng.choices(WORDS, k=min(12, words - n))) for n in range(0, words, 12)]
    return " ".join(f"{sentence.capitalize()}." for sentence in text)


def code(rng: Random, lines: int) -> str:
    """The body of a function in Python, of about so many lines."""
    name = partial(rng.choice, ("total", "values", "result", "index", "items", "left", "right"))
    forms = (
        lambda: f"    {name()} = {name()}[{rng.randint(0, 9)}] + {rng.randint(1, 99)}",
        lambda: f"    if {name()} > len({name()}) - {rng.randint(1, 9)}:\n        return {name()}",
        lambda: f"    for {name()} in sorted({name()}, reverse=True):\n        {name()} += 1",
        lambda: f"    # {prose(rng, 8)}",
    )
    return "\n".join(rng.choice(forms)() for _ in range(lines))


def task_of(kind: str, rng: Random) -> str:
    """A question as long as those of the benchmark."""
    if kind == "GSM8K":
        return f"{prose(rng, 45)} How many are there after {rng.randint(2, 9)} days?"
    if kind in ("MMLU", "long answers"):
        return "\n".join([prose(rng, 45), *(f"{letter}. {prose(rng, 10)}" for letter in "ABCD")])
    if kind == "HumanEval":
        says = f"{prose(rng, 60)}\n\n    >>> solve([1])\n    1\n"
        return f'def solve(values: list[int]) -> int:\n    """{says}    """'
    tools = [
        {
            "name": f"{rng.choice(WORDS)}_{rng.choice(WORDS)}",
            "description": prose(rng, 12),
            "parameters": {
                f"{rng.choice(WORDS)}_{n}": {"type": "string", "description": prose(rng, 9)}
                for n in range(4)
            },
        }
        for _ in range(2)
    ]
    return f"{prose(rng, 24)}\n\nTools:\n{json.dumps(tools, indent=1)}"


def answer_of(kind: str, rng: Random) -> str:
    """An answer as long as those that models give."""
    if kind == "GSM8K":
        steps = [
            f"{prose(rng, 14)} {a} * {b} = {a * b}."
            for a, b in ((rng.randint(2, 60), rng.randint(2, 9)) for _ in range(rng.randint(4, 6)))
        ]
        return "\n".join([*steps, f"The answer is {rng.randint(2, 500)}."])
    if kind in ("MMLU", "long answers"):
        words = rng.randint(90, 150) if kind == "MMLU" else rng.randint(800, 1200)
        return f"{prose(rng, words)}\nANSWER: {rng.choice('ABCD')}"
    if kind == "HumanEval":
        body = code(rng, rng.randint(8, 16))
        return f"```python\ndef solve(values: list[int]) -> int:\n{body}\n    return result\n```"
    arguments = {f"{rng.choice(WORDS)}_{n}": rng.choice(WORDS) for n in range(4)}
    return json.dumps({"name": rng.choice(WORDS), "arguments": arguments})


def contest(kind: str, number: int, n_items: int = ITEMS) -> Contest:
    """An item of a benchmark with the answers of all models."""
    rng = Random(f"{kind} {number}")
    models = tuple(f"m{model}" for model in range(MODELS))
    return Contest(
        benchmark=kind,
        item_id=str(number),
        input_hash=f"{number:016x}",
        task=task_of(kind, rng),
        rubric_name=KINDS[kind],
        rubric=load_rubric(KINDS[kind]),
        seed=0,
        models=models,
        native=dict.fromkeys(models, 1.0),
        groups=tuple((model,) for model in models),
        answers={model: answer_of(kind, rng) for model in models},
        position=number,
        n_items=n_items,
    )


class Recorder(DryJudge):
    """The judge of `tiebreak estimate` on one item, which also records its calls."""

    made_up = sys.maxsize

    def __init__(self, item: int, asked: list[Asked]) -> None:
        billed = dict.fromkeys(("judge", "meta_judge"), PricedModel("any", PRICE))
        rng = Random(f"judge {item}")
        super().__init__(HABIT, self._note, lambda question, answer: 0.0, billed, rng)
        self._item, self._asked, self._depth = item, asked, 0

    async def ask(self, question: Question[T], *, depth: int, attempt: int = 0) -> Reply[T]:
        self._depth = depth
        return await super().ask(question, depth=depth, attempt=attempt)

    def _note(self, question: Question[Any], prompt: Prompt, reply: str) -> tuple[float, float]:
        text = f"{prompt.system}\n{prompt.user}"
        self._asked.append(Asked(question, self._item, self._depth, text, reply))
        return 0.0, 0.0


def asked(label: str, kind: str, n_items: int) -> tuple[Asked, ...]:
    """All calls of a protocol on items of one kind, in the order of the items."""
    variant = read_variant(label)
    contests = [contest(kind, number, n_items) for number in range(n_items)]
    settings = {**variant.protocol.prepare(contests), **variant.settings}
    calls: list[Asked] = []

    async def run() -> None:
        for number, item in enumerate(contests):
            judge = Recorder(number, calls)
            await judge_item(variant.protocol, item, judge, settings=settings)

    in_event_loop(run)
    return tuple(calls)


def bill(label: str, kind: str, counter: TokenCounter, n_items: int) -> Bill:
    """Count the calls and tokens of a protocol for `PER` items of one kind."""
    calls = asked(label, kind, n_items)
    total = np.zeros(5)
    sent: list[str] = []
    ended: list[str] = []
    for _, level in groupby(sorted(calls, key=_when), key=_when):
        now = list(level)
        for call in now:
            tokens = counter.count(call.text)
            again = counter.count(call.text[: shared(call.text, sent)])
            served = counter.count(call.text[: shared(call.text, ended)])
            served = served // STEP * STEP if served >= LEAST else 0
            row = np.array((1, tokens, counter.count(call.reply), again, served))
            # A rubric is written once, whatever the number of items.
            total += row / (PER if call.question.kind == "rubric" else n_items)
            insort(sent, call.text)
        for call in now:
            insort(ended, call.text)
    number, tokens_in, tokens_out, again, served = (PER * total).tolist()
    return Bill(number, tokens_in, tokens_out, again / tokens_in, served / tokens_in)


def _when(call: Asked) -> tuple[int, int]:
    return call.item, call.depth


def shared(text: str, earlier: Sequence[str]) -> int:
    """Length in characters of the longest prefix that a text shares with one of sorted texts."""
    at = bisect_left(earlier, text)
    near = earlier[max(0, at - 1) : at + 1]
    # By characters: no paths.
    return max((len(commonprefix([text, one])) for one in near), default=0)  # noqa: RUF071


def replies(kind: str, counter: TokenCounter) -> dict[str, tuple[float, float]]:
    """Tokens of a reply by kind of question: with an object for each id, as it was; with lists."""
    item = contest(kind, 0)
    match = MatchQuestion(item, item.rubric.checklist, left=item.models[0], right=item.models[1])
    asked_for: dict[str, Question[Any]] = {
        "match": match,
        "match, principles only": replace(match, votes="principles"),
        "grades of an answer": ScoreQuestion(item, item.models[0]),
    }
    found = {}
    for name, question in asked_for.items():
        made_up: list[Asked] = []

        async def ask(question: Question[Any] = question, to: list[Asked] = made_up) -> None:
            for number in range(ITEMS):
                await Recorder(number, to).ask(question, depth=0)

        in_event_loop(ask)
        ids = list(item.rubric.weights), [one.id for one in item.rubric.checklist]
        now = fmean(counter.count(call.reply) for call in made_up)
        before = fmean(counter.count(as_objects(call.reply, *ids)) for call in made_up)
        found[name] = before, now
    return found


def as_objects(reply: str, principle_ids: Sequence[str], checklist_ids: Sequence[str]) -> str:
    """The same votes or grades with an object for each id."""
    given = json.loads(reply)
    parts = given if "principles" in given else {"principles": given}
    ids = {"principles": principle_ids, "checklist": checklist_ids}
    return json.dumps(
        {
            part: {
                i: {name: entries[at] for name, entries in lists.items()}
                for at, i in enumerate(ids[part])
            }
            for part, lists in parts.items()
        }
    )


Sheet = tuple[str, list[str], list[list[str]]]
"""Title, headings and rows."""


def dollars(bills: Mapping[str, Mapping[str, Bill]]) -> Sheet:
    title = f"Dollars for {PER:,} items of {MODELS} models, direct / in batches at half the price"
    rows = []
    for label, own in bills.items():
        prices = [f"{one.dollars:.0f} / {one.dollars / 2:.0f}" for one in own.values()]
        paper = f"{PAPER[label]:,}" if label in PAPER else ""
        rows.append([label, f"{fmean(b.calls for b in own.values()) / PER:.1f}", *prices, paper])
    heads = ["protocol", "calls an item", *KINDS, "SEAL, table 6: HumanEval"]
    return title, heads, rows


def cacheable(bills: Mapping[str, Mapping[str, Bill]]) -> Sheet:
    title = (
        "Input tokens that an earlier call had at its beginning (of these: what providers cache)"
    )
    rows = [
        [label, *(f"{one.again:.0%} ({one.served:.0%})" for one in own.values())]
        for label, own in bills.items()
    ]
    return title, ["protocol", *KINDS], rows


def lengths(counted: Mapping[str, Mapping[str, tuple[float, float]]]) -> Sheet:
    title = "Tokens of a reply: an object for each id (before), lists (now)"
    rows = [
        [what, *(f"{own[what][0]:.0f} → {own[what][1]:.0f}" for own in counted.values())]
        for what in next(iter(counted.values()))
    ]
    return title, ["reply", *counted], rows


def markdown(sheets: Sequence[Sheet], counted_by: str) -> str:
    lines = ["", f"Tokens: {counted_by}."]
    for title, heads, rows in sheets:
        lines += ["", f"### {title}", "", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, ""])


def main() -> int:
    """Count, print the tables, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a quarter of the items")
    parser.add_argument("--out", type=Path, help="page to write the tables into")
    options = parser.parse_args()
    n_items = ITEMS // 4 if options.quick else ITEMS
    counter = token_counter(["any"])
    bills = {
        label: {kind: bill(label, kind, counter, n_items) for kind in KINDS}
        for label in [*labels(), *TIES]
    }
    counted = {kind: replies(kind, counter) for kind in KINDS if kind != "long answers"}
    sheets = [dollars(bills), cacheable(bills), lengths(counted)]
    console = Console(width=160)
    for title, heads, rows in sheets:
        table = Table(*heads, title=title)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    if options.out:
        renew(options.out, markdown(sheets, counter.name), *MARKS)
    saved = min(1 - now / before for own in counted.values() for before, now in [own["match"]])
    console.print(
        f"Lists save {saved:.0%} of a match's reply at least; to reach: {LEAST_SAVED:.0%}"
    )
    return 0 if saved >= LEAST_SAVED else 1


if __name__ == "__main__":
    sys.exit(main())
