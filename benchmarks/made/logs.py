"""Logs of realistic size: the answers of 8 models, and the ballots of a planted judge.

Answers have 1,500 characters, votes 110 of reasoning, a quarter of the matches is judged in both
orders, and every call has 6 kB of transcript. There are labels of people for the same answers, too.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from random import Random
from zipfile import ZipFile

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Score

from tests.candidates.builders import inspect_sample, write_lm_eval_run
from tests.ranking_logs.builders import CREATED, call, item, starred
from tiebreak.candidates import PROTOCOL_KEY, REPLAY_KEY, load_candidates
from tiebreak.candidates.parquet import write_parquet
from tiebreak.inspect_tasks.contests import contest_samples
from tiebreak.scorers.ballots import (
    STORE_KEY,
    ItemBallots,
    Listing,
    Match,
    Reviewer,
    Side,
    Tiering,
    Verdict,
    Vote,
    ballots_text,
)
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import settle

MODELS = [f"maker-{n}/model-{n}-instruct" for n in range(8)]
PRINCIPLES = {f"P{n}": weight for n, weight in enumerate((0.4, 0.25, 0.2, 0.15), start=1)}
CHECKLIST = [f"C{n}" for n in range(1, 7)]
DISTINCT = 200  # number of items drawn; larger logs repeat them under other names
PLACEHOLDER = "THE-ITEM"
MATCHES = ("seal", "full_pairwise")


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
        """A match, judged in both orders in a quarter of the cases."""
        pair = [pairing.high, pairing.low]
        self.random.shuffle(pair)
        orders = [pair, pair[::-1]] if self.random.random() < 0.25 else [pair]
        return settle(pairing, [self.verdict(*order) for order in orders])

    def verdict(self, first: str, second: str) -> Verdict:
        """Votes that favour the better of two models by 5 percentage points a place."""
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
    """Draw the ballots of an item whose id is `PLACEHOLDER`."""
    seeds, matches = judge.random.sample(MODELS, 8), list[Match]()
    if protocol == "stars":
        return starred(PLACEHOLDER, {model: judge.random.randrange(4) for model in MODELS})
    if protocol == "peer_review":
        return reviewed(judge)
    if protocol == "seal":
        alive = seeds
        while len(alive) > 1:
            pairs = [(alive[n], alive[-1 - n]) for n in range(len(alive) // 2)]
            number = 4 - len(pairs).bit_length()
            played = [judge.match(Pairing(number, n, *pair)) for n, pair in enumerate(pairs)]
            matches, alive = [*matches, *played], [match.winner for match in played]
        tiers = {model: 1 + n // 2 for n, model in enumerate(seeds)}
        fields = {"tiering": Tiering(tiers=tiers), "seeds": tuple(seeds)}
    else:
        pairs = list(combinations(MODELS, 2))
        matches = [judge.match(Pairing(1, n, *pair)) for n, pair in enumerate(pairs)]
        fields = {"placed_by": "win_rate", "tiering": None, "seeds": ()}
    n_calls = sum(len(match.verdicts) for match in matches)
    return item(
        PLACEHOLDER,
        matches,
        groups=[(model,) for model in MODELS],
        calls=[call(cost=0.001) for _ in range(n_calls)],
        protocol=protocol,
    ).model_copy(update={**fields, "lengths": dict.fromkeys(MODELS, 1500)})


def reviewed(judge: Judge) -> ItemBallots:
    """Ballots of a peer review: each model's ranking of the item's answers."""
    listings = [
        Listing(
            groups=tuple((model,) for model in judge.random.sample(MODELS, 8)),
            reviewer=reviewer,
            shown=tuple(judge.random.sample(MODELS, 8)),
        )
        for reviewer in MODELS
    ]
    calls = [call("list", role="peers", reviewer=name, model=name, cost=0.001) for name in MODELS]
    groups = [(model,) for model in MODELS]
    ballots = item(PLACEHOLDER, groups=groups, calls=calls, protocol="peer_review")
    return ballots.model_copy(
        update={
            "placed_by": "consensus",
            "aggregator": "kemeny_young",
            "reviewers": tuple(Reviewer(name=m, model=m, candidate=m) for m in MODELS),
            "listings": tuple(listings),
            "tiering": None,
            "seeds": (),
        }
    )


def write_log(
    path: Path,
    task: str,
    model: str,
    metadata: dict[str, str],
    samples: Iterable[str],
    ids: list[int | str],
) -> Path:
    """Write a log; Inspect writes it without samples, which are added as the given JSON."""
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
    """Write the logs of the candidates, one for each model."""
    random = Random(0)
    texts = [words(random, 1500) for _ in range(DISTINCT)]
    ids: list[int | str] = [f"q{number}" for number in range(n_items)]

    def samples(number: int) -> Iterator[str]:
        row = {"id": PLACEHOLDER, "question": f"What about {PLACEHOLDER}?", "target": "42"}
        right, wrong = (
            inspect_sample(
                {**row, "answer": "ANSWER", "native": native}, models[number]
            ).model_dump_json(exclude_none=True)
            for native in (1.0, 0.0)
        )
        for place, name in enumerate(ids):
            answer = f"{texts[(place + 7 * number) % DISTINCT]} {number}"
            text = wrong if (place + 3 * number) % 10 == 0 else right
            yield text.replace("ANSWER", answer).replace(PLACEHOLDER, str(name))

    return [
        write_log(folder / f"{n}.eval", "gsm8k", model, {}, samples(n), ids)
        for n, model in enumerate(models)
    ]


def rankings(folder: Path, pool: Sequence[Path], protocols: Sequence[str] = MATCHES) -> list[Path]:
    """Write a log of each protocol, about the answers of a pool."""
    contests, random = contest_samples(load_candidates(pool)), Random(1)
    ids: list[int | str] = [str(contest.id) for contest in contests]
    judge = Judge(random)

    def samples(protocol: str) -> Iterator[str]:
        items = [drawn(protocol, judge) for _ in range(min(DISTINCT, len(ids)))]
        texts = [ballots_text(ballots) for ballots in items]
        prompts = [ChatMessageUser(content=words(random, 6000)) for _ in range(100)]
        for place, asked in enumerate(contests):
            metadata = asked.metadata or {}
            contest = metadata["contest"]
            ballots = items[place % len(items)]
            sample = EvalSample(
                id=ids[place], epoch=1, input=asked.input, target=asked.target, metadata=metadata,
                messages=[prompts[place % 100]] * len(ballots.calls), store={},
            ).model_dump_json(exclude_none=True)  # fmt: skip
            text = texts[place % len(items)].replace(PLACEHOLDER, contest["item_id"])
            text = text.replace('"input_hash":"0"', f'"input_hash":"{contest["input_hash"]}"')
            yield sample.replace('"store":{}', f'"store":{json.dumps({STORE_KEY: text})}')

    return [
        write_log(
            folder / f"{name}.eval", name, "none/none", {PROTOCOL_KEY: name}, samples(name), ids
        )
        for name in protocols
    ]


def lm_eval_runs(folder: Path, n_items: int) -> None:
    """Write the output of lm-eval for the same answers."""
    random = Random(0)
    texts = [words(random, 1500) for _ in range(DISTINCT)]
    for number, model in enumerate(MODELS):
        rows = [
            {
                "id": f"q{place}",
                "question": f"What about q{place}?",
                "target": "42",
                "answer": f"{texts[(place + 7 * number) % DISTINCT]} {number}",
                "native": 1.0,
            }
            for place in range(n_items)
        ]
        write_lm_eval_run(folder, model, rows)


def replays(folder: Path, n_items: int) -> None:
    """Write logs of `replay` by one model, for a public dataset and for an own one."""
    random = Random(2)
    folder.mkdir(parents=True)
    for data in ("gsm8k", "ours"):
        samples = [
            EvalSample(
                id=f"q{place}", epoch=epoch, input=words(random, 300), target="42",
                scores={"filled_in": Score(value=random.choice("CI"))},
            )
            for place in range(n_items)
            for epoch in (1, 2, 3)
        ]  # fmt: skip
        spec = EvalSpec(
            created=CREATED, task="replay", dataset=EvalDataset(name=data), model=MODELS[0],
            config=EvalConfig(epochs=3), metadata={REPLAY_KEY: {"data": data, "mask": "word"}},
        )  # fmt: skip
        log = EvalLog(status="success", eval=spec, samples=samples)
        write_eval_log(log, str(folder / f"{data}.eval"))


def people(folder: Path, n_items: int) -> None:
    """Write what people said as CSV: an order of the models, stars, and pairwise preferences."""
    random = Random(3)
    tables = {
        "order": ["model,rank", *(f"{model},{n}" for n, model in enumerate(MODELS, start=1))],
        "stars": ["item_id,model,stars"],
        "pairs": ["item_id,model_a,model_b,winner"],
    }
    for place in range(n_items):
        model, other = random.sample(MODELS, 2)
        tables["stars"].append(f"q{place},{model},{random.randrange(4)}")
        tables["pairs"].append(f"q{place},{model},{other},{random.choice('ab')}")
    for name, lines in tables.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_all(folder: Path, n_items: int) -> None:
    """Write all of the above about `n_items` items into a folder."""
    answers = pool(folder / "pool", n_items)
    write_parquet(load_candidates(answers), folder / "pool.parquet")
    rankings(folder / "rankings", answers)
    rankings(folder / "stars", answers, ["stars"])
    rankings(folder / "reviews", answers, ["peer_review"])
    lm_eval_runs(folder / "lm_eval", n_items)
    replays(folder / "replays", n_items)
    people(folder, n_items)
