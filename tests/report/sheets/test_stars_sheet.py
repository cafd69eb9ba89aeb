"""Star boards as they are shown, and what `rank` prints of them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.analysis.test_stars import drawn, items_of, write
from tests.ranking_logs.builders import bracket, sample, write_log
from tiebreak.analysis.stars import star_report
from tiebreak.cli.verbs import main
from tiebreak.rankers import Resampling
from tiebreak.report.sheets import stars

HOW = Resampling(draws=200)


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["rank", *map(str, arguments), "--draws", "200"])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def paired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paired")
    for model in "abc":
        write(folder / f"{model}.eval", items_of(drawn(60), own=model))
    return folder


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


def test_beside_other_protocols(paired: Path, tmp_path: Path) -> None:
    brackets = [bracket(f"q{k}", "a", "b", "c", benchmark="mmlu") for k in range(8)]
    log = write_log(tmp_path / "seal.eval", brackets)
    text = run(paired, log)
    assert "mmlu · seal" in text
    assert "gsm8k · stars" in text
    assert "here are 2 (leaderboards, star boards)" in run(paired, log, "--csv", code=1)
    assert "no log here was judged by stars" in run(log, "--reference", "a", code=1)


def test_a_reference_that_nobody_judged(paired: Path) -> None:
    assert "no answer of 'z' was judged by stars" in run(paired, "--reference", "z", code=1)
    assert "--pair takes no" in run(paired, "--pair", "a,b", "--reference", "a", code=2)


def test_constant_answers_have_a_line(tmp_path: Path) -> None:
    samples = [
        sample(one).model_copy(update={"target": "false" if n else "true"})
        for n, one in enumerate(items_of(drawn(4)))
    ]
    text = " ".join(run(write(tmp_path / "s.eval", samples)).split())
    assert "always “false” is right in 75% of 4 items of type true_false" in text
    assert "a score of 50.0 if their explanations are worth nothing" in text
