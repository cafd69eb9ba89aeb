"""The main way of docs/fair.md with real processes: bank, server, token, answers, stars, κ."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from inspect_ai.log import read_eval_log

from tests.harness import BIN, ROOT, environment, run, run_here

pytest.importorskip("xllamacpp")

EXAMPLE = ROOT / "src" / "tiebreak" / "bank" / "example"
MODEL = "tiebreak-local/smollm2-135m"
JUDGE = "planted/noise=1"
"""The embedded model takes seconds for every reply, and cannot judge."""
SECRET = "a secret of this test, long enough for it"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of folder/bank.db, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [str(BIN / "tiebreak"), "bank", "serve", "--port", str(port)]
    with (folder / "serve.txt").open("w") as output:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(TIEBREAK_JWT_SECRET=SECRET),
            stdout=output,
            stderr=output,
        )
    try:
        deadline = time.monotonic() + 60
        while not _answers(address):
            assert server.poll() is None, (folder / "serve.txt").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def _answers(address: str) -> bool:
    try:
        with urlopen(f"{address}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except (URLError, OSError):
        return False


@pytest.mark.slow
def test_main_way(tmp_path: Path) -> None:
    run_here("tiebreak", "bank", "import", "example", cwd=tmp_path)
    expanded = ("bank", "expand", "--to", "true_false", "--approve")
    run_here("tiebreak", *expanded, cwd=tmp_path)
    run_here("tiebreak", "bank", "quota", "example.org", "2", cwd=tmp_path)
    whose = ("--user", "ada", "--institution", "example.org")
    token = run("tiebreak", "bank", "token", *whose, cwd=tmp_path, TIEBREAK_JWT_SECRET=SECRET)
    with served(tmp_path) as address:
        asked = ("-T", f"server={address}", "-T", "k=2", "--model", MODEL, "--max-tokens", "40")
        run(
            *("inspect", "eval", "tiebreak/fair", *asked, "--log-dir", "examinee"),
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
    run("inspect", "eval", "tiebreak/stars", "-T", "candidates=pools/", *judged, cwd=tmp_path)
    board = run_here("tiebreak", "rank", "stars/", "--json", cwd=tmp_path)
    assert MODEL in board
    release = ("bank", "release", session, "--log", "stars/", "--json")
    released = json.loads(run("tiebreak", *release, cwd=tmp_path).stdout)
    assert (released["model"], released["n_items"]) == (MODEL, 2)

    people = (f"candidates={EXAMPLE / 'answers.parquet'}",)
    role = ("--model-role", f"judge={JUDGE}", "--log-dir", "calibration")
    run("inspect", "eval", "tiebreak/stars", "-T", *people, *role, cwd=tmp_path)
    stars = ("--human", str(EXAMPLE / "stars.csv"))
    found = run_here("tiebreak", "calibrate", "calibration/", *stars, "--json", cwd=tmp_path)
    assert json.loads(found)["judges"] == [JUDGE]
