"""Planted models under the names in the documentation, so that its commands run unchanged.

Every model of these providers, e.g. `openai/gpt-5`, judges if the reply has a schema, and answers
otherwise. They replace the real ones if PLANTED_PROVIDERS is in the environment.
"""

import hashlib
import os
import random
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from inspect_ai._util import registry
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

if TYPE_CHECKING:
    from tests.plugin.planted_candidate import Planted
else:
    from planted_candidate import Planted  # beside this file

PROVIDERS = {
    "openai": "inspect_ai",
    "anthropic": "inspect_ai",
    "google": "inspect_ai",
    "tiebreak-local": "tiebreak",
}
"""Providers that the documentation names, and the package that registers the real one."""


def answer_of(model: str, prompt: str) -> str:
    """A model's answer: 70% of sums ("What is 3 + 4?") are right, and it states its quality.

    Prompts without a sum get 3, or 4 in 30%.
    """
    draw = random.Random(hashlib.sha256(f"{model} {prompt}".encode()).digest())
    better = int(hashlib.sha256(model.encode()).hexdigest(), 16) % 7 / 10
    summed = re.search(r"What is (\d+) \+ (\d+)\?", prompt)
    right = sum(map(int, summed.groups())) if summed else 3
    said = right if draw.random() < 0.7 else right + 1
    return f"It is {said}. quality={draw.gauss(2 + better, 0.5):.2f}\n#### {said}"


class Anyone(Planted):
    """Judges if the planted judge knows the schema of the reply, and answers otherwise."""

    def set_up(self, **model_args: Any) -> None:
        seed = int(hashlib.sha256(self.model_name.encode()).hexdigest(), 16) % 1000
        self.judge: ModelAPI = import_module("planted_judge").PlantedJudge(
            f"noise=0.2+scale=1+seed={seed}"
        )

    def answer(self, prompt: str) -> str:
        return answer_of(self.model_name, prompt)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        asked = config.response_schema
        if asked is None or not hasattr(self.judge, f"_{asked.name}"):
            return await super().generate(input, tools, tool_choice, config)
        output = await self.judge.generate(input, tools, tool_choice, config)
        assert isinstance(output, ModelOutput)
        output.model = self.model_name
        return output


def planted() -> dict[str, Any]:
    """Return entries of Inspect's registry that replace the real providers."""
    import_module("tiebreak.demo.local.provider")
    import_module("inspect_ai.model._providers.providers")
    there = dict(registry._registry)
    entries = {
        registry.registry_key("modelapi", f"{package}/{name}"): modelapi(name)(Anyone)
        for name, package in PROVIDERS.items()
    }
    for new in set(registry._registry) - set(there):  # under their plain names they come too late
        del registry._registry[new]
    assert set(entries) <= set(there), sorted(there)
    return entries


if os.environ.get("PLANTED_PROVIDERS"):
    registry._registry.update(planted())
