"""The real model: replies repeat, JSON is complete, long prompts are handled, HTTP works."""

import asyncio
import json
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig, ModelOutput, ResponseSchema, get_model
from inspect_ai.util import JSONSchema

from tiebreak.demo.local import server
from tiebreak.demo.local.server import serve_local
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.replies import parse_votes, votes_schema

pytestmark = pytest.mark.slow
pytest.importorskip("xllamacpp")

MODEL = "tiebreak-local/smollm2-135m"


@pytest.fixture(scope="module", autouse=True)
def stop_servers() -> Iterator[None]:
    yield
    server.close_servers()


def ask(prompt: str, threads: int = 1, **config: Any) -> ModelOutput:
    model = get_model(MODEL, threads=threads, memoize=False)
    return asyncio.run(model.generate(prompt, config=GenerateConfig(**config)))


def test_replies_repeat_in_any_order_and_with_any_number_of_threads() -> None:
    # The prompts share long prefixes, so the runtime reuses another part of its cache each time.
    story = "Anna has two cats and one dog. Ben has a bird that sings in the morning. " * 3
    prompts = [story + f"{more}. Go on." for more in ("A buys 1", "A buys 2", "B buys 1")]
    settings: dict[str, Any] = {"temperature": 0.8, "seed": 7, "max_tokens": 8}
    fresh = {}
    for prompt in prompts:
        server.close_servers()
        fresh[prompt] = ask(prompt, **settings).completion
    for index in (0, 1, 1, 2, 0, 2, 2):
        assert ask(prompts[index], **settings).completion == fresh[prompts[index]]
    few = ask(prompts[0], threads=2, **{**settings, "max_tokens": 4}).completion
    assert few
    assert fresh[prompts[0]].startswith(few)
    assert ask(prompts[0], **{**settings, "seed": 8}).completion != fresh[prompts[0]]


@pytest.mark.parametrize(("temperature", "seed"), [(0.0, 0), (1.5, 1), (1.5, 2)])
def test_a_judges_reply_closes_and_holds_its_bounds(temperature: float, seed: int) -> None:
    principles, checklist = ("P1", "P2", "P3"), ("C1", "C2")
    output = ask(
        "Left: 3 + 4 = 7. Right: 3 + 4 = 8. Vote.",
        temperature=temperature,
        seed=seed,
        response_schema=votes_schema(principles, checklist),
    )
    assert output.stop_reason == "stop"
    assert len(parse_votes(output.completion, principles, checklist).principles) == 3


@pytest.mark.parametrize("seed", [1, 2])
def test_open_numbers_and_lists_close(seed: int) -> None:
    parts = {
        "pi": JSONSchema(type="number"),
        "many": JSONSchema(type="array", items=JSONSchema(type="integer")),
    }
    schema = JSONSchema(
        type="object", properties=parts, required=list(parts), additionalProperties=False
    )
    output = ask(
        "Give pi with all its digits, and all numbers.",
        temperature=1.5,
        seed=seed,
        max_tokens=120,
        response_schema=ResponseSchema(name="numbers", json_schema=schema),
    )
    assert output.stop_reason == "stop"
    assert set(json.loads(output.completion)) == set(parts)


def test_a_prompt_longer_than_the_context() -> None:
    output = ask("word " * 5000)
    assert (output.completion, output.stop_reason) == ("", "model_length")


def test_serving_over_http() -> None:
    ended, said = threading.Event(), []
    heard = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        heard.set()

    thread = threading.Thread(
        target=serve_local, kwargs={"port": 0, "threads": 1, "until": ended, "say": say}
    )
    thread.start()
    try:
        assert heard.wait(120)
        address = said[0].split()[3]
        assert f"LOCAL_BASE_URL={address} LOCAL_API_KEY=x" in said[0]
        body = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 4}
        request = urllib.request.Request(
            f"{address}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=300) as response:
            assert json.load(response)["choices"][0]["message"]["content"]
        port = int(address.split(":")[2].split("/")[0])
        with pytest.raises(PrerequisiteError, match="cannot serve"):
            serve_local(port=port, threads=1, say=said.append)
    finally:
        ended.set()
        thread.join()
