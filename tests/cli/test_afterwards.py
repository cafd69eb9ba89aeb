"""What a verb does with what was found: where it is shown, drawn and said, and how it ends."""

from types import SimpleNamespace

import pytest

from tests.cli.handed import Enough, Handed, tiebreak
from tiebreak.report.sheet import Section, Sheet

FOUND = object()


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
    handed.instead("tiebreak.study.estimate.cost.small_field", "Few models")
    handed.instead("tiebreak.analysis.diagnosis.diagnose", found)
    handed.instead("tiebreak.cli.diagnose.show")
    chosen = ("--mode", "intersect", "--metric", "acc")
    done = tiebreak("diagnose", "my logs", "b", *chosen, *asked)
    command = "  tiebreak estimate 'my logs' b --mode intersect --metric acc --judge MODEL"
    expected = f"\nWhat judging would cost:\n{command}\nFew models.\n"
    assert done.stdout == (expected if said else "")
    asked_for = [args for name, args, _ in handed.made if name == "small_field"]
    assert asked_for == ([(FOUND,)] if said else [])


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
