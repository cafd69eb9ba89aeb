"""A candidate whose quality is known: the model provider `candidate`.

`candidate/0.7` writes answers that give its quality away to the planted judge (`quality=0.7`). They
are no right answers to anything. `candidate/0.7+fails` raises an error at every call while the file
that CANDIDATE_FAILS names exists.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo


@modelapi(name="candidate")
class PlantedCandidate(ModelAPI):
    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.quality, _, self.fails = model_name.partition("+")

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        if self.fails and Path(os.environ["CANDIDATE_FAILS"]).exists():
            raise RuntimeError("PROVIDER FAILS")
        text = f"quality={self.quality} of an answer to {len(input[-1].text)} characters"
        output = ModelOutput.from_content(self.model_name, text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output


@modelapi(name="memory")
class PlantedMemory(ModelAPI):
    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        knows: str = "",
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        lines = Path(knows).read_text(encoding="utf-8").splitlines() if knows else []
        self.known = [json.loads(line)["question"] for line in lines]
        self.calls = 0

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        self.calls += 1
        fill = next(filter(None, (_fill(one, input[-1].text) for one in self.known)), "guess")
        return ModelOutput.from_content(self.model_name, f" **{fill.upper()}**.")


def _fill(question: str, prompt: str) -> str | None:
    """What was taken out of a question, if that is the one in the prompt."""
    for word in re.finditer(r"\w+", question):
        if f"{question[: word.start()]}[MASK]{question[word.end() :]}" in prompt:
            return word[0]
    return None
