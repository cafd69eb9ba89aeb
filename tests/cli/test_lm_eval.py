"""The verbs `lm-eval-tasks` and `lm-eval-cache`: one line each, for a command line."""

import re
from itertools import combinations
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.handed import tiebreak
from tiebreak.benchmarks import BENCHMARKS
from tiebreak.cli.lm_eval import cache_name, default_root

# Names that lm-eval itself writes to one folder, and names that differ little or oddly.
MODELS = [
    *("a", "A", "a/b", "a:b", "a__b", "A/B", "a b", "a/b/", "../a", ".", "", " ", "-a", "a\nb"),
    *("x" * 59, "x" * 60, "x" * 61, "x" * 10_000, "\u00e9", "e\u0301", "名", "\ud800", "CON"),
]


def cache(*arguments: str, **env: str) -> Result:
    return tiebreak("lm-eval-cache", *arguments, env=env)


def test_the_folder_and_nothing_else() -> None:
    done = tiebreak("lm-eval-tasks")
    assert done.exit_code == 0
    [line] = done.output.splitlines()
    folder = Path(line)
    assert folder.is_absolute()
    # lm-eval resolves `!function`; to this test it is a name like any other.
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_constructor("!function", lambda _, node: node.value)  # type: ignore[attr-defined]
    files = [yaml.load(file.read_text("utf-8"), loader) for file in folder.glob("*.yaml")]
    [group] = [file for file in files if "group" in file]
    tasks = {file["task"] for file in files if "group" not in file}
    assert group["group"] == "tiebreak"
    assert set(group["task"]) == tasks == {f"tiebreak_{name}" for name in BENCHMARKS}
    # An include is looked for beside its file, and a task that misses it is dropped in silence.
    assert all((folder / file["include"]).is_file() for file in files if "include" in file)


def test_every_model_has_a_path_of_its_own() -> None:
    names = [cache_name(model) for model in MODELS]
    # Some file systems do not tell upper case from lower case.
    assert len({name.lower() for name in names}) == len(MODELS)
    assert max(map(len, names)) == 60 + len("-0123456789abcdef")


@pytest.mark.slow
@given(st.text(), st.text())
def test_a_path_fits_every_file_system(model: str, model_args: str) -> None:
    name = cache_name(model, model_args)
    assert name == cache_name(model, model_args)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]{0,76}", name)


def test_what_else_the_answers_depend_on() -> None:
    given = ["", "seed=1", "seed=2", "api_key=sk-secret", "m"]
    pairs = [("m", arguments) for arguments in given] + [("a:", "b"), ("a", ":b")]
    for one, other in combinations(pairs, 2):
        assert cache_name(*one) != cache_name(*other)
    assert "secret" not in cache("m", "--model-args", "api_key=sk-secret").output


def test_one_line_and_no_trace(tmp_path: Path) -> None:
    first = cache("acme/m:1", "--root", str(tmp_path / "new folder"))
    assert first.exit_code == 0
    assert first.output == f"{tmp_path}/new folder/{cache_name('acme/m:1')}\n"
    assert "acme-m-1-" in first.output
    assert list(tmp_path.iterdir()) == []


def test_a_path_does_not_depend_on_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cache("m", "--root", "here").output == f"{tmp_path}/here/{cache_name('m')}\n"


@pytest.mark.parametrize(
    ("given", "root"),
    [("/var/cache", "/var/cache"), ("", "/home/ida/.cache"), ("relative", "/home/ida/.cache")],
)
def test_the_usual_place(given: str, root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ida")
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert default_root() == Path(root, "tiebreak", "lm-eval")
    assert Path(cache("m").output.strip()).parent == default_root()
