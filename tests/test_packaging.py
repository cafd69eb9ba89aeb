"""What is built is what is here: every file of the package, and none of the links at the root."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.harness import ROOT

PACKAGE = ROOT / "src" / "tiebreak"


@pytest.mark.slow
def test_wheel_from_sdist_is_complete(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run([*build, "-t", "sdist"], cwd=ROOT, check=True, capture_output=True)
    [sdist] = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = tmp_path / sdist.name.removesuffix(".tar.gz")
    examples = {path.name for path in (ROOT / "examples").iterdir()} - {"__pycache__"}
    assert examples == {path.name for path in (unpacked / "examples").iterdir()}
    assert not {"scorers", "rankers", "inspect_tasks"} & {path.name for path in unpacked.iterdir()}
    subprocess.run([*build, "-t", "wheel"], cwd=unpacked, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        built = {name for name in archive.namelist() if name.startswith("tiebreak/")}
    here = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert built == here
