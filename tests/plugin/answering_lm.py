"""lm-eval's own command line, with a model whose answers come from a file.

    python -m answering_lm run --model answering --model_args answers=FILE …

FILE is a JSON object from question to answer. A prompt gets the answer to the longest question that
it contains.

Nothing else of lm-eval is changed; `own_lm_eval` has the same model without the built-in tasks.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval.__main__ import cli_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model


@register_model("answering")
class Answering(LM):  # type: ignore[misc]
    def __init__(self, answers: str, **_: Any) -> None:
        super().__init__()
        self.answers: Mapping[str, str] = json.loads(Path(answers).read_text(encoding="utf-8"))

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        prompts = [request.args[0] for request in requests]
        return [
            self.answers[max((asked for asked in self.answers if asked in prompt), key=len)]
            for prompt in prompts
        ]

    def loglikelihood(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@register_model("one_answer")
class OneAnswer(Answering):
    """Gives the same answer to every question, and needs no file."""

    tokenizer_name = "none"

    def __init__(self, **_: Any) -> None:
        LM.__init__(self)

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        return ["It is 3."] * len(requests)

    def apply_chat_template(
        self, chat_history: Sequence[Mapping[str, str]], add_generation_prompt: bool = True
    ) -> str:
        return "\n".join(message["content"] for message in chat_history)


if __name__ == "__main__":
    cli_evaluate()
