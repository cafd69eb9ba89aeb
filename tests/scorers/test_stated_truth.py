"""What an answer to a true/false question states: a table of answers, read by people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.scorers.stars import is_bare, key_truth, stated_truth

T, F, NOBODY_KNOWS = True, False, None
ANSWERS: list[tuple[str, bool | None]] = [
    # a verdict and nothing else
    ("True", T),
    ("false.", F),
    ("**False**", F),
    ("FALSE!", F),
    ("Answer: T", T),
    ("F", F),
    ("The statement is false.", F),
    ("It is correct.", T),
    ("\\boxed{\\text{False}}", F),
    ('"True"', T),
    ("正确。", T),
    ("错误", F),
    ("对", T),
    ("否。", F),
    ("是的。", T),
    ("这种说法是错误的。", F),
    # with an explanation
    ("False: it only skips the rest of this turn.", F),
    ("Answer: false. The reason is that the loop goes on.", F),
    ("True, because every edge goes forward.", T),
    ("False because the loop goes on.", F),
    ("Answer:\nTrue\n\nReason:\nEvery edge goes forward.", T),
    ("1. **Answer**: True\n2. **Reason**: Every edge goes forward.", T),
    ("Every edge goes forward. Therefore, the statement is true.", T),
    ("Let us see. Every edge goes forward.\n\nFinal answer: True", T),
    ("The correct answer is false, since the loop goes on.", F),
    ("答案:错误。理由:循环没有结束。", F),
    ("错误,因为循环没有结束。", F),
    ("该说法正确,因为每条边都向前。", T),
    ("循环没有结束。因此,该命题为假。", F),
    ("没错,每条边都向前。", T),
    # negations
    ("Not true.", F),
    ("The statement is not true.", F),
    ("The statement isn't correct, because the loop goes on.", F),
    ("This is not false.", T),
    ("False, not true.", F),
    ("True, not false: every edge goes forward.", T),
    ("不正确。循环没有结束。", F),
    ("这句话不对。", F),
    ("该说法并不正确,循环没有结束。", F),
    # the question again, quoted or not
    ('True or false? "A loop that is true never ends." False.', F),
    ("Judge whether the statement is true or false. It says that loops end. Answer: true.", T),
    ('The statement "the condition is true" is false.', F),
    ("请判断以下说法是否正确,并说明理由。答案:正确。", T),
    ("“循环是错误的”这一说法正确。", T),
    # nobody can say
    ("", NOBODY_KNOWS),
    ("I do not know.", NOBODY_KNOWS),
    ("It depends on the language.", NOBODY_KNOWS),
    ("True or false", NOBODY_KNOWS),
    ("Is it true?", NOBODY_KNOWS),
    ("True, but only for some loops.", NOBODY_KNOWS),
    ("The statement is true only if the graph is finite.", NOBODY_KNOWS),
    ("Partly true.", NOBODY_KNOWS),
    ("Not entirely true.", NOBODY_KNOWS),
    ("The statement is neither true nor false.", NOBODY_KNOWS),
    ("True. On closer look the statement is false.", NOBODY_KNOWS),
    ("False.\nFinal answer: True", NOBODY_KNOWS),
    ("False. Wait, the loop does end.", NOBODY_KNOWS),
    ("False. The loop ends, so it is true.", NOBODY_KNOWS),
    ("If the statement is true, every loop ends.", NOBODY_KNOWS),
    ("I do not think the statement is true.", NOBODY_KNOWS),
    ("Part of the statement is true.", NOBODY_KNOWS),
    ("It is true that loops end early.", NOBODY_KNOWS),
    ("A true statement needs a proof, and a false one a counterexample.", NOBODY_KNOWS),
    ("Correct reasoning needs care.", NOBODY_KNOWS),
    ("The true cause is unknown.", NOBODY_KNOWS),
    ("对于这个问题,答案取决于语言。", NOBODY_KNOWS),
    ("部分正确。", NOBODY_KNOWS),
    ("该说法不完全正确。", NOBODY_KNOWS),
    ("错误在于循环。", NOBODY_KNOWS),
    ("是否正确取决于语言。", NOBODY_KNOWS),
    ("答案是对称的。", NOBODY_KNOWS),
    ("如果该说法正确,循环就会结束。", NOBODY_KNOWS),
    ("Yes", NOBODY_KNOWS),
    ("1. True\n2. False", NOBODY_KNOWS),
]


@pytest.mark.parametrize(("answer", "truth"), ANSWERS)
def test_what_answers_state(answer: str, truth: bool | None) -> None:
    assert stated_truth(answer) is truth


def test_the_table_is_long_and_has_both_languages() -> None:
    chinese = [truth for answer, truth in ANSWERS if any("一" <= mark <= "鿿" for mark in answer)]
    assert len(ANSWERS) >= 70
    for truth in (True, False, None):
        assert [found for _, found in ANSWERS].count(truth) >= 15
        assert chinese.count(truth) >= 5


# The first verdicts of the table have no explanation, all that follow have one or are none.
@pytest.mark.parametrize("answer", [answer for answer, _ in ANSWERS[:16]])
def test_bare_answers(answer: str) -> None:
    assert is_bare(answer)
    assert is_bare(f"{answer}\n\n{answer}")
    assert not is_bare(f"{answer}\nThe loop goes on.")


@pytest.mark.parametrize("answer", [answer for answer, _ in ANSWERS[16:30]])
def test_answers_with_an_explanation(answer: str) -> None:
    assert not is_bare(answer)


@pytest.mark.parametrize(
    ("key", "question_type", "truth"),
    [
        ("true", "", T),
        ("False", "true_false", F),
        (" TRUE. ", "", T),
        ("正确", "", T),
        ("错误", "true_false", F),
        ("对", "", T),
        ("错", "", F),
        ("是", "", T),
        ("否", "", F),
        ("T", "true_false", T),
        ("F", "true_false", F),
        ("F", "", NOBODY_KNOWS),  # may be an option
        ("true", "multiple_choice", NOBODY_KNOWS),
        ("true north", "", NOBODY_KNOWS),
        ("不正确", "", NOBODY_KNOWS),
        ("", "true_false", NOBODY_KNOWS),
        ("42", "true_false", NOBODY_KNOWS),
    ],
)
def test_what_keys_say(key: str, question_type: str, truth: bool | None) -> None:
    assert key_truth(key, question_type) is truth


SPOKEN = "true false not the statement is answer if whether or 正确 错误 不 该说法"
WORDS = st.sampled_from([*SPOKEN.split(), *":.?,", "\n"])


@pytest.mark.slow
@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_layout_does_not_matter_and_contradictions_decide_nothing(text: str) -> None:
    truth = stated_truth(text)
    assert stated_truth(text.upper()) is truth
    assert stated_truth(f"**{text}**") is truth
    if truth is not None:
        assert stated_truth(f"{text}\nFinal answer: {str(not truth).lower()}") is None
        assert stated_truth(f"{text}\nFinal answer: {str(truth).lower()}") is truth
