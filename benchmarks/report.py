"""Size of the HTML report, CPU time to write it, and time to open it in a browser.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/report.py` (a minute and a half), or `make bench`.
`--full` adds 4,000 and 14,000 items, the size of MMLU (a quarter of an hour); `--quick` makes a
tenth of the items. Time grows as items to the power of the exponent, taken between the two largest
sizes. The bounds for 14,000 items × 8 models under SEAL and full_pairwise are 120 s of CPU and 2 GB
for `tiebreak report`; at every size the page is to be below 15 MB (files beside it have the rest)
and to open in less than 2 s.

Answers have 1,500 characters, and the reasoning of every vote on a principle 110. Words are drawn
by Zipf's law from a vocabulary of 3,000, and compress like this project's notes: 2.1 to 1 in texts
of 1,500 characters, 3.0 to 1 in 200,000. (Logs of more than 1,000 items repeat them, far beyond the
reach of gzip.) About half of a reasoning is findings about the two answers, which are the same for
an answer in all its matches. With `--unrelated` all words are drawn anew, which no judge does: it
gives the largest page possible.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate, combinations
from random import Random
from typing import NamedTuple
from zipfile import ZipFile

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from rich.console import Console
from rich.table import Table

from tests.ranking_logs.builders import CREATED, call, sample
from tiebreak.candidates import PROTOCOL_KEY
from tiebreak.scorers.ballots import ItemBallots, Match, Refinement, Side, Tiering, Verdict, Vote
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import settle

MODELS = [f"maker-{n}/model-{n}-instruct" for n in range(8)]
PRINCIPLES = {f"P{n}": weight for n, weight in enumerate((0.4, 0.25, 0.2, 0.15), start=1)}
PROTOCOLS = ("seal", "full_pairwise")
CHECKLIST = [f"C{n}" for n in range(1, 7)]
DISTINCT = 1000  # number of items drawn; larger logs repeat them under other names
OPEN = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


class Writer:
    """Draws words by Zipf's law."""

    def __init__(self, random: Random) -> None:
        parts = [a + b for a in "bcdfghlmnprstvw" for b in "aeiou"]
        lengths = random.choices((1, 2, 3, 4), (1, 4, 4, 2), k=3000)
        self.words = ["".join(random.choices(parts, k=n)) for n in lengths]
        self.weights = list(accumulate((rank + 2) ** -1.05 for rank in range(len(self.words))))
        self.random = random

    def text(self, characters: int) -> str:
        """Sentences of about so many characters in total."""
        words = self.random.choices(self.words, cum_weights=self.weights, k=characters // 5)
        for place in range(0, len(words), 14):
            words[place] = words[place].capitalize()
        return " ".join(words)[:characters].rstrip() + "."


class Judge:
    """Votes on the answers to one item; if `unrelated`, no finding is repeated in its reasoning."""

    def __init__(self, writer: Writer, *, unrelated: bool) -> None:
        self.writer, self.unrelated = writer, unrelated
        self.found: dict[tuple[str, str], str] = {}

    def match(self, pairing: Pairing) -> Match:
        """A match, in which the model with the lower number is the better one."""
        better = 0.5 + (MODELS.index(pairing.low) - MODELS.index(pairing.high)) * 0.05
        left = self.writer.random.random() < 0.5
        pair = (pairing.high, pairing.low) if left else (pairing.low, pairing.high)
        return settle(pairing, [self.verdict(*pair, better if left else 1 - better)])

    def verdict(self, first: str, second: str, better: float) -> Verdict:
        """Votes that favour the first answer with probability `better`."""
        principles = {
            name: self.vote(better, self.reasoning(first, second, name)) for name in PRINCIPLES
        }
        checklist = {name: self.vote(better) for name in CHECKLIST}
        signs = {"left": 1, "tie": 0, "right": -1}
        votes = principles.items()
        margin = sum(PRINCIPLES[name] * signs[v.vote] * v.confidence for name, v in votes)
        return Verdict(
            first=first,
            principles=principles,
            checklist=checklist,
            margin=margin,
            checklist_margin=sum(signs[v.vote] * v.confidence for v in checklist.values()) / 6,
        )

    def vote(self, better: float, reasoning: str = "") -> Vote:
        """A side with a confidence of two decimals."""
        draw = self.writer.random
        side: Side = "left" if draw.random() < better else "right"
        return Vote(
            vote="tie" if draw.random() < 0.15 else side,
            confidence=round(draw.uniform(0.5, 1), 2),
            reasoning=reasoning,
        )

    def reasoning(self, first: str, second: str, principle: str) -> str:
        """Some 110 characters: a finding about each answer, and a conclusion."""
        if self.unrelated:
            return self.writer.text(110)
        findings = [self.finding(model, principle) for model in (first, second)]
        return " ".join((*findings, self.writer.text(54)))

    def finding(self, model: str, principle: str) -> str:
        """The judge's finding about a model's answer, the same in all its matches."""
        key = (model, principle)
        if key not in self.found:
            self.found[key] = self.writer.text(28)
        return self.found[key]


def seal(item_id: str, judge: Judge) -> ItemBallots:
    """Ballots of a bracket of eight models, with two refinements."""
    writer = judge.writer
    seeds, matches = writer.random.sample(MODELS, 8), []
    alive, number = seeds, 0
    while len(alive) > 1:
        number += 1
        pairs = [(alive[n], alive[-1 - n]) for n in range(len(alive) // 2)]
        rounds = [judge.match(Pairing(number, slot, *pair)) for slot, pair in enumerate(pairs)]
        matches += rounds
        alive = [match.winner for match in rounds]
    refinements = tuple(
        Refinement(
            round=n, slot=0, item_id=f"R{n}", principle_id="P1", description=writer.text(120),
            differentiator=writer.text(100), anchor_split="4 vs 3",
            higher_snippet=writer.text(120), lower_snippet=writer.text(120),
        )
        for n in (1, 2)
    )  # fmt: skip
    tiering = Tiering(
        tiers={model: 1 + n // 2 for n, model in enumerate(seeds)}, reasoning=writer.text(150)
    )
    update = {"tiering": tiering, "seeds": tuple(seeds), "refinements": refinements}
    return ballots("seal", item_id, matches).model_copy(update=update)


def all_pairs(item_id: str, judge: Judge) -> ItemBallots:
    """Ballots of every pair once."""
    pairs = [Pairing(1, slot, *pair) for slot, pair in enumerate(combinations(MODELS, 2))]
    made = ballots("full_pairwise", item_id, [judge.match(pair) for pair in pairs])
    return made.model_copy(update={"placed_by": "win_rate"})


def ballots(protocol: str, item_id: str, matches: Sequence[Match]) -> ItemBallots:
    """Ballots with the fields that both protocols have in common."""
    return ItemBallots(
        protocol=protocol, benchmark="gsm8k", item_id=item_id, input_hash="0",
        task_type="math_reasoning", rubric="math_reasoning", seed=0, models=tuple(MODELS),
        native=dict.fromkeys(MODELS, 1.0), groups=tuple((model,) for model in MODELS),
        lengths=dict.fromkeys(MODELS, 1500), matches=tuple(matches),
        calls=tuple(call() for _ in matches), complete=True,
    )  # fmt: skip


def samples(n_items: int, protocol: str, *, unrelated: bool) -> Iterator[EvalSample]:
    """Draw the samples of a log of the protocol; the answers are the same in both logs."""
    writer = Writer(Random(f"2026 {protocol}"))
    author = Writer(Random("2026"))
    rubric = {
        "principles": [
            {"id": name, "name": name, "weight": weight, "description": "What it is about."}
            for name, weight in PRINCIPLES.items()
        ],
        "checklist": [
            {"id": name, "principle": "P1", "description": "What it asks."} for name in CHECKLIST
        ],
    }
    make = seal if protocol == "seal" else all_pairs
    for number in range(n_items):
        contest = {
            "task": author.text(300),
            "rubric": rubric,
            "answers": {model: author.text(1500) for model in MODELS},
        }
        one = sample(make(f"q{number}", Judge(writer, unrelated=unrelated)))
        yield one.model_copy(update={"metadata": {"contest": contest}})


def logs(folder: Path, n_items: int, *, unrelated: bool) -> None:
    """Write a log of each protocol; Inspect writes the log, and the samples are added as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for protocol in PROTOCOLS:
        ids: list[int | str] = [f"gsm8k:{protocol}:q{number}" for number in range(n_items)]
        spec = EvalSpec(
            created=CREATED, task=protocol, eval_id=protocol, task_id=protocol, model="none/none",
            dataset=EvalDataset(name="gsm8k", samples=n_items, sample_ids=ids),
            config=EvalConfig(), metadata={PROTOCOL_KEY: protocol},
        )  # fmt: skip
        path = folder / f"{protocol}.eval"
        write_eval_log(EvalLog(status="success", eval=spec, samples=[]), str(path))
        drawn = list(samples(min(n_items, DISTINCT), protocol, unrelated=unrelated))
        texts = [one.model_dump_json(exclude_none=True) for one in drawn]
        with ZipFile(path) as written:
            how = written.infolist()[0].compress_type  # Inspect's own
        with ZipFile(path, "a", how) as log:
            for number, name in enumerate(ids):
                was = number % DISTINCT
                text = texts[was].replace(f'"{drawn[was].id}"', json.dumps(name))
                text = text.replace(f'"item_id":"q{was}"', f'"item_id":"q{number}"')
                log.writestr(f"samples/{name}_epoch_1.json", text)


class Written(NamedTuple):
    """CPU seconds and peak GB to write a report, and MB of its page and of the files beside it."""

    seconds: float
    peak: float
    page: float
    beside: float


def written(paths: Sequence[Path], folder: Path) -> Written:
    """Write the report of some logs, in a process of its own."""
    command = [sys.executable, "-c", "from tiebreak.cli.verbs import main; main()", "report"]
    process = subprocess.Popen(
        [*command, *map(str, paths), "-o", str(folder)], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("the report failed")
    return Written(
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1e6,
        (folder / "index.html").stat().st_size / 1e6,
        sum(file.stat().st_size for file in folder.glob("items/*.js")) / 1e6,
    )


def opened(page: Path) -> tuple[float, float, float]:
    """Seconds until the page is parsed, until it is painted, and until its last item is open."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=OPEN)
        tab = browser.new_page()
        tab.goto("about:blank")
        began = time.perf_counter()
        tab.goto(page.resolve().as_uri(), wait_until="load")
        tab.evaluate("() => new Promise(done => requestAnimationFrame(() => done(null)))")
        painted = time.perf_counter() - began
        parsed = tab.evaluate(
            "() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd / 1000"
        )
        last = tab.evaluate(
            "() => JSON.parse(document.getElementById('tiebreak-index').textContent).items.length"
        )
        began = time.perf_counter()
        tab.evaluate(f"() => {{ location.hash = '#item-{last - 1}' }}")
        tab.locator("#item[open]", has_text=MODELS[0]).wait_for()
        shown = time.perf_counter() - began
        browser.close()
    return float(parsed), painted, shown


def exponent(sizes: Sequence[int], figures: Sequence[float]) -> str:
    """Exponent of the growth between the two largest sizes; a dash for one size."""
    if len(sizes) < 2:
        return "–"
    return f"{math.log(figures[-1] / figures[-2]) / math.log(sizes[-1] / sizes[-2]):.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="4,000 and 14,000 items as well")
    parser.add_argument("--quick", action="store_true", help="a tenth of the items")
    parser.add_argument("--unrelated", action="store_true", help="all words drawn anew")
    parser.add_argument("--keep", type=Path, help="write logs and reports here, and keep them")
    given = parser.parse_args()
    sizes = [250, 1000, *((4000, 14000) if given.full else ())]
    sizes = [size // 10 for size in sizes] if given.quick else sizes
    table = Table(
        *("items", "logs", "CPU s", "GB", "MB of the page", "MB beside it"),
        *("parsed", "painted", "item open"),
        title=f"HTML report, {len(MODELS)} models",
    )
    both: list[Written] = []
    missed = False
    with tempfile.TemporaryDirectory() as temporary:
        for size in sizes:
            folder = (given.keep or Path(temporary)) / str(size)
            logs(folder / "logs", size, unrelated=given.unrelated)
            for shown in (PROTOCOLS[:1], PROTOCOLS):
                paths = [folder / "logs" / f"{protocol}.eval" for protocol in shown]
                found = written(paths, folder / "+".join(shown))
                seen = opened(folder / "+".join(shown) / "index.html")
                table.add_row(
                    f"{size:,}", " + ".join(shown),
                    *(f"{figure:.1f}" for figure in found), *(f"{one:.2f}" for one in seen),
                )  # fmt: skip
                missed |= found.page > 15 or seen[1] > 2
            both.append(found)
            missed |= size == 14000 and (found.seconds > 120 or found.peak > 2)
    growth = [exponent(sizes, figures) for figures in list(zip(*both, strict=True))[:2]]
    table.add_row("exponent", "", *growth)
    Console(width=110).print(table)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
