"""The main way of docs/fair.md with real processes: bank, server, token, answers, stars, κ."""

import json
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from tests.fair.bank.processes import serving
from tests.fair.bank.serving import KEYS
from tests.harness import ROOT, run, run_here

pytest.importorskip("xllamacpp")

EXAMPLE = ROOT / "src" / "tiebreak" / "fair" / "bank" / "example"
MODEL = "tiebreak-local/smollm2-135m"
JUDGE = "planted/noise=1"
"""The embedded model takes seconds for every reply, and cannot judge."""


@pytest.mark.slow
def test_main_way(tmp_path: Path) -> None:
    run_here("tiebreak", "bank", "import", "example", cwd=tmp_path)
    expanded = ("bank", "expand", "--to", "true_false", "--approve")
    run_here("tiebreak", *expanded, cwd=tmp_path)
    run_here("tiebreak", "bank", "quota", "example.org", "2", cwd=tmp_path)
    whose = ("--user", "ada", "--institution", "example.org")
    issue = ("tiebreak", "bank", "token", *whose)
    token = run(*issue, cwd=tmp_path, TIEBREAK_JWT_SECRET=KEYS.verifying)
    with serving(str(tmp_path / "bank.db"), tmp_path) as server:
        asked = ("-T", f"server={server.address}", "-T", "k=2", "--max-tokens", "40")
        run(
            *("inspect", "eval", "tiebreak/fair", "--model", MODEL, *asked),
            *("--log-dir", "examinee"),
            cwd=tmp_path,
            TIEBREAK_TOKEN=token.stdout.strip(),
        )
    [file] = (tmp_path / "examinee").glob("*.eval")
    log = read_eval_log(file)
    assert log.status == "success"
    # What an examinee has in hand holds no key and no explanation.
    bank = map(json.loads, (EXAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    seen = log.model_dump_json()
    assert not any(json.dumps(row["hint"], ensure_ascii=False)[1:-1] in seen for row in bank)
    session = (log.eval.metadata or {})["tiebreak_fair"]["session"]
    run_here("tiebreak", "bank", "export", session, "--out", "pools/", cwd=tmp_path)

    judged = ("--model-role", f"judge={JUDGE}", "--log-dir", "stars")
    run_here("inspect", "eval", "tiebreak/stars", "-T", "candidates=pools/", *judged, cwd=tmp_path)
    board = run_here("tiebreak", "rank", "stars/", "--json", cwd=tmp_path)
    assert MODEL in board
    release = ("bank", "release", session, "--log", "stars/", "--json")
    released = json.loads(run_here("tiebreak", *release, cwd=tmp_path))
    assert (released["model"], released["n_items"]) == (MODEL, 2)

    people = (f"candidates={EXAMPLE / 'answers.parquet'}",)
    role = ("--model-role", f"judge={JUDGE}", "--log-dir", "calibration")
    run_here("inspect", "eval", "tiebreak/stars", "-T", *people, *role, cwd=tmp_path)
    stars = ("--human", str(EXAMPLE / "stars.csv"))
    found = run_here("tiebreak", "calibrate", "calibration/", *stars, "--json", cwd=tmp_path)
    assert json.loads(found)["judges"] == [JUDGE]
