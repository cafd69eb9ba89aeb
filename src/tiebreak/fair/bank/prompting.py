"""Prompts for questions: the bare question, after examples, or with a request for steps.

Source: LLMEval-Fair, appendix B. The templates are those of figures 9 and 10, word for word, so
that its evaluation can be repeated; zero-shot is the question as in the bank (figure 8), whose text
says what to answer.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, get_args

from tiebreak.scorers.prompt import template

PROMPT_FOLDER: Final = Path(__file__).parent / "prompts"
Prompting = Literal["zero_shot", "few_shot", "step_by_step"]
PROMPTINGS: Final[tuple[Prompting, ...]] = get_args(Prompting)

BENCHMARKS: Final[dict[Prompting, str]] = {
    "zero_shot": "fair",
    "few_shot": "fair_few_shot",
    "step_by_step": "fair_step_by_step",
}
"""Name of the benchmark for each kind of prompt."""


def prompt(question: str, options: Sequence[str], prompting: Prompting) -> str:
    """Make the prompt for a question, with its options by letter, A for the first."""
    listed = [f"{chr(ord('A') + n)}. {text}" for n, text in enumerate(options)]
    text = "\n".join([question, *listed])
    return (
        text
        if prompting == "zero_shot"
        else template(prompting, PROMPT_FOLDER).replace("{question}", text)
    )
