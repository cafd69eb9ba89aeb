"""The house rules: who may import whom, how big a room may be, what the root links to."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tools.house import imports, modules

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tiebreak"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Root modules that every room may import; they import no room.
EVERYWHERE = {
    *("errors", "extras", "json_text", "packed", "paths", "plain_yaml", "prices", "progress"),
    *("reason", "rows", "text"),
}
# What a room may import of tiebreak, beside itself: the table of the page for contributors. The
# modules below stand in no table; "" is the package's own __init__.
TABLE = re.findall(
    r"^\| `(\w+)/` \|.*\| ([^|]*) \|$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M
)
ROOMS = {name: set(re.findall(r"`(\w+)`", may)) for name, may in TABLE}
IMPORTED_BY = {
    "prerequisite": {
        *("benchmarks", "cli", "demo", "fair", "inspect_tasks", "sandbox", "scorers", "study"),
    },
    "": {"cli", "inspect_tasks", "report", "study"},
}
MAY_IMPORT = {
    **{
        room: may | {module for module, users in IMPORTED_BY.items() if room in users}
        for room, may in ROOMS.items()
    },
    "packed": {"paths"},
    "paths": {"errors"},
    "plain_yaml": {"paths"},
    "rows": {"json_text", "packed", "paths"},
    "": {
        *("analysis", "candidates", "demo", "publish", "rankers", "ranking_logs", "report"),
        *("study", "tables"),
    },
}
# The ways up: a notebook asks a result for its HTML, whoever prints a reason for its words, and
# only report has them; a judging run that ends asks for its verdict; and where verbs are listed the
# wing has its own. Write-back writes what the scorer `standing` reads.
UPWARDS = {
    ("analysis/finding.py", "tiebreak.report.sheets"),
    ("candidates/pool.py", "tiebreak.report.sheets"),
    ("cli/stability.py", "tiebreak.fair.analysis.star_stability"),
    ("cli/stability.py", "tiebreak.fair.report"),
    ("cli/verbs.py", "tiebreak.fair.cli"),
    ("inspect_tasks/judging.py", "tiebreak.publish.write_back.verdict"),
    ("publish/write_back/scores.py", "tiebreak.scorers.ranking"),
    ("reason.py", "tiebreak.report.sentences"),
}
# Analyses read ballots and placements; how they came about is not their business.
READ_BALLOTS = {
    "tiebreak.scorers.ballots",
    "tiebreak.scorers.catalogue",
    "tiebreak.scorers.digits",
    "tiebreak.scorers.match",
    "tiebreak.scorers.placement",
    "tiebreak.scorers.rules",
}
READERS = {"ranking_logs", "analysis", "report", "publish", "tables"}


def room(module: Path) -> str:
    first = module.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


@cache
def nodes_of(module: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))


def tiebreak_imports(module: Path) -> set[str]:
    found = set()
    for node in nodes_of(module):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            pytest.fail(f"{module}: relative imports break when a task file is loaded by path")
    return {name for name in found if name.split(".")[0] == "tiebreak"}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_arrows_go_one_way(module: Path) -> None:
    here = room(module)
    for name in tiebreak_imports(module):
        there = name.split(".")[1] if "." in name else ""
        allowed = (
            {here} | MAY_IMPORT.get(here, set()) | (EVERYWHERE if here not in EVERYWHERE else set())
        )
        exception = (module.relative_to(PACKAGE).as_posix(), name) in UPWARDS
        assert there in allowed or exception, f"{module} imports {name}"
        if here in READERS and there == "scorers" and not exception:
            assert name in READ_BALLOTS, f"{module} imports {name}"


def test_the_page_for_contributors_has_every_room() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert rooms == ROOMS.keys()
    assert rooms >= set().union(*ROOMS.values())


def test_no_circle_of_files() -> None:
    """Nor of imports inside functions, nor of those for types alone."""
    TopologicalSorter(imports(modules())).prepare()  # a CycleError names the circle


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_stay_small(module: Path) -> None:
    assert lines(module) <= 600


def lines(module: Path) -> int:
    return len(module.read_text(encoding="utf-8").splitlines())


def test_no_room_is_a_house_of_its_own() -> None:
    rooms: dict[str, int] = {}
    for module in MODULES:
        rooms[room(module)] = rooms.get(room(module), 0) + lines(module)
    shares = {name: n / sum(rooms.values()) for name, n in rooms.items()}
    assert {name: share for name, share in shares.items() if share > 0.15} == {}


def test_errors_are_few_and_of_one_family() -> None:
    """One root for each room, and a class of its own where somebody catches it by name.

    All end a verb with a sentence, but that of a reply without a call, which its reader catches.
    """
    errors = [
        node
        for module in MODULES
        for node in nodes_of(module)
        if isinstance(node, ast.ClassDef) and node.name.endswith("Error")
    ]
    names = {error.name for error in errors}
    assert len(errors) == len(names)
    assert len(names - {"TiebreakError"}) <= 30
    roots = {error.name for error in errors if not names & set(map(ast.unparse, error.bases))}
    assert roots == {"TiebreakError", "NoCallsError"}


def test_no_module_is_hidden() -> None:
    """`import tiebreak.a.b as m` gives a module, not a function that has its name."""
    hidden = []
    for found in pkgutil.walk_packages([str(PACKAGE)], "tiebreak."):
        parent, _, name = found.name.rpartition(".")
        module = importlib.import_module(found.name)
        if getattr(importlib.import_module(parent), name) is not module:
            hidden.append(found.name)
    assert hidden == []


@pytest.mark.skipif((ROOT / "PKG-INFO").exists(), reason="a source distribution has no links")
@pytest.mark.parametrize(
    "folder", ["inspect_tasks", "benchmarks/lm_eval_tasks", "scorers", "rankers"]
)
def test_root_links(folder: str) -> None:
    path = PACKAGE / folder
    assert (ROOT / path.name).resolve() == path


RANK = "import tiebreak.cli.verbs as v; v.main(['rank', 'examples/study'], standalone_mode=False)"
LOGS = "tests/candidates/releases/lm-eval-0.4.13/one_filter"
LIGHT = {
    "import tiebreak, tiebreak.cli": {
        *("lm_eval", "matplotlib", "fastapi", "torch", "xllamacpp", "datasets", "pandas"),
        *("inspect_ai", "scipy", "sqlalchemy"),
    },
    RANK: {"evalica", "inspect_ai", "pandas", "scipy.stats", "sklearn"},
    "import tiebreak.analysis.leaderboard, tiebreak.analysis.alignment": {"tiebreak.report"},
    "import tiebreak.scorers.catalogue": {"inspect_ai", "numpy"},
    "from tiebreak.rankers import AGGREGATORS": {"numpy", "scipy", "pandas", "inspect_ai"},
    "from tiebreak.rankers import csd; csd([[1, 2], [2, 1], [0, 3]])": {
        *("joblib", "numba", "sklearn", "pandas"),
    },
    f"import tiebreak.candidates as c; c.load_candidates('{LOGS}')": {
        *("inspect_ai", "pyarrow", "pandas", "datasets", "lm_eval", "rich", "numpy"),
        *("fsspec", "upath", "zstandard"),
    },
}


@pytest.mark.parametrize(("code", "heavy"), LIGHT.items(), ids=LIGHT)
def test_what_stays_unloaded(code: str, heavy: set[str]) -> None:
    command = [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = done.stdout.splitlines()[-1].split()
    assert "tiebreak" in loaded
    assert not heavy & set(loaded)


# What a test waits for at most is a guard against hanging, never a deadline: machines are busy.
LEAST_PATIENCE = 120
WAITING = {"run", "wait", "wait_for", "communicate", "urlopen", "fail_after"}


def deadlines(source: str) -> list[str]:
    """Calls with a deadline in numbers, or with less patience than a busy machine needs."""
    found = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
        for keyword in call.keywords:
            number = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if not isinstance(number, int | float):
                continue
            impatient = keyword.arg == "timeout" and name in WAITING and number < LEAST_PATIENCE
            if keyword.arg == "deadline" or impatient:
                found.append(f"line {call.lineno}: {keyword.arg}={number}")
    return found


def test_deadlines_are_found() -> None:
    source = (
        "settings(deadline=200)\nrun(x, timeout=5)\nrun(x, timeout=300)\nsettings(deadline=None)"
    )
    assert deadlines(source) == ["line 1: deadline=200", "line 2: timeout=5"]


def test_no_test_has_a_deadline() -> None:
    files = sorted((ROOT / "tests").rglob("*.py"))
    found = {
        str(path.relative_to(ROOT)): own
        for path in files
        if (own := deadlines(path.read_text(encoding="utf-8")))
    }
    assert found == {}
