"""What putting ranks into a log changes, and all that it leaves as it is."""

import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from inspect_ai import Epochs, Task, eval, score
from inspect_ai.dataset import Sample
from inspect_ai.log import (
    EvalError,
    EvalLog,
    EvalScore,
    edit_score,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample_summaries,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.model import ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, ScoreEdit, Scorer, Target, includes, scorer
from inspect_ai.solver import TaskState, generate, system_message

from tests.cases import some
from tests.publish.write_back.builders import metrics
from tiebreak.candidates.inspect_logs import read_inspect_log
from tiebreak.candidates.records import ReadOptions
from tiebreak.publish.write_back import WriteBackError
from tiebreak.publish.write_back import scores as log_scores
from tiebreak.publish.write_back.rankings import ItemStanding, Ranking, SampleStandings
from tiebreak.publish.write_back.run import holds
from tiebreak.publish.write_back.scores import put_ranks, ranks_of
from tiebreak.scorers.ranking import board_place, borda, borda_stderr, rounded_score

IMAGE = "data:image/png;base64," + "iVBORw0K" * 40
RANKS = {("1", 1): (1.0, 1.0), ("a:b", 1): (2.0, 0.5)}
ABOUT = {"ranking_log": "E1", "protocol": "seal", "run": "f00d", "judge": "j/one, j/two"}

Recording = tuple[Ranking, SampleStandings]


def recording(
    ranks: Mapping[tuple[str, int], tuple[float, float]] = RANKS,
    *,
    protocol: str = "seal",
    place: int | None = 2,
    eval_id: str = "E1",
) -> Recording:
    standings = {key: ItemStanding(*rank, "In words.", "judged") for key, rank in ranks.items()}
    ranking = Ranking(
        benchmark="gsm8k",
        protocol=protocol,
        log="seal.eval",
        eval_id=eval_id,
        run="f00d",
        judges=("j/one", "j/two"),
        places={"m": place, "other": 1, "third": 3},
        standings={},
    )
    return ranking, standings


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of a real run: long texts, a data URI, two epochs, two reducers, a model role."""
    samples = [
        Sample(id=1, input="Long " * 200 + "?", target="42"),
        Sample(id="a:b", input=[ChatMessageUser(content=IMAGE)], target="43"),
        Sample(id="z", input="x", target="42", metadata={"k": [None, 1]}),
    ]
    outputs = [
        ModelOutput.from_content("mockllm/m", text) for text in ("42 " * 500, IMAGE, "no") * 2
    ]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    (log,) = eval(
        Task(dataset=samples, solver=[system_message("s"), generate()], scorer=includes()),
        model=get_model("mockllm/m", custom_outputs=outputs, memoize=False),
        model_roles={"grader": "mockllm/g"},
        epochs=Epochs(2, ["mean", "at_least_1"]),
        log_dir=str(tmp_path_factory.mktemp("real")),
        max_samples=1,
    )
    return Path(log.location.removeprefix("file://"))


@pytest.fixture
def path(original: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    # Of files that end in .json Inspect takes those for logs that are named like one.
    suffix = getattr(request, "param", ".eval")
    return write(
        read_eval_log(str(original)), tmp_path / f"2026-01-01T00-00-00+00-00_gsm8k_id{suffix}"
    )


BOTH_FORMATS = pytest.mark.parametrize("path", [".eval", ".json"], indirect=True)


def put(path: Path, *recordings: Recording) -> frozenset[str]:
    """Put ranks where they are not held already, and return the names of those scores."""
    [record] = read_inspect_log(path, ReadOptions(recorded=True)).records
    changed = frozenset(
        ranking.score
        for ranking, standings in recordings
        if not holds(record.recorded, ranking, "m", standings)
    )
    if changed:
        put_ranks(path, ranks_of("m", recordings), path.stat())
    return changed


def without_ours(log: EvalLog) -> dict[str, Any]:
    """All that a log holds, but for its place on the disk and our scores."""
    held = log.model_dump(mode="json", exclude={"location", "etag"})
    held["eval"]["scorers"] = [s for s in held["eval"]["scorers"] if "tiebreak" not in s["name"]]
    held["results"]["scores"] = [
        score for score in held["results"]["scores"] if "tiebreak" not in score["scorer"]
    ]
    for sample in held["samples"]:
        for name in [name for name in sample["scores"] if name.startswith("tiebreak")]:
            del sample["scores"][name]
    return held


@pytest.mark.slow
@BOTH_FORMATS
def test_nothing_else_changes(path: Path) -> None:
    before = read_eval_log(str(path))
    assert put(path, recording(), recording(protocol="swiss")) == {
        "tiebreak_seal",
        "tiebreak_swiss",
    }
    after = read_eval_log(str(path))
    assert without_ours(after) == without_ours(before)
    # And so is what only a reader with resolved attachments sees.
    seen = [
        [
            one.model_dump(mode="json", exclude={"scores"})
            for one in read_eval_log(str(file), resolve_attachments=True).samples or []
        ]
        for file in (path, write(before, path.with_stem("before")))
    ]
    assert seen[0] == seen[1]


def write(log: EvalLog, path: Path) -> Path:
    write_eval_log(log, str(path))
    return path


@BOTH_FORMATS
def test_the_score_and_its_metrics(path: Path) -> None:
    put(path, recording())
    log = read_eval_log(str(path))
    found = {(str(s.id), s.epoch): (s.scores or {}).get("tiebreak_seal") for s in log.samples or []}
    # The second epoch and z were not ranked: no score, which is no zero.
    assert {key for key, score in found.items() if score is not None} == set(RANKS)
    score = some(found["a:b", 1])
    assert (score.value, score.explanation) == ({"rank": 2.0, "borda": 0.5}, "In words.")
    assert score.metadata == ABOUT
    # Mean (1 + 1/2)/2; deviations ±1/4 give variance 1/8, and √(1/8)/√2 = 1/4.
    assert metrics(log) == {"borda": 0.75, "stderr": pytest.approx(0.25), "place": 2.0}
    [ours] = [score for score in results(log) if score.scorer == "tiebreak_seal"]
    assert (ours.scored_samples, ours.unscored_samples, ours.reducer) == (2, 0, None)
    assert ours.metrics["place"].params == {"value": 2, "of": 3}
    assert [score.name for score in results(log)] == ["includes"] * 2 + ["tiebreak_seal"]
    assert log.results is not None
    assert log.results.headline is not None
    assert log.results.headline.scorer == "includes"


@pytest.mark.slow
def test_all_of_it_is_what_inspect_scores(path: Path) -> None:
    """Inspect runs a scorer that looks the ranks up; its metrics have the same last digit."""
    thirds = {("1", 1): (1.0, 1 / 3), ("a:b", 1): (2.0, 0.1), ("z", 2): (3.0, 2 / 3)}
    ranking, standings = recording(thirds)

    @scorer(metrics=[borda(), borda_stderr(), board_place(2, 3)], name=ranking.score, **ABOUT)
    def looked_up() -> Scorer:
        async def look_up(state: TaskState, target: Target) -> Score | None:
            standing = standings.get((str(state.sample_id), state.epoch))
            if standing is None:
                return None
            value = {"rank": standing.rank, "borda": standing.borda}
            return rounded_score(value, ABOUT, explanation=standing.words)

        return look_up

    log = read_eval_log(str(path))
    log.eval.config.epochs_reducer = None
    scored = score(log, looked_up(), action="append", display="none")
    put(path, (ranking, standings))
    written = read_eval_log(str(path))
    assert results(written) == results(scored)
    assert written.eval.scorers == scored.eval.scorers
    assert [sample.scores for sample in written.samples or []] == [
        sample.scores for sample in scored.samples or []
    ]


@pytest.mark.slow
def test_a_zip_is_what_inspect_writes(path: Path) -> None:
    """Its samples and its summaries, in which long explanations are cut."""
    ranking, standings = recording()
    long = {
        key: standing._replace(words="Beat many. " * 500) for key, standing in standings.items()
    }
    inspects = write(read_eval_log(str(path)), path.with_suffix(".json"))
    put(inspects, (ranking, long))
    write(read_eval_log(str(inspects)), inspects.with_suffix(".inspects.eval"))
    put(path, (ranking, long))
    both = [path, inspects.with_suffix(".inspects.eval")]
    logs = [read_eval_log(str(file)).model_dump(exclude={"location"}) for file in both]
    assert logs[0] == logs[1]
    summaries = [read_eval_log_sample_summaries(str(file)) for file in both]
    assert summaries[0] == summaries[1]
    assert "Beat many." in str(summaries[0])


@pytest.mark.slow
def test_half_a_pair_of_surrogates_is_left_to_inspect(path: Path) -> None:
    with ZipFile(path) as log:
        [name] = [name for name in log.namelist() if name.startswith("samples/z_epoch_1")]
        text = log.read(name).replace(b'"k":[null,1]', rb'"k":["\ud83d",1]')
    with ZipFile(path, "a") as log, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a second one under this name
        log.writestr(name, text)
    assert put(path, recording()) == {"tiebreak_seal"}
    assert metrics(path)["borda"] == 0.75
    assert put(path, recording()) == frozenset()


@pytest.mark.slow
def test_the_second_time_nothing_changes(path: Path) -> None:
    put(path, recording(), recording(protocol="swiss"))
    before = path.read_bytes()
    assert put(path, recording(protocol="swiss"), recording()) == frozenset()
    assert path.read_bytes() == before


def results(log: EvalLog) -> list[EvalScore]:
    assert log.results is not None
    return log.results.scores


@pytest.mark.slow
@pytest.mark.parametrize(
    "newer",
    [
        recording(eval_id="E2"),
        recording(place=3),
        recording(RANKS | {("1", 1): (2.0, 0.5)}),
        recording({("z", 1): (1.0, 1.0)}),
    ],
    ids=["another run", "another place", "another rank", "other items"],
)
def test_a_newer_ranking_takes_the_place_of_its_score_only(path: Path, newer: Recording) -> None:
    put(path, recording(), recording(protocol="swiss"))
    assert put(path, newer) == {"tiebreak_seal"}
    log = read_eval_log(str(path))
    names = [score.scorer for score in results(log)]
    assert names == ["includes", "includes", "tiebreak_swiss", "tiebreak_seal"]
    assert [one.name for one in log.eval.scorers or []] == [
        *("includes", "tiebreak_swiss", "tiebreak_seal"),
    ]
    held = {(str(s.id), s.epoch) for s in log.samples or [] if "tiebreak_seal" in (s.scores or {})}
    assert held == set(newer[1])
    assert metrics(log, "tiebreak_swiss")["borda"] == 0.75


@BOTH_FORMATS
def test_what_is_undefined_stays_so_and_is_still_the_same_twice(path: Path) -> None:
    only = recording({("1", 1): (1.0, 1.0)}, place=None)
    put(path, only)
    found = metrics(path)
    assert found["borda"] == 1
    assert math.isnan(found["stderr"])
    assert math.isnan(found["place"])
    assert put(path, only) == frozenset()


@pytest.mark.slow
def test_inspect_computes_the_same_metrics_again(path: Path) -> None:
    """As Inspect View does after a score was edited by hand."""
    put(path, recording())
    log = read_eval_log(str(path))
    before = [score.model_copy(deep=True) for score in results(log)]
    recompute_metrics(log)
    assert results(log) == before
    edit_score(log, "z", "includes", ScoreEdit(value="C"), epoch=1)
    assert metrics(log) == {"borda": 0.75, "stderr": pytest.approx(0.25), "place": 2.0}


@pytest.mark.slow
def test_a_score_that_was_edited_by_hand_is_put_right(path: Path) -> None:
    put(path, recording())
    log = read_eval_log(str(path))
    edit_score(log, 1, "tiebreak_seal", ScoreEdit(value={"rank": 9, "borda": 0}), epoch=1)
    assert put(write(log, path), recording()) == {"tiebreak_seal"}


@pytest.mark.slow
def test_results_that_got_lost_are_put_back(path: Path) -> None:
    put(path, recording())
    log = read_eval_log(str(path))
    results(log).pop()
    assert put(write(log, path), recording()) == {"tiebreak_seal"}
    assert metrics(path)["place"] == 2


@pytest.mark.slow
def test_a_reducer_of_somebody_elses_does_not_matter(path: Path) -> None:
    log = read_eval_log(str(path))
    log.eval.config.epochs_reducer = ["not/installed"]
    put(write(log, path), recording())
    written = read_eval_log(str(path))
    assert written.eval.config.epochs_reducer == ["not/installed"]
    assert metrics(written)["borda"] == 0.75


def test_a_log_without_scores_gets_ours(original: Path, tmp_path: Path) -> None:
    bare = read_eval_log(str(original))
    bare.results, bare.reductions = None, None
    for sample in bare.samples or []:
        sample.scores = None
        if (sample.id, sample.epoch) == ("z", 2):
            sample.error = EvalError(message="", traceback="", traceback_ansi="")
    path = write(bare, tmp_path / "log.eval")
    put(path, recording())
    log = read_eval_log(str(path))
    assert log.results is not None
    assert (log.results.total_samples, log.results.completed_samples) == (6, 5)
    # The scorers that the task names are still there for `inspect score`.
    assert [one.name for one in log.eval.scorers or []] == ["includes", "tiebreak_seal"]
    assert [one.scores for one in log.samples or [] if one.id == "z"] == [None, None]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_a_crash_leaves_the_old_log(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def half(log: EvalLog, location: str, **more: Any) -> None:
        Path(location).write_bytes(b"PK half a log")
        raise error

    before = path.read_bytes()
    monkeypatch.setattr(log_scores, "write_eval_log", half)
    with pytest.raises(error):
        put(path, recording())
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@BOTH_FORMATS
def test_a_draft_left_behind_is_no_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a power cut: neither Inspect nor a pool takes it for a log."""
    monkeypatch.setattr(Path, "replace", lambda self, target: None)
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok: None)
    put(path, recording())
    assert len(list(path.parent.iterdir())) == 2
    assert [Path(info.name).name for info in list_eval_logs(str(path.parent))] == [path.name]


def test_a_log_that_changed_meanwhile_is_not_overwritten(path: Path) -> None:
    before = path.stat()
    path.write_bytes(path.read_bytes() + b" ")
    changed = path.read_bytes()
    with pytest.raises(WriteBackError, match="changed by another program"):
        put_ranks(path, ranks_of("m", [recording()]), before)
    assert path.read_bytes() == changed
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@BOTH_FORMATS
def test_links_and_permissions_stay(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "links" / f"link{path.suffix}"
    link.parent.mkdir()
    link.symlink_to(path)
    path.chmod(0o640)
    put(link, recording())
    assert link.is_symlink()
    assert metrics(path)["borda"] == 0.75
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(link.parent.iterdir()) == [link]
