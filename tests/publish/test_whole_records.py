"""Records for Every Eval Ever and entries of community evals as a whole, to the letter."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import EvalResultEntry, parse_eval_result_entries

from tests.analysis.peers.builders import reviews
from tests.expected import check
from tests.publish import test_contests
from tests.publish.judged_runs import change_log, run_of
from tests.publish.test_contests import ERRORS, SCORES, play
from tests.ranking_logs.builders import (
    bracket,
    by_native,
    call,
    graded,
    item,
    listed,
    match,
    starred,
    write_log,
)
from tiebreak.analysis.frames import votes_of
from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey
from tiebreak.publish.bundle import as_json, manifest
from tiebreak.publish.contests import contest_manifest, contest_of, contest_rows, score_rows
from tiebreak.publish.records import contest_records, dumps, entries, records, stem_of
from tiebreak.publish.runs import Run, read_runs
from tiebreak.publish.tables import ballot_rows, leaderboard_rows, ranking_rows, table_of, text_rows
from tiebreak.rankers import Resampling
from tiebreak.report.json import json_ready
from tiebreak.scorers.ballots import Criterion, Refinement, Tiering, Verdict, Vote

HOW = Resampling(draws=200, level=0.9, seed=3)
SAID = {"tiebreak_protocol": "seal", "tiebreak_version": "0.1.0", "seed": 5}
PAID = [call(cost=0.25), call("seed", cost=0.5)]


def rounded(value: Any) -> Any:
    """The same data with six digits of every number that is not whole."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


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


@pytest.mark.parametrize("write", [as_json, dumps])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_no_number_is_made_up(write: Callable[[Any], object], number: float) -> None:
    assert dumps({"a": [1.5, None]}) == '{"a": [1.5, null]}'
    assert dumps({"a": 1}, indent=2) == '{\n  "a": 1\n}'
    with pytest.raises(ValueError, match="JSON compliant"):
        write({"a": number})


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


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """What all rows say once, in front; then a line per row with what only some of them say."""
    found = [rounded(json_ready(dict(row))) for row in rows]
    names = list(dict.fromkeys(name for row in found for name in row))
    shared = {
        name: found[0].get(name)
        for name in names
        if all(row.get(name) == found[0].get(name) for row in found)
    }
    own = [{name: row[name] for name in names if name in row.keys() - shared} for row in found]
    return "\n".join(map(_json, [shared, *own])) + "\n"


def _json(data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False)
    text = re.sub(r'"[0-9a-f]{64}"', '"(sha256)"', text)
    # Numbers as text, in details.
    return re.sub(r'"(-?[0-9]+\.[0-9]{6,})"', lambda one: f'"{float(one[1]):.6g}"', text)


def _folded(data: Any) -> str:
    return _json(rounded(data)).replace("}, ", "},\n")


def tables_of(run: Run) -> str:
    tables = (leaderboard_rows, ranking_rows, ballot_rows, text_rows)
    texts = ((table.__name__, [{**row, **votes_of(row)} for row in table(run)]) for table in tables)
    return "\n".join(f"{name}\n{lines(rows) if rows else ''}" for name, rows in texts)


def test_tables_of_a_run_of_two_benchmarks(tmp_path: Path) -> None:
    check(__file__, "tables.txt", tables_of(judged_twice(tmp_path)))


def test_tables_of_a_peer_review(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        reviews("q0", {"a": "abc", "b": "bac", "c": None, "Panel": "abc"}),
        reviews(
            "q1", {"a": "b=ac", "b": "bac", "c": "abc", "Panel": "ca"}, left_out={"Panel": "b"}
        ),
        reviews(
            "q2", {"a": "ac", "b": "ac", "c": "ca", "Panel": None}, models="abc", groups=["ab"]
        ),
        how=HOW,
    )
    check(__file__, "review_tables.txt", tables_of(run))


def test_tables_of_every_other_kind_of_ballot(tmp_path: Path) -> None:
    """Votes, a checklist that grew, both orders, tiers, points, lists, and what went wrong.

    Words of a judge, planted into every field with room for some, stand in a table of their own.
    """
    words = map("words {}".format, range(20))
    verdict = Verdict(
        first="b",
        margin=-0.5,
        checklist_margin=0.25,
        principles={"correct": Vote(vote="left", confidence=0.75, reasoning=next(words))},
        checklist={"checks": Vote(vote="tie", confidence=0.5, reasoning=next(words))},
    )
    lost = Verdict(first="a", unscored="no JSON, see /home/me/run.log")
    close = match("a", "b", 0.125, second_order=-0.25)
    judged = replace(
        close, verdicts=(verdict, close.verdicts[1]), discarded=(lost,), critique=next(words)
    )
    asked = Refinement(
        round=1,
        slot=0,
        item_id="checks",
        principle_id="correct",
        description=next(words),
        differentiator=next(words),
        anchor_split="4 vs 3",
        higher_snippet=next(words),
        lower_snippet=next(words),
    )
    marks = Criterion(principle_id="correct", full=next(words), half=next(words), none=next(words))
    grown = item("q0", [judged, match("a", "c", None, round=2)], calls=PAID).model_copy(
        update={
            "tiering": Tiering(tiers={"b": 1, "a": 1, "c": 2}, reasoning=next(words)),
            "refinements": (asked, Refinement(round=2, slot=1, unscored="no item")),
            "criteria": (marks,),
        }
    )
    run = run_of(
        tmp_path,
        grown,
        item("q1", [match("a", "b", 0.0)], groups=(("a", "c"), ("b",)), unseeded="no tiers"),
        item("q2", [match("a", "b", 0.5)], complete=False, calls=PAID[:1]),
        graded("p0", {"a": 0.5, "b": None, "c": 1.0}, benchmark="points"),
        listed("l0", [["a"], ["b", "c"]], benchmark="lists"),
        listed("l1", None, benchmark="lists"),
        by_native("n0", {"a": 1.0, "b": 0.0}, benchmark="native"),
        how=HOW,
    )
    assert "words" not in str(table_of("ballots", ballot_rows(run)).to_pylist())
    texts = [row["text"] for row in text_rows(run)]
    assert set(texts) == {f"words {n}" for n in range(len(texts))}
    assert len(texts) == 11
    check(__file__, "kinds_tables.txt", tables_of(run))


def test_the_manifest_of_a_run(tmp_path: Path) -> None:
    text = as_json(manifest(judged_twice(tmp_path))).decode()
    assert text.endswith("}\n")
    check(__file__, "manifest.txt", _folded(json.loads(text)) + "\n")


@pytest.mark.parametrize(
    ("name", "errors", "more"),
    [
        ("contest.txt", ERRORS, {"eliminate": (0, 1), "performance_tiers": 2}),
        ("contest_alone.txt", None, {"eliminate": {0: 0, 1: 1, 2: 0, 3: 0}}),
    ],
)
def test_a_contest(name: str, errors: str | None, more: dict[str, Any], tmp_path: Path) -> None:
    contest = contest_of(play(test_contests.table_of(tmp_path, SCORES, errors), **more))
    rows, manifest = contest_rows(contest), json.loads(as_json(contest_manifest(contest)))
    text = lines(rows) + lines(score_rows(contest)) + _folded(manifest) + "\n"
    for path, content in [*contest_records(contest, organization="me").items()][:1]:
        record = json.loads(content)
        assert path == f"{stem_of(contest.contest_id, contest.table.models[0])}.json"
        assert content.decode() == json.dumps(record, indent=2) + "\n"
        text += _folded(record) + "\n"
        for word in (record["retrieved_timestamp"], record["eval_library"]["version"]):
            text = text.replace(f'"{word}"', '"(then)"').replace(f"/{word}", "/(then)")
    check(__file__, name, text.replace(contest.contest_id, "(id)"))


def read(runs: Iterable[Run]) -> Mapping[str, EvalResultEntry]:
    """The entry of each file."""
    found = {}
    for path, content in entries([*runs], "lab/rankings").items():
        [found[path]] = parse_eval_result_entries(yaml.safe_load(content))
    return found


def test_the_hubs_own_reader_reads_them(tmp_path: Path) -> None:
    found = read([run_of(tmp_path, *(bracket(f"q{n}", "a", "b", "c") for n in range(12)))])
    assert sorted(found) == [
        f"unspecified/{model}/.eval_results/tiebreak-gsm8k-seal.yaml" for model in "abc"
    ]
    for path, entry in found.items():
        model = Path(path).parts[1]
        # First, second and last of three on every item: Borda 1, ½ and 0. Never the rank.
        assert entry.value == {"a": 1.0, "b": 0.5, "c": 0.0}[model]
        assert (entry.dataset_id, entry.task_id) == ("lab/rankings", "gsm8k-seal")
        assert entry.source_url == "https://huggingface.co/datasets/lab/rankings"
        # A quoted date is text; YAML would make a time of a bare one.
        assert entry.date == "2026-01-01T00:00:00Z"
        others = ", ".join(other for other in "abc" if other != model)
        assert entry.notes is not None
        assert entry.notes.endswith(f"a pool of 3 models; the others: {others}")
        assert "12 items" in entry.notes


def test_no_score_no_file(tmp_path: Path) -> None:
    undefined = by_native("q1", {"a": None, "b": None, "c": None})
    assert read([run_of(tmp_path, undefined)]) == {}


def test_another_judge_is_another_task(tmp_path: Path) -> None:
    found = read(
        run_of(
            tmp_path,
            bracket("q1", "a", "b", "c", calls=[call(model=judge)]),
            created=f"2026-01-0{number}T00:00:00+00:00",
            eval_id=f"E{number}",
        )
        for number, judge in enumerate(("lab/strict", "lab/kind", "lab/kind"), start=1)
    )
    # Of one judge's runs the newest counts.
    assert {entry.task_id: entry.date for entry in found.values()} == {
        "gsm8k-seal-lab-strict": "2026-01-01T00:00:00Z",
        "gsm8k-seal-lab-kind": "2026-01-03T00:00:00Z",
    }
    assert len(found) == 6


@pytest.mark.parametrize(
    ("models", "shared"),
    [
        (("x/m:1", "x/m?1", "x/m"), {"x/m_1"}),
        (("x/y/z", "x/y_z", "unspecified/q"), {"x/y_z"}),
        (("x/m", "X/M", "x_m"), {"x/m", "X/M"}),  # on many disks these are one folder
        (("q", "unspecified/q", "x/q"), {"unspecified/q"}),
    ],
)
def test_models_with_names_that_make_one_folder_have_a_file_each(
    tmp_path: Path, models: tuple[str, str, str], shared: set[str]
) -> None:
    run = run_of(tmp_path, bracket("q1", *models))
    found = read([run])
    assert sorted(entry.value for entry in found.values()) == [0.0, 0.5, 1.0]
    assert len({path.casefold() for path in found}) == 3
    folders = {path.partition("/.eval_results")[0] for path in found}
    assert {folder.rpartition("-")[0] for folder in folders} & shared == shared
    assert read([run]) == found


def test_benchmarks_with_names_that_make_one_task_have_a_file_each(tmp_path: Path) -> None:
    items = [bracket("q1", "a", "b", "c", benchmark=name) for name in ("gsm 8k", "gsm-8k", "mmlu")]
    found = read([run_of(tmp_path, *items)])
    assert len(found) == 9
    tasks = {entry.task_id for entry in found.values()}
    assert len(tasks) == 3
    assert "mmlu-seal" in tasks


def test_a_score_by_stars_is_said_to_be_one(tmp_path: Path) -> None:
    """It is no share of other models, whatever the figure's name."""
    run = run_of(tmp_path, *(starred(f"q{n}", {"a": 3, "b": 1}) for n in range(3)))
    record = json.loads(next(iter(records(run, organization="me").values())))
    [result] = [r for r in record["evaluation_results"] if "borda" in r["evaluation_result_id"]]
    about = result["metric_config"]["evaluation_description"]
    assert about == "Mean share of all stars, relative to this pool of 2 models."
    assert result["score_details"]["score"] == 1.0
