"""The bundle: the same logs give the same bytes, and no secret is among them."""

import shutil
from itertools import count
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog

from tests.publish.judged_runs import (
    bundle,
    change_log,
    plant,
    told,
    write_both,
    write_candidates,
    write_ranking,
)
from tests.ranking_logs.builders import bracket, write_log, write_shards
from tiebreak.candidates import load_candidates
from tiebreak.publish.bundle import Bundle, bundle_of
from tiebreak.publish.errors import PublishError
from tiebreak.publish.latest import changing_files
from tiebreak.publish.runs import read_runs
from tiebreak.publish.secrets import Secret
from tiebreak.scorers.ballots import Tiering

pytestmark = pytest.mark.usefixtures("no_plots")


def whole(made: Bundle) -> dict[str, bytes]:
    """All files of a new dataset."""
    return made.files | changing_files(made, {}, license=None, repo_id="me/x")


@pytest.mark.slow
def test_the_same_logs_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the folders, the order of paths and the working directory."""
    write_both(tmp_path / "one")
    write_shards(tmp_path / "one" / "shards", [[bracket(f"q{i}", "a", "b", "c")] for i in range(2)])
    shutil.copytree(tmp_path / "one", tmp_path / "two" / "deeper")
    paths = sorted((tmp_path / "one").glob("[rs]*/*.eval"))
    first = bundle(paths)
    monkeypatch.chdir(tmp_path / "two")
    assert len(first.runs) == 2
    assert whole(bundle(reversed(paths))) == whole(bundle(["deeper"])) == whole(first)
    assert not any(str(tmp_path) in told(content, path) for path, content in whole(first).items())


@pytest.mark.slow
def test_candidates_only_add_files(tmp_path: Path) -> None:
    """So that a run which is published without them can be published with them later."""
    log = write_both(tmp_path)
    without = bundle([log])
    with_them = bundle([log], with_candidates=True)
    assert not without.shared
    assert without.files.items() <= with_them.files.items()


@pytest.mark.slow
def test_two_protocols_share_their_pool(tmp_path: Path) -> None:
    pool = load_candidates(write_candidates(tmp_path / "candidates"))
    for number in range(2):
        path = tmp_path / "ranking" / f"{number}.eval"
        write_ranking(path, pool, eval_id=f"E{number}", task_id=f"T{number}")
    made = bundle([tmp_path / "ranking"], with_candidates=True)
    assert (len(made.runs), len(made.shared)) == (2, 1)


@pytest.mark.slow
def test_secrets_stay_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "planted-in-the-environment")

    def planted(log: EvalLog) -> None:
        plant(log, map("planted-{}-s3cret".format, count()))

    log = change_log(write_both(tmp_path / "planted-in-the-path"), planted)
    files = whole(bundle([log], with_candidates=True))
    said = "\n".join(f"{path}\n{told(content, path)}" for path, content in files.items())
    assert "planted" not in said
    assert str(tmp_path) not in said
    # What is allowed did get out.
    assert "openai/gpt-5" in said
    assert "my.yaml" in said
    assert '\\"temperature\\": 0.25' in said


@pytest.mark.slow
def test_a_secret_in_an_answer_stops_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-from-the-environment"
    folder = write_candidates(tmp_path / "candidates", answer=lambda m, i: f"{m}: use {key} {i}")
    log = write_ranking(tmp_path / "seal.eval", load_candidates(folder))
    monkeypatch.setenv("SOME_API_KEY", key)
    bundle([log])  # the answers are not among what is published
    with pytest.raises(PublishError, match=r"candidates/.*SOME_API_KEY") as found:
        bundle([log], with_candidates=True)
    assert key not in str(found.value)


@pytest.mark.slow
def test_a_secret_that_is_a_model_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "abcdefgh-model")
    names = ("x/abcdefgh-model", "b", "c")
    pool = load_candidates(write_candidates(tmp_path / "candidates", names))
    log = write_ranking(tmp_path / "seal.eval", pool, ranked=names)
    with pytest.raises(PublishError, match="MY_TOKEN"):
        bundle([log])


def test_what_judges_wrote_leaves_with_answers_only(tmp_path: Path) -> None:
    said = bracket("q0", "a", "b", "c").model_copy(
        update={"tiering": Tiering(tiers={"a": 1}, reasoning="It is right.")}
    )
    runs, _ = read_runs([write_log(tmp_path / "1.eval", [said])])
    name = runs[0].run_id
    usual = {
        *(f"{table}/{name}.parquet" for table in ("leaderboard/full", "rankings", "ballots")),
        f"runs/{name}/manifest.json",
    }
    assert set(bundle_of(runs).files) == usual
    assert set(bundle_of(runs, {}).files) == usual | {f"judge_texts/{name}.parquet"}


def test_a_bundle_shows_none_of_its_secrets() -> None:
    bundle = Bundle({}, {}, (Secret("the environment variable KEY", "sk-1"),))
    assert repr(bundle) == "Bundle(runs={}, shared={})"
    assert repr(bundle.secrets[0]) == "Secret(source='the environment variable KEY')"
