"""How models were asked: what a sentence shows of settings that differ."""

import pytest

from tiebreak.candidates.settings import HARNESS, differences_in_words, different, setting_text

FOLDER = "/data/" + "deep/" * 20


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        # Short ones stand as they are, though they begin alike.
        (("seed=1, shots=2", "seed=1, shots=3"), "seed=1, shots=2 (a), seed=1, shots=3 (b)"),
        # A long path does not hide the argument that differs.
        ((f'file="{FOLDER}x", seed=1', f'file="{FOLDER}x", seed=2'), "…seed=1 (a), …seed=2 (b)"),
        ((f"{FOLDER}train.csv", f"{FOLDER}test.csv"), "…train.csv (a), …test.csv (b)"),
        # Nothing is left out where there is nothing to compare with.
        (("", FOLDER), f"not set (a), {FOLDER[:70]}… (6c18ba) (b)"),
        (("x" * 90, "y" * 90), f"{'x' * 70}… (efdfd9) (a), {'y' * 70}… (9e798f) (b)"),
    ],
)
def test_of_long_settings_the_part_that_differs_is_shown(
    texts: tuple[str, str], shown: str
) -> None:
    known = {
        model: {HARNESS: "inspect", **({"solver": text} if text else {})}
        for model, text in zip("ab", texts, strict=True)
    }
    assert (
        differences_in_words(different(known))
        == f"the models were asked in different ways: solver: {shown}"
    )


def test_a_prompt_is_kept_up_to_a_length_and_told_from_others() -> None:
    prompts = [setting_text(f"{'Be  brief. ' * 200}{end}") for end in "ab"]
    assert len({*prompts}) == 2
    for prompt in prompts:
        assert prompt.startswith("Be brief. Be brief.")
        assert len(prompt) <= 1_000
    assert setting_text({"b": 1}) == '{"b": 1}'
