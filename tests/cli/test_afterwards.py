"""What a verb does with what was found: where it is shown, drawn and said, and how it ends."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cli.handed import Enough, Handed, tiebreak
from tiebreak.report.sheet import Section, Sheet

CHECK = "tiebreak.report.plot.check_plot"
FOUND = object()


@dataclass
class Drawn:
    """A verb that draws: the options it needs, its function, and how it draws."""

    command: str
    function: str
    draw: str
    how: dict[str, Any]
    files: object = None
    said: str = "Plot: x.svg\n"

    @property
    def shown(self) -> str:
        """Where the verb prints what it found."""
        return f"tiebreak.cli.{self.command.split()[0]}.show"

    @property
    def module(self) -> str:
        """Where the function is that draws."""
        of_stars = self.draw == "star_stability"
        return "tiebreak.fair.report.figures" if of_stars else "tiebreak.report.plot"


ALIGN = "tiebreak.analysis.alignment.align"
CALIBRATE = "tiebreak.analysis.calibration.calibrate"
COMPARE = "tiebreak.analysis.comparison.compare"
STARS = "tiebreak.fair.analysis.star_stability.star_stability"
TWO = [Path("x.svg"), Path("x-2.svg")]
DRAWN = [
    Drawn("align a --human h", ALIGN, "alignment", {"rater": "kemeny_young"}),
    Drawn("align a --human h --method irv --method borda", ALIGN, "alignment", {"rater": "irv"}),
    Drawn("align a --human h --method irv --plot-method SR", ALIGN, "alignment", {"rater": "SR"}),
    Drawn("calibrate a --human h", CALIBRATE, "calibration", {}, TWO, "Plot: x.svg, x-2.svg\n"),
    Drawn("compare a", COMPARE, "comparison", {"against": "calls"}),
    Drawn("compare a --against depth", COMPARE, "comparison", {"against": "depth"}),
    Drawn("stability a --elo", STARS, "star_stability", {}, TWO, "Plot: x.svg, x-2.svg\n"),
]


@pytest.mark.parametrize("case", DRAWN, ids=lambda case: case.command)
def test_what_is_drawn(case: Drawn, handed: Handed) -> None:
    """The name is looked at before anything is read; where it was drawn stands beside the data."""
    name = case.function.rpartition(".")[2]
    handed.instead(case.function, FOUND)
    handed.instead(case.shown)
    handed.instead(CHECK)
    handed.instead(f"{case.module}.plot_{case.draw}", case.files)
    plain = tiebreak(*case.command.split())
    assert (plain.exit_code, plain.output, handed.names) == (0, "", [name, "show"])
    handed.made.clear()
    done = tiebreak(*case.command.split(), "--plot", "x.svg")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", case.said)
    assert handed.names == ["check_plot", name, "show", f"plot_{case.draw}"]
    assert handed.made[0][1] == ("x.svg",)
    assert handed.made[2][1][::2] == (None, FOUND)
    assert handed.made[3][1:] == ((FOUND, "x.svg"), {**case.how, "width": None})


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex", "html"])
def test_the_form_that_was_asked_for(form: str, handed: Handed) -> None:
    handed.instead(COMPARE, FOUND)
    handed.instead("tiebreak.cli.compare.show")
    asked = [f"--{form}"] if form in ("json", "csv") else ["--format", form]
    assert tiebreak("compare", "a", *asked).exit_code == 0
    assert handed.made[1][1][::2] == (form, FOUND)


@pytest.mark.parametrize(
    ("command", "function"),
    [
        ("align a --human h", ALIGN),
        ("peers a", "tiebreak.analysis.peers.review.peer_report"),
    ],
)
def test_items_go_with_json(command: str, function: str, handed: Handed) -> None:
    verb, *others = command.split()
    handed.instead(function, FOUND)
    handed.instead(f"tiebreak.cli.{verb}.show")
    for asked, items in ((["--json", "--items"], True), (["--json"], False), ([], False)):
        assert tiebreak(verb, *others, *asked).exit_code == 0
        assert handed.made[-1][2] == {"items": items}


@pytest.mark.parametrize(
    ("asked", "judging", "said"),
    [
        ([], ["settled", "could_help"], True),
        ([], ["could_help", "settled"], True),
        ([], ["settled", "settled"], False),
        ([], [], False),
        (["--json"], ["could_help"], False),
    ],
)
def test_where_judging_could_help_the_next_command_is_said(
    asked: list[str], judging: list[str], said: bool, handed: Handed
) -> None:
    found = [SimpleNamespace(verdict=SimpleNamespace(judging=one)) for one in judging]
    handed.instead("tiebreak.candidates.load_candidates", FOUND)
    handed.instead("tiebreak.estimate.cost.small_field", "Few models")
    handed.instead("tiebreak.analysis.diagnosis.diagnose", found)
    handed.instead("tiebreak.cli.diagnose.show")
    done = tiebreak("diagnose", "my logs", "b", *asked)
    command = "  tiebreak estimate 'my logs' b --judge MODEL"
    expected = f"\nWhat judging would cost:\n{command}\nFew models.\n"
    assert done.stdout == (expected if said else "")
    asked_for = [args for name, args, _ in handed.made if name == "small_field"]
    assert asked_for == ([(FOUND,)] if said else [])


@pytest.mark.parametrize(
    ("asked", "stdout"), [([], ""), (["--out", "p"], "\nPool: p\n"), (["--out", "p", "--json"], "")]
)
def test_the_pool_is_written_before_the_audit_is_shown(
    asked: list[str], stdout: str, handed: Handed
) -> None:
    for name, result in (("load_candidates", FOUND), ("write_parquet", None), ("audit", "found")):
        handed.instead(f"tiebreak.candidates.{name}", result)
    handed.instead("tiebreak.cli.candidates.show")
    assert tiebreak("candidates", "a", *asked).stdout == stdout
    written = (FOUND, Path("p"))
    assert [args for _, args, _ in handed.made[1:-1]] == [*([written] if asked else []), (FOUND,)]
    assert handed.names[-2:] == ["audit", "show"]
    assert handed.made[-1][1][::2] == ("json" if "--json" in asked else None, "found")


def test_stability_of_any_log_is_shown(handed: Handed) -> None:
    handed.instead("tiebreak.analysis.stability.stability", FOUND)
    handed.instead("tiebreak.cli.stability.show")
    done = tiebreak("stability", "a", "--csv")
    assert (done.exit_code, done.output) == (0, "")
    assert handed.names == ["stability", "show"]
    assert handed.made[1][1][::2] == ("csv", FOUND)


@pytest.mark.parametrize("asked", [[], ["--json"]])
def test_what_write_back_did(asked: list[str], handed: Handed) -> None:
    handed.instead("tiebreak.publish.write_back.write_back_ranks", FOUND)
    handed.instead("tiebreak.publish.write_back.run.data_of", {"x": 1})
    handed.instead("tiebreak.publish.write_back.run.sheets_of", ())
    done = tiebreak("write-back", "a", "--into", "b", *asked)
    assert done.stdout == ('{\n  "x": 1\n}\n' if asked else "")
    assert handed.made[-1] == ("data_of" if asked else "sheets_of", (FOUND,), {})


def test_a_line_of_write_back_is_never_folded(handed: Handed) -> None:
    """It may hold paths, which somebody copies."""
    long = "word " * 60 + "end"
    sheet = Sheet("Title", sections=(Section.of(lines=[long]),))
    handed.instead("tiebreak.publish.write_back.write_back_ranks", FOUND)
    handed.instead("tiebreak.publish.write_back.run.sheets_of", sheet)
    done = tiebreak("write-back", "a", "--into", "b")
    assert done.stdout.splitlines() == ["Title", "", long]


PUBLISH = "tiebreak.publish.dataset.publish_dataset"


@pytest.mark.parametrize("quiet", [False, True])
def test_uploads_are_shown_where_somebody_looks_on(
    quiet: bool, handed: Handed, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("tiebreak.cli.publish.sys", terminal)
    handed.instead("huggingface_hub.utils.disable_progress_bars")
    handed.instead(PUBLISH, Enough())
    with pytest.raises(Enough):
        tiebreak("publish", "x", "--dry-run", *(["--json"] if quiet else []))
    assert ("disable_progress_bars" in handed.names) is quiet
