"""How the verbs grow with the number of items: CPU seconds, memory, exponents.

Run `OPENBLAS_NUM_THREADS=1 python benchmarks/scale.py` (two minutes), or `make bench`. `--full`
adds 4,000 and 14,000 items, the size of MMLU (half an hour). There are 8 models with answers of
1,500 characters, a SEAL and a full_pairwise log of a planted judge, votes with 110 characters of
reasoning, a quarter of the matches judged in both orders, and 6 kB of transcript for every call.
Time grows as items to the power of the exponent, taken between the two largest sizes.

To be reached at 14,000 items: `rank` within 60 s of CPU and 2 GB; reading a SEAL log of 100 items
within 2 × what zip and JSON take for its samples; the scorer's metrics for 1,000 items and all
pairs of 100 models within 30 s of CPU for the five passes of a run; `estimate` of three protocols
for 1,000 items and 100 models within 20 s of CPU.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # of a script its own folder, whose statistics.py would stand for Python's
sys.path.insert(0, str(Path(__file__).parents[1]))

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from zipfile import ZipFile

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import SampleScore
from rich.console import Console
from rich.table import Table

from tests.candidates.builders import inspect_sample
from tests.ranking_logs.builders import CREATED, call, item, match
from tests.scorers.tournament import planted_contest
from tiebreak.candidates import PROTOCOL_KEY, load_candidates
from tiebreak.estimate.cost import read_protocols
from tiebreak.estimate.estimate import Judges, estimate
from tiebreak.estimate.tokens import token_counter
from tiebreak.inspect_tasks.contests import contest_samples
from tiebreak.ranking_logs import read_ranking_logs
from tiebreak.scorers.ballots import (
    STORE_KEY,
    ItemBallots,
    Match,
    Side,
    Tiering,
    Verdict,
    Vote,
    ballots_text,
)
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import settle
from tiebreak.scorers.ranking import borda, borda_stderr, least_squares, score_ballots, spread

MODELS = [f"maker-{n}/model-{n}-instruct" for n in range(8)]
PRINCIPLES = {f"P{n}": weight for n, weight in enumerate((0.4, 0.25, 0.2, 0.15), start=1)}
CHECKLIST = [f"C{n}" for n in range(1, 7)]
DISTINCT = 200  # so many items are drawn; larger logs repeat them under other names
PLACEHOLDER = "THE-ITEM"
VERBS = ("rank", "compare", "stability", "write-back", "candidates", "diagnose", "estimate")
BOUNDS = {"rank": (60.0, 2.0)}  # CPU seconds and GB, at 14,000 items


def words(random: Random, characters: int) -> str:
    """A text of about so many characters."""
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    return " ".join("".join(random.choices(syllables, k=3)) for _ in range(characters // 7))


class Judge:
    """Votes on pairs; the model with the lower number is the better one."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.reasons = [words(random, 110) for _ in range(500)]

    def match(self, pairing: Pairing) -> Match:
        """A match, a quarter of them in both orders."""
        pair = [pairing.high, pairing.low]
        self.random.shuffle(pair)
        orders = [pair, pair[::-1]] if self.random.random() < 0.25 else [pair]
        return settle(pairing, [self.verdict(*order) for order in orders])

    def verdict(self, first: str, second: str) -> Verdict:
        """Votes that favour the better one of two a little."""
        better = 0.5 + (MODELS.index(second) - MODELS.index(first)) * 0.05
        principles = {
            name: self.vote(better, self.random.choice(self.reasons)) for name in PRINCIPLES
        }
        checklist = {name: self.vote(better, "") for name in CHECKLIST}
        signs = {"left": 1, "tie": 0, "right": -1}
        votes = principles.items()
        margin = sum(PRINCIPLES[name] * signs[v.vote] * v.confidence for name, v in votes)
        return Verdict(
            first=first, principles=principles, checklist=checklist, margin=margin,
            checklist_margin=sum(signs[v.vote] * v.confidence for v in checklist.values()) / 6,
        )  # fmt: skip

    def vote(self, better: float, reasoning: str) -> Vote:
        """A side with a confidence of two decimals."""
        side: Side = "left" if self.random.random() < better else "right"
        return Vote(
            vote="tie" if self.random.random() < 0.15 else side,
            confidence=round(self.random.uniform(0.5, 1), 2),
            reasoning=reasoning,
        )


def drawn(protocol: str, judge: Judge) -> ItemBallots:
    """The ballots of an item without a name."""
    seeds, matches = judge.random.sample(MODELS, 8), list[Match]()
    if protocol == "seal":
        alive = seeds
        while len(alive) > 1:
            pairs = [(alive[n], alive[-1 - n]) for n in range(len(alive) // 2)]
            number = 4 - len(pairs).bit_length()
            played = [judge.match(Pairing(number, n, *pair)) for n, pair in enumerate(pairs)]
            matches, alive = [*matches, *played], [match.winner for match in played]
        tiers = {model: 1 + n // 2 for n, model in enumerate(seeds)}
        own = {"tiering": Tiering(tiers=tiers), "seeds": tuple(seeds)}
    else:
        pairs = list(combinations(MODELS, 2))
        matches = [judge.match(Pairing(1, n, *pair)) for n, pair in enumerate(pairs)]
        own = {"placed_by": "win_rate", "tiering": None, "seeds": ()}
    n_calls = sum(len(match.verdicts) for match in matches)
    return item(
        PLACEHOLDER,
        matches,
        groups=[(model,) for model in MODELS],
        calls=[call(cost=0.001) for _ in range(n_calls)],
        protocol=protocol,
    ).model_copy(update={**own, "lengths": dict.fromkeys(MODELS, 1500)})


def write_log(
    path: Path,
    task: str,
    model: str,
    metadata: dict[str, str],
    samples: Iterable[str],
    ids: list[int | str],
) -> Path:
    """A log of samples that are JSON already; Inspect writes what is around them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spec = EvalSpec(
        created=CREATED, task=task, eval_id=path.stem, task_id=path.stem, model=model,
        dataset=EvalDataset(name="gsm8k", samples=len(ids), sample_ids=ids),
        config=EvalConfig(), metadata=metadata,
    )  # fmt: skip
    write_eval_log(EvalLog(status="success", eval=spec, samples=[]), str(path))
    with ZipFile(path) as written:
        how = written.infolist()[0].compress_type  # Inspect's own
    with ZipFile(path, "a", how) as log:
        for name, text in zip(ids, samples, strict=True):
            log.writestr(f"samples/{name}_epoch_1.json", text)
    return path


def pool(folder: Path, n_items: int, models: Sequence[str] = MODELS) -> list[Path]:
    """The logs of the candidates."""
    random = Random(0)
    texts = [words(random, 1500) for _ in range(DISTINCT)]
    ids: list[int | str] = [f"q{number}" for number in range(n_items)]

    def samples(number: int) -> Iterator[str]:
        row = {"id": PLACEHOLDER, "question": f"What about {PLACEHOLDER}?", "target": "42"}
        one = inspect_sample({**row, "answer": "ANSWER", "native": 1.0}, models[number])
        text = one.model_dump_json(exclude_none=True)
        for place, name in enumerate(ids):
            answer = f"{texts[(place + 7 * number) % DISTINCT]} {number}"
            yield text.replace("ANSWER", answer).replace(PLACEHOLDER, str(name))

    return [
        write_log(folder / f"{n}.eval", "gsm8k", model, {}, samples(n), ids)
        for n, model in enumerate(models)
    ]


def rankings(folder: Path, pool: Sequence[Path]) -> list[Path]:
    """A SEAL and a full_pairwise log of the pool."""
    contests, random = contest_samples(load_candidates(pool)), Random(1)
    ids: list[int | str] = [str(one.id) for one in contests]
    judge = Judge(random)

    def samples(protocol: str) -> Iterator[str]:
        items = [drawn(protocol, judge) for _ in range(min(DISTINCT, len(ids)))]
        texts = [ballots_text(ballots) for ballots in items]
        prompts = [ChatMessageUser(content=words(random, 6000)) for _ in range(100)]
        for place, one in enumerate(contests):
            metadata = one.metadata or {}
            contest = metadata["contest"]
            ballots = items[place % len(items)]
            sample = EvalSample(
                id=ids[place], epoch=1, input=one.input, target=one.target, metadata=metadata,
                messages=[prompts[place % 100]] * len(ballots.calls), store={},
            ).model_dump_json(exclude_none=True)  # fmt: skip
            text = texts[place % len(items)].replace(PLACEHOLDER, contest["item_id"])
            text = text.replace('"input_hash":"0"', f'"input_hash":"{contest["input_hash"]}"')
            yield sample.replace('"store":{}', f'"store":{json.dumps({STORE_KEY: text})}')

    return [
        write_log(
            folder / f"{name}.eval", name, "none/none", {PROTOCOL_KEY: name}, samples(name), ids
        )
        for name in ("seal", "full_pairwise")
    ]


def spent(verb: str, logs: Path, candidates: Path) -> tuple[float, float]:
    """CPU seconds and peak GB of a verb, in a process of its own."""
    where = candidates if verb in ("candidates", "diagnose", "estimate") else logs
    into = ["--into", str(candidates), "--dry-run"] if verb == "write-back" else []
    into += ["--judge", "openai/gpt-5"] if verb == "estimate" else []
    command = [sys.executable, "-c", "from tiebreak.cli.verbs import main; main()", verb]
    process = subprocess.Popen(
        [*command, str(where), *into], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{verb} failed: {said}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds, the least of three times."""
    found = []
    for _ in range(3):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def reading(log: Path) -> tuple[float, float, float]:
    """CPU seconds to read a log; to unzip samples and parse their JSON; or only stores."""

    def texts() -> list[bytes]:
        with ZipFile(log) as held:
            return [held.read(name) for name in held.namelist() if name.startswith("samples/")]

    stores = [json.dumps(json.loads(text)["store"]) for text in texts()]
    return (
        cpu(lambda: read_ranking_logs([log])),
        cpu(lambda: [json.loads(text) for text in texts()]),
        cpu(texts) + cpu(lambda: [json.loads(text) for text in stores]),
    )


def metric_pass(n_models: int, n_items: int = 1000) -> float:
    """CPU seconds of the scorer's metrics, once, for results of all pairs."""
    names = [f"maker/model-{number}" for number in range(n_models)]
    matches = [match(one, other, 0.3) for one, other in combinations(names, 2)]
    ballots = item("q", matches, groups=[(name,) for name in names])
    stored = ballots.model_copy(update={"placed_by": "win_rate"}).model_dump(mode="json")
    score = score_ballots(stored, names)
    scores = [SampleScore(score=score, sample_id=number) for number in range(n_items)]
    metrics = (spread(), borda(), borda_stderr(), least_squares())
    began = time.process_time()
    for metric in metrics:
        metric(scores)  # type: ignore[arg-type]
    return time.process_time() - began


def estimating(n_models: int, n_items: int = 1000) -> float:
    """CPU seconds of an estimate of three protocols, of which one asks about all pairs."""
    names = [f"maker/model-{number}" for number in range(n_models)]
    random = Random(0)
    texts = [words(random, 1500) for _ in range(DISTINCT)]
    one = planted_contest(dict.fromkeys(names, 0.0))
    contests = [
        replace(
            one,
            item_id=str(n),
            answers={name: f"{texts[(n + 7 * k) % DISTINCT]} {k}" for k, name in enumerate(names)},
        )
        for n in range(n_items)
    ]
    variants = read_protocols("round_robin,seal,full_pairwise")
    judge = Judges("openai/gpt-5")
    began = time.process_time()
    estimate(contests, variants, judge, token_counter(list(judge.prices)))
    return time.process_time() - began


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> str:
    """Of the growth between the two largest sizes."""
    if len(sizes) < 2:
        return "–"
    growth = math.log(seconds[-1] / seconds[-2]) / math.log(sizes[-1] / sizes[-2])
    return f"{growth:.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="4,000 and 14,000 items as well")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of items")
    parser.add_argument("--verbs", nargs="+", choices=VERBS, default=VERBS)
    parser.add_argument("--keep", type=Path, help="write logs here, and take those that are there")
    given = parser.parse_args()
    sizes = given.sizes or [100, 250, 1000, *((4000, 14000) if given.full else ())]
    table = Table("items", *given.verbs, title="CPU seconds, GB at the peak")
    found: dict[str, list[float]] = {verb: [] for verb in given.verbs}
    missed = False
    console = Console(width=110)
    with tempfile.TemporaryDirectory() as temporary:
        for size in sizes:
            folder = (given.keep or Path(temporary)) / str(size)
            if not folder.exists():
                rankings(folder / "rankings", pool(folder / "pool", size))
            cells = []
            for verb in given.verbs:
                seconds, peak = spent(verb, folder / "rankings", folder / "pool")
                found[verb].append(seconds)
                most = BOUNDS.get(verb, (math.inf, math.inf)) if size == 14000 else (math.inf,) * 2
                missed |= seconds > most[0] or peak > most[1]
                cells.append(f"{seconds:.1f} s {peak:.2f} GB")
            table.add_row(f"{size:,}", *cells)
        table.add_row("exponent", *(exponent(sizes, found[verb]) for verb in given.verbs))
        console.print(table)
        log = (given.keep or Path(temporary)) / str(sizes[0]) / "rankings" / "seal.eval"
        whole, samples, stores = reading(log)
        missed |= whole > 2 * samples
        console.print(
            f"Reading a SEAL log of {sizes[0]} items: {whole:.2f} s, {whole / samples:.1f} × zip "
            f"and JSON of its samples (bound 2), {whole / stores:.1f} × of their stores alone"
        )
    passes = {n: metric_pass(n) for n in (8, 30, 100)}
    missed |= 5 * passes[100] > 30
    console.print(
        "The scorer's metrics, full_pairwise, 1,000 items, five passes: "
        + ", ".join(f"{5 * seconds:.1f} s for {n} models" for n, seconds in passes.items())
        + " (bound 30)"
    )
    asked = {n: estimating(n) for n in (8, 30, 100)}
    missed |= asked[100] > 20
    console.print(
        "`estimate` of round_robin, seal and full_pairwise, 1,000 items: "
        + ", ".join(f"{seconds:.1f} s for {n} models" for n, seconds in asked.items())
        + f" (bound 20), models to the power of {exponent([*asked], [*asked.values()])}"
    )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
