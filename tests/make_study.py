"""Makes `examples/study`: answers of five models that do not exist, and a judge's verdicts on them.

And `examples/votes.csv`, votes of two planted people on some of the judge's pairs. They see how
good an answer is, with an error of their own, and like those of `FAVOURITE` better than it does.

Run `python -m tests.make_study` at the root of a clone. The tutorial and the README's picture show
what Tiebreak says of it. Everything is drawn from a seed: how good each model is, how good each
answer, and the errors of the judge, which is the tests' planted one.
"""

import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "examples" / "study"
MODELS = {"atlas": 2.62, "birch": 2.56, "cedar": 2.50, "delta": 2.28, "ember": 2.08}
"""How good the answers of each model are on average; they spread by 0.3 around it."""
BY_LM_EVAL = "ember"
"""The model that lm-eval asked, and not Inspect."""
FAVOURITE = "birch"
VOTES = Path(__file__).parent.parent / "examples" / "votes.csv"
ITEMS = 60
WRONG = 0.03
"""Share of the answers with a wrong number."""
THINGS = ("apples", "pencils", "stamps", "marbles", "tickets", "shells", "coins", "cards")
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana")


def question(item: int) -> tuple[str, int]:
    """A question of two steps and its answer."""
    draw = random.Random(f"question {item}")
    start, bags, more = draw.randint(3, 40), draw.randint(2, 9), draw.randint(2, 12)
    name, thing = draw.choice(NAMES), draw.choice(THINGS)
    text = f"{name} has {start} {thing} and buys {bags} bags of {more}. How many are there now?"
    return text, start + bags * more


def answer(model: str, item: int, right: int) -> tuple[str, float]:
    """A model's answer, which gives away how good it is, and its native score."""
    draw = random.Random(f"answer {model} {item}")
    wrong = draw.random() < WRONG
    said = right + (draw.choice((-10, -1, 1, 10)) if wrong else 0)
    quality = draw.gauss(MODELS[model], 0.3)
    return (
        f"Counted one by one, that makes {said}. (quality={quality:.2f})\n#### {said}",
        1.0 - wrong,
    )


def write_answers(folder: Path) -> None:
    """An Inspect log for each model but the last, whose answers are an output of lm-eval's."""
    from tests.candidates.builders import write_inspect_log, write_lm_eval_run

    for model in MODELS:
        rows = []
        for item in range(ITEMS):
            text, number = question(item)
            said, score = answer(model, item, number)
            rows.append({"id": f"{item + 1}", "question": text, "answer": said, "native": score})
        if model == BY_LM_EVAL:
            samples = write_lm_eval_run(folder / "lm_eval", model, rows, task="sums", results=False)
            right = [answer(model, item, question(item)[1])[1] for item in range(ITEMS)]
            mean = sum(right) / ITEMS
            results = {"results": {"sums": {"exact_match,none": mean}}, "model_name": model}
            file = samples.with_name(samples.name.replace("samples_sums", "results"))
            file.with_suffix(".json").write_text(f"{json.dumps(results)}\n", encoding="utf-8")
        else:
            file = folder / "inspect" / f"{model}.eval"
            write_inspect_log(file, model, rows, task="sums", scorer="final_number")


def write_votes(log: Path, file: Path, n_items: int = 45) -> None:
    """A vote on one of the judge's pairs of each of some items: pairs take turns."""
    from tiebreak.ranking_logs import read_ranking_logs
    from tiebreak.scorers.placement import judged_results

    draw = random.Random("votes")
    [ranked] = read_ranking_logs(log)
    shown: Counter[frozenset[str]] = Counter()
    lines = ["item_id,model_a,model_b,winner,rater"]
    for number, item in enumerate(draw.sample(ranked.items, n_items)):
        pairs = [(model, opponent) for model, opponent, _ in judged_results(item)]
        pair = min(pairs, key=lambda pair: (shown[frozenset(pair)], draw.random()))
        shown[frozenset(pair)] += 1
        first, second = draw.sample(pair, 2)
        gap = seen(first, item.item_id, draw) - seen(second, item.item_id, draw)
        winner = "tie" if abs(gap) < 0.1 else "model_a" if gap > 0 else "model_b"
        lines.append(f"{item.item_id},{first},{second},{winner},{('ann', 'ben')[number % 2]}")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def seen(model: str, item_id: str, draw: random.Random) -> float:
    """How good an answer looks to a planted person."""
    number = int(item_id) - 1
    text, _ = answer(model, number, question(number)[1])
    quality = float(text.partition("quality=")[2].partition(")")[0])
    return quality + 0.3 * (model == FAVOURITE) + draw.gauss(0, 0.15)


def main() -> None:
    """Writes the folder anew, and the votes."""
    sys.path.insert(0, str(Path(__file__).parent / "plugin"))
    os.environ["INSPECT_DISPLAY"] = "none"
    from tests.inspect_tasks.runs import judge_in_process

    # Elsewhere than in the clone, whose address and commit Inspect would note.
    with tempfile.TemporaryDirectory() as somewhere:
        os.environ["INSPECT_CACHE_DIR"] = f"{somewhere}/cache"
        os.chdir(somewhere)
        answers = Path("answers")
        write_answers(answers)
        judge_in_process("round_robin", answers, Path("logs"), "planted/noise=0.2", rounds=2)
        [log] = Path("logs").glob("*.eval")
        shutil.rmtree(FOLDER, ignore_errors=True)
        shutil.copytree(answers, FOLDER)
        shutil.copy(log, FOLDER / "round_robin.eval")
        write_votes(FOLDER / "round_robin.eval", VOTES)


if __name__ == "__main__":
    main()
