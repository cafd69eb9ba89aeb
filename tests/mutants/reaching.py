"""Measures which tests reach which line of the rooms, and how long each test takes."""

import ast
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import coverage
import pytest

from tests.mutants.asking import OPTIONS, apart
from tests.mutants.settings import COPY, HOME, Settings

PACKAGE = Path("src", "tiebreak")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Map:
    """Times and lines of the tests, measured in a run without mutants.

    Attributes:
        source: hash of the package's sources; if they change, all is measured again.
        files: hash of each file of tests.
        seconds: duration of each test that passed.
        lines: the lines that each test ran, by module.
    """

    source: str = ""
    files: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    def reaching(self, module: str, source: str, line: int) -> set[str]:
        """Return the tests that ran a line.

        Lines that are run at import are not seen in any test. For a constant or a class's field,
        these are the tests that run any function of the module; for a decorator or a default,
        those that run its function.
        """
        wanted = set(_statement(ast.parse(source), line))
        return {
            test for test, ran in self.lines.items() if wanted.intersection(ran.get(module, ()))
        }

    def forget(self, files: set[str]) -> None:
        """Drop the measurements of some files of tests."""
        for test in [test for test in self.seconds if test.split("::")[0] in files]:
            del self.seconds[test]
            self.lines.pop(test, None)
        for name in files & self.files.keys():
            del self.files[name]

    def asked(self, reaching: set[str], limit: float, room: str | None = None) -> list[str]:
        """Return the tests to run for a mutant: those that reach it, then others of their files.

        The others are needed because a fixture or a cached function of a file is measured only in
        the first test that uses it. For a line that is run at import, pass its `room`, whose tests
        are added. In both groups the quickest come first, until the sum exceeds `limit` seconds.
        """
        files = {test.split("::")[0] for test in reaching}
        near = f"tests/{room}/" if room else "::"
        others = {
            test for test in self.seconds if test.split("::")[0] in files or test.startswith(near)
        } - reaching
        chosen: list[str] = []
        total = 0.0
        for group in (reaching, others):
            for test in sorted(group, key=lambda test: (self.seconds[test], test)):
                total += self.seconds[test]
                if total > limit and chosen:
                    return chosen
                chosen.append(test)
        return chosen


def at_import(source: str, line: int) -> bool:
    """Whether a line is run at import: a constant, a class's field, a decorator, a default."""
    holder = _holder(ast.parse(source), line)
    return holder is None or line < holder.body[0].lineno


def _statement(tree: ast.Module, line: int) -> Iterator[int]:
    """Lines that show whether a line was run: in a function, those of its statement.

    For a decorator or a default the body of its function, else the bodies of all functions.
    """
    holder = _holder(tree, line)
    if holder is None:
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield from _body(node)
        return
    if line < holder.body[0].lineno:
        yield from _body(holder)
        return
    statements = [
        node
        for node in ast.walk(holder)
        if isinstance(node, ast.stmt | ast.ExceptHandler)
        and node.lineno <= line <= (node.end_lineno or 0)
        and node is not holder
    ]
    smallest = max(statements, key=lambda node: (node.lineno, -(node.end_lineno or 0)))
    inner = getattr(smallest, "body", None)
    end = inner[0].lineno - 1 if isinstance(inner, list) and inner else smallest.end_lineno or line
    yield from range(smallest.lineno, max(end, smallest.lineno) + 1)


def _holder(tree: ast.Module, line: int) -> Function | None:
    """Return the innermost function, with its decorators, that holds a line, or None."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, Function)
        and min([node.lineno, *(one.lineno for one in node.decorator_list)]) <= line
        and line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def _body(node: Function) -> range:
    return range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)


def current_map(settings: Settings) -> Map:
    """Return the map of the copy; tests are measured again only if they or the sources changed."""
    kept = HOME / "map.json"
    found = Map(**json.loads(kept.read_text("utf-8"))) if kept.exists() else Map()
    source = _hash(*sorted((COPY / PACKAGE).rglob("*.py")))
    if found.source != source:
        found = Map(source)
    for folder in settings.tests:
        paths = sorted((COPY / folder).rglob("test_*.py"))
        hashes = {path.relative_to(COPY).as_posix(): _hash(path) for path in paths}
        old = {name: found.files[name] for name in found.files if name.startswith(f"{folder}/")}
        changed = [name for name in hashes if old.get(name) != hashes[name]]
        if old == hashes:
            continue
        found.forget({*old.keys() - hashes.keys(), *changed})
        measured = _measured(changed, settings) if changed else Map()
        print(
            f"{folder}: {len(measured.seconds)} tests, {sum(measured.seconds.values()):.0f} s",
            flush=True,
        )
        found.seconds |= measured.seconds
        found.lines |= measured.lines
        found.files |= hashes
        kept.write_text(json.dumps(vars(found)), "utf-8")
    return found


def _measured(files: Sequence[str], settings: Settings) -> Map:
    written = HOME / "measured.json"
    written.unlink(missing_ok=True)

    def run() -> int:
        rooms = [str(COPY / PACKAGE / room / "*") for room in settings.rooms]
        tracer = coverage.Coverage(data_file=None, include=rooms, config_file=False)
        watch = Watch(tracer, settings)
        tracer.start()
        code = pytest.main([*OPTIONS, *files], plugins=[watch])
        tracer.stop()
        measured = {"seconds": watch.passed(), "lines": _by_test(tracer.get_data(), watch.passed())}
        written.write_text(json.dumps(measured), "utf-8")
        return int(code)

    apart(run, HOME / "map.log", None)
    return Map(**json.loads(written.read_text("utf-8")))


def _by_test(
    data: coverage.CoverageData, tests: dict[str, float]
) -> dict[str, dict[str, list[int]]]:
    found: dict[str, dict[str, list[int]]] = {}
    for path in sorted(data.measured_files()):
        module = Path(path).relative_to(COPY / PACKAGE).as_posix()
        for line, contexts in data.contexts_by_lineno(path).items():
            for test in tests.keys() & set(contexts):
                found.setdefault(test, {}).setdefault(module, []).append(line)
    return found


class Watch:
    """A pytest plugin that selects tests, and records their times, failures and (traced) lines."""

    def __init__(self, tracer: coverage.Coverage, settings: Settings) -> None:
        self.tracer, self.settings = tracer, settings
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def passed(self) -> dict[str, float]:
        return {test: time for test, time in self.seconds.items() if test not in self.failed}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if self._wanted(item)]

    def _wanted(self, item: pytest.Item) -> bool:
        if item.get_closest_marker("hub"):
            return False
        slow = item.get_closest_marker("slow")
        return not slow or item.nodeid.startswith(self.settings.slow_tests)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.tracer.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self.tracer.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)


def _hash(*paths: Path) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.read_bytes())
    return whole.hexdigest()
