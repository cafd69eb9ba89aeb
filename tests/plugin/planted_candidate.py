"""A candidate whose quality is known: the model provider `candidate`.

`candidate/0.7` writes answers that tell the planted judge their quality (`quality=0.7`), and are
never right. While the file named by CANDIDATE_FAILS exists, every call of `candidate/0.7+fails`
raises an error, and every call of `candidate/0.7+down` the error that Inspect raises after its last
retry. If CANDIDATE_CALLS names a file, every call that is no cache hit adds the model's name to it.
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
from tenacity import Future, RetryError


class Planted(ModelAPI):
    """Base of models that answer the text of the last message."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.set_up(**model_args)

    def set_up(self, **model_args: Any) -> None:
        raise NotImplementedError

    def answer(self, prompt: str) -> str:
        raise NotImplementedError

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        output = ModelOutput.from_content(self.model_name, self.answer(input[-1].text))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output


@modelapi(name="candidate")
class PlantedCandidate(Planted):
    def set_up(self, **model_args: Any) -> None:
        self.quality, _, self.fails = self.model_name.partition("+")

    def answer(self, prompt: str) -> str:
        if calls := os.environ.get("CANDIDATE_CALLS"):
            with Path(calls).open("a") as file:
                file.write(f"{self.model_name}\n")
        if self.fails and Path(os.environ["CANDIDATE_FAILS"]).exists():
            error = RuntimeError("PROVIDER FAILS")
            if self.fails == "down":
                raise RetryError(Future(1)) from error
            raise error
        return f"quality={self.quality} of an answer to {len(prompt)} characters"


@modelapi(name="memory")
class PlantedMemory(Planted):
    def set_up(self, knows: str = "", **model_args: Any) -> None:
        lines = Path(knows).read_text(encoding="utf-8").splitlines() if knows else []
        self.known = [json.loads(line)["question"] for line in lines]
        self.calls = 0

    def answer(self, prompt: str) -> str:
        self.calls += 1
        fill = next(filter(None, (_fill(one, prompt) for one in self.known)), "guess")
        return f" **{fill.upper()}**."


def _fill(question: str, prompt: str) -> str | None:
    """Return the word for which [MASK] stands if the prompt holds this question, or None."""
    for word in re.finditer(r"\w+", question):
        if f"{question[: word.start()]}[MASK]{question[word.end() :]}" in prompt:
            return word[0]
    return None
