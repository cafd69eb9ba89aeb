"""What the four benchmarks have in common."""

import pytest

from tests.benchmarks.answers import CASES
from tests.benchmarks.hub import ITEMS
from tiebreak.benchmarks import BENCHMARKS, load_questions


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_guidance_makes_the_prompt_longer_and_keeps_the_question(benchmark: str) -> None:
    for question in load_questions(benchmark, ITEMS / f"{benchmark}.jsonl"):
        guided, bare = (BENCHMARKS[benchmark].prompt(question, flag) for flag in (True, False))
        assert len(guided) > len(bare)
        if benchmark != "humaneval":  # there the docstring is the guidance
            assert question.text in bare
        assert question.text.strip() in guided


@pytest.mark.parametrize("benchmark", [name for name in BENCHMARKS if BENCHMARKS[name].score])
def test_hard_answers(benchmark: str) -> None:
    known = BENCHMARKS[benchmark]
    assert known.score is not None
    for number, case in enumerate(CASES[benchmark]):
        verdict = known.score(case.answer, known.read(case.row, number))
        assert verdict.right is case.right, (case.answer[:80], verdict)
        assert bool(verdict.why) is not case.right


@pytest.mark.parametrize("benchmark", ["gsm8k", "mmlu"])
@pytest.mark.parametrize("part", ["#", "\\boxed{", "{", "1,", "answer: ", ",111"])
def test_long_answers_are_read_in_time(benchmark: str, part: str) -> None:
    known = BENCHMARKS[benchmark]
    assert known.score is not None
    # Quadratic, this would take minutes.
    known.score(part * (80_000 // len(part)) + "1", known.read(CASES[benchmark][0].row, 0))
