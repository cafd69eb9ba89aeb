"""The verb `simulate`: options reach the study, mistakes give one message."""

import json

import pytest
from click.testing import CliRunner, Result

from tiebreak.cli.simulate import simulate


def run(*arguments: str) -> Result:
    return CliRunner().invoke(simulate, arguments, env={"COLUMNS": "100"})


@pytest.mark.slow
def test_tables_and_the_answer() -> None:
    done = run("--models", "4", "--items", "5,10", "--repeats", "2", "--spread", "1")
    assert done.exit_code == 0, done.output
    assert "4 planted models (sd of qualities 1, of answers 1) · 2 pools of 10 items" in done.output
    for protocol in ("original", "fixed_rubric", "swiss:rounds=3", "full_pairwise"):
        assert protocol in done.output
    assert "order of these models" in done.output


def test_every_option_reaches_the_study() -> None:
    done = run(
        *("--qualities", "0.3,0,-0.1", "--items", "6", "--repeats", "2", "--seed", "5"),
        *("--protocol", "seal:critique=false", "--protocol", "sorted", "--swap", "never"),
        *("--ties", "0.3", "--pass-rate", "0.9", "--resolution", "0.1", "--noise", "0.2"),
        *("--fresh", "--position-bias", "0.3", "--verbosity-bias", "0.4"),
        *("--seeding-noise", "0.6", "--grading-noise", "0.7", "--malformed", "0.05"),
        *("--list-taste", "0.2"),
        *("--target", "0.8", "--confidence", "0.5", "--json"),
    )
    assert done.exit_code == 0, done.output
    data = json.loads(done.output)
    assert data["world"] == {
        "qualities": [0.3, 0, -0.1],
        "ties": 0.3,
        "pass_rate": 0.9,
        "judge": {
            "resolution": 0.1,
            "noise": 0.2,
            "fresh": True,
            "position_bias": 0.3,
            "verbosity_bias": 0.4,
            "malformed": 0.05,
            "reading_noise": 0.6,
            "grading_noise": 0.7,
            "scale": 1.0,
            "list_taste": 0.2,
        },
    }
    assert (data["items"], data["repeats"], data["seed"]) == ([6], 2, 5)
    assert (data["target"], data["confidence"]) == (0.8, 0.5)
    assert {row["protocol"] for row in data["rows"]} == {
        "seal:critique=false",
        "sorted",
        "full_pairwise",
    }
    assert "critique" not in data["rows"][0]["calls_by_kind"]


def test_swap_is_each_protocols_own_by_default() -> None:
    """A sample in both orders."""
    options = ("--models", "4", "--items", "20", "--repeats", "1", "--json")
    chosen = ("--protocol", "flat_bracket", "--protocol", "sorted")
    own, never = (
        {row["protocol"]: row["calls_by_kind"] for row in json.loads(done.output)["rows"]}
        for done in (run(*options, *chosen), run(*options, *chosen, "--swap", "never"))
    )
    assert 3 == never["flat_bracket"]["match"] < own["flat_bracket"]["match"] <= 4
    assert never["sorted"]["match"] < own["sorted"]["match"] <= never["sorted"]["match"] + 1


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("--items", "ten"), 2, "'ten' is not a list of whole numbers"),
        (("--items", "0"), 1, "numbers of items of 1 and more"),
        (("--qualities", "1"), 1, "1 models: a comparison takes two"),
        (("--qualities", "1,b"), 2, "--qualities"),
        (("--spread", "0"), 1, "A spread of 0.0: it must be greater than 0."),
        (("--noise", "-1"), 1, "Noise is -1.0: it is 0 or more."),
        (("--protocol", "swis"), 1, "Did you mean swiss?"),
        (("--protocol", "swiss:laps=3"), 1, "swiss takes rounds, tiers, swap, checklist, refine"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], code: int, problem: str) -> None:
    done = run(*arguments)
    assert done.exit_code == code
    assert problem in done.output
    assert "Traceback" not in done.output
