"""What `aggregate` and `report` say and end with."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cases import cases
from tests.cli.handed import Handed, tiebreak


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_ballots_alone_go_beside_no_contest(handed: Handed) -> None:
    handed.instead("tiebreak.tables.read_ballots", [SimpleNamespace(scores=None)])
    done = tiebreak("aggregate", "a", "--also", "csd")
    assert (done.exit_code, done.stderr) == (
        *(1, "Error: --also csd needs scores of benchmarks, and there are only ballots\n"),
    )


SIZES = {
    "index.html": 1_050_000,
    "items/a.js": 1_250_000,
    "items/c.js": 800_000,
    "items/d.js": 250_000,
}


def files(*names: str) -> list[Path]:
    paths = [Path("r", name) for name in names]
    for name, path in zip(names, paths, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * SIZES.get(name, 7))
    return paths


@pytest.mark.parametrize(
    ("names", "said"),
    cases(__file__, "reported"),
)
def test_what_was_reported(handed: Handed, names: list[str], said: str) -> None:
    written = files("index.html", *names)
    handed.instead("tiebreak.report.page.build.check_folder")
    handed.instead("tiebreak.report.page.build.write_report", written)
    assert tiebreak("report", "a").stdout == f"Report: r/index.html (1.1 MB){said}\n"
    assert json.loads(tiebreak("report", "a", "--json").stdout) == {
        "page": "r/index.html",
        "files": [{"path": str(one), "bytes": one.stat().st_size} for one in written],
    }
