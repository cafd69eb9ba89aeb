"""A rubric for the user's own prompts, proposed by a model for people to correct.

The model reads the user's description and a sample of the prompts, which are fenced like all
foreign text. A valid reply is a rubric like any other.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Final

import anyio
import yaml
from inspect_ai.model import GenerateConfig, Model
from typing_extensions import override

from tiebreak.prerequisite import model_named
from tiebreak.progress import doing
from tiebreak.scorers import replies
from tiebreak.scorers.judge import Prompt, Question
from tiebreak.scorers.model_judge import ModelJudge
from tiebreak.scorers.prompt import PROMPT_FOLDER, Fence, fill, template
from tiebreak.scorers.rubric import Rubric, RubricError
from tiebreak.text import count

_FOLDER: Final = PROMPT_FOLDER / "proposal"
_LONGEST: Final = 2_000
"""Maximum characters shown of each prompt."""


@dataclass(frozen=True)
class ProposalQuestion(Question[Rubric]):
    """Ask for a rubric for some prompts; `came` collects the replies, for error messages."""

    description: str
    prompts: Sequence[str]
    came: list[str] = field(default_factory=list)
    kind = "rubric"

    @override
    def prompt(self) -> Prompt:
        shown = [prompt[:_LONGEST] for prompt in self.prompts]
        fence = Fence(shown, [self.description])
        return Prompt(
            fill(template("system", _FOLDER), fence_rule=template("fence")),
            fill(
                template("user", _FOLDER),
                mark=fence.line,
                description=self.description,
                prompts="\n\n".join(map(fence, shown)),
            ),
            replies.proposal_schema(),
        )

    @override
    def parse(self, text: str) -> Rubric:
        self.came.append(text)
        return replies.parse_proposal(text)


def propose_rubric(
    description: str, prompts: Sequence[str], judge: Model | str, *, most: int = 20, seed: int = 0
) -> str:
    """Return a rubric as YAML; its first lines name the author and the prompts that it saw.

    Args:
        description: what a good answer is.
        prompts: their texts.
        judge: the model that is asked, once more if the reply is no rubric; replies are cached.
        most: maximum number of prompts that it sees.
        seed: seed of the sample of prompts.

    Raises:
        RubricError: there is no such judge, or neither reply is a rubric.
        ModelFailedError: the provider failed.
    """
    model = model_named(judge, RubricError, config=GenerateConfig(max_retries=3), memoize=False)
    n = min(most, len(prompts))
    question = ProposalQuestion(description, random.Random(seed).sample(list(prompts), n))
    with doing(f"asking {model}"):
        reply = anyio.run(partial(ModelJudge({"judge": model}).ask, question, depth=0))
    if reply.value is None:
        came = " ".join(question.came[-1].split())[:300] if question.came else ""
        raise RubricError(
            f"The judge wrote no rubric, also when asked again: {reply.unscored}. What came: "
            f"{came or 'nothing'}. Ask another model, or copy a rubric and change it by hand."
        )
    rubric = reply.value.model_dump(mode="json", exclude_none=True, exclude={"benchmarks"})
    asked = " ".join(description.split())
    head = (
        f"# A model wrote this rubric: {model}, {date.today().isoformat()}, of {n} of "
        f"{count(len(prompts), 'prompt')}, seed {seed}.\n"
        f"# Asked for: {asked}\n"
        "# Read and correct it before it judges: -T rubric=FILE. Weights sum to 1.\n"
    )
    return head + yaml.safe_dump(rubric, sort_keys=False, allow_unicode=True, width=100)
