"""How a question is put to a model: as it stands, after examples, or with a request for steps.

Source: LLMEval-Fair, appendix B. The templates are those of figures 9 and 10, word by word, so that
its evaluation can be repeated; zero-shot is the question as the bank has it (figure 8), which says
itself what to answer.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal, get_args

Prompting = Literal["zero_shot", "few_shot", "step_by_step"]
PROMPTINGS: Final[tuple[Prompting, ...]] = get_args(Prompting)

BENCHMARKS: Final[dict[Prompting, str]] = {
    "zero_shot": "fair",
    "few_shot": "fair_few_shot",
    "step_by_step": "fair_step_by_step",
}
"""The benchmark that answers to each way of asking belong to."""


@cache
def template(name: str) -> str:
    """Text of `prompts/<name>.md`, without the line break at its end."""
    path = Path(__file__).parent / "prompts" / f"{name}.md"
    return path.read_text(encoding="utf-8").removesuffix("\n")


def prompt(question: str, options: Sequence[str], prompting: Prompting) -> str:
    """What a model is asked: the question with its options by letter, A for the first."""
    listed = [f"{chr(ord('A') + n)}. {text}" for n, text in enumerate(options)]
    text = "\n".join([question, *listed])
    return text if prompting == "zero_shot" else template(prompting).replace("{question}", text)
