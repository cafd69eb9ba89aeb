"""`tiebreak run`: what it does, what it leaves as it is, and what it refuses."""

import json
import re
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner, Result
from inspect_ai import eval_set

import tiebreak
from tests.cli.handed import wrong_use
from tests.harness import run as harness
from tests.inspect_tasks.runs import real_calls
from tests.publish.fake_hub import WRITE
from tests.publish.hub_client import COMMIT, REPO, impatient, online
from tiebreak.candidates import load_candidates
from tiebreak.cli.verbs import main
from tiebreak.publish import dataset
from tiebreak.study import StudyError
from tiebreak.study.answers import Answering
from tiebreak.study.design import study_of
from tiebreak.study.folder import StudyFolder
from tiebreak.study.planning import register_prices
from tiebreak.study.tasks import TaskRun

SUMS = f"{Path(__file__).parent / 'sums.py'}@sums"
MODELS = "candidate/0.1,candidate/0.5,candidate/0.9"
JUDGE = "planted/noise=0"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANTED_CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("CANDIDATE_FAILS", str(tmp_path / "broken"))
    # Nobody looks on, and it takes a tenth of the time.
    quiet = partial(eval_set, log_realtime=False)
    monkeypatch.setattr("tiebreak.study.tasks.eval_set", quiet)


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_page(monkeypatch)


def leave_out_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pictures take as long as all else in a run."""
    monkeypatch.setattr("tiebreak.study.run.write_report", lambda logs, folder, title: (folder,))


NO_PAGE = pytest.mark.usefixtures("no_page")


def run(*more: str, models: str = MODELS, judge: str = JUDGE, code: int = 0) -> Result:
    done = CliRunner().invoke(
        main, ["run", SUMS, "--models", models, "--judge", judge, *more, "--json"]
    )
    assert done.exit_code == code, (done.output, done.exception)
    return done


def board(done: Result) -> dict[str, Any]:
    [found] = json.loads(done.stdout)["leaderboards"]
    assert isinstance(found, dict)
    return found


def order(done: Result) -> list[str]:
    return [row["model"] for row in board(done)["rows"]]


def calls() -> int:
    return len(real_calls("calls"))


@pytest.mark.parametrize("form", ["eval", "json"])
def test_from_a_question_to_a_board_and_again(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_LOG_FORMAT", form)
    first = run("--yes")
    assert order(first) == ["candidate/0.9", "candidate/0.5", "candidate/0.1"]
    for command in (
        f"inspect eval-set {SUMS} --model {MODELS} --log-dir study-sums/answers/sums "
        "--log-dir-allow-dirty",
        "tiebreak diagnose study-sums/answers/sums",
        "tiebreak estimate study-sums/answers/sums --protocol round_robin --judge planted/noise=0",
        "inspect eval tiebreak/round_robin -T candidates=study-sums/answers/sums -T seed=0 "
        "--model-role judge=planted/noise=0 --log-dir study-sums/ranking/sums/round_robin",
        "tiebreak rank study-sums/ranking",
        "tiebreak report study-sums/ranking -o study-sums/report",
    ):
        assert f"  $ {command}\n" in first.stderr
    assert (tmp_path / "study-sums" / "report" / "index.html").exists()
    leave_out_page(monkeypatch)
    paid, logs = calls(), sorted(Path("study-sums").rglob(f"20*.{form}"))
    assert len(logs) == 4
    # Nothing is asked where nothing is left to do: no terminal, and no --yes.
    again = run()
    assert board(again) == board(first)
    assert (calls(), sorted(Path("study-sums").rglob(f"20*.{form}"))) == (paid, logs)
    assert "with other seed" in run("--yes", "--seed", "3", code=1).stderr
    # The study that is kept comes to the same elsewhere, without a call.
    arguments = ["run", "study-sums/study.yaml", "--out", "copy", "--yes", "--json"]
    copied = CliRunner().invoke(main, arguments)
    assert copied.exit_code == 0, copied.output
    assert order(copied) == order(first)
    assert calls() == paid


@NO_PAGE
def test_each_command_that_is_printed_does_its_step_alone(tmp_path: Path) -> None:
    config = "{temperature: 0.5, logprobs: true, parallel_tool_calls: false, stop_seqs: [a, b]}"
    study = f"""
models:
  - candidate/0.1
  - candidate/0.9
  - {{model: candidate/0.5, name: warm, config: {config}}}
benchmarks: [{SUMS}, {{task: {SUMS}, args: {{n: 7}}, name: more}}]
judge: {{model: {JUDGE}, config: {{temperature: 0}}}}
protocols: [full_pairwise, round_robin]
judging: {{rubric: math_reasoning}}
calls: 400
seed: 3
"""

    tried: set[str] = set()

    def printed(text: str) -> str:
        Path("study.yaml").write_text(text)
        done = CliRunner().invoke(main, ["run", "study.yaml", "--json"])
        assert done.exit_code == 0, done.output
        paid = calls()
        commands = [line[4:] for line in done.stderr.splitlines() if line.startswith("  $ ")]
        assert len(commands) > 10
        for command in commands:
            if command not in tried:
                harness(*shlex.split(command), cwd=tmp_path, PLANTED_CALLS="calls")
        tried.update(commands)
        assert calls() == paid
        return done.stderr

    first = printed(study)
    assert re.findall(r"For a budget of (\d+) calls", first) == ["100", "100"]
    assert "estimate study/answers/sums --calls 100 --judge planted/noise=0" in first
    joined = printed(study.replace("benchmarks", "  - candidate/0.7\nbenchmarks"))
    assert re.search(r"--protocol round_robin:rounds=\d,newcomers=candidate/0.7 ", joined)


@NO_PAGE
def test_a_model_more_is_judged_against_the_others_only() -> None:
    run("--yes")
    paid = calls()
    joined = run("--yes", models=f"{MODELS},candidate/0.7")
    assert order(joined) == ["candidate/0.9", "candidate/0.7", "candidate/0.5", "candidate/0.1"]
    assert "Only matches of candidate/0.7 are judged: about 1" in joined.stderr
    # One match on each item, and one of five in both orders.
    assert paid + 8 <= calls() <= paid + 16


@NO_PAGE
@pytest.mark.parametrize(
    ("limits", "n_items"), [(["--yes"] * 2, [8, 8]), (["--calls=24", "--calls=48"], [6, 8])]
)
def test_a_place_that_is_planned_anew_with_the_same_arguments(
    limits: list[str], n_items: list[int]
) -> None:
    """Inspect would take the earlier log for the new one."""
    models = [MODELS, f"{MODELS},candidate/0.7" if limits == ["--yes"] * 2 else MODELS]
    for limit, names, number in zip(limits, models, n_items, strict=True):
        judged = board(run(limit, "--protocol", "full_pairwise", models=names))
        assert judged["n_items"] == number
        assert {row["model"] for row in judged["rows"]} == {*names.split(",")}
    assert len(set(real_calls("calls"))) == calls()


@NO_PAGE
def test_with_a_larger_budget_more_is_judged_and_nothing_twice() -> None:
    first = run("--calls", "10")
    assert board(first)["n_items"] == 7
    assert "paid before" not in first.stderr
    before = calls()
    assert before <= 10
    four = f"{MODELS},candidate/0.7"
    more = run("--calls", "80", models=four)
    assert board(more)["n_items"] == 8
    assert "-T rounds=3 " in more.stderr
    assert f"The plan, and its price (paid before: {before} calls)\n" in more.stderr
    [command] = [line for line in more.stderr.splitlines() if "newcomers=" in line]
    assert """-T 'newcomers=["candidate/0.7"]'""" in command
    assert "-T rounds=2" in command
    paid = real_calls("calls")
    assert 10 < len(paid) <= 80
    assert len(set(paid)) == len(paid)
    assert board(run("--calls", "80", models=four)) == board(more)
    assert calls() == len(paid)


@NO_PAGE
@pytest.mark.parametrize(
    ("left", "words", "judged"),
    [
        (12, "The budget is enough for 1 of 2 rounds.", 8),
        (9, "The budget is enough for 6 of 8 items, and the board will be of these.", 6),
        (4, "On fewer than 6 items no two models can be told apart: give a larger one.", None),
    ],
)
def test_newcomers_for_whom_the_budget_is_small(left: int, words: str, judged: int | None) -> None:
    run("--calls", "80")
    paid = calls()
    joined = run(
        *("--calls", str(paid + left)), models=f"{MODELS},candidate/0.7", code=judged is None
    )
    assert words in " ".join(joined.stderr.split())
    assert calls() <= paid + left
    if judged is not None:
        assert board(joined)["n_items"] == judged


PRICES = (
    *(word for model in MODELS.split(",") for word in ("--price", f"{model}=1e4,1e4")),
    *("--price", f"{JUDGE}=1,10"),
)
"""An answer takes two tokens: two cents."""


def asked() -> int:
    """How many answers were paid for."""
    return len(Path("asked").read_text().splitlines())


@NO_PAGE
def test_a_budget_covers_answers_and_judging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANDIDATE_CALLS", "asked")
    how = ("-T", "n=40", *PRICES)
    small = run(*how, "--budget", "1.5")
    printed = " ".join(small.stderr.split())
    n_items = board(small)["n_items"]
    assert 12 < n_items < 24
    assert f"Answers to {n_items} of the 40 items, as the budget is enough for, take" in printed
    assert f"--limit {n_items} --sample-shuffle 1 " in printed
    assert asked() == 3 * n_items
    paid = calls()
    assert board(run(*how, "--budget", "1.5")) == board(small)
    assert (asked(), calls()) == (3 * n_items, paid)
    # What is left does not buy the answers of another model to all of these.
    price = ("--price", "candidate/0.7=1e4,1e4")
    four = f"{MODELS},candidate/0.7"
    refused = run(*how, *price, "--budget", "1.5", models=four, code=1)
    assert "the answers of candidate/0.7 " in refused.stderr
    assert asked() == 3 * n_items + 6
    assert board(run(*how, *price, "--budget", "9", models=four))["n_items"] == 40
    assert asked() == 160


@NO_PAGE
@pytest.mark.slow
def test_with_a_larger_budget_more_is_answered_and_each_verdict_counts_again() -> None:
    how = ("-T", "n=40", *PRICES)
    paid, n_items = 0, 0
    for budget in ("0.9", "1.6", "4"):
        larger = board(run(*how, "--budget", budget))
        receipt = larger["receipt"]
        assert (receipt["n_cached"], receipt["n_calls"]) == (paid, calls())
        assert paid < calls()
        assert n_items < receipt["n_items"]
        paid, n_items = calls(), receipt["n_items"]
    # Who asks for all of it at once has the same board, without another call.
    at_once = board(run(*how, "--budget", budget, "--out", "at-once"))
    assert (at_once["rows"], calls()) == (larger["rows"], paid)


@NO_PAGE
@pytest.mark.slow
def test_rounds_that_were_paid_are_kept_rather_than_more_answered() -> None:
    dear = [price.replace("1e4", "1e5") for price in PRICES]
    n_items = 0
    for budget in ("5.3", "6.8"):
        judged = run("-T", "n=40", *dear, "--budget", budget)
        assert "-T rounds=3 " in judged.stderr
        assert n_items < board(judged)["n_items"]
        n_items = board(judged)["n_items"]


def test_answers_that_are_dearer_than_the_budget_are_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CANDIDATE_CALLS", "asked")
    study = study_of(
        {"models": MODELS.split(","), "benchmarks": [SUMS], "judge": JUDGE, "prices": PRICES[1::2]}
    )
    register_prices(study)
    answering = Answering(study, study.benchmarks[0], StudyFolder(Path("study")), Mock())
    with pytest.raises(StudyError, match=r"sums: the budget is spent, and candidate/.* still owes"):
        answering.answer(dollars=0.4)
    assert asked() <= 21
    answers = answering.answer(dollars=9)
    assert len(answers.logs) == 3
    assert 24 <= asked() <= 26
    pool = load_candidates(answers.logs.values())
    assert all(candidate.answer for _, row in pool for candidate in row.values())


@NO_PAGE
def test_a_model_that_always_fails_is_left_out_and_joins_when_it_can(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.touch()
    models = f"{MODELS},candidate/0.7+fails,candidate/0.3+down"
    without = run("--yes", models=models)
    assert order(without) == ["candidate/0.9", "candidate/0.5", "candidate/0.1"]
    for model in ("candidate/0.7+fails", "candidate/0.3+down"):
        assert re.search(rf"{re.escape(model)} is left out, for it .*FAILS", without.stderr)
    broken.unlink()
    joined = run("--yes", models=models)
    assert order(joined)[1] == "candidate/0.7+fails"
    both = "candidate/0.3+down and candidate/0.7+fails"
    assert f"Only matches of {both} are judged" in " ".join(joined.stderr.split())


def test_a_form_of_logs_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_LOG_FORMAT", "xml")
    refused = run("--yes", code=1)
    assert "INSPECT_LOG_FORMAT is 'xml': it must be one of eval, json." in refused.stderr


def test_what_is_said_before_anything_is_paid() -> None:
    Path("sums.py").symlink_to(SUMS.removesuffix("@sums"))
    wrong_use(__file__, "run.txt")
    assert not Path("study-sums").exists()


REFUSED_PROMPTS: dict[str, tuple[str, list[str]]] = {
    "prompts.jsonl is no folder of logs and no file of answers: say who answers it, --models": (
        '{"prompt": "Name a cheese."}',
        ["--judge", JUDGE],
    ),
    "prompts.jsonl, line 1: its prompt, or message 1, is empty": (
        '{"prompt": ""}',
        ["--judge", JUDGE, "--models", MODELS],
    ),
}


@pytest.mark.parametrize("words", REFUSED_PROMPTS)
def test_prompts_that_are_refused_leave_no_folder(words: str) -> None:
    row, given = REFUSED_PROMPTS[words]
    Path("prompts.jsonl").write_text(row, encoding="utf-8")
    done = CliRunner().invoke(main, ["run", "prompts.jsonl", "--yes", *given])
    assert done.exit_code
    assert words in done.stderr
    assert [*Path().iterdir()] == [Path("prompts.jsonl")]


@pytest.mark.parametrize("log", ["answers/sums/x.json", "ranking/sums/x.eval"])
def test_a_new_folder_goes_only_without_logs(log: str) -> None:
    for name in ("", log):
        with StudyFolder(Path("study")).alone():
            path = Path("study", name or "study.yaml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        assert Path("study").exists() == bool(name)
    assert Path("study", log).exists()


def test_without_matplotlib_the_board_is_shown_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("--yes", models="candidate/0.1,candidate/0.9")
    assert order(done) == ["candidate/0.9", "candidate/0.1"]
    assert "Report: not written: " in done.stderr


@NO_PAGE
def test_judging_that_cannot_help_stops_with_the_reason() -> None:
    same = "candidate/0.5,candidate/0.5+twin"
    stopped = run("--yes", models=same, code=1)
    assert "Judging cannot help: all answers are identical" in stopped.stderr
    assert "sums: judging is not worth its price here" in stopped.stderr
    assert calls() == 0
    assert len(order(run("--yes", "--anyway", models=same))) == 2


@NO_PAGE
def test_a_judge_among_the_contestants_is_allowed_and_named() -> None:
    # This one cannot judge, so that nothing is judged to the end.
    done = run("--yes", judge="candidate/0.5", code=1)
    assert "candidate/0.5 is a contestant, too" in done.stderr
    assert "Not everything is judged: look at study-sums/ranking/" in done.stderr


@NO_PAGE
def test_all_that_a_file_can_say() -> None:
    Path("study.yaml").write_text(
        f"""
title: Sums
models:
  - candidate/0.1
  - {{model: candidate/0.9, name: best, config: {{temperature: 0.5}}}}
benchmarks:
  - {{task: {SUMS}, args: {{n: 6}}}}
  - {{task: {SUMS}, args: {{n: 7}}, name: more}}
jury: [planted/noise=0, planted/noise=0+seed=1]
protocols: [full_pairwise, {{label: "round_robin:swap=never", args: {{repeat: 2}}}}]
calls: 200
"""
    )
    done = CliRunner().invoke(main, ["run", "study.yaml", "--json"])
    assert done.exit_code == 0, done.output
    boards = json.loads(done.stdout)["leaderboards"]
    assert {(found["protocol"], found["n_items"]) for found in boards} == {
        (protocol, n_items) for protocol in ("full_pairwise", "round_robin") for n_items in (6, 7)
    }
    assert {found["rows"][0]["model"] for found in boards} == {"best"}
    assert Path("study/answers/sums/best").is_dir()


@NO_PAGE
def test_a_study_is_published_and_again_only_what_is_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = {"models": MODELS.split(","), "benchmarks": [SUMS], "judge": JUDGE, "publish": REPO}
    with online(monkeypatch) as hub:
        there = partial(dataset.publish_dataset, endpoint=hub.url, wait=impatient())
        monkeypatch.setattr(dataset, "publish_dataset", partial(there, token=WRITE))
        result = tiebreak.run_study(study, "study")
        commits = hub.requests(COMMIT)
        assert len(commits) == 1
        published = hub.repos[REPO].resolve("main").tree
        assert {"README.md", "leaderboard/latest.parquet"} <= published.keys()
        assert tiebreak.run_study(study, "study") == result
        assert hub.requests(COMMIT) == commits
        # Where the Hub refuses it the board is shown all the same.
        monkeypatch.setattr(dataset, "publish_dataset", partial(there, token="hf_unknown"))
        refused = CliRunner().invoke(main, ["run", "study/study.yaml", "--out", "study"])
        assert refused.exit_code == 1
        assert refused.stdout.startswith("sums · round_robin · 8 items")
        assert f"  $ tiebreak publish study/ranking --to {REPO}\n" in refused.stderr
        assert "Not published: " in refused.stderr


@NO_PAGE
def test_answers_that_are_there_are_not_asked_for() -> None:
    run("--yes")
    there = ["run", "study-sums/answers", "--judge", JUDGE, "--yes", "--out", "other", "--json"]
    judged = CliRunner().invoke(main, there)
    assert judged.exit_code == 0, judged.output
    assert order(judged) == ["candidate/0.9", "candidate/0.5", "candidate/0.1"]
    assert not Path("other/answers").exists()
    # Two studies do not share a folder.
    for more, words in (
        (("--seed", "3"), "study-sums holds another study, with other seed: give this one another"),
        (("-T", "n=3"), "with other benchmarks"),
        (("--protocol", "seal"), "with other protocols"),
    ):
        assert words in run("--yes", *more, code=1).stderr
    fewer = run("--yes", models="candidate/0.1,candidate/0.5", code=1)
    assert "in which candidate/0.9 is a model, too" in fewer.stderr


@NO_PAGE
def test_answers_with_holes_are_planned_as_they_are_judged() -> None:
    rows = [
        {"prompt": f"What is {number}?", "model": model, "answer": f"{number}: quality={quality}"}
        for model, quality in (("strong", 0.9), ("weak", 0.1))
        for number in range(8)
    ]
    Path("answers.jsonl").write_text("\n".join(map(json.dumps, rows[1:])))
    how = {"judge": JUDGE, "judging": {"mode": "intersect"}, "calls": 40}
    result = tiebreak.run_study({"answers": ["answers.jsonl"], **how}, "study")
    [found] = tiebreak.leaderboards(result.logs)
    assert (found.n_items, found.rows[0].model) == (7, "strong")


@NO_PAGE
@pytest.mark.parametrize("reply", ["y", "n"])
def test_a_price_is_confirmed_on_a_terminal(reply: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiebreak.cli.run._may_ask", lambda: True)
    given = ["run", SUMS, "--models", MODELS, "--judge", JUDGE]
    done = CliRunner().invoke(main, given, input=f"y\n{reply}\n")
    printed = " ".join(done.stderr.split())
    three = "candidate/0.1, candidate/0.5 and candidate/0.9"
    assert f"No price of {three} is known" in printed
    assert "add --price candidate/0.1=IN,OUT" in printed
    assert f"for 8 answers each, for what {three} may cost?" in printed
    assert "Judge without a limit?" in printed
    assert (done.exit_code == 0, calls() > 0) == (reply == "y",) * 2


def test_what_is_stopped_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C Inspect's eval set ends as one that is done, without a log."""
    monkeypatch.setattr("tiebreak.study.tasks.eval_set", lambda *tasks, **options: (True, []))
    stopped = TaskRun("tiebreak/round_robin", tmp_path, {}, {"model_roles": {}})
    with pytest.raises(StudyError, match=r"round_robin was stopped\. The same command goes on"):
        stopped.finish()
