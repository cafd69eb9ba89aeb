"""Star boards as they are shown, and what `rank` prints of them."""

from pathlib import Path

import pytest

from tests.analysis.test_stars import drawn, items_of, write
from tests.cli.handed import wrong_use
from tests.ranking_logs.builders import bracket, sample, write_log
from tiebreak.analysis.stars import star_report
from tiebreak.rankers import Resampling
from tiebreak.report.sheets import stars

HOW = Resampling(draws=200)


def test_styles_are_a_sheet_of_their_own(tmp_path: Path) -> None:
    for name in ("fair", "fair_few_shot", "fair_step_by_step"):
        write(tmp_path / f"{name}.eval", items_of(drawn(20), benchmark=name))
    *boards, styles = stars.sheets_of(star_report(tmp_path, how=HOW))
    assert len(boards) == 3
    scores, differences = (section.table for section in styles.sections)
    assert scores is not None
    assert differences is not None
    assert scores.headings == ("Model", "fair", "fair_few_shot", "fair_step_by_step", "Mean")
    assert differences.headings == ("Model", "fair_few_shot", "fair_step_by_step")
    assert differences.rows[0][1].text == "+0.00"


def test_what_rank_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside other protocols, against references that nobody judged, of constant answers."""
    monkeypatch.chdir(tmp_path)
    for model in "abc":
        write(Path("paired", f"{model}.eval"), items_of(drawn(60), own=model))
    brackets = [bracket(f"q{k}", "a", "b", "c", benchmark="mmlu") for k in range(8)]
    write_log(Path("seal.eval"), brackets)
    samples = [
        sample(one).model_copy(update={"target": "false" if n else "true"})
        for n, one in enumerate(items_of(drawn(4)))
    ]
    write(Path("constant.eval"), samples)
    wrong_use(__file__, "stars_ranked.txt")
