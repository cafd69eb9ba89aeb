"""Conversations are read out of what chat templates make of them."""

import pytest

from tiebreak.candidates.question import Turn, turns_of

ASKED = [Turn("system", "Be brief."), Turn("user", "Why?")]
ANSWERED = [*ASKED, Turn("assistant", "So."), Turn("user", "And how?")]
LLAMA_2 = "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nWhy? [/INST]"
CHATML = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n"


@pytest.mark.parametrize(
    ("prompt", "turns"),
    [
        (LLAMA_2, ASKED),
        (f"{LLAMA_2} So. </s><s>[INST] And how? [/INST]", ANSWERED),
        (f"{CHATML}<|im_start|>assistant\n", ASKED),
        (
            f"{CHATML}<|im_start|>assistant\nSo.<|im_end|>\n"
            "<|im_start|>user\nAnd how?<|im_end|>\n<|im_start|>assistant\n",
            ANSWERED,
        ),
        ("<bos><start_of_turn>user\nWhy?<end_of_turn>\n<start_of_turn>model\n", ASKED[1:]),
        ("What does [INST] mean?", [Turn("user", "What does [INST] mean?")]),
    ],
)
def test_marks_of_chat_templates_begin_turns(prompt: str, turns: list[Turn]) -> None:
    assert turns_of(prompt) == turns
