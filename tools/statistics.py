"""Writes the tables of all measured figures, and checks the numbers on the pages about them.

    python -m tools.statistics

`docs/statistics.csv` is the last full run of `benchmarks/statistics.py`, a line for each claim.
From it this writes `docs/reference/figures.md`, which is not kept in git, and checks the numbers in
`docs/statistics.md` and `docs/reference/levels.md`. There a number is a link to its table, and the
link's title says which number it is:

    [46%](figures.md#views "align: 95% interval of the macro τ, SR · 8 models · least")

The title has the figure, words of the setting unless all settings are meant, and, if this leaves
several rows, which of them it is: `least`, `most`, or `pooled` (the mean over all runs); `least
claimed` and so on skip rows in which nothing is claimed. If the link names no module, its title is
a key of `totals`. A number that has changed is an error; with TIEBREAK_RENEW=1 the page gets the
new one. It is also an error if a level that is not held is missing from the section `NOT_HELD` of
the page of levels, or if that section names one that is held.
"""

import csv
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from benchmarks.claims import TOLERANCE, Claim, Range, figures, module, modules, title
from tools.reference import FOLDER, ROOT, prose, table

DATA = ROOT / "docs" / "statistics.csv"
LEVELS_PAGE = FOLDER / "levels.md"
PAGES = (DATA.with_suffix(".md"), LEVELS_PAGE)
TABLES = FOLDER / "figures.md"
COLUMNS = ("figure", "setting", "claimed", "measured ± MC error", "runs", "met")
NOT_HELD = "## What does not hold"
NUMBER = re.compile(r'\[([^\]]+)\]\((?:reference/)?figures\.md(?:#(\w+))? "([^"]+)"\)')
WHICH = re.compile(r"(least|most|pooled)( claimed)?")
LEVELS: Mapping[str, Range] = {
    r"95% interval|: interval|scores' intervals": (0.93, 1),
    r"ranks over items, all at once": (0.95, 1),
    r"false alarm": (0, 0.01),
    r"\bequal\b": (0, 0.05),
}
"""Ranges that figures of these names (patterns) should reach, even if a setting claims nothing."""

Measured = Mapping[str, Sequence[Claim]]
"""Claims by the module of `benchmarks/claims/` that measures them."""


def read(path: Path = DATA) -> dict[str, list[Claim]]:
    """Read the claims of a data file, by module; there are none if there is no file yet."""
    measured: dict[str, list[Claim]] = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                measured.setdefault(row.pop("module"), []).append(_claim(**row))
    return measured


def _claim(
    figure: str, setting: str, claimed: str, measured: str, error: str, runs: str, met: str
) -> Claim:
    held = {"yes": True, "no": False, "": None}[met]
    return Claim(figure, setting, claimed, float(measured), float(error), int(runs), held)


def write(measured: Measured, path: Path = DATA) -> None:
    """Write the claims to a data file, in the order of modules, with three decimals."""
    columns = ["module", *(field.name for field in fields(Claim))]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for name in modules():
            for claim in measured.get(name, ()):
                met = {True: "yes", False: "no", None: ""}[claim.met]
                numbers = {"measured": _decimals(claim.measured), "error": _decimals(claim.error)}
                writer.writerow({"module": name, **asdict(claim), **numbers, "met": met})


def _decimals(number: float) -> str:
    return f"{round(number, 3) + 0.0:.3f}"  # + 0: no -0.000


def state(claim: Claim) -> str:
    """Say "yes" or "MISSED"; without a claim, "not held" if the level is missed, else ""."""
    if claim.met is not None:
        return "yes" if claim.met else "MISSED"
    room = TOLERANCE * claim.error
    for name, (low, high) in LEVELS.items():
        if re.search(name, claim.figure) and not low - room <= claim.measured <= high + room:
            return "not held"
    return ""


def cells(claim: Claim) -> tuple[str, ...]:
    """A claim as a row of a table, below `COLUMNS`."""
    measured = f"{_decimals(claim.measured)} ± {_decimals(claim.error)}"
    return claim.figure, claim.setting, claim.claimed, measured, f"{claim.runs:,}", state(claim)


def tables(measured: Measured) -> str:
    """The page of all tables: which figure is in which table, levels not held, all claims."""
    failing = [
        (f"[{name}](#{name})", *map(prose, cells(claim)))
        for name, claims in measured.items()
        for claim in claims
        if state(claim) in ("MISSED", "not held")
    ]
    shown = [
        (prose(figure), prose(where), f"[{name}](#{name})")
        for name in measured
        for figure, where in figures(name)
    ]
    parts = [
        "# All tables of figures",
        "What [every figure holds](../statistics.md), in full; the same as [data](../statistics.csv"
        "). *Claimed* is what the figure is to reach; *measured* is what it reached, a share of the"
        " worlds or a mean over them, with its Monte Carlo error: other worlds would give a number "
        "that is off by about that much. *Met* allows two such errors. “MISSED” is a defect; “not "
        "held” is a setting in which less than the level is reached, and nothing else is claimed; "
        "an empty cell is a figure that has no level, such as power. “Apart” is the spread of the "
        "models' true means, in standard deviations of a model's scores over items: 0.1 and less "
        "are near-ties.",
        "## Which figure is measured where",
        table(("figure", "where it is shown", "table"), shown),
        "Without an error rate, because nothing is inferred: native scores, wins and losses, the "
        "resolution gain, win rates in figures (each with its number of matches), aggregators' "
        "orders, Kemeny's certificate (a proof), the bill. `simulate` prints its own Monte Carlo "
        "errors.",
        "## Missed or not held",
        table(("table", *COLUMNS), failing),
    ]
    for name, claims in measured.items():
        parts += [f"## {name}", f"**{prose(title(name))}**", *map(prose, _worlds(name))]
        parts.append(table(COLUMNS, [tuple(map(prose, cells(claim))) for claim in claims]))
    return "\n\n".join(parts) + "\n"


def _worlds(name: str) -> list[str]:
    """The paragraphs of a module's docstring that say how its worlds are drawn."""
    return (module(name).__doc__ or "").partition("\nShown:\n")[0].strip().split("\n\n")[1:]


def totals(measured: Measured) -> dict[str, int]:
    """Count the rows, the rows that claim something, and the rows in each state."""
    states = [state(claim) for claims in measured.values() for claim in claims]
    counts = {name: states.count(name) for name in ("yes", "MISSED", "not held")}
    return {"rows": len(states), "claims": counts["yes"] + counts["MISSED"], **counts}


def value(measured: Measured, name: str, what: str) -> float:
    """Return the number that a link's title `what` means in module `name`, or in total if empty.

    Raises:
        LookupError: no row fits, or several fit and the title does not say which is meant.
    """
    if not name:
        return totals(measured)[what]
    figure, *settings = what.split(" · ")
    which = settings.pop() if settings and WHICH.fullmatch(settings[-1]) else ""
    rows = [
        claim
        for claim in measured.get(name, ())
        if claim.figure == figure
        and all(_words_in(setting, claim.setting) for setting in settings)
        and (claim.claimed or not which.endswith("claimed"))
    ]
    if not rows or (len(rows) > 1 and not which):
        raise LookupError(f"{len(rows)} rows of `{name}` are “{what}”")
    numbers = [claim.measured for claim in rows]
    if which.startswith("pooled"):
        runs = [claim.runs for claim in rows]
        return sum(n * k for n, k in zip(numbers, runs, strict=True)) / sum(runs)
    return max(numbers) if which.startswith("most") else min(numbers)


def _words_in(words: str, text: str) -> bool:
    """Whether a text has these words, other than as part of longer words or numbers."""
    return re.search(rf"(?<![\w.]){re.escape(words)}(?!\w)", text) is not None


def written(number: float, like: str) -> str:
    """Format a number like another one: in percent or not, with as many decimals."""
    percent = like.endswith("%")
    decimals = len(like.rstrip("%").partition(".")[2])
    return f"{number * (100 if percent else 1) + 0.0:,.{decimals}f}{'%' * percent}"


def renewed(text: str, measured: Measured) -> str:
    """Return a page's text with the measured numbers; a number without a row stays."""

    def number(link: re.Match[str]) -> str:
        try:
            right = written(value(measured, link[2] or "", link[3]), link[1])
        except LookupError:
            return link[0]
        return link[0].replace(f"[{link[1]}]", f"[{right}]", 1)

    return NUMBER.sub(number, text)


def faults(text: str, measured: Measured) -> Iterator[str]:
    """Yield a message for each number of a page that has changed, or that has no row."""
    for line in text.splitlines():
        for link in NUMBER.finditer(line):
            try:
                right = written(value(measured, link[2] or "", link[3]), link[1])
            except LookupError as error:
                yield f"{error}: {link[1]} in “{_seen(line)}”"
                continue
            if right != link[1]:
                yield f"{link[1]} is {right} by now: “{_seen(line)}”"


def _seen(line: str) -> str:
    """A line of a page with its links replaced by their numbers."""
    return NUMBER.sub(r"\1", line)


def not_held(text: str, measured: Measured) -> Iterator[str]:
    """Yield a message for each level not held but not in section `NOT_HELD`, or held but there."""
    section = text.partition(f"{NOT_HELD}\n")[2].partition("\n## ")[0]
    named = {(link[2], link[3].split(" · ")[0]) for link in NUMBER.finditer(section) if link[2]}
    failing = {
        (name, claim.figure): claim
        for name, claims in measured.items()
        for claim in claims
        if state(claim) in ("MISSED", "not held")
    }
    for (name, figure), claim in failing.items():
        if (name, figure) not in named:
            yield (
                f"“{NOT_HELD}” has nothing of `{name}`: {figure} ({claim.setting}): "
                f"{_decimals(claim.measured)}, {state(claim)}"
            )
    for name, figure in sorted(named - failing.keys()):
        yield f"“{NOT_HELD}” has what is held in every setting by now, of `{name}`: {figure}"


def main() -> None:
    """Write the tables; renew the pages, or exit with an error if they are out of date."""
    measured = read()
    TABLES.write_text(tables(measured), encoding="utf-8")
    wrong: list[str] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if os.environ.get("TIEBREAK_RENEW"):
            text = renewed(text, measured)
            page.write_text(text, encoding="utf-8")
        wrong += (f"{page.name}: {fault}" for fault in faults(text, measured))
    wrong += not_held(LEVELS_PAGE.read_text(encoding="utf-8"), measured)
    if wrong:
        sys.exit(
            f"The pages are not what {DATA.name} says:\n"
            + "\n".join(wrong)
            + "\nNumbers alone: TIEBREAK_RENEW=1 python -m tools.statistics. Then read them over."
        )


if __name__ == "__main__":
    main()
