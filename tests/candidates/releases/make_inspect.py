"""Write the logs of one Inspect release: `python make_inspect.py OUT`.

The release is the one that Python finds. It runs a task of four items, with a log as `.eval` and
one as `.json`, and a task of one long item. To be run in a folder that is no repository and has a
neutral name.
"""

import re
import sys
from pathlib import Path
from typing import Any, Literal

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
)
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

# Squares of 16 by 16 pixels, as data URIs of PNG files.
_PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAA"
IMAGES = {
    "red": _PNG + "FklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg==",
    "blue": _PNG + "FUlEQVR42mNgYPhPIhrVMKph2GoAAJLb/wHQPqPSAAAAAElFTkSuQmCC",
}
SHAPE = "Which shape is this? QID=3"
# The answer ends with the last QID of its prompt: an answer that reaches another item shows.
ANSWERS = {"QID=1": "12", "QID=2": "7", "QID=3": "a square"}
# Longer than what some releases keep of a message.
LONG = f"How much is 7 and 5? {'Take your time. ' * 400}QID=1"


def dataset() -> list[Sample]:
    """Two items of text, the second with a system message, and two of one text and two images."""
    system = ChatMessageSystem(content="Answer with a number.")
    return [
        Sample(id="text", input="How much is 7 and 5? QID=1", target="12"),
        Sample(
            id="system",
            input=[system, ChatMessageUser(content="How much is 3 and 4? QID=2")],
            target="7",
        ),
        *(
            Sample(
                id=colour,
                input=[
                    ChatMessageUser(content=[ContentText(text=SHAPE), ContentImage(image=image)])
                ],
                target="square",
            )
            for colour, image in IMAGES.items()
        ),
    ]


@modelapi(name="reader")
class Reader(ModelAPI):
    """Answers each question with its QID, and with the colour of its image if there is one."""

    async def generate(
        self, input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        question = input[-1]
        qid = re.findall(r"QID=\d+", question.text)[-1]
        shown = [part.image for part in question.content if isinstance(part, ContentImage)]
        colour = next((name for name, image in IMAGES.items() if image in shown), "no image")
        output = ModelOutput.from_content(self.model_name, f"It is {ANSWERS[qid]}, {colour}. {qid}")
        output.usage = ModelUsage(input_tokens=7, output_tokens=11, total_tokens=18)
        return output


@task
def shapes() -> Task:
    return Task(dataset=MemoryDataset(dataset()), solver=generate(), scorer=includes())


@task
def long_text() -> Task:
    sample = Sample(id="long", input=[ChatMessageUser(content=LONG)], target="12")
    return Task(dataset=MemoryDataset([sample]), solver=generate(), scorer=includes())


def run(asked: Task, folder: Path, format: Literal["eval", "json"]) -> None:
    model = get_model("reader/alpha")
    [log] = eval(asked, model=model, log_dir=str(folder), log_format=format, display="plain")
    assert log.status == "success", log.error


def main(out: Path) -> None:
    run(shapes(), out / "eval", "eval")
    run(shapes(), out / "json", "json")
    run(long_text(), out / "long_text", "eval")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
