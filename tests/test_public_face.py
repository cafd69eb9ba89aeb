"""What `import tiebreak` offers: its example runs, and no name needs a deep import."""

import re
import runpy
from pathlib import Path

import pytest

import tiebreak
from tests.analysis.peers.builders import reviews
from tests.candidates.builders import make_rows, write_lm_eval_run
from tests.publish.write_back.builders import brackets, judged, write_logs, write_ranking
from tests.ranking_logs.builders import write_log
from tests.tables.builders import write

ROOT = Path(__file__).parent.parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three models' logs of two items, the same items in lm-eval, two ranking logs, and people."""
    logs = tmp_path / "logs"
    write_logs(logs)
    write_lm_eval_run(tmp_path / "lm_eval_out", "d", make_rows(2, answer="d: {i}"))
    write_ranking(logs / "seal.eval", logs, brackets())
    panel = [reviews(f"q{k}", {"a": "abc", "b": "bac", "c": "cab"}) for k in range(2)]
    write_log(logs / "peers.eval", judged(logs, panel), eval_id="P", task_id="P")
    write(tmp_path / "arena.csv", "model,rank\na,1\nb,2\nc,3\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_example_of_the_documentation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    [code] = [
        block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "leaderboards" in block
    ]
    assert re.findall(r"^(?:from|import) .*", code, re.M) == ["import tiebreak"]
    script = write(folder / "example.py", code)
    found = runpy.run_path(str(script))
    said = capsys.readouterr().out
    assert isinstance(found["pool"], tiebreak.CandidatePool)
    assert found["pool"].models == ("a", "b", "c", "d")
    assert isinstance(found["people"], tiebreak.Alignment)
    assert "full_pairwise" in said
    assert (folder / "report" / "index.html").is_file()
    assert (folder / "dataset" / "README.md").is_file()


def test_no_function_has_the_name_of_a_room() -> None:
    rooms = {path.parent.name for path in (ROOT / "src" / "tiebreak").glob("*/__init__.py")}
    assert rooms.isdisjoint(dir(tiebreak))


def test_every_name_has_one_home() -> None:
    assert len(set(dir(tiebreak))) == len(dir(tiebreak)) > 40
    assert all(getattr(tiebreak, name) is not None for name in dir(tiebreak))
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(tiebreak, "nonsense")  # noqa: B009
