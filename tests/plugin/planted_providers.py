"""Planted models under names that documentation uses, so that its commands run as they stand.

`openai/gpt-5`, and any other model of these providers, judges where a reply has a schema and
answers where it has none. A process that has PLANTED_PROVIDERS in its environment has them.
"""

import hashlib
import os
import random
import re
from importlib import import_module
from typing import Any

from inspect_ai._util import registry
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

PROVIDERS = {
    "openai": "inspect_ai",
    "anthropic": "inspect_ai",
    "google": "inspect_ai",
    "tiebreak-local": "tiebreak",
}
"""The providers of the pages, and the package that has the real one."""


def answer_of(model: str, prompt: str) -> str:
    """A model's answer: a right one to about half of the sums, and a quality that a judge can read.

    Of "What is 3 + 4?" the answer is known; all else gets a number.
    """
    draw = random.Random(hashlib.sha256(f"{model} {prompt}".encode()).digest())
    better = int(hashlib.sha256(model.encode()).hexdigest(), 16) % 7 / 10
    summed = re.search(r"What is (\d+) \+ (\d+)\?", prompt)
    right = sum(map(int, summed.groups())) if summed else 3
    said = right if draw.random() < 0.7 else right + 1
    return f"It is {said}. quality={draw.gauss(2 + better, 0.5):.2f}\n#### {said}"


class Anyone(ModelAPI):
    """Judges where the reply has a schema, and answers where it has none."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        seed = int(hashlib.sha256(model_name.encode()).hexdigest(), 16) % 1000
        self.judge: ModelAPI = import_module("planted_judge").PlantedJudge(
            f"noise=0.2+scale=1+seed={seed}"
        )

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        asked = config.response_schema
        if asked is not None and hasattr(self.judge, f"_{asked.name}"):
            output = await self.judge.generate(input, tools, tool_choice, config)
            assert isinstance(output, ModelOutput)
            output.model = self.model_name
            return output
        said = answer_of(self.model_name, input[-1].text)
        output = ModelOutput.from_content(self.model_name, said)
        output.usage = ModelUsage(input_tokens=100, output_tokens=20, total_tokens=120)
        return output


def planted() -> dict[str, Any]:
    """Entries of Inspect's registry that stand before the real ones."""
    import_module("tiebreak.local.provider")
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
