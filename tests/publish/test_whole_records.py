"""Records for Every Eval Ever and entries of community evals as a whole, to the letter."""

import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.analysis.peers.builders import reviews
from tests.expected import check
from tests.publish.judged_runs import change_log, run_of
from tests.publish.whole import rounded
from tests.ranking_logs.builders import bracket, by_native, call, graded, write_log
from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey
from tiebreak.publish.records import dumps, entries, records, stem_of
from tiebreak.publish.runs import Run, read_runs
from tiebreak.rankers import Resampling

HOW = Resampling(draws=200, level=0.9, seed=3)
SAID = {"tiebreak_protocol": "seal", "tiebreak_version": "0.1.0", "seed": 5}
PAID = [call(cost=0.25), call("seed", cost=0.5)]


def judged_twice(path: Path) -> Run:
    """Two benchmarks; the judge of a role has settings, and another role does not judge pairs."""
    natives: list[dict[str, float | None]] = [
        {"a": 1.0, "b": 0.0, "org/c": 1.0},
        {"a": 0.5, "b": None, "org/c": 0.0},
        {"a": 0.0, "b": 1.0, "org/c": None},
    ]
    orders = [("a", "b", "org/c"), ("a", "org/c", "b"), ("b", "a", "org/c")]
    items = [
        bracket(f"q{n}", *order, native=own, calls=PAID)
        for n, (order, own) in enumerate(zip(orders, natives, strict=True))
    ]
    items += [bracket("m0", "org/c", "a", "b", benchmark="mmlu", calls=PAID)]
    log = write_log(path / "1.eval", items, metadata=SAID)

    def change(found: Any) -> None:
        from inspect_ai.model import GenerateConfig, ModelConfig

        config = GenerateConfig(temperature=0.5, max_tokens=99)
        judge = ModelConfig(model="openai/gpt-5", config=config)
        found.eval.model_roles = {"judge": judge, "meta_judge": ModelConfig(model="x/meta")}
        found.eval.packages = {"inspect_ai": "0.3.5"}

    [run], _ = read_runs([change_log(log, change)], how=HOW)
    return run


def pool_of(run: Run) -> CandidatePool:
    """The answers but one, and one that was not judged; an item has choices."""
    items = run.ballots
    keys = {item.item_id: ItemKey(item.benchmark, item.item_id) for item in items}
    rows = {
        keys[item.item_id]: {
            model: Candidate(
                keys[item.item_id],
                model,
                f"{model} says {number}",
                native_metric="match" if number else None,
            )
            for model in item.models
            if (item.item_id, model) != ("q2", "b")
        }
        for number, item in enumerate(items)
    }
    more = ItemKey("gsm8k", "q9")
    asked = [
        Item(
            *(keys[item.item_id], item.input_hash, f"What is {item.item_id}?", "2"),
            choices=("1", "2") if item.item_id == "q1" else (),
        )
        for item in items
    ]
    return CandidatePool(
        (*asked, Item(more, "0", "Not judged", "0")),
        {**rows, more: {"a": Candidate(more, "a", "x")}},
    )


def told(found: dict[str, bytes], run: Run) -> str:
    """The first record in full, of the others what differs, and all lines about answers."""
    parts: list[str] = []
    full = True
    for path, content in found.items():
        if path.endswith(".jsonl"):
            parts += [path, *content.decode().splitlines(), ""]
            continue
        record = json.loads(content)
        assert content.decode() == json.dumps(record, indent=2) + "\n"
        own = [
            f"{one['evaluation_result_id']} {json.dumps(rounded(one['score_details']))}"
            for one in record["evaluation_results"]
        ]
        shown = [json.dumps(rounded(record), indent=1)] if full else own
        parts += [path, json.dumps(record["model_info"]), *shown, ""]
        full = False
    text = "\n".join(parts)
    for kind in ("match", "list"):
        folder = files("tiebreak.scorers") / "prompts"
        prompt = "\n\n".join(
            (folder / f"{kind}.{part}.md").read_text("utf-8").strip() for part in ("system", "user")
        )
        text = text.replace(json.dumps(prompt), f'"(prompt {kind})"')
    return text.replace(run.facts[0].sha256, "(sha256)")


def test_records_of_two_benchmarks_and_the_answers(tmp_path: Path) -> None:
    run = judged_twice(tmp_path)
    found = records(run, organization="somebody", pool=pool_of(run))
    check(__file__, "records.txt", told(found, run))
    # Without the answers there are no lines, and nothing tells of any.
    without = records(run, organization="somebody")
    assert {*without} == {path for path in found if not path.endswith("l")}
    assert not any(b"detailed_evaluation_results" in content for content in without.values())
    # The lines are the bytes of which the record has the hash.
    assert found == records(run, organization="somebody", pool=pool_of(run))


def test_records_of_a_peer_review(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        reviews("q0", {"a": "abc", "b": "bac", "c": "abc"}),
        reviews("q1", {"a": "bac", "b": "bac", "c": "cab"}),
        reviews("m0", {"a": "cab", "b": "cab", "c": "cab"}, benchmark="mmlu"),
        how=HOW,
    )
    found = records(run, organization="me")
    # Each reviewer gave a ranking of its own, none is asked in a role that the log tells.
    check(__file__, "review_records.txt", told(found, run))


def test_a_model_without_a_score_has_no_record(tmp_path: Path) -> None:
    run = run_of(tmp_path, by_native("q1", {"a": 1.0, "b": None, "c": 0.0}))
    found = [json.loads(one) for one in records(run, organization="o").values()]
    assert [one["model_info"]["name"] for one in found] == ["a", "c"]
    results = [result for one in found for result in one["evaluation_results"]]
    assert not any("llm_scoring" in result["metric_config"] for result in results)


def test_no_number_of_a_record_is_made_up() -> None:
    assert dumps({"a": [1.5, None]}) == '{"a": [1.5, null]}'
    assert dumps({"a": 1}, indent=2) == '{\n  "a": 1\n}'
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON compliant"):
            dumps({"a": number})


def test_where_a_record_lies() -> None:
    """The name is a UUID of version 4, made of run and model."""
    digest = hashlib.sha256(b"r1\nopenai/gpt-5").hexdigest()
    # A UUID of version 4 has a 4, and one of 8, 9, a and b, at two of its places.
    variant = "89ab"[int(digest[16], 16) % 4]
    parts = (digest[:8], digest[8:12], f"4{digest[13:16]}", f"{variant}{digest[17:20]}")
    name = "-".join((*parts, digest[20:32]))
    assert stem_of("r1", "openai/gpt-5") == f"data/tiebreak/openai/gpt-5/{name}"
    assert stem_of("r1", "my-run").startswith("data/tiebreak/unspecified/my-run/")
    others = {stem_of("r1", "a/b"), stem_of("r2", "a/b"), stem_of("r1", "a/c")}
    assert len(others) == 3


def test_entries_of_community_evals(tmp_path: Path) -> None:
    first = judged_twice(tmp_path / "a")
    second = run_of(
        tmp_path / "b", graded("p0", {"d": 0.5, "D": 0.25, "e": 1.0}, calls=PAID), how=HOW
    )
    found = entries([first, second], "me/rankings")
    text = "".join(f"{path}\n{content.decode()}\n" for path, content in found.items())
    short = re.sub(r"(?<=value\": )([0-9.]+)", lambda value: f"{float(value[0]):.6g}", text)
    check(__file__, "entries.txt", short)
    # Another reader of YAML: numbers are numbers, dates are text.
    for content in found.values():
        [entry] = yaml.safe_load(content)
        assert isinstance(entry["value"], float)
        assert entry["date"].startswith("2026-01-01")
