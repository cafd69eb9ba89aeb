"""What cannot be written is one sentence with the path of the file, from every verb that writes."""

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.handed import tiebreak
from tests.ranking_logs.builders import bracket, write_log
from tiebreak.paths import problem_of, to_file

FULL = "cannot be written (No space left on device): make room, or name another place"


@pytest.fixture
def logs(tmp_path: Path) -> str:
    """Two brackets in a log; the verbs that need a table find one beside it."""
    items = [bracket(f"q{k}", "a", "b", "c") for k in range(3)]
    write_log(tmp_path / "logs" / "r.eval", items)
    (tmp_path / "scores.csv").write_text("model,maths,law\na,9,7\nb,8,8\nc,1,3\n")
    return str(tmp_path / "logs")


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder that even root cannot write into."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a folder that is read only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def refused(*arguments: str) -> str:
    """What a verb says that ends with an error: one line, and no traceback."""
    done = tiebreak(*arguments)
    assert done.exit_code == 1, done.output
    last = done.stderr.splitlines()[-1]
    assert last.startswith("Error: ")
    assert sum(line.startswith("Error") for line in done.stderr.splitlines()) == 1
    return last.removeprefix("Error: ")


# Where the file or the folder of a verb goes stands as {}.
WRITERS = {
    "demo": "demo --recorded --out {}/demo",
    "report": "report LOGS -o {}/report --pictures svg",
    "plot": "csd SCORES --iterations 100 --plot {}/csd.svg",
    "publish": "publish LOGS --dry-run --out {}/data",
}


def command(line: str, logs: str, where: Path) -> list[str]:
    words = line.replace("SCORES", str(Path(logs).parent / "scores.csv")).replace("LOGS", logs)
    return words.format(where).split()


@pytest.mark.slow
@pytest.mark.parametrize("line", WRITERS.values(), ids=WRITERS)
def test_a_folder_that_is_read_only(line: str, logs: str, read_only: Path) -> None:
    said = refused(*command(line, logs, read_only))
    assert str(read_only) in said
    assert "Read-only file system" in said


@pytest.mark.slow
@pytest.mark.parametrize("line", WRITERS.values(), ids=WRITERS)
def test_a_file_where_a_folder_should_be(line: str, logs: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = refused(*command(line, logs, tmp_path / "file"))
    assert str(tmp_path / "file") in said


@pytest.mark.slow
@pytest.mark.parametrize("line", WRITERS.values(), ids=WRITERS)
def test_a_disk_that_is_full(line: str, logs: str, disk: Callable[[int], Path]) -> None:
    folder = disk(8)
    said = refused(*command(line, logs, folder))
    assert str(folder) in said
    assert "No space left on device" in said


@pytest.mark.slow
def test_a_page_on_a_full_disk(logs: str, disk: Callable[[int], Path]) -> None:
    page = disk(64) / "index.html"
    assert refused("report", logs, "-o", str(page.parent), "--pictures", "svg").startswith(
        (f"{page} {FULL}", f"{page.parent}/plots")
    )


def test_every_full_disk_has_a_name(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space") as caught, to_file(tmp_path / "x"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert problem_of(caught.value) == f"{tmp_path}/x {FULL}"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EACCES, "Permission denied", "p"), "p cannot be read or written (Perm"),
        (OSError(errno.ENOSPC, "No space"), "The output cannot be written (No space): make room"),
        (OSError(errno.EROFS, "Read-only", "a", None, "b"), "b cannot be written (Read-only)"),
        (OSError("odd"), "odd"),
        (TimeoutError("timed out"), "timed out"),
    ],
)
def test_sentences(error: OSError, said: str) -> None:
    assert problem_of(error).startswith(said)
