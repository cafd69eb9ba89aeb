"""A candidate whose quality is known: the model provider `candidate`.

`candidate/0.7` writes answers that give its quality away to the planted judge (`quality=0.7`). They
are no right answers to anything. `candidate/0.7+fails` raises an error at every call while the file
that CANDIDATE_FAILS names exists.
"""

import os
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
