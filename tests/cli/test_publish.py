"""The verb `publish`: what it takes, what it says, and how it ends."""

import json
import traceback
from base64 import b64encode
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.publish.credential_shapes import shapes
from tests.publish.judged_runs import write_both, write_candidates, write_ranking
from tiebreak.candidates import load_candidates
from tiebreak.cli.publish import publish
from tiebreak.publish import bundle as bundle_module
from tiebreak.rankers import MissingPackageError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a judged pool, as working directory; and no plots, which take their time."""

    def missing() -> None:
        raise MissingPackageError("no matplotlib")

    monkeypatch.setattr(bundle_module, "require_matplotlib", missing)
    monkeypatch.chdir(tmp_path)
    write_both(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(publish, ["ranking", "--draws", "100", *arguments])


@pytest.mark.slow
def test_a_dry_run(here: Path) -> None:
    done = run("--dry-run")
    assert done.exit_code == 0, done.output
    assert "tiebreak-dataset: 6 files" in done.output
    assert (here / "tiebreak-dataset" / "leaderboard" / "latest.parquet").exists()
    run("--dry-run", "--to", "me/ranks", "--public", "--license", "cc-by-4.0")
    assert "license: cc-by-4.0" in (here / "ranks" / "README.md").read_text()


@pytest.mark.slow
def test_that_there_are_no_plots_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    note = "No plots without matplotlib: pip install matplotlib"
    assert f"Note: {note}" in run("--dry-run").stderr
    [said] = json.loads(run("--dry-run", "--json").stdout)["notes"]
    assert said.startswith(note)
    monkeypatch.setattr(bundle_module, "require_matplotlib", lambda: None)
    monkeypatch.setattr(bundle_module, "_drawings", lambda run: [])
    assert "No plots" not in run("--dry-run").output


@pytest.mark.slow
@pytest.mark.parametrize("where", ["--dry-run", "--to", "--every-eval-ever"])
def test_a_key_in_an_answer_stops_everything(
    here: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    [shape] = [one for one in shapes() if one.name == "list of keys"]
    encoded = b64encode(f"x{shape.parts[1]}".encode()).decode()
    answers = here / "answers"
    write_candidates(answers, answer=lambda model, i: f"It is {encoded if model == 'b' else i}")
    log = write_ranking(here / "other" / "seal.eval", load_candidates(answers))
    before = {path for path in here.rglob("*") if path.is_file()}
    monkeypatch.setenv(shape.variable, shape.value)
    monkeypatch.setattr("tiebreak.publish.dataset.publish_bundle", lambda *_, **__: 1 / 0)
    place = {"--to": ["me/x"], "--every-eval-ever": ["eee"]}.get(where, [])
    done = alone(str(log), "--with-candidates", "--candidates", str(answers), where, *place)
    assert done.exit_code == 1
    assert "would hold the value of the environment variable OPENAI_KEYS" in done.output
    shown = done.output + "".join(traceback.format_exception(done.exception))
    assert not any(one in shown for one in (encoded[8:-8], *shape.parts))
    assert {path for path in here.rglob("*") if path.is_file()} == before


def alone(*arguments: str) -> Result:
    return CliRunner().invoke(publish, ["--draws", "100", *arguments])
