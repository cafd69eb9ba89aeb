"""Draws a sample of mutants, and runs the tests that reach each of them: `make mutants`."""

import os
import time
from itertools import count
from pathlib import Path

import click
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult

from tests.mutants.asking import NOT_IMPORTED, ask, fresh_copy, prepare
from tests.mutants.drawing import Mutant, changed_lines, drawn, mutants_of, mutated, sources
from tests.mutants.reaching import PACKAGE, Map, at_import, current_map
from tests.mutants.settings import COPY, HOME, Equivalent, Settings, settings
from tests.mutants.table import table, write_table

SURVIVED, KILLED = TestOutcome.SURVIVED, TestOutcome.KILLED
# Exit codes of pytest: all tests passed; no tests to run. With any other, the mutant was noticed.
PASSED = (0, 5)

# Most mutants are noticed by one of the first tests: then the files of the others are not loaded.
FIRST = 12
# Python uses a compiled file if the source's size and time, in whole seconds, are those it was
# compiled from. A mutant often keeps the size, so each gets a second of its own.
STAMPS = count(int(time.time()))


@click.command()
@click.option("--seed", default=1, show_default=True, help="Another seed draws other mutants.")
@click.option("--size", default=300, show_default=True, help="How many mutants are counted.")
@click.option("--room", "rooms", multiple=True, help="Only mutants of this room.")
@click.option("--page", type=click.Path(path_type=Path), help="Write the table into this page.")
@click.option("--again", is_flag=True, help="Put the survivors to the tests once more.")
def main(seed: int, size: int, rooms: tuple[str, ...], page: Path | None, again: bool) -> None:
    """Change a random sample of lines, one at a time, and see whether the tests notice."""
    HOME.mkdir(exist_ok=True)
    chosen = settings()
    prepare()
    fresh_copy()
    reaching = current_map(chosen)
    before = sources(COPY / PACKAGE, rooms or chosen.rooms)
    modules = before.items()
    mutants = [one for name, text in modules for one in mutants_of(name, text, chosen.operators)]
    lines = len({(mutant.module, mutant.line) for mutant in mutants})
    print(f"{len(mutants):,} mutants on {lines:,} lines; seed {seed}", flush=True)
    counted: list[tuple[Mutant, WorkResult]] = []
    with use_db(
        str(HOME / f"session-{seed}-{reaching.source[:8]}.sqlite"), WorkDB.Mode.create
    ) as kept:
        known = dict(kept.results)
        for mutant in drawn(mutants, seed):
            if len(counted) == size:
                break
            change = changed_lines(before[mutant.module], mutated(before[mutant.module], mutant))
            if _equivalent(mutant, change, chosen):
                continue
            result = known.get(_name(mutant))
            if result is None or (again and result.test_outcome == SURVIVED):
                result = tried(mutant, before[mutant.module], reaching, chosen)
                _keep(kept, mutant, result)
                _show(len(counted) + 1, mutant, change, result)
            if result.test_outcome != TestOutcome.INCOMPETENT:
                counted.append((mutant, result))
    _check(counted)
    told = [(mutant.room, bool(result.is_killed)) for mutant, result in counted]
    caption = f"Seed {seed}; there are {len(mutants):,} mutants on {lines:,} lines.\n\n"
    text = caption + table(told, rooms or chosen.rooms)
    print(f"\n{text}")
    if page is not None:
        write_table(page, text)


def tried(mutant: Mutant, source: str, reaching: Map, chosen: Settings) -> WorkResult:
    """Run the tests that reach a mutant, and return what came of it."""
    touching = reaching.reaching(mutant.module, source, mutant.line)
    room = mutant.room if at_import(source, mutant.line) else None
    tests = reaching.asked(touching, chosen.asked, room)
    if not tests:
        return WorkResult(WorkerOutcome.NO_TEST, "no test reaches it", SURVIVED)
    seconds = sum(reaching.seconds[test] for test in tests)
    limit = chosen.timeout_extra + chosen.timeout_factor * seconds
    path, log = COPY / PACKAGE / mutant.module, HOME / "mutant.log"
    times = path.stat()
    path.write_text(mutated(source, mutant), "utf-8")
    os.utime(path, (stamp := next(STAMPS), stamp))
    try:
        name = "tiebreak." + mutant.module.removesuffix(".py").replace("/", ".")
        code = ask(tests[:FIRST], log, limit, module=name)
        if code in PASSED and tests[FIRST:]:
            code = ask(tests[FIRST:], log, limit, module=name)
    finally:
        path.write_text(source, "utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    if code is None:
        return WorkResult(WorkerOutcome.ABNORMAL, f"over {limit:.0f} s", KILLED)
    if code == NOT_IMPORTED:
        return WorkResult(WorkerOutcome.NORMAL, "not imported", TestOutcome.INCOMPETENT)
    outcome = SURVIVED if code in PASSED else KILLED
    return WorkResult(WorkerOutcome.NORMAL, _first_failure(log, tests), outcome)


def _first_failure(log: Path, tests: list[str]) -> str:
    """The test that noticed a mutant, from pytest's summary."""
    for line in log.read_text("utf-8", "replace").splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            name = line.split(" ", 1)[1]
            return next((test for test in tests if name.startswith(test)), name)
    return f"{len(tests)} tests"


def _check(counted: list[tuple[Mutant, WorkResult]]) -> None:
    """Raise an error if one of the tests that noticed mutants fails without a mutant, too."""
    noticing = {str(result.output) for _, result in counted if result.is_killed}
    tests = sorted(test for test in noticing if "::" in test)
    log = HOME / "check.log"
    if tests and (code := ask(tests, log, None)) not in PASSED:
        raise click.ClickException(f"a test fails without any mutant (pytest {code}): see {log}")
    print(f"\n{len(tests)} tests noticed a mutant, and pass without one", flush=True)


def _equivalent(mutant: Mutant, change: tuple[str, str], chosen: Settings) -> Equivalent | None:
    return next(
        (
            one
            for one in chosen.equivalent
            if (one.module, one.before, one.after) == (mutant.module, *change)
        ),
        None,
    )


def _name(mutant: Mutant) -> str:
    return f"{mutant.module}:{mutant.line} {mutant.operator} {mutant.occurrence}"


def _keep(kept: WorkDB, mutant: Mutant, result: WorkResult) -> None:
    path = (PACKAGE / mutant.module).as_posix()
    operator = f"core/{mutant.operator}"
    change = MutationSpec(path, operator, mutant.occurrence, mutant.start, mutant.end)
    if _name(mutant) not in {name for name, _ in kept.results}:
        kept.add_work_item(WorkItem.single(_name(mutant), change))
    kept.set_result(_name(mutant), result)


def _show(number: int, mutant: Mutant, change: tuple[str, str], result: WorkResult) -> None:
    print(f"{number} {result.test_outcome.value} {_name(mutant)} ({result.output})", flush=True)
    if result.test_outcome == SURVIVED:
        print(f"    - {change[0]}\n    + {change[1]}", flush=True)


if __name__ == "__main__":
    main()
