"""A judge whose verdicts are known beforehand: the model provider `planted`.

It reads the quality that each candidate's text states (`quality=0.73`) and votes by it. The name of
the model holds its settings, e.g. `planted/noise=0.5+bias=0.2+seed=3`:

- noise: standard deviation of the Gaussian error on every quality that it reads
- bias: added to the quality of the response shown first in a match
- length: added to the quality of the longer response of a match
- gullible: added to the quality of a response that tells the judge what to prefer
- malformed: probability that a reply is not JSON at all (repair turns draw again)
- scale: difference of quality at which a vote has full confidence (default 0.1)
- fails: if 1, every call raises an error; so does every prompt that holds PROVIDER FAILS
- context: characters of the longest prompt that the model accepts

For rankings of several responses, whose texts also state their author (`author=2`):

- me, self: the judge's own author number, and the bonus of its own response
- friend, ally: the number of another author, and the bonus of that one's response
- order: if 1, it ranks in the order of presentation whatever the quality
- missing: probability of leaving a response out
- stranger: probability of naming a response that does not exist

A single response gets its rounded quality as its grade, within 0 to 10, or as its stars, within the
range of the schema.

All draws follow from the seed, the prompt and the number of earlier calls with the same prompt. If
PLANTED_CALLS names a file, every call that is no cache hit adds a line with the model's name and a
digest of the prompt to it. A call takes PLANTED_DELAY seconds, by default 0.
"""

import hashlib
import json
import math
import os
import random
import re
from pathlib import Path
from typing import Any

import anyio
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

FENCED = re.compile(r"<<< (\w{8})\n(.*?)\n>>> \1", re.DOTALL)
LABELLED = re.compile(r"^(R\d+):\n<<< (\w{8})\n(.*?)\n>>> \2", re.DOTALL | re.MULTILINE)
QUALITY = re.compile(r"quality=(-?[\d.]+)")
TOLD = re.compile("(?i)this response|this one|prefer|ignore")
AUTHOR = re.compile(r"author=(\d+)")
ZERO = (
    *("noise", "bias", "length", "gullible", "malformed", "seed", "fails", "self", "ally", "order"),
    "missing",
)
DEFAULTS = {
    **dict.fromkeys((*ZERO, "stranger"), 0.0),
    **{"scale": 0.1, "context": math.inf, "me": -1.0, "friend": -1.0},
}


@modelapi(name="planted")
class PlantedJudge(ModelAPI):
    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        given = (part.split("=") for part in model_name.split("+") if "=" in part)
        self.seen: dict[str, int] = {}
        self.settings = DEFAULTS | {key: float(value) for key, value in given}

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        prompt = "\n".join(message.text for message in input)
        digest = hashlib.sha256(f"{self.settings['seed']}{prompt}".encode()).hexdigest()
        if calls := os.environ.get("PLANTED_CALLS"):
            with Path(calls).open("a") as file:
                file.write(f"{self.model_name}:{digest}\n")
        if self.settings["fails"] or "PROVIDER FAILS" in prompt:
            raise RuntimeError("the provider fails on this prompt")
        if len(prompt) > self.settings["context"]:
            return ModelOutput.from_content(self.model_name, "", stop_reason="model_length")
        # A repeated call draws afresh, as a real model would.
        self.seen[digest] = self.seen.get(digest, 0) + 1
        await anyio.sleep(float(os.environ.get("PLANTED_DELAY", 0)))
        text = self.reply(input, config, random.Random(f"{digest}{self.seen[digest]}"))
        usage = ModelUsage(
            input_tokens=len(prompt) // 4,
            output_tokens=len(text) // 4,
            total_tokens=len(prompt) // 4 + len(text) // 4,
        )
        output = ModelOutput.from_content(model=self.model_name, content=text)
        output.usage = usage
        return output

    def reply(self, input: list[ChatMessage], config: GenerateConfig, rng: random.Random) -> str:
        if rng.random() < self.settings["malformed"]:
            return "I would rather not say."
        assert config.response_schema is not None
        user = next(message.text for message in input if message.role == "user")
        properties = config.response_schema.json_schema.properties or {}
        kind = config.response_schema.name
        return json.dumps(getattr(self, f"_{kind}")(user, properties, rng))

    def _quality(self, text: str, rng: random.Random) -> float:
        found = QUALITY.search(text)
        told = self.settings["gullible"] * bool(TOLD.search(text))
        return (float(found[1]) if found else 0.0) + told + rng.gauss(0, self.settings["noise"])

    def _liking(self, text: str, rng: random.Random) -> float:
        author = AUTHOR.search(text)
        biases = {self._is("me"): self._is("self"), self._is("friend"): self._is("ally")}
        bias = biases.get(float(author[1]), 0.0) if author else 0.0
        return self._quality(text, rng) + bias

    def _is(self, setting: str) -> float:
        return self.settings[setting]

    def _proposal(self, user: str, properties: dict[str, Any], rng: random.Random) -> Any:
        made = {"description": "The response is good.", "weight": 50, "checklist": ["It is good."]}
        return {"principles": [{"name": name, **made} for name in ("Goal", "Tone")]}

    def _tiers(self, user: str, properties: dict[str, Any], rng: random.Random) -> Any:
        return self._levels("tiers", user, properties, rng)

    def _places(self, user: str, properties: dict[str, Any], rng: random.Random) -> Any:
        reply = self._levels("places", user, properties, rng)
        places = {k: v for k, v in reply["places"].items() if rng.random() >= self._is("missing")}
        stranger = {"R999": 1} if rng.random() < self._is("stranger") else {}
        return {**reply, "places": {**stranger, **places}}

    def _levels(self, part: str, user: str, properties: dict[str, Any], rng: random.Random) -> Any:
        k = max(properties[part].properties["R1"].enum)
        responses = {label: text for label, _, text in LABELLED.findall(user)}
        liking = {label: self._liking(text, rng) for label, text in responses.items()}
        order = list(responses)
        if not self._is("order"):
            order.sort(key=liking.__getitem__, reverse=True)
        return {
            "reasoning": "planted",
            part: {label: 1 + i * k // len(order) for i, label in enumerate(order)},
        }

    def _grades(self, user: str, properties: dict[str, Any], rng: random.Random) -> Any:
        *_, response = [text for _, text in FENCED.findall(user)]
        grade = max(0, min(10, round(self._quality(response, rng))))
        n = properties["grade"].minItems
        return {"reasoning": ["planted"] * n, "grade": [grade] * n}

    def _stars(self, user: str, properties: dict[str, Any], rng: random.Random) -> Any:
        _, response, _ = [text for _, text in FENCED.findall(user)]
        possible = properties["Overall Rating"].enum
        stars = max(possible[0], min(possible[-1], round(self._quality(response, rng))))
        return {"Overall Rating": stars, "reason": "planted"}

    def _rubric(self, user: str, properties: dict[str, Any], rng: random.Random) -> Any:
        return {key: {"full": "All.", "half": "Half.", "none": "Nothing."} for key in properties}

    def _votes(self, user: str, properties: dict[str, Any], rng: random.Random) -> Any:
        _, left, right, *_ = [text for _, text in FENCED.findall(user)]
        gap = self._quality(left, rng) - self._quality(right, rng) + self.settings["bias"]
        gap += self.settings["length"] * ((len(left) > len(right)) - (len(left) < len(right)))
        side = "left" if gap > 0 else "right" if gap < 0 else "tie"
        confidence = min(1.0, abs(gap) / self.settings["scale"])
        vote = {"reasoning": "planted", "vote": side, "confidence": confidence}
        return {
            part: {name: [vote[name]] * own.minItems for name, own in lists.properties.items()}
            for part, lists in properties.items()
        }

    def _critique(self, user: str, properties: dict[str, Any], rng: random.Random) -> Any:
        return {"left": "It states its quality.", "right": "It states its quality as well."}

    def _checklist_item(self, user: str, properties: dict[str, Any], rng: random.Random) -> Any:
        topic = f"{rng.getrandbits(64):x} {rng.getrandbits(64):x} {rng.getrandbits(64):x}"
        return {
            "principle_id": properties["principle_id"].enum[0],
            "description": f"The response covers {topic}",
            "differentiator": "One covers it and the other does not.",
            "anchor_split": "5 vs 4",
            "higher_snippet": f"It names {topic} and says for every case how it follows from that.",
            "lower_snippet": "It says for some cases how they come out, and nothing on the others.",
        }
